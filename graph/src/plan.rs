//! The checked graph. Every plan comes out of [`lower`](crate::lower) or is read from `actions.json` and held against it.

use std::sync::Arc;

use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::effect::{Effect, Evidence};
use crate::lower::Drawn;
use crate::outline::{Item, Outline};
use crate::problem::Severity;

/// Index of a node in its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIx(pub u32);

/// A plan: what the author typed, and the nodes and edges that follow from it.
///
/// Private fields: the only ways to one are [`lower`](crate::lower::lower) and [`Plan::from_json`](crate::json), and both check it.
/// A copy of it shares all that is large.
#[derive(Clone, Debug)]
pub struct Plan {
    drawn: Arc<Drawn>,
    policy: Digest,
    notes: Arc<[Note]>,
}

/// A node of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its id: a step's name, or a text with a `/` in it, which names cannot hold (`post/gate`, `then-2/join`).
    pub id: String,
    /// What it is.
    pub kind: NodeKind,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A call of a tool.
    Call {
        /// The item that is the call.
        item: usize,
        /// What was found out about it when the plan was made.
        judged: Judged,
    },
    /// A sentence for the writer.
    Write {
        /// The item that is the sentence.
        item: usize,
    },
    /// Where later steps need k of n earlier ones, or all of many.
    Join(Join),
    /// The stop in front of a call. Holds no tool and no arguments of its own.
    Gate {
        /// The call it guards.
        call: NodeIx,
        /// The question whose words stand on it, if one guards just this call.
        question: Option<usize>,
    },
    /// A question that a person answers, in front of several steps.
    Ask {
        /// The item that is the question.
        item: usize,
    },
    /// A test that the machine answers.
    Check {
        /// The item that is the check.
        item: usize,
    },
}

/// What was found out about a call when the plan was made; recomputed whenever the plan is verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Digest of its tool's definition.
    pub definition: Digest,
    /// Its effect.
    pub effect: Effect,
    /// Whether it is put to a person.
    pub asked: bool,
    /// Every rule that fired: first those of the effect, then why it is asked or not.
    pub evidence: Arc<[Evidence]>,
}

/// A join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Join {
    /// `need: k of n` of a block. Fires when every branch that still works has ended and at least k are ok.
    Need {
        /// The block that needs it.
        block: usize,
        /// How many must end ok.
        k: u32,
        /// The counted steps, in typed order.
        of: Vec<NodeIx>,
    },
    /// "After everything above": done when each of its edges is satisfied. Keeps the number of edges linear.
    All,
}

/// Why a node waits for another, and what it asks of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// All reasons, in the order of [`Reason`], none twice.
    pub reasons: Vec<(Reason, Asks)>,
}

/// Why an edge is there.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// The later step reads the earlier one.
    Data,
    /// The author wrote `after:`.
    Said,
    /// One of the two changes something in a world they share.
    Effect,
    /// A gate, question or check guards the later step.
    Gate,
    /// The earlier step is counted by a join.
    Counted,
}

/// What an edge asks of its source before its target may start.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
pub enum Asks {
    /// That it has ended, in whatever state. A `need` join counts such edges itself.
    #[serde(rename = "ended")]
    Ended,
    /// That it is done or skipped.
    #[serde(rename = "done or skipped")]
    DoneOrSkipped,
    /// That it is done.
    #[serde(rename = "done")]
    Done,
    /// That it was answered yes.
    #[serde(rename = "yes")]
    Yes,
}

