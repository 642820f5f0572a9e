//! The rules once more, evaluated from scratch after each event by looking at everything.

use std::collections::BTreeSet;

use plangate_approval::StepState::{self, *};
use plangate_executor::schedule::{Kind, Wire};
use plangate_graph::NodeIx;
use plangate_graph::plan::{Asks, Reason};

pub struct Model {
    pub kinds: Vec<Kind>,
    pub wires: Vec<Wire>,
    pub states: Vec<StepState>,
    pub value: Vec<bool>,
    pub yes: Vec<bool>,
}

impl Model {
    pub fn new(kinds: &[Kind], wires: &[Wire]) -> Model {
        let n = kinds.len();
        Model {
            kinds: kinds.to_vec(),
            wires: wires.to_vec(),
            states: vec![Waiting; n],
            value: vec![false; n],
            yes: vec![false; n],
        }
    }

    fn state(&self, ix: NodeIx) -> StepState {
        self.states[ix.0 as usize]
    }

    fn ins(&self, ix: usize) -> (Vec<&Wire>, Vec<NodeIx>) {
        let counts = |w: &Wire| w.reason == Reason::Counted && matches!(self.kinds[ix], Kind::Need { .. });
        let of = |w: &&Wire| w.to.0 as usize == ix;
        (
            self.wires.iter().filter(of).filter(|w| !counts(w)).collect(),
            self.wires.iter().filter(of).filter(|w| counts(w)).map(|w| w.from).collect(),
        )
    }

    /// What a waiting node may become now without running; empty: it goes on waiting or may start.
    fn becomes(&self, ix: usize) -> BTreeSet<&'static str> {
        let (wires, counted) = self.ins(ix);
        let mut at_once = BTreeSet::new();
        let (mut unneeded, mut lacking) = (false, false);
        let mut all_ended = true;
        for w in &wires {
            let (from, state) = (w.from.0 as usize, self.state(w.from));
            if !state.ended() {
                all_ended = false;
                continue;
            }
            let content = match w.asks {
                Asks::Ended => true,
                Asks::DoneOrSkipped => state == Done || state == Skipped,
                Asks::Done => state == Done && (self.value[from] || w.reason != Reason::Data),
                Asks::Yes => state == Done && self.yes[from],
            };
            if content {
                continue;
            }
            let guards = w.reason == Reason::Gate;
            match state {
                Done if guards => unneeded = true,
                Skipped if guards => unneeded = true,
                Skipped => lacking = true,
                Rejected if guards => drop(at_once.insert("Rejected")),
                Expired if guards => drop(at_once.insert("Expired")),
                _ => drop(at_once.insert("Blocked")),
            }
        }
        if !at_once.is_empty() {
            return at_once;
        }
        if let Kind::Need { k } = self.kinds[ix] {
            let possible = counted.iter().filter(|c| !self.state(**c).ended() || self.ok(**c)).count();
            if possible < k as usize && !unneeded {
                return BTreeSet::from(["Failed"]);
            }
            all_ended =
                all_ended && (!(unneeded || lacking) || counted.iter().all(|c| self.state(*c).ended()));
        }
        if all_ended && unneeded {
            BTreeSet::from(["Skipped"])
        } else if all_ended && lacking {
            BTreeSet::from(["Blocked"])
        } else if all_ended && self.kinds[ix] == Kind::All {
            BTreeSet::from(["Done"])
        } else {
            BTreeSet::new()
        }
    }

    fn ok(&self, ix: NodeIx) -> bool {
        self.state(ix) == Done && self.value[ix.0 as usize]
    }

    fn startable(&self, ix: usize) -> bool {
        self.ins(ix).0.iter().all(|w| self.state(w.from).ended())
    }

    /// It can end without a person.
    fn works(&self, ix: NodeIx) -> bool {
        match self.state(ix) {
            Pending | Uncertain => false,
            Waiting => {
                let (wires, counted) = self.ins(ix.0 as usize);
                let rest = wires.iter().all(|w| self.state(w.from).ended() || self.works(w.from));
                let enough = match self.kinds[ix.0 as usize] {
                    Kind::Need { k } => {
                        let able =
                            |c: &&NodeIx| self.ok(**c) || (!self.state(**c).ended() && self.works(**c));
                        counted.iter().filter(able).count() >= k as usize
                    }
                    _ => true,
                };
                rest && enough
            }
            _ => true,
        }
    }

    fn fires(&self, ix: usize) -> bool {
        let Kind::Need { k } = self.kinds[ix] else { return false };
        let (_, counted) = self.ins(ix);
        self.startable(ix)
            && counted.iter().filter(|c| self.ok(**c)).count() >= k as usize
            && counted.iter().all(|c| self.state(*c).ended() || !self.works(*c))
    }

    /// Follows an event up and holds the schedule's states against what the rules allow. Where the rules allow two
    /// answers (a no and a failure met at one node), the schedule's is taken.
    pub fn follow(&mut self, schedule: impl Fn(NodeIx) -> StepState) -> Result<(), String> {
        loop {
            let mut moved = false;
            for ix in 0..self.kinds.len() {
                if self.states[ix] != Waiting {
                    continue;
                }
                let allowed = self.becomes(ix);
                let theirs = schedule(NodeIx(ix as u32));
                if !allowed.is_empty() {
                    if !allowed.contains(format!("{theirs:?}").as_str()) {
                        return Err(format!("node {ix} is {theirs:?}, the rules say {allowed:?}"));
                    }
                    self.states[ix] = theirs;
                    self.value[ix] = theirs == Done;
                    moved = true;
                }
            }
            if moved {
                continue;
            }
            match (0..self.kinds.len()).find(|ix| self.states[*ix] == Waiting && self.fires(*ix)) {
                Some(ix) => {
                    self.states[ix] = Done;
                    self.value[ix] = true;
                }
                None => break,
            }
        }
        for ix in 0..self.kinds.len() {
            let theirs = schedule(NodeIx(ix as u32));
            let ours = match self.states[ix] {
                Waiting if self.startable(ix) && !matches!(self.kinds[ix], Kind::Need { .. }) => Ready,
                other => other,
            };
            let same = ours == theirs || (ours == Ready && theirs == Running);
            if !same {
                return Err(format!("node {ix} is {theirs:?}, the rules say {ours:?}"));
            }
        }
        Ok(())
    }
}
