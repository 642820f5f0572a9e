//! Diagnostics as text with carets, for people.

use annotate_snippets::{AnnotationKind, Element, Group, Level, Patch, Renderer, Snippet};
use plangate_graph::problem::Severity;

use crate::characters::{is_control, is_hidden, shown};
use crate::diagnostic::{Diagnostic, Fix, Label, Span};
use crate::source::{Place, Source};

/// Whether the text carries ANSI colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Colour {
    /// Text alone.
    #[default]
    Plain,
    /// With ANSI escape sequences.
    Ansi,
}

/// How many diagnostics are drawn; the last line counts the others.
const DRAWN: usize = 100;
/// Labels whose lines are nearer than this are drawn in one snippet.
const NEAR: usize = 6;
/// Lines longer than this many bytes are not drawn twice for a fix.
const LONG: usize = 400;

/// The diagnostics with the lines they are about, one after the other. `recipe` is the text that was compiled, `file`
/// what its reader calls it. Draws the first hundred. Nothing of the recipe reaches a terminal as a control character.
pub fn render(diagnostics: &[Diagnostic], recipe: &str, file: &str, colour: Colour) -> String {
    let source = Source::new(recipe);
    let file = visible(file).replace('\n', " ");
    let renderer = match colour {
        Colour::Plain => Renderer::plain(),
        Colour::Ansi => Renderer::styled().hyperlink(false),
    };
    let mut out = String::new();
    for diagnostic in diagnostics.iter().take(DRAWN) {
        let report = report(diagnostic, &source, &file);
        for line in renderer.render(&report).lines() {
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out.push('\n');
    }
    if let Some(more @ 1..) = diagnostics.len().checked_sub(DRAWN) {
        out.extend(["… and ", &more.to_string(), " more\n"]);
    }
    out
}

fn report<'a>(diagnostic: &'a Diagnostic, source: &Source<'_>, file: &'a str) -> Vec<Group<'a>> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut main = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code).elements(snippets(
        &diagnostic.labels,
        source,
        file,
    ));
    let mut change = None;
    match (&diagnostic.help, &diagnostic.fix) {
        (help, Some(fix)) => {
            let title = help.clone().unwrap_or_else(|| default_help(fix));
            match patch(fix, source) {
                Some(patch) => change = Some(Level::HELP.secondary_title(visible(&title)).element(patch)),
                None => main = main.element(Level::HELP.message(visible(&title))),
            }
        }
        (Some(help), None) => main = main.element(Level::HELP.message(visible(help))),
        (None, None) => {}
    }
    std::iter::once(main).chain(change).collect()
}

fn default_help(fix: &Fix) -> String {
    let Span { start, end, .. } = fix.span;
    match (start == end, fix.replacement.is_empty()) {
        (true, _) => format!("insert {}", shown(&fix.replacement)),
        (false, true) => "take this out".into(),
        (false, false) => format!("write {}", shown(&fix.replacement)),
    }
}

/// A snippet for each bunch of labels that stand near each other.
fn snippets<'a>(labels: &'a [Label], source: &Source<'_>, file: &'a str) -> Vec<Element<'a>> {
    let mut sorted: Vec<(usize, &Label)> = labels.iter().enumerate().collect();
    sorted.sort_by_key(|(_, label)| label.span.start);
    let bunches = sorted.chunk_by(|(_, a), (_, b)| b.span.line <= a.span.end_line + NEAR);
    let mut drawn: Vec<(usize, Element<'a>)> = bunches
        .filter_map(|bunch| {
            let first = bunch.first()?.1.span.line;
            let last = bunch.iter().map(|(_, label)| label.span.end_line).max()?;
            let window = lines(source, first, last);
            let mut snippet = Snippet::source(visible(source.slice(window))).line_start(first).path(file);
            for (index, label) in bunch {
                let kind = if *index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                let span = label.span.start - window.start..label.span.end - window.start;
                let text = (!label.message.is_empty()).then_some(label.message.as_str());
                snippet = snippet.annotation(kind.span(span).label(text));
            }
            let main = bunch.iter().map(|(index, _)| *index).min()?;
            Some((main, Element::from(snippet)))
        })
        .collect();
    // The bunch with the main place first.
    drawn.sort_by_key(|(main, _)| *main);
    drawn.into_iter().map(|(_, element)| element).collect()
}

fn patch(fix: &Fix, source: &Source<'_>) -> Option<Snippet<'static, Patch<'static>>> {
    let window = lines(source, fix.span.line, fix.span.end_line);
    if window.end - window.start > LONG {
        return None;
    }
    let span = fix.span.start - window.start..fix.span.end - window.start;
    let patch = Patch::new(span, visible(&fix.replacement));
    Some(Snippet::source(visible(source.slice(window))).line_start(fix.span.line).patch(patch))
}

/// These lines, counted from 1, without the end of the last.
fn lines(source: &Source<'_>, first: usize, last: usize) -> Place {
    let start = source.line(first.saturating_sub(1)).start;
    let last = source.line(last.saturating_sub(1));
    let text = source.slice(last);
    Place::new(start, last.start + text.trim_end_matches(['\n', '\r']).len())
}

/// Control and hidden characters replaced by visible ones of the same length in bytes. ASCII controls and what turns
/// the direction of writing are replaced when drawing.
fn visible(text: &str) -> String {
    text.chars()
        .map(|c| match (is_hidden(c) || is_control(c), c.len_utf8()) {
            (true, 2) => '¤',
            (true, 3) => '\u{fffd}',
            (true, 4) => '🚫',
            _ => c,
        })
        .collect()
}
