//! Who drives a run; parking, ending and cancelling it.

use super::*;

pub fn one_drives(bench: &dyn Bench) {
    let mut w = World::new(bench);
    assert_eq!((w.lease.fence, w.lease.until, w.lease.wake), (1, at(30_000), 0));
    let other = w.store.holder().unwrap();
    assert_ne!(other, w.holder);
    let busy = LeaseAnswer::Busy { until: at(30_000) };
    assert_eq!(w.store.lease(w.run(), &other), Ok(busy.clone()));
    assert_eq!(w.store.lease(w.run(), &w.holder), Ok(busy), "nor the same holder twice");
    w.clock.pass(10_000);
    w.renew();
    assert_eq!((w.lease.until, w.lease.steady_until), (at(40_000), w.clock.steady() + 30_000));
    w.clock.pass(30_000);
    let lost = StoreError::LeaseLost(w.run().clone());
    assert_eq!(w.store.renew(&w.lease), Err(lost.clone()), "it has run out, though nobody took it");
    let theirs = taken(w.store.lease(w.run(), &other).unwrap());
    assert_eq!(theirs.fence, 2);
    for refused in [
        w.store.renew(&w.lease),
        w.store.record(&w.lease, &[step("mail", StepState::Done)]),
        w.store.park(&w.lease).map(|_| w.lease.clone()),
        w.store.end(&w.lease, RunState::Done, None).map(|_| w.lease.clone()),
    ] {
        assert_eq!(refused, Err(lost.clone()));
    }
    assert_eq!(w.step_state("mail"), None);
    let forged = Lease { fence: 2, ..w.lease.clone() };
    assert_eq!(w.store.renew(&forged), Err(lost), "the fence of another");
    assert_eq!(w.kinds(None), ["started", "leased"]);
}

/// A driver that takes its own run again after the lease ran out has a new fence; the old lease is worth nothing.
pub fn the_fence_counts_and_not_only_the_holder(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.approved();
    w.clock.pass(AFTER_LEASE);
    let again = taken(w.store.lease(w.run(), &w.holder).unwrap());
    assert_eq!((again.fence, &again.holder), (2, &w.holder));
    let lost = StoreError::LeaseLost(w.run().clone());
    assert_eq!(w.store.renew(&w.lease), Err(lost.clone()));
    assert_eq!(w.claim(&row).map(drop), Err(lost));
    w.store.renew(&again).unwrap();
}

pub fn a_dead_drivers_run_is_taken_at_once(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let mortal = bench.mortal();
    w.park();
    w.lease = taken(w.store.lease(w.run(), &mortal.holder).unwrap());
    let other = w.store.holder().unwrap();
    assert!(matches!(w.store.lease(w.run(), &other), Ok(LeaseAnswer::Busy { .. })));
    (mortal.kill)();
    assert_eq!(taken(w.store.lease(w.run(), &other).unwrap()).fence, 3);
}

pub fn starting_again_is_the_same_run(bench: &dyn Bench) {
    let w = World::new(bench);
    let new = new_run(w.run());
    assert_eq!(w.store.start(&new, &w.holder), Ok(w.lease.clone()), "the first answer was lost");
    let other = w.store.holder().unwrap();
    assert!(matches!(w.store.start(&new, &other), Err(StoreError::NotAllowed(_))));
    let changed = NewRun { plan: b"{}".to_vec().into(), ..new };
    assert!(matches!(w.store.start(&changed, &w.holder), Err(StoreError::NotAllowed(_))));
    assert_eq!(w.kinds(None), ["started"]);
}

pub fn steps_are_written_all_or_none(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let many: Vec<StepWrite> = (0..200).map(|i| step(&format!("s{i:03}"), StepState::Done)).collect();
    w.clock.pass(5_000);
    w.lease = w.store.record(&w.lease, &many).unwrap();
    assert_eq!(w.lease.until, at(35_000), "and the lease renewed with it");
    assert_eq!(w.store.steps(w.run()).unwrap(), many);
    let again = StepWrite { detail: (*b"{\"n\":1.10}").into(), ..step("s007", StepState::Failed) };
    w.store.record(&w.lease, std::slice::from_ref(&again)).unwrap();
    assert_eq!(bench.handle().steps(w.run()).unwrap()[7], again);
}

