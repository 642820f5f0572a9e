//! Arguments held against input schemas, final and as far as they are known.
#![allow(clippy::unwrap_used, reason = "tests")]

use plangate_graph::outline::InputKind;
use plangate_graph::schema::{Fault, InputSchema, Inputs};
use plangate_graph::template::{Part, Ref, Segment, Source, Template};
use plangate_graph::value::Value;

fn schema(text: &str) -> InputSchema {
    InputSchema::new(&Value::parse(text).unwrap()).unwrap()
}

fn says(text: &str, args: &str) -> Vec<String> {
    schema(text).validate(&Value::parse(args).unwrap()).err().unwrap_or_default()
}

fn step(name: &str) -> Template {
    Template::Ref(Ref { source: Source::Step(name.into()), path: Vec::new() })
}

fn input(name: &str) -> Template {
    Template::Ref(Ref { source: Source::Input(name.into()), path: Vec::new() })
}

fn text(before: &str, name: &str) -> Template {
    let reference = Ref { source: Source::Step(name.into()), path: Vec::new() };
    Template::text(vec![Part::Lit(before.into()), Part::Ref(reference)])
}

fn lit(json: &str) -> Template {
    Template::Lit(Value::parse(json).unwrap())
}

fn object(members: Vec<(&str, Template)>) -> Template {
    Template::object(members.into_iter().map(|(k, t)| (k.to_owned(), t)).collect()).unwrap()
}

fn faults(text: &str, args: &Template) -> Vec<Fault> {
    let inputs: Inputs<'_> =
        [("t", InputKind::Text), ("n", InputKind::Number), ("b", InputKind::YesNo), ("l", InputKind::List)]
            .into();
    schema(text).check(args, &inputs)
}

fn messages(text: &str, args: &Template) -> Vec<String> {
    faults(text, args).into_iter().map(|fault| fault.message).collect()
}

const POST: &str = r#"{
    "type": "object",
    "properties": {
        "channel": {"type": "string", "pattern": "^#"},
        "text": {"type": "string", "maxLength": 20},
        "urgent": {"type": "boolean"},
        "mode": {"enum": ["plain", "markdown"]},
        "count": {"type": "integer", "minimum": 1},
        "to": {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": true}
    },
    "required": ["channel", "urgent"],
    "additionalProperties": false
}"#;

#[test]
fn final_arguments() {
    assert_eq!(
        says(POST, r##"{"channel":"#a","urgent":false,"mode":"plain","count":3,"to":["x"]}"##),
        [""; 0]
    );
    assert_eq!(
        says(POST, r#"{"channel":"a","text":5,"mode":"html","count":0,"to":[]}"#),
        [
            "`channel` is \"a\", and must match the pattern ^#",
            "`count` is 0, and must be at least 1",
            "`mode` is \"html\", and must be one of plain, markdown",
            "`text` is 5, and must be text",
            "`to` is a list, and must have at least 1 elements",
            "`urgent` is missing, and true and false are never assumed",
        ]
    );
    assert_eq!(says(POST, "[]"), ["what is given is a list, and must be an object"]);
}

#[test]
fn an_unknown_argument_is_told_its_neighbours() {
    let args = lit(r##"{"chanel":"#a","urgent":true,"channel":"#a"}"##);
    let found = faults(POST, &args);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].path.as_str(), found[0].kind.as_str()), ("chanel", "additionalProperties"));
    assert_eq!(found[0].message, "there is no argument `chanel`");
    assert_eq!(found[0].help.as_deref(), Some("did you mean \"channel\"?"));
    assert_eq!(found[0].expected, ["channel", "count", "mode", "text", "to", "urgent"]);
    // The same where another member is a reference.
    let args = object(vec![("chanel", step("s")), ("urgent", lit("true")), ("channel", step("s"))]);
    assert_eq!(messages(POST, &args), ["there is no argument `chanel`"]);
}

#[test]
fn a_missing_argument_is_missing_whatever_the_others_become() {
    let found = faults(POST, &object(vec![("channel", step("s"))]));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].message, "`urgent` is missing, and true and false are never assumed");
    assert_eq!(found[0].help.as_deref(), Some("say \"urgent\": true or \"urgent\": false"));
    let nested = r#"{"properties":{"item":{"properties":{"id":{}},"required":["id"]}}}"#;
    assert_eq!(
        messages(nested, &object(vec![("item", object(vec![("name", step("s"))]))])),
        ["`item.id` is missing"]
    );
}

