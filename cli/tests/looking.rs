//! Looking at runs: the graph for Graphviz, the day's log, and which runs are listed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod support;

use plangate_graph::Value;
use support::{Place, text};

const POST: &str = "together:\n  things: notes.list_things {}\nthen:\n  post: notes.post_note {\"text\":\"costs {things.things[0].price}\"}\n";

#[test]
fn the_graph_is_drawn_for_graphviz() {
    let place = Place::new();
    place.write("x.recipe", POST);
    let drawn = place.run(&["plan", "x.recipe", "--dot"]).ended(0);
    insta::assert_snapshot!(drawn.out);
    place.run(&["plan", "x.recipe", "--dot", "--json"]).ended(64);
    place.run(&["plan", "x.recipe", "--dot", "--mermaid"]).ended(64);
}

/// The files of the log, one after the other; a test may run over midnight.
fn log(place: &Place) -> String {
    let mut files: Vec<_> =
        std::fs::read_dir(place.path("log")).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

#[test]
fn each_time_that_a_run_is_laid_down_the_log_has_a_line() {
    let place = Place::new();
    place.write("plangate.toml", "[trace]\ndir = \"log\"\n");
    place.write("x.recipe", POST);
    place.run(&["run", "x.recipe"]).ended(3);
    let parked = log(&place);
    let lines: Vec<&str> = parked.lines().collect();
    assert!(lines[0].starts_with("# 20") && lines[1].is_empty() && lines.len() == 3, "{parked}");
    let run = place.last_run();
    let id = &text(&run, "id")[..8];
    for part in ["⏸ parked · x.recipe · run ", id, "waits: post", "wall ", "critical path "] {
        assert!(lines[2].contains(part), "{part} is not in {}", lines[2]);
    }

    // Somebody else writes there too: nothing of it is touched.
    let file = std::fs::read_dir(place.path("log")).unwrap().next().unwrap().unwrap().path();
    let with_note = format!("{parked}- a note of somebody\n");
    std::fs::write(&file, &with_note).unwrap();
    place.run(&["approve", id]).ended(0);
    let done = log(&place);
    assert!(done.starts_with(&with_note), "{done}");
    assert!(done.lines().last().unwrap().contains("✓ done · x.recipe"), "{done}");

    // One that has ended is not laid down again, one that is cancelled while it is parked is.
    place.run(&["resume", id]).ended(0);
    assert_eq!(log(&place), done);
    place.run(&["run", "x.recipe"]).ended(3);
    place.run(&["cancel", text(&place.last_run(), "id"), "--reason", "not today"]).ended(0);
    let lines = log(&place);
    let lines: Vec<&str> = lines.lines().rev().take(2).collect();
    assert!(lines[1].contains("⏸ parked") && lines[0].contains("– cancelled · x.recipe"), "{lines:?}");
    assert!(lines[0].contains("not today"), "{}", lines[0]);
}

#[test]
fn a_log_that_cannot_be_written_is_a_warning() {
    let place = Place::new();
    place.write("log", "this is a file");
    place.write("plangate.toml", "[trace]\ndir = \"log\"\n");
    place.write("x.recipe", "together:\n  things: notes.list_things {}\n");
    let done = place.run(&["run", "x.recipe"]).ended(0);
    assert!(done.err.contains("warning: ") && done.err.contains("cannot be written"), "{}", done.err);
}

#[test]
fn runs_are_listed_by_state_text_and_time() {
    let place = Place::new();
    place.write("first.recipe", "together:\n  things: notes.list_things {}\n");
    place.write("second.recipe", POST);
    place.run(&["run", "first.recipe"]).ended(0);
    place.run(&["run", "second.recipe"]).ended(3);
    let titles = |args: &[&str]| -> Vec<String> {
        let listed = place.run(&[&["runs", "--json"], args].concat()).ended(0).json();
        match listed.member("runs").unwrap() {
            Value::List(runs) => runs.iter().map(|run| text(run, "title").to_owned()).collect(),
            other => panic!("{other}"),
        }
    };
    assert_eq!(titles(&[]), ["second.recipe", "first.recipe"]);
    assert_eq!(titles(&["--state", "parked"]), ["second.recipe"]);
    assert_eq!(titles(&["--text", "FIRST"]), ["first.recipe"]);
    assert_eq!(titles(&["--since", "1h"]).len(), 2);
    assert_eq!(titles(&["--until", "1h"]).len(), 0);
    assert_eq!(
        titles(&["--since", "2020-01-01", "--until", "2999-12-31T08:00", "--state", "done"]),
        ["first.recipe"]
    );
    assert_eq!(titles(&["--since", "2999-12-31"]).len(), 0);
    let wrong = place.run(&["runs", "--since", "soon"]).ended(64);
    assert!(wrong.err.contains("2026-07-31"), "{}", wrong.err);
}
