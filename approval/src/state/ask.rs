//! A new row: put before people, or born claimed under a rule.

use plangate_graph::policy::Terms;

use super::{Change, Claimer, Moment, Refusal, RunHead, Stored, about, expire, may_start, seen};
use crate::clock::Time;
use crate::event::Kind;
use crate::row::{NewRow, Row, RowId, RowState};
use crate::run::Lease;
use crate::storage::StoreError;

/// What came of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It was asked before, with the same bytes.
    Before,
    /// A new row, and the change that writes down that the one before it lapsed.
    New {
        /// The row, with its event.
        row: Box<Change>,
        /// What is written first.
        lapsed: Option<Box<Change>>,
    },
}

/// What was asked of the node before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Earlier<'a> {
    /// The row that has the run, node and ask number.
    pub same: Option<&'a Stored>,
    /// The row with the ask number before.
    pub last: Option<&'a Stored>,
}

/// A call that policy lets through.
#[derive(Clone, Copy, Debug)]
pub struct Waived<'a> {
    /// The rule, in words: the row's decider.
    pub rule: &'a str,
    /// The claimer's random 128 bits.
    pub nonce: &'a str,
    /// A pending row for which the run holds its effects.
    pub held_by: Option<&'a RowId>,
}

/// Puts a row.
///
/// A node is asked again only after its last row lapsed, or after a person said that its call did not happen.
pub fn ask(new: &NewRow, earlier: Earlier<'_>, moment: &Moment<'_>, lease: &Lease) -> Result<Asked, Refusal> {
    may_start(moment.run, lease, moment.now)?;
    if let Some(same) = earlier.same {
        same_question(new, &same.row)?;
        return Ok(Asked::Before);
    }
    let lapsed = may_follow(new, earlier.last, moment)?;
    let stored = fresh(new, moment.run, moment.now)?;
    let event = about(Kind::Asked, &stored)
        .with("node", new.node.as_str())
        .with("ask", u64::from(new.ask))
        .digest("digest", &new.digest)
        .with_some("server", new.call.as_ref().map(|call| call.server.as_str()))
        .with_some("tool", new.call.as_ref().map(|call| call.tool.as_str()))
        .time("expires", stored.row.expires);
    Ok(Asked::New { row: Box::new(Change::new(stored, event)), lapsed })
}

/// A row that is claimed as it is made, with a policy rule as decider. The same nonce again is the same claim.
pub fn born_claimed(
    new: &NewRow,
    waived: &Waived<'_>,
    earlier: Earlier<'_>,
    moment: &Moment<'_>,
    lease: &Lease,
) -> Result<Asked, Refusal> {
    if let Some(same) = earlier.same.filter(|same| same.row.claim.as_deref() == Some(waived.nonce)) {
        same_question(new, &same.row)?;
        return Ok(Asked::Before);
    }
    may_start(moment.run, lease, moment.now)?;
    if let Some(same) = earlier.same {
        same_question(new, &same.row)?;
        let state = seen(same, &moment.run.tenure, moment.now, moment.claimer_dead);
        return Err(StoreError::NotNow(state).into());
    }
    let lapsed = may_follow(new, earlier.last, moment)?;
    if let Some(row) = waived.held_by {
        return Err(StoreError::Held(row.clone()).into());
    }
    let mut stored = fresh(new, moment.run, moment.now)?;
    let Some(call) = &new.call else {
        return Err(StoreError::NotAllowed("a question has no call to be made".into()).into());
    };
    let row = &mut stored.row;
    row.state = RowState::Claimed;
    row.decided_at = Some(moment.now);
    row.decided_by = Some(waived.rule.to_owned());
    row.claim = Some(waived.nonce.to_owned());
    row.claimed_at = Some(moment.now);
    row.call_deadline = Some(Time(moment.now.0.saturating_add(call.timeout_ms)));
    stored.claimer = Some(Claimer { holder: lease.holder.clone(), fence: lease.fence, open: true });
    let event = about(Kind::Claimed, &stored)
        .with("node", new.node.as_str())
        .with("ask", u64::from(new.ask))
        .digest("digest", &new.digest)
        .with("server", call.server.as_str())
        .with("tool", call.tool.as_str())
        .with("rule", waived.rule)
        .with("claim", waived.nonce);
    Ok(Asked::New { row: Box::new(Change::new(stored, event)), lapsed })
}

/// Whether this ask number may follow on the last row of the node; gives the change that writes down its lapse.
fn may_follow(
    new: &NewRow,
    last: Option<&Stored>,
    moment: &Moment<'_>,
) -> Result<Option<Box<Change>>, StoreError> {
    let Some(last) = last else {
        if new.ask == 0 {
            return Ok(None);
        }
        let id = format!("{} of {} with ask number {}", new.node, new.run, new.ask - 1);
        return Err(StoreError::NotFound { what: "row", id });
    };
    match seen(last, &moment.run.tenure, moment.now, moment.claimer_dead) {
        RowState::DidNot | RowState::Expired => Ok(expire(last, moment.now).map(Box::new)),
        // Not with its run, which goes on: a person accepted a change.
        RowState::Cancelled => Ok(None),
        state => Err(StoreError::NotNow(state)),
    }
}

/// Refuses other bytes, another tool or other words than those of the row that stands.
fn same_question(new: &NewRow, row: &Row) -> Result<(), StoreError> {
    let asked = row.edited_from().unwrap_or(row.digest);
    if new.digest != asked {
        return Err(StoreError::Changed { stored: asked, seen: new.digest });
    }
    if let (Some(new), Some(old)) = (&new.call, &row.call)
        && new.definition != old.definition
    {
        return Err(StoreError::Changed { stored: old.definition, seen: new.definition });
    }
    let mut call = row.call.clone();
    if let (Some(call), Some(first)) = (&mut call, row.edits.first()) {
        call.args.clone_from(&first.args);
    }
    if new.call == call && new.question == row.question {
        return Ok(());
    }
    Err(StoreError::NotAllowed(format!("{} was asked about another call", row.node)))
}

fn fresh(new: &NewRow, run: &RunHead, now: Time) -> Result<Stored, StoreError> {
    if new.call.is_none() && new.question.is_none() {
        return Err(StoreError::NotAllowed("a row needs a call or a question".into()));
    }
    let row = Row {
        id: new.id.clone(),
        run: new.run.clone(),
        node: new.node.clone(),
        ask: new.ask,
        call: new.call.clone(),
        digest: new.digest,
        edits: Vec::new(),
        question: new.question.clone(),
        reason: new.reason.clone(),
        policy: new.policy,
        terms: Terms { quorum: new.terms.quorum.max(1), ..new.terms.clone() },
        plan: run.plan,
        state: RowState::Pending,
        created: now,
        expires: Time(now.0.saturating_add(new.terms.deadline_ms)),
        decided_at: None,
        usable_until: None,
        decided_by: None,
        decision_reason: None,
        key: new.key.clone(),
        votes: Vec::new(),
        claim: None,
        claimed_at: None,
        call_deadline: None,
        outcome: None,
        ended_at: None,
        reconciled: None,
        settled: None,
        shown: Vec::new(),
    };
    super::same_bytes(&row, new.digest)?;
    Ok(Stored { row, claimer: None })
}
