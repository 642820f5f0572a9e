//! Who executes sentences: a command, an MCP tool, or the built-in outline. Configuration, never part of a recipe.

pub(crate) mod command;
pub(crate) mod outline;
pub(crate) mod tool;

use plangate_executor::tools::SentenceInput;
use plangate_graph::Value;
use plangate_graph::value::{Object, ValueError};

/// The named inputs of a sentence as data: `[{"name", "value"} or {"name", "missing": why}]`, in the order of the text.
fn inputs_json(inputs: &[SentenceInput]) -> Result<Value, ValueError> {
    inputs
        .iter()
        .map(|input| {
            let (key, value) = match &input.value {
                Ok(value) => ("value", value.clone()),
                Err(why) => ("missing", Value::from(why.as_str())),
            };
            let name = Value::from(input.name.as_str());
            Object::new(vec![("name".to_owned(), name), (key.to_owned(), value)]).map(Value::Object)
        })
        .collect::<Result<Vec<_>, _>>()
        .map(Value::List)
}
