//! Sentences, questions and JSON strings: from pieces to parts, braces settled.

use plangate_graph::template::Segment;

use super::Parser;
use crate::characters::{Region, RegionKind, clean_name, shown};
use crate::diagnostic::{Finding, code};
use crate::grammar;
use crate::recipe::{Doubt, Doubtful, Reference, TextPart};
use crate::source::{Place, Source};
use crate::tokens::{Piece, RawRef, RawSegment};

/// Whether a list of references may stand in one pair of braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Groups {
    Allowed,
    Refused,
}

impl Parser<'_> {
    /// The words of a sentence or question on one line.
    pub(super) fn words(&mut self, place: Place) -> Vec<TextPart> {
        if place.start == place.end {
            return Vec::new();
        }
        self.regions.push(Region { place, kind: RegionKind::Words });
        let pieces = grammar::text(self.slice(place), place.start);
        parts(self.source, &pieces, Groups::Allowed, &mut self.findings)
    }

    /// A reference, or nothing and a finding.
    pub(super) fn reference(&mut self, raw: &RawRef) -> Option<Reference> {
        reference(self.source, raw, &mut self.findings)
    }
}

/// Turns pieces into parts. `{{` and `}}` are braces; a `{` that begins no reference is one too, and so is the `}` that closes it.
pub(super) fn parts(
    source: &Source<'_>,
    pieces: &[Piece],
    groups: Groups,
    findings: &mut Vec<Finding>,
) -> Vec<TextPart> {
    let mut parts = Vec::new();
    let mut open = 0_usize;
    let mut pieces = pieces.iter().peekable();
    while let Some(piece) = pieces.next() {
        match piece {
            Piece::Plain(place) => literal(&mut parts, source.slice(*place)),
            Piece::Escape(place) => {
                let low = match pieces.peek() {
                    Some(Piece::Escape(next)) if next.start == place.end => unit(source.slice(*next)),
                    _ => None,
                };
                match unescape(source.slice(*place), low) {
                    Some((c, both)) => {
                        literal(&mut parts, c.encode_utf8(&mut [0; 4]));
                        if both {
                            pieces.next();
                        }
                    }
                    None => findings.push(
                        Finding::error(code::JSON_SYNTAX, "this escape is half of a character")
                            .at(*place, "")
                            .help("a character beyond U+FFFF is written as it is, or as two escapes"),
                    ),
                }
            }
            Piece::BadEscape(place) => findings.push(bad_escape(source, *place)),
            Piece::Ref(_, raw) => parts.extend(reference(source, raw, findings).map(TextPart::Ref)),
            Piece::Group(place, raws) => {
                let refs: Vec<_> = raws.iter().filter_map(|raw| reference(source, raw, findings)).collect();
                if groups == Groups::Refused {
                    parts.push(TextPart::Group(*place, refs));
                    continue;
                }
                for (index, one) in refs.into_iter().enumerate() {
                    if index > 0 {
                        literal(&mut parts, ", ");
                    }
                    parts.push(TextPart::Ref(one));
                }
            }
            Piece::Doubled(place, raw) => {
                let inner = source.slice(Place::new(place.start + 1, place.end - 1));
                parts.push(doubtful(source, inner, raw.name, *place, Doubt::Doubled));
            }
            Piece::Almost { place, name, tail, tight } => {
                let begins_path = *tight && source.slice(*tail).trim_start().starts_with(['.', '[', ',']);
                let doubt = if begins_path { Doubt::Path } else { Doubt::Spaced };
                let text = source.slice(*place);
                // In a JSON string the only escape that can stand in it is that of a quote.
                let in_json = groups == Groups::Refused;
                let literal = if in_json { text.replace("\\\"", "\"") } else { text.to_owned() };
                parts.push(doubtful(source, &literal, *name, *place, doubt));
            }
            Piece::QuoteInside(place) => {
                let text = source.slice(*place);
                let better = text.replace("[\"", "['").replace("\"]", "']");
                findings.push(
                    Finding::error(code::REFERENCE_PATH, format!("{} is not a reference", shown(text)))
                        .at(*place, "")
                        .help("a field whose name is no plain name stands in single quotes: `['Full Name']`")
                        .fix(*place, better),
                );
            }
            Piece::OpenTwice(_) => literal(&mut parts, "{"),
            Piece::Open(_) => {
                open += 1;
                literal(&mut parts, "{");
            }
            Piece::Close(place) => {
                literal(&mut parts, "}");
                if open > 0 {
                    open -= 1;
                } else {
                    pieces.next_if(|next| matches!(next, Piece::Close(p) if p.start == place.end));
                }
            }
        }
    }
    parts
}

