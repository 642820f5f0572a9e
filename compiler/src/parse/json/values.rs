//! Keys and values: what a token is worth where it stands.

use plangate_graph::value::{Number, Value};

use super::{Builder, Expect, Frame, syntax};
use crate::characters::{Region, RegionKind, is_hidden, shown};
use crate::diagnostic::{Finding, code};
use crate::parse::text::{Groups, parts};
use crate::recipe::{Arg, TextPart};
use crate::source::Place;
use crate::tokens::{Piece, Token, TokenKind};

impl Builder<'_> {
    pub(super) fn key(&mut self, token: &Token) {
        let text = self.source.slice(token.place);
        let key = match &token.kind {
            TokenKind::Text(pieces) => self.key_text(pieces, token.place),
            TokenKind::Word | TokenKind::Number => {
                let bare = syntax("a key stands in double quotes", token.place);
                self.report(bare.fix(token.place, Value::from(text).to_string()));
                text.to_owned()
            }
            TokenKind::SingleQuoted => {
                self.single_quoted(token.place);
                text.trim_matches('\'').to_owned()
            }
            TokenKind::BareRef => {
                self.reference_in_key(token.place);
                no_key(token.place)
            }
            TokenKind::Punct(b',') => {
                return self.report(syntax("one comma too many", token.place).fix(token.place, ""));
            }
            _ => return self.lose(syntax("a key is expected here", token.place)),
        };
        if let Some(Frame::Object { key: slot, .. }) = self.stack.last_mut() {
            *slot = Some((key, token.place));
        }
        self.expect = Expect::Colon;
    }

    fn key_text(&mut self, pieces: &[Piece], place: Place) -> String {
        let parts = parts(self.source, pieces, Groups::Refused, &mut self.findings);
        let mut key = String::new();
        let raw = self.source.slice(place);
        for part in parts {
            match part {
                TextPart::Lit(text) => key.push_str(&text),
                TextPart::Doubtful(doubtful) => key.push_str(&doubtful.literal),
                TextPart::Ref(_) | TextPart::Group(..) => {
                    self.reference_in_key(place);
                    return no_key(place);
                }
            }
        }
        if raw.contains(is_hidden) {
            // Reported where it stands; without it, the key is most likely one that the tool knows.
            key.retain(|c| !is_hidden(c));
        }
        key
    }

    fn reference_in_key(&mut self, place: Place) {
        self.report(
            Finding::error(code::REFERENCE_IN_KEY, "a reference stands in a key")
                .at(place, "")
                .help("keys are always literal; literal braces in one are written `{{` and `}}`"),
        );
    }

    fn single_quoted(&mut self, place: Place) {
        let inside = self.source.slice(Place::new(place.start + 1, place.end - 1));
        let finding = syntax("a string stands in double quotes", place);
        self.report(if inside.contains(['"', '\\']) {
            finding
        } else {
            finding.fix(place, format!("\"{inside}\""))
        });
    }

    pub(super) fn value(&mut self, token: &Token) {
        let text = self.source.slice(token.place);
        let value = match &token.kind {
            TokenKind::Punct(b @ (b'{' | b'[')) => return self.open(*b, token.place),
            TokenKind::Punct(b',') if !self.stack.is_empty() => {
                let comma = syntax("a value is missing in front of this comma", token.place);
                self.report(comma);
                Arg::Lit(Value::Null)
            }
            TokenKind::Text(pieces) => self.text(pieces, token.place),
            TokenKind::Number => {
                if let Some(number) = Number::from_text(text) {
                    Arg::Lit(Value::Number(number))
                } else {
                    let finding = syntax(format!("{} is not a JSON number", shown(text)), token.place);
                    self.report(finding.help(
                        "write digits, with a `.` or an exponent if need be; no leading zero, no `+`, no `_`",
                    ));
                    Arg::Lit(Value::Null)
                }
            }
            TokenKind::Word => match text {
                "true" => Arg::Lit(Value::Bool(true)),
                "false" => Arg::Lit(Value::Bool(false)),
                "null" => Arg::Lit(Value::Null),
                _ => return self.word(text, token.place),
            },
            TokenKind::SingleQuoted => {
                self.single_quoted(token.place);
                Arg::Lit(Value::Null)
            }
            TokenKind::BareRef => {
                self.bare_reference(text, token.place);
                Arg::Lit(Value::Null)
            }
            _ => return self.lose(syntax("a value is expected here", token.place)),
        };
        let again = matches!(token.kind, TokenKind::Punct(b','));
        self.put(value);
        if again {
            self.comma(token);
        }
    }

    fn bare_reference(&mut self, text: &str, place: Place) {
        let finding = if self.stack.is_empty() {
            syntax("the arguments are written out by name", place).help(format!(
                "for instance `{{\"name\": \"{text}\"}}`; a reference gives one value, not all of them"
            ))
        } else if self.references {
            syntax("a reference stands in a string", place)
                .help("alone in its string it keeps its JSON type")
                .fix(place, format!("\"{text}\""))
        } else {
            syntax("a reference cannot stand here", place)
        };
        self.report(finding);
    }

    fn word(&mut self, text: &str, place: Place) {
        let right = match text {
            "True" | "TRUE" => Some("true"),
            "False" | "FALSE" => Some("false"),
            "None" | "nil" | "undefined" | "NULL" | "Null" => Some("null"),
            _ => None,
        };
        let finding = syntax(format!("{} is not JSON", shown(text)), place);
        match right {
            Some(right) => {
                self.report(finding.fix(place, right));
                self.put(Arg::Lit(Value::Null));
            }
            None => self.lose(finding.help("text stands in double quotes")),
        }
    }

    fn text(&mut self, pieces: &[Piece], place: Place) -> Arg {
        self.regions.push(Region { place, kind: RegionKind::JsonText });
        let parts = if self.references {
            parts(self.source, pieces, Groups::Refused, &mut self.findings)
        } else {
            let plain: Vec<Piece> = pieces.iter().map(without_references).collect();
            parts(self.source, &plain, Groups::Refused, &mut self.findings)
        };
        let mut literal = String::new();
        if parts.iter().all(|part| matches!(part, TextPart::Lit(_))) {
            for part in parts {
                if let TextPart::Lit(text) = part {
                    literal.push_str(&text);
                }
            }
            return Arg::Lit(Value::Text(literal));
        }
        Arg::Text(parts)
    }
}

/// Stands in for a key that is none; equal to no other.
fn no_key(place: Place) -> String {
    format!("\u{0}{}", place.start)
}

/// A piece of a string in which braces are only braces.
fn without_references(piece: &Piece) -> Piece {
    match piece {
        Piece::Ref(place, _)
        | Piece::Group(place, _)
        | Piece::Doubled(place, _)
        | Piece::Almost { place, .. }
        | Piece::OpenTwice(place)
        | Piece::Open(place)
        | Piece::Close(place) => Piece::Plain(*place),
        other => other.clone(),
    }
}
