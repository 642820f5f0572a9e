//! Situations in which a gate was got around elsewhere. Here it is not.

use plangate_approval::{Approvals, RowState, SqliteStore, StepState, Storage, StoreError};
use plangate_executor::{Ended, Present};
use plangate_graph::card::Card;
use plangate_graph::effect::{Effect, classify};
use plangate_graph::{Author, Catalog, Definition, Digest, Policy, Value};

use super::stage::{Stage, catalog, only, person, policy, sent, start, states, verified, waiting};

const POST: &str = "then:\n  a: slack.post {\"text\":\"hello\"}\n";

const ALLOW: &str = "[[allow]]\nserver = \"slack\"\ntool = \"post\"\ndefinition = \"DIGEST slack.post\"\nreason = \"our own channel\"\n";

fn tool(name: &str, description: &str, annotations: &str) -> Definition {
    Definition {
        name: name.into(),
        description: description.into(),
        input_schema: Value::parse(r#"{"type":"object"}"#).unwrap(),
        annotations: Value::parse(annotations).unwrap(),
    }
}

fn effect(definition: &Definition, policy: &Policy) -> Effect {
    classify("s", definition, None, policy).effect
}

#[test]
fn a01_a_rejected_call_is_made_by_no_entry_point() {
    let stage = Stage::new();
    let plan = verified(POST, &Policy::default());
    let parked = stage.run(&plan);
    stage.vote(&only(&parked), false).unwrap();
    let ended = stage.resume(&parked, None);
    assert_eq!(states(&ended), "a/gate rejected, a rejected");
    assert_eq!(states(&stage.resume(&ended, None)), "a/gate rejected, a rejected");
    // The verified plan hands out no read of it, with whatever arguments.
    let a = plan.plan().find("a").unwrap();
    for args in [r#"{"text":"hello"}"#, "{}", "null"] {
        assert!(plan.read_call(a, &Value::parse(args).unwrap()).is_none(), "{args}");
    }
    // Another run of the same plan asks anew, and inherits no answer.
    assert_eq!(only(&stage.run(&plan)).state, RowState::Pending);
    assert_eq!(stage.tools.effects(), []);
}

#[test]
fn a02_a_second_executor_over_the_same_store_finds_it_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("state.db");
    let first = Stage::over(SqliteStore::open(&database).unwrap());
    let parked = first.run(&verified(POST, &Policy::default()));
    first.vote(&only(&parked), false).unwrap();
    drop(first);
    let second = Stage::over(SqliteStore::open(&database).unwrap());
    assert_eq!(states(&second.resume(&parked, None)), "a/gate rejected, a rejected");
    assert_eq!(second.tools.effects(), []);
}

#[test]
fn a03_a_tool_that_looks_at_no_verdict_is_not_reached() {
    let stage = Stage::new();
    let parked = stage.run(&verified(POST, &Policy::default()));
    assert_eq!(stage.tools.effects(), [], "it waits");
    stage.executor().cancel(&parked.record().run, &person("bob"), None).unwrap();
    stage.resume(&parked, None);
    assert_eq!(stage.tools.effects(), [], "it was cancelled");
}

#[test]
fn a04_a_policy_that_turned_does_not_make_a_no_a_yes() {
    for rejected in [true, false] {
        let stage = Stage::new();
        let parked = stage.run(&verified(POST, &Policy::default()));
        if rejected {
            stage.vote(&only(&parked), false).unwrap();
        }
        let present = Present { catalog: catalog(), policy: policy(ALLOW) };
        let ended = stage.resume(&parked, Some(present));
        let wanted = if rejected { "a/gate rejected, a rejected" } else { "a/gate pending, a waiting" };
        assert_eq!(states(&ended), wanted);
        assert_eq!(stage.tools.effects(), []);
    }
}

#[test]
fn a05_a_rule_that_names_no_tool_is_an_error_and_a_tool_of_no_known_kind_is_asked() {
    let misnamed = policy("[[ask]]\nserver = \"slack\"\ntool = \"pots\"\n").check(&catalog());
    assert_eq!(misnamed.iter().map(|e| e.code).collect::<Vec<_>>(), ["P0201"], "{misnamed:?}");
    assert_eq!(effect(&tool("frobnicate", "", "null"), &Policy::default()), Effect::Unknown);
    assert!(Effect::Unknown.changes());
}

