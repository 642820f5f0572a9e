//! Nodes and edges as they were drawn.
//!
//! Nothing here changes once it is made, and there are two makers: one draws what was derived, the other takes what was
//! read.

use std::sync::Arc;

use petgraph::graph::DiGraph;

use super::derived::Derived;
use super::judgements::{Judgements, Mark, Marks};
use super::typed::Typed;
use crate::plan::{Edge, Node, NodeIx, NodeKind};

/// The nodes and edges of a plan. Private fields, and nothing that changes them.
#[derive(Debug)]
pub(crate) struct Drawn {
    typed: Arc<Typed>,
    graph: DiGraph<Node, Edge>,
    of_item: Vec<NodeIx>,
    joins: Vec<Option<NodeIx>>,
    marks: Marks,
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
    pub(super) fn derived(derived: Derived, typed: &Arc<Typed>, judgements: &Judgements) -> Option<Drawn> {
        let graph = derived.graph(typed, judgements)?;
        let (of_item, joins) = derived.places();
        Some(Drawn { typed: Arc::clone(typed), graph, of_item, joins, marks: judgements.marks.clone() })
    }

    /// Takes a graph as it was read.
    pub(crate) fn read(typed: Arc<Typed>, read: Read) -> Drawn {
        let Read { graph, of_item, joins } = read;
        let marks = marks(&typed, &graph);
        Drawn { typed, graph, of_item, joins, marks }
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
