//! What the host knows of uncertain calls, and changes that a person accepts.

use plangate_approval::row::RowCall;
use plangate_approval::{Accepted, Claim, Reconciled};

use super::*;

/// A row whose call is lost: its claimer says that it does not know, and its deadline has passed.
fn lost(bench: &dyn Bench) -> (World, Row, Claim) {
    let mut w = World::new(bench);
    let (row, permit) = w.claimed();
    let claim = permit.claim().clone();
    let row = Row { state: row.state, ..w.outcome(&claim, &Outcome::Unknown("lost".into())).unwrap() };
    w.clock.pass(60_000);
    w.take();
    (w, row, claim)
}

fn says(w: &World, claim: &Claim, answer: &Reconciled) -> Result<Row, StoreError> {
    w.store.reconcile(&w.lease, &claim.row, &claim.nonce, answer)
}

pub fn did_not_allows_one_more_claim(bench: &dyn Bench) {
    let (w, row, claim) = lost(bench);
    let again = says(&w, &claim, &Reconciled::DidNot).unwrap();
    assert_eq!((again.state, &again.claim, &again.outcome), (RowState::Approved, &None, &None));
    assert_eq!((again.key.as_str(), w.step_state("post")), (row.key.as_str(), Some(StepState::Ready)));
    assert_eq!(says(&w, &claim, &Reconciled::DidNot), Ok(again.clone()), "the same word again");
    assert!(matches!(says(&w, &claim, &Reconciled::Happened(None)), Err(StoreError::NotNow(_))));
    // The claim that is over is not had again, whoever asks.
    let running = step("post", StepState::Running);
    let old = w.store.claim(&w.lease, &row.id, &claim.nonce, row.digest, definition(), &running);
    assert!(matches!(old, Err(StoreError::NotNow(_))), "{old:?}");
    let permit = w.claim(&again).unwrap();
    let second = permit.claim().clone();
    assert_eq!(permit.spend().unwrap().key(), row.key);
    w.outcome(&second, &Outcome::Unknown("lost again".into())).unwrap();
    w.clock.pass(60_000);
    assert!(matches!(says(&w, &second, &Reconciled::DidNot), Err(StoreError::NotNow(_))), "asked once");
    assert_eq!(w.state(&row), RowState::Uncertain);
    let kinds = ["asked", "approved", "claimed", "outcome", "reconciled", "claimed", "outcome"];
    assert_eq!(w.kinds(Some(&row.id)), kinds);
}

pub fn a_first_claimer_that_contradicts_leaves_it_uncertain(bench: &dyn Bench) {
    let (w, row, claim) = lost(bench);
    let again = says(&w, &claim, &Reconciled::DidNot).unwrap();
    let late = w.outcome(&claim, &ok()).unwrap();
    assert_eq!((late.state, late.claim.as_deref()), (RowState::Uncertain, Some(claim.nonce.as_str())));
    assert!(matches!(w.claim(&again).map(drop), Err(StoreError::NotNow(RowState::Uncertain))), "never twice");
    // Said again, because the first answer was lost, or otherwise: it stays with the people, and is said once in the log.
    let kinds = w.kinds(Some(&row.id));
    assert_eq!(w.outcome(&claim, &ok()), Ok(late.clone()));
    assert_eq!(w.kinds(Some(&row.id)), kinds);
    let otherwise = w.outcome(&claim, &Outcome::Failed("half of it".into())).unwrap();
    assert_eq!((otherwise.state, &otherwise.outcome), (RowState::Uncertain, &late.outcome));
    assert_eq!(w.step_state("post"), Some(StepState::Uncertain));
    assert_eq!(w.kinds(Some(&row.id)).last().unwrap(), "contradicted");
    assert_eq!(w.settle(&late, true).unwrap().state, RowState::Happened);

    // After the second claim it is an event, and changes nothing.
    let (w, row, claim) = lost(bench);
    let again = says(&w, &claim, &Reconciled::DidNot).unwrap();
    let permit = w.claim(&again).unwrap();
    let claimed = w.row(&row.id);
    w.outcome(&claim, &ok()).unwrap();
    assert_eq!(w.row(&row.id), claimed);
    assert_eq!(w.kinds(Some(&row.id)).last().unwrap(), "contradicted");
    w.outcome(permit.claim(), &ok()).unwrap();
    assert_eq!((w.state(&row), w.step_state("post")), (RowState::Succeeded, Some(StepState::Done)));
}

pub fn the_host_is_asked_after_the_deadline(bench: &dyn Bench) {
    let w = World::new(bench);
    let (row, permit) = w.claimed();
    let claim = permit.claim().clone();
    let in_flight = |w: &World, until| {
        assert_eq!(says(w, &claim, &Reconciled::DidNot), Err(StoreError::InFlight { until: at(until) }));
    };
    in_flight(&w, 90_000);
    w.outcome(&claim, &Outcome::Unknown("lost".into())).unwrap();
    in_flight(&w, 60_000);
    let mut w = w;
    w.clock.pass(60_000);
    assert!(
        matches!(says(&w, &claim, &Reconciled::DidNot), Err(StoreError::LeaseLost(_))),
        "a driver's word"
    );
    w.take();
    let row = Row { ..w.row(&row.id) };
    let unknown = says(&w, &claim, &Reconciled::Unknown("down".into())).unwrap();
    assert_eq!(unknown.state, RowState::Uncertain);
    assert_eq!(unknown.reconciled.as_ref().unwrap().answer, Reconciled::Unknown("down".into()));
    assert!(matches!(says(&w, &claim, &Reconciled::DidNot), Err(StoreError::NotNow(_))));
    assert_eq!(w.settle(&row, false).unwrap().state, RowState::DidNot, "a person's word still counts");
}

