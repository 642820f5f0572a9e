//! The servers of an `.mcp.json`: how each is reached.

mod error;
mod fields;
mod origin;
mod variables;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use plangate_graph::Value;

pub use error::ConfigError;
use fields::Fields;
pub use variables::{PLANGATE, Variables};

/// The servers of one `.mcp.json`, by name. What stands in each is looked at only when it is asked for, so that a
/// server with an unset variable is no trouble to who does not use it.
#[derive(Clone, Debug)]
pub struct Config {
    path: PathBuf,
    servers: BTreeMap<String, Value>,
    variables: Variables,
}

/// How one server is reached, with every variable replaced. `Debug` and `Display` show its origin only.
#[derive(Clone)]
pub struct ServerConfig {
    pub(crate) name: String,
    pub(crate) origin: String,
    pub(crate) reach: Reach,
}

/// The two ways to a server.
#[derive(Clone)]
pub(crate) enum Reach {
    /// A child process that speaks on its standard input and output.
    Stdio(Program),
    /// A URL. Not supported yet.
    Http,
}

/// What to start.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) command: OsString,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) cwd: Option<PathBuf>,
}

impl Config {
    /// Reads a file, with the [variables of this process](Variables::of_process).
    pub fn read(path: &Path) -> Result<Config, ConfigError> {
        Config::read_with(path, Variables::of_process())
    }

    /// Reads a file, with these variables.
    pub fn read_with(path: &Path, variables: Variables) -> Result<Config, ConfigError> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| ConfigError::Unreadable { path: path.to_owned(), reason: e.to_string() })?;
        Config::parse(&text, path, variables)
    }

    /// From the text of a file. `path` is named in errors, and its folder is where a relative `cwd` starts.
    pub fn parse(text: &str, path: &Path, variables: Variables) -> Result<Config, ConfigError> {
        let path = path.to_owned();
        let value = match Value::parse(text.trim_start_matches('\u{feff}')) {
            Ok(value) => value,
            Err(e) => return Err(ConfigError::NotJson { path, reason: e.to_string() }),
        };
        let Some(Value::Object(servers)) = value.member("mcpServers") else {
            let hint = match value.member("servers") {
                Some(Value::Object(_)) => "; it has `servers`, which other tools write: rename it",
                _ => "",
            };
            return Err(ConfigError::NoServers { path, hint });
        };
        let servers = servers.iter().map(|(k, v)| (k.to_owned(), v.clone())).collect();
        Ok(Config { path, servers, variables })
    }

    /// The file it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names of all servers, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }

    /// How a server is reached, with every variable replaced. Fields that other tools write are passed over.
    pub fn server(&self, name: &str) -> Result<ServerConfig, ConfigError> {
        let Some(value) = self.servers.get(name) else {
            return Err(ConfigError::Unknown {
                path: self.path.clone(),
                server: name.to_owned(),
                known: self.servers.keys().cloned().collect(),
            });
        };
        Fields { config: self, server: name, value }.read()
    }
}

impl ServerConfig {
    /// The name by which recipes call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the server is, for people: its command line or URL as configured, variables by their name, secrets masked.
    pub fn origin(&self) -> &str {
        &self.origin
    }
}

impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerConfig")
            .field("name", &self.name)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.origin)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
    use super::*;

    fn config(servers: &str) -> Config {
        let variables = Variables::none().with("TOKEN", "s3cret").with("PLANGATE", "/bin/plangate");
        let text = format!(r#"{{"mcpServers":{servers},"inputs":[]}}"#);
        Config::parse(&text, Path::new("/etc/x/.mcp.json"), variables).unwrap()
    }

    fn program(servers: &str) -> Program {
        match config(servers).server("a").unwrap().reach {
            Reach::Stdio(program) => program,
            Reach::Http => panic!("a program"),
        }
    }

    #[test]
    fn a_program_with_everything() {
        let servers = r#"{"a":{"type":"stdio","command":"${PLANGATE}","args":["--token","${TOKEN}","${N:-3}"],
            "env":{"T":"${TOKEN}"},"cwd":"work","disabled":false,"autoApprove":["x"],"timeout":60}}"#;
        let a = program(servers);
        assert_eq!(a.command, "/bin/plangate");
        assert_eq!(a.args, ["--token", "s3cret", "3"]);
        assert_eq!(a.env, [("T".to_owned(), "s3cret".to_owned())]);
        assert_eq!(a.cwd.as_deref(), Some(Path::new("/etc/x/work")));
    }

    #[test]
    fn no_secret_is_shown() {
        let config = config(
            r#"{"a":{"command":"srv","args":["${TOKEN}","--key","s3cret"],"env":{"T":"${TOKEN}"}},
                "b":{"type":"http","url":"https://u:s3cret@h/mcp?k=s3cret","headers":{"Authorization":"s3cret"}}}"#,
        );
        let (a, b) = (config.server("a").unwrap(), config.server("b").unwrap());
        assert_eq!(a.origin(), "srv ${TOKEN} --key ***");
        assert_eq!(b.origin(), "https://***@h/mcp?***");
        for shown in [format!("{a:?}{b:?}"), format!("{a}{b}")] {
            assert!(!shown.contains("s3cret"), "{shown}");
        }
    }

    #[test]
    fn a_relative_program_is_found_in_its_folder() {
        assert_eq!(program(r#"{"a":{"command":"./srv"}}"#).command, "./srv");
        assert_eq!(program(r#"{"a":{"command":"srv","cwd":"/w"}}"#).command, "srv");
        assert_eq!(program(r#"{"a":{"command":"./srv","cwd":"/w"}}"#).command, "/w/./srv");
    }

    #[test]
    fn errors_name_file_server_and_field() {
        let cases = [
            (r#"{"a":3}"#, r#"server "a", itself: expected an object with `command` or `url`"#),
            (r#"{"a":{}}"#, r#"server "a", command: expected a program to start (or `url`)"#),
            (r#"{"a":{"command":""}}"#, r#"server "a", command: expected a program to start"#),
            (
                r#"{"a":{"command":"x","url":"y"}}"#,
                r#"server "a", url: expected `command` or `url`, not both"#,
            ),
            (
                r#"{"a":{"command":"x","type":"sse"}}"#,
                r#"server "a", type: expected "stdio" beside `command`"#,
            ),
            (r#"{"a":{"command":"x","args":"y"}}"#, r#"server "a", args: expected a list of texts"#),
            (r#"{"a":{"command":"x","args":["y",1]}}"#, r#"server "a", args[1]: expected text"#),
            (r#"{"a":{"command":"x","env":{"K":1}}}"#, r#"server "a", env.K: expected text"#),
            (
                r#"{"a":{"command":"x","env":{"K=":"v"}}}"#,
                r#"server "a", env.K=: expected a variable's name"#,
            ),
            (
                r#"{"a":{"command":"x","env":{"K":"${NOPE}"}}}"#,
                r#"server "a", env.K: the variable NOPE is not set; set it, or write ${NOPE:-default}"#,
            ),
            (
                r#"{"a":{"command":"x","args":["${input:key}"]}}"#,
                r#"server "a", args[0]: "${input:key}" is no variable; expected ${NAME} or ${NAME:-default}"#,
            ),
            (r#"{"b":{},"c":{}}"#, r#"no server "a"; there are "b", "c""#),
        ];
        for (servers, wanted) in cases {
            let error = config(servers).server("a").unwrap_err();
            assert_eq!(error.to_string(), format!("/etc/x/.mcp.json: {wanted}"));
        }
    }

    #[test]
    fn a_broken_server_is_no_trouble_to_others() {
        let config = config(r#"{"a":{"command":"x"},"b":{"command":"${NOPE}"}}"#);
        assert_eq!(config.names().collect::<Vec<_>>(), ["a", "b"]);
        assert!(config.server("a").is_ok());
        assert!(config.server("b").is_err());
    }

    #[test]
    fn files_that_are_none() {
        let parse = |text| Config::parse(text, Path::new("f"), Variables::none()).map(|_| ()).unwrap_err();
        assert!(matches!(parse("{"), ConfigError::NotJson { .. }));
        assert_eq!(
            parse(r#"{"mcpServers":{"a":1,"a":2}}"#).to_string(),
            r#"f: the key "a" stands twice in one object"#
        );
        assert!(matches!(parse("{}"), ConfigError::NoServers { hint: "", .. }));
        assert!(parse(r#"{"servers":{}}"#).to_string().ends_with("other tools write: rename it"));
        let missing = Config::read(Path::new("/nowhere/.mcp.json")).unwrap_err().to_string();
        assert!(missing.starts_with("cannot read /nowhere/.mcp.json: "), "{missing}");
        assert!(Config::parse("\u{feff}{\"mcpServers\":{}}", Path::new("f"), Variables::none()).is_ok());
    }
}
