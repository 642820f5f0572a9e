//! What a thread of the pool does: one attempt of one step.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plangate_approval::row::Claim;
use plangate_approval::{Outcome, Permit, StepState, StepWrite, Storage, StoreError};
use plangate_graph::plan::NodeKind;
use plangate_graph::{Digest, NodeIx, Value};

use super::core::Times;
use super::dispatch::{By, Start};
use super::overdue::Silent;
use super::{Drive, Report};
use crate::error::RunError;
use crate::journal::Written;
use crate::pool::{Abandoned, panic_text};
use crate::tools::{Cancel, ReadError, Sentence, SentenceInput};

/// One attempt of one step.
pub(super) struct Task {
    pub(super) start: Start,
    pub(super) attempt: u64,
    pub(super) times: Times,
    pub(super) timeout: Duration,
    pub(super) cancel: Cancel,
    pub(super) cell: Arc<Cell>,
}

/// What the thread of an attempt and the steward agree on: which of them speaks for a call at its deadline.
#[derive(Default)]
pub(super) struct Cell {
    phase: Mutex<Phase>,
    /// Held for as long as the attempt, once nobody waits for it.
    abandoned: Mutex<Option<Abandoned>>,
}

/// How far a call is.
#[derive(Debug, Default)]
pub(super) enum Phase {
    /// Not claimed.
    #[default]
    Before,
    /// Claimed, and perhaps sent.
    Claimed {
        /// The claim.
        claim: Claim,
        /// Until when it may be under way, whoever waits for it: its deadline and the store's grace.
        until: Option<Instant>,
    },
    /// Not claimed in time: it is not claimed any more.
    Overdue,
    /// Claimed, and nobody waits for it any more. Its row stays claimed, since the call may be under way: what it brings is
    /// recorded, but no more than what is known already is said of it.
    Silent(Claim),
    /// What came of it is stored, or that nobody knows.
    Over,
}

