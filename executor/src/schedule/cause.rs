//! Why a node did not run: the first thing in typed order that went otherwise, followed to its root.

use plangate_approval::StepState;
use plangate_graph::NodeIx;

use super::ended::{Verdict, verdict};
use super::table::Table;
use super::topology::Topology;

/// How a node stands, as those see it that wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its state.
    pub state: StepState,
    /// It is done with a value that others may read.
    pub value: bool,
    /// A check said true, a gate or question was answered yes.
    pub yes: bool,
}

/// The root cause of a node that is blocked, skipped, rejected, expired or timed out without having run itself. For a blocked node
/// that is the first node, back along what blocked it, that is not blocked: it failed, timed out, was rejected, …. For
/// the others it is what a person or check answered. A function of the states alone, whatever order they came in.
/// Linear in the edges passed.
pub fn cause(shape: &Topology, of: NodeIx, standing: impl Fn(NodeIx) -> Standing) -> Option<NodeIx> {
    let state = standing(of).state;
    let mut at = of;
    loop {
        let next = culprit(shape, at, &standing);
        match next {
            Some(ix) if standing(ix).state == state => at = ix,
            None if at != of => return Some(at),
            _ => return next,
        }
    }
}

/// The root causes of all nodes, as [`cause`] tells each. Linear in nodes and edges.
pub fn causes(shape: &Topology, standing: impl Fn(NodeIx) -> Standing) -> Table<Option<NodeIx>> {
    let mut roots = Table(vec![None; shape.len()]);
    for ix in shape.order().iter().copied() {
        roots[ix] = culprit(shape, ix, &standing).map(|by| {
            let same = standing(by).state == standing(ix).state;
            if same { roots[by].unwrap_or(by) } else { by }
        });
    }
    roots
}

/// The source by which a node did not run.
pub(crate) fn culprit(
    shape: &Topology,
    ix: NodeIx,
    standing: &impl Fn(NodeIx) -> Standing,
) -> Option<NodeIx> {
    let state = standing(ix).state;
    let first = |wanted: &dyn Fn(Verdict) -> bool| {
        shape
            .ins(ix)
            .iter()
            .filter(|link| !link.counted)
            .map(|link| (link, standing(link.node)))
            .find(|(link, source)| source.state.ended() && wanted(verdict(**link, *source)))
            .map(|(link, _)| link.node)
    };
    match state {
        StepState::Blocked => first(&|v| v == Verdict::Doomed(StepState::Blocked))
            .or_else(|| first(&|v| matches!(v, Verdict::Doomed(_))))
            .or_else(|| first(&|v| v == Verdict::Lacking)),
        StepState::Skipped => first(&|v| v == Verdict::Unneeded),
        StepState::Rejected | StepState::Expired | StepState::TimedOut => {
            first(&|v| v == Verdict::Doomed(state))
        }
        _ => None,
    }
}