#[test]
fn a06_a_vote_that_is_not_about_this_row_leaves_it_pending() {
    let stage = Stage::new();
    let row = only(&stage.run(&verified(POST, &Policy::default())));
    let mut other = row.clone();
    other.digest = Digest::of(b"something else");
    assert!(matches!(stage.vote(&other, true), Err(StoreError::Changed { .. })));
    other.id = plangate_approval::RowId("none".into());
    assert!(matches!(stage.vote(&other, true), Err(StoreError::NotFound { .. })));
    assert_eq!(stage.store.row(&row.id).unwrap().state, RowState::Pending);
}

#[test]
fn a09_a_gate_behind_a_check_that_fails_is_skipped_with_it_and_the_run_ends() {
    let stage = Stage::new();
    let recipe = "together:\n  m: gmail.list {}\ncheck:\n  - {m.messages} is empty\n    a: slack.post {\"text\":\"none\"}\nthen:\n  b: cal.list {}\n    after: m\n";
    let Ended::Done(record) = stage.run(&verified(recipe, &Policy::default())) else { panic!("it waits") };
    assert_eq!(record.step("a").unwrap().state, StepState::Skipped);
    assert_eq!(record.step("b").unwrap().state, StepState::Done);
    assert_eq!(stage.tools.effects(), []);
}

#[test]
fn a10_after_a_no_only_what_another_branch_truly_feeds_goes_on() {
    let stage = Stage::new();
    let recipe = concat!(
        "together:\n  a: slack.create_channel {\"name\":\"n\"}\n  m: gmail.list {}\n",
        "then:\n  need: 1 of 2\n  note: a line about {a, m}\n",
        "then:\n  child: fs.read_file {\"path\":\"{a}\"}\n  grandchild: cal.list {\"date\":\"{child.n}\"}\n",
    );
    let parked = stage.run(&verified(recipe, &Policy::default()));
    stage.vote(&only(&parked), false).unwrap();
    let Ended::Done(record) = stage.resume(&parked, None) else { panic!("it waits") };
    let state = |id: &str| record.step(id).unwrap().state;
    assert_eq!((state("a"), state("note")), (StepState::Rejected, StepState::Done));
    assert_eq!((state("child"), state("grandchild")), (StepState::Blocked, StepState::Blocked));
    let read = stage.tools.read.lock().unwrap().clone();
    assert_eq!(read, [sent("gmail.list", "{}")]);
}

#[test]
fn a11_a_tool_that_runs_a_plan_or_an_agent_of_its_own_is_asked() {
    for name in ["run_plan", "execute_workflow", "delegate_task", "invoke_agent", "call_tool"] {
        let definition = tool(name, "Runs the given plan and returns its result.", "{\"readOnlyHint\":true}");
        assert!(effect(&definition, &Policy::default()).changes(), "{name}");
    }
}

#[test]
fn a12_the_same_definition_has_the_same_verdict_however_it_came_in() {
    let native = catalog();
    let mut by_hand = Catalog::new();
    for (server, definition) in native.tools() {
        let text = definition.to_json().to_string();
        let read = Definition::from_json(&Value::parse(&text).unwrap(), "tool").unwrap();
        by_hand.insert(server, read).unwrap();
    }
    for (server, definition) in native.tools() {
        let other = by_hand.definition(server, &definition.name).unwrap();
        assert_eq!(definition.digest(server), other.digest(server));
        let verdict = |d| classify(server, d, None, &Policy::default());
        assert_eq!(verdict(definition), verdict(other));
    }
}

#[test]
fn a13_a_harmless_name_over_a_description_that_sends_is_asked() {
    for (name, description) in [
        ("get_in_touch", "Sends an email to the given person."),
        ("list_cleanup", "Deletes every item of the list that is older than a day."),
        ("sync_feed", ""),
    ] {
        assert!(effect(&tool(name, description, "null"), &Policy::default()).changes(), "{name}");
    }
}

#[test]
fn a14_a_hint_to_only_read_lets_no_delete_through_even_where_hints_are_trusted() {
    let trusted = Policy::from_toml("[[trust]]\nserver = \"*\"\n").unwrap();
    let lies = tool("delete_all", "Deletes everything.", "{\"readOnlyHint\":true,\"destructiveHint\":false}");
    for policy in [Policy::default(), trusted] {
        let found = classify("s", &lies, None, &policy);
        assert_eq!((found.effect, found.contradiction), (Effect::Destructive, true));
    }
}

