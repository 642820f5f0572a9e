//! The executor: starts, resumes and cancels runs.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use plangate_approval::storage::{LeaseAnswer, ParkAnswer};
use plangate_approval::{Approvals, Lease, NewRun, Person, Row, RowState, Run, RunId, Storage};
use plangate_graph::plan::NodeKind;
use plangate_graph::value::Object;
use plangate_graph::{Author, Catalog, Documents, Policy, Value, VerifiedPlan};

use crate::drive::{Context, Core, Drive, Laid, Restore};
use crate::error::{ArgumentProblem, RunError};
use crate::gate::Rules;
use crate::inputs;
use crate::journal::Watch;
use crate::options::Options;
use crate::record::Record;
use crate::schedule::{Limits, Schedule, Topology};
use crate::stop::Driven;
use crate::stored::Stored;
use crate::tools::{Tools, Writer};
use crate::values::{Names, Values, call_of, names};

/// Runs verified plans: over one store, with one host's tools and writer.
///
/// Cheap to make; may be shared between threads. Each run that is driven has threads of its own, which have ended when
/// the call that drives it returns.
pub struct Executor<S> {
    store: Arc<S>,
    tools: Arc<dyn Tools>,
    writer: Option<Arc<dyn Writer>>,
    options: Options,
    driven: Mutex<Vec<(RunId, Weak<dyn Driven>)>>,
}

/// What a run starts with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Values of inputs by name: an object, or null for none. What is missing takes its default.
    pub inputs: Value,
    /// Who starts it.
    pub requester: Person,
    /// What people call it, for instance the recipe's file name. Not trusted for anything.
    pub title: String,
}

/// The catalog and policy of now, for a run that goes on: what became stricter since it was stored holds at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Present {
    /// The tools as they are now.
    pub catalog: Catalog,
    /// The policy as it is now.
    pub policy: Policy,
}

/// How a run was laid down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every step has ended, or the run was cancelled: `state` of the record says which.
    Done(Record),
    /// All that is left waits for people.
    Parked {
        /// The run.
        run: RunId,
        /// The rows that wait for a decision, or for a word on what happened.
        waiting: Vec<Row>,
        /// Its record so far.
        record: Record,
    },
    /// It was asked to [stop](crate::Stop): what has not ended is left to whoever resumes it.
    Stopped {
        /// The run.
        run: RunId,
        /// Its record so far.
        record: Record,
    },
    /// The stored plan no longer passes: nothing was started. A person cancels the run or [accepts](Executor::accept) the
    /// change, or it is resumed once the reason is gone.
    Attention {
        /// The run.
        run: RunId,
        /// Every refusal, one a line.
        reason: String,
        /// Its record so far.
        record: Record,
    },
}

impl<S: Storage + 'static> Driven for Drive<S> {
    fn poke(&self) {
        Drive::poke(self);
    }
}

impl Ended {
    /// The record.
    pub fn record(&self) -> &Record {
        match self {
            Ended::Done(record)
            | Ended::Parked { record, .. }
            | Ended::Stopped { record, .. }
            | Ended::Attention { record, .. } => record,
        }
    }
}

