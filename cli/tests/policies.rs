//! A policy that cannot be meant: every command that plans or runs says the same, before anything is run.
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

const POST: &str = "then:\n  post: notes.post_note {\"text\":\"hello\"}\n";

/// The server `notes`, and `later`, which is configured and cannot be started.
fn place() -> Place {
    let place = Place::new();
    let servers = place.read(".mcp.json");
    let both = servers.replacen("{\"notes\"", "{\"later\":{\"command\":\"/no/such/program\"},\"notes\"", 1);
    assert_ne!(both, servers);
    place.write(".mcp.json", &both);
    place.write("x.recipe", POST);
    place
}

/// Commands that plan or run; `plan` writes what the others read.
const COMMANDS: [&[&str]; 6] = [
    &["plan", "x.recipe"],
    &["check", "x.recipe"],
    &["run", "x.recipe"],
    &["plan", "actions.json"],
    &["check", "actions.json"],
    &["run", "actions.json"],
];

fn begun(place: &Place) -> bool {
    !place.read("pids").is_empty()
}

#[test]
fn a_slip_in_a_name_stops_every_command_alike() {
    let place = place();
    place.run(&["plan", "x.recipe", "--out", "actions.json"]).ended(0);
    let rule = |server: &str, tool: &str| format!("[[deny]]\nserver = \"{server}\"\ntool = \"{tool}\"\n");
    for (policy, code, says, names_only) in [
        (rule("nots", "post_note"), "P0201", "no server is called \"nots\"; did you mean \"notes\"?", true),
        (
            rule("notes", "pots_note"),
            "P0201",
            "no tool of notes is called \"pots_note\"; did you mean \"post_note\"?",
            false,
        ),
        (
            "[[people]]\nserver = \"later\"\nroles = [\"lead\"]\n".to_owned(),
            "P0203",
            "nobody holds the role \"lead\"",
            true,
        ),
        (
            "[[ask]]\nserver = \"notes\"\ntool = \"post_note\"\nwhen = [\"amuont > 3\"]\n".to_owned(),
            "P0204",
            "the tool takes no argument \"amuont\"; did you mean \"amount\"?",
            false,
        ),
    ] {
        place.write("plangate.toml", &policy);
        for command in COMMANDS {
            place.write("pids", "");
            let ran = place.run(command).ended(78);
            assert!(ran.err.contains(says), "{command:?}: {}", ran.err);
            assert!(ran.err.contains("plangate.toml"), "{command:?}: {}", ran.err);
            assert!(ran.err.contains(&format!("plangate explain {code}")), "{command:?}: {}", ran.err);
            assert_eq!(begun(&place), !names_only, "{command:?}: whether a server was started for it");
            let mut json = command.to_vec();
            json.push("--json");
            let fault = Value::parse(place.run(&json).ended(78).err.trim()).unwrap();
            let fault = fault.member("error").unwrap_or(&fault);
            assert_eq!(text(fault, "code"), "policy", "{fault}");
            assert!(text(fault, "message").contains(says), "{fault}");
        }
        let tools = place.run(&["tools"]);
        assert!(tools.err.contains(says), "{}", tools.err);
    }
    assert_eq!((place.lines("calls"), place.lines("posted"), place.waiting_count()), (0, 0, 0));
}

#[test]
fn rules_about_servers_that_are_not_started_are_no_mistake() {
    let place = place();
    place.write(
        "plangate.toml",
        "[[deny]]\nserver = \"later\"\ntool = \"send_all\"\n[[ask]]\nserver = \"*\"\ntool = \"send_*\"\n\
         [worlds]\nlab = [\"later\"]\n",
    );
    place.run(&["plan", "x.recipe", "--out", "actions.json"]).ended(0);
    place.run(&["check", "x.recipe"]).ended(0);
    place.run(&["run", "x.recipe"]).ended(3);
    place.run(&["run", "actions.json"]).ended(3);
    let run = text(&place.last_run(), "id").to_owned();
    place.run(&["resume", &run]).ended(3);
}

#[test]
fn a_saved_catalog_stands_for_the_servers_that_it_lists() {
    let place = Place::empty();
    place.write("x.recipe", POST);
    place.write(
        "tools.json",
        r#"{"servers":{"notes":{"tools":[{"name":"post_note","inputSchema":{"type":"object"}}]}}}"#,
    );
    let about = |server: &str, tool: &str| {
        place.write("plangate.toml", &format!("[[ask]]\nserver = \"{server}\"\ntool = \"{tool}\"\n"));
        ["plan", "check"].map(|c| place.run(&[c, "x.recipe", "--catalog", "tools.json"]).code)
    };
    assert_eq!(about("notes", "post_note"), [0, 0]);
    assert_eq!(about("notes", "pots_note"), [78, 78]);
    assert_eq!(about("later", "send"), [78, 78]);
    place.write(".mcp.json", r#"{"mcpServers":{"later":{"command":"/no/such/program"}}}"#);
    assert_eq!(about("later", "send"), [0, 0], "it is configured");
    place.run(&["tools", "--catalog", "tools.json"]).ended(0);
}

#[test]
fn a_run_does_not_go_on_under_a_policy_with_a_slip() {
    let place = place();
    place.run(&["run", "x.recipe"]).ended(3);
    let run = text(&place.last_run(), "id").to_owned();
    place.write("plangate.toml", "[[deny]]\nserver = \"notes\"\ntool = \"pots_note\"\n");
    for command in [&["resume", &run][..], &["resume", &run, "--accept"]] {
        let ran = place.run(command).ended(78);
        assert!(ran.err.contains("no tool of notes is called \"pots_note\""), "{}", ran.err);
    }
    // It needs no attention: once the policy is mended, it goes on as it was.
    place.write("plangate.toml", "[[deny]]\nserver = \"notes\"\ntool = \"list_things\"\n");
    place.run(&["resume", &run]).ended(3);
    assert_eq!((place.waiting_count(), place.lines("posted")), (1, 0));
}

#[test]
fn a_void_rule_is_said_and_the_call_is_asked() {
    let place = place();
    place.write(
        "plangate.toml",
        &format!(
            "[[allow]]\nserver = \"notes\"\ntool = \"post_note\"\nreason = \"ours\"\ndefinition = \"sha256:{}\"\n",
            "0".repeat(64)
        ),
    );
    for command in [&["plan", "x.recipe"][..], &["check", "x.recipe"], &["tools"]] {
        let ran = place.run(command);
        assert_ne!(ran.code, 78, "{}", ran.err);
        assert!(
            ran.err.contains("P0202") && ran.err.contains("the rule is void"),
            "{command:?}: {}",
            ran.err
        );
    }
    let card = place.run(&["plan", "x.recipe"]).ended(0);
    assert!(card.out.contains("is void"), "{}", card.out);
    place.run(&["run", "x.recipe"]).ended(3);
    assert_eq!((place.waiting_count(), place.lines("posted")), (1, 0));
}

#[test]
fn a_gate_that_nobody_could_decide_is_refused_before_the_run() {
    let place = place();
    place.write(
        "plangate.toml",
        "[roles]\nlead = [\"os:ann\"]\nother = [\"os:bob\"]\n[[people]]\nserver = \"notes\"\nroles = [\"lead\"]\nquorum = 2\n",
    );
    for command in COMMANDS.iter().filter(|c| c[1] == "x.recipe") {
        let ran = place.run(command).ended(78);
        assert!(ran.err.contains("it needs 2 yes of lead, which is held by one person"), "{}", ran.err);
        assert!(ran.err.contains("name more people under [roles]"), "{}", ran.err);
    }
    assert_eq!(place.waiting_count(), 0);
}
