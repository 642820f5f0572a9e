//! Servers that start badly, list badly, or list something else.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use plangate_executor::Tools as _;

use super::{Servers, no_python, timed};
use crate::error::{Exit, Fault, McpError};
use crate::options::Progress;

fn failure(servers: &Servers) -> McpError {
    let (started, took) = timed(|| servers.start());
    assert!(took < Duration::from_secs(15), "{took:?}");
    let [error] = <[McpError; 1]>::try_from(started.failed).unwrap();
    assert_eq!(error.server, "s");
    assert!(error.origin.as_deref().unwrap().contains("faulty.py"));
    servers.assert_gone();
    assert!(started.tools.catalog().server("s").is_none());
    error
}

#[test]
fn one_that_dies_says_how_and_what_it_wrote_last() {
    if no_python() {
        return;
    }
    let error = failure(&Servers::faulty(&["--start", "die"]));
    assert_eq!(*error.fault, Fault::Exited(Exit::Status(1)));
    assert_eq!(error.stderr, ["config missing"]);
    let text = error.to_string();
    assert!(text.starts_with("server \"s\" ended (exit status 1)\n  tried: sh -c "), "{text}");
    assert!(text.ends_with("its last lines on standard error:\n    config missing"), "{text}");
}

#[test]
fn one_that_hangs_is_given_up_and_ended() {
    if no_python() {
        return;
    }
    // The second must have had the time to say what it says.
    let banner = "\\u{1b}[1mBanner\\u{1b}[0m";
    for (start, ms, noise) in [("hang", 800, None), ("garbage", 5000, Some((2, banner.to_owned())))] {
        let within = Duration::from_millis(ms);
        let error = failure(&Servers::faulty(&["--start", start]).startup_timeout(within));
        assert_eq!(*error.fault, Fault::NotReady { within, waiting_for: "initialize" });
        assert_eq!(error.noise, noise);
    }
}

#[test]
fn a_slow_one_is_waited_for() {
    if no_python() {
        return;
    }
    let servers = Servers::faulty(&["--start", "slow", "--seconds", "0.5"]);
    assert!(servers.ready().catalog().definition("s", "echo").is_some());
    servers.assert_gone();
}

#[test]
fn one_that_refuses_is_asked_as_a_newer_one_and_its_first_word_is_kept() {
    if no_python() {
        return;
    }
    let servers = Servers::faulty(&["--start", "refuse"]);
    let error = failure(&servers);
    let wanted = Fault::Refused { request: "initialize", code: -32000, message: "no licence".into() };
    assert_eq!(*error.fault, wanted);
    assert_eq!(servers.groups().len(), 2);
}

#[test]
fn a_program_that_is_not_there() {
    let servers = Servers::new();
    let text = r#"{"mcpServers":{"s":{"command":"/nowhere/server","args":["--token","s3cret"]},"t":{"command":"${U}"},
        "h":{"url":"https://u:p@h/mcp?k=v"}}}"#;
    let config = crate::Config::parse(text, "f".as_ref(), crate::Variables::none()).unwrap();
    let started =
        crate::McpTools::start(&config, ["s", "t", "h", "nobody"], servers.options.clone()).unwrap();
    let texts: Vec<_> = started.failed.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "server \"h\" is reached by a `url` (Streamable HTTP), which is not supported yet; what is: a `command` that \
             speaks on stdin and stdout\n  tried: https://***@h/mcp?***",
            "f: no server \"nobody\"; there are \"h\", \"s\", \"t\"",
            "server \"s\" could not be started: No such file or directory (os error 2); is the program installed, and \
             on PATH?\n  tried: /nowhere/server --token ***",
            "f: server \"t\", command: the variable U is not set; set it, or write ${U:-default}",
        ]
    );
    assert_eq!(started.tools.definition("s", "t"), None);
    let error = started.tools.connect("elsewhere", &super::within(Duration::from_secs(5))).unwrap_err();
    assert_eq!(error.to_string(), "server \"elsewhere\" was not started: it was not asked for");
}

