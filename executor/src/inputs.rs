//! Values of a plan's inputs, checked before anything starts.

use plangate_graph::outline::{Input, InputKind};
use plangate_graph::value::Object;
use plangate_graph::{Plan, Value};

/// What is wrong with a value that was given for an input, or with a missing one. One sentence that names it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InputProblem {
    /// The input, or what was given instead.
    pub input: String,
    /// One sentence.
    pub message: String,
}

/// The value of every input of the plan: what was given, else its default. `given` is an object, or null for nothing.
/// All problems at once: a missing value, a value of another kind, a name that is no input.
pub(crate) fn complete(plan: &Plan, given: &Value) -> Result<Object, Vec<InputProblem>> {
    let inputs = &plan.outline().inputs;
    let mut problems = Vec::new();
    match given {
        Value::Null => {}
        Value::Object(given) => {
            for (name, _) in given.iter().filter(|(name, _)| inputs.iter().all(|i| i.name != *name)) {
                problems.push(InputProblem {
                    input: name.to_owned(),
                    message: format!("the recipe has no input {name:?}{}", offered(inputs)),
                });
            }
        }
        other => problems.push(InputProblem {
            input: String::new(),
            message: format!("inputs are an object of values by name, not {}", other.kind()),
        }),
    }
    let mut values = Vec::new();
    for input in inputs {
        match given.member(&input.name).or(input.default.as_ref()) {
            None => problems.push(InputProblem {
                input: input.name.clone(),
                message: format!(
                    "the input {:?} ({}) has no value and no default",
                    input.name,
                    words(input.kind)
                ),
            }),
            Some(value) if fits(input.kind, value) => values.push((input.name.clone(), value.clone())),
            Some(value) => problems.push(InputProblem {
                input: input.name.clone(),
                message: format!(
                    "the input {:?} takes {}, not {}",
                    input.name,
                    words(input.kind),
                    value.kind()
                ),
            }),
        }
    }
    match Object::new(values) {
        Ok(values) if problems.is_empty() => Ok(values),
        Ok(_) => Err(problems),
        Err(twice) => {
            problems.push(InputProblem { input: String::new(), message: twice.to_string() });
            Err(problems)
        }
    }
}

fn fits(kind: InputKind, value: &Value) -> bool {
    match kind {
        InputKind::Text => matches!(value, Value::Text(_)),
        InputKind::Number => matches!(value, Value::Number(_)),
        InputKind::YesNo => matches!(value, Value::Bool(_)),
        InputKind::List => matches!(value, Value::List(_)),
    }
}

fn words(kind: InputKind) -> &'static str {
    match kind {
        InputKind::Text => "text",
        InputKind::Number => "a number",
        InputKind::YesNo => "yes or no (true or false)",
        InputKind::List => "a list",
    }
}

fn offered(inputs: &[Input]) -> String {
    if inputs.is_empty() {
        return "; it has none".to_owned();
    }
    let names: Vec<_> = inputs.iter().map(|i| i.name.as_str()).collect();
    format!("; it has {}", names.join(", "))
}
