//! Claiming, and the permit.

use super::unclear::Unclear;
use super::*;

pub fn a_claim_is_a_permit_for_the_stored_call(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.approved();
    w.clock.pass(5_000);
    let permit = w.claim(&row).unwrap();
    assert_eq!((permit.row(), permit.server()), (&row.id, "slack"));
    let now = w.row(&row.id);
    assert_eq!(now.state, RowState::Claimed);
    assert_eq!(now.claim.as_ref(), Some(&permit.claim().nonce));
    assert_eq!((now.claimed_at, now.call_deadline), (Some(at(5_000)), Some(at(65_000))));
    assert_eq!(w.step_state("post"), Some(StepState::Running));
    let call = permit.spend().unwrap();
    assert_eq!((call.server(), call.tool(), call.args()), ("slack", "post", ARGS.as_bytes()));
    assert_eq!(call.key(), row.key);
    assert_eq!(w.claim(&row).map(drop), Err(StoreError::NotNow(RowState::Claimed)), "one claim per approval");
    assert_eq!(w.kinds(Some(&row.id)), ["asked", "approved", "claimed"]);
}

pub fn only_an_approved_row_is_claimed(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.ask(&under(Terms { quorum: 2, ..Terms::default() }));
    assert_eq!(w.claim(&row).map(drop), Err(StoreError::NotNow(RowState::Pending)));
    w.vote(&row, "bob", true).unwrap();
    assert_eq!(w.claim(&row).map(drop), Err(StoreError::NotNow(RowState::Pending)), "one of two");
    w.vote(&row, "carol", true).unwrap();
    w.claim(&row).unwrap();
}

pub fn a_claim_looks_at_bytes_and_definition(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.approved();
    let seen = Digest::of(b"another definition");
    let running = step("post", StepState::Running);
    let refused = w.approvals.claim(&w.lease, &row, seen, &running).map(drop);
    assert_eq!(refused, Err(StoreError::Changed { stored: definition(), seen }));
    let other = Row { digest: seen, ..row.clone() };
    let refused = w.approvals.claim(&w.lease, &other, definition(), &running).map(drop);
    assert_eq!(refused, Err(StoreError::Changed { stored: row.digest, seen }));
    assert_eq!(w.state(&row), RowState::Approved);
}

/// A step that runs has a claim: where the claim is refused, it does not run.
pub fn a_refused_claim_starts_no_step(bench: &dyn Bench) {
    let mut w = World::of(bench, |run| run.hold_siblings = true);
    let row = w.asked();
    let running = step("post", StepState::Running);
    let refused = |w: &World, row: &Row, definition| {
        w.approvals.claim(&w.lease, row, definition, &running).map(drop).unwrap_err();
        assert_eq!(w.step_state("post"), None);
    };
    refused(&w, &row, definition());
    let row = w.vote(&row, "bob", true).unwrap();
    refused(&w, &row, Digest::of(b"another definition"));
    refused(&w, &Row { digest: Digest::of(b"other bytes"), ..row.clone() }, definition());
    let other = w.ask(&post("other", 0));
    refused(&w, &row, definition());
    let unasked = Ask { node: "post".into(), ..post("post", 0) };
    w.approvals.claim_unasked(&w.lease, &unasked, "allow", &running).map(drop).unwrap_err();
    assert_eq!(w.step_state("post"), None);
    w.vote(&other, "bob", false).unwrap();
    w.clock.pass(AFTER_LEASE);
    refused(&w, &row, definition());
    w.clock.pass(3_600_000);
    w.take();
    refused(&w, &row, definition());
    assert_eq!(w.state(&row), RowState::Expired);
}

pub fn a_claim_is_of_a_row_of_its_own_run(bench: &dyn Bench) {
    let (a, b) = (World::new(bench), World::new(bench));
    let row = a.approved();
    let refused = b.approvals.claim(&b.lease, &row, definition(), &step("post", StepState::Running));
    assert!(matches!(refused.map(drop), Err(StoreError::NotFound { what: "row", .. })));
    assert_eq!(a.state(&row), RowState::Approved);
}

pub fn the_same_nonce_is_the_same_claim(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.approved();
    let running = step("post", StepState::Running);
    let claim = |nonce: &str| w.store.claim(&w.lease, &row.id, nonce, row.digest, definition(), &running);
    let first = claim("nonce-1").unwrap();
    w.clock.pass(1_000);
    assert_eq!(claim("nonce-1").unwrap(), first);
    assert_eq!(claim("nonce-2"), Err(StoreError::NotNow(RowState::Claimed)));
    assert_eq!(w.kinds(Some(&row.id)), ["asked", "approved", "claimed"]);
}

