//! A command that is interrupted: the first signal leaves its run in the store, the second ends it at once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod support;

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};
use support::{Place, text, until};

const SLOW: &str =
    "together:\n  slow: notes.list_slowly {}\nthen:\n  again: notes.list_things {}\n    after: slow\n";

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn the_run_is_left_in_the_store_and_goes_on_when_it_is_resumed() {
    let place = Place::new();
    place.write("x.recipe", SLOW);
    let mut child = place.start(&["run", "x.recipe"]);
    until("the read is under way", || place.lines("began") == 1);
    send(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(5));
    let run = place.last_run();
    assert_eq!(text(&run, "state"), "parked");
    place.write("go", "");
    let resumed = place.run(&["resume", text(&run, "id")]).ended(0);
    assert!(resumed.out.contains("✓ done"), "{}", resumed.out);
    let calls = place.read("calls");
    assert_eq!(calls.lines().filter(|line| *line == "list_slowly").count(), 2, "{calls}");
}

#[test]
fn what_it_says_is_how_to_go_on() {
    let place = Place::new();
    place.write("x.recipe", SLOW);
    let mut child = place
        .command(&["run", "x.recipe"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    until("the read is under way", || place.lines("began") == 1);
    send(&child, Signal::TERM);
    let (mut out, mut err) = (String::new(), String::new());
    std::io::Read::read_to_string(child.stdout.as_mut().unwrap(), &mut out).unwrap();
    std::io::Read::read_to_string(child.stderr.as_mut().unwrap(), &mut err).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5));
    let resume = format!("plangate resume {}", &text(&place.last_run(), "id")[..8]);
    assert!(out.contains(&resume), "{out}");
    assert!(err.contains("stopping; once more ends it at once"), "{err}");
}

#[test]
fn a_call_that_was_under_way_is_uncertain_and_not_made_again() {
    let place = Place::new();
    place.write(
        "plangate.toml",
        "[[allow]]\nserver = \"notes\"\ntool = \"post_slowly\"\ndefinition = \"any\"\nreason = \"test\"\n",
    );
    place.write("x.recipe", "then:\n  post: notes.post_slowly {\"text\":\"x\"}\n");
    let mut child = place.start(&["run", "x.recipe"]);
    until("the call is under way", || place.lines("began") == 1);
    send(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(5));
    let row = place.waiting();
    assert_eq!(text(&row, "state"), "uncertain");
    place.run(&["resume", text(&place.last_run(), "id")]).ended(3);
    place.write("go", "");
    let settled = place.run(&["settle", text(&row, "id"), "--happened"]).ended(0);
    assert!(settled.out.contains("✓ done"), "{}", settled.out);
    assert_eq!(place.lines("posted"), 1);
}

#[test]
fn the_second_signal_ends_it_at_once() {
    let place = Place::new();
    place.write("x.recipe", SLOW);
    let mut child = place.start(&["run", "x.recipe"]);
    until("the read is under way", || place.lines("began") == 1);
    // Both are there when it wakes.
    for signal in [Signal::STOP, Signal::INT, Signal::TERM, Signal::CONT] {
        send(&child, signal);
    }
    let code = child.wait().unwrap().code();
    assert!(matches!(code, Some(130 | 143)), "{code:?}");
    place.write("go", "");
    place.run(&["resume", text(&place.last_run(), "id")]).ended(0);
}

#[test]
fn a_drive_ends_at_its_deadline_and_waits_for_people_without_one() {
    let place = Place::new();
    place.write("plangate.toml", "[limits]\ndeadline = \"1h\"\n");
    place.write(
        "x.recipe",
        "together:\n  slow: notes.list_slowly {}\n  post: notes.post_note {\"text\":\"x\"}\n",
    );
    let parked = place.run(&["run", "x.recipe", "--deadline", "3s"]).ended(3);
    assert!(parked.out.contains("✗ slow"), "{}", parked.out);
    let ended = place.run(&["approve", text(&place.last_run(), "id")]).ended(1);
    assert!(ended.out.contains("✓ post"), "{}", ended.out);
    assert_eq!(place.lines("posted"), 1);
    place.run(&["run", "x.recipe", "--deadline", "soon"]).ended(64);
}
