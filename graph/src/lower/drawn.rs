//! Nodes and edges as they were drawn, and whether they follow from what was typed.
//!
//! Which nodes and edges there are follows from what was typed, from what each call counts as, and from which servers share
//! a world. What the calls count as is said beside them. So it is found out once, where a plan is made, whether it is
//! drawn as it must be for what it says; verifying then finds out whether what it says is so.
//!
//! Nothing here changes once it is made, and there are two makers: one draws what was derived, the other derives beside
//! what was read, and compares.

use std::sync::Arc;

use petgraph::graph::DiGraph;

use super::derived::Derived;
use super::judgements::{Judgements, Mark, Marks, NOTHING};
use super::typed::Typed;
use super::worlds::Worlds;
use super::{Lowered, derive, faults, notes};
use crate::digest::Digest;
use crate::effect::Evidence;
use crate::plan::{Edge, Node, NodeIx, NodeKind, Note};

/// The nodes and edges of a plan. Private fields, and nothing that changes them.
#[derive(Debug)]
pub(crate) struct Drawn {
    typed: Arc<Typed>,
    graph: DiGraph<Node, Edge>,
    of_item: Vec<NodeIx>,
    joins: Vec<Option<NodeIx>>,
    marks: Marks,
    follows: Option<Follows>,
}

/// That nodes and edges are those that follow, and from what.
#[derive(Debug)]
struct Follows {
    worlds: Worlds,
    /// What is worth saying of them.
    notes: Arc<[Note]>,
    said: Said,
}

/// What is said of the calls beside what they count as.
#[derive(Debug, Default)]
struct Said {
    /// For each item, an index into `told`, or beyond its end.
    of_item: Vec<u32>,
    /// Most calls of one tool are told the same.
    told: Vec<Told>,
}

#[derive(Debug)]
struct Told {
    definition: Digest,
    evidence: Arc<[Evidence]>,
}

/// A graph as it stands in a file.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) graph: DiGraph<Node, Edge>,
    /// The node of each item.
    pub(crate) of_item: Vec<NodeIx>,
    /// The `need` join of each block.
    pub(crate) joins: Vec<Option<NodeIx>>,
}

impl Drawn {
    /// Draws what was derived; nothing where a call was not judged.
    pub(super) fn derived(
        derived: Derived,
        worlds: Worlds,
        notes: Arc<[Note]>,
        typed: &Arc<Typed>,
        judgements: &Judgements,
    ) -> Option<Drawn> {
        let graph = derived.graph(typed, judgements)?;
        let (of_item, joins) = derived.places();
        Some(Drawn {
            typed: Arc::clone(typed),
            graph,
            of_item,
            joins,
            marks: judgements.marks.clone(),
            follows: Some(Follows { worlds, notes, said: Said::judged(judgements) }),
        })
    }

    /// Takes a graph as it was read, and finds out whether it follows from what was typed and from what it says of the
    /// calls, with all servers in one world. Of servers in several worlds nothing is found out here.
    pub(crate) fn read(typed: Arc<Typed>, read: Read) -> Drawn {
        let Read { graph, of_item, joins } = read;
        let marks = marks(&typed, &graph);
        let mut drawn = Drawn { typed, graph, of_item, joins, marks, follows: None };
        drawn.follows = drawn.found_to_follow();
        drawn
    }

    fn found_to_follow(&self) -> Option<Follows> {
        let typed = &self.typed;
        if !typed.faults.is_empty() || !faults::of(typed, &self.marks).is_empty() {
            return None;
        }
        let worlds = Worlds::one(typed);
        let (derived, said) = derive(typed, &self.marks, &worlds);
        derived.is(self, &self.marks).then(|| Follows {
            worlds,
            notes: said.iter().map(notes::keep).collect(),
            said: Said::read(typed, &self.graph),
        })
    }

    /// Where these are the nodes and edges that follow with the calls as they were judged, with the words of now, and nothing
    /// is wrong: what is worth saying of them. Otherwise they may be, or not.
    pub(crate) fn notes_if(&self, lowered: &Lowered, worlds: &Worlds) -> Option<&Arc<[Note]>> {
        let judgements = &lowered.judgements;
        let follows = self.follows.as_ref().filter(|follows| follows.worlds == *worlds)?;
        let same = !lowered.is_wrong() && !judgements.raised && follows.said.is(&self.typed, judgements);
        same.then_some(&follows.notes)
    }

    /// The outline, and what follows from it.
    pub(crate) fn typed(&self) -> &Arc<Typed> {
        &self.typed
    }

