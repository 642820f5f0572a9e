//! Calls that change something, past their deadline: uncertain at once, and not over before their grace has passed.

use std::sync::Arc;
use std::thread::yield_now;
use std::time::Duration;

use crossbeam::channel::{Receiver, Sender, bounded, unbounded};
use plangate_approval::StepState::*;
use plangate_approval::memory::MemoryStore;
use plangate_approval::storage::Storage;
use plangate_approval::{RowState, RunState, StoreError, Time};

use crate::stage::*;

const RECIPE: &str =
    "then:\n  a: slack.post {}\n    timeout: 2s\n  c: fs.read_file {\"a\":\"{a}\"}\n  b: jira.create {}\n";

/// A post that goes on until it is let go, whoever asks it to stop.
fn stubborn(stage: Stage) -> (Stage, Sender<()>) {
    let (release, released) = unbounded::<()>();
    let mut stage = stage.on("slack.post", move |_, _| {
        let _ = released.recv();
        Answer::Ok(json("\"posted\""))
    });
    stage.options.grace = Duration::from_millis(10);
    (stage, release)
}

/// A post that ends as soon as it is asked to stop.
fn heeding(answer: Answer) -> Stage {
    Stage::new().on("slack.post", move |_, cancel| {
        let (stop, stopped) = bounded(1);
        cancel.on_cancel(move || stop.send(()).unwrap());
        stopped.recv().unwrap();
        answer.clone()
    })
}

/// Waits until no thread of a run is left: they hold the host.
fn wait_for_threads(stage: &Stage) {
    while Arc::strong_count(&stage.host) > 1 {
        yield_now();
    }
}

fn kinds(stage: &Stage) -> Vec<String> {
    let kind =
        |what: &str| json(what).member("kind").and_then(|kind| kind.text().map(str::to_owned)).unwrap();
    stage.store.events(0).unwrap().iter().map(|event| kind(&event.what)).collect()
}

#[test]
fn before_its_grace_has_passed_nobody_can_say_that_it_did_not_happen() {
    let (stage, release) = stubborn(Stage::new());
    let parked = stage.run(RECIPE);
    stage.approve(&only(&parked));
    let parked = stage.resume(&parked);
    let row = only(&parked);
    assert_eq!(states(&parked), "a/gate done, a uncertain, c waiting, b/gate waiting, b waiting");
    assert_eq!(step(&parked, "a").error.as_deref(), Some("no answer within 2000 ms"));
    assert_eq!((row.state, &row.outcome), (RowState::Uncertain, &None));

    let until = Time(row.claimed_at.unwrap().0 + 2_000 + 30_000);
    let refused = Err(StoreError::InFlight { until });
    assert_eq!(settle(&*stage.store, &row, false, None), refused);
    stage.clock.advance_ms(31_999);
    assert_eq!(settle(&*stage.store, &row, false, None), refused);
    stage.clock.advance_ms(1);
    assert_eq!(settle(&*stage.store, &row, false, None).unwrap().state, RowState::DidNot);

    // What it says after that is kept, and changes nothing.
    drop(release);
    wait_for_threads(&stage);
    assert_eq!(kinds(&stage).last().map(String::as_str), Some("contradicted"));
    let parked = stage.resume(&parked);
    assert_eq!(states(&parked), "a/gate pending, a waiting, c waiting, b/gate waiting, b waiting");
    assert_eq!((only(&parked).ask, stage.host.calls("slack.post")), (1, 1));
}

#[test]
fn what_comes_after_the_run_was_parked_counts_and_starts_nothing() {
    let (stage, release) = stubborn(Stage::new());
    let parked = stage.run(RECIPE);
    stage.approve(&only(&parked));
    let parked = stage.resume(&parked);
    drop(release);
    wait_for_threads(&stage);
    assert_eq!(stage.store_row(&only(&parked)).state, RowState::Succeeded);
    assert_eq!(stage.host.calls("fs.read_file"), 0, "nobody drives the run");
    let parked = stage.resume(&parked);
    assert_eq!(states(&parked), "a/gate done, a done, c done, b/gate pending, b waiting");
    assert_eq!(step(&parked, "a").result, Some("posted".into()));
}

