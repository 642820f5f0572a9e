//! Whole stories: a recipe is run, waits, is answered by another process, and ends.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod support;

use std::path::Path;

use plangate_graph::{Digest, Value};
use support::{Place, Ran, kill_9, member, text, until};

const POST: &str = "together:\n  things: notes.list_things {}\nthen:\n  post: notes.post_note {\"text\":\"costs {things.things[0].price}\",\"amount\":1.10,\"rate\":1e2}\n";

/// A file of the demo, as it is in a fresh clone.
fn example(place: &Place, name: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
    std::fs::create_dir_all(place.path("examples")).unwrap();
    std::fs::copy(from, place.path("examples").join(name)).unwrap();
}

fn id_of(waiting: &Value) -> String {
    text(waiting, "id").to_owned()
}

#[test]
fn the_morning_recipe_parks_and_another_process_approves() {
    let place = Place::empty();
    example(&place, "morning.recipe");
    example(&place, ".mcp.json");
    let slack = "examples/.plangate/demo-slack.jsonl";

    let parked = place.run(&["run", "examples/morning.recipe"]).ended(3);
    assert!(parked.out.contains("⏸ parked"), "{}", parked.out);
    assert!(parked.out.contains("\"post to #daily?\""), "{}", parked.out);
    assert!(!place.path(slack).exists(), "nothing was posted");

    let shown = place.run(&["show", text(&place.last_run(), "id"), "--json"]).ended(0).json();
    let record = member(&shown, "record");
    let Value::List(steps) = member(record, "steps") else { panic!("{record}") };
    let at = |step: &Value, name: &str| member(step, name).to_string().parse::<u64>().unwrap();
    let mut sources: Vec<_> = steps
        .iter()
        .filter(|step| ["calendar", "mail", "slack"].contains(&text(step, "id")))
        .map(|step| (at(step, "started"), at(step, "ended")))
        .collect();
    sources.sort_unstable();
    assert_eq!(sources.len(), 3, "{record}");
    // Each takes its time, so that two of them overlap however late a busy machine starts the last of them.
    assert!(sources.windows(2).any(|two| two[1].0 < two[0].1), "one after the other: {record}");

    let waiting = place.waiting();
    let typed = format!("approve {}", &id_of(&waiting)[..8]);
    assert!(parked.out.contains(&typed), "it says what to type: {}", parked.out);
    let done = place.run(&["approve", &id_of(&waiting)[..8]]).ended(0);
    assert!(done.out.contains("✓ done"), "{}", done.out);
    let approved = member(member(&waiting, "call"), "arguments").to_string();
    assert_eq!(place.lines(slack), 1);
    assert!(place.read(slack).contains(&approved), "{} is not in {}", approved, place.read(slack));

    let again = place.run(&["approve", &id_of(&waiting)]).ended(4);
    assert!(again.err.contains("already approved by os:"), "{}", again.err);
    assert!(again.err.contains("nothing more was run"), "{}", again.err);
    assert_eq!(place.lines(slack), 1, "nothing more was posted");
    place.run(&["resume", text(&place.last_run(), "id")]).ended(0);
    assert_eq!(place.lines(slack), 1);
    place.run(&["audit"]).ended(0);
}

