//! The state of a drive, worked on by one thread at a time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use plangate_approval::{Row, RowId, RowState, StepState, StepWrite, Storage, StoreError, Time};
use plangate_graph::outline::Body;
use plangate_graph::{NodeIx, Value};

use super::dispatch::{Start, Under};
use super::{Context, Drive, Report};
use crate::check;
use crate::error::RunError;
use crate::journal::Detail;
use crate::options::Change;
use crate::pool::Job;
use crate::schedule::{Act, Event, How, Kind, Schedule, Table, culprit};
use crate::tools::ReadError;
use crate::values::{Counted, Values, missing_words};

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
    pub(super) under_way: HashMap<NodeIx, Under>,
    pub(super) deadlines: BinaryHeap<Reverse<(Instant, NodeIx, u64)>>,
    /// Gates, questions and calls to be put.
    pub(super) to_ask: VecDeque<NodeIx>,
    /// To be dispatched once everything before it is durable.
    pub(super) starts: Vec<Start>,
    /// What must be durable before anything more starts.
    must: Vec<StepWrite>,
    /// What follows from what is stored; written when there is a commit anyway.
    lazy: Vec<StepWrite>,
    /// Something was decided: read the rows.
    pub(super) news: bool,
    /// The steward is to look at once.
    look: bool,
    pub(super) stopped: Option<RunError>,
    pub(super) attempts: u64,
    /// When the first pending row expires.
    pub(super) expiry: Option<Time>,
    /// Until when the steward sleeps.
    pub(super) asleep_until: Option<Instant>,
    /// Root causes, for the observer.
    roots: HashMap<NodeIx, NodeIx>,
    /// Calls past their deadline that are still out.
    pub(super) overdue: Vec<Arc<super::work::Cell>>,
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