fn literal(parts: &mut Vec<TextPart>, text: &str) {
    match parts.last_mut() {
        Some(TextPart::Lit(before)) => before.push_str(text),
        _ => parts.push(TextPart::Lit(text.to_owned())),
    }
}

fn doubtful(source: &Source<'_>, literal: &str, name: Place, place: Place, doubt: Doubt) -> TextPart {
    TextPart::Doubtful(Doubtful {
        literal: literal.to_owned(),
        name: clean_name(source.slice(name)),
        place,
        doubt,
    })
}

/// A reference; an index that no list has and a name that cannot be seen are all that can be wrong with one.
fn reference(source: &Source<'_>, raw: &RawRef, findings: &mut Vec<Finding>) -> Option<Reference> {
    let mut path = Vec::with_capacity(raw.path.len());
    for segment in &raw.path {
        path.push(match segment {
            RawSegment::Field(place) => {
                let field = clean_field(source.slice(*place));
                if field.is_empty() {
                    findings.push(
                        Finding::error(code::REFERENCE_PATH, "the name of a field cannot be seen")
                            .at(*place, "")
                            .help("write the field's name between the quotes"),
                    );
                    return None;
                }
                Segment::Field(field)
            }
            RawSegment::Index(place) => {
                if let Ok(index) = source.slice(*place).parse() {
                    Segment::Index(index)
                } else {
                    let text = shown(source.slice(*place));
                    findings.push(
                        Finding::error(code::REFERENCE_PATH, format!("{text} is too large an index"))
                            .at(*place, ""),
                    );
                    return None;
                }
            }
        });
    }
    Some(Reference { name: clean_name(source.slice(raw.name)), path, place: raw.place })
}

/// A field is matched against what a tool answers, so it is not composed, only freed of what cannot be seen.
fn clean_field(text: &str) -> String {
    text.chars().filter(|c| !crate::characters::is_hidden(*c)).collect()
}

fn bad_escape(source: &Source<'_>, place: Place) -> Finding {
    let text = source.slice(place);
    let finding =
        Finding::error(code::JSON_SYNTAX, format!("{} is no JSON escape", shown(text))).at(place, "");
    match text {
        "\\u" => finding.help("write `\\u` and four hexadecimal digits"),
        "\\'" => finding.fix(place, "'"),
        _ => finding.help("a backslash itself is written `\\\\`").fix(place.before(), "\\"),
    }
}

/// The 16 bits of a `\u` escape.
fn unit(escape: &str) -> Option<u16> {
    u16::from_str_radix(escape.strip_prefix("\\u")?, 16).ok()
}

/// The character of an escape, and whether it takes the one after it (`low`) too. Nothing for half a pair.
fn unescape(escape: &str, low: Option<u16>) -> Option<(char, bool)> {
    let simple = match escape.as_bytes().get(1)? {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let high = unit(escape)?;
            if let Some(c) = char::from_u32(u32::from(high)) {
                return Some((c, false));
            }
            let pair = [high, low?];
            return char::decode_utf16(pair).next()?.ok().map(|c| (c, true));
        }
        other => char::from(*other),
    };
    Some((simple, false))
}
