//! Why a run did not start, or was laid down without an end.

use plangate_approval::{RunId, StoreError, Time};

use crate::inputs::InputProblem;

/// Why there is no [`Ended`](crate::Ended). Nothing that happened before is lost: it is in the store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// Values of inputs are missing or wrong. Nothing started.
    #[error("{}", lines(.0))]
    Inputs(Vec<InputProblem>),
    /// Arguments that are known before the first step do not fit their tool's schema. Nothing started.
    #[error("{}", lines(.0))]
    Arguments(Vec<ArgumentProblem>),
    /// The plan has sentences and there is no writer. Nothing started.
    #[error("no writer is configured, and {} to be written", named(.steps))]
    NoWriter {
        /// The sentences.
        steps: Vec<String>,
    },
    /// Another drives the run, and will take up what was decided.
    #[error("the run is driven by another process, which will take up what was decided")]
    Busy {
        /// Until when its lease lasts if it is not renewed.
        until: Time,
    },
    /// This driver lost the run to another, or was too slow to renew its lease. It started nothing more; what its calls
    /// brought is recorded.
    #[error("the run {0} was taken over: nothing more was started here")]
    LeaseLost(RunId),
    /// The store cannot be used. What was under way was waited for; what could not be recorded is uncertain.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operating system gave no thread to run on.
    #[error("no thread could be started: {0}")]
    Threads(String),
    /// A plan that cannot be scheduled, or a fault of this crate. The run can be resumed.
    #[error("internal fault: {0}")]
    Fault(String),
}

/// Arguments that do not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{step}`: {message}")]
pub struct ArgumentProblem {
    /// The step.
    pub step: String,
    /// What is wrong, in a sentence.
    pub message: String,
}

fn lines<T: ToString>(problems: &[T]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn named(steps: &[String]) -> String {
    let names: Vec<_> = steps.iter().map(|s| format!("`{s}`")).collect();
    format!("{} {}", names.join(", "), if steps.len() == 1 { "is" } else { "are" })
}
