//! `plangate.toml`: where the store lies, how much runs at once, who writes sentences, and the policy.

mod keys;
mod webhook;

pub(crate) use keys::duration;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plangate_graph::Policy;
use plangate_graph::policy::{Date, Voters};

use crate::exit::Exit;
use crate::fault::Fault;
use keys::Table;
pub(crate) use webhook::WebhookChoice;

/// A configuration; [`Config::default`] is that of a folder without `plangate.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Config {
    /// The file it was read from.
    pub(crate) file: Option<PathBuf>,
    /// `[store] path`, relative to the folder of the file.
    pub(crate) store: Option<PathBuf>,
    /// `[trace] dir`, the folder of the day's logs, relative to the folder of the file.
    pub(crate) trace: Option<PathBuf>,
    /// `[limits]`
    pub(crate) limits: Limits,
    /// `[writer]`
    pub(crate) writer: WriterChoice,
    /// `[[webhook]]`
    pub(crate) webhooks: Vec<WebhookChoice>,
    /// Everything else.
    pub(crate) policy: Policy,
}

/// `[limits]`: how much runs at once, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// How many calls run at once; nothing: as many as there are.
    pub(crate) workers: Option<usize>,
    /// How many calls run at once on one server; nothing: as many as there are.
    pub(crate) per_server: Option<usize>,
    /// The same for servers by name.
    pub(crate) servers: BTreeMap<String, usize>,
    /// How long a step may take that does not say so itself. 60 s.
    pub(crate) timeout: Duration,
    /// How long one drive of a run may take; nothing: as long as it takes.
    pub(crate) deadline: Option<Duration>,
    /// How long a server may take to start. 20 s.
    pub(crate) startup: Duration,
}

/// `[writer]`: who executes sentences.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) enum WriterChoice {
    /// `builtin = "outline"`: lays the inputs out under headings. No model.
    #[default]
    Outline,
    /// `command = ["program", "argument"]`
    Command(Vec<String>),
    /// `tool = "server.tool"`
    Tool {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            workers: None,
            per_server: None,
            servers: BTreeMap::new(),
            timeout: Duration::from_secs(60),
            deadline: None,
            startup: Duration::from_secs(20),
        }
    }
}

impl Config {
    /// Reads a file.
    pub(crate) fn read(file: &Path) -> Result<Config, Fault> {
        let text = std::fs::read_to_string(file).map_err(|e| {
            Fault::new(Exit::Config, "config", format!("the configuration cannot be read: {e}"))
                .at(file.display().to_string())
        })?;
        Config::parse(&text, file)
    }

    /// From the text of a file; `file` is named in faults.
    fn parse(text: &str, file: &Path) -> Result<Config, Fault> {
        let mut whole = Table::parse(text, file)?;
        let mut config = Config { file: Some(file.to_owned()), ..Config::default() };
        if let Some(mut store) = whole.table("store")? {
            config.store = store.text("path")?.map(PathBuf::from);
            store.finish()?;
        }
        if let Some(mut trace) = whole.table("trace")? {
            config.trace = trace.text("dir")?.map(PathBuf::from);
            trace.finish()?;
        }
        if let Some(limits) = whole.table("limits")? {
            config.limits = Limits::from_table(limits)?;
        }
        if let Some(writer) = whole.table("writer")? {
            config.writer = WriterChoice::from_table(writer)?;
        }
        config.webhooks = WebhookChoice::all(whole.tables("webhook")?)?;
        whole.leave(Policy::KEYS);
        whole.finish()?;
        let (policy, _) = Policy::from_config(text).map_err(|e| {
            Fault::new(Exit::Config, "policy", e.to_string())
                .at(file.display().to_string())
                .help(format!("`plangate explain {}` says more", e.code))
        })?;
        // A voter is the system's user, whose roles are what the policy says.
        config.policy = policy.on(today()?).decided_by(Voters::Listed);
        Ok(config)
    }
}

/// The day it is here, for rules that end on one.
fn today() -> Result<Date, Fault> {
    let today = jiff::Zoned::now().date().to_string();
    today.parse().map_err(|e| Fault::new(Exit::Internal, "internal", format!("no day: {e}")))
}

impl Limits {
    fn from_table(mut table: Table<'_>) -> Result<Limits, Fault> {
        let standard = Limits::default();
        let workers = table.count("workers")?;
        let per_server = table.count("per_server")?;
        let timeout = table.duration("timeout")?.unwrap_or(standard.timeout);
        let deadline = table.duration("deadline")?;
        let startup = table.duration("startup")?.unwrap_or(standard.startup);
        let servers = match table.table("servers")? {
            None => BTreeMap::new(),
            Some(mut servers) => servers.all_counts()?,
        };
        table.finish()?;
        Ok(Limits { workers, per_server, servers, timeout, deadline, startup })
    }
}