#[test]
fn a_call_that_heeds_is_heard_before_the_run_parks() {
    let stage = heeding(Answer::Ok(json("\"it was posted\"")));
    let parked = stage.run(RECIPE);
    stage.approve(&only(&parked));
    let parked = stage.resume(&parked);
    assert_eq!(states(&parked), "a/gate done, a done, c done, b/gate pending, b waiting");
    assert_eq!(step(&parked, "a").result, Some("it was posted".into()));
    assert_eq!(step(&parked, "a").error, None);
}

#[test]
fn one_that_stops_and_does_not_know_may_be_under_way_elsewhere() {
    let stage = heeding(Answer::Unknown("stopped"));
    let parked = stage.run(RECIPE);
    stage.approve(&only(&parked));
    let parked = stage.resume(&parked);
    let row = only(&parked);
    assert_eq!((state(&parked, "a"), row.state, &row.outcome), (Uncertain, RowState::Uncertain, &None));
    assert!(matches!(settle(&*stage.store, &row, false, None), Err(StoreError::InFlight { .. })));
    stage.clock.advance_ms(32_000);
    settle(&*stage.store, &row, false, None).unwrap();
}

/// A run with such a call and a read beside it, driven on a thread until the read is let go.
fn driven(
    stage: Stage,
    recipe: &str,
) -> (Arc<Stage>, Sender<()>, std::thread::JoinHandle<plangate_executor::Ended>) {
    let (go, gone): (Sender<()>, Receiver<()>) = unbounded();
    let stage = Arc::new(stage.on("gmail.list", move |_, _| {
        let _ = gone.recv();
        Answer::Ok(json("1"))
    }));
    let policy = "[[allow]]\nserver = \"slack\"\ntool = \"post\"\ndefinition = \"any\"\nreason = \"test\"\n";
    let plan = plan_with(recipe, &catalog(), &plangate_graph::Policy::from_toml(policy).unwrap());
    let driver = {
        let stage = Arc::clone(&stage);
        std::thread::spawn(move || stage.executor().run(&plan, start("{}")).unwrap())
    };
    (stage, go, driver)
}

const BESIDE: &str = "together:\n  slow: gmail.list {}\n  p: slack.post {}\n    timeout: 2s\n";

#[test]
fn while_the_run_goes_on_the_step_is_uncertain_and_its_row_claimed() {
    let (stage, release) = stubborn(Stage::new());
    let (stage, go, driver) = driven(stage, BESIDE);
    let step = || {
        let run = stage.store_runs().first()?.id.clone();
        stage.executor().record(&run).unwrap().step("p").map(|step| (step.state, step.error.clone()))
    };
    while step().is_none_or(|(state, _)| state != Uncertain) {
        yield_now();
    }
    assert_eq!(step().unwrap().1.as_deref(), Some("no answer within 2000 ms"));
    let row = stage.store.rows(None).unwrap()[0].clone();
    assert_eq!(row.state, RowState::Claimed);
    assert!(matches!(settle(&*stage.store, &row, false, None), Err(StoreError::InFlight { .. })));
    drop(release);
    while stage.store_row(&row).state != RowState::Succeeded {
        yield_now();
    }
    drop(go);
    let ended = driver.join().unwrap();
    assert_eq!((done(&ended).state, states(&ended).as_str()), (RunState::Done, "slow done, p done"));
}

#[test]
fn after_its_grace_the_row_says_that_nobody_knows_and_a_person_may_speak() {
    let mut stage = Stage::new();
    stage.store = Arc::new(MemoryStore::with_clock(stage.clock.clone()).unwrap().with_grace(50));
    let (stage, release) = stubborn(stage);
    let (stage, go, driver) = driven(stage, BESIDE);
    let row = || stage.store.rows(None).unwrap().first().cloned();
    while row().is_none_or(|row| row.state != RowState::Uncertain) {
        yield_now();
    }
    settle(&*stage.store, &row().unwrap(), false, None).unwrap();
    // Taken up while the run is driven: the call is put before a person, since it is not made again by itself.
    while stage.store.rows(None).unwrap().len() < 2 {
        yield_now();
    }
    drop(go);
    let parked = driver.join().unwrap();
    assert_eq!((only(&parked).ask, states(&parked).as_str()), (1, "slow done, p pending"));
    drop(release);
    wait_for_threads(&stage);
    assert_eq!(stage.host.calls("slack.post"), 1);
}