#[test]
fn a_reference_may_become_anything() {
    let args = object(vec![
        ("channel", step("s")),
        ("urgent", step("s")),
        ("mode", step("s")),
        ("count", step("s")),
        ("to", step("s")),
        ("text", step("s")),
    ]);
    assert!(faults(POST, &args).is_empty());
    let list = object(vec![
        ("channel", lit("\"#a\"")),
        ("urgent", lit("true")),
        ("to", Template::list(vec![step("s"), lit("3")])),
    ]);
    assert_eq!(messages(POST, &list), ["`to[1]` is 3, and must be text"]);
    let place = Template::Ref(Ref { source: Source::Input("l".into()), path: vec![Segment::Index(0)] });
    let args = object(vec![("channel", place), ("urgent", lit("true"))]);
    assert!(faults(POST, &args).is_empty());
}

#[test]
fn of_inputs_and_of_texts_the_type_is_known() {
    let with = |name: &str, value: Template| {
        let mut members = vec![("channel", lit("\"#a\"")), ("urgent", lit("true"))];
        members.retain(|(known, _)| *known != name);
        members.push((name, value));
        messages(POST, &object(members))
    };
    assert_eq!(with("count", input("t")), ["`count` is text, and must be a whole number"]);
    assert!(with("count", input("n")).is_empty());
    assert_eq!(with("count", text("no ", "s")), ["`count` is text, and must be a whole number"]);
    assert_eq!(with("urgent", input("t")), ["`urgent` is text, and must be true or false"]);
    assert!(with("urgent", input("b")).is_empty());
    // Neither pattern, length nor list of values is held against what is not known.
    assert!(with("channel", text("no hash ", "s")).is_empty());
    assert!(with("text", text("a text that is longer than twenty characters ", "s")).is_empty());
    assert!(with("mode", input("t")).is_empty());
    assert!(with("to", input("l")).is_empty());
    assert_eq!(with("to", input("n")), ["`to` is a number, and must be a list"]);
    // Optional ones, as many generators write them.
    let optional = r#"{"properties":{"n":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}"#;
    assert_eq!(
        messages(optional, &object(vec![("n", input("t"))])),
        ["`n` is text, and fits none of the alternatives of the schema"]
    );
    assert!(messages(optional, &object(vec![("n", input("n"))])).is_empty());
    assert!(messages(optional, &object(vec![("n", step("s"))])).is_empty());
}

#[test]
fn what_hangs_on_the_unknown_is_not_held_against_it() {
    let conditional = r#"{
        "properties": {"mode": {}, "a": {}, "b": {}},
        "if": {"properties": {"mode": {"const": "x"}}},
        "then": {"required": ["a"]},
        "else": {"required": ["b"]}
    }"#;
    assert!(messages(conditional, &object(vec![("mode", step("s"))])).is_empty());
    assert_eq!(messages(conditional, &lit(r#"{"mode":"x"}"#)), ["`a` is missing"]);
    let union = r#"{"oneOf":[
        {"properties":{"kind":{"const":"a"}},"required":["kind","x"]},
        {"properties":{"kind":{"const":"b"}},"required":["kind","y"]}
    ]}"#;
    assert!(messages(union, &object(vec![("kind", step("s")), ("x", lit("1"))])).is_empty());
    assert_eq!(messages(union, &object(vec![("kind", step("s"))])).len(), 1);
    let never = r#"{"not":{"properties":{"x":{"const":1}},"required":["x"]}}"#;
    assert!(messages(never, &object(vec![("x", step("s"))])).is_empty());
    let unique = r#"{"properties":{"l":{"uniqueItems":true,"contains":{"const":1}}}}"#;
    assert!(messages(unique, &object(vec![("l", Template::list(vec![step("a"), step("b")]))])).is_empty());
}

