//! One drive of a run: from the moment its lease is taken until it is laid down.
//!
//! Whoever has news (a thread whose call returned, or the steward, the thread that called) puts a report into the inbox
//! and then tries to take the [`Core`]. Whoever holds it works the inbox off: reports become events of the schedule,
//! what follows is written down in one commit, and only then starts. A thread that finds the core taken leaves; its
//! report is seen by the holder, who looks once more after letting go. So reads that end together commit together, and
//! a lone successor runs on the thread that finished its predecessor.
//!
//! The steward alone waits: for deadlines, for the lease to be renewed, for what other processes decide.

mod core;
mod dispatch;
mod follow;
mod limits;
mod overdue;
mod people;
mod reconcile;
mod reports;
mod steward;
mod work;

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Release;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};

use crossbeam::queue::SegQueue;
use crossbeam::sync::{Parker, Unparker};
use plangate_approval::{Approvals, Lease, Row, RunId, Storage, StoreError};
use plangate_graph::{NodeIx, Value, VerifiedPlan};

use crate::error::RunError;
use crate::gate::Rules;
use crate::journal::Watch;
use crate::options::Options;
use crate::pool::{self, Job, Pool};
use crate::schedule::Topology;
use crate::tools::{ReadError, Tools, Writer};
use crate::values::Names;

use self::core::Halt;
pub(crate) use self::core::{Core, Restore};
use overdue::Silent;
pub(crate) use people::last_rows;
pub(crate) use reports::result_of;
pub(crate) use steward::Laid;

/// What does not change in a drive.
pub(crate) struct Context<S> {
    pub(crate) store: Arc<S>,
    pub(crate) approvals: Approvals<Arc<S>>,
    pub(crate) tools: Arc<dyn Tools>,
    pub(crate) writer: Option<Arc<dyn Writer>>,
    pub(crate) options: Options,
    pub(crate) plan: VerifiedPlan,
    pub(crate) rules: Rules,
    pub(crate) shape: Arc<Topology>,
    pub(crate) names: Names,
    pub(crate) run: RunId,
    pub(crate) watch: Watch,
    /// Number of the drive: the fence of its lease.
    pub(crate) number: u64,
}

/// One drive.
pub(crate) struct Drive<S> {
    pub(crate) ctx: Context<S>,
    core: Mutex<Core>,
    /// The newest lease. Written by whoever holds the core, read by threads about to claim.
    lease: Mutex<Lease>,
    inbox: SegQueue<Report>,
    /// Something is there for the steward to look at.
    rung: AtomicBool,
    /// Wakes the steward.
    steward: Unparker,
    pool: Pool,
}

/// Who works the inbox off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Steward,
    Thread,
}

/// What a thread has to tell.
pub(crate) enum Report {
    /// A read or a sentence returned, or did not in time.
    Returned { ix: NodeIx, attempt: u64, at: u64, result: Result<Value, ReadError> },
    /// A call was not made: its server is not there, its tool changed, or its deadline passed before the claim.
    NotReady { ix: NodeIx, attempt: u64, at: u64, why: String },
    /// The store refused the claim.
    Refused { ix: NodeIx, attempt: u64, at: u64, error: StoreError },
    /// What came of a claimed call is stored.
    Outcome { ix: NodeIx, attempt: u64, row: Box<Row> },
    /// Nobody waits for a claimed call any more: it is uncertain.
    Silent { ix: NodeIx, attempt: u64, silent: Box<Silent> },
    /// Such a call came back and knows no more.
    Back { ix: NodeIx, attempt: u64 },
    /// What came of a claimed call could not be stored.
    Unstored { ix: NodeIx, attempt: u64, error: StoreError },
    /// A fault of this crate.
    Fault(String),
}

impl<S: Storage + 'static> Drive<S> {
    /// A drive, and what its steward sleeps on.
    pub(crate) fn new(
        ctx: Context<S>,
        mut core: Core,
        lease: Lease,
        workers: usize,
    ) -> (Arc<Drive<S>>, Parker) {
        core.news = lease.cancelled;
        let parker = Parker::new();
        let drive = Arc::new_cyclic(|own: &Weak<Drive<S>>| {
            let steward = parker.unparker().clone();
            let told = Told { drive: own.clone(), steward: steward.clone() };
            Drive {
                ctx,
                core: Mutex::new(core),
                lease: Mutex::new(lease),
                inbox: SegQueue::new(),
                rung: AtomicBool::new(false),
                steward,
                pool: Pool::new(workers, told),
            }
        });
        (drive, parker)
    }

    /// Lets go of what a run that was laid down needs no more.
    pub(crate) fn clear(&self) {
        let mut core = self.core();
        if core.laid {
            core.clear();
        }
    }

    /// Works the inbox off, unless another thread is at it. Returns a job that the calling thread may run itself.
    fn pump(self: &Arc<Self>, by: Who) -> Option<Job> {
        let mut kept: Option<Job> = None;
        loop {
            let Some(mut core) = self.try_core() else { break };
            loop {
                // Another turn may take its time: what would run here is handed on.
                self.hand_on(&mut core, kept.take());
                if by == Who::Steward {
                    self.pool.held_up();
                }
                let mut jobs = self.turn(&mut core);
                let more = core.has_more() || !self.inbox.is_empty();
                if !more && jobs.len() == 1 {
                    kept = jobs.pop();
                }
                for job in jobs {
                    self.hand_on(&mut core, Some(job));
                }
                if !more {
                    break;
                }
            }
            let tally = core.schedule.tally();
            self.pool.expect(tally.open.saturating_sub(tally.running));
            if core.needs_steward() {
                self.ring();
            }
            drop(core);
            if self.inbox.is_empty() {
                break;
            }
        }
        kept
    }

    fn hand_on(&self, core: &mut Core, job: Option<Job>) {
        if matches!(core.stopped, Some(Halt::Fault(RunError::Threads(_)))) {
            return;
        }
        if let Some(Err(error)) = job.map(|job| self.pool.submit(job)) {
            // There is no thread at all, so that nothing is under way, now or later.
            core.under_way.clear();
            core.stop(RunError::Threads(error));
        }
    }

    fn ring(&self) {
        self.rung.store(true, Release);
        self.steward.unpark();
    }

    /// Somebody decided, cancelled or recorded something in this process: the rows are read and the steward looks at once.
    pub(crate) fn poke(&self) {
        let mut core = self.core();
        core.news = true;
        core.look_now();
        drop(core);
        self.ring();
    }

    fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_core(&self) -> Option<MutexGuard<'_, Core>> {
        match self.core.try_lock() {
            Ok(core) => Some(core),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn lease(&self) -> Lease {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What the threads of a drive tell it.
struct Told<S> {
    drive: Weak<Drive<S>>,
    steward: Unparker,
}

impl<S: Storage + 'static> pool::Told for Told<S> {
    fn panicked(&self, text: String) {
        if let Some(drive) = self.drive.upgrade() {
            drive.inbox.push(Report::Fault(text));
            drive.ring();
        }
    }

    fn waiting(&self) {
        self.steward.unpark();
    }
}
