//! A run against servers that nobody here wrote: it reads in parallel, and commits behind a gate.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may fail, and says what it skips"
)]

mod support;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use plangate_approval::{MemoryStore, StepState};
use plangate_compiler::{Colour, Options as Compile, compile, render};
use plangate_executor::{Ended, Executor, Options, Start};
use plangate_graph::{Author, Policy, Value};
use plangate_mcp_client::{Config, McpTools, Options as Mcp, config::Variables};
use plangate_tests::root;
use support::{Lines, approve, person};

const RECIPE: &str = r#"
together:
  notes: files.read_text_file {"path":"REPO/notes.txt"}
  listing: files.list_directory {"path":"REPO"}
  status: git.git_status {"repo_path":"REPO"}
  sum: everything.get-sum {"a":2,"b":40}
then:
  need: 4 of 4
  message: one line about {notes, listing, status, sum}
ask me:
  - commit "{message}"?
    commit: git.git_commit {"repo_path":"REPO","message":"{message}"}
"#;

fn git(repo: &Path, args: &[&str]) -> String {
    let out = Command::new("git").arg("-C").arg(repo).args(args).output().unwrap();
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn before_approval_no_commit_after_it_one() {
    let servers = root().join("tests/servers");
    let module =
        |name: &str| servers.join("node_modules/@modelcontextprotocol").join(name).join("dist/index.js");
    let python = servers.join(".venv/bin/python");
    let needed = [module("server-filesystem"), module("server-everything"), python.clone()];
    if let Some(missing) = needed.iter().find(|path| !path.exists()) {
        println!("skipped: {} is not there; run tests/servers/setup.sh", missing.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let repo = folder.path().join("repo");
    std::fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "-q", "-b", "main"]);
    git(&repo, &["config", "user.name", "Test"]);
    git(&repo, &["config", "user.email", "test@example.org"]);
    git(&repo, &["commit", "-q", "--allow-empty", "-m", "first"]);
    std::fs::write(repo.join("notes.txt"), "one\n").unwrap();
    git(&repo, &["add", "notes.txt"]);

    let text = |path: &Path| Value::from(path.to_str().unwrap()).to_string();
    let config = format!(
        r#"{{"mcpServers": {{
            "files": {{"command": "node", "args": [{}, {}]}},
            "everything": {{"command": "node", "args": [{}, "stdio"]}},
            "git": {{"command": {}, "args": ["-m", "mcp_server_git"]}}
        }}}}"#,
        text(&module("server-filesystem")),
        text(&repo),
        text(&module("server-everything")),
        text(&python),
    );
    let config = Config::parse(&config, &folder.path().join(".mcp.json"), Variables::of_process()).unwrap();
    let started = McpTools::start(&config, ["files", "everything", "git"], Mcp::default()).unwrap();
    assert!(started.failed.is_empty(), "{:?}", started.failed);
    let tools = Arc::new(started.tools);
    let catalog = tools.catalog();

    let recipe = RECIPE.replace("REPO", repo.to_str().unwrap());
    let policy = Policy::default();
    let compiled = compile(&recipe, &Compile::new(&catalog, &policy).author(Author::Person));
    let said = render(&compiled.diagnostics, &recipe, "commit.recipe", Colour::Plain);
    let plan = compiled.plan.unwrap_or_else(|| panic!("{said}"));
    let plan = plan.verify(&catalog, &policy, Author::Person).unwrap();

    let store = Arc::new(MemoryStore::new().unwrap());
    let executor =
        Executor::new(Arc::clone(&store), tools.clone(), Some(Arc::new(Lines)), Options::default());
    let start = Start { inputs: Value::Null, requester: person("ann"), title: "commit".into() };
    let ended = executor.run(&plan, start).unwrap();
    let Ended::Parked { run, waiting, record } = ended else { panic!("{ended:#?}") };
    for id in ["notes", "listing", "status", "sum"] {
        assert_eq!(record.step(id).unwrap().state, StepState::Done, "{record:#?}");
    }
    assert_eq!(waiting.len(), 1, "{said}");
    assert_eq!(git(&repo, &["rev-list", "--count", "HEAD"]).trim(), "1", "before approval no commit");

    approve(Arc::clone(&store), &waiting[0], "bob").unwrap();
    let Ended::Done(record) = executor.resume(&run, None).unwrap() else { panic!("not done") };
    assert_eq!(record.step("commit").unwrap().state, StepState::Done, "{record:#?}");
    assert_eq!(git(&repo, &["rev-list", "--count", "HEAD"]).trim(), "2", "after it one");
    assert_eq!(git(&repo, &["log", "-1", "--format=%s"]).trim(), "from notes and listing and status and sum");
    tools.shutdown();
}
