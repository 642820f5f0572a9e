//! approved -> claimed

use plangate_graph::Digest;

use super::people::{counted, quorum};
use super::{Change, Claimer, Moment, Refusal, Stored, about, lease, not_over, same_bytes, seen};
use crate::clock::Time;
use crate::event::Kind;
use crate::row::{RowId, RowState};
use crate::run::Lease;
use crate::storage::StoreError;

/// What a claimer brings along.
#[derive(Clone, Copy, Debug)]
pub struct ClaimOf<'a> {
    /// The lease it drives under.
    pub lease: &'a Lease,
    /// Random 128 bits, its own.
    pub nonce: &'a str,
    /// Digest of the bytes that it holds to be approved.
    pub digest: Digest,
    /// Digest of the tool's definition as it is now.
    pub definition: Digest,
    /// A pending row for which the run holds its effects.
    pub held_by: Option<&'a RowId>,
}

/// Takes an approved row to make its call. The same nonce again is the same claim, whatever became of it since.
pub fn claim(stored: &Stored, moment: &Moment<'_>, of: &ClaimOf<'_>) -> Result<Change, Refusal> {
    if stored.row.claim.as_deref() == Some(of.nonce) {
        return Ok(Change::nothing(stored));
    }
    lease::held(moment.run, of.lease, moment.now)?;
    if stored.row.reconciled.as_ref().is_some_and(|word| word.claim == of.nonce) {
        // The claim that the host was asked about is over, whatever its claimer thinks.
        return Err(StoreError::NotNow(stored.row.state).into());
    }
    let Some(call) = &stored.row.call else {
        return Err(StoreError::NotAllowed("a question has no call to be made".into()).into());
    };
    match seen(stored, &moment.run.tenure, moment.now, moment.claimer_dead) {
        RowState::Approved | RowState::Cancelled | RowState::Expired => {}
        state => return Err(StoreError::NotNow(state).into()),
    }
    not_over(stored, moment)?;
    same_bytes(&stored.row, of.digest)?;
    if call.definition != of.definition {
        return Err(StoreError::Changed { stored: call.definition, seen: of.definition }.into());
    }
    if counted(stored).len() < quorum(&stored.row.terms) {
        return Err(StoreError::NotAllowed("the row says approved, but lacks the votes for it".into()).into());
    }
    if let Some(row) = of.held_by {
        return Err(StoreError::Held(row.clone()).into());
    }

    let mut next = stored.clone();
    next.row.state = RowState::Claimed;
    next.row.claim = Some(of.nonce.to_owned());
    next.row.claimed_at = Some(moment.now);
    next.row.call_deadline = Some(Time(moment.now.0.saturating_add(call.timeout_ms)));
    next.claimer = Some(Claimer { holder: of.lease.holder.clone(), fence: of.lease.fence, open: true });
    let event = about(Kind::Claimed, stored)
        .digest("digest", &of.digest)
        .with("server", call.server.as_str())
        .with("tool", call.tool.as_str())
        .with("claim", of.nonce);
    Ok(Change::new(next, event))
}
