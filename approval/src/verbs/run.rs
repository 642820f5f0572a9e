//! Verbs of a run.

use super::{OpenStates, Tables, Verb, apply, run_head};
use crate::event::{Kind, What};
use crate::row::Person;
use crate::run::{Holder, Lease, NewRun, Run, RunId, RunState, StepWrite};
use crate::state::{self, RunHead, Taken, lease_of};
use crate::storage::{Accepted, LeaseAnswer, ParkAnswer, StoreError};

pub(crate) fn start<T: Tables>(t: &mut T, new: &NewRun, holder: &Holder, steady: i64) -> Verb<Lease> {
    let plan = new.plan.digest();
    if let Some(head) = t.head(&new.id)? {
        // The same driver asks again because it did not hear the first answer.
        let tenure = &head.tenure;
        let same = head.plan == plan && tenure.fence == 1 && tenure.holder.as_ref() == Some(holder);
        let taken = || StoreError::NotAllowed(format!("there is a run {} already", new.id));
        return Ok(if same { Ok(lease_of(&head, holder, steady)) } else { Err(taken()) });
    }
    let head = state::start(new, plan, holder, t.now());
    t.add_run(new, &head)?;
    t.append(
        &What::new(Kind::Started, &new.id)
            .digest("plan", &plan)
            .by(&new.requester)
            .with("author", new.author.as_str()),
    )?;
    Ok(Ok(lease_of(&head, holder, steady)))
}

pub(crate) fn lease<T: Tables>(t: &mut T, run: &RunId, holder: &Holder, steady: i64) -> Verb<LeaseAnswer> {
    let head = granted!(run_head(t, run)?);
    let dead = holder_dead(t, &head)?;
    let mut head = match state::take(&head, holder, dead, t.now()) {
        Taken::Yes(head) => *head,
        Taken::Busy(until) => return Ok(Ok(LeaseAnswer::Busy { until })),
        Taken::Ended(state) => return Ok(Ok(LeaseAnswer::Ended(state))),
    };
    t.save_head(&head)?;
    t.append(
        &What::new(Kind::Leased, run).with("fence", head.tenure.fence).with("holder", holder.0.as_str()),
    )?;
    lose_claims(t, &mut head)?;
    Ok(Ok(LeaseAnswer::Taken(lease_of(&head, holder, steady))))
}

/// Renews the lease and writes these steps.
pub(crate) fn record<T: Tables>(t: &mut T, lease: &Lease, steps: &[StepWrite], steady: i64) -> Verb<Lease> {
    let head = granted!(run_head(t, &lease.run)?);
    let head = granted!(state::hold(head, lease, t.now()));
    t.save_head(&head)?;
    steps.iter().try_for_each(|step| t.write_step(&lease.run, step))?;
    Ok(Ok(lease_of(&head, &lease.holder, steady)))
}

/// Lays the run down: parked, needing attention, or ended.
pub(crate) fn release<T: Tables>(
    t: &mut T,
    lease: &Lease,
    to: RunState,
    reason: Option<&str>,
    steady: i64,
) -> Verb<ParkAnswer> {
    let head = granted!(run_head(t, &lease.run)?);
    let Some(mut next) = granted!(state::release(&head, lease, to, reason, t.now())) else {
        let renewed = granted!(record(t, lease, &[], steady)?);
        return Ok(Ok(ParkAnswer::LookAgain(renewed)));
    };
    if to.ended() {
        cancel_rows(t, &mut next, None, Some("the run ended"))?;
    }
    t.save_head(&next)?;
    t.append(&laid_down(&next))?;
    Ok(Ok(ParkAnswer::Released))
}

/// Puts these documents in the place of the run's, and cancels what nobody claimed.
pub(crate) fn accept<T: Tables>(
    t: &mut T,
    lease: &Lease,
    by: &Person,
    accepted: &Accepted,
    steady: i64,
) -> Verb<Lease> {
    let head = granted!(run_head(t, &lease.run)?);
    let mut next = granted!(state::hold(head, lease, t.now()));
    if next.cancel_at.is_some() {
        return Ok(Err(StoreError::Cancelled));
    }
    granted!(state::named(by, "a change is accepted by a person"));
    next.plan = accepted.plan.digest();
    t.replace_documents(&next.id, accepted)?;
    t.append(
        &What::new(Kind::Accepted, &next.id)
            .by(by)
            .digest("plan", &next.plan)
            .digest("catalog", &accepted.catalog.digest())
            .digest("policy", &accepted.policy.digest())
            .with("reason", accepted.shown.as_str()),
    )?;
    cancel_rows(t, &mut next, Some(by), Some("what it was asked under has changed: it is asked again"))?;
    t.save_head(&next)?;
    Ok(Ok(lease_of(&next, &lease.holder, steady)))
}

pub(crate) fn cancel<T: Tables>(t: &mut T, run: &RunId, by: &Person, reason: Option<&str>) -> Verb<Run> {
    let head = granted!(run_head(t, run)?);
    granted!(state::named(by, "a run is cancelled by a person"));
    let now = t.now();
    let driven = head.tenure.live(now) && !holder_dead(t, &head)?;
    if let Some(mut next) = state::mark_cancelled(&head, reason, driven, now) {
        if head.cancel_at.is_none() {
            t.append(&What::new(Kind::Cancelled, run).by(by).with_some("reason", reason))?;
            cancel_rows(t, &mut next, Some(by), reason)?;
        }
        if next.state.ended() {
            lose_claims(t, &mut next)?;
            t.cancel_steps(run)?;
            t.append(&laid_down(&next))?;
        }
        t.save_head(&next)?;
    }
    super::read::run(t, run)
}

/// Whether a live lease belongs to a process that is known to be gone.
pub(super) fn holder_dead<T: Tables>(t: &mut T, head: &RunHead) -> Result<bool, StoreError> {
    match &head.tenure.holder {
        Some(holder) if head.tenure.live(t.now()) => t.dead(holder),
        _ => Ok(false),
    }
}

/// Writes down that the claimers of this run's open calls are gone. Their driver has just lost the run.
fn lose_claims<T: Tables>(t: &mut T, head: &mut RunHead) -> Result<(), StoreError> {
    for stored in t.open_rows(&head.id, OpenStates::Claimed)? {
        apply(t, head, &state::lose(&stored))?;
    }
    Ok(())
}

fn cancel_rows<T: Tables>(
    t: &mut T,
    head: &mut RunHead,
    by: Option<&Person>,
    reason: Option<&str>,
) -> Result<(), StoreError> {
    let now = t.now();
    for stored in t.open_rows(&head.id, OpenStates::Unclaimed)? {
        if let Some(change) = state::cancel(&stored, by, reason, now) {
            apply(t, head, &change)?;
        }
    }
    Ok(())
}

fn laid_down(run: &RunHead) -> What {
    let kind = match run.state {
        RunState::Parked => Kind::Parked,
        RunState::Attention => Kind::Attention,
        _ => Kind::Ended,
    };
    let what = What::new(kind, &run.id).with_some("reason", run.reason.as_deref());
    if kind == Kind::Ended { what.with("state", run.state.as_str()) } else { what }
}
