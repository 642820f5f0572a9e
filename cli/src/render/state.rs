//! States of steps and runs: one mark and a few words each.

use plangate_approval::{RunState, StepState};

use super::paint::Paint;

/// One character.
pub(crate) fn mark(state: StepState, paint: Paint) -> String {
    match state {
        StepState::Done => paint.good("✓"),
        StepState::Failed | StepState::TimedOut | StepState::Rejected => paint.bad("✗"),
        StepState::Pending => paint.wait("⏸"),
        StepState::Uncertain => paint.bad("?"),
        StepState::Running | StepState::Ready => paint.wait("▶"),
        StepState::Waiting => paint.dim("·"),
        StepState::Expired | StepState::Blocked | StepState::Skipped | StepState::Cancelled => paint.dim("–"),
    }
}

/// A state in words.
pub(crate) fn words(state: StepState) -> &'static str {
    match state {
        StepState::Waiting => "waits",
        StepState::Ready => "may start",
        StepState::Running => "under way",
        StepState::Pending => "waits for an answer",
        StepState::Uncertain => "may have happened, or not",
        StepState::Done => "done",
        StepState::Failed => "failed",
        StepState::TimedOut => "timed out",
        StepState::Rejected => "rejected",
        StepState::Expired => "expired",
        StepState::Blocked => "blocked",
        StepState::Skipped => "skipped",
        StepState::Cancelled => "cancelled",
    }
}

/// The state of a run in words, with its mark.
pub(crate) fn of_run(state: RunState, paint: Paint) -> String {
    match state {
        RunState::Running => paint.wait("▶ running"),
        RunState::Parked => paint.wait("⏸ parked"),
        RunState::Attention => paint.bad("! needs attention"),
        RunState::Done => paint.good("✓ done"),
        RunState::Failed => paint.bad("✗ failed"),
        RunState::Cancelled => paint.dim("– cancelled"),
    }
}
