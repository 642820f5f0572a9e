//! A plan that passed, held against the documents of now: what became stricter is refused by name, what became looser
//! changes nothing.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod outline;

use outline::{Sketch, catalog, sketch};
use plangate_graph::effect::Effect;
use plangate_graph::lower::lower;
use plangate_graph::policy::{Author, Date, Policy};
use plangate_graph::problem::Problem;
use plangate_graph::{Catalog, Definition, VerifiedPlan};

fn policy(text: &str) -> Policy {
    Policy::from_toml(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn verified(sketch: Sketch, policy: &Policy) -> VerifiedPlan {
    let (plan, problems) = lower(sketch.outline(), &catalog(), policy, Author::Person);
    let plan = plan.unwrap_or_else(|| panic!("{problems:#?}"));
    plan.verify(&catalog(), policy, Author::Person).unwrap_or_else(|p| panic!("{p:#?}"))
}

/// The catalog with one tool changed.
fn with(tool: &str, change: impl Fn(&mut Definition)) -> Catalog {
    let mut changed = Catalog::new();
    for (server, definition) in catalog().tools() {
        let mut definition = definition.clone();
        if format!("{server}.{}", definition.name) == tool {
            change(&mut definition);
        }
        changed.insert(server, definition).unwrap();
    }
    changed
}

/// The codes, and that each refusal names the step or its tool.
#[track_caller]
fn refused(held: Result<(), Vec<Problem>>, names: &str) -> Vec<&'static str> {
    let problems = held.unwrap_err();
    for problem in &problems {
        assert!(problem.message.contains(names), "{names} is not named: {problem:?}");
    }
    problems.iter().map(|p| p.code).collect()
}

const ALLOW: &str =
    "[[allow]]\nserver = \"slack\"\ntool = \"post\"\ndefinition = \"any\"\nreason = \"our own channel\"\n";

fn post() -> Sketch {
    sketch().then().call("a", "gmail.list", &[]).call("b", "slack.post", &["a"])
}

#[test]
fn the_same_documents_hold() {
    for policy in [Policy::default(), policy(ALLOW)] {
        verified(post(), &policy).hold(&catalog(), &policy).unwrap();
    }
}

#[test]
fn an_allow_that_was_withdrawn_is_refused() {
    let plan = verified(post(), &policy(ALLOW));
    assert_eq!(refused(plan.hold(&catalog(), &Policy::default()), "`b`"), ["V0303", "V0304"]);
}

#[test]
fn an_allow_that_was_added_changes_nothing() {
    let plan = verified(post(), &Policy::default());
    plan.hold(&catalog(), &policy(ALLOW)).unwrap();
    let b = plan.plan().find("b").unwrap();
    assert!(plan.plan().gate_of(b).is_some());
    assert_eq!(plan.effect(b), Some(Effect::Destructive));
}

#[test]
fn a_new_deny_is_refused() {
    let plan = verified(post(), &Policy::default());
    let deny = policy("[[deny]]\nserver = \"slack\"\ntool = \"*\"\n");
    assert_eq!(refused(plan.hold(&catalog(), &deny), "`b` (slack.post)"), ["R0502"]);
    let plan = verified(post(), &policy(ALLOW));
    assert_eq!(
        refused(
            plan.hold(
                &catalog(),
                &policy(&format!("{ALLOW}\n[[deny]]\nserver = \"slack\"\ntool = \"post\"\n"))
            ),
            "`b`"
        ),
        ["R0502"]
    );
}

#[test]
fn a_new_ask_for_a_read_is_refused() {
    let plan = verified(post(), &Policy::default());
    let ask = policy("[[ask]]\nserver = \"gmail\"\ntool = \"list\"\n");
    assert_eq!(refused(plan.hold(&catalog(), &ask), "`a` (gmail.list)"), ["V0303", "V0304"]);
}

#[test]
fn reads_that_are_no_longer_said_are_refused() {
    let reads = policy(
        "[[reads]]\nserver = \"ci\"\ntool = \"run_tests\"\ndefinition = \"any\"\nreason = \"a dry run\"\n",
    );
    let plan = verified(sketch().then().call("t", "ci.run_tests", &[]), &reads);
    assert_eq!(
        refused(plan.hold(&catalog(), &Policy::default()), "`t` (ci.run_tests)"),
        ["V0302", "V0303", "V0304"]
    );
}

#[test]
fn a_tool_that_became_destructive_is_refused_by_effect_and_by_definition() {
    let plan = verified(post(), &Policy::default());
    let now =
        with("gmail.list", |d| d.description = "Deletes all messages for good and sends a report.".into());
    let codes = refused(plan.hold(&now, &Policy::default()), "`a`");
    assert!(codes.contains(&"V0301") && codes.contains(&"V0302"), "{codes:?}");
    // The same where the effect is a gated call's already, and only the definition tells.
    let now = with("slack.post", |d| d.description = "Posts, and pins what was posted.".into());
    assert_eq!(refused(plan.hold(&now, &Policy::default()), "slack.post"), ["V0301"]);
}

#[test]
fn a_tool_that_is_gone_is_refused() {
    let plan = verified(post(), &Policy::default());
    let mut now = Catalog::new();
    for (server, definition) in catalog().tools().filter(|(server, _)| *server != "slack") {
        now.insert(server, definition.clone()).unwrap();
    }
    assert_eq!(refused(plan.hold(&now, &Policy::default()), "`b` (slack.post)"), ["R0501"]);
}

#[test]
fn a_schema_that_no_longer_takes_the_arguments_is_refused() {
    let plan = verified(post(), &Policy::default());
    let now = with("slack.post", |d| {
        d.input_schema = plangate_graph::Value::parse(r#"{"type":"object","required":["channel"]}"#).unwrap();
    });
    let codes = refused(plan.hold(&now, &Policy::default()), "`b`");
    assert!(codes.contains(&"R0510"), "{codes:?}");
}

#[test]
fn a_server_with_another_command_is_refused_once_and_names_a_step() {
    let mut was = catalog();
    was.insert_server("slack", Some("slack-mcp --team ops".into()));
    let (plan, _) = lower(
        post().then().call("c", "slack.create_channel", &[]).outline(),
        &was,
        &Policy::default(),
        Author::Person,
    );
    let plan = plan.unwrap().verify(&was, &Policy::default(), Author::Person).unwrap();
    plan.hold(&was, &Policy::default()).unwrap();
    let mut now = catalog();
    now.insert_server("slack", Some("/tmp/other-mcp".into()));
    assert_eq!(refused(plan.hold(&now, &Policy::default()), "`slack`, which `b` calls"), ["V0305"]);
    // Another server that is not used may be whatever it likes.
    was.insert_server("db", Some("elsewhere".into()));
    plan.hold(&was, &Policy::default()).unwrap();
}

#[test]
fn a_definition_of_one_server_is_not_that_of_another() {
    let one = catalog().definition("slack", "post").unwrap().clone();
    assert_ne!(one.digest("slack-test"), one.digest("slack-prod"));
    // A rule pinned to the definition on one server says nothing of the other.
    let mut both = Catalog::new();
    both.insert("slack-test", one.clone()).unwrap();
    both.insert("slack-prod", one.clone()).unwrap();
    let pinned = policy(&format!(
        "[[allow]]\nserver = \"slack-*\"\ntool = \"post\"\ndefinition = \"{}\"\nreason = \"tests only\"\n",
        one.digest("slack-test")
    ));
    for (server, asked) in [("slack-test", false), ("slack-prod", true)] {
        let outline = sketch().then().call("a", &format!("{server}.post"), &[]).outline();
        let (plan, _) = lower(outline, &both, &pinned, Author::Person);
        let plan = plan.unwrap();
        assert_eq!(plan.gate_of(plan.find("a").unwrap()).is_some(), asked, "{server}");
    }
}

const APART: &str = "[worlds]\nfiles = [\"fs\"]\ncode = [\"git\"]\n";

#[test]
fn worlds_that_merged_are_refused_where_an_order_is_missing() {
    let steps = || sketch().then().call("w", "fs.write_file", &[]).then().call("s", "git.status", &[]);
    let apart = policy(APART);
    let plan = verified(steps(), &apart);
    plan.hold(&catalog(), &apart).unwrap();
    let codes = refused(plan.hold(&catalog(), &Policy::default()), "`s` must wait for `w`");
    assert_eq!(codes, ["V0405"]);
    // Worlds that were parted since loosen: the order of the plan stays.
    let plan = verified(steps(), &Policy::default());
    plan.hold(&catalog(), &apart).unwrap();
    let (w, s) = (plan.plan().find("w").unwrap(), plan.plan().find("s").unwrap());
    assert_eq!(plan.plan().incoming(s).first().map(|(from, _)| *from), Some(w));
}

#[test]
fn worlds_that_merged_change_nothing_where_everything_waits_already() {
    let steps = sketch().then().call("w", "fs.write_file", &[]).then().call("r", "git.status", &["w"]);
    let plan = verified(steps, &policy(APART));
    let held = plan.hold(&catalog(), &Policy::default());
    // The reason of the edge is new, and it asks for no more than the data does.
    held.unwrap_or_else(|p| panic!("{p:#?}"));
}

#[test]
fn a_rule_that_ended_no_longer_loosens() {
    let until = policy(&format!("{ALLOW}until = \"2027-01-31\"\n"));
    let day = |text: &str| until.clone().on(text.parse::<Date>().unwrap());
    let plan = verified(post(), &day("2027-01-31"));
    plan.hold(&catalog(), &day("2027-01-30")).unwrap();
    assert_eq!(refused(plan.hold(&catalog(), &day("2027-02-01")), "`b`"), ["V0303", "V0304"]);
}

#[test]
fn every_refusal_comes_at_once() {
    let plan = verified(post().then().call("c", "jira.create", &[]), &policy(ALLOW));
    let now = with("jira.create", |d| d.description = "Opens a ticket.".into());
    let problems = plan.hold(&now, &Policy::default()).unwrap_err();
    let mut codes: Vec<&str> = problems.iter().map(|p| p.code).collect();
    codes.sort_unstable();
    assert_eq!(codes, ["V0301", "V0303", "V0304"]);
}
