//! How servers end: with everything that they started, in time, on drop too.

use std::time::Duration;

use plangate_approval::Outcome;
use plangate_executor::{Cancel, Tools as _};

use super::{Servers, call, living, no_python, spend, telling, timed, value_of};
use crate::call::{End, outcome};
use crate::error::Fault;

#[test]
fn a_stubborn_server_is_ended_by_force_and_in_time() {
    if no_python() {
        return;
    }
    for (flag, at_least) in [("well", 0), ("ignore-eof", 1), ("ignore-term", 2)] {
        let servers = Servers::faulty(&["--end", flag]);
        let tools = servers.ready();
        assert!(!living(&servers.groups()).is_empty());
        let ((), took) = timed(|| tools.shutdown());
        servers.assert_gone();
        let grace = servers.options.grace;
        assert!(
            took >= grace * at_least && took < grace * (at_least + 1) + Duration::from_secs(2),
            "{flag} {took:?}"
        );
        // What comes later is not sent, and a second time is nothing.
        assert!(matches!(outcome(call(&tools, "t", "{}")), Outcome::NotSent(_)));
        assert_eq!(tools.definition("s", "t"), None);
        tools.shutdown();
    }
}

#[test]
fn processes_that_a_server_left_end_with_it() {
    if no_python() {
        return;
    }
    let servers = Servers::faulty(&[]);
    let tools = servers.ready();
    assert!(matches!(call(&tools, "die", r#"{"heir":true}"#), End::Lost(_)));
    drop(tools);
    servers.assert_gone();
}

#[test]
fn a_drop_ends_all() {
    if no_python() {
        return;
    }
    let servers = Servers::faulty(&["--end", "ignore-term"]);
    let tools = servers.ready();
    drop(tools);
    servers.assert_gone();
}

#[test]
fn a_drop_inside_of_a_runtime_does_not_panic() {
    if no_python() {
        return;
    }
    let servers = Servers::faulty(&[]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let tools = servers.ready();
        assert_eq!(value_of(call(&tools, "t", "{}")), "\"ok\"");
    });
    servers.assert_gone();
}

#[test]
fn a_call_under_way_is_unknown_when_its_server_is_shut_down() {
    if no_python() {
        return;
    }
    let servers = Servers::faulty(&[]);
    let tools = servers.ready();
    let (told, spent) = std::sync::mpsc::channel();
    let end = std::thread::scope(|scope| {
        let under_way =
            scope.spawn(|| tools.call("s", telling(spend("never", "{}"), told), &Cancel::new(None)));
        spent.recv().unwrap();
        tools.shutdown();
        under_way.join().unwrap()
    });
    assert!(matches!(&end, End::Lost(error) if *error.fault == Fault::ShutDown), "{end:?}");
    assert!(matches!(outcome(end), Outcome::Unknown(_)));
    servers.assert_gone();
}

#[test]
fn a_server_sees_its_own_variables_and_not_ours() {
    let servers = Servers::new();
    let file = servers.file("env");
    let text = format!(
        r#"{{"mcpServers":{{"s":{{"command":"sh","args":["-c","env > {}"],"env":{{"OWN":"${{SECRET}}"}}}}}}}}"#,
        file.display()
    );
    let variables = crate::Variables::none().with("SECRET", "s3cret");
    let config = crate::Config::parse(&text, "f".as_ref(), variables).unwrap();
    let started = crate::McpTools::start(&config, ["s"], servers.options.clone()).unwrap();
    assert!(!started.failed[0].to_string().contains("s3cret"));
    let seen = std::fs::read_to_string(file).unwrap();
    assert!(seen.contains("OWN=s3cret\n") && seen.contains("PATH="), "{seen}");
    let ours = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];
    let shells = ["OWN", "PWD", "OLDPWD", "SHLVL", "_"];
    for name in seen.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name) {
        let known = ours.contains(&name) || shells.contains(&name);
        assert!(known || name.starts_with("LC_") || name.starts_with("XDG_"), "{name}");
    }
}
