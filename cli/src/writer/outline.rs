//! The writer that is always there: it lays the inputs out under headings, and says that it is not a model.

use crate::render::put::Put as _;
use plangate_executor::tools::Sentence;
use plangate_executor::{Cancel, ReadError, Writer};
use plangate_graph::Value;
use plangate_graph::template::in_text;

/// Lays inputs out under headings. What it writes begins by saying so.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outline;

/// The first line of everything it writes.
const SAYS_SO: &str = "(An outline: no model wrote this, plangate only laid the inputs out.)";

impl Writer for Outline {
    fn write(&self, sentence: &Sentence<'_>, _: &Cancel) -> Result<Value, ReadError> {
        let mut out = format!("{SAYS_SO}\n{}\n", sentence.instruction);
        for input in sentence.inputs {
            out.put(format_args!("\n## {}\n", input.name));
            match &input.value {
                Ok(value) => lay_out(value, "", &mut out),
                Err(why) => out.put(format_args!("(missing: {why})\n")),
            }
        }
        Ok(Value::from(out.trim_end()))
    }
}

/// A list has a line for each element, an object one for each member, text its own lines.
fn lay_out(value: &Value, indent: &str, out: &mut String) {
    match value {
        Value::List(items) if items.is_empty() => out.put(format_args!("{indent}(nothing)\n")),
        Value::List(items) => {
            for item in items {
                out.put(format_args!("{indent}- {}\n", line(item)));
            }
        }
        Value::Object(object) if object.is_empty() => out.put(format_args!("{indent}(nothing)\n")),
        Value::Object(object) => {
            for (name, member) in object.iter() {
                match member {
                    Value::List(_) | Value::Object(_) => {
                        out.put(format_args!("{indent}{name}:\n"));
                        lay_out(member, &format!("{indent}  "), out);
                    }
                    other => out.put(format_args!("{indent}{name}: {}\n", in_text(other))),
                }
            }
        }
        other => in_text(other).trim_end().lines().for_each(|l| out.put(format_args!("{indent}{l}\n"))),
    }
}

/// An element on a line of its own.
fn line(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            object.iter().map(|(k, v)| format!("{k}: {}", in_text(v))).collect::<Vec<_>>().join(", ")
        }
        other => in_text(other),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;
    use plangate_executor::tools::SentenceInput;

    #[test]
    fn lays_out_and_says_that_it_is_no_model() {
        let input = |name: &str, json: &str| SentenceInput {
            name: name.into(),
            value: Ok(Value::parse(json).unwrap()),
        };
        let inputs = [
            input(
                "calendar",
                r#"{"events":[{"at":"09:00","title":"standup"},{"at":"11:30","title":"1:1"}]}"#,
            ),
            input("mail.count", "2.50"),
            input("note", "\"two\\nlines\""),
            input("none", "[]"),
            SentenceInput { name: "slack".into(), value: Err("timed out".into()) },
        ];
        let sentence =
            Sentence { instruction: "write a briefing from {calendar, mail.count}", inputs: &inputs };
        let written = Outline.write(&sentence, &Cancel::new(None)).unwrap();
        assert_eq!(
            written.text().unwrap(),
            "(An outline: no model wrote this, plangate only laid the inputs out.)\nwrite a briefing from {calendar, \
             mail.count}\n\n## calendar\nevents:\n  - at: 09:00, title: standup\n  - at: 11:30, title: 1:1\n\n## mail.count\n2.50\n\n## \
             note\ntwo\nlines\n\n## none\n(nothing)\n\n## slack\n(missing: timed out)"
        );
    }
}
