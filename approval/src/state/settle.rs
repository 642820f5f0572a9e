//! uncertain -> happened | did not

use super::people::may_speak;
use super::{Change, Moment, Refusal, Stored, about, seen};
use crate::clock::Time;
use crate::event::Kind;
use crate::row::{RowState, Settled};
use crate::run::StepState;
use crate::storage::{Settlement, StoreError};

/// A person's word on a call whose outcome nobody recorded.
///
/// Refused as in flight until the call has certainly ended: its claimer said that it does not know, its claimer's
/// process is known to be gone, or its deadline and `grace_ms` have passed.
pub fn settle(
    stored: &Stored,
    moment: &Moment<'_>,
    settlement: &Settlement,
    grace_ms: i64,
) -> Result<Change, Refusal> {
    let row = &stored.row;
    if let Some(settled) = &row.settled {
        let (state, by, at) = (row.state, settled.by.to_string(), Some(settled.at));
        return Err(StoreError::Decided { state, by, at }.into());
    }
    let (Some(claim), Some(claimer)) = (&row.claim, &stored.claimer) else {
        let state = seen(stored, &moment.run.tenure, moment.now, moment.claimer_dead);
        return Err(StoreError::NotNow(state).into());
    };
    if !matches!(row.state, RowState::Claimed | RowState::Uncertain) {
        return Err(StoreError::NotNow(row.state).into());
    }
    if *claim != settlement.claim {
        return Err(StoreError::NotFound { what: "claim", id: settlement.claim.clone() }.into());
    }
    let until = Time(row.call_deadline.unwrap_or(moment.now).0.saturating_add(grace_ms));
    let ended = !claimer.open || moment.claimer_dead || moment.now >= until;
    if !ended {
        return Err(StoreError::InFlight { until }.into());
    }
    let given = &settlement.settled;
    may_speak(&row.terms, &given.by)?;

    let settled = Settled {
        at: moment.now,
        // A value belongs to what happened.
        value: given.value.clone().filter(|_| given.happened),
        ..given.clone()
    };
    let event = about(Kind::Settled, stored)
        .with("claim", claim.as_str())
        .by(&settled.by)
        .with("happened", settled.happened)
        .with_some("note", settled.note.as_deref());
    let event = match &settled.value {
        Some(value) => event.digest("value", &plangate_graph::Digest::of(&value.canonical())),
        None => event,
    };
    let mut next = stored.clone();
    next.row.state = if settled.happened { RowState::Happened } else { RowState::DidNot };
    next.row.settled = Some(settled);
    let step = match (given.happened, moment.run.cancel_at) {
        (true, _) => StepState::Done,
        (false, None) => StepState::Ready,
        (false, Some(_)) => StepState::Cancelled,
    };
    Ok(Change { step: Some(step), ..Change::new(next, event).waking() })
}
