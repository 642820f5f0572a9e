//! Errors, and the one shape that they have as JSON.

use plangate_approval::audit::AuditError;
use plangate_approval::{Row, RowState, StoreError};
use plangate_compiler::{Colour, Diagnostic, Fix, Label, Severity, Span, render};
use plangate_executor::{EditError, RunError};
use plangate_graph::problem::Problem;
use serde::Serialize;

use crate::status::{
    PLANGATE_E_ARGUMENT, PLANGATE_E_ATTENTION, PLANGATE_E_BUSY, PLANGATE_E_CANCELLED, PLANGATE_E_CHANGED,
    PLANGATE_E_DECIDED, PLANGATE_E_EXPIRED, PLANGATE_E_IN_FLIGHT, PLANGATE_E_LEASE_LOST,
    PLANGATE_E_NOT_ALLOWED, PLANGATE_E_NOT_FOUND, PLANGATE_E_PANIC, PLANGATE_E_PLAN, PLANGATE_E_STORE,
    PLANGATE_OK, PLANGATE_PARKED, name, plangate_status,
};

/// Why a function did not do what it is for. As JSON: `code` (the status by name), `message`, `help`, `spans` (places in
/// the document), `related` (everything there is to say, each with a code of its own), and where there is something to
/// compute with, `details`; for a recipe `rendered`, the diagnostics as a terminal shows them.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: plangate_status,
    message: String,
    help: Option<String>,
    related: Vec<Related>,
    details: Option<Box<Details>>,
    rendered: Option<String>,
}

/// One thing to say.
#[derive(Debug, Serialize)]
struct Related {
    code: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<Severity>,
    message: String,
    help: Option<String>,
    spans: Vec<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<Fix>,
}

/// A place in the document, the main one first.
#[derive(Clone, Debug, Serialize)]
struct Place {
    #[serde(flatten)]
    span: Span,
    label: String,
}

/// What an error says in values.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Details {
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<RowState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<i64>,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stored: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<String>,
}

#[derive(Serialize)]
struct Shape<'a> {
    code: &'a str,
    message: &'a str,
    help: Option<&'a str>,
    spans: &'a [Place],
    related: &'a [Related],
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a Details>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rendered: Option<&'a str>,
}

impl Failure {
    pub(crate) fn new(status: plangate_status, message: impl Into<String>) -> Failure {
        Failure {
            status,
            message: message.into(),
            help: None,
            related: Vec::new(),
            details: None,
            rendered: None,
        }
    }

    /// An argument that cannot be used.
    pub(crate) fn argument(message: impl Into<String>) -> Failure {
        Failure::new(PLANGATE_E_ARGUMENT, message)
    }

    /// A pointer that may not be null.
    pub(crate) fn null(what: &str) -> Failure {
        Failure::argument(format!("`{what}` is NULL"))
    }

    /// A panic, with its words.
    pub(crate) fn panicked(panic: &(dyn std::any::Any + Send)) -> Failure {
        let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        let words = text.unwrap_or_else(|| "a panic without words".to_owned());
        Failure::new(PLANGATE_E_PANIC, format!("a fault in plangate: {words}"))
            .help("the call did nothing more; handles stay usable. Please report it")
    }

    /// A document that is refused for one reason.
    pub(crate) fn refused(what: &str, why: &impl ToString) -> Failure {
        Failure::new(PLANGATE_E_PLAN, format!("{what}: {}", why.to_string()))
    }

    /// A plan that was refused, with every reason.
    pub(crate) fn problems(what: &str, problems: Vec<Problem>) -> Failure {
        let first = problems.first().map(|p| format!(": {}", p.message)).unwrap_or_default();
        let mut failure = Failure::new(PLANGATE_E_PLAN, format!("{what}{first}{}", more(problems.len())));
        failure.help = problems.first().and_then(|p| p.help.clone());
        failure.related = problems.into_iter().map(Related::from).collect();
        failure
    }

    /// What there is to say about a recipe. Where no diagnostic is an error its status is OK.
    pub(crate) fn diagnostics(recipe: &str, diagnostics: Vec<Diagnostic>) -> Failure {
        let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
        let first = diagnostics.iter().find(|d| errors == 0 || d.severity == Severity::Error);
        let status = if errors == 0 { PLANGATE_OK } else { PLANGATE_E_PLAN };
        let count = if errors == 0 { diagnostics.len() } else { errors };
        let message = first.map(|d| format!("{}: {}{}", d.code, d.message, more(count)));
        let mut failure = Failure::new(status, message.unwrap_or_default());
        failure.help = first.and_then(|d| d.help.clone());
        failure.rendered = Some(render(&diagnostics, recipe, "recipe", Colour::Plain));
        // The worst stands first, whose spans are those of the whole.
        let (worst, rest): (Vec<_>, Vec<_>) =
            diagnostics.into_iter().partition(|d| errors == 0 || d.severity == Severity::Error);
        failure.related = worst.into_iter().chain(rest).map(Related::from).collect();
        failure
    }

    /// The stored plan no longer passes.
    pub(crate) fn attention(reason: &str) -> Failure {
        Failure::new(PLANGATE_E_ATTENTION, format!("the stored plan no longer passes: {reason}"))
            .help("look at what changed; then cancel the run, or resume it once the reason is gone")
    }

