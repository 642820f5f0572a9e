//! A folder with a server, a recipe and a store of its own, and the real binary run in it.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "each test file uses a part, and fails by panicking"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use plangate_graph::Value;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// The longest that anything here is waited for.
const LIMIT: Duration = Duration::from_secs(60);

/// A folder of its own for one test. Every process that was started in it is ended with it.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    /// Without anything in it.
    pub(crate) fn empty() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    /// With the test server as `notes`.
    pub(crate) fn new() -> Place {
        let place = Place::empty();
        let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/server.sh");
        let server = Value::from(server.to_str().unwrap());
        let folder = Value::from(place.path("").to_str().unwrap());
        let config = format!(r#"{{"mcpServers":{{"notes":{{"command":"sh","args":[{server},{folder}]}}}}}}"#);
        place.write(".mcp.json", &config);
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// What a file holds; nothing where there is none.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub(crate) fn lines(&self, name: &str) -> usize {
        self.read(name).lines().count()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plangate"));
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null());
        for inherited in ["CARGO", "NO_COLOR", "PLANGATE", "TERM"] {
            command.env_remove(inherited);
        }
        command.env("TZ", "UTC");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let Output { status, stdout, stderr } = self.command(args).output().unwrap();
        Ran {
            code: status.code().unwrap_or(-1),
            out: String::from_utf8(stdout).unwrap(),
            err: String::from_utf8(stderr).unwrap(),
        }
    }

    /// Starts a command and leaves it running.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// The one approval that waits.
    pub(crate) fn waiting(&self) -> Value {
        let listed = self.run(&["approvals", "--json"]).json();
        match listed.member("approvals").unwrap() {
            Value::List(rows) if rows.len() == 1 => rows[0].clone(),
            other => panic!("not one waits: {other}"),
        }
    }

    /// How many wait; 0 while there is no store.
    pub(crate) fn waiting_count(&self) -> usize {
        let listed = self.run(&["approvals", "--json"]);
        match Value::parse(listed.out.trim()).ok().as_ref().and_then(|v| v.member("approvals")) {
            Some(Value::List(rows)) => rows.len(),
            _ => 0,
        }
    }

    /// The newest run.
    pub(crate) fn last_run(&self) -> Value {
        match self.run(&["runs", "--json"]).json().member("runs").unwrap() {
            Value::List(runs) => runs[0].clone(),
            other => panic!("no runs: {other}"),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Servers end when their standard input closes; one that waits for `go` is told, one that hangs is ended.
        let _ = fs::write(self.path("go"), "");
        for pid in self.read("pids").lines().filter_map(|l| l.parse().ok()).filter_map(Pid::from_raw) {
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

impl Ran {
    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        Value::parse(self.out.trim()).unwrap_or_else(|e| panic!("{e}\n{self:#?}"))
    }

    #[track_caller]
    pub(crate) fn ended(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "{}\n---\n{}", self.out, self.err);
        self
    }
}

/// Ends a process as a power cut does.
pub(crate) fn kill_9(child: &mut Child) {
    kill_process(Pid::from_child(child), Signal::KILL).unwrap();
    child.wait().unwrap();
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let give_up = Instant::now() + LIMIT;
    while !so() {
        assert!(Instant::now() < give_up, "waited for: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A text member.
#[track_caller]
pub(crate) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.member(name).and_then(Value::text).unwrap_or_else(|| panic!("no text {name:?} in {value}"))
}

/// A member.
#[track_caller]
pub(crate) fn member<'v>(value: &'v Value, name: &str) -> &'v Value {
    value.member(name).unwrap_or_else(|| panic!("no {name:?} in {value}"))
}
