//! The demo servers as processes: through the MCP client, a verified plan, and the wire.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use plangate_executor::{Cancel, Tools as _};
use plangate_graph::effect::classify;
use plangate_graph::lower::lower;
use plangate_graph::outline::{Block, BlockKind, Body, Call, Item, Outline, Settings};
use plangate_graph::policy::{Author, Policy};
use plangate_graph::template::Template;
use plangate_graph::{Digest, Effect, Value, VerifiedPlan};
use plangate_mcp_client::{Config, McpTools, Options, Variables};

fn tools() -> McpTools {
    let variables = Variables::of_process().with("PLANGATE", env!("CARGO_BIN_EXE_plangate"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/.mcp.json");
    let config = Config::read_with(&file, variables).unwrap();
    let names: Vec<_> = config.names().collect();
    let started = McpTools::start(&config, names, Options::default()).unwrap();
    assert!(started.failed.is_empty(), "{:?}", started.failed);
    started.tools
}

/// A plan of these reads, side by side.
fn plan(tools: &McpTools, reads: &[(&str, &str, &str)]) -> VerifiedPlan {
    let block = Block { kind: BlockKind::Together, name: None, need: None };
    let item = |(i, (server, tool, args)): (usize, &(&str, &str, &str))| {
        let args = Template::Lit(Value::parse(args).unwrap());
        let (server, tool) = ((*server).to_owned(), (*tool).to_owned());
        let settings = Settings::default();
        let call = Call { name: format!("s{i}"), server, tool, args, settings, without_asking: false };
        Item { block: 0, under: None, span: (0, 0), body: Body::Call(call) }
    };
    let items = reads.iter().enumerate().map(item).collect();
    let outline = Outline { recipe: Digest::of(b"demo"), inputs: vec![], blocks: vec![block], items };
    let (catalog, policy) = (tools.catalog(), Policy::default());
    let (plan, problems) = lower(outline, &catalog, &policy, Author::Person);
    plan.unwrap_or_else(|| panic!("{problems:?}")).verify(&catalog, &policy, Author::Person).unwrap()
}

#[test]
fn each_takes_its_time_and_they_overlap() {
    let tools = tools();
    let reads = [
        ("google-calendar", "list-events", r#"{"calendarId":"primary"}"#, 412),
        ("google-calendar", "list-events", r#"{"calendarId":"primary","query":"room"}"#, 412),
        ("gmail", "messages_list", r#"{"labelIds":["UNREAD"],"maxResults":20}"#, 268),
        ("slack", "slack_search_messages", r#"{"query":"mentions:me"}"#, 83),
    ];
    let plan = plan(&tools, &reads.map(|(server, tool, args, _)| (server, tool, args)));
    let calls: Vec<_> = plan.plan().calls().collect();
    let values: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = calls
            .iter()
            .map(|(ix, call)| {
                let (plan, tools) = (&plan, &tools);
                scope.spawn(move || {
                    let args = call.args.literal().unwrap();
                    let read = plan.read_call(*ix, args).unwrap();
                    let cancel = Cancel::new(Some(Instant::now() + Duration::from_secs(30)));
                    let begun = Instant::now();
                    (tools.read(read, &cancel).unwrap(), (begun, Instant::now()))
                })
            })
            .collect();
        running.into_iter().map(|run| run.join().unwrap()).collect()
    });
    for ((value, (begun, ended)), (_, tool, _, takes)) in values.iter().zip(reads) {
        let took = *ended - *begun;
        assert!(took >= Duration::from_millis(takes), "{tool} took {took:?}: {value}");
    }
    let mut spans: Vec<_> = values.iter().map(|(_, span)| *span).collect();
    spans.sort_unstable();
    assert!(spans.windows(2).any(|two| two[1].0 < two[0].1), "one after the other: {spans:?}");
    let size = |i: usize, path: &[&str]| {
        let found = path.iter().fold(&values[i].0, |value, name| value.member(name).unwrap());
        let Value::List(items) = found else { panic!("a list") };
        items.len()
    };
    assert_eq!(size(0, &["events"]), 4);
    assert_eq!(size(2, &["messages"]), 3);
    assert_eq!(size(3, &["messages", "matches"]), 3);
}

#[test]
fn their_tools_are_what_they_look_like() {
    let tools = tools();
    assert!(tools.refused().is_empty());
    let effects: Vec<_> = tools
        .catalog()
        .tools()
        .map(|(server, definition)| {
            let found = classify(server, definition, None, &Policy::default());
            (definition.name.clone(), found.effect, found.contradiction)
        })
        .collect();
    let of = |name: &str, effect| (name.to_owned(), effect, false);
    assert_eq!(
        effects,
        [
            of("messages_get", Effect::Read),
            of("messages_list", Effect::Read),
            of("messages_send", Effect::Destructive),
            of("create-event", Effect::Write),
            of("list-calendars", Effect::Read),
            of("list-events", Effect::Read),
            of("slack_list_channels", Effect::Read),
            of("slack_post_message", Effect::Destructive),
            of("slack_search_messages", Effect::Read),
        ]
    );
}

#[test]
fn a_post_lands_in_its_file_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("posts.jsonl");
    let mut server = Command::new(env!("CARGO_BIN_EXE_plangate"))
        .args(["demo-server", "slack"])
        .env("PLANGATE_DEMO_SLACK_FILE", &file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    let mut ask = |line: &str| {
        writeln!(input, "{line}").unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        answer
    };
    ask(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#,
    );
    let args = r##"{"channel":"#daily","text":"1.10 å \u0041","version":1.10,"weight": 1e2}"##;
    let answer = ask(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"slack_post_message","arguments":{args}}}}}"#
    ));
    assert!(answer.contains(r#""ok":true"#), "{answer}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{args}\n"));
    let answer = ask(
        r##"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slack_post_message","arguments":{"channel":"#daily"}}}"##,
    );
    assert!(answer.contains("-32602") && answer.contains("text is missing"), "{answer}");
    drop(input);
    assert!(server.wait().unwrap().success());
}

#[test]
fn an_unknown_name_says_which_there_are() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_plangate")).args(["demo-server", "nobody"]).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(r#"no demo server "nobody"; there are google-calendar, gmail, slack"#), "{said}");
}
