//! From the text of `actions.json` to a plan whose graph is sound. What it claims is not yet believed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use petgraph::graph::DiGraph;
use serde::Deserialize;

use super::{FORMAT, LoadError, wire};
use crate::digest::Digest;
use crate::lower::Typed;
use crate::outline::{self, Body, Item, Outline};
use crate::plan::{Edge, Join, Judged, Node, NodeIx, NodeKind, Note, Plan};
use crate::template::{Part, Ref, Segment, Source, Template};

impl Plan {
    /// Reads `actions.json`.
    ///
    /// Refuses another format version, unknown fields, duplicate keys, ids that stand twice, edges to nowhere, cycles, and
    /// a digest that is not that of the rest. What it says of effects and gates is not yet believed: see [`Plan::verify`].
    pub fn from_json(text: &str) -> Result<Plan, LoadError> {
        #[derive(Deserialize)]
        struct Head {
            format: String,
        }
        let head: Head = serde_json::from_str(text)
            .map_err(|e| LoadError::new("V0101", format!("this is no actions.json: {e}")))?;
        if head.format != FORMAT {
            let message = format!(
                "this file says {:?}; this version of plangate reads {FORMAT:?}: compile the recipe again with it",
                head.format
            );
            return Err(LoadError::new("V0102", message));
        }
        let file: wire::File = serde_json::from_str(text)
            .map_err(|e| LoadError::new("V0103", format!("this actions.json is not as it must be: {e}")))?;
        let digest = file.digest;
        let plan = Reading::of(&file)?.plan(file)?;
        let found = Digest::of(&plan.body());
        if found != digest {
            let message = format!(
                "the file was changed after it was written: it says it is {}, and it is {}; compile the recipe again",
                digest.short(),
                found.short()
            );
            return Err(LoadError::new("V0107", message));
        }
        Ok(plan)
    }
}

struct Reading {
    ids: HashMap<String, NodeIx>,
    inputs: HashSet<String>,
}

fn shape(message: impl Into<String>) -> LoadError {
    LoadError::new("V0103", message)
}

impl Reading {
    fn of(file: &wire::File) -> Result<Reading, LoadError> {
        let mut ids = HashMap::new();
        for (at, node) in file.nodes.iter().enumerate() {
            let id = match node {
                wire::Node::Call(n) => &n.id,
                wire::Node::Write(n) => &n.id,
                wire::Node::Join(n) => &n.id,
                wire::Node::Gate(n) => &n.id,
                wire::Node::Ask(n) => &n.id,
                wire::Node::Check(n) => &n.id,
            };
            let ix = NodeIx(u32::try_from(at).map_err(|_| shape("more nodes than can be counted"))?);
            if ids.insert(id.clone(), ix).is_some() {
                return Err(LoadError::new("V0104", format!("two nodes have the id {id:?}")));
            }
        }
        Ok(Reading { ids, inputs: file.inputs.iter().map(|i| i.name.clone()).collect() })
    }

    fn node(&self, id: &str) -> Result<NodeIx, LoadError> {
        self.ids.get(id).copied().ok_or_else(|| LoadError::new("V0105", format!("there is no node {id:?}")))
    }

    fn plan(&self, file: wire::File) -> Result<Plan, LoadError> {
        let definitions: HashMap<(String, String), Digest> =
            file.definitions.into_iter().map(|d| ((d.server, d.tool), d.digest)).collect();
        let mut items: Vec<(usize, Item, NodeIx)> = Vec::new();
        let mut graph = DiGraph::with_capacity(file.nodes.len(), file.edges.len());
        let mut joins = vec![None; file.blocks.len()];
        for (at, node) in file.nodes.into_iter().enumerate() {
            let ix = NodeIx(u32::try_from(at).unwrap_or(u32::MAX));
            let node = self.wire_node(node, ix, &definitions, &mut items)?;
            if let NodeKind::Join(Join::Need { block, .. }) = &node.kind {
                let slot = joins
                    .get_mut(*block)
                    .ok_or_else(|| shape(format!("{:?} is the join of no block", node.id)))?;
                *slot = Some(ix);
            }
            graph.add_node(node);
        }
        items.sort_by_key(|(place, _, _)| *place);
        if items.iter().enumerate().any(|(at, (place, _, _))| at != *place) {
            return Err(shape("the places of the items are not 0, 1, 2, … with each one once"));
        }
        let mut pairs = HashSet::new();
        for edge in file.edges {
            let (from, to) = (self.node(&edge.from)?, self.node(&edge.to)?);
            if !pairs.insert((from, to)) {
                return Err(LoadError::new(
                    "V0105",
                    format!("two edges lead from {:?} to {:?}", edge.from, edge.to),
                ));
            }
            let reasons = edge.because.into_iter().map(|b| (b.reason, b.asks)).collect();
            graph.add_edge(from.into(), to.into(), Edge { reasons });
        }
        if let Err(cycle) = petgraph::algo::toposort(&graph, None) {
            let id = graph.node_weight(cycle.node_id()).map_or("", |n| n.id.as_str());
            return Err(LoadError::new("V0106", format!("{id:?} waits for itself, through other nodes")));
        }
        let of_item = items.iter().map(|(_, _, ix)| *ix).collect();
        let outline = Outline {
            recipe: file.recipe,
            inputs: file
                .inputs
                .into_iter()
                .map(|i| outline::Input { name: i.name, kind: i.kind, default: i.default })
                .collect(),
            blocks: file
                .blocks
                .into_iter()
                .map(|b| outline::Block { kind: b.kind, name: b.name, need: b.need })
                .collect(),
            items: items.into_iter().map(|(_, item, _)| item).collect(),
        };
        let notes = file
            .notes
            .into_iter()
            .map(|n| Note {
                code: n.code,
                severity: n.severity,
                item: n.item,
                message: n.message,
                help: n.help,
            })
            .collect();
        Ok(Plan {
            typed: Arc::new(Typed::of(outline)),
            policy: file.policy,
            graph: Arc::new(graph),
            of_item,
            joins,
            notes,
        })
    }

