//! The tests of `check:`.

use super::Parser;
use crate::characters::shown;
use crate::diagnostic::{Finding, code};
use crate::grammar;
use crate::recipe::{Arg, Body, Check, TextPart};
use crate::source::Place;
use crate::tokens::TestWord;
use plangate_graph::value::Value;

/// What people and models write instead.
const INSTEAD: [(&str, &str); 12] = [
    ("==", "is"),
    ("=", "is"),
    ("equals", "is"),
    ("eq", "is"),
    ("!=", "is not"),
    ("<>", "is not"),
    ("isn't", "is not"),
    ("includes", "contains"),
    ("has", "contains"),
    ("exists", "is not empty"),
    ("not empty", "is not empty"),
    ("empty", "is empty"),
];

const TESTS: &str =
    "the tests are `is empty`, `is not empty`, `is …`, `is not …`, `> …`, `< …` and `contains …`";

impl Parser<'_> {
    /// What follows the `-` of a check.
    pub(super) fn check(&mut self, words: Place) -> Body {
        let Some(line) = grammar::check(self.slice(words), words.start) else {
            self.report(
                Finding::error(code::CHECK_SHAPE, "a check begins with what is tested, in braces")
                    .at(words, "")
                    .help(format!("write `- {{mail.messages}} is not empty`; {TESTS}")),
            );
            return Body::Broken;
        };
        let Some(left) = self.reference(&line.left) else { return Body::Broken };
        let rest = self.source.trim(line.rest);
        let Some(test) = line.test else {
            self.unknown_test(rest, words);
            return Body::Broken;
        };
        let right = match test {
            TestWord::IsEmpty | TestWord::IsNotEmpty => {
                if self.slice(rest).is_empty() {
                    return Body::Check(Check { left, test, right: None });
                }
                self.report(
                    Finding::error(code::TEST_VALUE, "something follows the test")
                        .at(rest, "")
                        .help("one check is one test; write another line for another test"),
                );
                return Body::Broken;
            }
            _ => self.right(rest, words),
        };
        let Some(right) = right else { return Body::Broken };
        if matches!(test, TestWord::Greater | TestWord::Less)
            && let Arg::Lit(value) = &right
            && !matches!(value, Value::Number(_))
        {
            self.report(
                Finding::error(code::TEST_VALUE, "`>` and `<` compare numbers")
                    .at(rest, format!("this is {}", value.kind())),
            );
            return Body::Broken;
        }
        Body::Check(Check { left, test, right: Some(right) })
    }

    fn right(&mut self, rest: Place, words: Place) -> Option<Arg> {
        let text = self.slice(rest);
        if text.is_empty() {
            self.report(
                Finding::error(code::TEST_VALUE, "the test lacks what to compare with")
                    .at(words.after(), "a value is expected here")
                    .help("write JSON, for instance `\"done\"` or `3`, or a reference, `{limit}`"),
            );
            return None;
        }
        if let Some(raw) = grammar::only_reference(text, rest.start) {
            return Some(Arg::Text(vec![TextPart::Ref(self.reference(&raw)?)]));
        }
        let bare =
            text.starts_with(|c: char| c.is_alphabetic()) && !matches!(text, "true" | "false" | "null");
        if bare {
            let finding =
                Finding::error(code::TEST_VALUE, format!("{} is not a value", shown(text))).at(rest, "");
            self.report(if matches!(text, "yes" | "no") {
                finding.help("a `yes/no` is `true` or `false`; text stands in double quotes")
            } else {
                finding.help("text stands in double quotes").fix(rest, Value::from(text).to_string())
            });
            return None;
        }
        // A check is one line: nothing below it is deeper than everything.
        let (value, after) = self.json_value(rest, usize::MAX, true);
        let after = self.source.trim(after);
        let value = value?;
        if self.slice(after).is_empty() {
            return Some(value);
        }
        self.report(
            Finding::error(code::TEST_VALUE, "something follows the value")
                .at(after, "")
                .help("one check is one test; write another line for another test"),
        );
        None
    }

    fn unknown_test(&mut self, rest: Place, words: Place) {
        let written = self.slice(rest);
        let word = written.split_whitespace().next().unwrap_or_default();
        let finding = if written.is_empty() {
            Finding::error(code::UNKNOWN_TEST, "a test is missing")
                .at(words.after(), "a test is expected here")
        } else {
            Finding::error(code::UNKNOWN_TEST, format!("there is no test {}", shown(word)))
                .at(Place::new(rest.start, rest.start + word.len()), "")
        };
        let meant = INSTEAD.iter().find(|(other, _)| {
            written
                .strip_prefix(other)
                .is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '='))
        });
        self.report(match meant {
            Some((other, test)) => finding
                .help(format!("did you mean `{test}`?"))
                .fix(Place::new(rest.start, rest.start + other.len()), *test),
            None => finding.help(TESTS),
        });
    }
}
