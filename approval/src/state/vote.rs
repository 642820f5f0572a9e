//! pending -> approved | answered | rejected

use super::people::{counted, may_vote, quorum};
use super::{Change, Moment, Refusal, Stored, about, not_over, same_bytes, seen};
use crate::clock::Time;
use crate::event::{Kind, What};
use crate::row::{Decision, RowState, USABLE_MS, Vote};
use crate::storage::StoreError;

/// One person's vote. A no rejects; the yes that fills the quorum approves, or answers a question without a call; the
/// same person's yes again changes nothing.
pub fn decide(stored: &Stored, moment: &Moment<'_>, decision: &Decision) -> Result<Change, Refusal> {
    undecided(stored, moment)?;
    not_over(stored, moment)?;
    same_bytes(&stored.row, decision.seen)?;
    may_vote(stored, moment.run, &decision.by)?;

    let vote = Vote {
        by: decision.by.clone(),
        yes: decision.yes,
        digest: decision.seen,
        edits: u32::try_from(stored.row.edits.len()).unwrap_or(u32::MAX),
        at: moment.now,
        reason: decision.reason.clone(),
    };
    let votes = &stored.row.votes;
    let before = votes.iter().position(|v| v.by.is(&vote.by) && v.edits == vote.edits);
    if before.and_then(|at| votes.get(at)).is_some_and(|v| v.yes && vote.yes) {
        return Ok(Change::nothing(stored));
    }
    let mut next = stored.clone();
    if let Some(at) = before {
        next.row.votes.remove(at);
    }
    next.row.votes.push(vote.clone());

    let kind = conclude(&mut next, decision, moment.now);
    let event = word(about(kind, stored), decision);
    Ok(Change { vote: Some(vote), ..Change::new(next, event).waking() })
}

/// What a vote does to the other approved rows of a run that holds its effects: they are usable as long as this one.
pub fn extend(stored: &Stored, now: Time) -> Option<Stored> {
    let held = stored.row.state == RowState::Approved && super::lapse(stored, now).is_none();
    held.then(|| {
        let mut next = stored.clone();
        next.row.usable_until = Some(usable_until(now));
        next
    })
}

/// Refuses what somebody has decided already: what, who, when.
pub(super) fn undecided(stored: &Stored, moment: &Moment<'_>) -> Result<(), Refusal> {
    let row = &stored.row;
    let state = seen(stored, &moment.run.tenure, moment.now, moment.claimer_dead);
    match state {
        RowState::Pending | RowState::Cancelled | RowState::Expired => Ok(()),
        state => Err(StoreError::Decided {
            state,
            by: row.decided_by.clone().unwrap_or_default(),
            at: row.decided_at,
        }
        .into()),
    }
}

/// Draws the conclusion from the votes: the state, and the event that tells of it.
fn conclude(next: &mut Stored, decision: &Decision, now: Time) -> Kind {
    let people = counted(next);
    let filled = people.len() >= quorum(&next.row.terms);
    let by = if decision.yes {
        people.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    } else {
        decision.by.to_string()
    };
    let (state, kind) = match (decision.yes, next.row.call.is_some()) {
        (false, _) => (RowState::Rejected, Kind::Rejected),
        (true, _) if !filled => return Kind::Voted,
        (true, true) => (RowState::Approved, Kind::Approved),
        (true, false) => (RowState::Answered, Kind::Answered),
    };
    let row = &mut next.row;
    row.state = state;
    row.decided_at = Some(now);
    row.decided_by = Some(by);
    row.decision_reason.clone_from(&decision.reason);
    row.usable_until = (state == RowState::Approved).then(|| usable_until(now));
    kind
}

fn word(event: What, decision: &Decision) -> What {
    event
        .by(&decision.by)
        .with("yes", decision.yes)
        .digest("seen", &decision.seen)
        .with_some("reason", decision.reason.as_deref())
}

fn usable_until(now: Time) -> Time {
    Time(now.0.saturating_add(USABLE_MS))
}
