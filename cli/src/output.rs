//! Everything that the command prints goes through here: results on standard output, remarks on standard error.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use crate::exit::Exit;
use crate::fault::Fault;
use crate::render::paint::Paint;

/// Where the command prints. Printing never fails on the way: a pipe that was closed swallows the rest quietly, any
/// other fault is kept for [`Output::fault`].
#[derive(Debug)]
pub(crate) struct Output {
    json: bool,
    colour: (bool, bool),
    terminal: (bool, bool),
    broken: Mutex<Option<io::Error>>,
    /// Nobody reads remarks any more.
    deaf: AtomicBool,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Output {
    /// For this process.
    pub(crate) fn new(json: bool, colour: Colour) -> Output {
        let terminal = (io::stdout().is_terminal(), io::stderr().is_terminal());
        let wanted = |terminal: bool| match colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => {
                terminal
                    && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
                    && std::env::var_os("TERM").is_none_or(|v| v != "dumb")
            }
        };
        Output {
            json,
            colour: (wanted(terminal.0), wanted(terminal.1)),
            terminal,
            broken: Mutex::new(None),
            deaf: AtomicBool::new(false),
        }
    }

    /// Whether programs read it: results as JSON on standard output.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether people watch standard error.
    pub(crate) fn is_watched(&self) -> bool {
        self.terminal.1
    }

    /// Colours for results.
    pub(crate) fn paint(&self) -> Paint {
        Paint::new(self.colour.0)
    }

    /// Colours for remarks.
    pub(crate) fn remark_paint(&self) -> Paint {
        Paint::new(self.colour.1)
    }

    /// Prints a result, as it is.
    pub(crate) fn say(&self, text: &str) {
        let mut out = io::stdout().lock();
        self.keep(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    }

    /// Prints a result as one line of JSON.
    pub(crate) fn say_json(&self, result: &impl Serialize) -> Result<(), Fault> {
        let mut line = serde_json::to_string(result).map_err(|e| {
            Fault::new(Exit::Internal, "internal", format!("the result cannot be written as JSON: {e}"))
        })?;
        line.push('\n');
        self.say(&line);
        Ok(())
    }

    /// Prints a remark: progress, what is being started, what to do next. Not part of the result.
    pub(crate) fn remark(&self, text: &str) {
        if self.deaf.load(Ordering::Relaxed) {
            return;
        }
        let mut err = io::stderr().lock();
        // Whoever closed standard error does not want remarks; the result and the exit status still tell.
        if err.write_all(text.as_bytes()).and_then(|()| err.flush()).is_err() {
            self.deaf.store(true, Ordering::Relaxed);
        }
    }

    /// Prints what stopped the command, on standard error.
    pub(crate) fn stop(&self, fault: &Fault) {
        if self.json {
            self.remark(&format!("{}\n", fault.to_json()));
        } else {
            self.remark(&fault.to_text(self.remark_paint()));
        }
    }

    /// What went wrong with standard output, if anything did that was not a reader who went away.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        let error = broken.as_ref().filter(|e| e.kind() != io::ErrorKind::BrokenPipe)?;
        let message = format!("standard output cannot be written: {error}");
        Some(Fault::new(Exit::Unusable, "output", message))
    }

    fn keep(&self, written: io::Result<()>) {
        if let Err(error) = written {
            let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
            broken.get_or_insert(error);
        }
    }
}