pub fn a_lost_lease_claims_nothing(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.approved();
    w.clock.pass(AFTER_LEASE);
    let lost = StoreError::LeaseLost(w.run().clone());
    assert_eq!(w.claim(&row).map(drop), Err(lost.clone()));
    let other = taken(w.store.lease(w.run(), &w.store.holder().unwrap()).unwrap());
    assert_eq!(w.claim(&row).map(drop), Err(lost.clone()));
    assert_eq!(w.try_ask(&post("mail", 0)), Err(lost));
    let permit = w.approvals.claim(&other, &row, definition(), &step("post", StepState::Running)).unwrap();
    assert_eq!(permit.row(), &row.id);
}

pub fn a_permit_ends_with_its_lease(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let (_, permit) = w.claimed();
    w.clock.pass(29_999);
    permit.spend().unwrap();

    w.take_after_lease();
    let row = w.ask(&post("mail", 0));
    w.vote(&row, "bob", true).unwrap();
    let permit = w.claim(&row).unwrap();
    w.clock.pass(30_000);
    assert!(permit.spend().is_err(), "past it nothing is sent");
}

pub fn a_permit_does_not_outlive_an_old_lease(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.approved();
    w.clock.pass(20_000);
    let permit = w.claim(&row).unwrap();
    w.clock.pass(10_000);
    assert!(permit.spend().is_err());
}

/// The wall clock may be set back; the permit ends all the same.
pub fn a_permit_ends_by_the_steady_clock(bench: &dyn Bench) {
    let w = World::new(bench);
    let (_, permit) = w.claimed();
    w.clock.pass(30_000);
    w.clock.set(-7_200_000);
    assert!(permit.spend().is_err());
}

pub fn unasked_is_born_claimed(bench: &dyn Bench) {
    let w = World::new(bench);
    let ask = Ask { node: "post".into(), question: None, ..post("post", 0) };
    let running = step("post", StepState::Running);
    let permit = w.approvals.claim_unasked(&w.lease, &ask, "allow slack.post", &running).unwrap();
    let row = w.row(permit.row());
    assert_eq!(row.state, RowState::Claimed);
    assert_eq!(row.decided_by.as_deref(), Some("allow slack.post"));
    assert_eq!((row.votes.len(), row.claimed_at), (0, Some(at(0))));
    assert_eq!(w.step_state("post"), Some(StepState::Running));
    assert_eq!(w.kinds(Some(&row.id)), ["claimed"]);
    let again = w.approvals.claim_unasked(&w.lease, &ask, "allow slack.post", &running).map(drop);
    assert_eq!(again, Err(StoreError::NotNow(RowState::Claimed)));
    let row = w.outcome(permit.claim(), &ok()).unwrap();
    assert_eq!(row.state, RowState::Succeeded);
    let again = w.approvals.claim_unasked(&w.lease, &ask, "allow slack.post", &running).map(drop);
    assert_eq!(again, Err(StoreError::NotNow(RowState::Succeeded)));
}

/// An unasked call whose end is unknown is asked like any other once the allow is withdrawn.
pub fn unasked_then_asked(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let ask = Ask { node: "post".into(), ..post("post", 0) };
    let running = step("post", StepState::Running);
    let permit = w.approvals.claim_unasked(&w.lease, &ask, "allow slack.post", &running).unwrap();
    drop(permit);
    w.take_after_lease();
    w.clock.pass(60_000 + 30_000);
    w.take_after_lease();
    let row = w.store.rows(Some(w.run())).unwrap().remove(0);
    assert_eq!(row.state, RowState::Uncertain);
    w.settle(&row, false).unwrap();
    let next = Ask { ask: 1, ..ask };
    let row = w.ask(&next);
    assert_eq!((row.state, row.ask), (RowState::Pending, 1));
}

pub fn held_siblings_wait(bench: &dyn Bench) {
    let mut w = World::of(bench, |run| run.hold_siblings = true);
    let (a, b) = (w.ask(&post("a", 0)), w.ask(&post("b", 0)));
    w.vote(&a, "bob", true).unwrap();
    assert_eq!(w.claim(&a).map(drop), Err(StoreError::Held(b.id.clone())));
    let ask = Ask { node: "c".into(), ..post("c", 0) };
    let refused = w.approvals.claim_unasked(&w.lease, &ask, "allow", &step("c", StepState::Running));
    assert_eq!(refused.map(drop), Err(StoreError::Held(b.id.clone())));

    // The run's last vote counts for all: the first approval is usable as long as the second.
    w.clock.pass(3_000_000);
    w.take();
    w.vote(&b, "bob", true).unwrap();
    assert_eq!(w.row(&a.id).usable_until, Some(at(6_600_000)));
    w.clock.pass(3_000_000);
    w.take();
    w.claim(&a).unwrap();
    w.claim(&b).unwrap();
}

