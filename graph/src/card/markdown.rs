//! The card as Markdown, for places that render it: chats, pull requests, issue trackers.

use std::fmt::Write as _;

use super::text::{after_words, arg_words, heading, input_words};
use super::{Card, Line, What};
use crate::problem::Severity;

impl Card {
    /// Markdown. Text from the recipe stands in code spans, so that it cannot become markup.
    pub fn to_markdown(&self) -> String {
        let mut out = String::from("### Here's how I'd run that\n\n");
        for input in &self.inputs {
            let _ = writeln!(out, "- {}", code(&input_words(input)));
        }
        for group in &self.groups {
            let _ = writeln!(out, "\n**{}**\n", escaped(&heading(group)));
            for line in &group.lines {
                write_line(&mut out, line);
            }
        }
        let _ = writeln!(out, "\n{}", self.stops_words());
        for note in &self.notes {
            let word = if note.severity == Severity::Warning { "Warning" } else { "Note" };
            let help = note.help.as_ref().map(|h| format!(" {}", escaped(h))).unwrap_or_default();
            let _ = writeln!(out, "\n> {word} {}: {}{help}", note.code, escaped(&note.message));
        }
        out
    }
}

fn write_line(out: &mut String, line: &Line) {
    let mark = if line.stop.is_some() || matches!(line.what, What::Question { .. }) { "⏸ " } else { "" };
    match &line.what {
        What::Call { server, tool, args, why, effect, contradiction } => {
            let _ = writeln!(out, "- {mark}{} — {}", code(&line.id), code(&format!("{server}·{tool}")));
            if let Some(stop) = &line.stop {
                let _ = writeln!(
                    out,
                    "  - **{}, so this will stop and ask before running it** ({})",
                    escaped(&stop.why),
                    escaped(why.first().map(String::as_str).unwrap_or_default())
                );
                if let Some(question) = &stop.question {
                    let _ = writeln!(out, "  - asks {}", code(question));
                }
                if !stop.also_stops.is_empty() {
                    let _ = writeln!(out, "  - a no also stops {}", code(&stop.also_stops.join(", ")));
                }
            } else if effect.changes() {
                let _ = writeln!(
                    out,
                    "  - **changes something outside, and the policy lets it through** ({})",
                    escaped(why.first().map(String::as_str).unwrap_or_default())
                );
            }
            if *contradiction {
                let _ = writeln!(out, "  - its server says it only reads; that is not believed");
            }
            for arg in args {
                let _ = writeln!(out, "  - {}", code(&arg_words(arg, line.stop.is_some())));
            }
        }
        What::Written { from, instruction } => {
            let from =
                if from.is_empty() { String::new() } else { format!(" from {}", code(&from.join(", "))) };
            let _ = writeln!(out, "- {} — written{from}\n  - {}", code(&line.id), code(instruction));
        }
        What::Question { text, guards } => {
            let end = if *guards { "stops and asks" } else { "stops, records the answer and ends" };
            let _ = writeln!(out, "- {mark}{} — {end}", code(text));
        }
        What::Check { text } => {
            let _ = writeln!(out, "- if {}", code(text));
        }
    }
    for words in after_words(line) {
        let _ = writeln!(out, "  - {}", escaped(&words));
    }
    if line.moved {
        let _ = writeln!(out, "  - typed below, but starts at once");
    }
    for setting in &line.settings {
        let _ = writeln!(out, "  - {setting}");
    }
}

/// A code span that its content cannot end: fenced by one more backtick than the longest run in it.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if longest == 0 { format!("{fence}{text}{fence}") } else { format!("{fence} {text} {fence}") }
}

/// Words outside a code span: what Markdown or HTML could take for markup is escaped.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '#' | '|' | '!') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
