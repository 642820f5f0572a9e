//! Asking the host what became of calls whose outcome nobody recorded.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use crossbeam::channel::bounded;
use plangate_approval::{Reconciled, Row, RowState, StepState, Storage, StoreError, Time};

use super::Drive;
use super::core::Core;
use super::work::Cell;
use crate::pool::{Job, panic_text};
use crate::schedule::Kind;
use crate::tools::{Cancel, Uncertain};

impl<S: Storage + 'static> Drive<S> {
    /// Rows of uncertain calls that the host has not been asked about, past their deadline, once nothing else is left to do.
    pub(super) fn to_reconcile(&self, core: &mut Core) -> Option<Vec<Row>> {
        if !core.settled() || core.stopped.is_some() || core.schedule.over() || core.schedule.time_up() {
            return None;
        }
        let (now, grace) = (self.ctx.store.now(), self.ctx.store.grace_ms());
        let mut lost: Vec<Row> = core
            .rows
            .iter()
            .filter(|(ix, row)| {
                let call = match *self.ctx.shape.kind(**ix) {
                    Kind::Gate { call } => call,
                    _ => **ix,
                };
                core.schedule.state(call) == StepState::Uncertain && due(row, now, grace)
            })
            .map(|(_, row)| row.clone())
            .filter(|row| !core.looked_up.contains(&row.id))
            .collect();
        if lost.is_empty() {
            return None;
        }
        lost.sort_by(|a, b| a.id.cmp(&b.id));
        core.looked_up.extend(lost.iter().map(|row| row.id.clone()));
        Some(lost)
    }

    /// Asks about all of them at once, and stores what the host knows. A host that does not answer in time cannot tell.
    pub(super) fn reconcile(&self, lost: Vec<Row>) {
        let until = Instant::now() + self.ctx.options.reconcile;
        let cancel = Cancel::new(Some(until));
        let (say, answers) = bounded(lost.len());
        let mut waits = Vec::new();
        for (at, row) in lost.into_iter().enumerate() {
            let cell = Arc::new(Cell::default());
            let job = {
                let (row, say, cell) = (row.clone(), say.clone(), Arc::clone(&cell));
                let (tools, cancel) = (Arc::clone(&self.ctx.tools), cancel.clone());
                Job::new(move || {
                    let answer = catch_unwind(AssertUnwindSafe(|| {
                        let call = row.call.as_ref()?;
                        let (server, tool, args) = (&call.server, &call.tool, &call.args);
                        tools.reconcile(&Uncertain { server, tool, args, key: &row.key }, &cancel)
                    }));
                    let answer = answer.unwrap_or_else(|panic| {
                        Some(Reconciled::Unknown(format!("the host panicked: {}", panic_text(&*panic))))
                    });
                    // Nobody listens any more once the time is over.
                    let _ = say.send((at, answer));
                    cell.returned();
                    None
                })
            };
            if let Err(error) = self.pool.submit(job) {
                return self.core().stop(crate::error::RunError::Threads(error));
            }
            waits.push((row, cell, None));
        }
        drop(say);
        while let Ok((at, answer)) = answers.recv_deadline(until) {
            if let Some((_, _, slot)) = waits.get_mut(at) {
                *slot = Some(answer);
            }
        }
        cancel.cancel();
        let mut core = self.core();
        for (row, cell, answer) in waits {
            let answer = answer.unwrap_or_else(|| {
                cell.abandon(self.pool.abandon());
                let waited = self.ctx.options.reconcile.as_millis();
                Some(Reconciled::Unknown(format!("the host gave no answer within {waited} ms")))
            });
            let (Some(answer), Some(claim)) = (answer, &row.claim) else { continue };
            match self.ctx.store.reconcile(&self.lease(), &row.id, claim, &answer) {
                // Somebody settled it meanwhile, or it became known: the rows say so.
                Ok(_) | Err(StoreError::NotNow(_) | StoreError::NotFound { .. }) => core.news = true,
                // By the store's own clock it is too early: the next drive asks.
                Err(StoreError::InFlight { .. }) => {}
                Err(error) => core.store_failed(error),
            }
        }
    }
}

/// Whether the call of a row has certainly ended, and the host was never asked about it.
fn due(row: &Row, now: Time, grace: i64) -> bool {
    let open = matches!(row.state, RowState::Claimed | RowState::Uncertain) && row.reconciled.is_none();
    let grace = if row.outcome.is_some() { 0 } else { grace };
    open && row.call_deadline.is_some_and(|deadline| now.0 >= deadline.0.saturating_add(grace))
}