/// What a drive goes on from.
pub(crate) struct Restore {
    pub(crate) schedule: Schedule,
    pub(crate) values: Values,
    pub(crate) errors: HashMap<NodeIx, String>,
    pub(crate) rows: HashMap<NodeIx, Row>,
    pub(crate) claims: HashMap<NodeIx, RowId>,
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
            under_way: HashMap::new(),
            deadlines: BinaryHeap::new(),
            to_ask: VecDeque::new(),
            starts: Vec::new(),
            must: Vec::new(),
            lazy: Vec::new(),
            news: false,
            look: false,
            stopped: None,
            attempts: 0,
            expiry,
            asleep_until: None,
            roots: HashMap::new(),
            overdue: Vec::new(),
            renewed: now,
            looked: now,
        }
    }

    /// Nothing more is started. The first reason counts.
    pub(super) fn stop(&mut self, why: RunError) {
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
        self.stopped.is_none() && (self.news || !self.to_ask.is_empty())
    }

    /// Nothing is under way, nothing waits for people, and the run is not over: that cannot be.
    pub(super) fn stands_still(&self) -> bool {
        self.under_way.is_empty() && !self.has_more() && !self.settled()
    }

    /// All that is left is to lay the run down.
    pub(super) fn settled(&self) -> bool {
        self.under_way.is_empty()
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

    pub(super) fn keep_row(&mut self, ix: NodeIx, row: Row) {
        if row.state == RowState::Pending {
            self.expiry = Some(self.expiry.map_or(row.expires, |first| first.min(row.expires)));
        }
        self.rows.insert(ix, row);
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
            self.take(core, report);
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

    /// Takes one report.
    fn take(&self, core: &mut Core, report: Report) {
        match report {
            Report::Returned { ix, attempt, at, result } => {
                let Some(under) = core.under_way.remove_if(ix, attempt) else { return };
                let result = match result {
                    Err(ReadError::Transport(_)) if self.tries_again(core, ix) => {
                        if core.stopped.is_none() {
                            core.starts.push(under.start);
                        }
                        return;
                    }
                    result => result,
                };
                self.returned(core, ix, at, &under, result);
            }
            Report::NotReady { ix, attempt, at, why } => {
                if core.under_way.remove_if(ix, attempt).is_some() {
                    self.fail(core, ix, at, why);
                }
            }
            Report::Refused { ix, attempt, at, error } => {
                if core.under_way.remove_if(ix, attempt).is_some() {
                    self.refused(core, ix, at, error);
                }
            }
            Report::Outcome { ix, attempt, row } => {
                let current = core.under_way.remove_if(ix, attempt).is_some();
                let late = core.schedule.state(ix) == StepState::Uncertain
                    && core.claims.get(&ix).is_some_and(|claimed| *claimed == row.id);
                if current || late {
                    core.claims.insert(ix, row.id.clone());
                    self.outcome(core, ix, &row);
                }
            }
            Report::Unstored { ix, attempt, error } => {
                core.under_way.remove_if(ix, attempt);
                core.store_failed(error);
            }
            Report::Fault(text) => {
                // Which attempt is lost with it is not known: none is waited for.
                core.under_way.clear();
                core.stop(RunError::Fault(text));
            }
        }
    }

    fn tries_again(&self, core: &mut Core, ix: NodeIx) -> bool {
        let allowed = match self.ctx.plan.plan().item_of(ix).map(|(_, item)| &item.body) {
            Some(Body::Call(call)) => call.settings.retry,
            _ => 0,
        };
        core.times[ix].attempts <= allowed && !core.schedule.cancelled()
    }

    fn returned(
        &self,
        core: &mut Core,
        ix: NodeIx,
        at: u64,
        under: &Under,
        result: Result<Value, ReadError>,
    ) {
        let arguments = under.start.arguments();
        let (how, error) = match result {
            Ok(value) => {
                let value = Arc::new(value);
                core.values.set(ix, Arc::clone(&value));
                let detail = Detail { arguments, result: Some(value), ..self.detail(core, ix, at) };
                self.must(core, ix, StepState::Done, &detail);
                self.happened(core, ix, Event::Ended(ix, How::Done { value: true }));
                return;
            }
            Err(_) if core.schedule.cancelled() => (How::Cancelled, ReadError::Cancelled.to_string()),
            Err(error @ ReadError::TimedOut(_)) => (How::TimedOut, error.to_string()),
            Err(error) => (How::Failed, error.to_string()),
        };
        let detail = Detail { arguments, error: Some(error.clone()), ..self.detail(core, ix, at) };
        core.errors.insert(ix, error);
        self.must(core, ix, how.state(), &detail);
        self.happened(core, ix, Event::Ended(ix, how));
    }

    /// A step that failed before it was sent.
    pub(super) fn fail(&self, core: &mut Core, ix: NodeIx, at: u64, why: String) {
        let how = if core.schedule.cancelled() { How::Cancelled } else { How::Failed };
        let detail = Detail { error: Some(why.clone()), ..self.detail(core, ix, at) };
        core.errors.insert(ix, why);
        self.must(core, ix, how.state(), &detail);
        self.happened(core, ix, Event::Ended(ix, how));
    }

    /// What came of a claimed call. The row holds it; nothing more is written.
    pub(super) fn outcome(&self, core: &mut Core, ix: NodeIx, row: &Row) {
        let (value, error) = result_of(row);
        if let Some(value) = value {
            core.values.set(ix, Arc::new(value));
        }
        match error {
            Some(error) => drop(core.errors.insert(ix, error)),
            None => drop(core.errors.remove(&ix)),
        }
        let event = match row.state {
            RowState::Succeeded => Event::Ended(ix, How::Done { value: true }),
            RowState::Failed => Event::Ended(ix, How::Failed),
            RowState::Happened => {
                let value = row.settled.as_ref().is_some_and(|s| s.value.is_some());
                Event::Ended(ix, How::Done { value })
            }
            RowState::DidNot
                if core.schedule.state(ix) == StepState::Uncertain && !core.schedule.cancelled() =>
            {
                Event::Again(ix)
            }
            _ if core.schedule.state(ix) == StepState::Running => Event::Unknown(ix),
            _ => return,
        };
        if let Some(node) = self.ctx.names.get(&row.node) {
            core.rows.insert(*node, row.clone());
        }
        self.happened(core, ix, event);
        let again = core.schedule.state(ix) == StepState::Uncertain && !core.schedule.cancelled();
        if row.state == RowState::DidNot && again {
            self.happened(core, ix, Event::Again(ix));
        }
    }

    /// Follows everything up until only what needs a thread or a person is left.
    pub(super) fn follow(&self, core: &mut Core) {
        loop {
            let acts = core.schedule.advance();
            if acts.is_empty() || core.stopped.is_some() {
                return;
            }
            for act in acts {
                match act {
                    Act::Read(ix) | Act::Write(ix) | Act::Call(ix) => {
                        let now = self.ctx.watch.micros();
                        core.times[ix].queued.get_or_insert(now);
                        self.prepare(core, ix);
                    }
                    Act::Ask(ix) => core.to_ask.push_back(ix),
                    Act::Check(ix) => self.check(core, ix),
                    Act::Fired(ix) => self.fired(core, ix),
                    Act::Ended(ix, state) => self.ended_unrun(core, ix, state),
                    Act::Late { .. } => {}
                    Act::Stop(ix) => self.stop_one(core, ix),
                }
            }
        }
    }

    fn check(&self, core: &mut Core, ix: NodeIx) {
        let at = self.ctx.watch.micros();
        let Some((item, Body::Check(check))) =
            self.ctx.plan.plan().item_of(ix).map(|(at, item)| (at, &item.body))
        else {
            return core.stop(RunError::Fault(format!("node {} is no check", ix.0)));
        };
        let answer = core
            .values
            .check(self.ctx.plan.plan(), &self.ctx.names, item, check)
            .and_then(|(left, test)| check::holds(&left, &test));
        match answer {
            Ok(yes) => {
                let detail = Detail { answer: Some(yes), ..self.detail(core, ix, at) };
                self.must(core, ix, StepState::Done, &detail);
                self.happened(core, ix, Event::Ended(ix, How::Answered(yes)));
            }
            Err(why) => self.fail(core, ix, at, why),
        }
    }

    /// Freezes what a join passes on.
    fn fired(&self, core: &mut Core, ix: NodeIx) {
        let at = self.ctx.watch.micros();
        let list: Vec<(NodeIx, Counted)> = self
            .ctx
            .shape
            .ins(ix)
            .iter()
            .filter(|link| link.counted)
            .map(|link| (link.node, self.counted(core, link.node)))
            .collect();
        let detail = Detail {
            list: Some(list.iter().map(|(_, counted)| counted.clone()).collect()),
            ..self.detail(core, ix, at)
        };
        core.values.freeze(ix, list);
        self.must(core, ix, StepState::Done, &detail);
        self.tell(core, ix, StepState::Done);
    }

    fn counted(&self, core: &Core, ix: NodeIx) -> Counted {
        let standing = core.schedule.standing(ix);
        let ok = standing.state == StepState::Done && standing.value;
        let error = core.errors.get(&ix).map(String::as_str);
        Counted {
            step: self.ctx.plan.plan().node(ix).id.clone(),
            ok,
            state: standing.state,
            missing: (!ok).then(|| missing_words(standing.state, error)),
        }
    }

    /// A node that ended by what happened to others. It follows from what is stored, and is written when convenient.
    pub(super) fn ended_unrun(&self, core: &mut Core, ix: NodeIx, state: StepState) {
        let at = self.ctx.watch.micros();
        let detail = Detail { error: core.errors.get(&ix).cloned(), ..self.detail(core, ix, at) };
        match detail.write(&self.ctx.plan.plan().node(ix).id, state) {
            Ok(write) => core.lazy.push(write),
            Err(fault) => core.stop(fault),
        }
        self.tell(core, ix, state);
    }

    /// Tells the schedule, and whoever watches.
    pub(super) fn happened(&self, core: &mut Core, ix: NodeIx, event: Event) {
        if let Err(illegal) = core.schedule.on(event) {
            core.stop(RunError::Fault(format!("{}: {illegal}", self.ctx.plan.plan().node(ix).id)));
            return;
        }
        self.tell(core, ix, core.schedule.state(ix));
    }

    pub(super) fn must(&self, core: &mut Core, ix: NodeIx, state: StepState, detail: &Detail) {
        match detail.write(&self.ctx.plan.plan().node(ix).id, state) {
            Ok(write) => core.must.push(write),
            Err(fault) => core.stop(fault),
        }
    }

    pub(super) fn detail(&self, core: &Core, ix: NodeIx, ended: u64) -> Detail {
        let times = core.times[ix];
        self.ctx.detail(times, Some(ended))
    }

    pub(super) fn tell(&self, core: &mut Core, ix: NodeIx, state: StepState) {
        let Some(observer) = &self.ctx.options.observer else { return };
        let plan = self.ctx.plan.plan();
        let root = culprit(&self.ctx.shape, ix, &|ix| core.schedule.standing(ix)).map(|by| {
            // Whatever blocked it was told before.
            if core.schedule.state(by) == state { core.roots.get(&by).copied().unwrap_or(by) } else { by }
        });
        let root = root.map(|root| {
            core.roots.insert(ix, root);
            let state = serde_json::to_string(&core.schedule.state(root)).unwrap_or_default();
            format!("{} is {}", plan.node(root).id, state.trim_matches('"').replace('_', " "))
        });
        let why = core.errors.get(&ix).or(root.as_ref()).map(String::as_str);
        observer.changed(&Change {
            run: &self.ctx.run,
            node: &plan.node(ix).id,
            state,
            at_ms: self.ctx.watch.micros() / 1_000,
            why,
        });
    }

    pub(super) fn gate_of(&self, ix: NodeIx) -> Option<NodeIx> {
        match self.ctx.shape.kind(ix) {
            Kind::Call { gate, .. } => *gate,
            _ => None,
        }
    }
}

impl<S> Context<S> {
    pub(super) fn detail(&self, times: Times, ended: Option<u64>) -> Detail {
        Detail {
            drive: self.number,
            began: self.watch.began_at,
            at: self.watch.micros(),
            attempts: times.attempts,
            queued: times.queued,
            started: times.started,
            ended,
            ..Detail::default()
        }
    }
}

/// The value of a call with a row, and why it has none.
pub(crate) fn result_of(row: &Row) -> (Option<Value>, Option<String>) {
    use plangate_approval::Outcome;
    if let Some(settled) = &row.settled {
        return (settled.value.clone(), None);
    }
    match &row.outcome {
        Some(Outcome::Ok(value)) => (Some(value.clone()), None),
        Some(Outcome::Failed(why) | Outcome::Unknown(why)) => (None, Some(why.clone())),
        Some(Outcome::NotSent(why)) => (None, Some(format!("not sent: {why}"))),
        None => (None, None),
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
