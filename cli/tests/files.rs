//! Commands about a file: nothing of them runs anything.
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

const RECIPE: &str = "together:\n  things: notes.list_things {}\nthen:\n  post: notes.post_note {\"text\":\"{things}\",\"amount\":1.10,\"rate\":1e2}\n";

/// One tool with a schema that no validator can read, one that is whole.
const BROKEN: &str = r#"{"servers":{"s":{"tools":[
    {"name":"send_broken","inputSchema":{"type":"objekt"}},
    {"name":"send_whole","inputSchema":{"type":"object"}}]}}}"#;

#[test]
fn a_tool_that_cannot_be_called_is_marked_with_the_reason() {
    let place = Place::new();
    place.write("broken.json", BROKEN);
    let listed = place.run(&["tools", "--catalog", "broken.json"]).ended(0);
    let lines: Vec<&str> = listed.out.lines().collect();
    let of = |name: &str| lines.iter().position(|line| line.contains(name)).unwrap();
    assert!(lines[of("send_broken")].starts_with('✗'), "{}", listed.out);
    assert!(
        lines[of("send_broken") + 1].contains("cannot be called: its input schema is broken: "),
        "{}",
        listed.out
    );
    assert!(lines[of("send_whole")].starts_with('⏸'), "{}", listed.out);
    assert!(
        listed.out.contains("2 tools, 1 that somebody is asked about, 1 that cannot be called"),
        "{}",
        listed.out
    );
    let json = place.run(&["tools", "--catalog", "broken.json", "--json"]).ended(0).json();
    let Some(Value::List(tools)) = json.member("tools") else { panic!("{json}") };
    let broken: Vec<bool> = tools.iter().map(|tool| tool.member("broken").is_some()).collect();
    assert_eq!(broken, [true, false]);
    let why = place.run(&["tools", "--catalog", "broken.json", "--why", "s.send_broken"]).ended(0);
    assert!(why.out.contains("cannot be called: its input schema is broken"), "{}", why.out);
}

#[test]
fn a_recipe_with_mistakes_is_refused_and_starts_nothing() {
    let place = Place::new();
    place.write("bad.recipe", "together:\n  things notes.list_things {}\nthen\n  post: notes.post_note\n");
    for command in [&["run", "bad.recipe"][..], &["plan", "bad.recipe"], &["check", "bad.recipe"]] {
        let ran = place.run(command).ended(2);
        let said = format!("{}{}", ran.out, ran.err);
        assert!(said.contains("error[R"), "{said}");
        assert!(said.contains("bad.recipe:2:"), "{said}");
    }
    assert_eq!(place.read("pids"), "", "no server was started");
    assert!(!place.path(".plangate").exists(), "no store was made");
}

#[test]
fn a_tool_that_was_invented_is_refused_with_what_was_meant() {
    let place = Place::new();
    place.write("bad.recipe", "then:\n  things: notes.list_thing {}\n");
    let ran = place.run(&["check", "bad.recipe", "--json"]).ended(2).json();
    assert_eq!(ran.member("ok"), Some(&Value::Bool(false)));
    let Some(Value::List(diagnostics)) = ran.member("diagnostics") else { panic!("{ran}") };
    assert_eq!(text(&diagnostics[0], "code"), "R0120");
    assert!(ran.to_string().contains("notes.list_things"), "{ran}");
    let ran = place.run(&["run", "bad.recipe", "--json"]).ended(2);
    assert_eq!(ran.out, "");
    let error = Value::parse(ran.err.trim()).unwrap();
    assert_eq!(text(error.member("error").unwrap(), "code"), "refused");
    assert!(!place.path(".plangate").exists(), "no store was made");
    assert_eq!(place.lines("calls"), 0);
}

#[test]
fn a_saved_catalog_stands_for_the_servers() {
    let place = Place::new();
    place.write("x.recipe", RECIPE);
    place.run(&["tools", "--save", "catalog.json"]).ended(0);
    let started = place.lines("pids");
    let card = place.run(&["plan", "x.recipe", "--catalog", "catalog.json"]).ended(0);
    assert!(card.out.contains("⏸ post"), "{}", card.out);
    place.run(&["check", "x.recipe", "--catalog", "catalog.json"]).ended(0);
    let tools = place.run(&["tools", "--catalog", "catalog.json", "--json"]).ended(0).json();
    let Some(Value::List(tools)) = tools.member("tools") else { panic!("{tools}") };
    let post = tools.iter().find(|t| text(t, "tool") == "post_note").unwrap();
    assert_eq!(post.member("gated"), Some(&Value::Bool(true)));
    assert_eq!(text(post, "server"), "notes");
    let Some(Value::List(evidence)) = post.member("evidence") else { panic!("{post}") };
    assert!(!text(&evidence[0], "code").is_empty() && !text(&evidence[0], "says").is_empty());
    assert_eq!(place.lines("pids"), started, "a catalog starts nothing");
}

