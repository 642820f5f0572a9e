//! The schedule: from a plan's shape and what happened to what is to be done. No threads, no clock, no store.
//!
//! [`Schedule::on`] takes one [`Event`]; [`Schedule::advance`] hands out the [`Act`]s that follow from all events so far.
//! An event that does not fit the state of its node is an [`Illegal`], and nothing changes. Each node ends once.
//! Over a whole run the work is linear in nodes and edges, up to the logarithm of a priority queue; nothing recurses.

mod cause;
mod ended;
mod event;
mod joins;
mod ready;
mod restore;
mod table;
pub mod topology;

use std::collections::VecDeque;
use std::sync::Arc;

use plangate_approval::StepState;
use plangate_graph::NodeIx;

pub(crate) use cause::culprit;
pub use cause::{Standing, cause, causes};
pub use event::{Act, Event, How, Illegal};
pub use restore::Restored;
pub use table::Table;
pub use topology::{Kind, Link, ShapeError, Topology, Wire};

use joins::Joins;
use ready::Ready;

/// How many calls run at once.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// In the whole run; nothing: as many as are ready. At least one always runs.
    pub workers: Option<usize>,
    /// Per server (by its number in the topology); a server that is not named has no cap.
    pub caps: Vec<(u32, usize)>,
    /// While a row of the run is pending, no call is claimed.
    pub hold_siblings: bool,
}

/// How many nodes are where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Tally {
    /// Not ended.
    pub open: usize,
    /// Ready.
    pub ready: usize,
    /// Running.
    pub running: usize,
    /// Waiting for people to decide.
    pub pending: usize,
    /// Waiting for people to say what happened.
    pub uncertain: usize,
}

/// The state of every node of one run.
#[derive(Debug)]
pub struct Schedule {
    shape: Arc<Topology>,
    nodes: Table<Node>,
    tally: Tally,
    ready: Ready,
    joins: Joins,
    /// Ended, and not yet told to what waits for them.
    news: VecDeque<NodeIx>,
    acts: Vec<Act>,
    hold: bool,
    cancelled: bool,
    time_up: bool,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    state: StepState,
    /// Sources that have not ended; counted ones of a `need` join stand in its own tally.
    open: u32,
    /// An edge can no longer be satisfied, and what the node becomes by it.
    doomed: Option<StepState>,
    /// Its guard is skipped, or its check said false.
    unneeded: bool,
    /// Something it waits for was skipped and should not have been.
    lacking: bool,
    /// Done with a value that others may read.
    value: bool,
    /// A check said true, a gate or question was answered yes.
    yes: bool,
}

impl Schedule {
    /// A run that starts: nothing has happened yet.
    pub fn new(shape: &Arc<Topology>, limits: &Limits) -> Schedule {
        Schedule::resumed(shape, limits, |_| None)
    }

    /// The plan's shape.
    pub fn shape(&self) -> &Arc<Topology> {
        &self.shape
    }

    /// The state of a node.
    pub fn state(&self, ix: NodeIx) -> StepState {
        self.nodes[ix].state
    }

    /// State, value and answer of a node.
    pub fn standing(&self, ix: NodeIx) -> Standing {
        let node = &self.nodes[ix];
        Standing { state: node.state, value: node.value, yes: node.yes }
    }

    /// Lets go of every node: from here on only [`Schedule::tally`] and [`Schedule::over`] may be asked.
    pub(crate) fn clear(&mut self) {
        self.nodes = Table(Vec::new());
        self.ready = Ready::default();
        self.news = VecDeque::new();
        self.acts = Vec::new();
    }

    /// How many nodes are where.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Whether the run was cancelled.
    pub fn cancelled(&self) -> bool {
        self.cancelled
    }

    /// Whether the time for this drive is over.
    pub fn time_up(&self) -> bool {
        self.time_up
    }

    /// Nothing is left to do but what people decide.
    pub fn parked(&self) -> bool {
        let held = if self.hold && self.tally.pending > 0 { self.ready.calls() } else { 0 };
        self.tally.pending + self.tally.uncertain > 0
            && self.tally.running == 0
            && self.tally.ready == held
            && !self.over()
    }

    /// Nothing more will happen: every node has ended, or the run was cancelled and nothing runs.
    pub fn over(&self) -> bool {
        self.tally.open == 0 || (self.cancelled && self.tally.running == 0 && self.tally.pending == 0)
    }

