//! Arguments held against a tool's input schema, as far as they are known.
//!
//! The validator is `jsonschema`, without network or files: a `$ref` leaves the schema nowhere. What it does not know is
//! what a reference will become; so references stand in as placeholders, and of its errors only those count that hold
//! whatever they become. Nothing is ever filled in, not even a default.
//!
//! The validator's numbers are doubles and 64-bit integers. A literal with more digits is never refused for what was lost
//! on the way: bounds are compared again digit by digit, and what else depends on its exact value (`enum`, `const`,
//! `multipleOf`, `uniqueItems`) is left to the tool.

mod certain;
mod sentence;
mod sketch;

use std::collections::BTreeMap;

use crate::outline::InputKind;
use crate::template::Template;
use crate::value::Value;
use sketch::Sketch;

/// Kinds of the inputs by name.
pub type Inputs<'a> = BTreeMap<&'a str, InputKind>;

/// What is wrong with an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where, as in a recipe: `channel`, `items[0].name`; empty for the arguments as a whole.
    pub path: String,
    /// The keyword of the schema that it breaks, for instance `required` or `additionalProperties`.
    pub kind: String,
    /// One sentence that names the place.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// The names or texts that could stand there instead, where the schema has a list of them.
    pub expected: Vec<String>,
}

/// A tool's input schema, ready to hold arguments against. Making one costs more than using it.
#[derive(Debug)]
pub struct InputSchema {
    /// As the server wrote it; the validator's own has doubles for numbers.
    schema: Value,
    validator: jsonschema::Validator,
}

impl InputSchema {
    /// Reads a schema; any draft, `true` and `false` too. The error is what is broken in it, in a sentence: then the tool
    /// cannot be called, and the rest of its server can.
    pub fn new(schema: &Value) -> Result<InputSchema, String> {
        if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
            return Err(format!("a schema is an object, and this is {}", schema.kind()));
        }
        let patterns =
            jsonschema::PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS).size_limit(PATTERN_BYTES);
        let validator = jsonschema::options()
            .offline()
            .with_pattern_options(patterns)
            .build(&schema.to_serde_json())
            .map_err(|e| sentence::broken(&e))?;
        Ok(InputSchema { schema: schema.clone(), validator })
    }

    /// Holds arguments against the schema; a reference may become anything, or any value of its input's kind. By path.
    pub fn check(&self, args: &Template, inputs: &Inputs<'_>) -> Vec<Fault> {
        let sketch = Sketch::of(args, inputs);
        if self.validator.is_valid(sketch.json()) {
            return Vec::new();
        }
        let mut faults: Vec<Fault> = self
            .validator
            .iter_errors(sketch.json())
            .filter(|error| certain::holds(error, &sketch))
            .flat_map(|error| sentence::faults(&error, &sketch, &self.schema))
            .collect();
        faults.sort_by(|a, b| (&a.path, &a.message).cmp(&(&b.path, &b.message)));
        faults
    }

    /// Holds final arguments against the schema. The error says all that is wrong, a sentence each.
    pub fn validate(&self, args: &Value) -> Result<(), Vec<String>> {
        let faults = self.check(&Template::Lit(args.clone()), &Inputs::new());
        if faults.is_empty() { Ok(()) } else { Err(faults.into_iter().map(|fault| fault.message).collect()) }
    }
}

/// Holds arguments against a schema; a reference may become anything. The error is what is broken in the schema itself.
pub fn check(schema: &Value, args: &Template, inputs: &Inputs<'_>) -> Result<Vec<Fault>, String> {
    Ok(InputSchema::new(schema)?.check(args, inputs))
}

/// Whether two arguments are the same to every schema: the same literals, and in the places of references others that may
/// become as much. What holds of one holds of the other.
pub(crate) fn alike(a: &Template, b: &Template, inputs: &Inputs<'_>) -> bool {
    match (a, b) {
        (Template::Lit(a), Template::Lit(b)) => a == b,
        (Template::Ref(a), Template::Ref(b)) => sketch::kind_of(a, inputs) == sketch::kind_of(b, inputs),
        (Template::Text(_), Template::Text(_)) => true,
        (Template::List(a), Template::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b, inputs))
        }
        (Template::Object(a), Template::Object(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|((key, a), (other, b))| key == other && alike(a, b, inputs))
        }
        _ => false,
    }
}

/// How often a pattern may backtrack; beyond it the text counts as not matching.
const BACKTRACKS: usize = 100_000;
/// How large a pattern may get.
const PATTERN_BYTES: usize = 1 << 20;
