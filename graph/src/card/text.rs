//! The card on a terminal.

use std::fmt::Write as _;

use super::{Arg, Card, CardInput, Group, Heading, Known, Line, What};
use crate::problem::Severity;

impl Card {
    /// Plain text, without colours; ends with a line end.
    pub fn to_text(&self) -> String {
        let mut out = String::from("Here's how I'd run that\n");
        for input in &self.inputs {
            let _ = writeln!(out, "  {}", input_words(input));
        }
        let named = |line: &&Line| matches!(line.what, What::Call { .. } | What::Written { .. });
        let lines = self.groups.iter().flat_map(|g| &g.lines).filter(named);
        let width = lines.map(|l| l.id.chars().count()).max().unwrap_or(0).min(24);
        for group in &self.groups {
            out.push('\n');
            let _ = writeln!(out, "{}", heading(group));
            for line in &group.lines {
                write_line(&mut out, line, width);
            }
        }
        out.push('\n');
        let _ = writeln!(out, "{}", self.stops_words());
        for note in &self.notes {
            let word = if note.severity == Severity::Warning { "warning" } else { "note" };
            let _ = writeln!(out, "{word}[{}]: {}", note.code, note.message);
            if let Some(help) = &note.help {
                let _ = writeln!(out, "  help: {help}");
            }
        }
        out
    }

    /// How often the run stops, and what it changes without stopping, in a sentence or two.
    pub(super) fn stops_words(&self) -> String {
        let stops = match self.stops {
            0 if self.through == 0 => "It changes nothing outside and stops nowhere.".to_owned(),
            0 => "It stops nowhere.".to_owned(),
            1 => "It stops once, and goes on when somebody has answered.".to_owned(),
            n => format!("It stops up to {n} times, and goes on when somebody has answered."),
        };
        match self.through {
            0 => stops,
            1 => format!("{stops} One call changes something outside without being asked about."),
            n => format!("{stops} {n} calls change something outside without being asked about."),
        }
    }
}

pub(super) fn heading(group: &Group) -> String {
    let name = group.name.as_ref().map(|n| format!(" {n}")).unwrap_or_default();
    match &group.heading {
        Heading::Together if group.lines.len() == 1 => format!("together{name}"),
        Heading::Together => format!("together{name} — these don't need each other, so they run at once"),
        Heading::Then => format!("then{name}"),
        Heading::Join { k, n } => format!("join{name} — needs {k} of {n}"),
        Heading::AskMe => format!("ask me{name}"),
        Heading::Check => format!("check{name} — the machine answers"),
    }
}

pub(super) fn input_words(input: &CardInput) -> String {
    match (&input.given, &input.default) {
        (Some(value), _) => format!("{}: {}", input.name, super::visible::shortened(&value.to_string())),
        (None, Some(value)) => {
            format!("{}: set at start, else {}", input.name, super::visible::shortened(&value.to_string()))
        }
        (None, None) => format!("{}: set at start; the run needs it", input.name),
    }
}

pub(super) fn arg_words(arg: &Arg, asked: bool) -> String {
    let Arg { name, value, .. } = arg;
    let path_only = if arg.path_only { format!("   {}", super::files::PATH_ONLY) } else { String::new() };
    match arg.known {
        Known::Fixed => format!("{name}: {value}{path_only}"),
        Known::AtStart => format!("{name}: set at start, {value}{path_only}"),
        Known::Later if asked => format!("{name}: known when asked, {value}{path_only}"),
        Known::Later => format!("{name}: known when it runs, {value}{path_only}"),
    }
}

fn write_line(out: &mut String, line: &Line, width: usize) {
    let mark = if line.stop.is_some() || matches!(line.what, What::Question { .. }) { "⏸ " } else { "  " };
    let indent = " ".repeat(width + 5);
    match &line.what {
        What::Call { server, tool, args, .. } => {
            let _ = writeln!(out, "{mark}{:width$}   {server}·{tool}", line.id);
            write_stop(out, line, &indent);
            let words: Vec<String> = args.iter().map(|a| arg_words(a, line.stop.is_some())).collect();
            for word in words {
                let _ = writeln!(out, "{indent}{word}");
            }
        }
        What::Written { from, instruction } => {
            let source = if from.is_empty() {
                "written".to_owned()
            } else {
                format!("written from {}", from.join(", "))
            };
            let _ = writeln!(out, "{mark}{:width$}   {source}", line.id);
            let _ = writeln!(out, "{indent}\"{instruction}\"");
        }
        What::Question { text, guards } => {
            let _ = writeln!(out, "{mark}\"{text}\"");
            let words = if *guards {
                "this will stop here and ask; what it guards waits for the answer"
            } else {
                "this will stop here, record the answer and end"
            };
            let _ = writeln!(out, "{indent}{words}");
        }
        What::Check { text } => {
            let _ = writeln!(out, "{mark}if {text}");
        }
    }
    let mut rest = after_words(line);
    if line.moved {
        rest.push("typed below, but starts at once".to_owned());
    }
    rest.extend(line.settings.iter().cloned());
    if !rest.is_empty() {
        let _ = writeln!(out, "{indent}{}", rest.join(" · "));
    }
}

/// What it waits for, in words: what the author said, and what it must not overtake.
pub(super) fn after_words(line: &Line) -> Vec<String> {
    [("said", ", as you said"), ("effect", "")]
        .into_iter()
        .filter_map(|(because, words)| {
            let steps: Vec<&str> =
                line.after.iter().filter(|a| a.because == because).map(|a| a.step.as_str()).collect();
            (!steps.is_empty()).then(|| format!("after {}{words}", steps.join(", ")))
        })
        .collect()
}

fn write_stop(out: &mut String, line: &Line, indent: &str) {
    let What::Call { why, contradiction, effect, .. } = &line.what else { return };
    // The deciding reason; the others stand in the card's JSON.
    let reasons = why.first().map(String::as_str).unwrap_or_default();
    match &line.stop {
        Some(stop) => {
            let _ = writeln!(
                out,
                "{indent}{}, so this will stop and ask before running it   {reasons}",
                stop.why
            );
            if let Some(question) = &stop.question {
                let _ = writeln!(out, "{indent}\"{question}\"");
            }
            if !stop.also_stops.is_empty() {
                let _ = writeln!(out, "{indent}a no also stops {}", stop.also_stops.join(", "));
            }
        }
        None if effect.changes() => {
            let _ = writeln!(
                out,
                "{indent}changes something outside, and the policy lets it through   {reasons}"
            );
        }
        None => {}
    }
    if *contradiction {
        let _ = writeln!(out, "{indent}its server says it only reads; that is not believed");
    }
}
