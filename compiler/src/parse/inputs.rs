//! The lines of `inputs:`.

use plangate_graph::outline::InputKind;
use plangate_graph::value::{Number, Value};

use super::Parser;
use super::lines::Line;
use crate::characters::shown;
use crate::diagnostic::{Finding, code};
use crate::grammar;
use crate::recipe::{Arg, Input, Name};
use crate::source::Place;
use crate::suggest::Suggester;
use crate::tokens::Shape;

const KINDS: [(&str, InputKind); 4] = [
    ("text", InputKind::Text),
    ("number", InputKind::Number),
    ("yes/no", InputKind::YesNo),
    ("list", InputKind::List),
];

/// What people and models write instead.
const INSTEAD: [(&str, &str); 12] = [
    ("string", "text"),
    ("str", "text"),
    ("int", "number"),
    ("integer", "number"),
    ("float", "number"),
    ("bool", "yes/no"),
    ("boolean", "yes/no"),
    ("yes-no", "yes/no"),
    ("yesno", "yes/no"),
    ("array", "list"),
    ("strings", "list"),
    ("lists", "list"),
];

const SHAPE: &str = "an input is written `name: text`, or with a default `name: text = \"…\"`; kinds are `text`, `number`, `yes/no` and `list`";

impl Parser<'_> {
    pub(super) fn input_line(&mut self, line: Line, shape: Shape) {
        let (name, rest) = match shape {
            Shape::Step { name: label, rest } | Shape::Misnamed { label, rest } => {
                (self.checked_name(label), rest)
            }
            Shape::Header(_) | Shape::Question { .. } | Shape::Other => {
                self.report(
                    Finding::error(code::INPUT_SHAPE, "this line is no input")
                        .at(line.content, "")
                        .help(SHAPE),
                );
                self.skip_deeper(line.indent);
                return;
            }
        };
        let rest = self.source.trim(rest);
        let Some((kind_place, default)) = grammar::input(self.slice(rest), rest.start) else {
            let (message, at) = match self.slice(rest) {
                "" => ("this input has no kind", line.content),
                _ => ("this is not a kind of input", rest),
            };
            self.report(Finding::error(code::INPUT_SHAPE, message).at(at, "").help(SHAPE));
            self.skip_deeper(line.indent);
            self.recipe.inputs.extend(name.map(|name| Input { name, kind: None, default: None }));
            return;
        };
        let kind = self.kind(kind_place);
        let default = default.and_then(|place| self.default(place, kind, line));
        while let Some(below) = self.take_deeper(line.indent) {
            self.report(
                Finding::error(code::STRAY_LINE, "this line belongs to no input")
                    .at(below.content, "")
                    .help("inputs have no settings"),
            );
        }
        self.recipe.inputs.extend(name.map(|name: Name| Input { name, kind, default }));
    }

    fn kind(&mut self, place: Place) -> Option<InputKind> {
        let word = self.slice(place);
        if let Some((_, kind)) = KINDS.iter().find(|(text, _)| *text == word) {
            return Some(*kind);
        }
        let lower = word.to_lowercase();
        let instead = INSTEAD.iter().find(|(other, _)| *other == lower).map(|(_, text)| *text);
        let meant = instead
            .or_else(|| {
                Suggester::new().nearest(&lower, KINDS.iter().map(|(text, _)| *text)).map(|near| near.name)
            })
            .or_else(|| KINDS.iter().find(|(text, _)| *text == lower).map(|(text, _)| *text));
        let finding = Finding::error(code::INPUT_SHAPE, format!("there is no input kind {}", shown(word)))
            .at(place, "");
        self.report(match meant {
            Some(text) => finding.help(format!("did you mean `{text}`?")).fix(place, text),
            None => finding.help(SHAPE),
        });
        meant.and_then(|text| KINDS.iter().find(|(t, _)| *t == text)).map(|(_, kind)| *kind)
    }

    fn default(&mut self, place: Place, kind: Option<InputKind>, line: Line) -> Option<Value> {
        let place = self.source.trim(place);
        let text = self.slice(place);
        if kind == Some(InputKind::YesNo) && matches!(text, "yes" | "no") {
            return Some(Value::Bool(text == "yes"));
        }
        let wanted = match kind {
            Some(InputKind::Text) => "text in double quotes",
            Some(InputKind::Number) => "a number",
            Some(InputKind::YesNo) => "`yes` or `no`",
            Some(InputKind::List) => "a list, `[…]`",
            None => "JSON",
        };
        let wrong = || {
            Finding::error(code::INPUT_DEFAULT, format!("the default is not {wanted}"))
                .help("a default is literal JSON")
        };
        if text.is_empty() {
            self.report(wrong().at(line.content, "nothing follows the `=`"));
            return None;
        }
        if !text.starts_with(['"', '\'', '[', '{', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
            && !matches!(text, "true" | "false" | "null")
        {
            let finding = wrong().at(place, "");
            self.report(if kind == Some(InputKind::Text) {
                finding.fix(place, Value::from(text).to_string())
            } else {
                finding
            });
            return None;
        }
        let (value, rest) = self.json_value(place, line.indent, false);
        let rest = self.source.trim(rest);
        let Some(Arg::Lit(value)) = value else { return None };
        if !self.slice(rest).is_empty() {
            self.report(
                Finding::error(code::INPUT_SHAPE, "something follows the default").at(rest, "").help(SHAPE),
            );
            return None;
        }
        let fits = match kind {
            Some(InputKind::Text) => matches!(value, Value::Text(_)),
            Some(InputKind::Number) => matches!(value, Value::Number(_)),
            Some(InputKind::YesNo) => matches!(value, Value::Bool(_)),
            Some(InputKind::List) => matches!(value, Value::List(_)),
            None => true,
        };
        if fits {
            return Some(value);
        }
        let finding = wrong().at(place, format!("this is {}", value.kind()));
        self.report(match (kind, value.text()) {
            (Some(InputKind::Number), Some(text)) if Number::from_text(text).is_some() => {
                finding.fix(place, text)
            }
            (Some(InputKind::YesNo), Some("yes" | "true")) => finding.fix(place, "yes"),
            (Some(InputKind::YesNo), Some("no" | "false")) => finding.fix(place, "no"),
            (Some(InputKind::Text), None) => finding.fix(place, Value::from(self.slice(place)).to_string()),
            _ => finding,
        });
        None
    }
}
