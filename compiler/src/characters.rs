//! Characters that mislead a reader: where they may stand, how they are shown.

use unicode_normalization::UnicodeNormalization as _;

use crate::diagnostic::{Finding, code};
use crate::source::{Place, Source};

/// A part of the text in which characters speak for themselves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub(crate) place: Place,
    pub(crate) kind: RegionKind,
}

/// What sort of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegionKind {
    /// The words of a sentence or question.
    Words,
    /// A JSON string that is a value.
    JsonText,
    /// A comment.
    Comment,
}

/// Not to be seen, or turns the direction of writing.
pub(crate) fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Makes the characters after it appear in another order, or even on another side of the line.
fn reorders(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Looks like a space and is none.
pub(crate) fn is_odd_space(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

/// Ends a line for some readers, or does nothing that can be seen.
pub(crate) fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// A name as plangate keeps it: composed (NFC), without hidden characters.
pub(crate) fn clean_name(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    text.chars().filter(|c| !is_hidden(*c)).nfc().collect()
}

/// A piece of the recipe for a message: in backticks, escaped, cut after 60 characters with a mark.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::from("`");
    for (i, c) in text.chars().enumerate() {
        if i == 60 {
            out.push('…');
            break;
        }
        if is_hidden(c) || is_control(c) || is_odd_space(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out.push('`');
    out
}

/// Characters of one sort beside each other: one mistake, one fix.
#[derive(Clone, Copy, Debug)]
struct Run {
    place: Place,
    sort: Sort,
    first: char,
    kind: Option<RegionKind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Tab,
    OddSpace,
    Hidden,
    Control,
}

/// What is wrong with single characters. `regions` are in the order of the text.
pub(crate) fn sweep(source: &Source<'_>, regions: &[Region]) -> Vec<Finding> {
    let text = source.text();
    let mut found = Vec::new();
    let mut regions = regions.iter().peekable();
    let mut run: Option<Run> = None;
    for (at, c) in text.char_indices() {
        let line_end = c == '\n' || c == '\r' && text.as_bytes().get(at + 1) == Some(&b'\n');
        let byte_order_mark = at == 0 && c == '\u{feff}';
        let Some(sort) = sort(c).filter(|_| !line_end && !byte_order_mark) else { continue };
        while regions.next_if(|r| r.place.end <= at).is_some() {}
        let kind = regions.peek().filter(|r| r.place.start <= at).map(|r| r.kind);
        let place = Place::new(at, at + c.len_utf8());
        match &mut run {
            Some(run) if run.place.end == at && run.sort == sort && run.kind == kind => {
                run.place.end = place.end;
            }
            _ => {
                found.extend(run.and_then(|run| wrong(source, run)));
                run = Some(Run { place, sort, first: c, kind });
            }
        }
    }
    found.extend(run.and_then(|run| wrong(source, run)));
    found
}

fn sort(c: char) -> Option<Sort> {
    match c {
        ' '..='~' => None,
        '\t' => Some(Sort::Tab),
        c if is_odd_space(c) => Some(Sort::OddSpace),
        c if is_hidden(c) => Some(Sort::Hidden),
        c if is_control(c) => Some(Sort::Control),
        _ => None,
    }
}

/// What is wrong with a run of such characters, if they may not stand there.
fn wrong(source: &Source<'_>, run: Run) -> Option<Finding> {
    let Run { place, sort, first, kind } = run;
    let text = source.slice(place);
    let count = text.chars().count();
    let point = format!("U+{:04X}", u32::from(first));
    match (sort, kind) {
        (Sort::Tab | Sort::OddSpace, Some(RegionKind::Comment)) | (Sort::OddSpace, Some(_)) => None,
        (Sort::Tab, _) => {
            let line_start = source.line(source.line_of(place.start)).start;
            let leading = source.slice(Place::new(line_start, place.start)).trim().is_empty();
            let instead = match kind {
                Some(RegionKind::JsonText) => "\\t".repeat(count),
                Some(_) => " ".repeat(count),
                None if leading => "  ".repeat(count),
                None => " ".to_owned(),
            };
            let tab = Finding::error(code::SPACES_ONLY, "a tab stands where only spaces may");
            Some(tab.at(place, "").fix(place, instead))
        }
        (Sort::OddSpace, None) => {
            let space = Finding::error(code::SPACES_ONLY, format!("{point} looks like a space and is none"));
            Some(space.at(place, "only the plain space may stand here").fix(place, " ".repeat(count)))
        }
        (Sort::Hidden, Some(RegionKind::Comment)) if text.chars().any(reorders) => {
            Some(hidden(place, format!("{point} turns the direction of writing in a comment")))
        }
        (Sort::Hidden, Some(_)) => None,
        (Sort::Hidden, None) => Some(hidden(
            place,
            format!("{point} cannot be seen and stands where a name or a sign is expected"),
        )),
        // JSON itself allows these within a string.
        (Sort::Control, Some(RegionKind::JsonText)) if text.chars().all(|c| c >= ' ') => None,
        (Sort::Control, _) => {
            let finding = Finding::error(code::CONTROL_CHARACTER, format!("a control character, {point}"));
            let finding = finding.at(place, "");
            Some(if kind == Some(RegionKind::JsonText) {
                finding.fix(
                    place,
                    text.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect::<Vec<_>>().concat(),
                )
            } else {
                finding.help("take it out; lines end in LF or CRLF")
            })
        }
    }
}

fn hidden(place: Place, message: String) -> Finding {
    Finding::error(code::HIDDEN_CHARACTER, message)
        .at(place, "here")
        .help("take it out: what a person reads must be what is run")
        .fix(place, "")
}