pub fn a_decision_is_never_parked_over(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.asked();
    let lease = w.store.renew(&w.lease).unwrap();
    w.vote(&row, "bob", true).unwrap();
    let ParkAnswer::LookAgain(lease) = w.store.park(&lease).unwrap() else {
        panic!("parked over a decision")
    };
    assert_eq!(lease.wake, 1);
    assert_eq!(w.store.run(w.run()).unwrap().state, RunState::Running);
    assert_eq!(w.store.park(&lease), Ok(ParkAnswer::Released));
    let run = w.store.run(w.run()).unwrap();
    assert_eq!((run.state, run.holder, run.lease_until, run.driven), (RunState::Parked, None, None, false));
    assert_eq!(w.kinds(None), ["started", "parked"]);
}

pub fn an_expiry_is_never_parked_over(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.ask(&under(Terms { deadline_ms: 10_000, ..Terms::default() }));
    w.clock.pass(10_000);
    assert_eq!(w.state(&row), RowState::Expired);
    assert!(matches!(w.store.park(&w.lease), Ok(ParkAnswer::LookAgain(_))));
}

pub fn a_parked_run_is_taken_up(bench: &dyn Bench) {
    let mut w = World::new(bench);
    w.park();
    assert!(matches!(w.store.renew(&w.lease), Err(StoreError::LeaseLost(_))));
    w.clock.pass(86_400_000);
    w.take();
    let run = w.store.run(w.run()).unwrap();
    assert_eq!((run.state, run.fence, run.driven), (RunState::Running, 2, true));
}

pub fn ending_is_final(bench: &dyn Bench) {
    let w = World::new(bench);
    w.clock.pass(700);
    assert!(matches!(w.store.end(&w.lease, RunState::Running, None), Err(StoreError::NotAllowed(_))));
    assert!(matches!(w.store.end(&w.lease, RunState::Cancelled, None), Err(StoreError::NotAllowed(_))));
    assert_eq!(w.store.end(&w.lease, RunState::Failed, Some("lint failed")), Ok(ParkAnswer::Released));
    let run = w.store.run(w.run()).unwrap();
    assert_eq!((run.state, run.updated), (RunState::Failed, at(700)));
    assert_eq!(run.reason.as_deref(), Some("lint failed"));
    assert_eq!(w.store.lease(w.run(), &w.holder), Ok(LeaseAnswer::Ended(RunState::Failed)));
    assert_eq!(w.store.cancel(w.run(), &person("bob"), None), Ok(run));
    assert_eq!(w.kinds(None), ["started", "ended"]);
}

pub fn a_run_that_ends_leaves_nothing_to_decide(bench: &dyn Bench) {
    let w = World::new(bench);
    let (pending, approved) = (w.ask(&post("a", 0)), w.ask(&post("b", 0)));
    w.vote(&approved, "bob", true).unwrap();
    let lease = w.store.renew(&w.lease).unwrap();
    w.store.end(&lease, RunState::Failed, None).unwrap();
    assert_eq!(w.vote(&pending, "bob", true), Err(StoreError::Cancelled));
    assert_eq!(w.state(&approved), RowState::Cancelled);
}

pub fn attention_waits_for_a_person(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let row = w.asked();
    w.renew();
    let why = "slack.post has another definition";
    assert_eq!(w.store.end(&w.lease, RunState::Attention, Some(why)), Ok(ParkAnswer::Released));
    let run = w.store.run(w.run()).unwrap();
    assert_eq!((run.state, run.reason.as_deref()), (RunState::Attention, Some(why)));
    assert_eq!(w.state(&row), RowState::Pending, "its rows wait with it");
    w.take();
    assert_eq!(w.store.run(w.run()).unwrap().reason, None);
    assert_eq!(w.kinds(None), ["started", "attention", "leased"]);
}

