//! Which arguments a schema cannot tell apart, so that what passes once need not be held against it again.

use super::{Inputs, sketch};
use crate::template::Template;
use crate::value::Value;

/// Whether two arguments are the same to every schema: the same literals, and in the places of references others that may
/// become as much. What holds of one holds of the other.
pub(crate) fn alike(a: &Template, b: &Template, inputs: &Inputs<'_>) -> bool {
    compare(a, b, inputs, PartialEq::eq)
}

/// Whether two arguments are the same to every schema that [looks at shapes alone](looks_at_shapes): as [`alike`], but for
/// what texts, numbers and booleans are in them.
pub(crate) fn same_shape(a: &Template, b: &Template, inputs: &Inputs<'_>) -> bool {
    compare(a, b, inputs, literal_shape)
}

fn compare(
    a: &Template,
    b: &Template,
    inputs: &Inputs<'_>,
    literals: impl Fn(&Value, &Value) -> bool + Copy,
) -> bool {
    match (a, b) {
        (Template::Lit(a), Template::Lit(b)) => literals(a, b),
        (Template::Ref(a), Template::Ref(b)) => sketch::kind_of(a, inputs) == sketch::kind_of(b, inputs),
        (Template::Text(_), Template::Text(_)) => true,
        (Template::List(a), Template::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| compare(a, b, inputs, literals))
        }
        (Template::Object(a), Template::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b)
                    .all(|((key, a), (other, b))| key == other && compare(a, b, inputs, literals))
        }
        _ => false,
    }
}

fn literal_shape(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Text(_), Value::Text(_)) | (Value::Bool(_), Value::Bool(_)) | (Value::Null, Value::Null) => {
            true
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_str(), b.as_str());
            a == b || is_plain_integer(a) && is_plain_integer(b)
        }
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| literal_shape(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().zip(b.iter()).all(|((key, a), (other, b))| key == other && literal_shape(a, b))
        }
        _ => false,
    }
}

/// Whether a number is an integer to whoever reads it: a few digits, without fraction or exponent.
fn is_plain_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.len() <= 15 && digits.bytes().all(|b| b.is_ascii_digit()) && text != "-0"
}

/// Whether a schema asks of texts, numbers and booleans only which of them stand where. Where a keyword might ask more,
/// it does not.
pub(crate) fn looks_at_shapes(schema: &Value) -> bool {
    let Value::Object(keywords) = schema else { return matches!(schema, Value::Bool(_)) };
    keywords.iter().all(|(keyword, says)| match keyword {
        "$schema" | "title" | "description" | "default" | "examples" | "type" | "required" => true,
        "items" | "additionalProperties" => looks_at_shapes(says),
        "properties" => match says {
            Value::Object(members) => members.iter().all(|(_, member)| looks_at_shapes(member)),
            _ => false,
        },
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::schema::InputSchema;

    const LITERALS: &[&str] = &[
        "0",
        "7",
        "-3",
        "123456789012345",
        "-0",
        "1.0",
        "1.5",
        "1e2",
        "12345678901234567890123",
        "\"\"",
        "\"a\"",
        "\"1\"",
        "true",
        "false",
        "null",
        "[]",
        "{}",
        "[1]",
        "[2]",
        "[1,\"a\"]",
        "{\"a\":1}",
        "{\"a\":2}",
        "{\"b\":1}",
    ];

    const SCHEMAS: &[&str] = &[
        r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":["string","null"],"description":"words"}}}"#,
        r#"{"required":["a"],"additionalProperties":false,"properties":{"a":{"type":"number"},"b":{"default":1}}}"#,
        r#"{"properties":{"a":{"items":{"type":"integer"}},"b":{"additionalProperties":{"type":"boolean"}}}}"#,
        r#"{"additionalProperties":{"type":"object","required":["a"]}}"#,
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"type":"integer"},"b":{"type":"array"}}}"#,
        r#"{"properties":{"a":false,"b":true}}"#,
    ];

    fn arguments() -> impl Strategy<Value = Template> {
        let literal = || prop::sample::select(LITERALS).prop_map(|text| Value::parse(text).unwrap());
        prop::collection::btree_map(prop::sample::select(vec!["a", "b"]), literal(), 0..3).prop_map(
            |members| {
                let members = members.into_iter().map(|(key, value)| (key.to_owned(), Template::Lit(value)));
                Template::object(members.collect()).unwrap()
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        /// What has one shape is wrong alike, where shapes are all that the schema asks for.
        #[test]
        fn what_has_one_shape_passes_alike(a in arguments(), b in arguments(), schema in 0..SCHEMAS.len()) {
            let schema = Value::parse(SCHEMAS[schema]).unwrap();
            prop_assert!(looks_at_shapes(&schema));
            if same_shape(&a, &b, &Inputs::new()) {
                let schema = InputSchema::new(&schema).unwrap();
                let passes = |args| schema.check(args, &Inputs::new()).is_empty();
                prop_assert_eq!(passes(&a), passes(&b));
            }
        }
    }

    #[test]
    fn a_schema_that_may_ask_for_more_is_no_schema_of_shapes() {
        for schema in [
            r#"{"properties":{"a":{"enum":[1]}}}"#,
            r#"{"properties":{"a":{"const":1}}}"#,
            r#"{"properties":{"a":{"maximum":1}}}"#,
            r#"{"properties":{"a":{"type":"string","format":"date"}}}"#,
            r#"{"items":[{"type":"integer"}]}"#,
            r##"{"properties":{"a":{"$ref":"#/$defs/a"}}}"##,
            r#"{"additionalProperties":{"minLength":1}}"#,
            r#"{"anyOf":[{"type":"object"}]}"#,
            r#"{"not":{}}"#,
            r#"{"properties":[]}"#,
            "[]",
            "null",
        ] {
            assert!(!looks_at_shapes(&Value::parse(schema).unwrap()), "{schema}");
        }
    }

    #[test]
    fn a_shape_is_who_stands_where_and_of_what_sort() {
        let same = |a: &str, b: &str| {
            let lit = |text| Template::Lit(Value::parse(text).unwrap());
            same_shape(&lit(a), &lit(b), &Inputs::new())
        };
        assert!(same(r#"{"a":1,"b":["x"]}"#, r#"{"a":-20,"b":["y"]}"#));
        for (a, b) in [
            (r#"{"a":1}"#, r#"{"b":1}"#),
            (r#"{"a":1}"#, r#"{"a":1.5}"#),
            (r#"{"a":1.5}"#, r#"{"a":2.5}"#),
            (r#"{"a":1}"#, r#"{"a":"1"}"#),
            (r#"{"a":[1]}"#, r#"{"a":[1,2]}"#),
            (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
            (r#"{"a":null}"#, r#"{"a":false}"#),
            (r#"{"a":1}"#, r#"{"a":1234567890123456}"#),
        ] {
            assert!(!same(a, b), "{a} {b}");
        }
    }
}
