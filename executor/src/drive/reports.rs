//! What the threads tell, taken up: results, failures, outcomes.

use plangate_approval::{Outcome, Row, RowState, StepState, Storage};
use plangate_graph::outline::Body;
use plangate_graph::{NodeIx, Value};

use super::core::{Core, UnderWay};
use super::dispatch::Under;
use super::{Drive, Report};
use crate::error::RunError;
use crate::journal::Written;
use crate::schedule::{Event, How, Kind};
use crate::tools::ReadError;

impl<S: Storage + 'static> Drive<S> {
    /// Takes one report.
    pub(super) fn take(&self, core: &mut Core, report: Report) {
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
                core.is_back(ix, attempt);
                let late = core.schedule.state(ix) == StepState::Uncertain
                    && core.claims.get(&ix).is_some_and(|claimed| *claimed == row.id);
                if current || late {
                    core.claims.insert(ix, row.id.clone());
                    self.outcome(core, ix, &row);
                }
            }
            Report::Silent { ix, attempt, silent } => self.take_silent(core, ix, attempt, *silent),
            Report::Back { ix, attempt } => core.is_back(ix, attempt),
            Report::Unstored { ix, attempt, error } => {
                core.under_way.remove_if(ix, attempt);
                core.is_back(ix, attempt);
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
        core.times[ix].attempts <= allowed && !core.schedule.cancelled() && !core.schedule.time_up()
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
                let detail = Written { arguments, result: Some(&value), ..self.detail(core, ix, at) };
                self.must(core, ix, StepState::Done, &detail);
                core.values.set(ix, value);
                self.happened(core, ix, Event::Ended(ix, How::Done { value: true }));
                return;
            }
            Err(_) if core.schedule.cancelled() => (How::Cancelled, ReadError::Cancelled.to_string()),
            Err(_) if core.schedule.time_up() => {
                (How::TimedOut, format!("{} before it answered", self.out_of_time()))
            }
            Err(error @ ReadError::TimedOut(_)) => (How::TimedOut, error.to_string()),
            Err(error) => (How::Failed, error.to_string()),
        };
        let detail = Written { arguments, error: Some(error.clone()), ..self.detail(core, ix, at) };
        core.errors.insert(ix, error);
        self.must(core, ix, how.state(), &detail);
        self.happened(core, ix, Event::Ended(ix, how));
    }

    /// A step that failed before it was sent.
    pub(super) fn fail(&self, core: &mut Core, ix: NodeIx, at: u64, why: String) {
        let how = match self.ctx.shape.kind(ix) {
            _ if core.schedule.cancelled() => How::Cancelled,
            Kind::Check => How::Failed,
            _ if core.schedule.time_up() => How::TimedOut,
            _ => How::Failed,
        };
        let detail = Written { error: Some(why.clone()), ..self.detail(core, ix, at) };
        core.errors.insert(ix, why);
        self.must(core, ix, how.state(), &detail);
        self.happened(core, ix, Event::Ended(ix, how));
    }

    /// What came of a claimed call. The row holds it; nothing more is written.
    pub(super) fn outcome(&self, core: &mut Core, ix: NodeIx, row: &Row) {
        let (value, error) = result_of(row);
        if let Some(value) = value {
            core.values.set(ix, value);
        }
        match error {
            Some(error) => drop(core.errors.insert(ix, error)),
            None => drop(core.errors.remove(&ix)),
        }
        if let Some(node) = self.ctx.names.get(&row.node) {
            core.rows.insert(node, row.clone());
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
        self.happened(core, ix, event);
        let again = core.schedule.state(ix) == StepState::Uncertain && !core.schedule.cancelled();
        if row.state == RowState::DidNot && again {
            self.happened(core, ix, Event::Again(ix));
        }
    }
}

/// The value of a call with a row, and why it has none.
pub(crate) fn result_of(row: &Row) -> (Option<Value>, Option<String>) {
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