/// Something worth saying about the plan: a step that moved, a question that guards nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Stable code.
    pub code: String,
    /// How bad it is; never an error.
    pub severity: Severity,
    /// The item it is about.
    pub item: Option<usize>,
    /// One sentence.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Plan {
    /// The plan of these nodes and edges, made under this policy.
    pub(crate) fn of(drawn: Arc<Drawn>, policy: Digest, notes: Arc<[Note]>) -> Plan {
        Plan { drawn, policy, notes }
    }

    /// The same plan with other notes.
    pub(crate) fn with_notes(self, notes: Arc<[Note]>) -> Plan {
        Plan { notes, ..self }
    }

    /// Its nodes and edges.
    pub(crate) fn drawn(&self) -> &Drawn {
        &self.drawn
    }

    /// What the author typed.
    pub fn outline(&self) -> &Outline {
        &self.drawn.typed().outline
    }

    /// Digest of the policy the plan was made under.
    pub fn policy(&self) -> Digest {
        self.policy
    }

    /// All nodes with their indices: items in typed order, gates and joins between them.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeIx, &Node)> {
        self.drawn
            .graph()
            .node_indices()
            .zip(self.drawn.graph().node_weights())
            .map(|(ix, node)| (NodeIx::from(ix), node))
    }

    /// A node. The index must be of this plan.
    pub fn node(&self, ix: NodeIx) -> &Node {
        &self.drawn.graph()[NodeIndex::from(ix)]
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.drawn.graph().node_count()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.drawn.graph().node_count() == 0
    }

    /// A node by its id. Linear.
    pub fn find(&self, id: &str) -> Option<NodeIx> {
        self.nodes().find(|(_, node)| node.id == id).map(|(ix, _)| ix)
    }

    /// The edges into a node: (source, edge), by source.
    pub fn incoming(&self, ix: NodeIx) -> Vec<(NodeIx, &Edge)> {
        let mut edges: Vec<_> = self
            .drawn
            .graph()
            .edges_directed(ix.into(), petgraph::Direction::Incoming)
            .map(|e| (NodeIx::from(e.source()), e.weight()))
            .collect();
        edges.sort_by_key(|(from, _)| *from);
        edges
    }

    /// The edges out of a node: (target, edge), by target.
    pub fn outgoing(&self, ix: NodeIx) -> Vec<(NodeIx, &Edge)> {
        let mut edges: Vec<_> =
            self.drawn.graph().edges(ix.into()).map(|e| (NodeIx::from(e.target()), e.weight())).collect();
        edges.sort_by_key(|(to, _)| *to);
        edges
    }

    /// How many edges there are.
    pub fn edge_count(&self) -> usize {
        self.drawn.graph().edge_count()
    }

    /// The node of an item; for a question whose words stand on a gate, that gate.
    pub fn node_of(&self, item: usize) -> NodeIx {
        #[expect(clippy::indexing_slicing, reason = "an index of another plan is a fault of the caller")]
        self.drawn.of_item()[item]
    }

    /// The item of a node: of a call, sentence, question or check. Gates and joins have none.
    pub fn item_of(&self, ix: NodeIx) -> Option<(usize, &Item)> {
        let item = match self.node(ix).kind {
            NodeKind::Call { item, .. }
            | NodeKind::Write { item }
            | NodeKind::Ask { item }
            | NodeKind::Check { item } => item,
            NodeKind::Join(_) | NodeKind::Gate { .. } => return None,
        };
        self.outline().items.get(item).map(|found| (item, found))
    }

    /// The gate of a call, if it has one.
    pub fn gate_of(&self, call: NodeIx) -> Option<NodeIx> {
        self.drawn
            .graph()
            .neighbors_directed(call.into(), petgraph::Direction::Incoming)
            .map(NodeIx::from)
            .find(|ix| matches!(self.node(*ix).kind, NodeKind::Gate { .. }))
    }

    /// The `need` join through which this item reads a step, if its block counts that step; otherwise it reads it directly.
    pub fn join_for(&self, item: usize, step: NodeIx) -> Option<NodeIx> {
        let block = self.outline().items.get(item)?.block;
        self.need_join(block).filter(|join| match &self.node(*join).kind {
            NodeKind::Join(Join::Need { of, .. }) => of.binary_search(&step).is_ok(),
            _ => false,
        })
    }

    /// The `need` join of a block.
    pub fn need_join(&self, block: usize) -> Option<NodeIx> {
        self.drawn.joins().get(block).copied().flatten()
    }

    /// Places of the steps that start at once although they were typed below others, in typed order.
    pub fn moved_items(&self) -> Vec<usize> {
        self.outline().moved(|place| {
            let node = self.drawn.of_item().get(place).copied().unwrap_or(NodeIx(0));
            self.drawn.graph().neighbors_directed(node.into(), petgraph::Direction::Incoming).next().is_none()
        })
    }

    /// The block in which the card shows a step that moved: the nearest `together:` above its block.
    pub fn fan_above(&self, block: usize) -> Option<usize> {
        self.outline().fan_above(block)
    }

    /// What is worth saying about it.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }
}

impl Edge {
    /// The strongest thing that it asks.
    pub fn asks(&self) -> Asks {
        self.reasons.iter().map(|(_, asks)| *asks).max().unwrap_or(Asks::Ended)
    }
}

impl From<NodeIndex> for NodeIx {
    fn from(ix: NodeIndex) -> NodeIx {
        NodeIx(u32::try_from(ix.index()).unwrap_or(u32::MAX))
    }
}

impl From<NodeIx> for NodeIndex {
    fn from(ix: NodeIx) -> NodeIndex {
        NodeIndex::new(ix.0 as usize)
    }
}
