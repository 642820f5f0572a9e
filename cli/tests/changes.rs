//! What people do with what waits: edit it, answer several at once, accept a change, read the log.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod support;

use plangate_graph::Value;
use support::{Place, member, text};

const TWO: &str = "together:\n  a: notes.post_note {\"text\":\"one\",\"amount\":1.10}\n  b: notes.post_note {\"text\":\"two\"}\n";
const ONE: &str = "then:\n  a: notes.post_note {\"text\":\"one\",\"amount\":1.10}\n";

/// A policy under which whoever runs this may edit.
fn editable() -> String {
    let who = nix::unistd::Uid::current();
    let name = std::process::Command::new("id").args(["-un"]).output().unwrap();
    let name = String::from_utf8(name.stdout).unwrap();
    let name = if name.trim().is_empty() { format!("uid-{who}") } else { name.trim().to_owned() };
    format!(
        "[roles]\neditor = [\"os:{name}\"]\n\n[[people]]\nserver = \"notes\"\ntool = \"*\"\nmay_edit = [\"editor\"]\n"
    )
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    match member(value, name) {
        Value::List(items) => items,
        other => panic!("{other}"),
    }
}

#[test]
fn approved_with_other_arguments() {
    let place = Place::new();
    place.write("x.recipe", ONE);
    place.write("plangate.toml", &editable());
    place.run(&["run", "x.recipe"]).ended(3);
    let id = text(&place.waiting(), "id").to_owned();
    let wrong = place.run(&["approve", &id, "--edit", "[1]"]).ended(64);
    assert!(wrong.err.contains("not an object"), "{}", wrong.err);
    let wrong = place.run(&["approve", &id, "--edit", r#"{"amount":"much"}"#]).ended(2);
    assert!(wrong.err.contains("do not fit notes.post_note"), "{}", wrong.err);
    assert_eq!(place.lines("posted"), 0);
    place.write("args.json", r#"{"text":"smaller","amount":0.10}"#);
    let done = place.run(&["approve", &id, "--edit", "@args.json", "--note", "too much"]).ended(0);
    assert!(done.out.contains("edited"), "{}", done.out);
    assert_eq!(place.lines("posted"), 1);
    assert!(place.read("posted").contains(r#"{"amount":0.10,"text":"smaller"}"#), "{}", place.read("posted"));
    let shown = place.run(&["show", &id, "--json"]).ended(0).json();
    let approval = member(&shown, "approval");
    let before = &list(approval, "edits")[0];
    assert_eq!(member(before, "arguments").to_string(), r#"{"amount":1.10,"text":"one"}"#);
    assert_eq!(
        (text(before, "note"), text(approval, "edited_from")),
        ("too much", text(before, "edited_from"))
    );
    let shown = place.run(&["show", &id]).ended(0);
    assert!(shown.out.contains(r#"{"amount":1.10,"text":"one"}"#), "{}", shown.out);

    let log = place.run(&["audit", "--export"]).ended(0);
    let lines: Vec<Value> = log.out.lines().map(|line| Value::parse(line).unwrap()).collect();
    let of = |kind: &str| {
        let found = lines.iter().find(|line| text(member(line, "what"), "kind") == kind);
        found.unwrap_or_else(|| panic!("no {kind} in {}", log.out))
    };
    let rows: Vec<(&str, String)> = lines
        .iter()
        .filter(|line| line.member("step").is_some())
        .map(|line| (text(member(line, "what"), "kind"), member(line, "arguments_shown").to_string()))
        .collect();
    let (first, second) = (r#"{"amount":1.10,"text":"one"}"#, r#"{"amount":0.10,"text":"smaller"}"#);
    assert_eq!(
        rows.iter().map(|(kind, shown)| (*kind, shown.as_str())).collect::<Vec<_>>(),
        [
            ("asked", first),
            ("shown", first),
            ("edited", second),
            ("shown", second),
            ("approved", second),
            ("claimed", second),
            ("outcome", second)
        ],
        "as they stood at that moment; each digest is shown once to one person"
    );
    let shown = |kind: &str| member(of(kind), "arguments_shown").to_string();
    assert_eq!(shown("asked"), r#"{"amount":1.10,"text":"one"}"#);
    assert_eq!(shown("approved"), r#"{"amount":0.10,"text":"smaller"}"#);
    assert_eq!(member(of("approved"), "arguments_executed"), &Value::Null);
    assert_eq!(
        member(of("outcome"), "arguments_executed").to_string(),
        r#"{"amount":0.10,"text":"smaller"}"#
    );
    for (name, value) in [("step", "a"), ("tool", "notes.post_note"), ("decision", "succeeded")] {
        assert_eq!(text(of("claimed"), name), value);
    }
    assert!(text(of("claimed"), "decider").starts_with("os:"));
    assert!(
        text(of("claimed"), "run") == text(&place.last_run(), "id")
            && !text(of("claimed"), "expires").is_empty()
    );
    assert!(member(of("outcome"), "outcome").member("ok").is_some());

    // Asked once more, the very same call says what became of it before.
    place.write("same.recipe", "then:\n  z: notes.post_note {\"text\":\"smaller\",\"amount\":0.10}\n");
    place.run(&["run", "same.recipe"]).ended(3);
    let again = place.run(&["show", text(&place.waiting(), "id"), "--json"]).ended(0).json();
    let [before] = list(&again, "before") else { panic!("{again}") };
    assert_eq!((text(before, "approval"), text(before, "state")), (id.as_str(), "succeeded"));
}

#[test]
fn nobody_edits_without_the_right() {
    let place = Place::new();
    place.write("x.recipe", ONE);
    place.run(&["run", "x.recipe"]).ended(3);
    let id = text(&place.waiting(), "id").to_owned();
    let refused = place.run(&["approve", &id, "--edit", r#"{"text":"x"}"#]).ended(77);
    assert!(refused.err.contains("policy lets nobody edit"), "{}", refused.err);
    assert_eq!(
        member(member(&place.waiting(), "call"), "arguments").to_string(),
        r#"{"amount":1.10,"text":"one"}"#
    );
}

#[test]
fn several_are_answered_each_with_a_result() {
    let place = Place::new();
    place.write("x.recipe", TWO);
    let parked = place.run(&["run", "x.recipe", "--json"]).ended(3).json();
    let run = text(&parked, "run").to_owned();
    let ids: Vec<String> = list(&parked, "waiting").iter().map(|row| text(row, "id").to_owned()).collect();
    let which = place.run(&["approve", &run]).ended(64);
    assert!(which.err.contains("2 approvals wait") && which.err.contains(&ids[1]), "{}", which.err);
    let nobody = "f".repeat(32);
    let ran = place.run(&["approve", &ids[0], &nobody, &ids[1], &ids[0], "--json"]).ended(66).json();
    let results = list(&ran, "results");
    let ok: Vec<String> = results.iter().map(|result| member(result, "ok").to_string()).collect();
    assert_eq!(ok, ["true", "false", "true", "false"]);
    assert_eq!(text(member(&results[3], "error"), "code"), "decided");
    let [went] = list(&ran, "runs") else { panic!("{ran}") };
    assert_eq!((text(went, "run"), text(went, "state")), (run.as_str(), "done"));
    assert_eq!(place.lines("posted"), 2);
    place.run(&["audit"]).ended(0);
}

#[test]
fn each_of_several_is_shown_before_it_is_answered() {
    let place = Place::new();
    place.write("x.recipe", TWO);
    let parked = place.run(&["run", "x.recipe", "--json"]).ended(3).json();
    let ids: Vec<String> = list(&parked, "waiting").iter().map(|row| text(row, "id").to_owned()).collect();
    let said = place.run(&["reject", &ids[0], &ids[1], "--no-resume"]).ended(0);
    assert!(said.out.contains(r#""one""#) && said.out.contains(r#""two""#), "{}", said.out);
    let log = place.run(&["audit", "--export"]).ended(0);
    let of = |id: &str| {
        let lines = log.out.lines().map(|line| Value::parse(line).unwrap());
        let mine = lines.filter(|line| member(line, "what").member("row").and_then(Value::text) == Some(id));
        mine.map(|line| text(member(&line, "what"), "kind").to_owned()).collect::<Vec<_>>()
    };
    for id in &ids {
        assert_eq!(of(id), ["asked", "shown", "rejected"]);
    }
}

#[test]
fn a_change_is_accepted_and_asked_again() {
    let place = Place::new();
    place.write("x.recipe", TWO);
    place.run(&["run", "x.recipe"]).ended(3);
    let run = text(&place.last_run(), "id").to_owned();
    // What was a plain call may not be called at all now: accepting that is not possible.
    place.write("plangate.toml", "[[deny]]\nserver = \"notes\"\ntool = \"post_note\"\nreason = \"closed\"\n");
    let shown = place.run(&["resume", &run]).ended(3);
    assert!(shown.out.contains(&format!("resume {} --accept", &run[..8])), "{}", shown.out);
    let refused = place.run(&["resume", &run, "--accept"]).ended(3);
    assert!(refused.out.contains("cannot be accepted"), "{}", refused.out);
    // Put right, the run goes on with what was asked.
    place.write("plangate.toml", "");
    place.run(&["resume", &run]).ended(3);
    assert_eq!((place.waiting_count(), place.lines("posted")), (2, 0));
}

#[test]
fn the_very_same_call_is_refused_for_a_day() {
    let place = Place::new();
    place.write("x.recipe", ONE);
    place.write(
        "plangate.toml",
        "[[repeat]]\nserver = \"notes\"\ntool = \"post_note\"\nwithin = \"24h\"\nreason = \"once a day\"\n",
    );
    let card = place.run(&["run", "x.recipe"]).ended(3);
    assert!(
        card.out.matches("refused if the very same call was made within 1d before").count() == 2,
        "on the card, and in the row: {}",
        card.out
    );
    let row = place.waiting();
    assert_eq!(member(member(&row, "repeat"), "within_ms").to_string(), "86400000");
    place.run(&["approve", text(&row, "id")]).ended(0);
    let first = text(&place.last_run(), "id").to_owned();
    let refused = place.run(&["run", "x.recipe"]).ended(1);
    assert!(refused.out.contains(&first) && refused.out.contains("[[repeat]]"), "{}", refused.out);
    assert_eq!((place.waiting_count(), place.lines("posted")), (0, 1), "nobody was asked");
    let log = place.run(&["audit", "--export"]).ended(0);
    let refusal = log.out.lines().map(|line| Value::parse(line).unwrap());
    let refusal =
        refusal.map(|line| member(&line, "what").clone()).find(|what| text(what, "kind") == "refused");
    assert_eq!(text(&refusal.unwrap(), "before_run"), first);
    place.run(&["audit"]).ended(0);
    // Whoever wants it sooner changes the rule.
    place.write("plangate.toml", "");
    place.run(&["run", "x.recipe"]).ended(3);
}

/// One line of JSON an event; each that is about an approval says all that an auditor asks for.
#[test]
fn the_export_says_what_was_shown_decided_and_called() {
    let place = Place::new();
    place.write("x.recipe", TWO);
    let parked = place.run(&["run", "x.recipe", "--json"]).ended(3).json();
    let run = text(&parked, "run").to_owned();
    let id_of = |step: &str| {
        let rows = list(&parked, "waiting");
        text(rows.iter().find(|row| text(row, "step") == step).unwrap(), "id").to_owned()
    };
    let (a, b) = (id_of("a"), id_of("b"));
    let shown = place.run(&["show", &a]).ended(0);
    assert!(!shown.out.contains("shown "), "nobody saw it before: {}", shown.out);
    let shown = place.run(&["show", &a]).ended(0);
    assert!(shown.out.contains("shown       to os:") && shown.out.contains(" by cli at "), "{}", shown.out);
    place.run(&["show", &b, "--json"]).ended(0);
    place.run(&["reject", &b, "--reason", "not today"]).ended(3);
    place.run(&["approve", &a]).ended(1);

    let log = place.run(&["audit", "--export"]).ended(0);
    let lines: Vec<Value> = log.out.lines().map(|line| Value::parse(line).unwrap()).collect();
    assert_eq!(log.out, place.run(&["audit", "--export", "--json"]).ended(0).out);
    let about = |id: &str| -> Vec<&Value> {
        lines
            .iter()
            .filter(|line| member(line, "what").member("row").and_then(Value::text) == Some(id))
            .collect()
    };
    let kinds = |lines: &[&Value]| -> Vec<String> {
        lines.iter().map(|line| text(member(line, "what"), "kind").to_owned()).collect()
    };
    let (of_a, of_b) = (about(&a), about(&b));
    assert_eq!(kinds(&of_a), ["asked", "shown", "approved", "claimed", "outcome"]);
    assert_eq!(kinds(&of_b), ["asked", "shown", "rejected"], "only what people see is said to be shown");
    for (lines, step, arguments, decision) in [
        (&of_a, "a", r#"{"amount":1.10,"text":"one"}"#, "succeeded"),
        (&of_b, "b", r#"{"text":"two"}"#, "rejected"),
    ] {
        for line in lines {
            assert_eq!((text(line, "run"), text(line, "step")), (run.as_str(), step));
            assert_eq!(text(line, "tool"), "notes.post_note");
            assert_eq!(member(line, "arguments_shown").to_string(), arguments);
            assert_eq!(text(line, "decision"), decision);
            assert!(text(line, "decider").starts_with("os:"), "{line}");
            assert!(
                text(line, "expires").ends_with('Z') && text(line, "at") < text(line, "expires"),
                "{line}"
            );
            let called = ["claimed", "outcome"].contains(&text(member(line, "what"), "kind"));
            let executed = if called { arguments } else { "null" };
            assert_eq!(member(line, "arguments_executed").to_string(), executed);
            assert_eq!(member(line, "outcome") == &Value::Null, step == "b");
        }
    }
    let seen = member(of_a[1], "what");
    assert_eq!((text(seen, "surface"), text(seen, "digest")), ("cli", text(member(of_a[2], "what"), "seen")));
    assert!(text(member(seen, "by"), "issuer") == "os", "{seen}");
    place.run(&["audit"]).ended(0);
}