#[test]
fn who_waits_for_a_start_that_fails_does_not_start_again() {
    if no_python() {
        return;
    }
    let servers = Servers::faulty(&["--start", "hang"]).startup_timeout(Duration::from_millis(800));
    let tools = servers.start().tools;
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let error = tools.connect("s", &super::within(Duration::from_secs(20))).unwrap_err();
                assert!(error.to_string().starts_with("server \"s\" was not ready within 0.8 s"), "{error}");
            });
        }
    });
    let starts = servers.groups().len();
    assert!((2..=3).contains(&starts), "started {starts} times");
    servers.assert_gone();
}

#[test]
fn lists_of_all_kinds() {
    if no_python() {
        return;
    }
    let fault = |list| *failure(&Servers::faulty(&["--list", list])).fault;
    assert_eq!(fault("loop"), Fault::RepeatedCursor("a".into()));
    assert_eq!(fault("endless"), Fault::TooManyPages(500));
    let refused = Fault::Refused { request: "tools/list", code: -32603, message: "database down".into() };
    assert_eq!(fault("error"), refused);

    let names = |list| -> Vec<String> {
        let tools = Servers::faulty(&["--list", list]).ready();
        tools.catalog().tools().map(|(_, d)| d.name.clone()).collect()
    };
    assert_eq!(names("pages"), ["t0", "t1", "t2", "t3", "t4"]);
    assert!(names("none").is_empty());
}

#[test]
fn a_broken_definition_is_reported_and_the_rest_stands() {
    if no_python() {
        return;
    }
    let tools = Servers::faulty(&["--list", "broken"]).ready();
    assert_eq!(tools.catalog().tools().map(|(_, d)| d.name.clone()).collect::<Vec<_>>(), ["good"]);
    let refused: Vec<_> =
        tools.refused().into_iter().map(|r| format!("{} {}: {}", r.server, r.tool, r.reason)).collect();
    assert_eq!(
        refused,
        [
            "s tools[1]: \"bad\" has an inputSchema that is null, not an object",
            "s tools[2]: tools[2].name: expected a name",
        ]
    );
}

#[test]
fn the_catalog_says_what_a_server_is_and_digests_agree() {
    if no_python() {
        return;
    }
    let tools = Servers::faulty(&[]).ready();
    let catalog = tools.catalog();
    assert!(catalog.server("s").unwrap().origin.as_deref().unwrap().contains("faulty.py"));
    assert_eq!(tools.definition("s", "echo"), catalog.digest("s", "echo"));
    assert_eq!(tools.definition("s", "nothing"), None);
    assert_eq!(crate::tests::living(&[]), Vec::<String>::new());
}

#[test]
fn servers_start_side_by_side_and_one_failure_is_one_failure() {
    if no_python() {
        return;
    }
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/faulty.py");
    let script = script.to_str().unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let mut servers = Servers::new().with("dead", &["python3", script, "--start", "die"]);
    for name in ["a", "b", "c", "d"] {
        servers = servers.with(name, &["python3", script, "--start", "slow", "--seconds", "1"]);
    }
    let report = Arc::clone(&heard);
    servers.options.progress = Some(Arc::new(move |progress| {
        report.lock().unwrap().push(match progress {
            Progress::Starting { server, .. } => format!("{server} starting"),
            Progress::Listing { server } => format!("{server} listing"),
            Progress::Ready { server, tools, .. } => format!("{server} ready {tools}"),
            Progress::Failed(error) => format!("{} failed", error.server),
        });
    }));
    let started = servers.start();
    assert_eq!(started.failed.iter().map(|e| e.server.as_str()).collect::<Vec<_>>(), ["dead"]);
    assert_eq!(
        started.tools.catalog().servers().map(|(n, _)| n.to_owned()).collect::<Vec<_>>(),
        ["a", "b", "c", "d"]
    );
    let heard = heard.lock().unwrap().clone();
    let of = |server: &str| heard.iter().filter(|line| line.starts_with(server)).cloned().collect::<Vec<_>>();
    let first_ready = heard.iter().position(|line| line.contains(" ready ")).unwrap();
    let begun = heard[..first_ready].iter().filter(|line| line.ends_with(" starting")).count();
    assert_eq!(begun, 5, "all are started before the first, which takes its time, is there: {heard:?}");
    assert_eq!(of("a "), ["a starting", "a listing", "a ready 12"]);
    assert_eq!(of("dead "), ["dead starting", "dead failed"]);
    drop(started);
    servers.assert_gone();
}