/// An approval that is held is usable for an hour after the run's last vote. If nobody votes for longer, it has lapsed, and
/// that is said: a vote that comes after it brings it back no more, and what waited with it is not lost with it.
pub fn a_held_approval_lapses_aloud(bench: &dyn Bench) {
    let mut w = World::of(bench, |run| run.hold_siblings = true);
    let day = Terms { deadline_ms: 86_400_000, ..Terms::default() };
    let a = w.asked();
    let b = w.ask(&Ask { terms: day, ..post("b", 0) });
    w.vote(&a, "bob", true).unwrap();
    w.park();
    let wake = w.store.run(w.run()).unwrap().wake;
    w.clock.pass(3_599_999);
    assert_eq!(w.state(&a), RowState::Approved);
    w.clock.pass(1);
    let waiting = |w: &World| -> Vec<RowId> {
        let rows = w.store.waiting().unwrap().into_iter();
        rows.filter(|row| row.run == *w.run()).map(|row| row.id).collect()
    };
    assert_eq!(waiting(&w), std::slice::from_ref(&b.id));
    let seen = w.row(&a.id);
    assert_eq!((seen.state, seen.decided_by.as_deref()), (RowState::Expired, Some("os:bob")));
    assert_eq!(w.kinds(Some(&a.id)), ["asked", "approved", "expired"]);
    assert!(w.store.run(w.run()).unwrap().wake > wake, "whoever drives it looks");

    w.clock.pass(80_000_000);
    w.vote(&b, "carol", true).unwrap();
    w.take();
    assert_eq!(w.state(&a), RowState::Expired);
    assert!(matches!(w.claim(&a).map(drop), Err(StoreError::Expired { .. })));
    let permit = w.claim(&b).unwrap();
    assert_eq!(permit.row(), &b.id);
}

pub fn an_unclear_answer_is_asked_again(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.approved();
    let running = step("post", StepState::Running);
    let flaky = Approvals::new(Unclear::new(Arc::clone(&w.store), 1));
    let permit = flaky.claim(&w.lease, &row, definition(), &running).unwrap();
    assert_eq!(w.row(&row.id).claim.as_ref(), Some(&permit.claim().nonce));

    let row = w.ask(&post("mail", 0));
    let row = w.vote(&row, "bob", true).unwrap();
    let broken = Approvals::new(Unclear::new(Arc::clone(&w.store), 2));
    let refused = broken.claim(&w.lease, &row, definition(), &running).map(drop);
    assert!(matches!(refused, Err(StoreError::Unusable { .. })), "no clear answer, no call");
    assert_eq!(w.state(&row), RowState::Claimed, "and it shows: nobody else calls either");
}

/// What a rule lets through has no row before it is claimed; its answer may get lost all the same.
pub fn an_unclear_answer_about_what_is_let_through_is_asked_again(bench: &dyn Bench) {
    let w = World::new(bench);
    let running = step("post", StepState::Running);
    let through = |lost: u32, node: &str| {
        let approvals = Approvals::new(Unclear::new(Arc::clone(&w.store), lost));
        let ask = Ask { node: node.into(), question: None, ..post(node, 0) };
        approvals.claim_unasked(&w.lease, &ask, "allow slack.post", &running)
    };
    let permit = through(1, "post").unwrap();
    assert_eq!(w.row(permit.row()).claim.as_ref(), Some(&permit.claim().nonce));
    assert_eq!(w.kinds(Some(permit.row())), ["claimed"]);

    let refused = through(2, "mail").map(drop);
    assert!(matches!(refused, Err(StoreError::Unusable { .. })), "no clear answer, no call");
    let rows = w.store.rows(Some(w.run())).unwrap();
    let [_, mail] = rows.as_slice() else { panic!("{rows:#?}") };
    assert_eq!(mail.state, RowState::Claimed, "and it shows");
    let again = through(0, "mail").map(drop);
    assert_eq!(again, Err(StoreError::NotNow(RowState::Claimed)), "another claimer does not call either");
}
