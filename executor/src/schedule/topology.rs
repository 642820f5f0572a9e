//! The shape of a plan: which node waits for which, and for what.

use std::collections::HashMap;

use plangate_graph::plan::{Asks, Join, NodeKind, Plan, Reason};
use plangate_graph::{Effect, NodeIx, VerifiedPlan};

use super::table::{Links, Table};
use crate::values::call_of;

/// Nodes and edges of a plan without their contents. Immutable once built; acyclic.
#[derive(Clone, Debug)]
pub struct Topology {
    kinds: Table<Kind>,
    ins: Links,
    outs: Links,
    order: Vec<NodeIx>,
    servers: Vec<String>,
}

/// What the schedule must know of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A call that only reads and that nobody is asked about. `server` numbers the servers of the plan.
    Read {
        /// Which server.
        server: u32,
    },
    /// A sentence for the writer.
    Write,
    /// A call that needs a claim: it changes something, or a person is asked about it.
    Call {
        /// Which server.
        server: u32,
        /// The gate in front of it.
        gate: Option<NodeIx>,
    },
    /// Done once each of its edges is satisfied.
    All,
    /// Fires when `k` of its counted edges are ok and no other branch still works.
    Need {
        /// How many must be ok.
        k: u32,
    },
    /// The stop in front of a call.
    Gate {
        /// The call.
        call: NodeIx,
    },
    /// A question in front of several steps, or of none.
    Ask,
    /// A test that the machine answers.
    Check,
}

/// One end of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The node at the other end.
    pub node: NodeIx,
    /// What the target asks of the source.
    pub asks: Asks,
    /// The source is the gate, question or check that guards the target.
    pub guard: bool,
    /// The target reads the source's value.
    pub data: bool,
    /// The target is a `need` join that counts the source.
    pub counted: bool,
}

/// An edge, for building a topology by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// The earlier node.
    pub from: NodeIx,
    /// The later node.
    pub to: NodeIx,
    /// What the later one asks.
    pub asks: Asks,
    /// Why: decides what an unsatisfied edge means.
    pub reason: Reason,
}

/// A graph that no schedule can run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// An edge names a node that is not there.
    #[error("an edge names node {0}, and there are fewer")]
    NoNode(u32),
    /// A node waits for itself, directly or through others.
    #[error("node {0} waits for itself")]
    Cycle(u32),
}

impl Topology {
    /// From nodes and edges. Linear.
    pub fn new(kinds: Vec<Kind>, wires: &[Wire]) -> Result<Topology, ShapeError> {
        let links: Vec<_> = wires
            .iter()
            .map(|w| {
                let link = Link {
                    node: w.from,
                    asks: w.asks,
                    guard: w.reason == Reason::Gate,
                    data: w.reason == Reason::Data,
                    counted: w.reason == Reason::Counted,
                };
                (w.from, w.to, link)
            })
            .collect();
        Topology::build(Table(kinds), &links, Vec::new())
    }

    /// The shape of a verified plan. A call is a read only where the plan and the present classification both say so.
    pub fn of(plan: &VerifiedPlan) -> Result<Topology, ShapeError> {
        let reads = |ix| match &plan.plan().node(ix).kind {
            NodeKind::Call { judged, .. } => !judged.asked && plan.effect(ix) == Some(Effect::Read),
            _ => false,
        };
        Topology::with(plan.plan(), reads)
    }

    /// The shape of a plan that was only loaded, for reading its record.
    pub(crate) fn unverified(plan: &Plan) -> Result<Topology, ShapeError> {
        Topology::with(
            plan,
            |ix| matches!(&plan.node(ix).kind, NodeKind::Call { judged, .. } if !judged.asked && judged.effect == Effect::Read),
        )
    }

