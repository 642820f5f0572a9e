//! What is wrong with a configuration.

use std::path::PathBuf;

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

fn listed(names: &[String]) -> String {
    match names {
        [] => "are none".to_owned(),
        [one] => format!("is {one:?}"),
        many => format!("are {}", many.iter().map(|n| format!("{n:?}")).collect::<Vec<_>>().join(", ")),
    }
}
