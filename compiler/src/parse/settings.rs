//! Settings of a step, and `need:`.

use plangate_graph::outline::BlockKind;

use super::Parser;
use super::lines::Line;
use crate::characters::shown;
use crate::diagnostic::{Finding, code};
use crate::grammar;
use crate::recipe::{NeedLine, Settings};
use crate::source::Place;
use crate::suggest::Suggester;
use crate::tokens::{Shape, Unit};

/// The longest timeout: a day.
const LONGEST_MS: u64 = 24 * 60 * 60 * 1000;
/// The most retries.
const MOST_RETRIES: u32 = 100;

const SETTINGS: [&str; 3] = ["timeout", "retry", "after"];

/// What people and models write instead.
const INSTEAD: [(&str, &str); 9] = [
    ("retries", "retry"),
    ("attempts", "retry"),
    ("deadline", "timeout"),
    ("max_time", "timeout"),
    ("depends_on", "after"),
    ("depends-on", "after"),
    ("needs", "after"),
    ("requires", "after"),
    ("wait_for", "after"),
];

impl Parser<'_> {
    /// Reads a line as a setting, if it begins like one.
    pub(super) fn setting(&mut self, line: Line, settings: &mut Settings) -> bool {
        let Shape::Step { name, rest } = grammar::block_line(self.slice(line.content), line.content.start)
        else {
            return false;
        };
        let word = self.name(name).text;
        let rest = self.source.trim(rest);
        match word.as_str() {
            "timeout" => {
                let timeout = self.timeout(rest, line);
                self.once(settings.timeout_ms.is_some(), "timeout", line);
                settings.timeout_ms = settings.timeout_ms.or(timeout);
            }
            "retry" => {
                let retry = self.retry(rest, line);
                self.once(settings.retry.is_some(), "retry", line);
                settings.retry = settings.retry.or(retry.map(|n| (n, line.content)));
            }
            "after" => self.after(rest, line, settings),
            _ => return false,
        }
        true
    }

    /// Whether a line below a call was meant as a setting that does not exist; if so, says it.
    pub(super) fn unknown_setting(&mut self, name: Place, rest: Place) -> bool {
        let word = self.slice(name);
        let instead = INSTEAD.iter().find(|(other, _)| *other == word).map(|(_, setting)| *setting);
        let meant = instead.or_else(|| Suggester::new().nearest(word, SETTINGS).map(|near| near.name));
        let finding = Finding::error(code::UNKNOWN_SETTING, format!("there is no setting {}", shown(word)))
            .at(name, "");
        if let Some(meant) = meant {
            self.report(finding.help(format!("did you mean `{meant}:`?")).fix(name, meant));
            return true;
        }
        // A step indented too far has more to say than a setting.
        let value = self.slice(self.source.trim(rest));
        if value.is_empty() || value.contains(' ') || value.contains('{') {
            return false;
        }
        self.report(finding.help("settings are `timeout:`, `retry:` and `after:`"));
        true
    }

    fn once(&mut self, before: bool, word: &str, line: Line) {
        if before {
            self.report(
                Finding::error(code::SETTING_TWICE, format!("`{word}:` stands twice below one step"))
                    .at(line.content, "")
                    .help("take one of them out"),
            );
        }
    }

    fn timeout(&mut self, rest: Place, line: Line) -> Option<u64> {
        let text = self.slice(rest);
        let bad = |help: &str| {
            Finding::error(
                code::SETTING_VALUE,
                match text {
                    "" => "`timeout:` has no time".to_owned(),
                    _ => format!("{} is not a time", shown(text)),
                },
            )
            .at(if text.is_empty() { line.content } else { rest }, "")
            .help(help)
        };
        let Some((digits, unit)) = grammar::duration(text, rest.start) else {
            self.report(bad("write a whole number and `ms`, `s`, `m` or `h`: `timeout: 20s`"));
            return None;
        };
        let factor = match unit {
            Unit::Milliseconds => 1,
            Unit::Seconds => 1_000,
            Unit::Minutes => 60_000,
            Unit::Hours => 3_600_000,
        };
        let ms = self.slice(digits).parse::<u64>().ok().and_then(|n| n.checked_mul(factor));
        match ms {
            Some(ms @ 1..=LONGEST_MS) => Some(ms),
            Some(0) => {
                self.report(bad("nothing ends in no time; leave the line out for the default"));
                None
            }
            _ => {
                self.report(bad("the longest timeout is `24h`"));
                None
            }
        }
    }

    fn retry(&mut self, rest: Place, line: Line) -> Option<u32> {
        let text = self.slice(rest);
        let number = grammar::count(text, rest.start).and_then(|digits| self.slice(digits).parse().ok());
        if let Some(number @ 0..=MOST_RETRIES) = number {
            return Some(number);
        }
        self.report(
            Finding::error(
                code::SETTING_VALUE,
                match text {
                    "" => "`retry:` has no number".to_owned(),
                    _ => format!("{} is not a number of retries", shown(text)),
                },
            )
            .at(if text.is_empty() { line.content } else { rest }, "")
            .help(format!("write how often the call may be tried again, at most {MOST_RETRIES}: `retry: 2`")),
        );
        None
    }

    fn after(&mut self, rest: Place, line: Line, settings: &mut Settings) {
        if self.slice(rest).is_empty() {
            self.report(
                Finding::error(code::SETTING_VALUE, "`after:` names no step")
                    .at(line.content, "")
                    .help("write the steps to wait for: `after: tests, lint`"),
            );
        }
        let mut start = rest.start;
        let text = self.slice(rest);
        for part in text.split(',').filter(|_| !text.is_empty()) {
            let place = self.source.trim(Place::new(start, start + part.len()));
            start += part.len() + 1;
            if place.start == place.end {
                self.report(
                    Finding::error(code::SETTING_VALUE, "a name is missing beside the comma").at(rest, ""),
                );
                continue;
            }
            // A block's name has no spaces either, so whatever is no name here is a slip.
            if let Some(name) = self.checked_name(place)
                && !settings.after.iter().any(|other| other.text == name.text)
            {
                settings.after.push(name);
            }
        }
    }

    /// The line `need: k of n`.
    pub(super) fn need(&mut self, line: Line, rest: Place, block: usize, kind: BlockKind) {
        self.skip_deeper(line.indent);
        let rest = self.source.trim(rest);
        let first = self.open.is_some_and(|open| open.lines == 1 && !open.need);
        if kind != BlockKind::Then {
            self.report(
                Finding::error(code::NEED_BLOCK, "`need:` stands in a block that is no `then:`")
                    .at(line.content, "")
                    .help("`need: k of n` says how many of the steps that a `then:` reads must succeed; write it there, as the first line"),
            );
            return;
        }
        if !first {
            self.report(
                Finding::error(code::NEED_PLACE, "`need:` is not the first line of its `then:`")
                    .at(line.content, "")
                    .help("move it up: it governs every step of its block, and there is one of it"),
            );
            self.mark_broken();
            return;
        }
        // It is no step: a block with nothing else is empty.
        if let Some(open) = &mut self.open {
            open.lines = 0;
            open.need = true;
        }
        let numbers = grammar::need(self.slice(rest), rest.start)
            .and_then(|(k, n)| Some((self.slice(k).parse().ok()?, self.slice(n).parse().ok()?)));
        let Some((k, n)) = numbers else {
            self.report(
                Finding::error(code::NEED_SHAPE, format!("{} is not a `need`", shown(self.slice(rest))))
                    .at(if rest.start == rest.end { line.content } else { rest }, "")
                    .help("write two whole numbers: `need: 2 of 3`"),
            );
            self.mark_broken();
            return;
        };
        if let Some(block) = self.recipe.blocks.get_mut(block) {
            block.need = Some(NeedLine { place: line.content, k, n });
        }
    }
}