    /// Nodes and edges.
    pub(crate) fn graph(&self) -> &DiGraph<Node, Edge> {
        &self.graph
    }

    /// All edges as (source, target, edge), by source and target.
    pub(crate) fn edges_in_order(&self) -> Vec<(NodeIx, NodeIx, &Edge)> {
        let drawn = self.graph.raw_edges().iter();
        let mut edges: Vec<_> =
            drawn.map(|e| (NodeIx::from(e.source()), NodeIx::from(e.target()), &e.weight)).collect();
        // They mostly are: that is how they are drawn and written.
        edges.sort_unstable_by_key(|(from, to, _)| (*from, *to));
        edges
    }

    /// Node of each item; a question whose words stand on a gate has that gate.
    pub(crate) fn of_item(&self) -> &[NodeIx] {
        &self.of_item
    }

    /// The `need` join of each block that has one.
    pub(crate) fn joins(&self) -> &[Option<NodeIx>] {
        &self.joins
    }

    /// What it says that its calls count as: a call with a gate is asked.
    pub(crate) fn marks(&self) -> &Marks {
        &self.marks
    }
}

/// What a graph says that the calls count as; of two nodes for one item, the stronger.
fn marks(typed: &Typed, graph: &DiGraph<Node, Edge>) -> Marks {
    let mut gated = vec![false; graph.node_count()];
    for node in graph.node_weights() {
        if let NodeKind::Gate { call, .. } = node.kind
            && let Some(slot) = gated.get_mut(call.0 as usize)
        {
            *slot = true;
        }
    }
    let mut marks = Marks::of_items(typed.outline.items.len());
    for (node, gated) in graph.node_weights().zip(gated) {
        if let NodeKind::Call { item, judged } = &node.kind {
            marks.put(*item, Mark { effect: judged.effect, asked: judged.asked || gated });
        }
    }
    marks
}

impl Said {
    fn judged(judgements: &Judgements) -> Said {
        let told = judgements
            .found
            .iter()
            .map(|found| Told { definition: found.definition, evidence: Arc::clone(&found.evidence) });
        Said { of_item: judgements.found_of.clone(), told: told.collect() }
    }

    /// What nodes say of their calls.
    fn read(typed: &Typed, graph: &DiGraph<Node, Edge>) -> Said {
        let mut said = Said { of_item: vec![NOTHING; typed.outline.items.len()], told: Vec::new() };
        // The calls of one tool share their evidence with the call before where it is the same.
        let mut last: Vec<Option<usize>> = vec![None; typed.calls.tools.len()];
        for node in graph.node_weights() {
            let NodeKind::Call { item, judged } = &node.kind else { continue };
            let Some(last) = typed.tool_of(*item).and_then(|tool| last.get_mut(tool)) else { continue };
            let same = |told: &Told| {
                Arc::ptr_eq(&told.evidence, &judged.evidence) && told.definition == judged.definition
            };
            let at = last.filter(|at| said.told.get(*at).is_some_and(same)).unwrap_or_else(|| {
                let evidence = Arc::clone(&judged.evidence);
                said.told.push(Told { definition: judged.definition, evidence });
                said.told.len() - 1
            });
            *last = Some(at);
            if let Some(slot) = said.of_item.get_mut(*item) {
                *slot = u32::try_from(at).unwrap_or(NOTHING);
            }
        }
        said
    }

