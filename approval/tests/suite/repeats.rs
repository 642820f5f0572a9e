//! The very same call, made before.

use plangate_graph::policy::Repeat;

use super::*;

const DAY: i64 = 86_400_000;

fn once_a_day() -> Terms {
    Terms {
        repeat: Some(Repeat { within_ms: DAY, rejected: false }),
        may_edit: Some(vec!["editor".into()]),
        ..Terms::default()
    }
}

fn daily() -> Ask {
    under(once_a_day())
}

/// The row, run, state and times that a refusal names.
fn named(refused: StoreError) -> (RowId, RunId, RowState, Time, Time) {
    match refused {
        StoreError::Repeated { row, run, state, at, until } => (row, run, state, at, until),
        other => panic!("{other:?}"),
    }
}

/// What the log says of the refusals of a run, and of which row each is.
fn refusals(w: &World) -> Vec<(Option<String>, String)> {
    let text = |what: &Value, name: &str| what.member(name).and_then(Value::text).map(str::to_owned);
    let events = w.store.events(0).unwrap();
    let whats = events.iter().map(|event| Value::parse(&event.what).unwrap());
    whats
        .filter(|what| text(what, "kind").as_deref() == Some("refused"))
        .filter(|what| text(what, "run").as_ref() == Some(&w.run().0))
        .map(|what| (text(&what, "row"), text(&what, "before_run").unwrap()))
        .collect()
}

pub fn a_repeat_is_refused_before_anybody_is_asked(bench: &dyn Bench) {
    let first = World::new(bench);
    let (row, permit) = first.claimed();
    first.clock.pass(2_000);
    first.outcome(permit.claim(), &ok()).unwrap();

    let second = World::new(bench);
    let refused = second.try_ask(&daily()).unwrap_err();
    let until = at(2_000 + DAY);
    assert_eq!(
        named(refused.clone()),
        (row.id.clone(), first.run().clone(), RowState::Succeeded, at(0), until)
    );
    let words = refused.to_string();
    assert!(words.contains(&first.run().0) && words.contains(&until.to_string()), "{words}");
    assert!(words.contains("[[repeat]]"), "it says how to overrule it: {words}");
    assert_eq!(second.store.rows(Some(second.run())).unwrap(), [], "no row waits for anybody");
    assert_eq!(refusals(&second), [(None, first.run().0.clone())], "the log says so");

    // Other arguments are another call; without such terms nothing is refused; and it ends.
    let mut other = daily();
    other.node = "other/gate".into();
    other.call.as_mut().unwrap().args = b"{}".to_vec();
    second.ask(&other);
    second.ask(&post("plain", 0));
    second.clock.pass(DAY - 1);
    let third = World::new(bench);
    assert_eq!(named(third.try_ask(&daily()).unwrap_err()).4, until);
    third.clock.pass(1);
    third.ask(&daily());
}

/// Two runs ask before either calls: the claim decides, and only the first is made.
pub fn of_two_that_wait_one_is_claimed(bench: &dyn Bench) {
    let (a, b) = (World::new(bench), World::new(bench));
    let (one, two) = (a.ask(&daily()), b.ask(&daily()));
    a.vote(&one, "bob", true).unwrap();
    let two = b.vote(&two, "bob", true).unwrap();
    let permit = a.claim(&one).unwrap();
    a.clock.pass(1_000);
    let refused = b.claim(&two).map(drop).unwrap_err();
    assert_eq!(
        named(refused),
        (one.id.clone(), a.run().clone(), RowState::Claimed, at(0), at(1_000 + DAY)),
        "it is under way"
    );
    assert_eq!((b.state(&two), b.step_state("post")), (RowState::Approved, None), "nothing was started");
    assert_eq!(refusals(&b), [(Some(two.id.0.clone()), a.run().0.clone())]);
    // The claim that was made is asked again by its own claimer, and stands.
    let running = step("post", StepState::Running);
    let again = a.store.claim(&a.lease, &one.id, &permit.claim().nonce, one.digest, definition(), &running);
    assert_eq!(again.unwrap().state, RowState::Claimed);
    assert_eq!(a.ask(&daily()).id, one.id, "asked again, it is the row that it was");
    // What failed was not made.
    a.outcome(permit.claim(), &Outcome::NotSent("the server was gone".into())).unwrap();
    b.claim(&two).unwrap();
}

pub fn what_a_rule_lets_through_is_refused_too(bench: &dyn Bench) {
    let (a, b) = (World::new(bench), World::new(bench));
    let ask = Ask { node: "post".into(), question: None, ..daily() };
    let running = step("post", StepState::Running);
    let through = |w: &World| w.approvals.claim_unasked(&w.lease, &ask, "allow slack.post", &running);
    let permit = through(&a).unwrap();
    let refused = through(&b).map(drop).unwrap_err();
    assert_eq!(named(refused).0, *permit.row());
    assert_eq!(b.store.rows(Some(b.run())).unwrap(), []);
    assert_eq!(b.step_state("post"), None);
}

pub fn an_edit_into_a_call_that_was_made_is_refused(bench: &dyn Bench) {
    let first = World::new(bench);
    let (_, permit) = first.claimed();
    first.outcome(permit.claim(), &ok()).unwrap();

    let second = World::new(bench);
    let mut other = daily();
    other.call.as_mut().unwrap().args = b"{}".to_vec();
    let row = second.ask(&other);
    let edit = |row: &Row, args: &str| Edit {
        row: row.id.clone(),
        seen: row.digest,
        by: with_roles("eve", &["editor"]),
        args: args.as_bytes().to_vec(),
        reason: Vec::new(),
        terms: row.terms.clone(),
        note: None,
    };
    let refused = second.approvals.edit(&row, &edit(&row, ARGS)).unwrap_err();
    assert_eq!(&named(refused).1, first.run());
    assert_eq!(second.row(&row.id), row, "it waits as it did");
    second.approvals.edit(&row, &edit(&row, r#"{"n":1}"#)).unwrap();
}

pub fn an_uncertain_call_counts_until_it_is_settled(bench: &dyn Bench) {
    let first = World::new(bench);
    let (_, permit) = first.claimed();
    let row = first.outcome(permit.claim(), &Outcome::Unknown("connection lost".into())).unwrap();
    let second = World::new(bench);
    assert_eq!(named(second.try_ask(&daily()).unwrap_err()).2, RowState::Uncertain);
    first.settle(&row, false).unwrap();
    second.ask(&daily());
}

pub fn a_no_counts_where_policy_says_so(bench: &dyn Bench) {
    let first = World::new(bench);
    let row = first.asked();
    first.vote(&row, "bob", false).unwrap();
    let second = World::new(bench);
    second.ask(&daily());
    let strict = Terms { repeat: Some(Repeat { within_ms: DAY, rejected: true }), ..once_a_day() };
    let third = World::new(bench);
    assert_eq!(named(third.try_ask(&under(strict)).unwrap_err()).2, RowState::Rejected);
}

/// A clock that was set back does not make the call older than it is.
pub fn a_clock_set_back_does_not_allow_a_repeat(bench: &dyn Bench) {
    let first = World::new(bench);
    let (_, permit) = first.claimed();
    first.outcome(permit.claim(), &ok()).unwrap();
    first.clock.set(-7_200_000);
    let second = World::new(bench);
    assert_eq!(named(second.try_ask(&daily()).unwrap_err()).1, *first.run());
}
