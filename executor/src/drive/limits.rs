//! What ends a drive from outside: its deadline, and a word to stop.

use std::time::Instant;

use plangate_approval::Storage;
use plangate_graph::NodeIx;

use super::Drive;
use super::core::{Core, Halt};
use super::dispatch::{Start, millis};
use crate::error::RunError;
use crate::schedule::Event;

impl<S: Storage + 'static> Drive<S> {
    /// From here on the time of the drive runs.
    pub(super) fn set_limits(&self, core: &mut Core) {
        let now = Instant::now();
        core.deadline = self.ctx.options.deadline.and_then(|left| now.checked_add(left));
        self.keep_limits(core, now);
    }

    /// Whether the drive may go on.
    pub(super) fn keep_limits(&self, core: &mut Core, now: Instant) {
        if core.stopped.is_some() {
            return;
        }
        if self.ctx.options.stop.as_ref().is_some_and(crate::Stop::is_stopped) {
            core.halt(Halt::Asked);
            for (ix, attempt) in calls(core) {
                self.leave(core, ix, attempt, "the run was stopped, and the call asked to stop".to_owned());
            }
        }
        if core.deadline.is_some_and(|at| at <= now) {
            core.deadline = None;
            if let Err(illegal) = core.schedule.on(Event::TimeUp) {
                core.stop(RunError::Fault(illegal.to_string()));
            }
        }
    }

    /// Why something ended that the drive's deadline overtook.
    pub(super) fn out_of_time(&self) -> String {
        let ms = self.ctx.options.deadline.map_or(0, millis);
        format!("the deadline of this drive ({ms} ms) passed")
    }
}

/// Calls under way that change something.
fn calls(core: &Core) -> Vec<(NodeIx, u64)> {
    let call = |start: &Start| matches!(start, Start::Call { .. });
    let calls = core.under_way.iter().filter(|(_, under)| call(&under.start));
    let mut calls: Vec<_> = calls.map(|(ix, under)| (*ix, under.attempt)).collect();
    calls.sort_unstable();
    calls
}