    /// Whether this is what was found of every call. Linear.
    fn is(&self, typed: &Typed, judgements: &Judgements) -> bool {
        // For each that is told, what was found to be the same.
        let mut same = vec![NOTHING; self.told.len()];
        typed.calls.placed.iter().all(|call| {
            let place = call.place as usize;
            let (Some(at), Some(found)) = (self.of_item.get(place), judgements.found_of.get(place)) else {
                return false;
            };
            let (Some(told), Some(known)) = (self.told.get(*at as usize), same.get_mut(*at as usize)) else {
                return false;
            };
            if *known == *found {
                return *found != NOTHING;
            }
            *known = *found;
            judgements
                .found
                .get(*found as usize)
                .is_some_and(|found| found.definition == told.definition && found.evidence == told.evidence)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::catalog::{Catalog, Definition};
    use crate::lower::lower;
    use crate::outline::{Block, BlockKind, Body, Call, Item, Outline, Question, Sentence, Settings};
    use crate::template::{Part, Ref, Source, Template};
    use crate::value::Value;
    use crate::{Author, Digest, Plan, Policy};

    fn plan() -> Plan {
        let call = |name: &str, tool: &str, args: &str| {
            let args = Template::Lit(Value::parse(args).unwrap());
            let (name, server, tool) = (name.to_owned(), "s".to_owned(), tool.to_owned());
            let settings = Settings::default();
            Body::Call(Call { name, server, tool, args, settings, without_asking: false })
        };
        let step = |name: &str| Part::Ref(Ref { source: Source::Step(name.to_owned()), path: Vec::new() });
        let text = vec![step("a"), step("b")];
        let bodies = [
            (0, None, call("a", "get", "{}")),
            (0, None, call("b", "get", "{\"n\":1}")),
            (1, None, Body::Sentence(Sentence { name: "c".to_owned(), text, settings: Settings::default() })),
            (1, None, call("d", "get", "{}")),
            (2, None, Body::Question(Question { text: vec![Part::Lit("go on?".to_owned())] })),
            (2, Some(4), call("e", "post", "{}")),
            (2, Some(4), call("f", "post", "{\"n\":1}")),
        ];
        let block = |kind| Block { kind, name: None, need: None };
        let outline = Outline {
            recipe: Digest::of(b""),
            inputs: Vec::new(),
            blocks: [BlockKind::Together, BlockKind::Then, BlockKind::AskMe].map(block).to_vec(),
            items: bodies.map(|(block, under, body)| Item { block, under, span: (0, 0), body }).to_vec(),
        };
        lower(outline, &catalog(), &Policy::default(), Author::Person).0.unwrap()
    }

    fn catalog() -> Catalog {
        let mut catalog = Catalog::new();
        for name in ["get", "post"] {
            let (input_schema, annotations) = (Value::parse("{}").unwrap(), Value::Null);
            let (name, description) = (name.to_owned(), String::new());
            catalog.insert("s", Definition { name, description, input_schema, annotations }).unwrap();
        }
        catalog
    }

    /// The text with a digest that fits.
    fn sealed(text: &str) -> String {
        let body = text.split("  \"digest\"").next().unwrap();
        format!("{body}  \"digest\": \"{}\"\n}}\n", Digest::of(body.as_bytes()))
    }

    #[test]
    fn what_is_read_follows_as_what_was_derived() {
        let plan = plan();
        let read = Plan::from_json(&plan.to_json()).unwrap();
        let (derived, found) =
            (plan.drawn().follows.as_ref().unwrap(), read.drawn().follows.as_ref().unwrap());
        assert_eq!(derived.worlds, found.worlds);
        assert!(!derived.notes.is_empty());
        assert_eq!(derived.notes, found.notes);
        assert_eq!(plan.drawn().marks, read.drawn().marks);
    }

    /// What is no other than what follows is found to be so, and nothing else is: every line that is taken out or changed.
    #[test]
    fn what_was_edited_is_not_found_to_follow() {
        let text = plan().to_json();
        let lines: Vec<&str> = text.lines().collect();
        let mut tried = 0;
        for (at, line) in lines.iter().enumerate() {
            let edits = [
                None,
                Some(line.replace("\"yes\"", "\"ended\"")),
                Some(line.replace("\"done\"", "\"ended\"")),
                Some(line.replace("\"asked\":true", "\"asked\":false")),
                Some(line.replace("\"reason\":\"data\"", "\"reason\":\"said\"")),
                Some(line.replace("\"unknown\"", "\"read\"").replace("\"destructive\"", "\"read\"")),
            ];
            for edit in edits {
                if edit.as_deref() == Some(*line) || !line.starts_with("    {") {
                    continue;
                }
                let mut kept: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
                match edit {
                    Some(edit) => kept[at] = edit,
                    None if kept[at + 1].trim() == "]," => {
                        kept.remove(at);
                        let last = kept[at - 1].trim_end_matches(',').to_owned();
                        kept[at - 1] = last;
                    }
                    None => drop(kept.remove(at)),
                }
                let Ok(read) = Plan::from_json(&sealed(&(kept.join("\n") + "\n"))) else { continue };
                let passes = read.clone().verify(&catalog(), &Policy::default(), Author::Person).is_ok();
                if read.drawn().follows.is_none() {
                    assert!(!passes, "{}", kept[at]);
                }
                // A note, or a definition that nobody calls, is no part of what is drawn.
                tried += usize::from(read.drawn().follows.is_none());
            }
        }
        assert!(tried > 15, "only {tried} edits showed");
    }
}
