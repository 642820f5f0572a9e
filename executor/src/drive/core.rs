//! The state of a drive, worked on by one thread at a time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use plangate_approval::{Row, RowId, RowState, StepWrite, Storage, StoreError, Time};
use plangate_graph::NodeIx;
use plangate_graph::value::Object;

use super::Drive;
use super::dispatch::{Start, Under};
use super::overdue::Overdue;
use crate::error::RunError;
use crate::pool::Job;
use crate::schedule::{Schedule, Table};
use crate::values::Values;

/// What a drive works on. See the [module above](super).
pub(crate) struct Core {
    pub(super) schedule: Schedule,
    pub(super) values: Values,
    pub(super) errors: HashMap<NodeIx, String>,
    pub(super) times: Table<Times>,
    /// The last row of each gate, question, or call that was asked or claimed without a gate.
    pub(super) rows: HashMap<NodeIx, Row>,
    /// The row under which each call was last claimed.
    pub(super) claims: HashMap<NodeIx, RowId>,
    /// Rows of uncertain calls that the host was asked about in this drive.
    pub(super) looked_up: HashSet<RowId>,
    /// Reads that were under way when the drive before ended.
    pub(super) in_flight: HashSet<NodeIx>,
    pub(super) under_way: HashMap<NodeIx, Under>,
    pub(super) deadlines: BinaryHeap<Reverse<(Instant, NodeIx, u64)>>,
    /// Gates, questions and calls to be put.
    pub(super) to_ask: VecDeque<NodeIx>,
    /// To be dispatched once everything before it is durable.
    pub(super) starts: Vec<Start>,
    /// What must be durable before anything more starts.
    pub(super) must: Vec<StepWrite>,
    /// What follows from what is stored; written when there is a commit anyway.
    pub(super) lazy: Vec<StepWrite>,
    /// Something was decided: read the rows.
    pub(super) news: bool,
    /// The steward is to look at once.
    look: bool,
    pub(super) stopped: Option<Halt>,
    /// When the time for this drive is over.
    pub(super) deadline: Option<Instant>,
    pub(super) attempts: u64,
    /// When the first pending row expires.
    pub(super) expiry: Option<Time>,
    /// Until when the steward sleeps.
    pub(super) asleep_until: Option<Instant>,
    /// Root causes, for the observer.
    pub(super) roots: HashMap<NodeIx, NodeIx>,
    /// Calls past their deadline.
    pub(super) overdue: Vec<Overdue>,
    /// The run was laid down: whatever a call still brings is in its row, and the next drive takes it up.
    pub(super) laid: bool,
    pub(super) renewed: Instant,
    pub(super) looked: Instant,
}

/// When a step became ready, started and how often, in microseconds of the drive.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) attempts: u32,
    pub(super) queued: Option<u64>,
    pub(super) started: Option<u64>,
    /// A running read that was written down as running.
    pub(super) told: bool,
}

/// Why a drive starts nothing more.
pub(super) enum Halt {
    /// It cannot go on.
    Fault(RunError),
    /// It was asked to stop.
    Asked,
}

/// What a drive goes on from.
pub(crate) struct Restore {
    pub(crate) schedule: Schedule,
    pub(crate) values: Values,
    pub(crate) errors: HashMap<NodeIx, String>,
    pub(crate) rows: HashMap<NodeIx, Row>,
    pub(crate) claims: HashMap<NodeIx, RowId>,
    /// Reads that were under way when the drive before ended.
    pub(crate) in_flight: HashSet<NodeIx>,
}

impl Core {
    pub(crate) fn new(from: Restore) -> Core {
        let now = Instant::now();
        let expiry = expiry(&from.rows);
        Core {
            times: Table(vec![Times::default(); from.schedule.shape().len()]),
            schedule: from.schedule,
            values: from.values,
            errors: from.errors,
            rows: from.rows,
            claims: from.claims,
            looked_up: HashSet::new(),
            in_flight: from.in_flight,
            under_way: HashMap::new(),
            deadlines: BinaryHeap::new(),
            to_ask: VecDeque::new(),
            starts: Vec::new(),
            must: Vec::new(),
            lazy: Vec::new(),
            news: false,
            look: false,
            stopped: None,
            deadline: None,
            attempts: 0,
            expiry,
            asleep_until: None,
            roots: HashMap::new(),
            overdue: Vec::new(),
            laid: false,
            renewed: now,
            looked: now,
        }
    }

    /// Nothing more is started. The first reason counts.
    pub(super) fn stop(&mut self, why: RunError) {
        self.halt(Halt::Fault(why));
    }

    pub(super) fn halt(&mut self, why: Halt) {
        self.stopped.get_or_insert(why);
        self.starts.clear();
        self.to_ask.clear();
    }

    pub(super) fn store_failed(&mut self, error: StoreError) {
        self.stop(match error {
            StoreError::LeaseLost(run) => RunError::LeaseLost(run),
            error => RunError::Store(error),
        });
    }

    /// Another turn has something to do.
    pub(super) fn has_more(&self) -> bool {
        self.stopped.is_none() && !self.laid && (self.news || !self.to_ask.is_empty())
    }