#[test]
fn digits_that_the_validator_does_not_keep_refuse_nothing() {
    let number = |keywords: &str| format!(r#"{{"properties":{{"n":{{"type":"number",{keywords}}}}}}}"#);
    for (keywords, n) in [
        (r#""minimum":0"#, "1e400"),
        (r#""maximum":0"#, "-1e400"),
        (r#""minimum":0"#, "1e-400"),
        (r#""exclusiveMinimum":0"#, "1e-400"),
        (r#""enum":[12345678901234567890123]"#, "12345678901234567890123"),
        (r#""const":0.1000000000000000000001"#, "0.1000000000000000000001"),
        (r#""multipleOf":0.01"#, "12345678901234567890123.01"),
        (r#""minimum":100"#, "100.00000000000000000001"),
        (r#""exclusiveMinimum":100"#, "100.00000000000000000001"),
        (r#""multipleOf":1"#, "9007199254740993"),
    ] {
        let found = says(&number(keywords), &format!(r#"{{"n":{n}}}"#));
        assert!(found.is_empty(), "{keywords} {n}: {found:?}");
    }
    assert_eq!(says(&number(r#""maximum":10"#), r#"{"n":1e400}"#), ["`n` is 1e400, and must be at most 10"]);
    // What is said is what was written, on both sides.
    for (schema, args, said) in [
        (r#""maximum":1.0"#, r#"{"n":1.10}"#, "`n` is 1.10, and must be at most 1.0"),
        (r#""minimum":2e1"#, r#"{"n":1E1}"#, "`n` is 1E1, and must be at least 2e1"),
        (r#""exclusiveMaximum":0.50"#, r#"{"n":0.50}"#, "`n` is 0.50, and must be less than 0.50"),
        (r#""multipleOf":0.20"#, r#"{"n":-1.10}"#, "`n` is -1.10, and must be a multiple of 0.20"),
        (r#""const":3.00"#, r#"{"n":1.10}"#, "`n` is 1.10, and must be 3.00"),
        (r#""enum":[1.50,2e0]"#, r#"{"n":1.10}"#, "`n` is 1.10, and must be one of 1.50, 2e0"),
        (r#""type":"string""#, r#"{"n":1.10}"#, "`n` is 1.10, and must be text"),
    ] {
        let whole = format!(r#"{{"properties":{{"n":{{{schema}}}}}}}"#);
        assert_eq!(says(&whole, args), [said]);
    }
    assert_eq!(
        says(r#"{"properties":{"n":{"type":"string"}}}"#, r#"{"n":1e400}"#),
        ["`n` is 1e400, and must be text"]
    );
    assert_eq!(says(r#"{"properties":{"n":{"type":"integer"}}}"#, r#"{"n":1e400}"#), [""; 0]);
}

#[test]
fn boolean_and_empty_schemas() {
    assert!(says("true", r#"{"a":1}"#).is_empty());
    assert!(says("{}", r#"{"a":1}"#).is_empty());
    assert_eq!(says("false", "{}").len(), 1);
    assert_eq!(says(r#"{"properties":{"a":false}}"#, r#"{"a":1}"#), ["`a` is 1, and must not be there"]);
}

#[test]
fn a_broken_schema_is_an_error_with_a_reason() {
    for (text, part) in [
        ("3", "a schema is an object"),
        (r#"{"type":"strin"}"#, "at `type`"),
        (r#"{"properties":{"a":{"required":true}}}"#, "at `properties.a.required`"),
        (r#"{"properties":{"a":{"pattern":"("}}}"#, "pattern"),
        (r#"{"$ref":"https://example.com/s.json"}"#, "none leaves the schema"),
        (r#"{"$ref":"file:///etc/hostname"}"#, "none leaves the schema"),
        (r##"{"$ref":"#/nowhere"}"##, "cannot be followed"),
        (r#"{"$schema":"https://example.com/mine"}"#, "meta-schema"),
    ] {
        let error = InputSchema::new(&Value::parse(text).unwrap()).expect_err(text);
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn references_within_the_schema_are_followed_and_may_go_in_circles() {
    let defs = r##"{"$defs":{"yes":{"type":"boolean"}},"properties":{"b":{"$ref":"#/$defs/yes"}},"required":["b"]}"##;
    assert_eq!(says(defs, "{}"), ["`b` is missing, and true and false are never assumed"]);
    for circle in [
        r##"{"$ref":"#"}"##,
        r##"{"allOf":[{"$ref":"#"}]}"##,
        r##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"properties":{"x":{"$ref":"#/$defs/a"}}}"##,
        r##"{"properties":{"x":{"$ref":"#"}}}"##,
    ] {
        assert!(says(circle, r#"{"x":{"x":{}}}"#).is_empty(), "{circle}");
    }
}
