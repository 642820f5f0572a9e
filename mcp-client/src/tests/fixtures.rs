//! The fault fixtures beside the workspace, one row a mode: a typed outcome, in time, and nothing left behind.

use std::path::PathBuf;
use std::time::Duration;

use plangate_approval::Outcome;
use plangate_executor::{ReadError, Tools as _};

use super::{Servers, no_python, spend, timed, value_of, within};
use crate::call::{End, outcome, value};

/// What a mode must come to.
enum Wanted {
    /// The server is not ready, and the error says this.
    NotReady(&'static str),
    /// The call `go {}` gives this value.
    Value(&'static str),
    /// The read fails and says this; an effect has failed.
    Failed(&'static str),
    /// The read fails and says this; of an effect nothing is known.
    Unknown(&'static str),
    /// The connection is lost, and the error says this; of an effect nothing is known.
    Lost(&'static str),
    /// No answer comes.
    TimedOut,
    /// These tools are listed, and so many refused.
    Tools(&'static [&'static str], usize),
    /// A test of its own looks at it.
    Elsewhere,
}
use Wanted::{Elsewhere, Failed, Lost, NotReady, TimedOut, Tools, Unknown, Value};

const ROWS: &[(&str, &str, &[&str], Wanted)] = &[
    ("framing", "noise", &[], Value(r#""ok""#)),
    ("framing", "blank-lines", &[], Value(r#""ok""#)),
    ("framing", "split", &[], Value(r#""å≠🙂""#)),
    ("framing", "pretty", &[], TimedOut),
    ("framing", "bad-utf8", &[], Unknown("gave an answer that cannot be read")),
    ("framing", "truncated", &[], Lost("ended (exit status 0)")),
    ("framing", "string-id", &[], Value(r#""ok""#)),
    ("framing", "wrong-id", &[], Value(r#""ok""#)),
    ("framing", "twice", &[], Value(r#""ok""#)),
    ("framing", "null-id-error", &[], Failed("error -32700: Parse error")),
    ("framing", "early-note", &[], Value(r#""ok""#)),
    ("framing", "server-request", &[], Elsewhere),
    ("framing", "reorder", &[], Elsewhere),
    ("framing", "late", &[], Elsewhere),
    ("framing", "progress-forever", &["--seconds", "0.4"], Value(r#""ok""#)),
    ("framing", "stderr-flood", &[], Value(r#""ok""#)),
    ("lifecycle", "die-mid-call", &[], Lost("ended (exit status 3)")),
    ("lifecycle", "die-on-start", &[], NotReady("ended (exit status 1)")),
    ("lifecycle", "close-stdout", &["--seconds", "60"], Lost("closed its standard output")),
    ("lifecycle", "close-stdin", &["--seconds", "60"], NotReady("reads nothing any more")),
    ("lifecycle", "never-answer", &[], TimedOut),
    ("lifecycle", "hang-init", &[], NotReady("waiting for its answer to `initialize`")),
    ("lifecycle", "slow-init", &["--seconds", "0.4"], Value(r#""ok""#)),
    ("lifecycle", "grandchild", &["--seconds", "60"], Elsewhere),
    ("lifecycle", "grandchild-holds-stdout", &["--seconds", "60"], Lost("ended (exit status 3)")),
    ("lifecycle", "ignore-eof", &["--seconds", "60"], Value(r#""ok""#)),
    ("lifecycle", "ignore-term", &["--seconds", "60"], Value(r#""ok""#)),
    ("lifecycle", "stop-reading", &["--seconds", "60"], NotReady("waiting for its answer to `tools/list`")),
    ("lifecycle", "sleep", &["--seconds", "0.1"], Value(r#""slept""#)),
    ("lifecycle", "sleep-serial", &["--seconds", "0.1"], Value(r#""slept""#)),
    ("lifecycle", "env", &[], Elsewhere),
    ("payload", "is-error", &[], Failed("no such account")),
    ("payload", "rpc-error", &[], Failed("error -32602: Unknown tool: go")),
    ("payload", "no-content", &[], Value(r#"{"n":1}"#)),
    ("payload", "empty-result", &[], Value("[]")),
    ("payload", "null-result", &[], Unknown("cannot be read: it is no object")),
    ("payload", "null-structured", &[], Value(r#""null""#)),
    (
        "payload",
        "unknown-block",
        &[],
        Value(r#"[{"text":"a","type":"text"},{"type":"hologram","x":1},{"text":"b","type":"text"}]"#),
    ),
    ("payload", "wrong-output", &[], Value(r#"{"n":"one"}"#)),
    ("payload", "huge", &["--bytes", "20000000"], Unknown("more than 16777216 bytes")),
    ("payload", "deep", &[], Unknown("nested deeper than 128 levels")),
    (
        "payload",
        "big-numbers",
        &[],
        Value(r#"{"a":18446744073709551615,"b":9007199254740993,"c":0.1234567890123456789}"#),
    ),
    ("payload", "echo-arguments", &[], Value("{}")),
    ("payload", "pages", &[], Tools(&["t0", "t1", "t2"], 0)),
    ("payload", "cursor-loop", &[], NotReady("again and again (cursor \"same\")")),
    ("payload", "page-forever", &[], NotReady("in more than 500 pages")),
    ("payload", "list-error", &[], NotReady("`tools/list` with error -32603: database down")),
    ("payload", "duplicate-names", &[], Tools(&[], 1)),
    ("payload", "odd-names", &[], Tools(&["a/b", "emoji🙂", "größe"], 3)),
    ("payload", "odd-schemas", &[], Tools(&["absent", "boolprop", "good", "ref", "typelist"], 2)),
    ("payload", "lying-annotations", &[], Tools(&["delete_everything", "junk", "plain"], 0)),
    ("payload", "rug-pull", &[], Elsewhere),
    ("payload", "version-unknown", &[], NotReady("it offers 1999-01-01")),
    ("payload", "version-old", &[], Value(r#""ok""#)),
    ("payload", "no-tools-capability", &[], Tools(&[], 0)),
    ("modern", "ok", &[], Value(r#""ok""#)),
    ("modern", "slow-start", &["--seconds", "0.4"], Value(r#""ok""#)),
    ("modern", "exit-on-probe", &[], Value(r#""ok""#)),
    ("modern", "silent-on-probe", &[], Value(r#""ok""#)),
    ("modern", "future-only", &[], NotReady("it offers 2099-01-01")),
    ("modern", "input-required", &[], Failed("asks for more input")),
    ("modern", "input-forever", &[], Failed("asks for more input")),
    ("modern", "unasked-task", &[], Unknown("goes on as a task")),
    ("modern", "crash-once", &[], Elsewhere),
];

/// The folder of the fixtures; says so where it is not.
fn folder() -> Option<PathBuf> {
    if no_python() {
        return None;
    }
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared"));
    let shared = std::env::var_os("PLANGATE_SHARED").map_or_else(beside, PathBuf::from);
    let folder = shared.join("fixtures/mcp_faults");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: there is no {} (PLANGATE_SHARED says where it is)", folder.display());
    None
}

fn servers(folder: &std::path::Path, script: &str, mode: &str, flags: &[&str]) -> Servers {
    let script = folder.join(format!("{script}.py"));
    let mut line = vec!["python3", script.to_str().unwrap(), "--mode", mode];
    line.extend(flags);
    Servers::new().with("s", &line)
}

/// A tool that the server has: most have one, `go`.
fn tool(tools: &crate::McpTools) -> String {
    tools.catalog().tools().next().map_or_else(|| "go".to_owned(), |(_, definition)| definition.name.clone())
}

#[test]
fn every_mode_comes_to_what_it_must() {
    let Some(folder) = folder() else { return };
    let wrong = std::sync::Mutex::new(Vec::new());
    let next = std::sync::atomic::AtomicUsize::new(0);
    // A few at once: each waits for its server most of the time.
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while let Some((script, mode, flags, wanted)) =
                    ROWS.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    let servers = servers(&folder, script, mode, flags);
                    let (checked, took) = timed(|| check(servers, wanted));
                    let slow = (took > Duration::from_secs(20)).then(|| format!("took {took:?}"));
                    for problem in checked.err().into_iter().chain(slow) {
                        wrong.lock().unwrap().push(format!("{script} {mode}: {problem}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn check(mut servers: Servers, wanted: &Wanted) -> Result<(), String> {
    if matches!(wanted, Elsewhere) {
        return Ok(());
    }
    if let NotReady(text) = wanted
        && text.starts_with("waiting")
    {
        servers = servers.startup_timeout(Duration::from_secs(6));
    }
    let started = servers.start();
    let checked = match (wanted, started.failed.first()) {
        (NotReady(text), Some(error)) => {
            says(&error.to_string(), text).and(says(&error.to_string(), "server \"s\" "))
        }
        (NotReady(_), None) => Err("it is ready".to_owned()),
        (_, Some(error)) => Err(error.to_string()),
        (Tools(names, refused), None) => {
            let catalog = started.tools.catalog();
            let listed: Vec<_> = catalog.tools().map(|(_, definition)| definition.name.as_str()).collect();
            let got = (listed.as_slice(), started.tools.refused().len());
            (got == (*names, *refused)).then_some(()).ok_or_else(|| format!("{got:?}"))
        }
        (wanted, None) => check_call(&started.tools, wanted),
    };
    drop(started);
    servers.assert_gone();
    checked
}

/// The same end, as a read and as an effect: the call is made twice where it can be.
fn check_call(tools: &crate::McpTools, wanted: &Wanted) -> Result<(), String> {
    let limit = if matches!(wanted, TimedOut) { Duration::from_millis(700) } else { Duration::from_secs(15) };
    let tool = tool(tools);
    let call = || tools.call("s", spend(&tool, "{}"), &within(limit));
    let first = call();
    match (wanted, &first) {
        (Lost(_), End::Lost(_)) => {}
        (Lost(_), other) => return Err(format!("{other:?}")),
        (_, End::NotSent(reason)) => return Err(reason.clone()),
        _ => {}
    }
    match wanted {
        Lost(text) => {
            let Outcome::Unknown(reason) = outcome(first) else { return Err("not unknown".to_owned()) };
            says(&reason, text)?;
            let Err(ReadError::Transport(reason)) = value(call()) else { return Err("not lost".to_owned()) };
            says(&reason, text).and(says(&reason, "server \"s\" "))
        }
        Value(json) => {
            let got = value(first).map_err(|e| format!("{e:?}"))?;
            says(&got.to_string(), json)?;
            let again = outcome(call());
            (again == Outcome::Ok(got)).then_some(()).ok_or_else(|| format!("then {again:?}"))
        }
        Failed(text) => {
            let Err(ReadError::Failed(reason)) = value(first) else {
                return Err("no failed read".to_owned());
            };
            says(&reason, text)?;
            match outcome(call()) {
                Outcome::Failed(reason) => says(&reason, text),
                other => Err(format!("{other:?}")),
            }
        }
        Unknown(text) => {
            let Err(ReadError::Failed(reason)) = value(first) else {
                return Err("no failed read".to_owned());
            };
            says(&reason, text)?;
            match outcome(call()) {
                Outcome::Unknown(reason) => says(&reason, text),
                other => Err(format!("{other:?}")),
            }
        }
        _ => match (value(first), outcome(call())) {
            (Err(ReadError::TimedOut(_)), Outcome::Unknown(_)) => Ok(()),
            other => Err(format!("{other:?}")),
        },
    }
}

fn says(text: &str, wanted: &str) -> Result<(), String> {
    if text.contains(wanted) { Ok(()) } else { Err(format!("expected {wanted:?} in {text:?}")) }
}

#[test]
fn every_mode_has_a_row() {
    let Some(folder) = folder() else { return };
    for script in ["framing", "lifecycle", "payload", "modern"] {
        let help = std::process::Command::new("python3")
            .arg(folder.join(format!("{script}.py")))
            .arg("--help")
            .output()
            .unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        let (_, modes) = help.split_once("modes:\n").unwrap();
        let modes: Vec<_> = modes.lines().filter_map(|line| line.split_whitespace().next()).collect();
        let rows: Vec<_> = ROWS.iter().filter(|row| row.0 == script).map(|row| row.1).collect();
        assert_eq!(rows, modes, "{script}");
    }
    eprintln!("http_faults: 8 modes are skipped, because servers with a URL are not supported yet");
}

#[test]
fn answers_in_any_order_find_their_calls() {
    let Some(folder) = folder() else { return };
    let tools = servers(&folder, "framing", "reorder", &[]).ready();
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..2)
            .map(|i| {
                let tools = &tools;
                let args = format!(r#"{{"i":{i}}}"#);
                scope.spawn(move || (value_of(super::call(tools, "go", &args)), args))
            })
            .collect();
        for call in calls {
            let (answer, args) = call.join().unwrap();
            assert_eq!(answer, args);
        }
    });
}

#[test]
fn what_a_server_asks_is_answered() {
    let Some(folder) = folder() else { return };
    let tools = servers(&folder, "framing", "server-request", &[]).ready();
    let answers = value_of(super::call(&tools, "go", "{}"));
    assert_eq!(answers, r#"[["s0","result"],["s1",-32601],["s2",-32601]]"#);
}

#[test]
fn a_late_answer_is_nobody_elses() {
    let Some(folder) = folder() else { return };
    let tools = servers(&folder, "framing", "late", &["--seconds", "0.8"]).ready();
    let late = tools.call("s", spend("go", r#"{"i":1}"#), &within(Duration::from_millis(200)));
    assert!(matches!(late, End::TimedOut { sent: true, .. }), "{late:?}");
    assert_eq!(value_of(super::call(&tools, "go", r#"{"i":2}"#)), r#"{"i":2}"#);
    assert_eq!(value_of(super::call(&tools, "go", r#"{"i":3}"#)), r#"{"i":3}"#);
}

#[test]
fn a_grandchild_ends_with_its_server() {
    let Some(folder) = folder() else { return };
    let servers = servers(&folder, "lifecycle", "grandchild", &["--seconds", "60"]);
    let tools = servers.ready();
    let pid = value_of(super::call(&tools, "go", "{}"));
    let stat = PathBuf::from(format!("/proc/{}/stat", pid.trim_matches('"')));
    assert!(stat.exists());
    drop(tools);
    servers.assert_gone();
    let dead = std::fs::read_to_string(stat).map_or(true, |stat| stat.contains(") Z "));
    assert!(dead);
}

#[test]
fn a_server_has_few_of_our_variables() {
    let Some(folder) = folder() else { return };
    let tools = servers(&folder, "lifecycle", "env", &[]).ready();
    let env = value_of(super::call(&tools, "env", "{}"));
    assert!(env.contains("\"PATH\"") && !env.contains("CARGO_"), "{env}");
}

#[test]
fn a_tool_that_changes_after_a_call_has_another_digest() {
    let Some(folder) = folder() else { return };
    let tools = servers(&folder, "payload", "rug-pull", &[]).ready();
    let before = tools.definition("s", "go");
    assert_eq!(value_of(super::call(&tools, "go", "{}")), "\"ok\"");
    // The notice comes after the answer.
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while tools.definition("s", "go") == before {
        assert!(std::time::Instant::now() < deadline, "the change is never seen");
        std::thread::yield_now();
    }
}

#[test]
fn a_server_that_crashed_once_works_when_started_again() {
    let Some(folder) = folder() else { return };
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("log");
    let servers = servers(&folder, "modern", "crash-once", &["--log", log.to_str().unwrap()]);
    let tools = servers.ready();
    assert!(matches!(super::call(&tools, "go", "{}"), End::Lost(_)));
    tools.connect("s", &within(Duration::from_secs(20))).unwrap();
    assert_eq!(value_of(super::call(&tools, "go", "{}")), "\"ok\"");
    drop(tools);
    servers.assert_gone();
}
