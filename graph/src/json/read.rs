//! From the text of `actions.json` to a plan whose graph is sound. What it claims is not yet believed.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use petgraph::graph::DiGraph;
use serde::Deserialize;

use super::{FORMAT, LoadError, wire};
use crate::digest::Digest;
use crate::effect::{Effect, Evidence};
use crate::lower::{Drawn, Read, Typed};
use crate::outline::{self, Body, Item, Outline};
use crate::plan::{Edge, Join, Judged, Node, NodeIx, NodeKind, Note, Plan};
use crate::template::{Part, Ref, Segment, Source, Template};

impl Plan {
    /// Reads `actions.json`.
    ///
    /// Refuses another format version, unknown fields, duplicate keys, ids that stand twice, edges to nowhere, cycles, and
    /// a digest that is not that of the rest. What it says of effects and gates is not yet believed: see [`Plan::verify`].
    pub fn from_json(text: &str) -> Result<Plan, LoadError> {
        let file: wire::File<'_> = serde_json::from_str(text).map_err(|e| no_file(text, &e))?;
        if file.format != FORMAT {
            return Err(other_format(&file.format));
        }
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

/// Why a text is no file of this format: first whether it is one at all, then whether it is of another.
fn no_file(text: &str, error: &serde_json::Error) -> LoadError {
    #[derive(Deserialize)]
    struct Head {
        format: String,
    }
    match serde_json::from_str::<Head>(text) {
        Err(e) => LoadError::new("V0101", format!("this is no actions.json: {e}")),
        Ok(head) if head.format != FORMAT => other_format(&head.format),
        Ok(_) => LoadError::new("V0103", format!("this actions.json is not as it must be: {error}")),
    }
}

fn other_format(format: &str) -> LoadError {
    let message = format!(
        "this file says {format:?}; this version of plangate reads {FORMAT:?}: compile the recipe again with it"
    );
    LoadError::new("V0102", message)
}

struct Reading<'t> {
    ids: HashMap<Cow<'t, str>, NodeIx>,
    inputs: HashSet<Cow<'t, str>>,
}

/// A tool of the file, by server and name.
type Tool<'t> = (Cow<'t, str>, Cow<'t, str>);

/// What the file says of a tool.
struct Told {
    definition: Digest,
    /// The evidence of its last call: most calls of one tool have the same, and share it.
    evidence: Arc<[Evidence]>,
}

fn shape(message: impl Into<String>) -> LoadError {
    LoadError::new("V0103", message)
}

impl<'t> Reading<'t> {
    fn of(file: &wire::File<'t>) -> Result<Reading<'t>, LoadError> {
        let mut ids = HashMap::with_capacity(file.nodes.len());
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

    fn plan(&self, file: wire::File<'t>) -> Result<Plan, LoadError> {
        let told = |d: wire::Definition<'t>| {
            ((d.server, d.tool), Told { definition: d.digest, evidence: Arc::default() })
        };
        let mut tools: HashMap<Tool<'t>, Told> = file.definitions.into_iter().map(told).collect();
        let mut items: Vec<(usize, Item, NodeIx)> = Vec::with_capacity(file.nodes.len());
        let mut graph = DiGraph::with_capacity(file.nodes.len(), file.edges.len());
        let mut joins = vec![None; file.blocks.len()];
        for (at, node) in file.nodes.into_iter().enumerate() {
            let ix = NodeIx(u32::try_from(at).unwrap_or(u32::MAX));
            let node = self.wire_node(node, ix, &mut tools, &mut items)?;
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
        self.edges(file.edges, &mut graph)?;
        let of_item = items.iter().map(|(_, _, ix)| *ix).collect();
        let outline = Outline {
            recipe: file.recipe,
            inputs: file
                .inputs
                .into_iter()
                .map(|i| outline::Input { name: i.name.into(), kind: i.kind, default: i.default })
                .collect(),
            blocks: file
                .blocks
                .into_iter()
                .map(|b| outline::Block { kind: b.kind, name: b.name.map(Into::into), need: b.need })
                .collect(),
            items: items.into_iter().map(|(_, item, _)| item).collect(),
        };
        let notes = file
            .notes
            .into_iter()
            .map(|n| Note {
                code: n.code.into(),
                severity: n.severity,
                item: n.item,
                message: n.message.into(),
                help: n.help.map(Into::into),
            })
            .collect();
        let drawn = Drawn::read(Arc::new(Typed::of(outline)), Read { graph, of_item, joins });
        Ok(Plan::of(Arc::new(drawn), file.policy, notes))
    }

    /// Draws the edges: none twice, and no way around.
    fn edges(&self, edges: Vec<wire::Edge<'t>>, graph: &mut DiGraph<Node, Edge>) -> Result<(), LoadError> {
        let mut pairs = Pairs::default();
        // As they are written, the edges of one source follow each other, and every edge leads to a later node.
        let mut source: Option<(Cow<'t, str>, NodeIx)> = None;
        let mut forward = true;
        for edge in edges {
            let from = match &source {
                Some((id, ix)) if *id == edge.from => *ix,
                _ => self.node(&edge.from)?,
            };
            let to = self.node(&edge.to)?;
            if !pairs.insert((from, to)) {
                return Err(LoadError::new(
                    "V0105",
                    format!("two edges lead from {:?} to {:?}", edge.from, edge.to),
                ));
            }
            forward &= from < to;
            source = Some((edge.from, from));
            let reasons = edge.because.into_iter().map(|b| (b.reason, b.asks)).collect();
            graph.add_edge(from.into(), to.into(), Edge { reasons });
        }
        // What always leads to a later node leads nowhere back.
        if !forward && let Err(cycle) = petgraph::algo::toposort(&*graph, None) {
            let id = graph.node_weight(cycle.node_id()).map_or("", |n| n.id.as_str());
            return Err(LoadError::new("V0106", format!("{id:?} waits for itself, through other nodes")));
        }
        Ok(())
    }

    fn wire_node(
        &self,
        node: wire::Node<'t>,
        ix: NodeIx,
        tools: &mut HashMap<Tool<'t>, Told>,
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
                let tool = (n.server, n.tool);
                let Some(told) = tools.get_mut(&tool) else {
                    let (server, tool) = tool;
                    let message = format!("{:?} calls {server}.{tool}, whose definition is not listed", n.id);
                    return Err(shape(message));
                };
                let judged = told.judged(n.effect, n.asked, n.evidence);
                let id = String::from(n.id);
                let call = outline::Call {
                    name: id.clone(),
                    server: tool.0.into(),
                    tool: tool.1.into(),
                    args: self.template(n.args)?,
                    settings: settings(n.settings),
                    without_asking: n.without_asking,
                };
                Node { id, kind: NodeKind::Call { item: add(n.place, Body::Call(call)), judged } }
            }
            wire::Node::Write(n) => {
                let text = self.parts(n.instruction)?;
                let id = String::from(n.id);
                let sentence = outline::Sentence { name: id.clone(), text, settings: settings(n.settings) };
                Node { id, kind: NodeKind::Write { item: add(n.place, Body::Sentence(sentence)) } }
            }
            wire::Node::Join(n) => {
                let join = match n.need {
                    None => Join::All,
                    Some(need) => {
                        let of = need.of.iter().map(|id| self.node(&id.0)).collect::<Result<_, _>>()?;
                        Join::Need { block: need.block, k: need.k, of }
                    }
                };
                Node { id: n.id.into(), kind: NodeKind::Join(join) }
            }
            wire::Node::Gate(n) => {
                let question = match n.question {
                    None => None,
                    Some(q) => {
                        let text = self.parts(q.text)?;
                        Some(add(q.place, Body::Question(outline::Question { text })))
                    }
                };
                Node { kind: NodeKind::Gate { call: self.node(&n.call)?, question }, id: n.id.into() }
            }
            wire::Node::Ask(n) => {
                let text = self.parts(n.text)?;
                Node {
                    id: n.id.into(),
                    kind: NodeKind::Ask { item: add(n.place, Body::Question(outline::Question { text })) },
                }
            }
            wire::Node::Check(n) => {
                let check = outline::Check { left: self.path(n.left)?, test: self.test(n.test)? };
                Node { id: n.id.into(), kind: NodeKind::Check { item: add(n.place, Body::Check(check)) } }
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
    fn template(&self, of: wire::Template<'_>) -> Result<Template, LoadError> {
        Ok(match of {
            wire::Template::Lit(value) => Template::Lit(value.into_owned()),
            wire::Template::Arr(items) => {
                Template::list(items.into_iter().map(|t| self.template(t)).collect::<Result<_, _>>()?)
            }
            wire::Template::Obj(wire::Members(members)) => {
                let members = members.into_iter().map(|(k, t)| Ok((k.into(), self.template(t)?)));
                let members = members.collect::<Result<_, LoadError>>()?;
                Template::object(members).map_err(|e| shape(e.to_string()))?
            }
            wire::Template::Ref(path) => Template::Ref(self.path(path)?),
            wire::Template::Text(parts) => Template::text(self.parts(parts)?),
        })
    }

    fn parts(&self, of: Vec<wire::Part<'_>>) -> Result<Vec<Part>, LoadError> {
        of.into_iter()
            .map(|part| match part {
                wire::Part::Lit(text) => Ok(Part::Lit(text.into())),
                wire::Part::Ref(path) => Ok(Part::Ref(self.path(path)?)),
            })
            .collect()
    }

    fn path(&self, of: wire::Path<'_>) -> Result<Ref, LoadError> {
        let mut segments = of.0.into_iter();
        let Some(wire::Segment::Field(name)) = segments.next() else {
            return Err(shape("a reference must begin with a name"));
        };
        let is_input = self.inputs.contains(&name);
        let source = if is_input { Source::Input(name.into()) } else { Source::Step(name.into()) };
        let path = segments
            .map(|segment| match segment {
                wire::Segment::Field(field) => Segment::Field(field.into()),
                wire::Segment::Index(i) => Segment::Index(i),
            })
            .collect();
        Ok(Ref { source, path })
    }
}

impl Told {
    /// What is judged of a call of this tool.
    fn judged(&mut self, effect: Effect, asked: bool, evidence: Vec<wire::Evidence<'_>>) -> Judged {
        let is = |told: &Evidence, read: &wire::Evidence<'_>| {
            told.code == read.code && told.says == read.says && told.effect == read.effect
        };
        let same = self.evidence.len() == evidence.len()
            && self.evidence.iter().zip(&evidence).all(|(told, read)| is(told, read));
        if !same {
            let read = evidence.into_iter();
            self.evidence = read
                .map(|e| Evidence { code: e.code.into(), says: e.says.into(), effect: e.effect })
                .collect();
        }
        Judged { definition: self.definition, effect, asked, evidence: Arc::clone(&self.evidence) }
    }
}

/// Pairs of nodes, each once.
#[derive(Default)]
struct Pairs {
    /// As long as each pair is greater than the one before.
    sorted: Vec<(NodeIx, NodeIx)>,
    /// All, once one was not.
    all: Option<HashSet<(NodeIx, NodeIx)>>,
}

impl Pairs {
    /// Adds a pair; `false` where it is there already.
    fn insert(&mut self, pair: (NodeIx, NodeIx)) -> bool {
        if self.all.is_none() && self.sorted.last().is_none_or(|last| *last < pair) {
            self.sorted.push(pair);
            return true;
        }
        self.all.get_or_insert_with(|| self.sorted.drain(..).collect()).insert(pair)
    }
}

fn settings(of: wire::Settings<'_>) -> outline::Settings {
    let after = of.after.into_iter().map(Into::into).collect();
    outline::Settings { timeout_ms: of.timeout_ms, retry: of.retry, after }
}