#[test]
fn a17_a_no_after_a_restart_needs_no_policy() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("state.db");
    let parked = {
        let stage = Stage::over(SqliteStore::open(&database).unwrap());
        stage.run(&verified(POST, &Policy::default()))
    };
    // Another process, which knows of no plan and no policy.
    let decider = Stage::over(SqliteStore::open(&database).unwrap());
    decider.vote(&only(&parked), false).unwrap();
    let driver = Stage::over(SqliteStore::open(&database).unwrap());
    assert_eq!(states(&driver.resume(&parked, None)), "a/gate rejected, a rejected");
    assert_eq!(driver.tools.effects(), []);
}

#[test]
fn a18_of_two_calls_side_by_side_one_runs_and_the_other_waits_and_the_card_says_so() {
    let recipe = "together:\n  a: slack.post {\"text\":\"x\"}\n  b: jira.create {\"project\":\"P\",\"summary\":\"s\"}\n";
    let plan = verified(recipe, &Policy::default());
    let text = Card::of(&plan, None).to_text();
    assert!(text.contains("these don't need each other"), "{text}");
    let stage = Stage::new();
    let parked = stage.run(&plan);
    let rows = waiting(&parked);
    let b = rows.iter().find(|row| row.node == "b/gate").unwrap();
    stage.vote(b, true).unwrap();
    let ended = stage.resume(&parked, None);
    assert_eq!(states(&ended), "a/gate pending, a waiting, b/gate done, b done");
    // One below the other waits: changes do not commute, whether or not the second reads the first.
    let recipe = recipe.replace("\n  b:", "\nthen:\n  b:");
    let stage = Stage::new();
    assert_eq!(only(&stage.run(&verified(&recipe, &Policy::default()))).node, "a/gate");
}