pub fn cancelling_stops_what_is_not_claimed(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let (claimed, permit) = w.claimed();
    let (pending, approved) = (w.ask(&post("a", 0)), w.ask(&post("b", 0)));
    w.vote(&approved, "bob", true).unwrap();
    w.renew();
    let run = w.store.cancel(w.run(), &person("carol"), Some("wrong day")).unwrap();
    assert_eq!((run.state, run.cancel_at, run.wake), (RunState::Running, Some(at(0)), w.lease.wake + 1));
    for row in [&pending, &approved] {
        let now = w.row(&row.id);
        assert_eq!((now.state, now.decided_by.as_deref()), (RowState::Cancelled, Some("os:carol")));
        assert_eq!(now.decision_reason.as_deref(), Some("wrong day"));
        assert_eq!(w.claim(row).map(drop), Err(StoreError::Cancelled));
    }
    assert_eq!(w.vote(&pending, "bob", true), Err(StoreError::Cancelled));
    assert_eq!(w.try_ask(&post("c", 0)), Err(StoreError::Cancelled));
    assert_eq!(w.state(&claimed), RowState::Claimed, "asked to stop, not undone");

    // The driver records what its calls brought, and ends the run.
    assert!(matches!(w.store.park(&w.lease), Ok(ParkAnswer::LookAgain(_))));
    w.lease = w.store.record(&w.lease, &[step("mail", StepState::Cancelled)]).unwrap();
    assert!(w.lease.cancelled);
    w.outcome(permit.claim(), &ok()).unwrap();
    assert_eq!(w.store.park(&w.lease), Err(StoreError::Cancelled));
    assert_eq!(w.store.end(&w.lease, RunState::Done, None), Err(StoreError::Cancelled));
    assert_eq!(w.store.end(&w.lease, RunState::Cancelled, None), Ok(ParkAnswer::Released));
    let run = w.store.run(w.run()).unwrap();
    assert_eq!((run.state, run.reason.as_deref()), (RunState::Cancelled, Some("wrong day")));
    assert_eq!(w.kinds(None), ["started", "cancelled", "ended"]);
}

pub fn nobody_cancels(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let row = w.asked();
    for driven in [true, false] {
        for by in [
            Person { subject: String::new(), ..person("x") },
            Person { issuer: String::new(), ..person("x") },
        ] {
            let refused = w.store.cancel(w.run(), &by, None);
            assert!(matches!(refused, Err(StoreError::NotAllowed(_))), "{refused:?}");
        }
        let run = w.store.run(w.run()).unwrap();
        assert_eq!((run.cancel_at, w.state(&row)), (None, RowState::Pending));
        if driven {
            w.park();
        }
    }
    assert!(!w.kinds(None).contains(&"cancelled".to_owned()));
}

pub fn cancelling_an_undriven_run_ends_it(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let row = w.asked();
    w.store.record(&w.lease, &[step("mail", StepState::Done), step("cal", StepState::Running)]).unwrap();
    w.park();
    let run = w.store.cancel(w.run(), &person("carol"), None).unwrap();
    assert_eq!((run.state, run.driven), (RunState::Cancelled, false));
    assert_eq!(w.state(&row), RowState::Cancelled);
    assert_eq!(w.step_state("mail"), Some(StepState::Done), "what ended stays");
    assert_eq!(w.step_state("cal"), Some(StepState::Cancelled));
    assert_eq!(w.step_state("post/gate"), Some(StepState::Cancelled));
    assert_eq!(w.store.cancel(w.run(), &person("dan"), None), Ok(run), "once");
    assert_eq!(w.kinds(None), ["started", "parked", "cancelled", "ended"]);
}

pub fn a_driver_that_dies_after_a_cancel_leaves_a_run_that_ends(bench: &dyn Bench) {
    let w = World::new(bench);
    let (row, _permit) = w.claimed();
    w.store.cancel(w.run(), &person("carol"), Some("wrong day")).unwrap();
    assert_eq!(ended(&*w.store, w.run()), RunState::Running);
    w.clock.pass(AFTER_LEASE);
    let run = w.store.cancel(w.run(), &person("dan"), None).unwrap();
    assert_eq!((run.state, run.reason.as_deref()), (RunState::Cancelled, Some("wrong day")));
    assert_eq!(w.state(&row), RowState::Uncertain);
    assert_eq!(w.step_state("post"), Some(StepState::Uncertain));
    assert_eq!(w.kinds(Some(&row.id)), ["asked", "approved", "claimed", "uncertain"]);
}
