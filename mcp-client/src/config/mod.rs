//! The servers of an `.mcp.json`: how each is reached.

mod origin;
mod variables;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use plangate_graph::Value;
use plangate_graph::value::Object;

use variables::Unexpanded;
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

/// What is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The file is not JSON.
    #[error("{}: {reason}", path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        reason: String,
    },
    /// The file has no `mcpServers`.
    #[error("{}: expected an object `mcpServers` with servers by name{hint}", path.display())]
    NoServers {
        /// The file.
        path: PathBuf,
        /// What stands there instead, where that is known.
        hint: &'static str,
    },
    /// No server has this name.
    #[error("{}: no server {server:?}; there {}", path.display(), listed(known))]
    Unknown {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        server: String,
        /// The names that are there.
        known: Vec<String>,
    },
    /// A field holds something else than it must.
    #[error("{}: server {server:?}, {field}: expected {expected}", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// The server.
        server: String,
        /// The field, for instance `args[2]`.
        field: String,
        /// What should stand there.
        expected: &'static str,
    },
    /// A variable is not set and has no default.
    #[error(
        "{}: server {server:?}, {field}: the variable {variable} is not set; set it, or write ${{{variable}:-default}}",
        path.display()
    )]
    Unset {
        /// The file.
        path: PathBuf,
        /// The server.
        server: String,
        /// The field, for instance `env.TOKEN`.
        field: String,
        /// The variable.
        variable: String,
    },
    /// A `${…}` that is no variable.
    #[error(
        "{}: server {server:?}, {field}: {text:?} is no variable; expected ${{NAME}} or ${{NAME:-default}}",
        path.display()
    )]
    NoVariable {
        /// The file.
        path: PathBuf,
        /// The server.
        server: String,
        /// The field.
        field: String,
        /// What stands there.
        text: String,
    },
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

/// One server's fields, being read.
struct Fields<'a> {
    config: &'a Config,
    server: &'a str,
    value: &'a Value,
}

impl Fields<'_> {
    fn read(&self) -> Result<ServerConfig, ConfigError> {
        if !matches!(self.value, Value::Object(_)) {
            return Err(self.shape("itself", "an object with `command` or `url`"));
        }
        let kind = self.text("type")?;
        match (self.text("command")?, self.text("url")?) {
            (Some(_), Some(_)) => Err(self.shape("url", "`command` or `url`, not both")),
            (None, None) => Err(self.shape("command", "a program to start (or `url`)")),
            (Some(_), None) if kind.is_some_and(|kind| kind != "stdio") => {
                Err(self.shape("type", "\"stdio\" beside `command`"))
            }
            (Some(command), None) => self.program(command),
            (None, Some(url)) => Ok(ServerConfig {
                name: self.server.to_owned(),
                origin: origin::masked_url(url),
                reach: Reach::Http,
            }),
        }
    }

    fn program(&self, command: &str) -> Result<ServerConfig, ConfigError> {
        let mut args = Vec::new();
        let mut shown = Vec::new();
        match self.value.member("args") {
            None | Some(Value::Null) => {}
            Some(Value::List(items)) => {
                for (i, item) in items.iter().enumerate() {
                    let field = format!("args[{i}]");
                    let text = item.text().ok_or_else(|| self.shape(&field, "text"))?;
                    args.push(self.expand(&field, text)?);
                    shown.push(text);
                }
            }
            Some(_) => return Err(self.shape("args", "a list of texts")),
        }
        let mut env = Vec::new();
        for (name, value) in self.object("env")?.iter().flat_map(|o| o.iter()) {
            let field = format!("env.{name}");
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(self.shape(&field, "a variable's name"));
            }
            let text = value.text().ok_or_else(|| self.shape(&field, "text"))?;
            env.push((name.to_owned(), self.expand(&field, text)?));
        }
        let cwd = match self.text("cwd")? {
            Some(text) => Some(self.folder().join(self.expand("cwd", text)?)),
            None => None,
        };
        let program = self.expand("command", command)?;
        if program.is_empty() {
            return Err(self.shape("command", "a program to start"));
        }
        // With a folder of its own, a relative program would be looked for in one folder or the other by platform.
        let program = match &cwd {
            Some(cwd) if program.contains('/') => cwd.join(program).into_os_string(),
            _ => program.into(),
        };
        Ok(ServerConfig {
            name: self.server.to_owned(),
            origin: origin::command_line(command, shown),
            reach: Reach::Stdio(Program { command: program, args, env, cwd }),
        })
    }

    /// Where a relative `cwd` starts: the folder of the configuration.
    fn folder(&self) -> &Path {
        self.config.path.parent().unwrap_or(Path::new(""))
    }

    fn text(&self, field: &str) -> Result<Option<&str>, ConfigError> {
        match self.value.member(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(_) => Err(self.shape(field, "text")),
        }
    }

    fn object(&self, field: &str) -> Result<Option<&Object>, ConfigError> {
        match self.value.member(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(o)) => Ok(Some(o)),
            Some(_) => Err(self.shape(field, "an object of texts")),
        }
    }

    fn expand(&self, field: &str, text: &str) -> Result<String, ConfigError> {
        let (path, server, field) = (self.config.path.clone(), self.server.to_owned(), field.to_owned());
        let expanded = self.config.variables.expand(text).map_err(|e| match e {
            Unexpanded::Unset(variable) => ConfigError::Unset {
                path: path.clone(),
                server: server.clone(),
                field: field.clone(),
                variable,
            },
            Unexpanded::Malformed(text) => ConfigError::NoVariable {
                path: path.clone(),
                server: server.clone(),
                field: field.clone(),
                text,
            },
        })?;
        if expanded.contains('\0') {
            return Err(ConfigError::Shape { path, server, field, expected: "text without a NUL character" });
        }
        Ok(expanded)
    }

    fn shape(&self, field: &str, expected: &'static str) -> ConfigError {
        ConfigError::Shape {
            path: self.config.path.clone(),
            server: self.server.to_owned(),
            field: field.to_owned(),
            expected,
        }
    }
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "are none".to_owned(),
        [one] => format!("is {one:?}"),
        many => format!("are {}", many.iter().map(|n| format!("{n:?}")).collect::<Vec<_>>().join(", ")),
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