impl<S: Storage + 'static> Executor<S> {
    /// Over this store. A plan that changes nothing runs over a store in memory as well.
    pub fn new(
        store: Arc<S>,
        tools: Arc<dyn Tools>,
        writer: Option<Arc<dyn Writer>>,
        options: Options,
    ) -> Executor<S> {
        Executor { store, tools, writer, options, driven: Mutex::default() }
    }

    /// The store.
    pub fn store(&self) -> &Arc<S> {
        &self.store
    }

    /// Starts a run and drives it until it has ended or waits for people alone. Never waits for a person.
    ///
    /// Inputs, and arguments that are known already, are checked before anything is stored or started. Whatever was
    /// asked is durable when this returns.
    pub fn run(&self, plan: &VerifiedPlan, start: Start) -> Result<Ended, RunError> {
        let watch = Watch::start(self.store.now());
        let inputs = inputs::complete(plan.plan(), &start.inputs).map_err(RunError::Inputs)?;
        self.writer_for(plan)?;
        let names = names(plan.plan());
        let shape = shape_of(plan)?;
        known_arguments(plan, &names, &inputs)?;
        let Documents { plan: document, catalog, policy } = plan.documents().clone();
        let new = NewRun {
            id: RunId::random()?,
            plan: document,
            catalog,
            policy,
            inputs: Value::Object(inputs.clone()).canonical(),
            requester: start.requester,
            author: author_text(plan.author()).to_owned(),
            title: start.title,
            hold_siblings: self.options.hold_siblings,
        };
        let lease = self.store.start(&new, &self.store.holder()?)?;
        let limits = self.limits(&shape, new.hold_siblings);
        let restore = Restore::of(Schedule::new(&shape, &limits), Values::new(inputs, shape.len()));
        let rules = Rules { present: None };
        self.drive(plan.clone(), rules, names, shape, &limits, watch, lease, restore)
    }

    /// Cancels a run: rows that nobody claimed are cancelled with it, running calls are asked to stop and their outcome
    /// is recorded. A run that has ended stays as it is.
    pub fn cancel(&self, run: &RunId, by: &Person, reason: Option<&str>) -> Result<Run, RunError> {
        let cancelled = self.store.cancel(run, by, reason)?;
        self.notice(run);
        Ok(cancelled)
    }

    /// Something was decided about a run in this process: if it is driven here, it is looked at now and not within a second.
    pub fn notice(&self, run: &RunId) {
        // Held only for as long as it takes to look: a drive that is told may take its time.
        let told: Vec<_> = self
            .driven()
            .iter()
            .filter(|(id, _)| id == run)
            .filter_map(|(_, drive)| drive.upgrade())
            .collect();
        for drive in told {
            drive.poke();
        }
    }

    fn driven(&self) -> MutexGuard<'_, Vec<(RunId, Weak<dyn Driven>)>> {
        self.driven.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The record of a run, as it is stored at this moment.
    pub fn record(&self, run: &RunId) -> Result<Record, RunError> {
        Record::read(&*self.store, run)
    }

    /// Drives a run whose lease was taken, and says how it was laid down.
    #[expect(clippy::too_many_arguments, reason = "they are what a drive is made of")]
    pub(crate) fn drive(
        &self,
        plan: VerifiedPlan,
        rules: Rules,
        names: Names,
        shape: Arc<Topology>,
        limits: &Limits,
        watch: Watch,
        lease: Lease,
        restore: Restore,
    ) -> Result<Ended, RunError> {
        let run = lease.run.clone();
        let context = Context {
            store: Arc::clone(&self.store),
            approvals: Approvals::new(Arc::clone(&self.store)),
            tools: Arc::clone(&self.tools),
            writer: self.writer.clone(),
            options: self.options.clone(),
            plan,
            rules,
            shape,
            names,
            run: run.clone(),
            watch,
            number: lease.fence,
        };
        let workers = limits.workers.unwrap_or(Options::MOST_WORKERS);
        let (drive, parker) = Drive::new(context, Core::new(restore), lease, workers);
        let weak: Weak<Drive<S>> = Arc::downgrade(&drive);
        if let Some(stop) = &self.options.stop {
            stop.tells(weak.clone() as Weak<dyn Driven>);
        }
        self.driven().push((run.clone(), weak));
        if let Some(observer) = &self.options.observer {
            observer.started(&run);
        }
        let laid = drive.conduct(&parker);
        self.driven().retain(|(id, drive)| *id != run && drive.strong_count() > 0);
        drive.clear();
        let of = &drive.ctx;
        let stored = Stored::read(&*self.store, &run);
        let laid = laid?;
        let stored = stored?;
        let record = Record::over(&stored, of.plan.plan(), &of.shape, &of.names)?;
        Ok(match laid {
            Laid::Ended => Ended::Done(record),
            Laid::Parked => {
                let mut waiting = stored.rows;
                waiting.retain(|row| matches!(row.state, RowState::Pending | RowState::Uncertain));
                Ended::Parked { run, waiting, record }
            }
            Laid::Stopped => Ended::Stopped { run, record },
        })
    }

    /// The lease of a run; nothing if it has ended.
    pub(crate) fn take_lease(&self, run: &RunId) -> Result<Option<Lease>, RunError> {
        match self.store.lease(run, &self.store.holder()?)? {
            LeaseAnswer::Taken(lease) => Ok(Some(lease)),
            LeaseAnswer::Busy { until } => {
                self.notice(run);
                Err(RunError::Busy { until })
            }
            LeaseAnswer::Ended(_) => Ok(None),
        }
    }

    pub(crate) fn limits(&self, shape: &Topology, hold_siblings: bool) -> Limits {
        let steps = shape.indices().filter(|ix| shape.unit_cost(*ix) > 0).count();
        let most = self.options.workers.unwrap_or(Options::MOST_WORKERS).min(steps).max(1);
        let caps = shape
            .servers()
            .iter()
            .zip(0..)
            .filter_map(|(name, number)| self.options.caps.get(name).map(|cap| (number, *cap)));
        Limits { workers: Some(most), caps: caps.collect(), hold_siblings }
    }

    /// Sentences need a writer.
    pub(crate) fn writer_for(&self, plan: &VerifiedPlan) -> Result<(), RunError> {
        if self.writer.is_some() {
            return Ok(());
        }
        let sentences = plan.plan().nodes().filter(|(_, node)| matches!(node.kind, NodeKind::Write { .. }));
        let steps: Vec<String> = sentences.map(|(_, node)| node.id.clone()).collect();
        if steps.is_empty() { Ok(()) } else { Err(RunError::NoWriter { steps }) }
    }

    /// Gives a lease back under which nothing was done.
    pub(crate) fn let_go(&self, mut lease: Lease) {
        // Where the store is at fault, the lease runs out by itself.
        while let Ok(ParkAnswer::LookAgain(newer)) = self.store.park(&lease) {
            lease = newer;
        }
    }
}