#[test]
fn a_plan_without_its_gate_is_refused_naming_the_call() {
    let place = Place::new();
    place.write("x.recipe", RECIPE);
    place.run(&["plan", "x.recipe", "--out", "actions.json"]).ended(0);
    place.run(&["plan", "actions.json"]).ended(0);
    let whole = place.read("actions.json");
    // Take out the gate and its edges, and write a digest over what is left, as whoever edits can.
    let kept: Vec<&str> = whole
        .lines()
        .filter(|l| {
            !l.contains("post/gate") && !l.starts_with("\"digest\"") && !l.contains("\"digest\": \"sha256:")
        })
        .collect();
    let mut text = kept.join("\n");
    for broken in [",\n]", ",\n  ]"] {
        text = text.replace(broken, broken.trim_start_matches(','));
    }
    place.write("edited.json", &text);
    let ran = place.run(&["run", "edited.json"]).ended(2);
    assert!(ran.err.contains("error[V"), "{}", ran.err);
    assert_eq!(place.lines("posted"), 0);
}

#[test]
fn an_unknown_server_is_named() {
    let place = Place::new();
    place.write("x.recipe", "then:\n  a: note.list_things {}\n");
    let ran = place.run(&["check", "x.recipe"]).ended(2);
    assert!(ran.out.contains("note") && ran.out.contains("notes"), "{}", ran.out);
}

#[test]
fn a_broken_server_is_named_with_its_last_words_and_what_was_tried() {
    let place = Place::new();
    place.write(
        ".mcp.json",
        r#"{"mcpServers":{"notes":{"command":"sh","args":["-c","echo no token >&2; exit 3"]}}}"#,
    );
    place.write("x.recipe", RECIPE);
    let ran = place.run(&["run", "x.recipe"]).ended(69);
    for part in ["notes", "no token", "tried: sh -c", "3"] {
        assert!(ran.err.contains(part), "{part} is not in {}", ran.err);
    }
    let ran = place.run(&["--json", "run", "x.recipe"]).ended(69);
    let error = Value::parse(ran.err.trim()).unwrap();
    assert_eq!(text(error.member("error").unwrap(), "code"), "server");
}

#[test]
fn a_schema_an_explanation_and_a_guide_are_there() {
    let place = Place::new();
    assert!(place.run(&["schema"]).ended(0).json().member("properties").is_some());
    assert!(place.run(&["explain", "V0401"]).ended(0).out.contains("gate"));
    assert!(place.run(&["explain", "r0120"]).ended(0).out.starts_with("R0120"));
    let unknown = place.run(&["explain", "V0410"]).ended(66);
    assert!(unknown.err.contains("did you mean"), "{}", unknown.err);
    let guide = place.run(&["guide"]).ended(0);
    for part in ["together", "notes.post_note", "asked before it runs", "`amount`? number"] {
        assert!(guide.out.contains(part), "{part} is not in the guide");
    }
}

#[test]
fn a_wrong_command_line_ends_with_64() {
    let place = Place::new();
    place.run(&["plan"]).ended(64);
    place.run(&["settle", "abcd"]).ended(64);
    let ran = place.run(&["--json", "frobnicate"]).ended(64);
    let error = Value::parse(ran.err.trim()).unwrap();
    assert_eq!(text(error.member("error").unwrap(), "code"), "usage");
    assert!(place.run(&["--help"]).ended(0).out.contains("Exit status:"));
}

#[test]
fn a_reader_who_goes_away_ends_it_quietly() {
    let place = Place::new();
    let mut child = place
        .command(&["schema"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(String::from_utf8(ended.stderr).unwrap(), "");
}

#[test]
fn the_documentation_has_every_command_and_every_status() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cli.md");
    let page = std::fs::read_to_string(page).unwrap();
    let help = Place::new().run(&["--help"]).ended(0).out;
    let (_, rest) = help.split_once("Commands:\n").unwrap();
    let (commands, rest) = rest.split_once("\n\n").unwrap();
    let mut names = commands.lines().filter_map(|line| line.split_whitespace().next());
    assert!(
        names.all(|name| page.contains(&format!("`{name}")) || page.contains(&format!("plangate {name}")))
    );
    let (_, statuses) = rest.split_once("Exit status:\n").unwrap();
    for status in statuses.lines().filter_map(|line| line.split_whitespace().next()) {
        assert!(page.contains(&format!("| {status} |")), "{status} is not documented");
    }
}

#[test]
fn a_waiver_in_a_plan_file_is_void_unless_somebody_says_who_wrote_it() {
    let place = Place::new();
    let catalog = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/catalog.json");
    place.write(
        "x.recipe",
        "then:\n  file: jira.create {\"project\":\"P\",\"summary\":\"s\"} without asking\n",
    );
    place.run(&["plan", "x.recipe", "--catalog", catalog, "--out", "actions.json"]).ended(0);
    let refused = place.run(&["plan", "actions.json", "--catalog", catalog]).ended(2);
    let said = format!("{}{}", refused.out, refused.err);
    assert!(said.contains("V0304") && said.contains("file"), "{said}");
    place.run(&["plan", "actions.json", "--catalog", catalog, "--author", "person"]).ended(0);
}
