//! Many at once: one wins, the others are told.

use std::sync::Barrier;
use std::thread;

use super::*;

const THREADS: usize = 64;

/// How often a race is run: in full where `PLANGATE_FULL` says so.
fn times(few: usize, full: usize) -> usize {
    if std::env::var_os("PLANGATE_FULL").is_some() { full } else { few }
}

/// Runs this on many threads that start together, each with a handle of its own where the store has several.
fn together<T: Send>(
    bench: &dyn Bench,
    one: impl Fn(usize, Approvals<Arc<dyn Storage>>) -> T + Sync,
) -> Vec<T> {
    let start = Barrier::new(THREADS);
    // Four handles, shared: as four processes with sixteen threads each.
    let handles: Vec<Arc<dyn Storage>> = (0..4).map(|_| bench.handle()).collect();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|i| {
                let (start, one, store) = (&start, &one, Arc::clone(&handles[i % 4]));
                scope.spawn(move || {
                    start.wait();
                    one(i, Approvals::new(store))
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

pub fn one_decides(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.asked();
    let answers = together(bench, |i, approvals| {
        approvals.decide(&decision(&row, &person(&format!("p{i}")), i % 2 == 0))
    });
    let won: Vec<_> = answers.iter().filter_map(|a| a.as_ref().ok()).collect();
    assert_eq!(won.len(), 1);
    for answer in &answers {
        if let Err(refusal) = answer {
            let told = StoreError::Decided {
                state: won[0].state,
                by: won[0].decided_by.clone().unwrap(),
                at: won[0].decided_at,
            };
            assert_eq!(*refusal, told);
        }
    }
    assert_eq!(w.row(&row.id).votes.len(), 1);
}

pub fn a_quorum_is_filled_once(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.ask(&under(Terms { quorum: 10, ..Terms::default() }));
    let answers =
        together(bench, |i, approvals| approvals.decide(&decision(&row, &person(&format!("p{i}")), true)));
    let counted = answers.iter().filter(|a| a.is_ok()).count();
    let filled = answers.iter().filter(|a| a.as_ref().is_ok_and(|r| r.state == RowState::Approved)).count();
    assert_eq!((counted, filled), (10, 1));
    assert_eq!(w.kinds(Some(&row.id)).iter().filter(|k| *k == "approved").count(), 1);
}

pub fn one_claims(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.approved();
    let answers = together(bench, |_, approvals| {
        approvals.claim(&w.lease, &row, definition(), &step("post", StepState::Running))
    });
    assert_eq!(answers.iter().filter(|a| a.is_ok()).count(), 1);
    for answer in answers {
        match answer {
            Ok(permit) => assert_eq!(w.row(&row.id).claim.as_ref(), Some(&permit.claim().nonce)),
            Err(refusal) => assert_eq!(refusal, StoreError::NotNow(RowState::Claimed)),
        }
    }
    assert_eq!(w.kinds(Some(&row.id)), ["asked", "approved", "claimed"]);
}

/// As many runs as threads, each with its approved row about the very same call.
pub fn one_of_the_very_same_calls_is_made(bench: &dyn Bench) {
    let repeat = Some(plangate_graph::policy::Repeat { within_ms: 86_400_000, rejected: false });
    let worlds: Vec<(World, Row)> = (0..THREADS)
        .map(|_| {
            let w = World::new(bench);
            let row = w.ask(&under(Terms { repeat, ..Terms::default() }));
            let row = w.vote(&row, "bob", true).unwrap();
            (w, row)
        })
        .collect();
    let answers = together(bench, |i, approvals| {
        let (w, row) = &worlds[i];
        approvals.claim(&w.lease, row, definition(), &step("post", StepState::Running)).map(drop)
    });
    let won = answers.iter().position(Result::is_ok).unwrap();
    for (i, answer) in answers.iter().enumerate().filter(|(i, _)| *i != won) {
        let Err(StoreError::Repeated { run, .. }) = answer else { panic!("{i}: {answer:?}") };
        assert_eq!(run, worlds[won].0.run());
    }
}

pub fn one_is_born_claimed(bench: &dyn Bench) {
    let w = World::new(bench);
    let ask = Ask { node: "post".into(), ..post("post", 0) };
    let answers = together(bench, |_, approvals| {
        approvals.claim_unasked(&w.lease, &ask, "allow", &step("post", StepState::Running)).map(drop)
    });
    assert_eq!(answers.iter().filter(|a| a.is_ok()).count(), 1);
    assert_eq!(w.store.rows(Some(w.run())).unwrap().len(), 1);
}

pub fn one_leases(bench: &dyn Bench) {
    let w = World::new(bench);
    w.clock.pass(AFTER_LEASE);
    let answers = together(bench, |_, approvals| {
        approvals.store().lease(w.run(), &approvals.store().holder().unwrap()).unwrap()
    });
    let won = answers.iter().filter(|a| matches!(a, LeaseAnswer::Taken(_))).count();
    assert_eq!(won, 1);
    assert!(answers.iter().all(|a| !matches!(a, LeaseAnswer::Ended(_))));
}

/// A decision and a driver about to park: it parks before, and the decision is there for the next driver, or it looks
/// again. Never both at rest with an answer lying between them.
pub fn no_wake_up_is_lost(bench: &dyn Bench) {
    let mut seen = 0;
    // One handle each, open all the while: to open and close the last one of a file costs more than the race.
    let (driver, other) = (bench.handle(), Approvals::new(bench.handle()));
    for _ in 0..times(100, 1_000) {
        let mut w = World::on(Arc::clone(&driver), bench.clock(), |_| {});
        let row = w.asked();
        w.renew();
        let start = Barrier::new(2);
        let (parked, decided) = thread::scope(|scope| {
            let decider = scope.spawn(|| {
                start.wait();
                other.decide(&decision(&row, &person("bob"), true))
            });
            start.wait();
            (w.store.park(&w.lease).unwrap(), decider.join().unwrap())
        });
        assert_eq!(decided.unwrap().state, RowState::Approved);
        let kinds = order(&w, seen);
        seen += kinds.len() as u64;
        match parked {
            ParkAnswer::LookAgain(lease) => {
                assert_eq!(lease.wake, 1);
                assert_eq!(kinds, ["started", "asked", "approved"]);
            }
            ParkAnswer::Released => assert_eq!(kinds, ["started", "asked", "parked", "approved"]),
        }
    }
}

/// Cancel and claim at once: one of them wins, never both.
pub fn cancel_or_claim(bench: &dyn Bench) {
    for _ in 0..50 {
        let w = World::new(bench);
        let row = w.approved();
        let start = Barrier::new(2);
        let other = bench.handle();
        let (claimed, cancelled) = thread::scope(|scope| {
            let canceller = scope.spawn(|| {
                start.wait();
                other.cancel(w.run(), &person("carol"), None)
            });
            start.wait();
            (w.claim(&row).map(drop), canceller.join().unwrap())
        });
        assert!(cancelled.unwrap().cancel_at.is_some());
        match claimed {
            Ok(()) => assert_eq!(w.state(&row), RowState::Claimed),
            Err(refusal) => {
                assert_eq!(refusal, StoreError::Cancelled);
                assert_eq!(w.state(&row), RowState::Cancelled);
            }
        }
    }
}

/// Cancel and the last vote at once: whoever voted hears yes or that it was cancelled, and nothing is left to be claimed.
pub fn cancel_or_approve(bench: &dyn Bench) {
    for _ in 0..times(50, 500) {
        let w = World::new(bench);
        let row = w.asked();
        let start = Barrier::new(2);
        let other = bench.handle();
        let (voted, cancelled) = thread::scope(|scope| {
            let canceller = scope.spawn(|| {
                start.wait();
                other.cancel(w.run(), &person("carol"), None)
            });
            start.wait();
            (w.vote(&row, "bob", true), canceller.join().unwrap())
        });
        assert!(cancelled.unwrap().cancel_at.is_some());
        let before: &[&str] = match voted {
            Ok(row) => {
                assert_eq!(row.state, RowState::Approved);
                &["asked", "approved", "cancelled"]
            }
            Err(refusal) => {
                assert_eq!(refusal, StoreError::Cancelled);
                &["asked", "cancelled"]
            }
        };
        assert_eq!(w.kinds(Some(&row.id)), before);
        assert_eq!(w.state(&row), RowState::Cancelled);
        assert_eq!(w.claim(&row).map(drop), Err(StoreError::Cancelled));
    }
}

/// One person edits and votes at once, and may not decide what he edited: who he is and what stands in the row are looked
/// at together, so that he never approves bytes of his own.
pub fn vote_or_edit(bench: &dyn Bench) {
    let terms =
        Terms { requester_may_decide: false, may_edit: Some(vec!["editor".into()]), ..Terms::default() };
    let bob = with_roles("bob", &["editor"]);
    let (w, other) = (World::new(bench), Approvals::new(bench.handle()));
    for race in 0..times(100, 1_000) {
        let row = w.ask(&Ask { terms: terms.clone(), ..post(&format!("post{race}"), 0) });
        let edit = Edit {
            row: row.id.clone(),
            seen: row.digest,
            by: bob.clone(),
            args: b"{}".to_vec(),
            reason: Vec::new(),
            terms: row.terms.clone(),
            note: None,
        };
        // Half of the votes are for the bytes that are to come.
        let seen = if race % 2 == 0 { row.digest } else { Digest::of(b"{}") };
        let start = Barrier::new(2);
        let (edited, voted) = thread::scope(|scope| {
            let editor = scope.spawn(|| {
                start.wait();
                other.edit(&row, &edit)
            });
            start.wait();
            let voted = w.approvals.decide(&Decision { seen, ..decision(&row, &bob, true) });
            (editor.join().unwrap(), voted)
        });
        let now = w.row(&row.id);
        match (edited, voted) {
            (Ok(_), Err(StoreError::Changed { .. } | StoreError::NotAllowed(_))) => {
                assert_eq!((now.state, now.digest), (RowState::Pending, Digest::of(b"{}")));
                assert_eq!(now.votes, []);
            }
            (Err(StoreError::Decided { state: RowState::Approved, .. }), Ok(_)) => {
                assert_eq!((now.state, now.digest, seen), (RowState::Approved, row.digest, row.digest));
                assert_eq!(now.edits, []);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Approve and expire at the same instant: one final state, and whoever was refused was told that one.
pub fn approve_or_expire(bench: &dyn Bench) {
    let (w, other) = (World::new(bench), bench.handle());
    for race in 0..times(100, 10_000) {
        // A row of the one run; its driver does nothing else.
        let row = w.ask(&post(&format!("post{race}"), 0));
        w.clock.set(3_599_999);
        let start = Barrier::new(3);
        let decided = thread::scope(|scope| {
            let ticker = scope.spawn(|| {
                start.wait();
                w.clock.set(3_600_000);
            });
            let reader = scope.spawn(|| {
                start.wait();
                other.row(&row.id).unwrap()
            });
            start.wait();
            let decided = w.vote(&row, "bob", true);
            ticker.join().unwrap();
            let seen = reader.join().unwrap().state;
            assert!(decided.is_ok() || seen != RowState::Approved);
            assert!(decided.is_err() || seen != RowState::Expired);
            decided
        });
        let state = w.state(&row);
        match decided {
            Ok(_) => assert_eq!(state, RowState::Approved),
            Err(refusal) => {
                assert_eq!(refusal, StoreError::Expired { at: at(3_600_000) });
                assert_eq!(state, RowState::Expired);
            }
        }
        w.clock.set(0);
    }
}

/// Kinds of the run's events and of its rows', in the order they happened.
fn order(w: &World, after: u64) -> Vec<String> {
    let events = w.store.events(after).unwrap();
    let whats = events.iter().map(|event| Value::parse(&event.what).unwrap());
    whats
        .filter(|what| what.member("run").and_then(Value::text) == Some(w.run().0.as_str()))
        .map(|what| what.member("kind").and_then(Value::text).unwrap().to_owned())
        .collect()
}
