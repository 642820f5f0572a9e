//! claimed -> succeeded | failed | uncertain, and pending, approved -> cancelled

use super::{Change, Moment, Refusal, Stored, about, expire, reconcile};
use crate::clock::Time;
use crate::event::Kind;
use crate::outcome::Outcome;
use crate::row::{Person, RowState};
use crate::storage::StoreError;

/// What the claimer saw. It is keyed by the claim alone: neither the lease nor a cancel keeps it from being recorded.
///
/// An unknown outcome may be followed by a known one; a known one stays. After a person has spoken it becomes an event
/// and changes nothing else. The run's driver is woken only if it is not the claimer.
pub fn outcome(
    stored: &Stored,
    moment: &Moment<'_>,
    nonce: &str,
    outcome: &Outcome,
) -> Result<Change, Refusal> {
    let row = &stored.row;
    if let Some(word) = row.reconciled.as_ref().filter(|word| word.claim == nonce)
        && (row.claim.as_deref() != Some(nonce) || reconcile::taken_back(stored, word))
    {
        return Ok(reconcile::late(stored, word, outcome, moment.now));
    }
    if row.claim.as_deref() != Some(nonce) {
        return Err(StoreError::NotFound { what: "claim", id: nonce.to_owned() }.into());
    }
    if let Some(settled) = &row.settled {
        let kind = match (settled.happened, outcome) {
            (true, Outcome::Ok(_)) | (false, Outcome::NotSent(_)) => Kind::Confirmed,
            _ => Kind::Contradicted,
        };
        let event = about(kind, stored).with("claim", nonce).outcome(outcome);
        return Ok(Change::new(stored.clone(), event));
    }
    if row.outcome.as_ref() == Some(outcome) {
        return Ok(Change::nothing(stored));
    }
    if !matches!(row.state, RowState::Claimed | RowState::Uncertain) {
        return Err(StoreError::NotNow(row.state).into());
    }
    let mut next = stored.clone();
    next.row.state = match outcome {
        Outcome::Ok(_) => RowState::Succeeded,
        Outcome::Failed(_) | Outcome::NotSent(_) => RowState::Failed,
        Outcome::Unknown(_) => RowState::Uncertain,
    };
    next.row.outcome = Some(outcome.clone());
    next.row.ended_at = Some(moment.now);
    if let Some(claimer) = &mut next.claimer {
        claimer.open = false;
    }
    let event = about(Kind::Outcome, stored).with("claim", nonce).outcome(outcome);
    let by_driver = stored.claimer.as_ref().is_some_and(|claimer| {
        let tenure = &moment.run.tenure;
        tenure.fence == claimer.fence && tenure.holder.as_ref() == Some(&claimer.holder)
    });
    Ok(Change { wake: !by_driver, ..Change::new(next, event) })
}

/// Cancels a row that nobody claimed; of others, nothing. One that lapsed is written down as expired.
pub fn cancel(stored: &Stored, by: Option<&Person>, reason: Option<&str>, now: Time) -> Option<Change> {
    if !matches!(stored.row.state, RowState::Pending | RowState::Approved) {
        return None;
    }
    if let Some(expired) = expire(stored, now) {
        return Some(expired);
    }
    let mut next = stored.clone();
    let row = &mut next.row;
    row.state = RowState::Cancelled;
    row.decided_at = Some(now);
    row.usable_until = None;
    row.decided_by = Some(by.map_or_else(|| "the end of its run".to_owned(), ToString::to_string));
    row.decision_reason = reason.map(str::to_owned);
    Some(Change::new(next, about(Kind::Cancelled, stored)))
}
