//! Asking, and reading what was asked.

use super::*;

pub fn a_row_is_what_was_asked(bench: &dyn Bench) {
    let w = World::new(bench);
    let ask = post("post", 0);
    let row = w.ask(&ask);
    assert_eq!(row.state, RowState::Pending);
    assert_eq!((&row.call, &row.question, &row.reason), (&ask.call, &ask.question, &ask.reason));
    assert_eq!((row.digest, row.terms.clone(), row.ask), (Digest::of(ARGS.as_bytes()), Terms::default(), 0));
    assert_eq!((row.created, row.expires), (at(0), at(3_600_000)));
    assert_eq!(row.plan, Digest::of(b"{\"format\":\"actions/1\"}"));
    assert_eq!(row.id.0.len(), 32);
    assert_eq!(row.key.len(), 64);
    assert_eq!(bench.handle().row(&row.id).unwrap(), row, "another handle reads the same");
    assert_eq!(w.step_state("post/gate"), Some(StepState::Pending), "one transaction with its step");
    assert_eq!(w.kinds(Some(&row.id)), ["asked"]);
}

pub fn asking_again_is_the_same_row(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.asked();
    let votes = w.vote(&row, "bob", true).unwrap();
    let again = w.asked();
    assert_eq!(again, votes);
    assert_eq!(w.store.rows(Some(w.run())).unwrap().len(), 1);
    assert_eq!(w.kinds(Some(&row.id)), ["asked", "approved"]);
}

pub fn other_bytes_under_the_same_number_are_changed(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.asked();
    let mut other = post("post", 0);
    other.call.as_mut().unwrap().args = b"{\"channel\":\"#all\"}".to_vec();
    let seen = Digest::of(b"{\"channel\":\"#all\"}");
    assert_eq!(w.try_ask(&other), Err(StoreError::Changed { stored: row.digest, seen }));

    let mut other = post("post", 0);
    other.call.as_mut().unwrap().definition = seen;
    assert_eq!(w.try_ask(&other), Err(StoreError::Changed { stored: definition(), seen }));

    let mut other = post("post", 0);
    other.call.as_mut().unwrap().tool = "post_all".into();
    assert!(matches!(w.try_ask(&other), Err(StoreError::NotAllowed(_))));
    assert_eq!(w.row(&row.id), row);
}

pub fn a_digest_of_other_bytes_is_refused(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.asked();
    let new = plangate_approval::NewRow {
        id: RowId::random().unwrap(),
        run: w.run().clone(),
        node: "other/gate".into(),
        ask: 0,
        call: row.call.clone(),
        digest: Digest::of(b"something else"),
        question: None,
        reason: Vec::new(),
        policy: row.policy,
        terms: Terms::default(),
        key: row.key.clone(),
    };
    let refused = w.store.ask(&w.lease, &new, &[]);
    assert!(matches!(refused, Err(StoreError::Changed { .. })), "{refused:?}");
    let new = plangate_approval::NewRow { call: None, question: None, digest: Digest::of(b""), ..new };
    assert!(matches!(w.store.ask(&w.lease, &new, &[]), Err(StoreError::NotAllowed(_))));
}

pub fn a_node_is_asked_again_only_after_a_lapse_or_did_not(bench: &dyn Bench) {
    let mut w = World::new(bench);
    assert!(matches!(w.try_ask(&post("post", 1)), Err(StoreError::NotFound { what: "row", .. })));
    let row = w.asked();
    assert_eq!(w.try_ask(&post("post", 1)), Err(StoreError::NotNow(RowState::Pending)));
    w.vote(&row, "bob", false).unwrap();
    assert_eq!(w.try_ask(&post("post", 1)), Err(StoreError::NotNow(RowState::Rejected)));

    let w2 = World::new(bench);
    let (_, permit) = w2.claimed();
    w2.outcome(permit.claim(), &ok()).unwrap();
    assert_eq!(w2.try_ask(&post("post", 1)), Err(StoreError::NotNow(RowState::Succeeded)));

    // Nobody looked in between: the ask itself meets the expired row and writes it down.
    let first = w.ask(&post("mail", 0));
    w.clock.pass(3_600_000);
    w.take();
    let second = w.ask(&post("mail", 1));
    assert_eq!((second.ask, second.state), (1, RowState::Pending));
    assert_eq!(second.key, first.key, "the same bytes of the same node have one key");
    assert_eq!(w.kinds(Some(&first.id)), ["asked", "expired"]);
}

