//! Outcomes, uncertain calls, and settling them.

use super::*;

fn unknown() -> Outcome {
    Outcome::Unknown("no answer within 60 s".into())
}

pub fn an_outcome_ends_row_and_step_with_its_value(bench: &dyn Bench) {
    let w = World::new(bench);
    let (row, permit) = w.claimed();
    w.clock.pass(700);
    let ended = w.outcome(permit.claim(), &ok()).unwrap();
    assert_eq!((ended.state, ended.ended_at), (RowState::Succeeded, Some(at(700))));
    let stored = bench.handle().row(&row.id).unwrap();
    assert_eq!(stored.outcome, Some(ok()), "numbers as they were written");
    assert_eq!(w.step_state("post"), Some(StepState::Done));
    assert_eq!(w.kinds(Some(&row.id)), ["asked", "approved", "claimed", "outcome"]);
    assert_eq!(w.outcome(permit.claim(), &ok()).unwrap(), ended, "the same again changes nothing");
    let other = w.outcome(permit.claim(), &Outcome::Failed("no".into()));
    assert_eq!(other, Err(StoreError::NotNow(RowState::Succeeded)));
}

pub fn failed_and_not_sent_end_as_failed(bench: &dyn Bench) {
    for outcome in [Outcome::Failed("channel_not_found".into()), Outcome::NotSent("lease over".into())] {
        let w = World::new(bench);
        let (row, permit) = w.claimed();
        let ended = w.outcome(permit.claim(), &outcome).unwrap();
        assert_eq!((ended.state, ended.outcome), (RowState::Failed, Some(outcome)));
        assert_eq!(w.settle(&row, false), Err(StoreError::NotNow(RowState::Failed)));
        assert_eq!(
            w.try_ask(&post("post", 1)),
            Err(StoreError::NotNow(RowState::Failed)),
            "never asked again"
        );
    }
}

pub fn an_outcome_is_keyed_by_the_claim(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let (row, permit) = w.claimed();
    let other = plangate_approval::Claim { row: row.id.clone(), nonce: "0".repeat(32) };
    let refused = w.outcome(&other, &ok());
    assert!(matches!(refused, Err(StoreError::NotFound { what: "claim", .. })));
    // The lease is lost, the run cancelled and ended: what the claimer saw is recorded.
    w.take_after_lease();
    assert_eq!(w.state(&row), RowState::Uncertain);
    w.store.cancel(w.run(), &person("bob"), None).unwrap();
    w.renew();
    w.store.end(&w.lease, RunState::Cancelled, None).unwrap();
    assert_eq!(w.outcome(permit.claim(), &ok()).unwrap().state, RowState::Succeeded);
    assert_eq!(w.step_state("post"), Some(StepState::Done));
}

pub fn a_late_outcome_wakes_the_new_driver(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let (_, permit) = w.claimed();
    w.renew();
    let wake = w.lease.wake;
    w.outcome(permit.claim(), &unknown()).unwrap();
    w.renew();
    assert_eq!(w.lease.wake, wake, "a driver is not woken by what it said itself");
    w.take_after_lease();
    let wake = w.lease.wake;
    w.outcome(permit.claim(), &ok()).unwrap();
    assert!(matches!(w.store.park(&w.lease), Ok(ParkAnswer::LookAgain(_))));
    w.renew();
    assert_eq!(w.lease.wake, wake + 1);
}

pub fn uncertain_is_seen_when_the_lease_is_over(bench: &dyn Bench) {
    let w = World::new(bench);
    let (row, _permit) = w.claimed();
    w.clock.pass(29_999);
    assert_eq!(w.state(&row), RowState::Claimed);
    w.clock.pass(1);
    assert_eq!(w.state(&row), RowState::Uncertain, "nobody wrote anything");
    assert_eq!(w.store.waiting().unwrap().iter().filter(|r| r.id == row.id).count(), 1);
    assert_eq!(w.kinds(Some(&row.id)), ["asked", "approved", "claimed"]);
}

