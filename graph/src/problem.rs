//! What is wrong with a plan or a recipe, as data: code, place, sentence, help.

use serde::{Deserialize, Serialize};

/// How bad a problem is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something worth knowing; nothing to do.
    Note,
    /// Probably not meant; the plan stands.
    Warning,
    /// No plan.
    Error,
}

/// A problem found in an outline, before it has a text to point into. The compiler adds spans; the verifier names the step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Stable code, for instance `R0310`; documented in `docs/diagnostics.md`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The item it is about (index into the outline), or nothing where it is about the whole.
    pub item: Option<usize>,
    /// One sentence that names what it is about.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Problem {
    /// An error about an item.
    pub fn error(code: &'static str, item: Option<usize>, message: impl Into<String>) -> Problem {
        Problem { code, severity: Severity::Error, item, message: message.into(), help: None }
    }

    /// A warning about an item.
    pub fn warning(code: &'static str, item: Option<usize>, message: impl Into<String>) -> Problem {
        Problem { severity: Severity::Warning, ..Problem::error(code, item, message) }
    }

    /// A note about an item.
    pub fn note(code: &'static str, item: Option<usize>, message: impl Into<String>) -> Problem {
        Problem { severity: Severity::Note, ..Problem::error(code, item, message) }
    }

    /// With what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }
}