    fn wire_node(
        &self,
        node: wire::Node,
        ix: NodeIx,
        definitions: &HashMap<(String, String), Digest>,
        items: &mut Vec<(usize, Item, NodeIx)>,
    ) -> Result<Node, LoadError> {
        let mut add = |place: wire::Place, body: Body| {
            items.push((
                place.item,
                Item { block: place.block, under: place.under, span: place.span, body },
                ix,
            ));
            place.item
        };
        Ok(match node {
            wire::Node::Call(n) => {
                let key = (n.server.clone(), n.tool.clone());
                let definition = *definitions.get(&key).ok_or_else(|| {
                    shape(format!("{:?} calls {}.{}, whose definition is not listed", n.id, n.server, n.tool))
                })?;
                let call = outline::Call {
                    name: n.id.clone(),
                    server: n.server,
                    tool: n.tool,
                    args: self.template(n.args)?,
                    settings: settings(n.settings),
                    without_asking: n.without_asking,
                };
                let judged =
                    Judged { definition, effect: n.effect, asked: n.asked, evidence: n.evidence.into() };
                Node { id: n.id, kind: NodeKind::Call { item: add(n.place, Body::Call(call)), judged } }
            }
            wire::Node::Write(n) => {
                let text = self.parts(n.instruction)?;
                let sentence = outline::Sentence { name: n.id.clone(), text, settings: settings(n.settings) };
                Node { id: n.id, kind: NodeKind::Write { item: add(n.place, Body::Sentence(sentence)) } }
            }
            wire::Node::Join(n) => {
                let join = match n.need {
                    None => Join::All,
                    Some(need) => {
                        let of = need.of.iter().map(|id| self.node(id)).collect::<Result<_, _>>()?;
                        Join::Need { block: need.block, k: need.k, of }
                    }
                };
                Node { id: n.id, kind: NodeKind::Join(join) }
            }
            wire::Node::Gate(n) => {
                let question = match n.question {
                    None => None,
                    Some(q) => {
                        let text = self.parts(q.text)?;
                        Some(add(q.place, Body::Question(outline::Question { text })))
                    }
                };
                Node { kind: NodeKind::Gate { call: self.node(&n.call)?, question }, id: n.id }
            }
            wire::Node::Ask(n) => {
                let text = self.parts(n.text)?;
                Node {
                    id: n.id,
                    kind: NodeKind::Ask { item: add(n.place, Body::Question(outline::Question { text })) },
                }
            }
            wire::Node::Check(n) => {
                let check = outline::Check { left: self.path(n.left)?, test: self.test(n.test)? };
                Node { id: n.id, kind: NodeKind::Check { item: add(n.place, Body::Check(check)) } }
            }
        })
    }

    fn test(&self, test: wire::Test) -> Result<outline::Test, LoadError> {
        Ok(match test {
            wire::Test::IsEmpty => outline::Test::IsEmpty,
            wire::Test::IsNotEmpty => outline::Test::IsNotEmpty,
            wire::Test::Is(right) => outline::Test::Is(self.template(right)?),
            wire::Test::IsNot(right) => outline::Test::IsNot(self.template(right)?),
            wire::Test::Greater(right) => outline::Test::Greater(self.template(right)?),
            wire::Test::Less(right) => outline::Test::Less(self.template(right)?),
            wire::Test::Contains(right) => outline::Test::Contains(self.template(right)?),
        })
    }

    /// In normal form, however it was written.
    fn template(&self, of: wire::Template) -> Result<Template, LoadError> {
        Ok(match of {
            wire::Template::Lit(value) => Template::Lit(value),
            wire::Template::Arr(items) => {
                Template::list(items.into_iter().map(|t| self.template(t)).collect::<Result<_, _>>()?)
            }
            wire::Template::Obj(wire::Members(members)) => {
                let members = members.into_iter().map(|(k, t)| Ok((k, self.template(t)?))).collect::<Result<
                    _,
                    LoadError,
                >>(
                )?;
                Template::object(members).map_err(|e| shape(e.to_string()))?
            }
            wire::Template::Ref(path) => Template::Ref(self.path(path)?),
            wire::Template::Text(parts) => Template::text(self.parts(parts)?),
        })
    }

    fn parts(&self, of: Vec<wire::Part>) -> Result<Vec<Part>, LoadError> {
        of.into_iter()
            .map(|part| match part {
                wire::Part::Lit(text) => Ok(Part::Lit(text)),
                wire::Part::Ref(path) => Ok(Part::Ref(self.path(path)?)),
            })
            .collect()
    }

    fn path(&self, of: wire::Path) -> Result<Ref, LoadError> {
        let mut segments = of.0.into_iter();
        let Some(wire::Segment::Field(name)) = segments.next() else {
            return Err(shape("a reference must begin with a name"));
        };
        let source = if self.inputs.contains(&name) { Source::Input(name) } else { Source::Step(name) };
        let path = segments
            .map(|segment| match segment {
                wire::Segment::Field(field) => Segment::Field(field),
                wire::Segment::Index(i) => Segment::Index(i),
            })
            .collect();
        Ok(Ref { source, path })
    }
}

fn settings(of: wire::Settings) -> outline::Settings {
    outline::Settings { timeout_ms: of.timeout_ms, retry: of.retry, after: of.after }
}