    /// Takes one event.
    pub fn on(&mut self, event: Event) -> Result<(), Illegal> {
        match event {
            Event::Ended(ix, how) => self.on_ended(event, ix, how)?,
            Event::Unknown(ix) => {
                self.expect(event, ix, matches!(self.nodes[ix].state, StepState::Running))?;
                self.release(ix);
                self.set(ix, StepState::Uncertain);
            }
            Event::Asked(ix) => {
                let state = self.nodes[ix].state;
                let fits = match self.shape.kind(ix) {
                    Kind::Gate { .. } | Kind::Ask => state == StepState::Ready,
                    Kind::Call { .. } => state == StepState::Running,
                    _ => false,
                };
                self.expect(event, ix, fits)?;
                if matches!(self.shape.kind(ix), Kind::Call { .. }) {
                    self.release(ix);
                }
                self.set(ix, StepState::Pending);
            }
            Event::Yes(ix) => {
                let state = self.nodes[ix].state;
                match self.shape.kind(ix) {
                    Kind::Gate { .. } | Kind::Ask => {
                        self.expect(event, ix, matches!(state, StepState::Ready | StepState::Pending))?;
                        self.nodes[ix].yes = true;
                        self.end(ix, StepState::Done);
                    }
                    _ => {
                        self.expect(event, ix, state == StepState::Pending)?;
                        self.make_ready(ix);
                    }
                }
            }
            Event::No(ix) => {
                self.expect(event, ix, self.nodes[ix].state == StepState::Pending)?;
                self.end(ix, StepState::Rejected);
            }
            Event::Expired(ix) => {
                self.expect(event, ix, self.nodes[ix].state == StepState::Pending)?;
                self.end(ix, StepState::Expired);
            }
            Event::Unaskable(ix) => {
                self.expect(event, ix, self.nodes[ix].state == StepState::Ready)?;
                if let Kind::Gate { call } = *self.shape.kind(ix) {
                    self.end(call, StepState::Failed);
                    self.acts.push(Act::Ended(call, StepState::Failed));
                }
                self.end(ix, StepState::Failed);
            }
            Event::Again(ix) => self.on_again(event, ix)?,
            Event::Cleared(ix) => {
                self.expect(event, ix, self.nodes[ix].state == StepState::Uncertain && !self.cancelled)?;
                self.make_ready(ix);
            }
            Event::Held(ix) => {
                let call = matches!(self.shape.kind(ix), Kind::Call { .. });
                self.expect(event, ix, call && self.nodes[ix].state == StepState::Running)?;
                self.release(ix);
                if self.cancelled {
                    self.end(ix, StepState::Cancelled);
                    self.acts.push(Act::Ended(ix, StepState::Cancelled));
                } else {
                    self.make_ready(ix);
                }
            }
            Event::Cancel => self.on_cancel(),
            Event::TimeUp => self.on_time_up(),
        }
        self.spread();
        Ok(())
    }

    /// What is to be done now, in order. Nodes it names as started are `running` from here on.
    pub fn advance(&mut self) -> Vec<Act> {
        if self.time_up && self.tally.pending == 0 {
            // Held until now, and too late.
            while let Some(ix) = self.ready.take(false) {
                self.release(ix);
                self.end_unrun(ix, StepState::TimedOut);
            }
        }
        self.spread();
        while self.fire_a_join() {
            self.spread();
        }
        let held = self.hold && self.tally.pending > 0;
        while !self.time_up
            && let Some(ix) = self.ready.take(held)
        {
            self.set(ix, StepState::Running);
            self.acts.push(match self.shape.kind(ix) {
                Kind::Read { .. } => Act::Read(ix),
                Kind::Write => Act::Write(ix),
                _ => Act::Call(ix),
            });
        }
        std::mem::take(&mut self.acts)
    }

    fn on_ended(&mut self, event: Event, ix: NodeIx, how: How) -> Result<(), Illegal> {
        let state = self.nodes[ix].state;
        let (fits, to) = match (self.shape.kind(ix), how) {
            (Kind::Check, How::Answered(_) | How::Failed) => (state == StepState::Ready, how.state()),
            (Kind::Read { .. } | Kind::Write, How::Done { value: true }) => {
                (state == StepState::Running, StepState::Done)
            }
            (Kind::Read { .. } | Kind::Write, How::Failed | How::TimedOut | How::Cancelled) => {
                (state == StepState::Running, how.state())
            }
            (Kind::Call { .. }, How::Done { .. } | How::Failed) => {
                (matches!(state, StepState::Running | StepState::Uncertain), how.state())
            }
            (Kind::Call { .. }, How::Expired | How::Rejected | How::Cancelled | How::TimedOut) => {
                (state == StepState::Running, how.state())
            }
            _ => (false, state),
        };
        self.expect(event, ix, fits)?;
        if state == StepState::Running {
            self.release(ix);
        }
        match how {
            How::Done { value } => self.nodes[ix].value = value,
            How::Answered(yes) => self.nodes[ix].yes = yes,
            _ => {}
        }
        self.end(ix, to);
        Ok(())
    }