pub fn a_host_that_knows_it_happened_settles_it(bench: &dyn Bench) {
    let (w, row, claim) = lost(bench);
    let value = Value::parse("7").unwrap();
    let happened = says(&w, &claim, &Reconciled::Happened(Some(value.clone()))).unwrap();
    assert_eq!((happened.state, w.step_state("post")), (RowState::Happened, Some(StepState::Done)));
    let settled = happened.settled.unwrap();
    assert_eq!((settled.by, settled.value), (Person::host(), Some(value)));
    w.outcome(&claim, &Outcome::Failed("no".into())).unwrap();
    assert_eq!(w.state(&row), RowState::Happened);
    assert_eq!(w.kinds(Some(&row.id)).last().unwrap(), "contradicted");
}

/// Where the approval may no longer be used, or nobody gave one, the step is asked again.
pub fn did_not_of_what_is_not_usable_asks_again(bench: &dyn Bench) {
    let (mut w, _, claim) = lost(bench);
    w.clock.pass(3_600_000);
    w.take();
    let row = says(&w, &claim, &Reconciled::DidNot).unwrap();
    assert_eq!((row.state, w.step_state("post")), (RowState::DidNot, Some(StepState::Ready)));
    assert_eq!(w.try_ask(&post("post", 1)).unwrap().state, RowState::Pending);

    let mut w = World::new(bench);
    let running = step("post", StepState::Running);
    let permit = w.approvals.claim_unasked(&w.lease, &post("post", 0), "a rule", &running).unwrap();
    let claim = permit.claim().clone();
    w.outcome(&claim, &Outcome::Unknown("lost".into())).unwrap();
    w.clock.pass(60_000);
    w.take();
    assert_eq!(says(&w, &claim, &Reconciled::DidNot).unwrap().state, RowState::DidNot);
}

pub fn an_accepted_change_is_the_runs(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let approved = w.approved();
    let (asked, other) = (w.ask(&post("asked", 0)), w.ask(&post("other", 0)));
    w.vote(&other, "bob", false).unwrap();
    w.renew();
    let accepted = Accepted {
        plan: b"{\"format\":\"actions/1\",\"n\":2}".to_vec().into(),
        catalog: b"{\"servers\":{\"slack\":{}}}".to_vec().into(),
        policy: b"# stricter".to_vec().into(),
        shown: "slack.post is asked now".into(),
    };
    let before = w.store.run(w.run()).unwrap();
    w.lease = w.store.accept(&w.lease, &person("carol"), &accepted).unwrap();
    let run = w.store.run(w.run()).unwrap();
    for (digest, accepted) in
        [(run.plan, &accepted.plan), (run.catalog, &accepted.catalog), (run.policy, &accepted.policy)]
    {
        assert_eq!(w.store.document(&digest).as_deref(), Ok(accepted.bytes()));
    }
    assert_eq!(
        [&approved, &asked, &other].map(|row| w.state(row)),
        [RowState::Cancelled, RowState::Cancelled, RowState::Rejected]
    );
    assert_eq!(w.row(&asked.id).plan, before.plan, "a row keeps the plan that it was asked under");
    assert!(matches!(w.vote(&asked, "bob", true), Err(StoreError::Cancelled)));
    assert!(matches!(w.claim(&approved).map(drop), Err(StoreError::Cancelled)));
    let again = w.ask(&post("post", 1));
    assert_eq!((again.state, again.plan), (RowState::Pending, run.plan));
    assert!(w.kinds(None).contains(&"accepted".to_owned()));
    w.store.cancel(w.run(), &person("carol"), None).unwrap();
    assert_eq!(w.store.accept(&w.lease, &person("carol"), &accepted), Err(StoreError::Cancelled));
    plangate_approval::audit::verify(&w.store, None).unwrap();
}

pub fn the_very_same_call_is_found(bench: &dyn Bench) {
    let w = World::new(bench);
    let (row, permit) = w.claimed();
    w.outcome(permit.claim(), &ok()).unwrap();
    let again = World::new(bench);
    let second = again.asked();
    let elsewhere = again.ask(&Ask { call: None, ..post("question", 0) });
    assert_ne!(elsewhere.digest, row.digest);
    let same = again.store.same_calls("slack", "post", &second.digest).unwrap();
    assert_eq!(same, [again.row(&row.id), second.clone()]);
    assert_eq!((same[0].state, &same[0].run), (RowState::Succeeded, w.run()));
    assert!(again.store.same_calls("slack", "delete", &second.digest).unwrap().is_empty());
    // What became of many before is what became of each.
    let deleted = again.ask(&Ask {
        call: Some(RowCall { tool: "delete".into(), ..second.call.clone().unwrap() }),
        ..post("third", 0)
    });
    let all = [elsewhere, second, row.clone(), deleted];
    let each = all.iter().map(|row| again.store.before(row).unwrap()).collect::<Vec<_>>();
    assert_eq!(again.store.before_each(&all).unwrap(), each);
    assert_eq!(each, [vec![], vec![again.row(&row.id)], vec![], vec![]]);
    assert!(again.store.before_each(&[]).unwrap().is_empty());
    assert!(again.store.same_calls("slack", "post", &Digest::of(b"{}")).unwrap().is_empty());
}
