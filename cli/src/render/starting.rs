//! What is seen while servers start: one line on a terminal, which goes when they are ready.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use plangate_mcp_client::Progress;

use crate::output::Output;

/// How often the spinner turns.
const TURN: Duration = Duration::from_millis(80);

/// The line. Nothing is shown where nobody watches.
#[derive(Debug)]
pub(crate) struct Starting {
    bar: ProgressBar,
    waiting: Arc<Mutex<BTreeSet<String>>>,
}

impl Starting {
    /// For that many servers.
    pub(crate) fn new(output: &Output, servers: usize) -> Starting {
        let bar = if output.is_watched() && servers > 0 {
            ProgressBar::new_spinner()
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) = ProgressStyle::with_template("{spinner} starting {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TURN);
        Starting { bar, waiting: Arc::default() }
    }

    /// What the starting servers report to.
    pub(crate) fn observer(&self) -> Arc<dyn Fn(Progress) + Send + Sync> {
        let (bar, waiting) = (self.bar.clone(), Arc::clone(&self.waiting));
        Arc::new(move |progress| {
            let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            match progress {
                Progress::Starting { server, .. } => {
                    waiting.insert(server);
                }
                Progress::Ready { server, .. } => {
                    waiting.remove(&server);
                }
                Progress::Failed(error) => {
                    waiting.remove(&error.server);
                }
                _ => {}
            }
            let names: Vec<&str> = waiting.iter().map(String::as_str).collect();
            bar.set_message(names.join(", "));
        })
    }

    /// Takes the line away.
    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}
