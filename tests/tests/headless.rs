//! `actions.json` run from a host's own program: no card, no command, and it still stops.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may fail, and prints what it saw"
)]

mod support;

use std::path::Path;
use std::sync::Arc;

use plangate_approval::{RowState, SqliteStore, StepState, Storage, StoreError};
use plangate_compiler::{Options as Compile, compile};
use plangate_executor::{Ended, Executor, Options, Start};
use plangate_graph::{Author, Plan, Policy, Value};
use plangate_mcp_client::{Config, McpTools, Options as Mcp, config::Variables};
use plangate_tests::root;
use support::{Lines, approve, person, plangate};

/// The demo servers, with a Slack that posts into a file of this test.
fn demo(folder: &Path) -> McpTools {
    let variables = Variables::none()
        .with("PLANGATE", plangate().to_str().unwrap())
        .with("PLANGATE_DEMO_SLACK_FILE", folder.join("slack.jsonl").to_str().unwrap());
    let config = Config::read_with(&root().join("examples/.mcp.json"), variables).unwrap();
    let started = McpTools::start(&config, ["google-calendar", "gmail", "slack"], Mcp::default()).unwrap();
    assert!(started.failed.is_empty(), "{:?}", started.failed);
    started.tools
}

fn start(inputs: &str) -> Start {
    Start { inputs: Value::parse(inputs).unwrap(), requester: person("ann"), title: "morning".into() }
}

#[test]
fn a_plan_stops_without_any_front_end_and_two_people_run_it_once() {
    let folder = tempfile::tempdir().unwrap();
    let posted = folder.path().join("slack.jsonl");
    let tools = Arc::new(demo(folder.path()));
    let catalog = tools.catalog();
    let policy = Policy::default();
    let recipe = std::fs::read_to_string(root().join("examples/morning.recipe")).unwrap();
    let compiled = compile(&recipe, &Compile::new(&catalog, &policy).author(Author::Person));
    let actions = compiled.plan.unwrap().to_json();

    let database = folder.path().join("state.db");
    let (run, row) = {
        let plan = Plan::from_json(&actions).unwrap().verify(&catalog, &policy, Author::Person).unwrap();
        let store = Arc::new(SqliteStore::open(&database).unwrap());
        let executor = Executor::new(store, tools.clone(), Some(Arc::new(Lines)), Options::default());
        // A number as it is written in an input is the number that is sent.
        let ended = executor.run(&plan, start(r##"{"channel":"#ops 1.10 1e2"}"##)).unwrap();
        let Ended::Parked { run, waiting, record } = ended else { panic!("{ended:?}") };
        assert_eq!(waiting.len(), 1);
        assert_eq!(waiting[0].node, "post/gate");
        assert!(!posted.exists(), "nothing is posted before somebody says yes");

        let sources: Vec<_> = ["calendar", "mail", "slack"].map(|id| record.step(id).unwrap()).into();
        let mut spans: Vec<_> = sources.iter().map(|s| (s.started.unwrap(), s.ended.unwrap())).collect();
        spans.sort_unstable();
        // Each takes its time, so that two of them overlap however late a busy machine starts the last of them.
        assert!(spans.windows(2).any(|two| two[1].0 < two[0].1), "one after the other: {sources:#?}");
        println!(
            "wall {} ms, sum {} ms, critical path {} ms over {}",
            record.wall,
            record.sum,
            record.critical_path.ms,
            record.critical_path.steps.join(", ")
        );
        (run, waiting[0].clone())
    };

    // As another process would: everything from the store again.
    let store = Arc::new(SqliteStore::open(&database).unwrap());
    let executor = Executor::new(Arc::clone(&store), tools, Some(Arc::new(Lines)), Options::default());
    assert_eq!(approve(Arc::clone(&store), &row, "bob").unwrap().state, RowState::Approved);
    let Ended::Done(record) = executor.resume(&run, None).unwrap() else { panic!("not done") };
    assert_eq!(record.step("post").unwrap().state, StepState::Done);
    let approved = row.call.unwrap().args;
    let line = std::fs::read(&posted).unwrap();
    assert_eq!(line, [approved.as_slice(), b"\n"].concat(), "what was approved is what arrived");

    // The second yes is told what the first one did, and nothing more is posted.
    let late = store.row(&row.id).unwrap();
    match approve(Arc::clone(&store), &late, "carol") {
        Err(StoreError::Decided { by, at: Some(_), .. }) => assert!(by.contains("bob"), "{by}"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(executor.resume(&run, None).unwrap(), Ended::Done(_)));
    assert_eq!(std::fs::read(&posted).unwrap(), line);
}
