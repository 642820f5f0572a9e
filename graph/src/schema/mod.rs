//! Arguments held against a tool's input schema, as far as they are known.
//!
//! The validator is `jsonschema`, without network or files: a `$ref` leaves the schema nowhere. What it does not know is
//! what a reference will become; so references stand in as placeholders, and of its errors only those count that hold
//! whatever they become. Nothing is ever filled in, not even a default.
//!
//! The validator's numbers are doubles and 64-bit integers. A literal with more digits is never refused for what was lost
//! on the way: bounds are compared again digit by digit, and what else depends on its exact value (`enum`, `const`,
//! `multipleOf`, `uniqueItems`) is left to the tool.

mod alike;
mod certain;
mod sentence;
mod sketch;

use std::collections::BTreeMap;

use crate::outline::InputKind;
use crate::template::Template;
use crate::value::Value;
pub(crate) use alike::{alike, looks_at_shapes, same_shape};
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
        if self.validator.is_valid(&sketch::seen(args)) {
            return Ok(());
        }
        let faults = self.check(&Template::Lit(args.clone()), &Inputs::new());
        if faults.is_empty() { Ok(()) } else { Err(faults.into_iter().map(|fault| fault.message).collect()) }
    }
}

/// Holds arguments against a schema; a reference may become anything. The error is what is broken in the schema itself.
pub fn check(schema: &Value, args: &Template, inputs: &Inputs<'_>) -> Result<Vec<Fault>, String> {
    Ok(InputSchema::new(schema)?.check(args, inputs))
}

/// How often a pattern may backtrack; beyond it the text counts as not matching.
const BACKTRACKS: usize = 100_000;
/// How large a pattern may get.
const PATTERN_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]
    use proptest::prelude::*;

    use super::*;
    use crate::template::{Part, Ref, Source};

    fn reference(source: Source) -> Template {
        Template::Ref(Ref { source, path: Vec::new() })
    }

    fn leaf() -> impl Strategy<Value = Template> {
        let text = |r: &str| Template::Text(vec![Part::Lit("a ".into()), Part::Ref(named(r))]);
        prop_oneof![
            prop::sample::select(vec![
                "1",
                "1.0",
                "30",
                "\"a\"",
                "\"list\"",
                "true",
                "null",
                "[]",
                "{\"a\":1}"
            ])
            .prop_map(|literal| Template::Lit(Value::parse(literal).unwrap())),
            prop::sample::select(vec!["one", "other"]).prop_map(|step| reference(Source::Step(step.into()))),
            prop::sample::select(vec!["words", "lines", "number", "switch"])
                .prop_map(|input| reference(Source::Input(input.into()))),
            prop::sample::select(vec!["one", "other"]).prop_map(text),
        ]
    }

    fn named(step: &str) -> Ref {
        Ref { source: Source::Step(step.into()), path: Vec::new() }
    }

    fn arguments() -> impl Strategy<Value = Template> {
        let member = (prop::sample::select(vec!["a", "b", "list"]), leaf());
        let listed = prop::collection::vec(leaf(), 0..3).prop_map(|items| ("list", Template::list(items)));
        prop::collection::vec(prop_oneof![member, listed], 0..4).prop_map(|members| {
            let members: BTreeMap<_, _> = members.into_iter().collect();
            Template::object(members.into_iter().map(|(key, t)| (key.to_owned(), t)).collect()).unwrap()
        })
    }

    /// The same with other references in their places.
    fn renamed(of: &Template) -> Template {
        let other = |r: &Ref| match &r.source {
            Source::Input(name) if name == "words" => Source::Input("lines".into()),
            Source::Step(_) => Source::Step("another".into()),
            Source::Input(name) => Source::Input(name.clone()),
        };
        match of {
            Template::Lit(value) => Template::Lit(value.clone()),
            Template::Ref(r) => reference(other(r)),
            Template::Text(_) => Template::Text(vec![Part::Ref(named("another")), Part::Lit(" b".into())]),
            Template::List(items) => Template::list(items.iter().map(renamed).collect()),
            Template::Object(members) => {
                Template::object(members.iter().map(|(key, t)| (key.clone(), renamed(t))).collect()).unwrap()
            }
        }
    }

    proptest! {
        /// What is alike is wrong alike, whatever the schema asks.
        #[test]
        fn what_is_alike_passes_alike(args in arguments()) {
            let inputs = Inputs::from([
                ("words", InputKind::Text),
                ("lines", InputKind::Text),
                ("number", InputKind::Number),
                ("switch", InputKind::YesNo),
            ]);
            let other = renamed(&args);
            prop_assert!(alike(&args, &other, &inputs));
            for schema in [
                r#"{"properties":{"a":{"type":"integer"},"b":{"type":"string"},"list":{"items":{"type":"boolean"}}}}"#,
                r#"{"required":["a"],"additionalProperties":false,"properties":{"a":{"enum":["a","list",1]}}}"#,
                r#"{"properties":{"list":{"uniqueItems":true,"maxItems":1,"contains":{"type":"number"}}},"minProperties":1}"#,
                r#"{"if":{"properties":{"a":{"const":1}}},"then":{"required":["b"]},"else":{"not":{"required":["b"]}}}"#,
            ] {
                let schema = InputSchema::new(&Value::parse(schema).unwrap()).unwrap();
                prop_assert_eq!(schema.check(&args, &inputs), schema.check(&other, &inputs));
            }
        }
    }

    #[test]
    fn a_reference_is_alike_to_what_may_become_as_much() {
        let inputs =
            Inputs::from([("words", InputKind::Text), ("lines", InputKind::Text), ("n", InputKind::Number)]);
        let input = |name: &str| reference(Source::Input(name.into()));
        let step = |name: &str| reference(Source::Step(name.into()));
        assert!(alike(&step("a"), &step("b"), &inputs));
        assert!(alike(&input("words"), &input("lines"), &inputs));
        assert!(!alike(&input("words"), &input("n"), &inputs));
        assert!(!alike(&input("words"), &step("a"), &inputs));
        assert!(!alike(&step("a"), &Template::Lit(Value::Null), &inputs));
    }
}
