//! From a plan to the text of `actions.json`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{FORMAT, wire};
use crate::digest::Digest;
use crate::outline::{self, Body, Item};
use crate::plan::{Join, NodeIx, NodeKind, Plan};
use crate::template::{Part, Ref, Segment, Template};

impl Plan {
    /// The text of `actions.json`; the same bytes on every machine and under every feature set. Linear.
    pub fn to_json(&self) -> String {
        let mut text = self.body();
        let digest = Digest::of(&text);
        text.extend_from_slice(format!("  \"digest\": \"{digest}\"\n}}\n").as_bytes());
        // It is UTF-8: `serde_json` and text of ours wrote it.
        String::from_utf8(text).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
    }

    /// The digest of that text: the plan's name in the store.
    pub fn digest(&self) -> Digest {
        Digest::of(self.to_json().as_bytes())
    }

    /// All fields but the last; the digest goes over these bytes.
    pub(super) fn body(&self) -> Vec<u8> {
        let mut text = b"{\n".to_vec();
        field(&mut text, "format", &FORMAT);
        field(&mut text, "recipe", &self.outline().recipe);
        field(&mut text, "policy", &self.policy);
        lines(&mut text, "definitions", self.wire_definitions());
        lines(&mut text, "inputs", self.outline().inputs.iter().map(input));
        lines(&mut text, "blocks", self.outline().blocks.iter().map(block));
        lines(&mut text, "nodes", self.nodes().filter_map(|(_, node)| self.wire_node(node)));
        lines(&mut text, "edges", self.wire_edges());
        lines(&mut text, "notes", self.notes.iter().map(note));
        text
    }

    fn wire_definitions(&self) -> impl Iterator<Item = wire::Definition> {
        let mut used = BTreeMap::new();
        for (_, node) in self.nodes() {
            if let NodeKind::Call { item, judged } = &node.kind
                && let Some(Item { body: Body::Call(call), .. }) = self.outline().items.get(*item)
            {
                used.insert((call.server.clone(), call.tool.clone()), judged.definition);
            }
        }
        used.into_iter().map(|((server, tool), digest)| wire::Definition { server, tool, digest })
    }

    fn id(&self, ix: NodeIx) -> String {
        self.node(ix).id.clone()
    }

    fn place(&self, at: usize) -> Option<(wire::Place, &Body)> {
        let item = self.outline().items.get(at)?;
        let place = wire::Place { item: at, block: item.block, under: item.under, span: item.span };
        Some((place, &item.body))
    }

    fn wire_node(&self, node: &crate::plan::Node) -> Option<wire::Node> {
        let id = node.id.clone();
        Some(match &node.kind {
            NodeKind::Call { item, judged } => {
                let (place, Body::Call(call)) = self.place(*item)? else { return None };
                wire::Node::Call(wire::Call {
                    id,
                    place,
                    server: call.server.clone(),
                    tool: call.tool.clone(),
                    args: template(&call.args),
                    settings: settings(&call.settings),
                    without_asking: call.without_asking,
                    effect: judged.effect,
                    asked: judged.asked,
                    evidence: judged.evidence.to_vec(),
                })
            }
            NodeKind::Write { item } => {
                let (place, Body::Sentence(sentence)) = self.place(*item)? else { return None };
                let settings = settings(&sentence.settings);
                wire::Node::Write(wire::Write { id, place, instruction: parts(&sentence.text), settings })
            }
            NodeKind::Join(Join::All) => wire::Node::Join(wire::Join { id, need: None }),
            NodeKind::Join(Join::Need { block, k, of }) => {
                let of = of.iter().map(|ix| self.id(*ix)).collect();
                wire::Node::Join(wire::Join { id, need: Some(wire::JoinNeed { block: *block, k: *k, of }) })
            }
            NodeKind::Gate { call, question } => {
                let question = question.and_then(|at| match self.place(at)? {
                    (place, Body::Question(q)) => Some(wire::Question { place, text: parts(&q.text) }),
                    _ => None,
                });
                wire::Node::Gate(wire::Gate { id, call: self.id(*call), question })
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

    fn wire_edges(&self) -> impl Iterator<Item = wire::Edge> {
        self.nodes().flat_map(|(from, node)| {
            self.outgoing(from).into_iter().map(|(to, edge)| wire::Edge {
                from: node.id.clone(),
                to: self.id(to),
                because: edge
                    .reasons
                    .iter()
                    .map(|(reason, asks)| wire::Because { reason: *reason, asks: *asks })
                    .collect(),
            })
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

fn input(input: &outline::Input) -> wire::Input {
    wire::Input { name: input.name.clone(), kind: input.kind, default: input.default.clone() }
}

fn block(block: &outline::Block) -> wire::Block {
    wire::Block { kind: block.kind, name: block.name.clone(), need: block.need }
}

fn settings(settings: &outline::Settings) -> wire::Settings {
    wire::Settings { timeout_ms: settings.timeout_ms, retry: settings.retry, after: settings.after.clone() }
}

fn test(test: &outline::Test) -> wire::Test {
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

fn template(of: &Template) -> wire::Template {
    match of {
        Template::Lit(value) => wire::Template::Lit(value.clone()),
        Template::List(items) => wire::Template::Arr(items.iter().map(template).collect()),
        Template::Object(members) => wire::Template::Obj(wire::Members(
            members.iter().map(|(k, t)| (k.clone(), template(t))).collect(),
        )),
        Template::Ref(r) => wire::Template::Ref(path(r)),
        Template::Text(text) => wire::Template::Text(parts(text)),
    }
}

fn parts(of: &[Part]) -> Vec<wire::Part> {
    of.iter()
        .map(|part| match part {
            Part::Lit(text) => wire::Part::Lit(text.clone()),
            Part::Ref(r) => wire::Part::Ref(path(r)),
        })
        .collect()
}

fn path(of: &Ref) -> wire::Path {
    let name = std::iter::once(wire::Segment::Field(of.name().to_owned()));
    let rest = of.path.iter().map(|segment| match segment {
        Segment::Field(field) => wire::Segment::Field(field.clone()),
        Segment::Index(i) => wire::Segment::Index(*i),
    });
    wire::Path(name.chain(rest).collect())
}

fn note(note: &crate::plan::Note) -> wire::Note {
    wire::Note {
        code: note.code.clone(),
        severity: note.severity,
        item: note.item,
        message: note.message.clone(),
        help: note.help.clone(),
    }
}