    fn with(plan: &Plan, reads: impl Fn(NodeIx) -> bool) -> Result<Topology, ShapeError> {
        let mut servers: Vec<String> = Vec::new();
        let mut numbers = HashMap::new();
        let mut kinds = Vec::with_capacity(plan.len());
        let mut links = Vec::with_capacity(plan.edge_count());
        let mut gates = Vec::new();
        // Most calls are of the server of the call before.
        let mut last = None;
        for (ix, node) in plan.nodes() {
            kinds.push(match &node.kind {
                NodeKind::Call { .. } => {
                    let name = call_of(plan, ix).map_or("", |(_, call)| call.server.as_str());
                    let server = match last {
                        Some((before, number)) if before == name => number,
                        _ => *numbers.entry(name).or_insert_with(|| {
                            servers.push(name.to_owned());
                            u32::try_from(servers.len() - 1).unwrap_or(u32::MAX)
                        }),
                    };
                    last = Some((name, server));
                    if reads(ix) { Kind::Read { server } } else { Kind::Call { server, gate: None } }
                }
                NodeKind::Write { .. } => Kind::Write,
                NodeKind::Join(Join::All) => Kind::All,
                NodeKind::Join(Join::Need { k, .. }) => Kind::Need { k: *k },
                NodeKind::Gate { call, .. } => {
                    gates.push((*call, ix));
                    Kind::Gate { call: *call }
                }
                NodeKind::Ask { .. } => Kind::Ask,
                NodeKind::Check { .. } => Kind::Check,
            });
            for (from, edge) in plan.incoming(ix) {
                let has = |reason| edge.reasons.iter().any(|(r, _)| *r == reason);
                let link = Link {
                    node: from,
                    asks: edge.asks(),
                    guard: has(Reason::Gate),
                    data: has(Reason::Data),
                    counted: has(Reason::Counted),
                };
                links.push((from, ix, link));
            }
        }
        let mut kinds = Table(kinds);
        for (call, at) in gates {
            if let Some(Kind::Call { gate, .. }) = kinds.0.get_mut(call.0 as usize) {
                *gate = Some(at);
            }
        }
        Topology::build(kinds, &links, servers)
    }

    fn build(
        kinds: Table<Kind>,
        links: &[(NodeIx, NodeIx, Link)],
        servers: Vec<String>,
    ) -> Result<Topology, ShapeError> {
        for (from, to, _) in links {
            if let Some(bad) = [from, to].into_iter().find(|ix| ix.0 as usize >= kinds.len()) {
                return Err(ShapeError::NoNode(bad.0));
            }
        }
        let counts = |to: NodeIx, link: Link| Link {
            counted: link.counted && matches!(kinds[to], Kind::Need { .. }),
            ..link
        };
        let ins = Links::group(kinds.len(), links.iter().map(|(_, to, link)| (*to, counts(*to, *link))));
        let outs = Links::group(
            kinds.len(),
            links.iter().map(|(from, to, link)| (*from, Link { node: *to, ..counts(*to, *link) })),
        );
        let mut open = Table(kinds.indices().map(|ix| ins.of(ix).len()).collect::<Vec<_>>());
        let mut order: Vec<NodeIx> = kinds.indices().filter(|ix| open[*ix] == 0).collect();
        let mut at = 0;
        while let Some(ix) = order.get(at).copied() {
            at += 1;
            for link in outs.of(ix) {
                open[link.node] -= 1;
                if open[link.node] == 0 {
                    order.push(link.node);
                }
            }
        }
        if let Some(ix) = kinds.indices().find(|ix| open[*ix] > 0) {
            return Err(ShapeError::Cycle(ix.0));
        }
        Ok(Topology { kinds, ins, outs, order, servers })
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.kinds.len() == 0
    }

    /// All nodes, in typed order.
    pub fn indices(&self) -> impl ExactSizeIterator<Item = NodeIx> + use<> {
        self.kinds.indices()
    }

    /// All nodes, each after everything it waits for.
    pub fn order(&self) -> &[NodeIx] {
        &self.order
    }

    /// Names of the servers by their number; nothing for a topology that was built by hand.
    pub fn servers(&self) -> &[String] {
        &self.servers
    }

    /// What a node is. The index must be of this topology.
    pub fn kind(&self, ix: NodeIx) -> &Kind {
        &self.kinds[ix]
    }

    /// What a node waits for.
    pub fn ins(&self, ix: NodeIx) -> &[Link] {
        self.ins.of(ix)
    }

    /// What waits for a node.
    pub fn outs(&self, ix: NodeIx) -> &[Link] {
        self.outs.of(ix)
    }

    /// Longest path from each node to the end, its own cost included.
    pub fn ranks(&self, cost: impl Fn(NodeIx) -> u64) -> Table<u64> {
        let mut ranks = Table(vec![0; self.len()]);
        for ix in self.order.iter().rev().copied() {
            let after: u64 = self.outs(ix).iter().map(|link| ranks[link.node]).max().unwrap_or(0);
            ranks[ix] = after.saturating_add(cost(ix));
        }
        ranks
    }

    /// One for each node that takes a worker, nothing for the others.
    pub fn unit_cost(&self, ix: NodeIx) -> u64 {
        u64::from(matches!(self.kind(ix), Kind::Read { .. } | Kind::Write | Kind::Call { .. }))
    }
}