impl<S> fmt::Debug for Executor<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Restore {
    /// Nothing has happened yet.
    pub(crate) fn of(schedule: Schedule, values: Values) -> Restore {
        Restore {
            schedule,
            values,
            errors: std::collections::HashMap::new(),
            rows: std::collections::HashMap::new(),
            claims: std::collections::HashMap::new(),
            in_flight: std::collections::HashSet::new(),
        }
    }
}

pub(crate) fn shape_of(plan: &VerifiedPlan) -> Result<Arc<Topology>, RunError> {
    Topology::of(plan).map(Arc::new).map_err(|e| RunError::Fault(e.to_string()))
}

/// Arguments made of literals and inputs are held against their tool's schema before the first step. Those made of
/// literals alone were, when the plan was verified.
pub(crate) fn known_arguments(plan: &VerifiedPlan, names: &Names, inputs: &Object) -> Result<(), RunError> {
    if plan.plan().outline().inputs.is_empty() {
        return Ok(());
    }
    let values = Values::new(inputs.clone(), 0);
    let mut problems = Vec::new();
    for (ix, node) in plan.plan().nodes() {
        let Some((item, call)) = call_of(plan.plan(), ix) else { continue };
        if call.args.literal().is_some() || call.args.reads_steps() {
            continue;
        }
        let filled = values.arguments(plan.plan(), names, item, call);
        if let Err(message) = filled.and_then(|args| plan.validate(ix, &args)) {
            problems.push(ArgumentProblem { step: node.id.clone(), message });
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(RunError::Arguments(problems)) }
}

pub(crate) fn author_text(author: Author) -> &'static str {
    match author {
        Author::Model => "model",
        Author::Person => "person",
    }
}