pub fn did_not_allows_the_next_number(bench: &dyn Bench) {
    let w = World::new(bench);
    let (row, permit) = w.claimed();
    w.outcome(permit.claim(), &Outcome::Unknown("connection lost".into())).unwrap();
    w.settle(&row, false).unwrap();
    let next = w.ask(&post("post", 1));
    assert_eq!((next.state, next.key.clone()), (RowState::Pending, row.key.clone()));
    let rows = w.store.rows(Some(w.run())).unwrap();
    assert_eq!(rows.iter().map(|r| r.state).collect::<Vec<_>>(), [RowState::DidNot, RowState::Pending]);
}

pub fn what_is_not_there_is_not_found(bench: &dyn Bench) {
    let w = World::new(bench);
    let none = RowId("0".repeat(32));
    let not_found = StoreError::NotFound { what: "row", id: none.0.clone() };
    assert_eq!(w.store.row(&none), Err(not_found.clone()));
    let mut ghost = w.asked();
    ghost.id = none.clone();
    assert_eq!(w.vote(&ghost, "bob", true), Err(not_found.clone()));
    assert_eq!(w.claim(&ghost).map(drop), Err(not_found.clone()));
    assert_eq!(w.settle(&ghost, true), Err(not_found.clone()));
    let claim = plangate_approval::Claim { row: none, nonce: "n".into() };
    assert_eq!(w.outcome(&claim, &ok()), Err(not_found));

    let run = RunId("0".repeat(32));
    let no_run = StoreError::NotFound { what: "run", id: run.0.clone() };
    assert_eq!(w.store.run(&run), Err(no_run.clone()));
    assert_eq!(w.store.lease(&run, &w.holder), Err(no_run.clone()));
    assert_eq!(w.store.cancel(&run, &person("bob"), None), Err(no_run));
    assert_eq!(w.store.rows(Some(&run)), Ok(Vec::new()));

    let digest = Digest::of(b"no such document");
    let gone = StoreError::NotFound { what: "document", id: digest.to_string() };
    assert_eq!(w.store.document(&digest), Err(gone));
}

/// What is shown as waiting has a row: where the row is refused, no step is written either.
pub fn a_refused_ask_writes_no_step(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let row = w.asked();
    let mut changed = post("post", 0);
    changed.call.as_mut().unwrap().args = b"{}".to_vec();
    let nothing = Ask { call: None, question: None, ..post("nothing", 0) };
    let refused = |w: &World, ask: &Ask| {
        let steps = [step(&ask.node, StepState::Failed), step("mail", StepState::Done)];
        w.approvals.ask(&w.lease, ask, &steps).unwrap_err();
        assert_eq!(w.store.steps(w.run()).unwrap(), [step("post/gate", StepState::Pending)], "{ask:?}");
        assert_eq!(w.store.rows(Some(w.run())).unwrap().len(), 1);
    };
    for ask in [&changed, &nothing, &post("post", 1), &post("post", 2), &post("other", 1)] {
        refused(&w, ask);
    }
    w.clock.pass(AFTER_LEASE);
    refused(&w, &post("late", 0));
    w.take();
    w.store.cancel(w.run(), &person("carol"), None).unwrap();
    refused(&w, &post("late", 0));
    assert_eq!(w.state(&row), RowState::Cancelled);
}

pub fn documents_and_inputs_are_kept_as_they_were(bench: &dyn Bench) {
    let w = World::new(bench);
    let run = w.store.run(w.run()).unwrap();
    let new = new_run(w.run());
    for (digest, document) in [(run.plan, &new.plan), (run.catalog, &new.catalog), (run.policy, &new.policy)]
    {
        assert_eq!(w.store.document(&digest).unwrap(), document.bytes());
    }
    assert_eq!(run.inputs, new.inputs);
    assert_eq!((run.requester, run.author, run.title), (new.requester, new.author, new.title));
    assert_eq!((run.created, run.driven, run.state), (at(0), true, RunState::Running));
}

pub fn the_queue_is_over_all_runs(bench: &dyn Bench) {
    let a = World::new(bench);
    let b = World::new(bench);
    let first = a.asked();
    let second = b.ask(&question("ready"));
    let decided = b.ask(&post("mail", 0));
    b.vote(&decided, "bob", false).unwrap();
    let ours = |rows: Vec<Row>| -> Vec<RowId> {
        rows.into_iter().filter(|r| r.run == *a.run() || r.run == *b.run()).map(|r| r.id).collect()
    };
    assert_eq!(ours(a.store.waiting().unwrap()), [first.id.clone(), second.id.clone()]);
    assert_eq!(ours(a.store.rows(None).unwrap()), [first.id, second.id.clone(), decided.id.clone()]);
    assert_eq!(ours(a.store.rows(Some(b.run())).unwrap()), [second.id, decided.id]);
    let runs: Vec<RunId> = a.store.runs().unwrap().into_iter().map(|r| r.id).collect();
    assert_eq!(runs[..2], [b.run().clone(), a.run().clone()], "newest first");
}
