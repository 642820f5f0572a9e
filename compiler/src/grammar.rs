//! The only file that knows pest: single lines in, plain tokens with places out.
//!
//! Every rule for a whole line matches every line, so there is no parse error here; what a line lacks is absent in the answer.

use pest::Parser as _;
use pest::iterators::Pair;

use crate::source::Place;
use crate::tokens::{CheckLine, Header, Piece, RawRef, RawSegment, Shape, TestWord, Token, TokenKind, Unit};

#[allow(missing_docs, clippy::all, clippy::pedantic, reason = "made by pest_derive")]
mod rules {
    #[derive(pest_derive::Parser)]
    #[grammar = "recipe.pest"]
    pub(super) struct Lines;
}
use rules::{Lines, Rule};

/// A line at the margin.
pub(crate) fn margin_line(text: &str, at: usize) -> Shape {
    shape(Rule::margin_line, text, at)
}

/// A line of a block, without its indentation.
pub(crate) fn block_line(text: &str, at: usize) -> Shape {
    shape(Rule::block_line, text, at)
}

/// Whether this is a name and nothing else.
pub(crate) fn is_name(text: &str) -> bool {
    Lines::parse(Rule::only_name, text).is_ok()
}

/// The first word of a step, up to a blank or the arguments, and what follows it.
pub(crate) fn body(text: &str, at: usize) -> (Option<Place>, Place) {
    let mut word = None;
    let mut rest = Place::new(at, at + text.len());
    for pair in children(Rule::body, text) {
        match pair.as_rule() {
            Rule::word => word = Some(place(&pair, at)),
            Rule::rest => rest = place(&pair, at),
            _ => {}
        }
    }
    (word, rest)
}

/// `k of n`
pub(crate) fn need(text: &str, at: usize) -> Option<(Place, Place)> {
    let mut digits = children(Rule::need_value, text).filter(|p| p.as_rule() == Rule::digits);
    let k = digits.next()?;
    let n = digits.next()?;
    Some((place(&k, at), place(&n, at)))
}

/// `20s`
pub(crate) fn duration(text: &str, at: usize) -> Option<(Place, Unit)> {
    let mut parts = children(Rule::duration, text);
    let digits = parts.next()?;
    let unit = match parts.next()?.as_str() {
        "ms" => Unit::Milliseconds,
        "s" => Unit::Seconds,
        "m" => Unit::Minutes,
        _ => Unit::Hours,
    };
    Some((place(&digits, at), unit))
}

/// `2`
pub(crate) fn count(text: &str, at: usize) -> Option<Place> {
    children(Rule::count, text).next().filter(|p| p.as_rule() == Rule::digits).map(|p| place(&p, at))
}

/// `text = "…"`: the kind, and what follows the `=` if there is one.
pub(crate) fn input(text: &str, at: usize) -> Option<(Place, Option<Place>)> {
    let mut parts = children(Rule::input_value, text);
    let kind = parts.next().filter(|p| p.as_rule() == Rule::input_kind)?;
    let default = parts.find(|p| p.as_rule() == Rule::rest).map(|p| place(&p, at));
    Some((place(&kind, at), default))
}

/// `{mail.messages} is not empty`
pub(crate) fn check(line: &str, at: usize) -> Option<CheckLine> {
    let mut left = None;
    let mut test = None;
    let mut rest = Place::new(at + line.len(), at + line.len());
    for pair in children(Rule::check, line) {
        match pair.as_rule() {
            Rule::reference => left = raw_refs(pair, at).pop(),
            Rule::test => test = pair.into_inner().next().and_then(|word| test_word(word.as_rule())),
            Rule::rest => rest = place(&pair, at),
            _ => {}
        }
    }
    Some(CheckLine { left: left?, test, rest })
}

/// A reference and nothing else.
pub(crate) fn only_reference(text: &str, at: usize) -> Option<RawRef> {
    let pair = children(Rule::only_reference, text).next().filter(|p| p.as_rule() == Rule::reference)?;
    raw_refs(pair, at).pop()
}

/// The pieces of a sentence or question.
pub(crate) fn text(text: &str, at: usize) -> Vec<Piece> {
    children(Rule::text, text).filter_map(|pair| piece(pair, at)).collect()
}

/// The tokens of a line of JSON.
pub(crate) fn json_line(text: &str, at: usize) -> Vec<Token> {
    children(Rule::json_line, text).filter_map(|pair| token(pair, at)).collect()
}

/// The pairs inside a rule for a whole line; none where it does not match.
fn children(rule: Rule, text: &str) -> impl Iterator<Item = Pair<'_, Rule>> {
    Lines::parse(rule, text).ok().into_iter().flatten().flat_map(Pair::into_inner)
}

fn place(pair: &Pair<'_, Rule>, at: usize) -> Place {
    let span = pair.as_span();
    Place::new(at + span.start(), at + span.end())
}