#[test]
fn a20_an_allowed_command_lets_through_no_command_that_begins_with_it() {
    let mut catalog = Catalog::new();
    let mut shell = tool("run_command", "Runs a shell command.", "null");
    shell.input_schema =
        Value::parse(r#"{"type":"object","properties":{"command":{"type":"string"}}}"#).unwrap();
    let digest = shell.digest("sh");
    catalog.insert("sh", shell).unwrap();
    let policy = Policy::from_toml(&format!(
        "[[allow]]\nserver = \"sh\"\ntool = \"run_command\"\ndefinition = \"{digest}\"\nreason = \"looks only\"\nwhen = [\"command = \\\"git status\\\"\"]\n"
    ))
    .unwrap();
    let asked = |args: &str| {
        let recipe = format!("then:\n  a: sh.run_command {args}\n");
        let options = plangate_compiler::Options::new(&catalog, &policy).author(Author::Person);
        let plan = plangate_compiler::compile(&recipe, &options).plan.unwrap();
        plan.gate_of(plan.find("a").unwrap()).is_some()
    };
    assert!(!asked(r#"{"command":"git status"}"#));
    for other in [
        r#"{"command":"git status && rm -rf ."}"#,
        r#"{"command":"git status\nrm -rf ."}"#,
        r#"{"command":" git status"}"#,
        r#"{"command":"sh -c 'git status'"}"#,
        // A server that looks at keys in any case would run the other one.
        r#"{"command":"git status","Command":"rm -rf ."}"#,
    ] {
        assert!(asked(other), "{other}");
    }
}

#[test]
fn a70_an_edited_call_is_held_against_schema_and_policy_before_it_is_sent() {
    for (edited, why) in [
        (r#"{"text":7}"#, "do not fit"),
        (r#"{"channel":"general","text":"hello"}"#, "policy denies this call"),
    ] {
        let policy = policy(concat!(
            "[[deny]]\nserver = \"slack\"\ntool = \"post\"\nwhen = [\"channel = \\\"general\\\"\"]\n",
            "[roles]\nops = [\"test:eve\"]\n[[people]]\nserver = \"slack\"\nmay_edit = [\"ops\"]\n",
        ));
        let stage = Stage::new();
        let parked = stage
            .run(&verified("then:\n  a: slack.post {\"channel\":\"ops\",\"text\":\"hello\"}\n", &policy));
        let row = only(&parked);
        let edit = plangate_approval::row::Edit {
            row: row.id.clone(),
            seen: row.digest,
            by: plangate_approval::Person { roles: vec!["ops".into()], ..person("eve") },
            args: edited.as_bytes().to_vec(),
            reason: row.reason.clone(),
            terms: row.terms.clone(),
            note: None,
        };
        let edited = Approvals::new(stage.store.clone()).edit(&row, &edit).unwrap();
        assert_ne!(edited.digest, row.digest);
        // A yes to what stood there before is void.
        assert!(matches!(stage.vote(&row, true), Err(StoreError::Changed { .. })));
        stage.vote(&edited, true).unwrap();
        let ended = stage.resume(&parked, None);
        let error = ended.record().step("a").unwrap().error.clone().unwrap_or_default();
        assert!(error.contains(why), "{error}");
        assert_eq!(stage.tools.effects(), []);
    }
}

#[test]
fn a71_what_is_allowed_up_to_a_limit_is_asked_above_it_and_decided_with_the_final_value() {
    let limit = policy(&format!("{ALLOW}when = [\"text in [\\\"7\\\", \\\"short\\\"]\"]\n"));
    let run = |recipe: &str| {
        let stage = Stage::new();
        let ended = stage.run(&verified(recipe, &limit));
        (matches!(ended, Ended::Parked { .. }), stage.tools.effects().len())
    };
    assert_eq!(run("then:\n  a: slack.post {\"text\":\"short\"}\n"), (false, 1));
    assert_eq!(run("then:\n  a: slack.post {\"text\":\"longer\"}\n"), (true, 0));
    // Not known before: the gate is there, and the rule decides at it.
    assert_eq!(run("then:\n  m: gmail.list {}\n  a: slack.post {\"text\":\"{m.action}\"}\n"), (true, 0));
    assert_eq!(run("then:\n  m: gmail.list {}\n  a: slack.post {\"text\":\"no {m.n}\"}\n"), (true, 0));
    assert_eq!(
        run("inputs:\n  t: text = \"short\"\nthen:\n  a: slack.post {\"text\":\"{t}\"}\n"),
        (false, 1)
    );
    // Without a limit that it meets, an allow of other arguments says nothing.
    let other = policy(&format!("{ALLOW}when = [\"channel = \\\"ops\\\"\"]\n"));
    let stage = Stage::new();
    assert!(matches!(stage.run(&verified(POST, &other)), Ended::Parked { .. }));
}

#[test]
fn a_run_that_was_let_through_until_a_day_goes_on_under_the_day_of_its_store() {
    let until = policy(&format!("{ALLOW}until = \"2999-12-31\"\n"));
    let today = until.clone().on("2026-11-30".parse().unwrap());
    let recipe = "together:\n  q: gmail.send {\"to\":\"a@b\"}\nthen:\n  a: slack.post {\"text\":\"hello\"}\n";
    let stage = Stage::new();
    let parked = stage.run(&verified(recipe, &today));
    assert_eq!(only(&parked).node, "q/gate");
    stage.vote(&only(&parked), true).unwrap();
    let Ended::Done(record) = stage.resume(&parked, None) else { panic!("not done") };
    assert_eq!(record.step("a").unwrap().state, StepState::Done);
}

#[test]
fn two_keys_that_differ_in_case_alone_are_no_literal_that_decides() {
    // The schema of the test catalog takes no second key; most schemas do.
    let mut kv = catalog().definition("kv", "kv").unwrap().clone();
    kv.input_schema =
        Value::parse(r#"{"type":"object","properties":{"action":{"enum":["list","get","delete"]}}}"#)
            .unwrap();
    let of = |args: &str| {
        let args = plangate_graph::template::Template::Lit(Value::parse(args).unwrap());
        classify("kv", &kv, Some(&args), &Policy::default()).effect
    };
    assert_eq!(of(r#"{"action":"list"}"#), Effect::Read);
    assert_eq!(of(r#"{"action":"list","other":1}"#), Effect::Read);
    assert!(of(r#"{"action":"list","ACTION":"delete"}"#).changes());
    assert!(of(r#"{"action":"list","Action":["delete"]}"#).changes());
}

#[test]
fn an_input_that_says_list_is_no_literal() {
    let stage = Stage::new();
    let recipe = "inputs:\n  mode: text = \"list\"\nthen:\n  k: kv.kv {\"action\":\"{mode}\"}\n";
    let plan = verified(recipe, &Policy::default());
    let ended = stage.executor().run(&plan, start(r#"{"mode":"list"}"#)).unwrap();
    assert_eq!(only(&ended).node, "k/gate");
    stage.tools.assert_reads_only("");
    assert!(stage.tools.read.lock().unwrap().is_empty());
}