impl WriterChoice {
    fn from_table(mut table: Table<'_>) -> Result<WriterChoice, Fault> {
        let command = table.texts("command")?;
        let tool = table.text("tool")?;
        let builtin = table.text("builtin")?;
        let choice = match (command, tool, builtin) {
            (Some(command), None, None) => match command.first() {
                Some(program) if !program.is_empty() => WriterChoice::Command(command),
                _ => {
                    return Err(table.wrong(
                        "command",
                        "a program and its arguments: command = [\"program\", \"argument\"]",
                    ));
                }
            },
            (None, Some(name), None) => match name.split_once('.') {
                Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
                    WriterChoice::Tool { server: server.to_owned(), tool: tool.to_owned() }
                }
                _ => return Err(table.wrong("tool", "a server and a tool: tool = \"server.tool\"")),
            },
            (None, None, Some(name)) if name == "outline" => WriterChoice::Outline,
            (None, None, Some(_)) => {
                return Err(table.wrong("builtin", "the one that there is: builtin = \"outline\""));
            }
            (None, None, None) => {
                table.finish()?;
                return Err(table.wrong("", "one of `command`, `tool` and `builtin`"));
            }
            _ => return Err(table.wrong("", "only one of `command`, `tool` and `builtin`")),
        };
        table.finish()?;
        Ok(choice)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    fn parse(text: &str) -> Result<Config, Fault> {
        Config::parse(text, Path::new("plangate.toml"))
    }

    fn refused(text: &str) -> String {
        parse(text).unwrap_err().to_text(crate::render::paint::Paint::plain())
    }

    #[test]
    fn an_empty_file_is_the_default() {
        let parsed = parse("").unwrap();
        assert_eq!(Config { file: None, policy: Policy::default(), ..parsed }, Config::default());
    }

    #[test]
    fn every_setting_is_read() {
        let config = parse(
            "[store]\npath = \"x/y.db\"\n[trace]\ndir = \"log\"\n[limits]\nworkers = 4\nper_server = 2\ntimeout = \"90s\"\ndeadline = \"10m\"\nstartup = \
             \"500ms\"\n[limits.servers]\ngmail = 1\n[writer]\ncommand = [\"llm\", \"-x\"]\n",
        )
        .unwrap();
        assert_eq!(config.store, Some(PathBuf::from("x/y.db")));
        assert_eq!(config.trace, Some(PathBuf::from("log")));
        assert_eq!(config.limits.workers, Some(4));
        assert_eq!(config.limits.per_server, Some(2));
        assert_eq!(config.limits.timeout, Duration::from_secs(90));
        assert_eq!(config.limits.deadline, Some(Duration::from_secs(600)));
        assert_eq!(config.limits.startup, Duration::from_millis(500));
        assert_eq!(config.limits.servers.get("gmail"), Some(&1));
        assert_eq!(config.writer, WriterChoice::Command(vec!["llm".into(), "-x".into()]));
    }

    #[test]
    fn unknown_keys_are_errors_that_say_what_was_meant() {
        assert_eq!(
            refused("[limits]\nworkers = 2\ntimeuot = \"1s\"\n"),
            "error: `limits.timeuot` is no setting\n  at plangate.toml:3\n  help: did you mean `timeout`? There are: \
             deadline, per_server, servers, startup, timeout, workers\n"
        );
        assert!(refused("[limit]\nworkers = 2\n").contains("did you mean `limits`"));
        assert!(refused("[[aks]]\nserver = \"*\"\n").contains("did you mean `ask`"));
        assert!(refused("[[ask]]\nsever = \"*\"\n").contains("server"));
        assert!(refused("[writer]\ncomand = [\"x\"]\n").contains("did you mean `command`"));
    }

    #[test]
    fn webhooks_are_read_one_by_one() {
        let one = "[[webhook]]\nurl = \"https://example.invalid/a\"\nsecret_env = \"HOOK\"\nevents = [\"asked\", \"ended\"]\n";
        let config = parse(&format!("{one}{}", one.replace("/a", "/b"))).unwrap();
        let [a, b] = config.webhooks.as_slice() else { unreachable!("{config:?}") };
        assert_eq!(
            (a.address.shown().as_str(), a.secret_env.as_str()),
            ("https://example.invalid/a", "HOOK")
        );
        assert_eq!(b.address.shown(), "https://example.invalid/b");
        assert_eq!(a.events.iter().map(|kind| kind.as_str()).collect::<Vec<_>>(), ["asked", "ended"]);
        for (from, to, says) in [
            ("https://", "http://", "needs https"),
            ("\"asked\"", "\"askd\"", "did you mean \"asked\"?"),
            ("[\"asked\", \"ended\"]", "[]", "the kinds of events that are told"),
            ("secret_env", "secret", "`webhook.secret` is no setting"),
            ("secret_env = \"HOOK\"\n", "", "the variable with the secret"),
            ("url", "uri", "did you mean `url`"),
        ] {
            let text = refused(&one.replace(from, to));
            assert!(text.contains(says) && text.contains("plangate.toml:"), "{text}");
        }
        assert!(refused(&format!("{one}{one}")).contains("each URL once"));
        assert!(refused("[webhook]\nurl = \"x\"\n").contains("[[webhook]]"));
    }

    #[test]
    fn wrong_values_say_what_is_wanted() {
        assert_eq!(
            refused("[limits]\nworkers = 0\n"),
            "error: `limits.workers` is wrong: expected a whole number, 1 or more\n  at plangate.toml:2\n"
        );
        assert!(refused("[limits]\ntimeout = \"soon\"\n").contains("a duration, for instance \"20s\""));
        assert!(refused("[writer]\ntool = \"nodot\"\n").contains("tool = \"server.tool\""));
        assert!(refused("[writer]\ntool = \"a.b\"\nbuiltin = \"outline\"\n").contains("only one of"));
        assert!(refused("store = 3\n").contains("a table"));
        assert!(refused("[store\n").contains("plangate.toml:1"));
    }
}
