//! uncertain -> happened, or approved once more
//!
//! The host is asked once about a call whose outcome nobody recorded. Only "it did not, and it will not" allows a second
//! claim, under the same row and key, as long as the approval is still usable.

use super::people::{counted, quorum};
use super::{Change, Claimer, Moment, Refusal, Stored, about, lease, seen};
use crate::clock::Time;
use crate::event::Kind;
use crate::outcome::{Outcome, Reconciled};
use crate::row::{Person, Reconcile, RowState, Settled};
use crate::run::{Lease, StepState};
use crate::storage::StoreError;

/// Takes the host's word on the claim that it was asked about. Refused as in flight before the call's deadline, and until
/// the call has certainly ended. The same word again changes nothing; another is refused.
pub fn reconcile(
    stored: &Stored,
    moment: &Moment<'_>,
    holds: &Lease,
    claim: &str,
    answer: &Reconciled,
    grace_ms: i64,
) -> Result<Change, Refusal> {
    let row = &stored.row;
    if let Some(word) = &row.reconciled {
        let same = word.claim == claim && word.answer == *answer;
        return if same { Ok(Change::nothing(stored)) } else { Err(StoreError::NotNow(row.state).into()) };
    }
    lease::held(moment.run, holds, moment.now)?;
    let (Some(nonce), Some(claimer)) = (&row.claim, &stored.claimer) else {
        let state = seen(stored, &moment.run.tenure, moment.now, moment.claimer_dead);
        return Err(StoreError::NotNow(state).into());
    };
    if !matches!(row.state, RowState::Claimed | RowState::Uncertain) {
        return Err(StoreError::NotNow(row.state).into());
    }
    if nonce != claim {
        return Err(StoreError::NotFound { what: "claim", id: claim.to_owned() }.into());
    }
    let deadline = row.call_deadline.unwrap_or(moment.now);
    let ended = !claimer.open || moment.claimer_dead;
    let until = if ended { deadline } else { Time(deadline.0.saturating_add(grace_ms)) };
    if moment.now < until {
        return Err(StoreError::InFlight { until }.into());
    }

    let event = about(Kind::Reconciled, stored).with("claim", claim).with("answer", answer.kind());
    let event = match answer {
        Reconciled::Happened(Some(value)) => {
            event.digest("value", &plangate_graph::Digest::of(&value.canonical()))
        }
        Reconciled::Unknown(why) => event.with("reason", why.as_str()),
        _ => event,
    };
    let mut next = stored.clone();
    next.row.reconciled = Some(Reconcile {
        answer: answer.clone(),
        at: moment.now,
        claim: claim.to_owned(),
        claimed_at: row.claimed_at,
        call_deadline: row.call_deadline,
        holder: claimer.holder.clone(),
        fence: claimer.fence,
    });
    let settled =
        |happened, value| Settled { by: Person::host(), happened, value, note: None, at: moment.now };
    let step = match answer {
        Reconciled::Unknown(_) => return Ok(Change::new(next, event)),
        Reconciled::Happened(value) => {
            next.row.state = RowState::Happened;
            next.row.settled = Some(settled(true, value.clone()));
            StepState::Done
        }
        Reconciled::DidNot if usable(stored, moment) => {
            again(&mut next);
            StepState::Ready
        }
        Reconciled::DidNot => {
            next.row.state = RowState::DidNot;
            next.row.settled = Some(settled(false, None));
            if moment.run.cancel_at.is_some() { StepState::Cancelled } else { StepState::Ready }
        }
    };
    Ok(Change { step: Some(step), ..Change::new(next, event).waking() })
}

/// Whether people approved this call and their approval may still be used.
fn usable(stored: &Stored, moment: &Moment<'_>) -> bool {
    moment.run.cancel_at.is_none()
        && counted(stored).len() >= quorum(&stored.row.terms)
        && stored.row.usable_until.is_some_and(|until| moment.now < until)
}

/// Takes the claim back: the row may be claimed once more.
fn again(next: &mut Stored) {
    let row = &mut next.row;
    row.state = RowState::Approved;
    row.claim = None;
    row.claimed_at = None;
    row.call_deadline = None;
    row.outcome = None;
    row.ended_at = None;
    next.claimer = None;
}

/// Whether the host said that this claim's call did not happen, and nobody has settled it since. Then the claimer's word
/// no longer decides, even where a contradiction put its claim back: a person says what happened.
pub(super) fn taken_back(stored: &Stored, word: &Reconcile) -> bool {
    word.answer == Reconciled::DidNot && stored.row.settled.is_none()
}

/// What the first claimer says after the host has spoken. If that is not what the host said, a second claim is not made:
/// the row is uncertain again, and a person says what happened.
pub(super) fn late(stored: &Stored, word: &Reconcile, outcome: &Outcome, now: Time) -> Change {
    if let Outcome::Unknown(_) = outcome {
        return Change::nothing(stored);
    }
    let contradiction = Outcome::Unknown(format!(
        "the host says that it did not happen, the call itself: {}",
        outcome.kind()
    ));
    if stored.row.outcome.as_ref() == Some(&contradiction) {
        return Change::nothing(stored);
    }
    let agrees = matches!(outcome, Outcome::NotSent(_));
    let kind = if agrees { Kind::Confirmed } else { Kind::Contradicted };
    let event = about(kind, stored).with("claim", word.claim.as_str()).outcome(outcome);
    let mut next = stored.clone();
    if agrees || stored.row.state != RowState::Approved {
        return Change::new(next, event);
    }
    let row = &mut next.row;
    row.state = RowState::Uncertain;
    row.claim = Some(word.claim.clone());
    row.claimed_at = word.claimed_at;
    row.call_deadline = Some(word.call_deadline.unwrap_or(now));
    row.outcome = Some(contradiction);
    row.ended_at = Some(now);
    next.claimer = Some(Claimer { holder: word.holder.clone(), fence: word.fence, open: false });
    Change { step: Some(StepState::Uncertain), ..Change::new(next, event).waking() }
}
