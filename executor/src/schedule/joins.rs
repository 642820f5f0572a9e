//! `need` joins: when they fire, when they fail, and which branches still work.

use std::collections::HashMap;
use std::sync::Arc;

use plangate_approval::StepState;
use plangate_graph::NodeIx;

use super::table::Table;
use super::topology::{Kind, Topology};
use super::{Act, Schedule};

/// The `need` joins of a run, and what is remembered of the branches that work.
///
/// Whether a branch works is asked only for joins that have enough, and is remembered until the state of a node that
/// was looked at speaks against it.
#[derive(Debug)]
pub(super) struct Joins {
    of: HashMap<NodeIx, Need>,
    /// Joins to look at again.
    due: Vec<NodeIx>,
    /// Joins that have enough and wait for branches that work; some may have fired since.
    rich: Vec<NodeIx>,
    /// What was found out in which epoch: whether the node can end without a person.
    known: Table<(u32, bool)>,
    epoch: u32,
}

/// One `need` join.
#[derive(Debug)]
struct Need {
    k: u32,
    /// Counted branches, in typed order.
    counted: Vec<NodeIx>,
    ok: u32,
    /// Counted branches that have not ended.
    open: u32,
    /// Branches before this one have ended or did not work when they were looked at.
    cursor: usize,
    in_due: bool,
    in_rich: bool,
}

impl Joins {
    pub(super) fn new(shape: &Topology) -> Joins {
        let of: HashMap<_, _> = shape
            .indices()
            .filter_map(|ix| match shape.kind(ix) {
                Kind::Need { k } => {
                    let counted: Vec<_> =
                        shape.ins(ix).iter().filter(|l| l.counted).map(|l| l.node).collect();
                    let open = u32::try_from(counted.len()).unwrap_or(u32::MAX);
                    Some((ix, Need { k: *k, counted, ok: 0, open, cursor: 0, in_due: false, in_rich: false }))
                }
                _ => None,
            })
            .collect();
        let nodes = if of.is_empty() { 0 } else { shape.len() };
        Joins { of, due: Vec::new(), rich: Vec::new(), known: Table(vec![(0, false); nodes]), epoch: 1 }
    }

    /// One counted branch ended.
    pub(super) fn count(&mut self, join: NodeIx, ok: bool) {
        if let Some(need) = self.of.get_mut(&join) {
            need.open = need.open.saturating_sub(1);
            need.ok += u32::from(ok);
            if !ok && self.known[join] == (self.epoch, true) {
                self.forget();
            }
        }
    }

    /// A node changed its state: what was found out holds unless it was seen to work and does not now, or the other way.
    pub(super) fn moved(&mut self, ix: NodeIx, from: StepState, to: StepState) {
        if self.of.is_empty() || self.known[ix].0 != self.epoch {
            return;
        }
        let stuck = |state| matches!(state, StepState::Pending | StepState::Uncertain);
        let seen_working = self.known[ix].1;
        if (stuck(to) && seen_working) || (stuck(from) && !seen_working) {
            self.forget();
        }
    }

    /// Forgets what was found out; every join that has enough is looked at again.
    pub(super) fn forget(&mut self) {
        self.epoch += 1;
        for ix in std::mem::take(&mut self.rich) {
            if let Some(need) = self.of.get_mut(&ix) {
                need.in_rich = false;
            }
            self.look_at(ix);
        }
    }

    fn look_at(&mut self, join: NodeIx) {
        if let Some(need) = self.of.get_mut(&join)
            && !std::mem::replace(&mut need.in_due, true)
        {
            self.due.push(join);
        }
    }

    fn next_due(&mut self) -> Option<NodeIx> {
        let join = self.due.pop()?;
        if let Some(need) = self.of.get_mut(&join) {
            need.in_due = false;
        }
        Some(join)
    }

    /// It has enough and waits for branches that work.
    fn keep(&mut self, join: NodeIx) {
        if let Some(need) = self.of.get_mut(&join)
            && !std::mem::replace(&mut need.in_rich, true)
        {
            self.rich.push(join);
        }
    }