pub fn uncertain_is_seen_when_the_claimer_is_dead(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let mortal = bench.mortal();
    w.park();
    w.lease = taken(w.store.lease(w.run(), &mortal.holder).unwrap());
    let (row, permit) = w.claimed();
    assert_eq!(w.state(&row), RowState::Claimed);
    assert!(w.store.run(w.run()).unwrap().driven);
    assert!(matches!(w.settle(&row, true), Err(StoreError::InFlight { .. })));
    (mortal.kill)();
    assert_eq!(w.state(&row), RowState::Uncertain, "at once");
    assert!(!w.store.run(w.run()).unwrap().driven);
    assert_eq!(w.settle(&row, true).unwrap().state, RowState::Happened, "a dead process sends nothing more");
    drop(permit);
}

pub fn taking_a_run_writes_lost_claims_down(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let (row, _permit) = w.claimed();
    w.take_after_lease();
    assert_eq!(w.kinds(Some(&row.id)), ["asked", "approved", "claimed", "uncertain"]);
    assert_eq!(w.step_state("post"), Some(StepState::Uncertain));
    w.clock.set(0);
    assert_eq!(w.state(&row), RowState::Uncertain, "it stays so when the clock steps back");
    assert_eq!(w.claim(&row).map(drop), Err(StoreError::NotNow(RowState::Uncertain)), "never run again");
}

pub fn a_released_claim_is_uncertain(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let (row, _permit) = w.claimed();
    w.park();
    assert_eq!(w.state(&row), RowState::Uncertain);
}

pub fn settling_waits_until_the_call_has_ended(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let (row, _permit) = w.claimed();
    let in_flight = StoreError::InFlight { until: at(60_000 + 30_000) };
    assert_eq!(w.settle(&row, false), Err(in_flight.clone()));
    w.take_after_lease();
    assert_eq!(w.settle(&row, false), Err(in_flight.clone()), "the lease alone says nothing of the call");
    w.clock.set(89_999);
    assert_eq!(w.settle(&row, true), Err(in_flight));
    w.clock.set(90_000);
    assert_eq!(w.settle(&row, false).unwrap().state, RowState::DidNot);
}