#[test]
fn what_was_approved_is_sent_byte_for_byte() {
    let place = Place::new();
    place.write("x.recipe", POST);
    let parked = place.run(&["run", "x.recipe", "--json"]).ended(3).json();
    assert_eq!(text(&parked, "state"), "parked");
    assert_eq!(text(&parked, "run"), text(&place.last_run(), "id"));
    let Some(Value::List(waiting)) = parked.member("waiting") else { panic!("{parked}") };
    let call = member(&waiting[0], "call");
    assert_eq!(member(call, "arguments").to_string(), r#"{"amount":1.10,"rate":1e2,"text":"costs 1.10"}"#);
    assert_eq!(
        text(&waiting[0], "digest"),
        Digest::of(br#"{"amount":1.10,"rate":1e2,"text":"costs 1.10"}"#).to_string()
    );
    assert_eq!(place.lines("posted"), 0);

    place.run(&["approve", text(&parked, "run"), "--digest", "sha256:0000000000"]).ended(4);
    let done = place.run(&["approve", text(&parked, "run"), "--json", "--note", "fine"]).ended(0).json();
    assert_eq!(text(&done, "state"), "done");
    assert_eq!(place.lines("posted"), 1);
    assert!(place.read("posted").contains(r#""arguments":{"amount":1.10,"rate":1e2,"text":"costs 1.10"}"#));
}

/// What hides on a screen is shown escaped and sent as it is; what is long is shown whole.
#[test]
fn hostile_text_is_shown_whole_and_sent_unchanged() {
    let place = Place::new();
    let tail = format!("{}PAY MALLORY", "x ".repeat(2_500));
    // Escaped in the recipe, where such characters may not stand as they are.
    let text_of = format!(r"\u202edaily\u200b \u001b[31m {tail}");
    let post = format!(r#"{{"text":"{text_of}","amount":9007199254740993,"rate":1.0}}"#);
    place.write("x.recipe", &format!("then:\n  post: notes.post_note {post}\n"));
    let parked = place.run(&["run", "x.recipe"]).ended(3);
    let id = text(&place.waiting(), "id").to_owned();
    let shown = place.run(&["show", &id]).ended(0);
    let listed = place.run(&["approvals"]).ended(0);
    let card = place.run(&["plan", "x.recipe"]).ended(0);
    for (what, out) in
        [("run", &parked.out), ("show", &shown.out), ("list", &listed.out), ("plan", &card.out)]
    {
        let hidden = out.chars().find(|c| *c != '\n' && plangate_graph::card::visible::is_hidden(*c));
        assert_eq!(hidden, None, "{what}");
        let whole = out.contains("PAY MALLORY");
        let said = out.contains("characters shown");
        assert!(whole || said || !out.contains("x x x"), "{what} cuts without a word: {out}");
    }
    assert!(
        shown.out.contains("PAY MALLORY") && shown.out.contains(r"\u{202e}daily\u{200b}"),
        "{}",
        shown.out
    );
    assert!(shown.out.contains("9007199254740993") && shown.out.contains("1.0"), "{}", shown.out);
    place.run(&["approve", &id]).ended(0);
    let sent = place.read("posted");
    assert!(sent.contains(&tail) && sent.contains("\u{202e}daily\u{200b}"), "{sent}");
    assert!(sent.contains(r#""amount":9007199254740993,"rate":1.0"#), "{sent}");
}

#[test]
fn actions_json_is_run_like_its_recipe_and_not_without_its_gate() {
    let place = Place::new();
    place.write("x.recipe", POST);
    place.run(&["plan", "x.recipe", "--out", "actions.json"]).ended(0);
    let whole = place.read("actions.json");

    // The gate and its edges are taken out, the edges of the gate lead to the call, and the digest is computed anew.
    let (body, _) = whole.split_once("  \"digest\": ").unwrap();
    let lines = body.lines().filter(|l| !l.contains("{\"gate\":") && !l.contains("\"from\":\"post/gate\""));
    let lines: Vec<String> = lines.map(|l| l.replace("post/gate", "post")).collect();
    let forged = format!("{}\n", lines.join("\n")).replace("},\n  ]", "}\n  ]");
    let forged = format!("{forged}  \"digest\": \"{}\"\n}}\n", Digest::of(forged.as_bytes()));
    place.write("forged.json", &forged);
    let refused = place.run(&["run", "forged.json"]).ended(2);
    assert!(refused.err.contains("`post`"), "it names the call: {}", refused.err);
    assert!(refused.err.contains("error[V0304]") || refused.err.contains("error[V0401]"), "{}", refused.err);

    place.run(&["run", "actions.json"]).ended(3);
    assert_eq!(place.lines("posted"), 0);
    place.run(&["approve", &id_of(&place.waiting())]).ended(0);
    assert_eq!(place.lines("posted"), 1);
}

/// What was asked is what is called, whatever becomes of the file that it was asked from.
#[test]
fn a_recipe_that_is_edited_while_it_waits_changes_nothing() {
    for edited in ["then:\n  post: notes.post_note {\"text\":\"something else\"}\n", "no recipe any more", ""]
    {
        let place = Place::new();
        place.write("x.recipe", POST);
        place.run(&["plan", "x.recipe", "--out", "actions.json"]).ended(0);
        for file in ["x.recipe", "actions.json"] {
            place.run(&["run", file]).ended(3);
            let id = id_of(&place.waiting());
            let whole = place.read(file);
            place.write(file, edited);
            place.run(&["approve", &id]).ended(0);
            assert!(place.read("posted").contains(r#""amount":1.10,"rate":1e2,"text":"costs 1.10""#));
            place.write(file, &whole);
        }
        assert_eq!(place.lines("posted"), 2);
        assert!(!place.read("posted").contains("something else"));
    }
}

/// Nothing of a run that waits hangs on the process, the folder or the home that it was started from.
#[test]
fn whoever_decides_may_stand_elsewhere() {
    let place = Place::new();
    place.write("x.recipe", POST);
    place.run(&["run", "x.recipe"]).ended(3);
    let id = id_of(&place.waiting());
    let (elsewhere, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = place.path("");
    let run = |args: &[&str]| {
        let mut command = place.command(args);
        command.arg("-C").arg(&folder).current_dir(elsewhere.path()).env("HOME", home.path());
        command.env("XDG_CONFIG_HOME", home.path()).env("XDG_STATE_HOME", home.path());
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let code = output.status.code().unwrap_or(-1);
        Ran { code, out: text(output.stdout), err: text(output.stderr) }
    };
    let listed = run(&["approvals", "--json"]).ended(0).json();
    let Some(Value::List(rows)) = listed.member("approvals") else { panic!("{listed}") };
    assert_eq!(id_of(&rows[0]), id);
    run(&["approve", &id]).ended(0);
    assert_eq!(place.lines("posted"), 1);
    assert!(place.run(&["approvals"]).ended(0).out.contains("Nothing waits"));
    for folder in [elsewhere.path(), home.path()] {
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0, "nothing was left in {}", folder.display());
    }
}

#[test]
fn a_no_stops_what_it_guards_and_its_reason_is_kept() {
    let place = Place::new();
    place.write("x.recipe", POST);
    place.run(&["run", "x.recipe"]).ended(3);
    let id = id_of(&place.waiting());
    let ended = place.run(&["reject", &id, "--reason", "not today"]).ended(1);
    assert!(ended.out.contains("rejected by os:") && ended.out.contains("not today"), "{}", ended.out);
    let late = place.run(&["approve", &id]).ended(4);
    assert!(late.err.contains("already rejected by os:") && late.err.contains("not today"), "{}", late.err);
    assert_eq!(place.lines("posted"), 0);
}

/// Neither the answer nor the log says that something was approved, and every surface says that it is over.
#[test]
fn a_yes_that_comes_too_late_is_told_that_nothing_was_run() {
    let place = Place::new();
    place.write("x.recipe", POST);
    place.write("plangate.toml", "[[people]]\nserver = \"notes\"\ndeadline = \"3s\"\n");
    let parked = place.run(&["run", "x.recipe", "--json"]).ended(3).json();
    let Some(Value::List(waiting)) = parked.member("waiting") else { panic!("{parked}") };
    let id = id_of(&waiting[0]);
    until("it has lapsed", || place.waiting_count() == 0);
    let late = place.run(&["approve", &id]).ended(4);
    assert!(late.err.contains("it expired at") && late.err.contains("nothing was run"), "{}", late.err);
    assert_eq!(late.out, "");
    let shown = place.run(&["show", &id]).ended(0);
    assert!(shown.out.contains("expired") && shown.out.contains("nothing was run"), "{}", shown.out);
    let run = text(&place.last_run(), "id").to_owned();
    for command in [&["show", &run][..], &["resume", &run]] {
        let told = place.run(command);
        assert!(told.out.contains("expired") && !told.out.contains("waits for an answer"), "{}", told.out);
    }
    let log = place.run(&["audit", "--export"]).ended(0).out;
    let kinds: Vec<String> = log
        .lines()
        .map(|line| Value::parse(line).unwrap())
        .filter(|line| member(line, "what").member("row").is_some())
        .map(|line| text(member(&line, "what"), "kind").to_owned())
        .filter(|kind| kind != "shown")
        .collect();
    assert_eq!(kinds, ["asked", "expired"]);
    assert_eq!(place.lines("posted"), 0);
}

#[test]
fn deciding_alone_leaves_the_run_parked_until_it_is_resumed() {
    let place = Place::new();
    place.write("x.recipe", POST);
    place.run(&["run", "x.recipe"]).ended(3);
    let decided = place.run(&["approve", &id_of(&place.waiting()), "--no-resume"]).ended(0);
    assert!(decided.out.contains("resume"), "{}", decided.out);
    assert_eq!(place.lines("posted"), 0);
    place.run(&["resume", &text(&place.last_run(), "id")[..6]]).ended(0);
    assert_eq!(place.lines("posted"), 1);
}

#[test]
fn two_who_approve_at_once_post_once() {
    let place = Place::new();
    place.write("x.recipe", POST);
    place.run(&["run", "x.recipe"]).ended(3);
    let id = id_of(&place.waiting());
    let mut both = [place.start(&["approve", &id]), place.start(&["approve", &id])];
    let mut codes: Vec<i32> = both.iter_mut().map(|c| c.wait().unwrap().code().unwrap()).collect();
    codes.sort_unstable();
    assert_eq!(codes, [0, 4], "one approves, the other is told");
    assert_eq!(place.lines("posted"), 1);
}

#[test]
fn several_that_wait_have_to_be_told_apart() {
    let place = Place::new();
    place.write(
        "x.recipe",
        "together:\n  a: notes.post_note {\"text\":\"a\"}\n  b: notes.post_note {\"text\":\"b\"}\n",
    );
    place.run(&["run", "x.recipe"]).ended(3);
    let run = place.last_run();
    let which = place.run(&["approve", text(&run, "id")]).ended(64);
    assert!(which.err.contains("  a  ") && which.err.contains("  b  "), "{}", which.err);
    let listed = place.run(&["approvals", "--json"]).json();
    let Some(Value::List(rows)) = listed.member("approvals") else { panic!("{listed}") };
    assert_eq!(rows.len(), 2);
    for row in rows {
        // Who lists them can remind people in time.
        assert!(text(row, "expires").ends_with('Z') && text(row, "expires") > text(row, "created"), "{row}");
    }
    let listed = place.run(&["approvals"]).ended(0);
    assert_eq!(listed.out.matches("until ").count(), 2, "{}", listed.out);
    place.run(&["approve", text(&rows[0], "id")]).ended(3);
    place.run(&["approve", text(&run, "id")]).ended(0);
    assert_eq!(place.lines("posted"), 2);
}

#[test]
fn a_tool_that_fails_blocks_what_needs_it_and_nothing_else() {
    let place = Place::new();
    place.write(
        "x.recipe",
        "together:\n  bad: notes.read_and_fail {}\n  good: notes.list_things {}\nthen:\n  summary: sum up {bad}\n  other: sum up {good}\n",
    );
    let ended = place.run(&["run", "x.recipe"]).ended(1);
    assert!(ended.out.contains("there is nothing"), "{}", ended.out);
    assert!(ended.out.contains("blocked   because bad failed"), "{}", ended.out);
    assert!(ended.out.contains("no model wrote this"), "{}", ended.out);
    let listed = place.run(&["runs", "--state", "failed"]).ended(0);
    assert!(listed.out.contains("x.recipe"), "{}", listed.out);
    assert!(place.run(&["runs", "--state", "done"]).ended(0).out.contains("No runs"));
}

#[test]
fn a_cancelled_run_takes_its_approvals_with_it() {
    let place = Place::new();
    place.write("x.recipe", POST);
    place.run(&["run", "x.recipe"]).ended(3);
    let id = id_of(&place.waiting());
    let run = text(&place.last_run(), "id").to_owned();
    place.run(&["cancel", &run, "--reason", "changed my mind"]).ended(0);
    assert_eq!(text(&place.last_run(), "state"), "cancelled");
    place.run(&["approve", &id]).ended(4);
    place.run(&["cancel", &run]).ended(4);
    assert_eq!(place.lines("posted"), 0);
}

#[test]
fn who_has_not_the_role_may_not_decide() {
    let place = Place::new();
    place.write("x.recipe", POST);
    place.write(
        "plangate.toml",
        "[roles]\nlead = [\"os:somebody-else\"]\n[[people]]\nserver = \"notes\"\nroles = [\"lead\"]\n",
    );
    place.run(&["run", "x.recipe"]).ended(3);
    let id = id_of(&place.waiting());
    let refused = place.run(&["approve", &id]).ended(77);
    assert!(refused.err.contains("lead"), "{}", refused.err);
    assert_eq!(text(&place.waiting(), "state"), "pending");
    assert_eq!(place.lines("posted"), 0);
}

#[test]
fn a_policy_about_nothing_is_an_error() {
    let place = Place::new();
    place.write("plangate.toml", "[[ask]]\nserver = \"nots\"\ntool = \"*\"\n");
    let ran = place.run(&["tools"]).ended(78);
    assert!(ran.err.contains("nots") && ran.err.contains("P0201"), "{}", ran.err);
}

// Ends of processes that nobody expects.

const SLOW_READ: &str = "together:\n  slow: notes.list_slowly {}\n  post: notes.post_note {\"text\":\"x\"}\n";

#[test]
fn killed_while_parked_and_while_a_read_is_in_flight_nothing_is_lost() {
    let place = Place::new();
    place.write("x.recipe", SLOW_READ);
    let mut driver = place.start(&["run", "x.recipe"]);
    until("the read has begun", || place.lines("began") == 1);
    until("the gate waits", || place.waiting_count() == 1);
    let before = place.waiting();
    kill_9(&mut driver);

    let after = place.waiting();
    assert_eq!(id_of(&after), id_of(&before), "what waited still waits");
    assert_eq!(text(&after, "digest"), text(&before, "digest"));
    place.write("go", "");
    let done = place.run(&["approve", &id_of(&after)]).ended(0);
    assert!(done.out.contains("✓ done"), "{}", done.out);
    assert_eq!(place.lines("calls"), 2, "the read ran again");
    assert_eq!(place.lines("posted"), 1);
}

#[test]
fn killed_between_claim_and_outcome_the_call_is_uncertain_and_not_repeated() {
    let place = Place::new();
    place.write("x.recipe", "then:\n  post: notes.post_slowly {\"text\":\"x\"}\n");
    place.run(&["run", "x.recipe"]).ended(3);
    let id = id_of(&place.waiting());
    let mut driver = place.start(&["approve", &id]);
    until("the call is out", || place.lines("posted") == 1);
    kill_9(&mut driver);

    let waiting = place.waiting();
    assert_eq!(text(&waiting, "state"), "uncertain", "at once, without waiting for a lease to run out");
    let run = text(&place.last_run(), "id").to_owned();
    let parked = place.run(&["resume", &run]).ended(3);
    assert!(parked.out.contains("settle"), "{}", parked.out);
    assert_eq!(place.lines("posted"), 1, "it is not run again");
    place.run(&["approve", &id]).ended(4);

    let done =
        place.run(&["settle", &id, "--happened", "--value", "\"seen\"", "--note", "I looked"]).ended(0);
    assert!(done.out.contains("it happened, says os:"), "{}", done.out);
    assert_eq!(place.lines("posted"), 1);
    assert_eq!(text(&place.last_run(), "state"), "done");
    place.run(&["audit"]).ended(0);
}

#[test]
fn what_did_not_happen_is_asked_again() {
    let place = Place::new();
    place.write("x.recipe", "then:\n  post: notes.post_slowly {\"text\":\"x\"}\n");
    place.run(&["run", "x.recipe"]).ended(3);
    let id = id_of(&place.waiting());
    let mut driver = place.start(&["approve", &id]);
    until("the call is out", || place.lines("posted") == 1);
    kill_9(&mut driver);

    place.run(&["settle", &id, "--did-not", "--value", "1"]).ended(64);
    place.run(&["settle", &id, "--did-not"]).ended(3);
    assert_eq!(place.lines("posted"), 1, "asking again calls nothing");
    let again = place.waiting();
    assert_ne!(id_of(&again), id);
    assert_eq!(text(&again, "state"), "pending");
    place.write("go", "");
    place.run(&["approve", &id_of(&again)]).ended(0);
    assert_eq!(place.lines("posted"), 2);
    place.run(&["settle", &id, "--happened"]).ended(4);
}

// What is wrong before anything starts.

#[test]
fn a_store_that_cannot_be_used_is_said_before_any_server_starts() {
    let place = Place::new();
    place.write("x.recipe", POST);
    std::fs::create_dir(place.path(".plangate")).unwrap();
    place.write(".plangate/state.db", &"this is no database ".repeat(500));
    let damaged = place.run(&["run", "x.recipe"]).ended(74);
    assert!(damaged.err.contains("state.db") && damaged.err.contains("not a"), "{}", damaged.err);
    for command in [&["approvals"][..], &["runs"], &["resume", "abcd"]] {
        place.run(command).ended(74);
    }
    // A folder that cannot be made, because a file is in the way.
    place.write("plangate.toml", "[store]\npath = \"x.recipe/state.db\"\n");
    let unwritable = place.run(&["run", "x.recipe"]).ended(74);
    assert!(unwritable.err.contains("x.recipe/state.db"), "{}", unwritable.err);
    assert_eq!(place.read("pids"), "", "no server was started");
}

#[test]
fn without_a_store_there_is_nothing_to_show() {
    let place = Place::new();
    for command in [&["approvals"][..], &["runs"], &["show", "abcdef"], &["audit"]] {
        let ran: Ran = place.run(command).ended(66);
        assert!(ran.err.contains("nothing was run here"), "{}", ran.err);
    }
}

#[test]
fn a_setting_that_does_not_exist_is_an_error() {
    let place = Place::new();
    place.write("x.recipe", POST);
    place.write("plangate.toml", "[limits]\nworkrs = 3\n");
    let ran = place.run(&["run", "x.recipe"]).ended(78);
    assert!(
        ran.err.contains("did you mean `workers`?") && ran.err.contains("plangate.toml:2"),
        "{}",
        ran.err
    );
}

#[test]
fn a_command_writes_sentences_and_a_tool_that_changes_something_does_not() {
    let place = Place::new();
    place.write(
        "x.recipe",
        "together:\n  things: notes.list_things {}\nthen:\n  sum: sum up {things.things[0].price}\n",
    );
    place.write("plangate.toml", "[writer]\ncommand = [\"sh\", \"-c\", \"cat\"]\n");
    let ran = place.run(&["run", "x.recipe"]).ended(0);
    assert!(ran.out.contains(r#""value":1.10"#), "{}", ran.out);

    place.write("plangate.toml", "[writer]\ntool = \"notes.post_note\"\n");
    let calls = place.lines("calls");
    let refused = place.run(&["run", "x.recipe"]).ended(78);
    assert!(refused.err.contains("notes.post_note"), "{}", refused.err);
    assert_eq!(place.lines("calls"), calls, "nothing was started");
}

#[test]
fn inputs_are_checked_before_anything_runs() {
    let place = Place::new();
    place.write(
        "x.recipe",
        "inputs:\n  amount: number\nthen:\n  post: notes.post_note {\"amount\":\"{amount}\"}\n",
    );
    assert!(place.run(&["run", "x.recipe"]).ended(64).err.contains("`amount`"));
    assert!(place.run(&["run", "x.recipe", "-i", "amount=much"]).ended(64).err.contains("a number"));
    let parked = place.run(&["run", "x.recipe", "-i", "amount=1.10", "--json"]).ended(3).json();
    let Some(Value::List(waiting)) = parked.member("waiting") else { panic!("{parked}") };
    assert_eq!(member(member(&waiting[0], "call"), "arguments").to_string(), r#"{"amount":1.10}"#);
}