    /// No error: the edit stands, and its editor does not decide it.
    pub(crate) fn only_edited(row: &Row, why: &str) -> Failure {
        let stored = Some(row.digest.to_string());
        let details = Details { state: Some(row.state), stored, ..Details::default() };
        Failure::new(PLANGATE_PARKED, format!("edited, and not decided: {why}"))
            .help("others decide it, as it is now")
            .with(details)
    }

    pub(crate) fn help(self, help: impl Into<String>) -> Failure {
        Failure { help: Some(help.into()), ..self }
    }

    /// As JSON.
    pub(crate) fn to_json(&self) -> String {
        let shape = Shape {
            code: name(self.status).to_str().unwrap_or_default(),
            message: &self.message,
            help: self.help.as_deref(),
            spans: self.related.first().map(|first| first.spans.as_slice()).unwrap_or_default(),
            related: &self.related,
            details: self.details.as_deref(),
            rendered: self.rendered.as_deref(),
        };
        // Plain structs of text and numbers: there is nothing in it that could not be written.
        serde_json::to_string(&shape).unwrap_or_default()
    }

    fn with(self, details: Details) -> Failure {
        let details = Some(Box::new(details)).filter(|details| **details != Details::default());
        Failure { details, ..self }
    }
}

fn more(count: usize) -> String {
    match count.saturating_sub(1) {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    }
}

impl From<Problem> for Related {
    fn from(problem: Problem) -> Related {
        Related {
            code: problem.code.to_owned(),
            severity: Some(problem.severity),
            message: problem.message,
            help: problem.help,
            spans: Vec::new(),
            fix: None,
        }
    }
}

impl From<Diagnostic> for Related {
    fn from(diagnostic: Diagnostic) -> Related {
        let place = |label: Label| Place { span: label.span, label: label.message };
        Related {
            code: diagnostic.code.to_owned(),
            severity: Some(diagnostic.severity),
            message: diagnostic.message,
            help: diagnostic.help,
            spans: diagnostic.labels.into_iter().map(place).collect(),
            fix: diagnostic.fix,
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        let message = error.to_string();
        let (status, details) = match error {
            StoreError::NotFound { .. } => (PLANGATE_E_NOT_FOUND, Details::default()),
            StoreError::Decided { state, by, at } => (
                PLANGATE_E_DECIDED,
                Details { state: Some(state), by: Some(by), at: at.map(|at| at.0), ..Details::default() },
            ),
            StoreError::Cancelled => (PLANGATE_E_CANCELLED, Details::default()),
            StoreError::Expired { at } => {
                (PLANGATE_E_EXPIRED, Details { at: Some(at.0), ..Details::default() })
            }
            StoreError::Changed { stored, seen } => (
                PLANGATE_E_CHANGED,
                Details {
                    stored: Some(stored.to_string()),
                    seen: Some(seen.to_string()),
                    ..Details::default()
                },
            ),
            StoreError::NotAllowed(_) => (PLANGATE_E_NOT_ALLOWED, Details::default()),
            StoreError::Repeated { state, at, until, .. } => (
                PLANGATE_E_NOT_ALLOWED,
                Details { state: Some(state), at: Some(at.0), until: Some(until.0), ..Details::default() },
            ),
            StoreError::InFlight { until } => {
                (PLANGATE_E_IN_FLIGHT, Details { until: Some(until.0), ..Details::default() })
            }
            StoreError::NotNow(state) => {
                let status = if state.open() { PLANGATE_E_NOT_ALLOWED } else { PLANGATE_E_DECIDED };
                (status, Details { state: Some(state), ..Details::default() })
            }
            StoreError::LeaseLost(_) => (PLANGATE_E_LEASE_LOST, Details::default()),
            StoreError::Held(_) => (PLANGATE_E_BUSY, Details::default()),
            _ => (PLANGATE_E_STORE, Details::default()),
        };
        Failure::new(status, message).with(details)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        let message = error.to_string();
        let about = |step: String, message: String| Related {
            code: step,
            severity: None,
            message,
            help: None,
            spans: Vec::new(),
            fix: None,
        };
        match error {
            RunError::Store(error) => error.into(),
            RunError::Inputs(problems) => Failure {
                related: problems.into_iter().map(|p| about(p.input, p.message)).collect(),
                ..Failure::argument(message)
            },
            RunError::Arguments(problems) => Failure {
                related: problems.into_iter().map(|p| about(p.step, p.message)).collect(),
                ..Failure::argument(message)
            },
            RunError::NoWriter { .. } => Failure::argument(message),
            RunError::Busy { until } => {
                let details = Details { until: Some(until.0), ..Details::default() };
                Failure::new(PLANGATE_E_BUSY, message).with(details)
            }
            RunError::LeaseLost(_) => Failure::new(PLANGATE_E_LEASE_LOST, message),
            RunError::Threads(_) | RunError::Fault(_) => Failure::new(PLANGATE_E_PANIC, message),
        }
    }
}

impl From<EditError> for Failure {
    fn from(error: EditError) -> Failure {
        match error {
            EditError::Refused(why) => Failure::new(PLANGATE_E_NOT_ALLOWED, format!("not edited: {why}"))
                .help("nothing was changed: it waits as it was shown"),
            EditError::Store(error) => error.into(),
            EditError::Run(error) => error.into(),
        }
    }
}

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Failure {
        match error {
            AuditError::Store(error) => error.into(),
            AuditError::Broken(broken) => Failure::new(PLANGATE_E_CHANGED, broken.to_string()),
        }
    }
}
