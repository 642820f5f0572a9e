//! Which of the validator's errors hold whatever the references become.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;

use super::sketch::{Place, Sketch};
use crate::policy::number;
use crate::value::Number;

/// Whether an error holds for every value that the unknown places can take.
pub(super) fn holds(error: &ValidationError<'_>, sketch: &Sketch) -> bool {
    if sketch.is_exact() {
        return true;
    }
    if let Kind::AnyOf { context } | Kind::OneOfNotValid { context } = error.kind() {
        // Every alternative must fail for certain, each for a reason of its own.
        return context.iter().all(|branch| branch.iter().any(|error| holds(error, sketch)));
    }
    let pointer = error.instance_path().as_str();
    match sketch.around(pointer) {
        Some(Place::Anything) => false,
        Some(Place::OfKind) => matches!(error.kind(), Kind::Type { .. }) && !is_conditional(error),
        Some(Place::Rounded(number)) => breaks_a_bound(error.kind(), number),
        None if sketch.has_within(pointer) => is_about_the_outside(error.kind()) && !is_conditional(error),
        None => !is_conditional(error),
    }
}

/// Whether the error stands behind an `if`, whose answer may change with what is not known.
fn is_conditional(error: &ValidationError<'_>) -> bool {
    let path = error.evaluation_path().as_str();
    path.split('/').any(|part| matches!(part, "then" | "else" | "dependentSchemas" | "not"))
}

/// Errors that depend on which keys and how many elements there are, and not on what they hold.
fn is_about_the_outside(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Required { .. }
            | Kind::AdditionalProperties { .. }
            | Kind::AdditionalItems { .. }
            | Kind::PropertyNames { .. }
            | Kind::MinProperties { .. }
            | Kind::MaxProperties { .. }
            | Kind::MinItems { .. }
            | Kind::MaxItems { .. }
            | Kind::Type { .. }
            | Kind::FalseSchema
    )
}

/// Whether a number that was rounded on its way breaks the schema as it is written.
fn breaks_a_bound(kind: &Kind, number: &Number) -> bool {
    let against = |limit: &serde_json::Value| {
        Number::from_text(&limit.to_string()).map(|limit| number::compare(number, &limit))
    };
    match kind {
        Kind::Maximum { limit } => against(limit).is_some_and(std::cmp::Ordering::is_gt),
        Kind::ExclusiveMaximum { limit } => against(limit).is_some_and(std::cmp::Ordering::is_ge),
        Kind::Minimum { limit } => against(limit).is_some_and(std::cmp::Ordering::is_lt),
        Kind::ExclusiveMinimum { limit } => against(limit).is_some_and(std::cmp::Ordering::is_le),
        Kind::Enum { .. } | Kind::Constant { .. } | Kind::MultipleOf { .. } => false,
        _ => true,
    }
}
