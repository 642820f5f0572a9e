//! What the end of a node means to those that wait for it.

use std::sync::Arc;

use plangate_approval::StepState;
use plangate_graph::NodeIx;
use plangate_graph::plan::Asks;

use super::cause::Standing;
use super::topology::{Kind, Link};
use super::{Act, Schedule};

/// What an ended source means to one of its edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It ended as the edge asks.
    Satisfied,
    /// A check said false or a guard was skipped: the target is not needed.
    Unneeded,
    /// It was skipped, and the target asks for more.
    Lacking,
    /// It ended otherwise: the target becomes this, at once.
    Doomed(StepState),
}

/// Judges an edge by how its source ended. Must not be asked of a source that has not.
pub(super) fn verdict(link: Link, source: Standing) -> Verdict {
    let done = source.state == StepState::Done;
    let satisfied = match link.asks {
        Asks::Ended => true,
        Asks::DoneOrSkipped => done || source.state == StepState::Skipped,
        Asks::Done => done,
        Asks::Yes => done && source.yes,
    };
    if satisfied && (source.value || !link.data) {
        return Verdict::Satisfied;
    }
    match source.state {
        StepState::Done if link.guard || link.asks == Asks::Yes => Verdict::Unneeded,
        StepState::Skipped if link.guard => Verdict::Unneeded,
        StepState::Skipped => Verdict::Lacking,
        StepState::Rejected | StepState::Expired | StepState::Cancelled | StepState::TimedOut
            if link.guard =>
        {
            Verdict::Doomed(source.state)
        }
        _ => Verdict::Doomed(StepState::Blocked),
    }
}

impl Schedule {
    /// Ends a node; what waits for it is told by [`Schedule::spread`].
    pub(super) fn end(&mut self, ix: NodeIx, state: StepState) {
        self.set(ix, state);
        self.news.push_back(ix);
    }

    /// Tells what waits for the ended nodes, and whatever ends by that, until nothing more follows.
    pub(super) fn spread(&mut self) {
        let shape = Arc::clone(&self.shape);
        while let Some(ix) = self.news.pop_front() {
            let source = self.standing(ix);
            for link in shape.outs(ix) {
                self.tell(link.node, *link, source, ix);
                self.decide(link.node);
            }
        }
    }

    /// Notes at a target that one of its sources ended, without deciding anything.
    pub(super) fn tell(&mut self, target: NodeIx, link: Link, source: Standing, from: NodeIx) {
        if link.counted {
            if self.nodes[target].state == StepState::Done {
                self.acts.push(Act::Late { join: target, node: from });
            }
            self.joins.count(target, source.state == StepState::Done && source.value);
            return;
        }
        let node = &mut self.nodes[target];
        node.open = node.open.saturating_sub(1);
        match verdict(link, source) {
            Verdict::Satisfied => {}
            Verdict::Unneeded => node.unneeded = true,
            Verdict::Lacking => node.lacking = true,
            Verdict::Doomed(to) => node.doomed = node.doomed.or(Some(to)),
        }
    }

    /// Ends a waiting node that can no longer run, and readies one that can.
    pub(super) fn decide(&mut self, ix: NodeIx) {
        let node = self.nodes[ix];
        if node.state != StepState::Waiting {
            return;
        }
        if let Some(to) = node.doomed {
            self.end_unrun(ix, to);
            return;
        }
        if matches!(self.shape.kind(ix), Kind::Need { .. }) {
            self.decide_need(ix);
            return;
        }
        if node.open > 0 {
            return;
        }
        if let Some(to) = node.unrun() {
            self.end_unrun(ix, to);
            return;
        }
        match self.shape.kind(ix) {
            Kind::Read { .. } | Kind::Write | Kind::Call { .. } => self.make_ready(ix),
            Kind::All => {
                self.nodes[ix].value = true;
                self.end_unrun(ix, StepState::Done);
            }
            Kind::Gate { .. } | Kind::Ask if self.time_up => self.end_unrun(ix, StepState::TimedOut),
            Kind::Gate { .. } | Kind::Ask => {
                self.set(ix, StepState::Ready);
                self.acts.push(Act::Ask(ix));
            }
            Kind::Check => {
                self.set(ix, StepState::Ready);
                self.acts.push(Act::Check(ix));
            }
            Kind::Need { .. } => {}
        }
    }

    pub(super) fn end_unrun(&mut self, ix: NodeIx, to: StepState) {
        self.acts.push(Act::Ended(ix, to));
        self.end(ix, to);
    }
}

impl super::Node {
    /// What a node becomes without running, once everything it waits for has ended.
    pub(super) fn unrun(&self) -> Option<StepState> {
        if self.unneeded {
            Some(StepState::Skipped)
        } else if self.lacking {
            Some(StepState::Blocked)
        } else {
            None
        }
    }
}
