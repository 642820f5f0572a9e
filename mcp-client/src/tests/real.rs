//! Servers that nobody here wrote, where `tests/servers/setup.sh` has installed them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use plangate_approval::Outcome;

use super::{Servers, spend, value_of, within};
use crate::call::outcome;
use crate::tools::McpTools;

/// A file that the set-up installs; says so where it is not.
fn installed(file: &str) -> Option<String> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/servers")).join(file);
    if path.exists() {
        return Some(path.to_str().unwrap().to_owned());
    }
    eprintln!("skipped: {file} is not installed; tests/servers/setup.sh installs it");
    None
}

fn read(tools: &McpTools, tool: &str, args: &str) -> String {
    value_of(tools.call("s", spend(tool, args), &within(Duration::from_secs(30))))
}

fn has(tools: &McpTools, names: &[&str]) {
    let catalog = tools.catalog();
    for name in names {
        assert!(catalog.definition("s", name).is_some(), "no tool {name}");
    }
    assert!(tools.refused().is_empty(), "{:?}", tools.refused());
}

fn quoted(path: &Path) -> String {
    serde_json::to_string(path.to_str().unwrap()).unwrap()
}

#[test]
fn the_filesystem_server_reads_and_writes() {
    let script = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";
    let Some(script) = installed(script) else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let servers = Servers::new().with("s", &["node", &script, folder.to_str().unwrap()]);
    let tools = servers.ready();
    has(&tools, &["read_text_file", "write_file", "list_directory"]);
    let file = folder.join("note.txt");
    let args = format!(r#"{{"content":"å 1.10","path":{}}}"#, quoted(&file));
    let written = outcome(tools.call("s", spend("write_file", &args), &within(Duration::from_secs(30))));
    assert!(matches!(written, Outcome::Ok(_)), "{written:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "å 1.10");
    let text = read(&tools, "read_text_file", &format!(r#"{{"path":{}}}"#, quoted(&file)));
    assert!(text.contains("å 1.10"), "{text}");
    let outside = tools.call(
        "s",
        spend("read_text_file", r#"{"path":"/etc/passwd"}"#),
        &within(Duration::from_secs(30)),
    );
    let Outcome::Failed(reason) = outcome(outside) else { panic!("failed") };
    assert!(reason.contains("Access denied"), "{reason}");
    drop(tools);
    servers.assert_gone();
}

#[test]
fn the_everything_server_answers_many_at_once() {
    let script = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
    let Some(script) = installed(script) else { return };
    let servers = Servers::new().with("s", &["node", &script, "stdio"]);
    let tools = servers.ready();
    has(&tools, &["echo", "get-sum"]);
    std::thread::scope(|scope| {
        for i in 0..8 {
            let tools = &tools;
            scope.spawn(move || {
                let args = format!(r#"{{"message":"{i} å"}}"#);
                assert_eq!(read(tools, "echo", &args), format!("\"Echo: {i} å\""));
            });
        }
    });
    assert!(read(&tools, "get-sum", r#"{"a":1.50,"b":2e0}"#).contains("3.5"));
    drop(tools);
    servers.assert_gone();
}

#[test]
fn the_git_server_sees_a_commit() {
    let Some(program) = installed(".venv/bin/mcp-server-git") else { return };
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new("git").args(["init", "-q"]).arg(folder.path()).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: git is not installed");
        return;
    }
    for (key, value) in [("user.name", "a test"), ("user.email", "test@example.invalid")] {
        let set = Command::new("git").arg("-C").arg(folder.path()).args(["config", key, value]).status();
        assert!(set.unwrap().success());
    }
    std::fs::write(folder.path().join("note.txt"), "one\n").unwrap();
    let servers = Servers::new().with("s", &[&program, "--repository", folder.path().to_str().unwrap()]);
    let tools = servers.ready();
    has(&tools, &["git_status", "git_add", "git_commit", "git_log"]);
    let repo = quoted(folder.path());
    let status = read(&tools, "git_status", &format!(r#"{{"repo_path":{repo}}}"#));
    assert!(status.contains("note.txt"), "{status}");
    read(&tools, "git_add", &format!(r#"{{"files":["note.txt"],"repo_path":{repo}}}"#));
    read(&tools, "git_commit", &format!(r#"{{"message":"a first note","repo_path":{repo}}}"#));
    let log = read(&tools, "git_log", &format!(r#"{{"repo_path":{repo}}}"#));
    assert!(log.contains("a first note"), "{log}");
    drop(tools);
    servers.assert_gone();
}