fn shape(rule: Rule, text: &str, at: usize) -> Shape {
    let Some(pair) = children(rule, text).next() else { return Shape::Other };
    let rule = pair.as_rule();
    let mut found = [None; 3];
    let mut colon = false;
    for inner in pair.into_inner() {
        let slot = match inner.as_rule() {
            Rule::block_word | Rule::name | Rule::wrong_name => 0,
            Rule::label => 1,
            Rule::rest => 2,
            Rule::colon => {
                colon = true;
                continue;
            }
            _ => continue,
        };
        if let Some(slot) = found.get_mut(slot) {
            *slot = Some(place(&inner, at));
        }
    }
    let end = Place::new(at + text.len(), at + text.len());
    let [first, label, rest] = found;
    let rest = rest.unwrap_or(end);
    match (rule, first) {
        (Rule::question, _) => Shape::Question { rest },
        (Rule::header, Some(word)) => Shape::Header(Header { word, label, colon, rest }),
        (Rule::step, Some(name)) => Shape::Step { name, rest },
        (Rule::misnamed, Some(label)) => Shape::Misnamed { label, rest },
        _ => Shape::Other,
    }
}

fn test_word(rule: Rule) -> Option<TestWord> {
    Some(match rule {
        Rule::is_empty => TestWord::IsEmpty,
        Rule::is_not_empty => TestWord::IsNotEmpty,
        Rule::is => TestWord::Is,
        Rule::is_not => TestWord::IsNot,
        Rule::greater => TestWord::Greater,
        Rule::less => TestWord::Less,
        Rule::contains => TestWord::Contains,
        _ => return None,
    })
}

/// The references in a `reference`, `group` or `doubled`.
fn raw_refs(pair: Pair<'_, Rule>, at: usize) -> Vec<RawRef> {
    pair.into_inner()
        .filter(|inner| inner.as_rule() == Rule::ref_body)
        .filter_map(|body| {
            let whole = place(&body, at);
            let mut name = None;
            let mut path = Vec::new();
            for part in body.into_inner() {
                match part.as_rule() {
                    Rule::name => name = Some(place(&part, at)),
                    Rule::field | Rule::quoted => {
                        path.extend(part.into_inner().map(|f| RawSegment::Field(place(&f, at))));
                    }
                    Rule::index => path.extend(part.into_inner().map(|i| RawSegment::Index(place(&i, at)))),
                    _ => {}
                }
            }
            Some(RawRef { place: whole, name: name?, path })
        })
        .collect()
}

fn piece(pair: Pair<'_, Rule>, at: usize) -> Option<Piece> {
    let here = place(&pair, at);
    Some(match pair.as_rule() {
        Rule::plain | Rule::string_plain => Piece::Plain(here),
        Rule::escape => Piece::Escape(here),
        Rule::bad_escape => Piece::BadEscape(here),
        Rule::reference => Piece::Ref(here, raw_refs(pair, at).pop()?),
        Rule::group => Piece::Group(here, raw_refs(pair, at)),
        Rule::doubled => Piece::Doubled(here, raw_refs(pair, at).pop()?),
        Rule::almost | Rule::string_almost | Rule::escaped_almost => {
            let (mut name, mut tail, mut tight) = (here, here, true);
            for inner in pair.into_inner() {
                match inner.as_rule() {
                    Rule::lead => tight = inner.as_str().is_empty(),
                    Rule::name => name = place(&inner, at),
                    _ => tail = place(&inner, at),
                }
            }
            Piece::Almost { place: here, name, tail, tight }
        }
        Rule::quote_inside => Piece::QuoteInside(here),
        Rule::open_twice => Piece::OpenTwice(here),
        Rule::open => Piece::Open(here),
        Rule::close => Piece::Close(here),
        _ => return None,
    })
}

fn token(pair: Pair<'_, Rule>, at: usize) -> Option<Token> {
    let here = place(&pair, at);
    let kind = match pair.as_rule() {
        Rule::punct => TokenKind::Punct(pair.as_str().bytes().next()?),
        Rule::string => TokenKind::Text(pair.into_inner().filter_map(|inner| piece(inner, at)).collect()),
        Rule::broken_string => TokenKind::BrokenText,
        Rule::single_quoted => TokenKind::SingleQuoted,
        Rule::number => TokenKind::Number,
        Rule::json_word => TokenKind::Word,
        Rule::bare_ref => TokenKind::BareRef,
        Rule::stray => TokenKind::Stray,
        _ => return None,
    };
    Some(Token { place: here, kind })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;
    use crate::characters::{is_hidden, is_odd_space};

    #[test]
    fn grammar_and_compiler_know_the_same_characters() {
        let planes = ('\0'..='\u{1ffff}').chain('\u{e0000}'..='\u{e1000}');
        for c in planes {
            let text = c.to_string();
            assert_eq!(Lines::parse(Rule::hidden, &text).is_ok(), is_hidden(c), "{c:?}");
            assert_eq!(Lines::parse(Rule::odd_space, &text).is_ok(), is_odd_space(c), "{c:?}");
        }
    }

    #[test]
    fn every_line_matches() {
        for line in
            ["", " ", ":", "-", "{", "}", "\"", "\\", "a:", "ask", "then", "then x", "then x: y", "\u{0}"]
        {
            for rule in [Rule::margin_line, Rule::block_line] {
                assert!(line.is_empty() || Lines::parse(rule, line).is_ok(), "{line:?}");
            }
            for rule in [Rule::text, Rule::json_line, Rule::body] {
                assert!(Lines::parse(rule, line).is_ok(), "{line:?} {rule:?}");
            }
        }
    }
}