    /// Nothing is under way, nothing waits for people, and the run is not over: that cannot be.
    pub(super) fn stands_still(&self) -> bool {
        self.under_way.is_empty() && !self.listens() && !self.has_more() && !self.settled()
    }

    /// All that is left is to lay the run down.
    pub(super) fn settled(&self) -> bool {
        self.under_way.is_empty()
            && !self.listens()
            && !self.has_more()
            && (self.stopped.is_some() || self.schedule.over() || self.schedule.parked())
    }

    pub(super) fn needs_steward(&self) -> bool {
        let next = self.deadlines.peek().map(|Reverse((at, ..))| *at);
        let early = matches!((next, self.asleep_until), (Some(next), Some(until)) if next < until);
        early || self.settled() || self.look
    }

    pub(super) fn look_now(&mut self) {
        self.look = true;
    }

    pub(super) fn takes_look(&mut self) -> bool {
        std::mem::take(&mut self.look)
    }

    /// The attempt has until then. Deadlines of attempts that are over are forgotten once most are.
    pub(super) fn watch(&mut self, deadline: Instant, ix: NodeIx, attempt: u64) {
        self.deadlines.push(Reverse((deadline, ix, attempt)));
        if self.deadlines.len() > 64 + 4 * (self.under_way.len() + self.overdue.len()) {
            let (under_way, overdue) = (&self.under_way, &self.overdue);
            self.deadlines.retain(|Reverse((_, ix, attempt))| {
                under_way.get(ix).is_some_and(|under| under.attempt == *attempt)
                    || overdue.iter().any(|overdue| overdue.attempt == *attempt)
            });
        }
    }

    pub(super) fn keep_row(&mut self, ix: NodeIx, row: Row) {
        if row.state == RowState::Pending {
            self.expiry = Some(self.expiry.map_or(row.expires, |first| first.min(row.expires)));
        }
        self.rows.insert(ix, row);
    }

    /// Once the run was laid down nothing of it is looked at any more, and its record is about to be read.
    pub(super) fn clear(&mut self) {
        self.schedule.clear();
        self.values = Values::new(Object::default(), 0);
        self.times = Table(Vec::new());
        self.deadlines = BinaryHeap::new();
    }

    /// What is written when there is a commit anyway.
    pub(super) fn take_lazy(&mut self) -> Vec<StepWrite> {
        std::mem::take(&mut self.lazy)
    }

    pub(super) fn has_lazy(&self) -> bool {
        !self.lazy.is_empty()
    }
}

/// When the first pending row expires.
pub(super) fn expiry(rows: &HashMap<NodeIx, Row>) -> Option<Time> {
    rows.values().filter(|row| row.state == RowState::Pending).map(|row| row.expires).min()
}

impl<S: Storage + 'static> Drive<S> {
    /// One turn: takes the reports, then what people decided or one thing to be asked, follows everything up, commits,
    /// and returns what may start.
    pub(super) fn turn(self: &Arc<Self>, core: &mut Core) -> Vec<Job> {
        while let Some(report) = self.inbox.pop() {
            if !core.laid {
                self.take(core, report);
            }
        }
        if core.laid {
            return Vec::new();
        }
        if core.stopped.is_some() {
            self.stop_all(core);
            return Vec::new();
        }
        if std::mem::take(&mut core.news) {
            self.take_up(core);
        } else if let Some(ix) = core.to_ask.pop_front() {
            self.ask(core, ix);
        }
        self.follow(core);
        if core.stopped.is_none() && !core.must.is_empty() {
            let must = std::mem::take(&mut core.must);
            self.commit(core, must);
        }
        if core.stopped.is_some() {
            self.stop_all(core);
            return Vec::new();
        }
        let starts = std::mem::take(&mut core.starts);
        starts.into_iter().map(|start| self.dispatch(core, start)).collect()
    }

    /// Writes steps down, renews the lease with it, and notices what people did meanwhile.
    pub(super) fn commit(&self, core: &mut Core, mut steps: Vec<StepWrite>) {
        steps.append(&mut core.lazy);
        match self.ctx.store.record(&self.lease(), &steps) {
            Ok(lease) => self.renewed(core, lease),
            Err(error) => core.store_failed(error),
        }
    }

    /// A newer lease: what it says of decisions and of a cancel is looked at in the next turn.
    pub(super) fn renewed(&self, core: &mut Core, lease: plangate_approval::Lease) {
        let mut held = self.lease.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if lease.wake != held.wake || lease.cancelled != held.cancelled {
            core.news = true;
        }
        *held = lease;
        core.renewed = Instant::now();
    }
}

/// What is under way, by node.
pub(super) trait UnderWay {
    /// Takes it out if it is this attempt.
    fn remove_if(&mut self, ix: NodeIx, attempt: u64) -> Option<Under>;
}

impl UnderWay for HashMap<NodeIx, Under> {
    fn remove_if(&mut self, ix: NodeIx, attempt: u64) -> Option<Under> {
        if self.get(&ix)?.attempt == attempt { self.remove(&ix) } else { None }
    }
}
