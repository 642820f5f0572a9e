//! Who drives a run, and how it is laid down.

use std::sync::Arc;

use super::{RunHead, Tenure};
use crate::clock::Time;
use crate::run::{Holder, LEASE_MS, Lease, NewRun, RunState};
use crate::storage::StoreError;

/// What came of asking for a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The run with its new driver.
    Yes(Box<RunHead>),
    /// Another drives it.
    Busy(Time),
    /// It has ended.
    Ended(RunState),
}

/// A run that starts, with its first driver.
pub fn start(new: &NewRun, plan: plangate_graph::Digest, holder: &Holder, now: Time) -> RunHead {
    RunHead {
        id: new.id.clone(),
        plan,
        requester: Arc::new(new.requester.clone()),
        hold_siblings: new.hold_siblings,
        state: RunState::Running,
        reason: None,
        tenure: Tenure { fence: 1, holder: Some(holder.clone()), lease_until: Some(until(now)) },
        wake: 0,
        cancel_at: None,
        updated: now,
    }
}

/// Takes the lease if nobody holds it, it ran out, or its holder is known dead. The fence grows.
pub fn take(run: &RunHead, holder: &Holder, holder_dead: bool, now: Time) -> Taken {
    if run.state.ended() {
        return Taken::Ended(run.state);
    }
    if let (true, false, Some(until)) = (run.tenure.live(now), holder_dead, run.tenure.lease_until) {
        return Taken::Busy(until);
    }
    let mut next = run.clone();
    next.tenure = Tenure {
        fence: run.tenure.fence.saturating_add(1),
        holder: Some(holder.clone()),
        lease_until: Some(until(now)),
    };
    next.state = RunState::Running;
    if next.cancel_at.is_none() {
        next.reason = None;
    }
    Taken::Yes(Box::new(next))
}

/// Refuses whoever is not the run's driver, or whose lease has run out. A cancelled run is still held: what its calls
/// brought is recorded and the run ended under the same lease.
pub fn held(run: &RunHead, lease: &Lease, now: Time) -> Result<(), StoreError> {
    let tenure = &run.tenure;
    let held = run.id == lease.run
        && tenure.fence == lease.fence
        && tenure.holder.as_ref() == Some(&lease.holder)
        && tenure.live(now);
    if held { Ok(()) } else { Err(StoreError::LeaseLost(lease.run.clone())) }
}

/// The run with its lease renewed, if it is [held](held).
pub fn hold(mut run: RunHead, lease: &Lease, now: Time) -> Result<RunHead, StoreError> {
    held(&run, lease, now)?;
    run.tenure.lease_until = Some(until(now));
    Ok(run)
}

/// Refuses to start anything under a lease that is lost, or in a run that was cancelled.
pub fn may_start(run: &RunHead, lease: &Lease, now: Time) -> Result<(), StoreError> {
    held(run, lease, now)?;
    if run.cancel_at.is_some() { Err(StoreError::Cancelled) } else { Ok(()) }
}

/// The run laid down: parked, needing attention, or ended. Nothing if something was decided since the driver looked.
pub fn release(
    run: &RunHead,
    lease: &Lease,
    state: RunState,
    reason: Option<&str>,
    now: Time,
) -> Result<Option<RunHead>, StoreError> {
    held(run, lease, now)?;
    if run.wake != lease.wake {
        return Ok(None);
    }
    match (state, run.cancel_at) {
        (RunState::Running, _) => {
            return Err(StoreError::NotAllowed("a run is not laid down as running".into()));
        }
        (RunState::Cancelled, Some(_)) => {}
        (RunState::Cancelled, None) => {
            return Err(StoreError::NotAllowed("nobody cancelled this run".into()));
        }
        (_, Some(_)) => return Err(StoreError::Cancelled),
        (_, None) => {}
    }
    Ok(Some(laid_down(run, state, reason, now)))
}

/// The run with its cancel mark, ended at once if nobody drives it. Nothing if there is nothing to write.
pub fn mark_cancelled(run: &RunHead, reason: Option<&str>, driven: bool, now: Time) -> Option<RunHead> {
    if run.state.ended() || (run.cancel_at.is_some() && driven) {
        return None;
    }
    let mut next = run.clone();
    if next.cancel_at.is_none() {
        next.cancel_at = Some(now);
        next.reason = reason.map(str::to_owned);
        next.wake = next.wake.saturating_add(1);
    }
    Some(if driven { next } else { laid_down(&next, RunState::Cancelled, None, now) })
}

/// The lease as its driver holds it. `steady` was read before the verb, so that it ends here no later than in the store.
pub fn lease_of(run: &RunHead, holder: &Holder, steady: i64) -> Lease {
    Lease {
        run: run.id.clone(),
        holder: holder.clone(),
        fence: run.tenure.fence,
        until: run.tenure.lease_until.unwrap_or_default(),
        steady_until: steady.saturating_add(LEASE_MS),
        wake: run.wake,
        cancelled: run.cancel_at.is_some(),
    }
}

fn laid_down(run: &RunHead, state: RunState, reason: Option<&str>, now: Time) -> RunHead {
    let mut next = run.clone();
    next.state = state;
    next.tenure.holder = None;
    next.tenure.lease_until = None;
    next.updated = now;
    if let Some(reason) = reason {
        next.reason = Some(reason.to_owned());
    }
    next
}

fn until(now: Time) -> Time {
    Time(now.0.saturating_add(LEASE_MS))
}
