//! How servers are started and ended.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::error::McpError;

/// How servers are started and ended.
#[derive(Clone)]
pub struct Options {
    /// How long a server may take from its start until its tools are listed. 20 s.
    pub startup_timeout: Duration,
    /// Longest line, in bytes, that is read from a server; a longer answer is an error. 16 MiB.
    pub line_limit: usize,
    /// How long a server may take to end once its standard input is closed, and again after SIGTERM. 2 s.
    pub grace: Duration,
    /// Called as servers start, from threads of the tools' own; it must not block.
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

/// What happens while servers start.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// A server is being started.
    Starting {
        /// Its name.
        server: String,
        /// What it is, without secrets.
        origin: String,
    },
    /// The session is open; its tools are being listed.
    Listing {
        /// Its name.
        server: String,
    },
    /// A server is ready.
    Ready {
        /// Its name.
        server: String,
        /// How many tools it has.
        tools: usize,
        /// How long it took.
        took: Duration,
    },
    /// A server could not be started.
    Failed(McpError),
}

impl Default for Options {
    fn default() -> Options {
        Options {
            startup_timeout: Duration::from_secs(20),
            line_limit: 16 * 1024 * 1024,
            grace: Duration::from_secs(2),
            progress: None,
        }
    }
}

impl Options {
    pub(crate) fn report(&self, progress: impl FnOnce() -> Progress) {
        if let Some(report) = &self.progress {
            report(progress());
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("startup_timeout", &self.startup_timeout)
            .field("line_limit", &self.line_limit)
            .field("grace", &self.grace)
            .finish_non_exhaustive()
    }
}
