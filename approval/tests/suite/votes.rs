//! Deciding.

use super::*;

pub fn a_yes_approves_and_wakes(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let row = w.asked();
    let wake = w.store.run(w.run()).unwrap().wake;
    w.clock.pass(60_000);
    let decision = Decision { reason: Some("looks right".into()), ..decision(&row, &person("bob"), true) };
    let row = w.approvals.decide(&decision).unwrap();
    assert_eq!(row.state, RowState::Approved);
    assert_eq!((row.decided_at, row.usable_until), (Some(at(60_000)), Some(at(3_660_000))));
    assert_eq!(row.decided_by.as_deref(), Some("os:bob"));
    assert_eq!(row.decision_reason.as_deref(), Some("looks right"));
    assert_eq!(row.votes.len(), 1);
    assert_eq!(w.store.run(w.run()).unwrap().wake, wake + 1);
    assert_eq!(w.row(&row.id), row);
    w.take();
    assert_eq!(w.kinds(Some(&row.id)), ["asked", "approved"]);
}

pub fn the_second_hears_what_who_and_when(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.asked();
    w.clock.pass(1_000);
    w.vote(&row, "bob", true).unwrap();
    w.clock.pass(1_000);
    let told = |state| StoreError::Decided { state, by: "os:bob".into(), at: Some(at(1_000)) };
    assert_eq!(w.vote(&row, "carol", true), Err(told(RowState::Approved)));
    assert_eq!(w.vote(&row, "carol", false), Err(told(RowState::Approved)));
    assert_eq!(w.vote(&row, "bob", true), Err(told(RowState::Approved)));
    let permit = w.claim(&row).unwrap();
    assert_eq!(w.vote(&row, "carol", true), Err(told(RowState::Claimed)));
    w.outcome(permit.claim(), &ok()).unwrap();
    assert_eq!(w.vote(&row, "carol", true), Err(told(RowState::Succeeded)));
}

pub fn one_no_rejects_with_its_reason(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.ask(&under(Terms { quorum: 3, ..Terms::default() }));
    assert_eq!(w.vote(&row, "bob", true).unwrap().state, RowState::Pending);
    let no = Decision { reason: Some("wrong channel".into()), ..decision(&row, &person("carol"), false) };
    let row = w.approvals.decide(&no).unwrap();
    assert_eq!(row.state, RowState::Rejected);
    assert_eq!(row.decided_by.as_deref(), Some("os:carol"));
    assert_eq!(row.decision_reason.as_deref(), Some("wrong channel"));
    assert_eq!(row.usable_until, None);
    assert_eq!(w.claim(&row).map(drop), Err(StoreError::NotNow(RowState::Rejected)));
    assert_eq!(w.kinds(Some(&row.id)), ["asked", "voted", "rejected"]);
}

pub fn a_person_counts_once(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.ask(&under(Terms { quorum: 2, ..Terms::default() }));
    let once = w.vote(&row, "bob", true).unwrap();
    assert_eq!(once.state, RowState::Pending);
    assert_eq!(w.vote(&row, "bob", true).unwrap(), once, "changes nothing");
    assert_eq!(w.decide(&row, &with_roles("bob", &["lead"]), true).unwrap().state, RowState::Pending);
    let elsewhere = Person { issuer: "https://id.example".into(), ..person("bob") };
    let row = w.decide(&row, &elsewhere, true).unwrap();
    assert_eq!(row.state, RowState::Approved, "another issuer's bob is another person");
    assert_eq!(row.votes.len(), 2);
    assert_eq!(row.decided_by.as_deref(), Some("os:bob, https://id.example:bob"));
}

pub fn a_person_may_turn_a_yes_into_a_no(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.ask(&under(Terms { quorum: 2, ..Terms::default() }));
    w.vote(&row, "bob", true).unwrap();
    let row = w.vote(&row, "bob", false).unwrap();
    assert_eq!((row.state, row.votes.len()), (RowState::Rejected, 1));
    assert!(!row.votes[0].yes);
}

pub fn another_digest_is_changed(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.asked();
    let seen = Digest::of(b"what was on another screen");
    let refused = w.approvals.decide(&Decision { seen, ..decision(&row, &person("bob"), true) });
    assert_eq!(refused, Err(StoreError::Changed { stored: row.digest, seen }));
    assert_eq!(w.row(&row.id), row);
}