    fn learn(&mut self, ix: NodeIx, works: bool) -> bool {
        self.known[ix] = (self.epoch, works);
        works
    }
}

impl Schedule {
    pub(super) fn decide_need(&mut self, ix: NodeIx) {
        let node = self.nodes[ix];
        let Some(need) = self.joins.of.get_mut(&ix) else { return };
        if need.ok + need.open < need.k && !node.unneeded {
            self.end_unrun(ix, StepState::Failed);
            return;
        }
        if node.open > 0 {
            return;
        }
        if let Some(to) = node.unrun() {
            if need.open == 0 {
                self.end_unrun(ix, to);
            }
            return;
        }
        if need.ok >= need.k {
            self.joins.look_at(ix);
        }
    }

    /// Fires one join that has enough and of which no other branch works. Whoever counts it must hear of that before the next
    /// join is weighed: until then it would look as if it had neither ended well nor could still.
    pub(super) fn fire_a_join(&mut self) -> bool {
        while let Some(ix) = self.joins.next_due() {
            if self.nodes[ix].state != StepState::Waiting {
                continue;
            }
            if self.a_branch_works(ix) {
                self.joins.keep(ix);
                continue;
            }
            self.acts.push(Act::Fired(ix));
            self.nodes[ix].value = true;
            self.end(ix, StepState::Done);
            return true;
        }
        false
    }

    /// Whether a counted branch that has not ended works. Looks on from where the last look stopped, and once more at
    /// all of them before it says no, because an approval may have set an earlier one going again.
    fn a_branch_works(&mut self, join: NodeIx) -> bool {
        let Some(need) = self.joins.of.get_mut(&join) else { return false };
        if need.open == 0 {
            return false;
        }
        let (counted, from) = (std::mem::take(&mut need.counted), need.cursor);
        let again = if from == 0 { 0..0 } else { 0..from };
        let found = (from..counted.len())
            .chain(again)
            .find(|at| counted.get(*at).is_some_and(|ix| !self.nodes[*ix].state.ended() && self.works(*ix)));
        if let Some(need) = self.joins.of.get_mut(&join) {
            need.cursor = found.unwrap_or(0);
            need.counted = counted;
        }
        found.is_some()
    }

    /// Whether a node that has not ended can end without a person: nothing that it waits for is pending or uncertain,
    /// except behind a `need` join that can have enough without it.
    fn works(&mut self, ix: NodeIx) -> bool {
        if let Some(known) = self.seen(ix) {
            return known;
        }
        let shape = Arc::clone(&self.shape);
        // Node, its next source, counted sources that work.
        let mut path = vec![(ix, 0, 0)];
        let mut last = false;
        while let Some((at, next, working)) = path.last_mut() {
            let link = shape.ins(*at).get(*next);
            let missing = self.joins.of.get(at).map_or(0, |need| need.k.saturating_sub(need.ok));
            let verdict = match link {
                None => Some(missing <= *working),
                Some(link)
                    if self.nodes[link.node].state.ended() || (link.counted && missing <= *working) =>
                {
                    *next += 1;
                    None
                }
                Some(link) => {
                    if let Some(works) = self.seen(link.node) {
                        *next += 1;
                        *working += u32::from(works && link.counted);
                        (!works && !link.counted).then_some(false)
                    } else {
                        path.push((link.node, 0, 0));
                        None
                    }
                }
            };
            if let Some(works) = verdict
                && let Some((done, ..)) = path.pop()
            {
                last = self.joins.learn(done, works);
            }
        }
        last
    }

    /// What is known or plain to see of a node.
    fn seen(&mut self, ix: NodeIx) -> Option<bool> {
        if let (epoch, works) = self.joins.known[ix]
            && epoch == self.joins.epoch
        {
            return Some(works);
        }
        let held = self.hold && self.tally.pending > 0 && matches!(self.shape.kind(ix), Kind::Call { .. });
        match self.nodes[ix].state {
            StepState::Waiting => None,
            StepState::Pending | StepState::Uncertain => Some(self.joins.learn(ix, false)),
            StepState::Ready => Some(self.joins.learn(ix, !held)),
            _ => Some(self.joins.learn(ix, true)),
        }
    }
}
