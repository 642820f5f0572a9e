//! The steward: the thread that called. It waits, watches deadlines and the lease, and lays the run down.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::Ordering::Acquire;
use std::time::{Duration, Instant};

use crossbeam::sync::Parker;
use crossbeam::utils::Backoff;
use plangate_approval::storage::ParkAnswer;
use plangate_approval::{RunState, StepState, Storage, StoreError};
use plangate_graph::NodeIx;

use super::core::{Core, Halt};
use super::{Drive, Who};
use crate::error::RunError;

/// How a drive ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Laid {
    /// Every step has ended, or the run was cancelled.
    Ended,
    /// All that is left waits for people.
    Parked,
    /// It was asked to stop: what has not ended is left to the next drive.
    Stopped,
}

/// How often the steward looks for what other processes decided, and writes down what runs for long.
const LOOK: Duration = Duration::from_secs(1);
/// How often it renews the lease if no commit did.
const RENEW: Duration = Duration::from_secs(10);

impl<S: Storage + 'static> Drive<S> {
    /// Drives the run until it is laid down. Returns once no thread of it is left, but for calls that did not answer in
    /// time and have not returned since.
    pub(crate) fn conduct(self: &Arc<Self>, parker: &Parker) -> Result<Laid, RunError> {
        self.set_limits(&mut self.core());
        let laid = loop {
            if let Some(job) = self.pump(Who::Steward) {
                self.hand_on(&mut self.core(), Some(job));
            }
            let until = {
                let mut core = self.core();
                if !self.inbox.is_empty() {
                    continue;
                }
                if let Some(lost) = self.to_reconcile(&mut core) {
                    drop(core);
                    // The host may take its time.
                    self.pool.unwatched();
                    self.reconcile(lost);
                    continue;
                }
                if core.settled() {
                    match self.lay_down(&mut core) {
                        Ok(Some(laid)) => break Ok(laid),
                        Ok(None) => continue,
                        Err(error) => break Err(error),
                    }
                }
                if core.stands_still() {
                    core.stop(RunError::Fault("the schedule stands still".to_owned()));
                    continue;
                }
                let until = core.next_alarm();
                core.asleep_until = Some(until);
                until
            };
            if self.inbox.is_empty() {
                self.sleep(parker, until);
            }
            self.tick(&mut self.core());
        };
        self.pool.close(self.ctx.options.grace);
        laid
    }

    /// Sleeps until an alarm or a ring; they are the same to what follows. Meanwhile it sees to it that no job waits for
    /// long. A short run is over before it sleeps.
    fn sleep(&self, parker: &Parker, until: Instant) {
        let soon = Backoff::new();
        while !self.rung.load(Acquire) && !soon.is_completed() {
            soon.snooze();
        }
        while !self.rung.swap(false, Acquire) {
            let now = Instant::now();
            if now >= until {
                break;
            }
            let at = self.pool.watch().map_or(until, |soon| until.min(now + soon));
            parker.park_deadline(at);
        }
        // What it wakes for may take its time: the core may be in other hands, the store may be slow.
        self.pool.unwatched();
    }

    /// What time brings.
    fn tick(&self, core: &mut Core) {
        let now = Instant::now();
        core.asleep_until = None;
        while let Some(Reverse((at, ix, attempt))) = core.deadlines.peek().copied() {
            if at > now {
                break;
            }
            core.deadlines.pop();
            self.past_deadline(core, ix, attempt);
        }
        self.keep_limits(core, now);
        if core.stopped.is_some() {
            return;
        }
        if core.takes_look() || now.duration_since(core.looked) >= LOOK {
            core.looked = now;
            self.look(core, now);
        }
    }

    /// Looks for decisions and expiry, and writes down what has been running for a while.
    fn look(&self, core: &mut Core, now: Instant) {
        let lease = self.lease();
        match self.ctx.store.run(&self.ctx.run) {
            Ok(run) if run.wake != lease.wake || (run.cancel_at.is_some() && !lease.cancelled) => {
                self.look_again(core);
            }
            Ok(_) => {}
            Err(error) => return self.trouble(core, error),
        }
        if core.expiry.is_some_and(|at| at <= self.ctx.store.now()) {
            core.news = true;
        }
        let slow: Vec<NodeIx> = core
            .under_way
            .values()
            .map(|under| under.start.node())
            .filter(|ix| !core.times[*ix].told && self.runs_for(core, *ix) >= LOOK)
            .collect();
        let mut steps = Vec::new();
        for ix in slow {
            core.times[ix].told = true;
            if matches!(self.ctx.shape.kind(ix), crate::schedule::Kind::Call { .. }) {
                continue; // its claim says so
            }
            let detail = self.ctx.detail(core.times[ix], None);
            match detail.write(self.ctx.names.id(ix), StepState::Running) {
                Ok(step) => steps.push(step),
                Err(fault) => return core.stop(fault),
            }
        }
        if !steps.is_empty() || now.duration_since(core.renewed) >= RENEW {
            match self.ctx.store.record(&lease, &steps) {
                Ok(lease) => self.renewed(core, lease),
                Err(error) => self.trouble(core, error),
            }
        }
    }

    fn runs_for(&self, core: &Core, ix: NodeIx) -> Duration {
        let started = core.times[ix].started.unwrap_or(u64::MAX);
        Duration::from_micros(self.ctx.watch.micros().saturating_sub(started))
    }

    /// A store that cannot be used for a moment is no reason to stop while the lease still lasts.
    fn trouble(&self, core: &mut Core, error: StoreError) {
        let left = self.lease().steady_until - self.ctx.store.steady();
        let renew = i64::try_from(RENEW.as_millis()).unwrap_or(i64::MAX);
        match error {
            StoreError::Unusable { .. } if left > renew => {}
            error => core.store_failed(error),
        }
    }

    /// Lays the run down: ended, or parked. Nothing if something was decided meanwhile.
    fn lay_down(&self, core: &mut Core) -> Result<Option<Laid>, RunError> {
        if let Some(why) = core.stopped.take() {
            return self.let_go(why).map(Some);
        }
        if core.has_lazy() {
            self.commit(core, Vec::new());
            return match core.stopped.take() {
                Some(why) => self.let_go(why).map(Some),
                None if core.news => Ok(None),
                None => self.lay_down(core),
            };
        }
        // A call past its deadline may come back at this very moment: either its report is here, or it finds that nobody
        // drives the run and raises the run's `wake` in the store.
        let overdue: Vec<_> = core.overdue.iter().map(|overdue| Arc::clone(&overdue.cell)).collect();
        let phases: Vec<_> = overdue.iter().map(|cell| cell.phase()).collect();
        if !self.inbox.is_empty() {
            return Ok(None);
        }
        let lease = self.lease();
        let (laid, answer) = if core.schedule.over() {
            let state = self.end_state(core);
            let late = (state == RunState::Failed && core.schedule.time_up()).then(|| self.out_of_time());
            (Laid::Ended, self.ctx.store.end(&lease, state, late.as_deref()))
        } else {
            (Laid::Parked, self.ctx.store.park(&lease))
        };
        drop(phases);
        match answer {
            Ok(ParkAnswer::Released) => {
                core.laid = true;
                Ok(Some(laid))
            }
            Ok(ParkAnswer::LookAgain(lease)) => {
                self.renewed(core, lease);
                core.news = true;
                Ok(None)
            }
            Err(StoreError::LeaseLost(run)) => Err(RunError::LeaseLost(run)),
            Err(error) => Err(RunError::Store(error)),
        }
    }

    fn end_state(&self, core: &Core) -> RunState {
        let ok = |ix| matches!(core.schedule.state(ix), StepState::Done | StepState::Skipped);
        if self.lease().cancelled {
            RunState::Cancelled
        } else if self.ctx.shape.indices().all(ok) {
            RunState::Done
        } else {
            RunState::Failed
        }
    }

    /// A run that stops, asked or for a fault of its own, gives its lease back, so that it can be resumed at once.
    fn let_go(&self, why: Halt) -> Result<Laid, RunError> {
        let lease_is_there = !matches!(why, Halt::Fault(RunError::LeaseLost(_)));
        let mut lease = self.lease();
        // The store may be what is at fault; then the lease runs out.
        while lease_is_there && let Ok(ParkAnswer::LookAgain(newer)) = self.ctx.store.park(&lease) {
            lease = newer;
        }
        match why {
            Halt::Fault(why) => Err(why),
            Halt::Asked => Ok(Laid::Stopped),
        }
    }
}

impl Core {
    fn next_alarm(&self) -> Instant {
        let look = self.looked + LOOK;
        let own = self.deadlines.peek().map(|Reverse((at, ..))| *at);
        own.into_iter().chain(self.deadline).fold(look, Instant::min)
    }
}