pub fn roles_are_needed(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.ask(&under(Terms { roles: vec!["lead".into(), "ops".into()], ..Terms::default() }));
    assert!(
        matches!(w.vote(&row, "bob", true), Err(StoreError::NotAllowed(why)) if why.contains("lead, ops"))
    );
    let unverified = Person { verified: false, ..with_roles("dan", &["ops"]) };
    assert!(matches!(w.decide(&row, &unverified, true), Err(StoreError::NotAllowed(_))));
    assert!(matches!(w.decide(&row, &unverified, false), Err(StoreError::NotAllowed(_))), "a no as well");
    assert_eq!(w.row(&row.id).votes, []);
    assert_eq!(w.decide(&row, &with_roles("dan", &["ops"]), true).unwrap().state, RowState::Approved);
}

pub fn a_rule_about_people_needs_verified_voters(bench: &dyn Bench) {
    let w = World::new(bench);
    let rules = [
        Terms { verified_only: true, ..Terms::default() },
        Terms { quorum: 2, ..Terms::default() },
        Terms { requester_may_decide: false, ..Terms::default() },
    ];
    for (i, terms) in rules.into_iter().enumerate() {
        let row = w.ask(&Ask { terms, ..post(&format!("post{i}"), 0) });
        let asserted = Person { verified: false, ..person("bob") };
        assert!(matches!(w.decide(&row, &asserted, true), Err(StoreError::NotAllowed(_))), "rule {i}");
    }
    let row = w.ask(&post("free", 0));
    let asserted = Person { verified: false, ..person("bob") };
    let row = w.decide(&row, &asserted, true).unwrap();
    assert_eq!(row.decided_by.as_deref(), Some("os:bob (asserted)"));
}

pub fn the_requester_may_be_kept_from_deciding(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.ask(&under(Terms { requester_may_decide: false, ..Terms::default() }));
    assert!(matches!(w.vote(&row, "ann", true), Err(StoreError::NotAllowed(_))));
    assert!(matches!(w.vote(&row, "ann", false), Err(StoreError::NotAllowed(_))));
    assert_eq!(w.vote(&row, "bob", true).unwrap().state, RowState::Approved);
    let row = w.ask(&post("own", 0));
    assert_eq!(w.vote(&row, "ann", true).unwrap().state, RowState::Approved, "unless policy says so");
}

pub fn nobody_is_no_person(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.asked();
    for by in
        [Person { subject: String::new(), ..person("x") }, Person { issuer: String::new(), ..person("x") }]
    {
        assert!(matches!(w.decide(&row, &by, true), Err(StoreError::NotAllowed(_))));
    }
}

pub fn a_question_is_answered(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.ask(&question("ready"));
    assert_eq!(row.digest, Digest::of(b"post to #daily?"));
    let row = w.vote(&row, "bob", true).unwrap();
    assert_eq!((row.state, row.usable_until), (RowState::Answered, None));
    assert!(matches!(w.claim(&row).map(drop), Err(StoreError::NotAllowed(_))));
    let no = w.ask(&question("sure"));
    assert_eq!(w.vote(&no, "bob", false).unwrap().state, RowState::Rejected);
    assert_eq!(w.kinds(Some(&row.id)), ["asked", "answered"]);
}

/// Each refusal is met while every later one holds as well.
pub fn refusals_come_in_order(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let terms = Terms { requester_may_decide: false, ..Terms::default() };
    let seen = Digest::of(b"another screen");
    let bad = |row: &Row| Decision { seen, ..decision(row, &person("ann"), true) };

    let decided = w.ask(&Ask { terms: terms.clone(), ..post("decided", 0) });
    w.vote(&decided, "bob", false).unwrap();
    let not_allowed = w.ask(&Ask { terms: terms.clone(), ..post("asked", 0) });
    assert!(matches!(w.vote(&not_allowed, "ann", true), Err(StoreError::NotAllowed(_))));
    assert!(matches!(w.approvals.decide(&bad(&not_allowed)), Err(StoreError::Changed { .. })));

    w.clock.pass(3_600_000);
    assert!(matches!(w.approvals.decide(&bad(&not_allowed)), Err(StoreError::Expired { .. })));
    assert!(matches!(w.approvals.decide(&bad(&decided)), Err(StoreError::Decided { .. })));

    w.take();
    let cancelled = w.ask(&Ask { terms, ..post("cancelled", 0) });
    w.store.cancel(w.run(), &person("bob"), None).unwrap();
    w.clock.pass(3_600_000);
    assert_eq!(w.approvals.decide(&bad(&cancelled)), Err(StoreError::Cancelled));
    assert!(matches!(w.approvals.decide(&bad(&decided)), Err(StoreError::Decided { .. })));
    let nothing = RowId("f".repeat(32));
    let none = w.approvals.decide(&Decision { row: nothing, ..bad(&decided) });
    assert!(matches!(none, Err(StoreError::NotFound { .. })));
}
