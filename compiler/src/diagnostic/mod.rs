//! What the compiler has to say, as data for programs and as text for people.

pub(crate) mod code;
mod explain;
mod finding;
mod render;

use serde::Serialize;

pub use explain::{documented_codes, explain};
pub(crate) use finding::{Finding, settle};
pub use plangate_graph::problem::Severity;
pub use render::{Colour, render};

/// One thing to say about a recipe: what, how bad, where, and what to do.
///
/// As JSON its fields stand in the order given here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Stable code, for instance `R0120`; [`explain`] has an entry for each.
    pub code: &'static str,
    /// How bad it is. With an error there is no plan.
    pub severity: Severity,
    /// One sentence that says what is wrong.
    pub message: String,
    /// Where, the main place first. Empty where it is about the recipe as a whole.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
    /// A change that mends it for certain.
    pub fix: Option<Fix>,
}

/// A place in the recipe, with what there is to say about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Label {
    /// The place.
    pub span: Span,
    /// A few words; may be empty.
    pub message: String,
}

/// A place in the recipe. Offsets always lie between characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct Span {
    /// First byte, from 0.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// Line of `start`, from 1.
    pub line: usize,
    /// Column of `start` in characters, from 1.
    pub column: usize,
    /// Line of `end`.
    pub end_line: usize,
    /// Column of `end`.
    pub end_column: usize,
}

/// A change of the recipe's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fix {
    /// What is replaced; an empty span inserts.
    pub span: Span,
    /// What stands there afterwards.
    pub replacement: String,
}

/// The diagnostics as one line of JSON: an array of [`Diagnostic`]s, fields in their order. For programs, and for a
/// model that wrote the recipe.
pub fn to_json(diagnostics: &[Diagnostic]) -> String {
    // Nothing in a diagnostic can fail to serialise: no maps, no floats, no foreign types.
    serde_json::to_string(diagnostics).unwrap_or_default()
}
