//! From a plan to the text of `actions.json`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::{FORMAT, wire};
use crate::digest::{Digest, Hash};
use crate::effect::Evidence;
use crate::outline::{self, Body, Item};
use crate::plan::{Edge, Join, Node, NodeIx, NodeKind, Note, Plan};
use crate::template::{Part, Ref, Segment, Template};

impl Plan {
    /// The text of `actions.json`; the same bytes on every machine and under every feature set. Linear.
    pub fn to_json(&self) -> String {
        self.written().0
    }

    /// The digest of that text: the plan's name in the store.
    pub fn digest(&self) -> Digest {
        self.written().1
    }

    /// The text and its digest.
    fn written(&self) -> (String, Digest) {
        let mut text = self.body();
        let mut hash = Hash::of(&text);
        let body = text.len();
        text.extend_from_slice(format!("  \"digest\": \"{}\"\n}}\n", hash.digest()).as_bytes());
        hash.add(text.get(body..).unwrap_or_default());
        // It is UTF-8: `serde_json` and text of ours wrote it.
        let text =
            String::from_utf8(text).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
        (text, hash.digest())
    }

    /// All fields but the last; the digest goes over these bytes.
    pub(super) fn body(&self) -> Vec<u8> {
        let mut text = b"{\n".to_vec();
        field(&mut text, "format", &FORMAT);
        field(&mut text, "recipe", &self.outline().recipe);
        field(&mut text, "policy", &self.policy());
        lines(&mut text, "definitions", self.wire_definitions());
        lines(&mut text, "inputs", self.outline().inputs.iter().map(input));
        lines(&mut text, "blocks", self.outline().blocks.iter().map(block));
        lines(&mut text, "nodes", self.nodes().filter_map(|(_, node)| self.wire_node(node)));
        lines(&mut text, "edges", self.wire_edges());
        lines(&mut text, "notes", self.notes().iter().map(note));
        text
    }

    fn wire_definitions(&self) -> impl Iterator<Item = wire::Definition<'_>> {
        let mut used: BTreeMap<(&str, &str), Digest> = BTreeMap::new();
        // Of the nodes that call one tool the last has its say, as of a key that is given twice.
        let mut last: Option<(&outline::Call, Digest)> = None;
        for (_, node) in self.nodes() {
            if let NodeKind::Call { item, judged } = &node.kind
                && let Some(Item { body: Body::Call(call), .. }) = self.outline().items.get(*item)
            {
                let same = |(before, digest): (&outline::Call, Digest)| {
                    digest == judged.definition && before.tool == call.tool && before.server == call.server
                };
                if !last.is_some_and(same) {
                    used.insert((&call.server, &call.tool), judged.definition);
                }
                last = Some((call, judged.definition));
            }
        }
        used.into_iter().map(|((server, tool), digest)| wire::Definition {
            server: server.into(),
            tool: tool.into(),
            digest,
        })
    }

    fn id(&self, ix: NodeIx) -> &String {
        &self.node(ix).id
    }

    fn place(&self, at: usize) -> Option<(wire::Place, &Body)> {
        let item = self.outline().items.get(at)?;
        let place = wire::Place { item: at, block: item.block, under: item.under, span: item.span };
        Some((place, &item.body))
    }

    fn wire_node<'a>(&'a self, node: &'a Node) -> Option<wire::Node<'a>> {
        let id = text(&node.id);
        Some(match &node.kind {
            NodeKind::Call { item, judged } => {
                let (place, Body::Call(call)) = self.place(*item)? else { return None };
                wire::Node::Call(wire::Call {
                    id,
                    place,
                    server: text(&call.server),
                    tool: text(&call.tool),
                    args: template(&call.args),
                    settings: settings(&call.settings),
                    without_asking: call.without_asking,
                    effect: judged.effect,
                    asked: judged.asked,
                    evidence: judged.evidence.iter().map(evidence).collect(),
                })
            }
            NodeKind::Write { item } => {
                let (place, Body::Sentence(sentence)) = self.place(*item)? else { return None };
                let settings = settings(&sentence.settings);
                wire::Node::Write(wire::Write { id, place, instruction: parts(&sentence.text), settings })
            }
            NodeKind::Join(Join::All) => wire::Node::Join(wire::Join { id, need: None }),
            NodeKind::Join(Join::Need { block, k, of }) => {
                let of = of.iter().map(|ix| self.id(*ix).into()).collect();
                wire::Node::Join(wire::Join { id, need: Some(wire::JoinNeed { block: *block, k: *k, of }) })
            }
            NodeKind::Gate { call, question } => {
                let question = question.and_then(|at| match self.place(at)? {
                    (place, Body::Question(q)) => Some(wire::Question { place, text: parts(&q.text) }),
                    _ => None,
                });
                wire::Node::Gate(wire::Gate { id, call: text(self.id(*call)), question })
            }
            NodeKind::Ask { item } => {
                let (place, Body::Question(question)) = self.place(*item)? else { return None };
                wire::Node::Ask(wire::Ask { id, place, text: parts(&question.text) })
            }
            NodeKind::Check { item } => {
                let (place, Body::Check(check)) = self.place(*item)? else { return None };
                wire::Node::Check(wire::Check { id, place, left: path(&check.left), test: test(&check.test) })
            }
        })
    }

    fn wire_edges(&self) -> impl Iterator<Item = wire::Edge<'_>> {
        self.drawn().edges_in_order().into_iter().map(|(from, to, Edge { reasons })| wire::Edge {
            from: text(self.id(from)),
            to: text(self.id(to)),
            because: reasons
                .iter()
                .map(|(reason, asks)| wire::Because { reason: *reason, asks: *asks })
                .collect(),
        })
    }
}

