//! What goes wrong with a server, always with its name.

use std::fmt;
use std::time::Duration;

use crate::config::ConfigError;

/// A server that could not be started, listed, or reached any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpError {
    /// The server's name in the configuration.
    pub server: String,
    /// What was tried: the server's command line or URL, without secrets. Nothing where it is not configured.
    pub origin: Option<String>,
    /// What went wrong.
    pub fault: Box<Fault>,
    /// The last lines that the server wrote on its standard error, oldest first; control characters replaced.
    pub stderr: Vec<String>,
    /// How many lines on its standard output were no messages, and the last of them.
    pub noise: Option<(u64, String)>,
}

/// What went wrong with a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Its configuration is missing or wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// It is reached in a way that is not supported.
    #[error(
        "is reached by a `url` (Streamable HTTP), which is not supported yet; what is: a `command` that speaks on stdin and stdout"
    )]
    NotSupported,
    /// The process could not be started.
    #[error("could not be started: {0}")]
    Spawn(String),
    /// It was not asked for when the tools were made.
    #[error("was not started: it was not asked for")]
    NotAskedFor,
    /// The process ended.
    #[error("ended ({0})")]
    Exited(Exit),
    /// It closed its standard output, and lives on.
    #[error("closed its standard output")]
    StdoutClosed,
    /// Nothing can be written to it any more.
    #[error("reads nothing any more: {0}")]
    StdinClosed(String),
    /// We ended it.
    #[error("was shut down")]
    ShutDown,
    /// It was not ready in time.
    #[error("was not ready within {} while waiting for its answer to `{waiting_for}`", seconds(*.within))]
    NotReady {
        /// The deadline.
        within: Duration,
        /// The request that it did not answer.
        waiting_for: &'static str,
    },
    /// It answered a request of ours with an error.
    #[error("answered `{request}` with error {code}: {message}")]
    Refused {
        /// The request.
        request: &'static str,
        /// JSON-RPC error code.
        code: i64,
        /// The server's words.
        message: String,
    },
    /// It speaks no protocol version that we know.
    #[error("speaks no protocol version that plangate knows; it offers {0}")]
    Version(String),
    /// The handshake went wrong in another way.
    #[error("did not open the session as MCP says: {0}")]
    Handshake(String),
    /// Its `tools/list` gave a cursor that it had given before.
    #[error("gives the same page of its tool list again and again (cursor {0:?})")]
    RepeatedCursor(String),
    /// Its `tools/list` has no end.
    #[error("lists its tools in more than {0} pages")]
    TooManyPages(usize),
    /// Its `tools/list` is no list of tools.
    #[error("answered `tools/list` with no list of tools: {0}")]
    NoList(String),
    /// A line is longer than the limit.
    #[error("gave an answer of more than {0} bytes")]
    TooLong(usize),
    /// An answer cannot be read.
    #[error("gave an answer that cannot be read: {0}")]
    Garbled(String),
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
    /// The system does not say.
    Unknown,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Status(status) => write!(f, "exit status {status}"),
            Exit::Signal(signal) => write!(f, "signal {signal}"),
            Exit::Unknown => f.write_str("nobody knows how"),
        }
    }
}

/// The sentence, then what was tried and the last lines on standard error, each on lines of their own.
impl fmt::Display for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.fault {
            // Names file and server by itself.
            Fault::Config(error) => write!(f, "{error}")?,
            fault => write!(f, "server {:?} {fault}", self.server)?,
        }
        if let Some(origin) = &self.origin {
            write!(f, "\n  tried: {origin}")?;
        }
        if let Some((count, last)) = &self.noise {
            write!(f, "\n  {count} lines on its standard output were no messages, the last: {last}")?;
        }
        if !self.stderr.is_empty() {
            f.write_str("\n  its last lines on standard error:")?;
        }
        self.stderr.iter().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

impl std::error::Error for McpError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.fault)
    }
}

/// A duration in seconds, as people write it: `20 s`, `0.3 s`.
pub(crate) fn seconds(duration: Duration) -> String {
    format!("{} s", (duration.as_secs_f64() * 1000.0).round() / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_names_the_server_and_holds_what_it_said() {
        let error = McpError {
            server: "gmail".into(),
            origin: Some("npx gmail-mcp".into()),
            fault: Box::new(Fault::Exited(Exit::Status(1))),
            stderr: vec!["config missing".into()],
            noise: Some((2, "hello".into())),
        };
        assert_eq!(
            error.to_string(),
            "server \"gmail\" ended (exit status 1)\n  tried: npx gmail-mcp\n  2 lines on its standard output were \
             no messages, the last: hello\n  its last lines on standard error:\n    config missing"
        );
    }

    #[test]
    fn durations_read_well() {
        assert_eq!(seconds(Duration::from_secs(20)), "20 s");
        assert_eq!(seconds(Duration::from_millis(300)), "0.3 s");
    }
}