impl Cell {
    pub(super) fn phase(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The attempt is over: if it was abandoned, its thread counts again.
    pub(super) fn returned(&self) {
        drop(self.abandoned.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    pub(super) fn abandon(&self, mark: Abandoned) {
        *self.abandoned.lock().unwrap_or_else(PoisonError::into_inner) = Some(mark);
    }
}

impl<S: Storage + 'static> Drive<S> {
    /// Makes one attempt and reports it.
    pub(super) fn work(&self, task: &Task) {
        match &task.start {
            Start::Read { ix, args } => {
                let result = self.make_read(*ix, args, &task.cancel);
                self.returned_from(*ix, task, result);
            }
            Start::Write { ix, instruction, inputs } => {
                let result = self.make_sentence(instruction, inputs, &task.cancel);
                self.returned_from(*ix, task, result);
            }
            Start::Call { ix, by } => self.make_call(*ix, by, task),
        }
        task.cell.returned();
    }

    fn returned_from(&self, ix: NodeIx, task: &Task, result: Result<Value, ReadError>) {
        let at = self.ctx.watch.micros();
        self.inbox.push(Report::Returned { ix, attempt: task.attempt, at, result });
    }

    fn make_read(&self, ix: NodeIx, args: &Value, cancel: &Cancel) -> Result<Value, ReadError> {
        let call = self
            .ctx
            .plan
            .read_call(ix, args)
            .ok_or_else(|| ReadError::Failed("this call is no read: it needs a claim".to_owned()))?;
        self.same_definition(ix, call.server(), call.tool()).map_err(ReadError::Failed)?;
        catch_unwind(AssertUnwindSafe(|| self.ctx.tools.read(call, cancel))).unwrap_or_else(|panic| {
            Err(ReadError::Failed(format!("the tool panicked: {}", panic_text(&*panic))))
        })
    }

    fn make_sentence(
        &self,
        instruction: &str,
        inputs: &[SentenceInput],
        cancel: &Cancel,
    ) -> Result<Value, ReadError> {
        let Some(writer) = &self.ctx.writer else {
            return Err(ReadError::Failed("no writer is configured".to_owned()));
        };
        let sentence = Sentence { instruction, inputs };
        catch_unwind(AssertUnwindSafe(|| writer.write(&sentence, cancel))).unwrap_or_else(|panic| {
            Err(ReadError::Failed(format!("the writer panicked: {}", panic_text(&*panic))))
        })
    }

    /// Connection, definition, claim, call, outcome, in this order.
    fn make_call(&self, ix: NodeIx, by: &By, task: &Task) {
        let attempt = task.attempt;
        let not_ready =
            |why: String| self.inbox.push(Report::NotReady { ix, attempt, at: self.ctx.watch.micros(), why });
        let definition = match self.ready(ix, &task.cancel) {
            Ok(definition) => definition,
            Err(why) => return not_ready(why),
        };
        let mut phase = task.cell.phase();
        if matches!(*phase, Phase::Overdue) {
            return;
        }
        if task.cancel.is_cancelled() {
            *phase = Phase::Over;
            drop(phase);
            return not_ready("its time was over before it was claimed; nothing was sent".to_owned());
        }
        let step = match self.step(ix, StepState::Running, task.times, None, None) {
            Ok(step) => step,
            Err(fault) => return self.inbox.push(Report::Fault(fault.to_string())),
        };
        let claimed = match by {
            By::Row(row) => self.ctx.approvals.claim(&self.lease(), row, definition, &step),
            By::Rule { ask, rule } => self.ctx.approvals.claim_unasked(&self.lease(), ask, rule, &step),
        };
        let permit = match claimed {
            Ok(permit) => permit,
            Err(error) => {
                *phase = Phase::Over;
                drop(phase);
                let at = self.ctx.watch.micros();
                return self.inbox.push(Report::Refused { ix, attempt, at, error });
            }
        };
        let claim = permit.claim().clone();
        let left = task.timeout + Duration::from_millis(self.ctx.store.grace_ms().try_into().unwrap_or(0));
        *phase = Phase::Claimed { claim: claim.clone(), until: Instant::now().checked_add(left) };
        drop(phase);

        let outcome = self.make_effect(permit, &task.cancel);
        let mut phase = task.cell.phase();
        match (&*phase, &outcome) {
            (Phase::Silent(_), Outcome::Unknown(_)) => {
                self.inbox.push(Report::Back { ix, attempt });
            }
            (Phase::Claimed { until, .. }, Outcome::Unknown(why)) if task.cancel.is_past() => {
                let silent = self.silent(ix, task.times, &claim, why.clone(), false, *until);
                self.inbox.push(Report::Silent { ix, attempt, silent: Box::new(silent) });
                *phase = Phase::Silent(claim);
            }
            _ => {
                self.record_outcome(ix, attempt, task.times, &claim, &outcome);
                *phase = Phase::Over;
            }
        }
    }

    /// Nobody waits for a claimed call any more. An unknown outcome in the claimer's name would say that the call has ended,
    /// and let a person ask for a second one while the first is under way; so its row stays as it is. The caller holds the
    /// phase.
    pub(super) fn silent(
        &self,
        ix: NodeIx,
        times: Times,
        claim: &Claim,
        why: String,
        out: bool,
        until: Option<Instant>,
    ) -> Silent {
        let at = self.ctx.watch.micros();
        let step = self.step(ix, StepState::Uncertain, times, Some(at), Some(why.clone()));
        // Written while the phase is held, so that what the call says after it stays.
        let written =
            step.and_then(|step| self.ctx.store.record(&self.lease(), &[step]).map_err(RunError::Store));
        Silent { row: claim.row.clone(), why, out, until, written }
    }

    /// Everything that comes before a claim: the connection, and the definition of the tool as it is now.
    fn ready(&self, ix: NodeIx, cancel: &Cancel) -> Result<Digest, String> {
        let (_, call) = self.call_of(ix)?;
        catch_unwind(AssertUnwindSafe(|| self.ctx.tools.connect(&call.server, cancel)))
            .unwrap_or_else(|panic| Err(ReadError::Failed(format!("it panicked: {}", panic_text(&*panic)))))
            .map_err(|error| format!("not sent: the server {} is not there: {error}", call.server))?;
        self.same_definition(ix, &call.server, &call.tool)
    }

    /// The digest of the tool's definition, if it is still the one that the plan was made with.
    fn same_definition(&self, ix: NodeIx, server: &str, tool: &str) -> Result<Digest, String> {
        let NodeKind::Call { judged, .. } = &self.ctx.plan.plan().node(ix).kind else {
            return Err(format!("node {} is no call", ix.0));
        };
        let now = catch_unwind(AssertUnwindSafe(|| self.ctx.tools.definition(server, tool)))
            .map_err(|panic| format!("asking for the tool panicked: {}", panic_text(&*panic)))?;
        match now {
            Some(now) if now == judged.definition => Ok(now),
            Some(now) => Err(format!(
                "the tool {server}.{tool} is not the one that this was planned with: its definition was {} and is {now}; \
                 nothing was sent. Look at what changed, then compile the recipe again",
                judged.definition
            )),
            None => Err(format!(
                "the tool {server}.{tool} is not there any more (its definition was {}); nothing was sent. Look at what \
                 the server offers now, then compile the recipe again",
                judged.definition
            )),
        }
    }

    fn make_effect(&self, permit: Permit, cancel: &Cancel) -> Outcome {
        catch_unwind(AssertUnwindSafe(|| self.ctx.tools.effect(permit, cancel)))
            .unwrap_or_else(|panic| Outcome::Unknown(format!("the tool panicked: {}", panic_text(&*panic))))
    }

    /// Stores what came of a claimed call, and reports it. The caller holds the phase.
    pub(super) fn record_outcome(
        &self,
        ix: NodeIx,
        attempt: u64,
        times: Times,
        claim: &Claim,
        outcome: &Outcome,
    ) {
        let at = self.ctx.watch.micros();
        let (state, error) = match outcome {
            Outcome::Ok(_) => (StepState::Done, None),
            Outcome::Failed(why) | Outcome::NotSent(why) => (StepState::Failed, Some(why.clone())),
            Outcome::Unknown(why) => (StepState::Uncertain, Some(why.clone())),
        };
        let step = match self.step(ix, state, times, Some(at), error) {
            Ok(step) => step,
            Err(fault) => return self.inbox.push(Report::Fault(fault.to_string())),
        };
        let store = || self.ctx.approvals.outcome(claim, outcome, &step);
        // The same outcome again changes nothing, so an unclear answer is asked once more.
        let stored = store().or_else(|error| match error {
            StoreError::Unusable { .. } => store(),
            error => Err(error),
        });
        // The host may have said so by another way, at this very moment: what is stored stands.
        let stored = stored.or_else(|error| match error {
            StoreError::NotNow(state) if !state.open() => self.ctx.store.row(&claim.row),
            error => Err(error),
        });
        self.inbox.push(match stored {
            Ok(row) => Report::Outcome { ix, attempt, row: Box::new(row) },
            Err(error) => Report::Unstored { ix, attempt, error },
        });
    }

    fn step(
        &self,
        ix: NodeIx,
        state: StepState,
        times: Times,
        ended: Option<u64>,
        error: Option<String>,
    ) -> Result<StepWrite, RunError> {
        let detail = Written { error, ..self.ctx.detail(times, ended) };
        detail.write(self.ctx.names.id(ix), state)
    }
}