    fn on_again(&mut self, event: Event, ix: NodeIx) -> Result<(), Illegal> {
        self.expect(event, ix, self.nodes[ix].state == StepState::Uncertain && !self.cancelled)?;
        match *self.shape.kind(ix) {
            Kind::Call { gate: Some(gate), .. } => {
                self.set(ix, StepState::Waiting);
                self.nodes[ix].open = 1;
                self.nodes[gate].yes = false;
                self.set(gate, StepState::Ready);
                self.acts.push(Act::Ask(gate));
            }
            _ => self.make_ready(ix),
        }
        Ok(())
    }

    fn on_cancel(&mut self) {
        if std::mem::replace(&mut self.cancelled, true) {
            return;
        }
        self.ready.clear();
        self.acts.retain(|act| matches!(act, Act::Fired(_) | Act::Ended(..) | Act::Late { .. }));
        for ix in self.shape.indices() {
            match self.nodes[ix].state {
                StepState::Waiting | StepState::Ready | StepState::Pending => {
                    self.set(ix, StepState::Cancelled);
                    self.acts.push(Act::Ended(ix, StepState::Cancelled));
                }
                StepState::Running => self.acts.push(Act::Stop(ix)),
                _ => {}
            }
        }
    }

    /// What is ready and has no thread ends here. A check takes none, and a call that is held waits for people.
    fn on_time_up(&mut self) {
        if std::mem::replace(&mut self.time_up, true) {
            return;
        }
        self.ready.clear();
        self.acts.retain(|act| !matches!(act, Act::Ask(_)));
        for ix in self.shape.indices() {
            match self.nodes[ix].state {
                StepState::Ready if self.is_held(ix) => self.ready.put(ix),
                StepState::Ready if !matches!(self.shape.kind(ix), Kind::Check) => {
                    self.end_unrun(ix, StepState::TimedOut);
                }
                StepState::Running => self.acts.push(Act::Stop(ix)),
                _ => {}
            }
        }
    }

    fn make_ready(&mut self, ix: NodeIx) {
        if self.time_up && !self.is_held(ix) {
            return self.end_unrun(ix, StepState::TimedOut);
        }
        self.set(ix, StepState::Ready);
        self.ready.put(ix);
    }

    /// A call that is not claimed, since a row of the run is pending.
    fn is_held(&self, ix: NodeIx) -> bool {
        self.hold && self.tally.pending > 0 && matches!(self.shape.kind(ix), Kind::Call { .. })
    }

    fn release(&mut self, ix: NodeIx) {
        self.ready.release(ix);
    }

    fn expect(&self, event: Event, ix: NodeIx, fits: bool) -> Result<(), Illegal> {
        if fits { Ok(()) } else { Err(Illegal { event, state: self.nodes[ix].state }) }
    }

    fn set(&mut self, ix: NodeIx, to: StepState) {
        let from = std::mem::replace(&mut self.nodes[ix].state, to);
        let held_before = self.hold && self.tally.pending > 0;
        self.tally.move_one(from, to);
        self.joins.moved(ix, from, to);
        let held = self.hold && self.tally.pending > 0;
        let now_held = held && to == StepState::Ready && matches!(self.shape.kind(ix), Kind::Call { .. });
        if held != held_before || now_held {
            self.joins.forget();
        }
    }
}

impl Tally {
    fn move_one(&mut self, from: StepState, to: StepState) {
        for (state, up) in [(from, false), (to, true)] {
            let step = |n: &mut usize| if up { *n += 1 } else { *n -= 1 };
            match state {
                StepState::Ready => step(&mut self.ready),
                StepState::Running => step(&mut self.running),
                StepState::Pending => step(&mut self.pending),
                StepState::Uncertain => step(&mut self.uncertain),
                _ => {}
            }
            if !state.ended() {
                step(&mut self.open);
            }
        }
    }
}