pub fn an_unknown_outcome_can_be_settled_at_once(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let (row, permit) = w.claimed();
    let row = w.outcome(permit.claim(), &unknown()).map(|r| Row { claim: row.claim, ..r }).unwrap();
    assert_eq!((row.state, row.outcome.clone()), (RowState::Uncertain, Some(unknown())));
    w.renew();
    let wake = w.lease.wake;
    let value = Value::parse(r#"{"ts":"1700.1"}"#).unwrap();
    let settled = w.store.settle(&row.id, &settlement(&row, true, Some(value.clone()))).unwrap();
    assert_eq!(settled.state, RowState::Happened);
    let word = settled.settled.clone().unwrap();
    assert_eq!((word.by, word.value, word.at), (person("carol"), Some(value), at(0)));
    assert_eq!(word.note.as_deref(), Some("looked at the channel"));
    assert_eq!(w.step_state("post"), Some(StepState::Done));
    w.renew();
    assert_eq!(w.lease.wake, wake + 1, "a word is a decision");
    assert_eq!(w.row(&row.id), settled);
    let told = StoreError::Decided { state: RowState::Happened, by: "os:carol".into(), at: Some(at(0)) };
    assert_eq!(w.settle(&row, false), Err(told));
}

pub fn did_not_readies_the_step(bench: &dyn Bench) {
    let w = World::new(bench);
    let (row, permit) = w.claimed();
    w.outcome(permit.claim(), &unknown()).unwrap();
    let value = Some(Value::from("belongs to nothing"));
    let settled = w.store.settle(&row.id, &settlement(&row, false, value)).unwrap();
    assert_eq!((settled.state, settled.settled.unwrap().value), (RowState::DidNot, None));
    assert_eq!(w.step_state("post"), Some(StepState::Ready));
    assert_eq!(w.claim(&row).map(drop), Err(StoreError::NotNow(RowState::DidNot)), "it is asked again first");
}

pub fn settling_refuses_what_is_not_uncertain(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.asked();
    assert_eq!(w.settle(&row, true), Err(StoreError::NotNow(RowState::Pending)));
    w.vote(&row, "bob", true).unwrap();
    assert_eq!(w.settle(&row, true), Err(StoreError::NotNow(RowState::Approved)));
    let permit = w.claim(&row).unwrap();
    let claimed = w.row(&row.id);
    let other = Row { claim: Some("0".repeat(32)), ..claimed.clone() };
    assert!(matches!(w.settle(&other, true), Err(StoreError::NotFound { what: "claim", .. })));
    w.outcome(permit.claim(), &ok()).unwrap();
    assert_eq!(w.settle(&claimed, false), Err(StoreError::NotNow(RowState::Succeeded)));
}

pub fn settling_is_for_those_who_may_speak(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.ask(&under(Terms { roles: vec!["ops".into()], ..Terms::default() }));
    w.decide(&row, &with_roles("dan", &["ops"]), true).unwrap();
    let permit = w.claim(&row).unwrap();
    w.outcome(permit.claim(), &unknown()).unwrap();
    let row = w.row(&row.id);
    assert!(matches!(w.settle(&row, false), Err(StoreError::NotAllowed(_))));
    let mut word = settlement(&row, false, None);
    let dan = with_roles("dan", &["ops"]);
    for by in [Person { subject: String::new(), ..dan.clone() }, Person { verified: false, ..dan.clone() }] {
        word.settled.by = by;
        assert!(matches!(w.store.settle(&row.id, &word), Err(StoreError::NotAllowed(_))), "{word:?}");
    }
    assert_eq!(w.row(&row.id), row);
    word.settled.by = dan;
    assert_eq!(w.store.settle(&row.id, &word).unwrap().state, RowState::DidNot);
}

pub fn after_a_persons_word_the_claimers_is_an_event(bench: &dyn Bench) {
    let w = World::new(bench);
    let (row, permit) = w.claimed();
    w.outcome(permit.claim(), &unknown()).unwrap();
    let settled = w.settle(&row, true).unwrap();
    let failed = Outcome::Failed("channel_not_found".into());
    assert_eq!(w.outcome(permit.claim(), &failed).unwrap(), settled);
    assert_eq!(w.row(&row.id), settled);
    assert_eq!(w.step_state("post"), Some(StepState::Done));
    w.outcome(permit.claim(), &ok()).unwrap();
    let kinds = w.kinds(Some(&row.id));
    assert_eq!(kinds[3..], ["outcome", "settled", "contradicted", "confirmed"]);
}

pub fn an_unknown_outcome_may_become_known(bench: &dyn Bench) {
    let w = World::new(bench);
    let (row, permit) = w.claimed();
    w.outcome(permit.claim(), &unknown()).unwrap();
    let ended = w.outcome(permit.claim(), &ok()).unwrap();
    assert_eq!((ended.state, ended.outcome), (RowState::Succeeded, Some(ok())));
    let back = w.outcome(permit.claim(), &unknown());
    assert_eq!(back, Err(StoreError::NotNow(RowState::Succeeded)));
    assert_eq!(w.settle(&row, false), Err(StoreError::NotNow(RowState::Succeeded)));
}

pub fn settling_in_a_cancelled_run_readies_nothing(bench: &dyn Bench) {
    let w = World::new(bench);
    let (row, permit) = w.claimed();
    w.store.cancel(w.run(), &person("bob"), None).unwrap();
    w.outcome(permit.claim(), &unknown()).unwrap();
    assert_eq!(w.settle(&row, false).unwrap().state, RowState::DidNot);
    assert_eq!(w.step_state("post"), Some(StepState::Cancelled));
}
