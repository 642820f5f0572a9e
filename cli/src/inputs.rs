//! Values of a run's inputs, from the command line.

use plangate_graph::Value;
use plangate_graph::outline::{Input, InputKind};
use plangate_graph::value::{Number, Object};

use crate::exit::Exit;
use crate::fault::Fault;
use crate::nearest::nearest;

/// Reads `name=value` for each input that is given. The result is an object of these and no others.
pub(crate) fn read(given: &[String], inputs: &[Input]) -> Result<Value, Fault> {
    let mut members: Vec<(String, Value)> = Vec::new();
    for text in given {
        let Some((name, value)) = text.split_once('=') else {
            let message = format!("--input {text:?} has no `=`");
            return Err(Fault::new(Exit::Usage, "input", message).help("write --input name=value"));
        };
        let name = name.trim();
        let Some(input) = inputs.iter().find(|input| input.name == name) else {
            return Err(unknown(name, inputs));
        };
        if members.iter().any(|(taken, _)| taken == name) {
            return Err(Fault::new(Exit::Usage, "input", format!("--input gives `{name}` twice")));
        }
        let wanted = |how: &str| {
            let message = format!("the input `{name}` takes {}, not {value:?}", words(input.kind));
            Fault::new(Exit::Usage, "input", message).help(format!("for instance --input {name}={how}"))
        };
        let value = match input.kind {
            InputKind::Text => Value::from(value),
            InputKind::Number => {
                Value::Number(Number::from_text(value.trim()).ok_or_else(|| wanted("12.50"))?)
            }
            InputKind::YesNo => match value.trim() {
                "yes" | "true" => Value::Bool(true),
                "no" | "false" => Value::Bool(false),
                _ => return Err(wanted("yes")),
            },
            InputKind::List => match Value::parse(value) {
                Ok(list @ Value::List(_)) => list,
                _ => return Err(wanted("'[\"one\", \"two\"]'")),
            },
        };
        members.push((name.to_owned(), value));
    }
    Object::new(members).map(Value::Object).map_err(|e| Fault::new(Exit::Internal, "internal", e.to_string()))
}

/// Inputs without a value and without a default are needed to run.
pub(crate) fn all_there(values: &Value, inputs: &[Input]) -> Result<(), Fault> {
    let missing: Vec<&Input> =
        inputs.iter().filter(|i| i.default.is_none() && values.member(&i.name).is_none()).collect();
    let Some(first) = missing.first() else { return Ok(()) };
    let names: Vec<String> = missing.iter().map(|i| format!("`{}` ({})", i.name, words(i.kind))).collect();
    let message = match names.as_slice() {
        [one] => format!("the run needs a value for its input {one}"),
        several => format!("the run needs values for its inputs {}", several.join(", ")),
    };
    Err(Fault::new(Exit::Usage, "input", message).help(format!("add --input {}=…", first.name)))
}

fn unknown(name: &str, inputs: &[Input]) -> Fault {
    let known: Vec<&str> = inputs.iter().map(|i| i.name.as_str()).collect();
    let fault = Fault::new(Exit::Usage, "input", format!("the recipe has no input {name:?}"));
    match (nearest(name, known.iter().copied()), known.as_slice()) {
        (Some(meant), _) => fault.help(format!("did you mean `{meant}`?")),
        (None, []) => fault.help("it has none"),
        (None, known) => fault.help(format!("it has: {}", known.join(", "))),
    }
}

fn words(kind: InputKind) -> &'static str {
    match kind {
        InputKind::Text => "text",
        InputKind::Number => "a number",
        InputKind::YesNo => "yes or no",
        InputKind::List => "a list",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    fn inputs() -> Vec<Input> {
        let input = |name: &str, kind, default| Input { name: name.into(), kind, default };
        vec![
            input("channel", InputKind::Text, Some(Value::from("#daily"))),
            input("limit", InputKind::Number, None),
            input("loud", InputKind::YesNo, None),
            input("tags", InputKind::List, None),
        ]
    }

    fn given(texts: &[&str]) -> Result<String, String> {
        let texts: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
        read(&texts, &inputs())
            .map(|v| v.to_string())
            .map_err(|f| format!("{} | {}", f.message, f.help.unwrap_or_default()))
    }

    #[test]
    fn each_kind_keeps_what_was_typed() {
        assert_eq!(
            given(&["channel=#a=b", "limit=1.10", "loud=no", "tags=[\"x\", 1e2]"]).unwrap(),
            r##"{"channel":"#a=b","limit":1.10,"loud":false,"tags":["x",1e2]}"##
        );
        assert_eq!(given(&[]).unwrap(), "{}");
    }

    #[test]
    fn what_does_not_fit_says_what_would() {
        assert_eq!(
            given(&["limit=many"]).unwrap_err(),
            "the input `limit` takes a number, not \"many\" | for instance --input limit=12.50"
        );
        assert!(given(&["loud=maybe"]).unwrap_err().contains("yes or no"));
        assert!(given(&["tags=a,b"]).unwrap_err().contains("a list"));
        assert_eq!(
            given(&["chanel=x"]).unwrap_err(),
            "the recipe has no input \"chanel\" | did you mean `channel`?"
        );
        assert!(given(&["channel"]).unwrap_err().contains("has no `=`"));
        assert!(given(&["limit=1", "limit=2"]).unwrap_err().contains("twice"));
    }

    #[test]
    fn what_has_no_default_is_needed() {
        let values = Value::parse(r#"{"limit":1}"#).unwrap();
        let fault = all_there(&values, &inputs()).unwrap_err();
        assert_eq!(
            &*fault.message,
            "the run needs values for its inputs `loud` (yes or no), `tags` (a list)"
        );
    }
}
