//! A drive that is told to stop from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crossbeam::channel::bounded;
use plangate_approval::{RowState, RunState};
use plangate_executor::{Ended, Stop};
use plangate_graph::Policy;

use crate::stage::*;

const RECIPE: &str =
    "together:\n  a: gmail.list {}\n  p: slack.post {}\nthen:\n  b: fs.read_file {\"a\":\"{a}\"}\n";

fn allowing() -> Policy {
    let allow = "[[allow]]\nserver = \"slack\"\ntool = \"post\"\ndefinition = \"any\"\nreason = \"test\"\n";
    Policy::from_toml(allow).unwrap()
}

#[test]
fn it_lies_in_the_store_and_is_resumed_without_doing_anything_twice() {
    let (here, there) = bounded(2);
    let here_too = here.clone();
    let reads = Arc::new(AtomicUsize::new(0));
    let mut stage = Stage::new()
        .on("gmail.list", move |_, cancel| {
            if reads.fetch_add(1, SeqCst) > 0 {
                return Answer::Ok(json("1"));
            }
            let (stop, stopped) = bounded(1);
            cancel.on_cancel(move || stop.send(()).unwrap());
            here.send(()).unwrap();
            stopped.recv().unwrap();
            Answer::Failed("stopped")
        })
        .on("slack.post", move |_, cancel| {
            let (stop, stopped) = bounded(1);
            cancel.on_cancel(move || stop.send(()).unwrap());
            here_too.send(()).unwrap();
            stopped.recv().unwrap();
            Answer::Ok(json("\"it was posted before\""))
        });
    let stop = Stop::new();
    stage.options.stop = Some(stop.clone());
    let stage = Arc::new(stage);
    let driver = {
        let stage = Arc::clone(&stage);
        let plan = plan_with(RECIPE, &catalog(), &allowing());
        std::thread::spawn(move || stage.executor().run(&plan, start("{}")).unwrap())
    };
    there.recv().unwrap();
    there.recv().unwrap();
    stop.stop();
    let stopped = driver.join().unwrap();
    let Ended::Stopped { run, record } = &stopped else { panic!("{stopped:#?}") };
    assert_eq!(record.state, RunState::Parked);
    assert_eq!(states(&stopped), "a ready, p done, b waiting");
    assert_eq!(step(&stopped, "p").result, Some("it was posted before".into()));

    // The same handle keeps whatever comes after it from starting.
    let again = stage.executor().resume(run, None).unwrap();
    assert!(matches!(again, Ended::Stopped { .. }));
    assert_eq!((stage.host.calls("gmail.list"), stage.host.calls("slack.post")), (1, 1));

    let other = plangate_executor::Executor::new(
        stage.store.clone(),
        stage.host.clone(),
        None,
        plangate_executor::Options::default(),
    );
    let ended = other.resume(run, None).unwrap();
    assert_eq!((done(&ended).state, states(&ended).as_str()), (RunState::Done, "a done, p done, b done"));
    assert_eq!((stage.host.calls("gmail.list"), stage.host.calls("slack.post")), (2, 1));
}

#[test]
fn a_call_that_does_not_heed_is_uncertain() {
    let (here, there) = bounded(1);
    let (release, released) = bounded::<()>(0);
    let mut stage = Stage::new().on("slack.post", move |_, _| {
        here.send(()).unwrap();
        let _ = released.recv();
        Answer::Ok(json("1"))
    });
    let stop = Stop::new();
    stage.options.stop = Some(stop.clone());
    stage.options.grace = std::time::Duration::from_millis(10);
    let stage = Arc::new(stage);
    let driver = {
        let stage = Arc::clone(&stage);
        let plan = plan_with("then:\n  p: slack.post {}\n", &catalog(), &allowing());
        std::thread::spawn(move || stage.executor().run(&plan, start("{}")).unwrap())
    };
    there.recv().unwrap();
    stop.stop();
    let stopped = driver.join().unwrap();
    assert!(matches!(stopped, Ended::Stopped { .. }));
    assert_eq!(states(&stopped), "p uncertain");
    let row = &stage.store_row(&plangate_approval::storage::Storage::rows(&*stage.store, None).unwrap()[0]);
    assert_eq!((row.state, &row.outcome), (RowState::Uncertain, &None));
    // It is heard all the same.
    drop(release);
    while row_state(&stage.store, row) != RowState::Succeeded {
        std::thread::yield_now();
    }
}

#[test]
fn a_run_that_waits_for_people_alone_is_parked_as_ever() {
    let mut stage = Stage::new();
    let stop = Stop::new();
    stage.options.stop = Some(stop.clone());
    let parked = stage.run("then:\n  p: slack.post {}\n");
    assert!(matches!(parked, Ended::Parked { .. }));
    stop.stop();
    assert!(stop.is_stopped());
    stage.approve(&only(&parked));
    let stopped = stage.resume(&parked);
    assert!(matches!(stopped, Ended::Stopped { .. }));
    assert_eq!(stage.host.calls("slack.post"), 0);
}
