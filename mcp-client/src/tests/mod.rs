//! Tests against processes: our own faulty server, the fault fixtures beside the workspace, and servers nobody here wrote.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests fail by panicking, and say on standard error what they skip"
)]

mod calls;
mod ends;
mod fixtures;
mod real;
mod starts;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use plangate_executor::Cancel;

use crate::call::End;
use crate::config::{Config, Variables};
use crate::options::Options;
use crate::tools::{McpTools, Started};
use crate::transport::calls::Spend;
use crate::transport::frame::ToolCall;

/// Servers under test, each with the file to which it writes its process id, which is its group's as well.
struct Servers {
    folder: tempfile::TempDir,
    options: Options,
    lines: Vec<(String, Vec<String>)>,
}

impl Servers {
    fn new() -> Servers {
        let options = Options {
            startup_timeout: Duration::from_secs(20),
            grace: Duration::from_millis(300),
            ..Options::default()
        };
        Servers { folder: tempfile::tempdir().unwrap(), options, lines: Vec::new() }
    }

    /// Our own faulty server, with these flags.
    fn faulty(flags: &[&str]) -> Servers {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/faulty.py");
        let mut line = vec!["python3", script.to_str().unwrap()];
        line.extend(flags);
        Servers::new().with("s", &line)
    }

    fn with(mut self, name: &str, line: &[&str]) -> Servers {
        self.lines.push((name.to_owned(), line.iter().map(|&word| word.to_owned()).collect()));
        self
    }

    fn startup_timeout(mut self, timeout: Duration) -> Servers {
        self.options.startup_timeout = timeout;
        self
    }

    fn start(&self) -> Started {
        let quoted = |word: &str| serde_json::to_string(word).unwrap();
        let servers: Vec<_> = self
            .lines
            .iter()
            .map(|(name, line)| {
                // `exec` keeps the process id that the shell wrote down.
                let shell = r#"echo $$ >> "$0"; exec "$@""#;
                let mut args =
                    vec![quoted("-c"), quoted(shell), quoted(self.pid_file(name).to_str().unwrap())];
                args.extend(line.iter().map(|word| quoted(word)));
                format!(r#"{}:{{"command":"sh","args":[{}]}}"#, quoted(name), args.join(","))
            })
            .collect();
        let text = format!(r#"{{"mcpServers":{{{}}}}}"#, servers.join(","));
        let config = Config::parse(&text, &self.folder.path().join(".mcp.json"), Variables::none()).unwrap();
        McpTools::start(&config, self.lines.iter().map(|(name, _)| name.as_str()), self.options.clone())
            .unwrap()
    }

    /// Started, and ready.
    fn ready(&self) -> McpTools {
        let started = self.start();
        assert!(started.failed.is_empty(), "{:?}", started.failed);
        started.tools
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn pid_file(&self, name: &str) -> PathBuf {
        self.file(&format!("{name}.pid"))
    }

    /// The process groups of all servers that were started, also again.
    fn groups(&self) -> Vec<i32> {
        let read = |(name, _): &(String, _)| std::fs::read_to_string(self.pid_file(name)).unwrap_or_default();
        self.lines.iter().map(read).collect::<String>().lines().map(|pid| pid.parse().unwrap()).collect()
    }

    /// No process of any server is left.
    fn assert_gone(&self) {
        let groups = self.groups();
        assert!(!groups.is_empty(), "no server was ever started");
        let left = living(&groups);
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

/// The living processes of these groups. The dead that nobody reaped yet are not left behind by us: they are children
/// of servers, and it is for the system to reap them.
fn living(groups: &[i32]) -> Vec<String> {
    let stats = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let stat = std::fs::read_to_string(entry.ok()?.path().join("stat")).ok()?;
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_whitespace();
        let (state, group) = (fields.next()?, fields.nth(1)?.parse::<i32>().ok()?);
        (groups.contains(&group) && state != "Z").then(|| stat.clone())
    });
    stats.collect()
}

/// A call that the tests may make by name, because they are inside.
fn spend(tool: &str, args: &str) -> Spend {
    let call =
        ToolCall { tool: tool.to_owned(), args: args.as_bytes().to_vec(), key: Some("key-1".to_owned()) };
    Box::new(|| Ok(call))
}

/// The same, telling when it is about to leave.
fn telling(inner: Spend, told: std::sync::mpsc::Sender<()>) -> Spend {
    Box::new(move || told.send(()).map_err(|e| e.to_string()).and_then(|()| inner()))
}

fn call(tools: &McpTools, tool: &str, args: &str) -> End {
    tools.call("s", spend(tool, args), &within(Duration::from_secs(30)))
}

fn within(limit: Duration) -> Cancel {
    Cancel::new(Some(Instant::now() + limit))
}

/// The value that a call gives, as text.
fn value_of(end: End) -> String {
    crate::call::value(end).unwrap().to_string()
}

/// Runs this and says how long it took.
fn timed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let result = run();
    (result, begun.elapsed())
}

/// Whether Python is there; says so where it is not.
fn no_python() -> bool {
    let there = std::process::Command::new("python3").arg("--version").output().is_ok();
    if !there {
        eprintln!("skipped: python3 is not installed");
    }
    !there
}