/// These shapes hold text, numbers and lists of them; writing one into memory cannot fail.
fn compact(text: &mut Vec<u8>, value: &impl Serialize) {
    let _ = serde_json::to_writer(text, value);
}

fn field(text: &mut Vec<u8>, name: &str, value: &impl Serialize) {
    text.extend_from_slice(format!("  \"{name}\": ").as_bytes());
    compact(text, value);
    text.extend_from_slice(b",\n");
}

fn lines<T: Serialize>(text: &mut Vec<u8>, name: &str, items: impl Iterator<Item = T>) {
    text.extend_from_slice(format!("  \"{name}\": [").as_bytes());
    let mut between: &[u8] = b"\n    ";
    for item in items {
        text.extend_from_slice(between);
        compact(text, &item);
        between = b",\n    ";
    }
    let empty = text.ends_with(b"[");
    text.extend_from_slice(if empty { b"],\n" } else { b"\n  ],\n" });
}

fn text(of: &str) -> Cow<'_, str> {
    Cow::Borrowed(of)
}

fn input(input: &outline::Input) -> wire::Input<'_> {
    wire::Input { name: text(&input.name), kind: input.kind, default: input.default.clone() }
}

fn block(block: &outline::Block) -> wire::Block<'_> {
    wire::Block { kind: block.kind, name: block.name.as_ref().map(Into::into), need: block.need }
}

fn settings(settings: &outline::Settings) -> wire::Settings<'_> {
    let after = settings.after.iter().map(Into::into).collect();
    wire::Settings { timeout_ms: settings.timeout_ms, retry: settings.retry, after }
}

fn evidence(of: &Evidence) -> wire::Evidence<'_> {
    wire::Evidence { code: text(&of.code), says: text(&of.says), effect: of.effect }
}

fn test(test: &outline::Test) -> wire::Test<'_> {
    match test {
        outline::Test::IsEmpty => wire::Test::IsEmpty,
        outline::Test::IsNotEmpty => wire::Test::IsNotEmpty,
        outline::Test::Is(right) => wire::Test::Is(template(right)),
        outline::Test::IsNot(right) => wire::Test::IsNot(template(right)),
        outline::Test::Greater(right) => wire::Test::Greater(template(right)),
        outline::Test::Less(right) => wire::Test::Less(template(right)),
        outline::Test::Contains(right) => wire::Test::Contains(template(right)),
    }
}

fn template(of: &Template) -> wire::Template<'_> {
    match of {
        Template::Lit(value) => wire::Template::Lit(Cow::Borrowed(value)),
        Template::List(items) => wire::Template::Arr(items.iter().map(template).collect()),
        Template::Object(members) => {
            wire::Template::Obj(wire::Members(members.iter().map(|(k, t)| (k.into(), template(t))).collect()))
        }
        Template::Ref(r) => wire::Template::Ref(path(r)),
        Template::Text(text) => wire::Template::Text(parts(text)),
    }
}

fn parts(of: &[Part]) -> Vec<wire::Part<'_>> {
    of.iter()
        .map(|part| match part {
            Part::Lit(lit) => wire::Part::Lit(text(lit)),
            Part::Ref(r) => wire::Part::Ref(path(r)),
        })
        .collect()
}

fn path(of: &Ref) -> wire::Path<'_> {
    let name = std::iter::once(wire::Segment::Field(text(of.name())));
    let rest = of.path.iter().map(|segment| match segment {
        Segment::Field(field) => wire::Segment::Field(text(field)),
        Segment::Index(i) => wire::Segment::Index(*i),
    });
    wire::Path(name.chain(rest).collect())
}

fn note(note: &Note) -> wire::Note<'_> {
    wire::Note {
        code: text(&note.code),
        severity: note.severity,
        item: note.item,
        message: text(&note.message),
        help: note.help.as_ref().map(Into::into),
    }
}
