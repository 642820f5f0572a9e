//! JSON from tokens, without recursion: a stack of open brackets, and what may come next.

mod values;

use plangate_graph::value::{MAX_DEPTH, Object, Value};

use crate::characters::{Region, shown};
use crate::diagnostic::{Finding, code};
use crate::recipe::Arg;
use crate::source::{Place, Source};
use crate::tokens::{Token, TokenKind};

/// No more findings than this about one value: what follows is mostly their consequence.
const MOST: usize = 5;

/// Builds one value from tokens.
#[derive(Debug)]
pub(super) struct Builder<'s> {
    source: &'s Source<'s>,
    /// Whether `{name}` in a string is a reference.
    references: bool,
    stack: Vec<Frame>,
    /// Open brackets, also those that are no longer built.
    depth: usize,
    expect: Expect,
    /// The token before.
    last: Place,
    /// Nothing more is understood; only brackets are counted.
    lost: bool,
    result: Option<Arg>,
    findings: Vec<Finding>,
    regions: Vec<Region>,
}

#[derive(Debug)]
enum Frame {
    Object { open: Place, members: Vec<(String, Place, Arg)>, key: Option<(String, Place)> },
    List { open: Place, items: Vec<Arg> },
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
}

impl<'s> Builder<'s> {
    pub(super) fn new(source: &'s Source<'s>, references: bool) -> Builder<'s> {
        Builder {
            source,
            references,
            stack: Vec::new(),
            depth: 0,
            expect: Expect::Value,
            last: Place::default(),
            lost: false,
            result: None,
            findings: Vec::new(),
            regions: Vec::new(),
        }
    }

    /// Takes a token. Returns where the value ends, once it has ended.
    pub(super) fn push(&mut self, token: &Token) -> Option<usize> {
        if self.lost {
            self.count(token);
        } else {
            self.accept(token);
        }
        self.last = token.place;
        let scalar = self.depth == 0 && (self.result.is_some() || self.lost);
        scalar.then_some(token.place.end)
    }

    /// The value, unless something was wrong with it.
    pub(super) fn finish(mut self) -> (Option<Arg>, Vec<Finding>, Vec<Region>) {
        self.findings.truncate(MOST);
        let sound = self.findings.is_empty();
        (self.result.filter(|_| sound), self.findings, self.regions)
    }

    /// The token that was taken last.
    pub(super) fn last(&self) -> Place {
        self.last
    }

    /// The finding where the text ended before the value, after the token `last`. One cause, one finding: a string or bracket that is not closed.
    pub(super) fn not_closed(self, last: Place) -> Option<Finding> {
        let cause = |f: &Finding| [code::NOT_CLOSED, code::TOO_DEEP].contains(&f.code) || closes_another(f);
        if let Some(at) = self.findings.iter().position(cause) {
            return self.findings.into_iter().nth(at);
        }
        let open = self.stack.last().map(|frame| match frame {
            Frame::Object { open, .. } => (*open, "{", "}"),
            Frame::List { open, .. } => (*open, "[", "]"),
        });
        Some(match open {
            Some((place, open, close)) => {
                Finding::error(code::NOT_CLOSED, format!("this `{open}` is never closed"))
                    .at(place, "")
                    .at(last.after(), format!("`{close}` is missing at the latest here"))
            }
            None => Finding::error(code::NOT_CLOSED, "the JSON is not complete").at(last, ""),
        })
    }

    fn report(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    fn lose(&mut self, finding: Finding) {
        self.report(finding);
        self.lost = true;
    }

    fn count(&mut self, token: &Token) {
        match token.kind {
            TokenKind::Punct(b'{' | b'[') => self.depth += 1,
            TokenKind::Punct(b'}' | b']') => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    fn accept(&mut self, token: &Token) {
        match token.kind {
            TokenKind::BrokenText => self.lose(
                Finding::error(code::NOT_CLOSED, "this string does not end on its line")
                    .at(token.place, "")
                    .help("a string ends with `\"` on the line where it begins; a line break in it is written `\\n`"),
            ),
            TokenKind::Stray => {
                let text = self.source.slice(token.place);
                let finding = syntax(format!("{} is not JSON", shown(text)), token.place);
                self.lose(match text {
                    "/" => finding.help("a comment is a line of its own that begins with `#`"),
                    _ => finding,
                });
            }
            TokenKind::Punct(b'}' | b']') => self.close(token),
            _ => match self.expect {
                Expect::Value | Expect::ValueOrEnd => self.value(token),
                Expect::Key | Expect::KeyOrEnd => self.key(token),
                Expect::Colon => self.colon(token),
                Expect::CommaOrEnd => self.comma(token),
            },
        }
    }

    fn comma(&mut self, token: &Token) {
        let in_object = matches!(self.stack.last(), Some(Frame::Object { .. }));
        let next = if in_object { Expect::Key } else { Expect::Value };
        match token.kind {
            TokenKind::Punct(b',') => self.expect = next,
            TokenKind::Punct(b':') => {
                self.lose(syntax("a `:` stands where a `,` is expected", token.place));
            }
            _ => {
                let missing = syntax("a comma is missing", self.last.after());
                self.report(missing.fix(self.last.after(), ","));
                self.expect = next;
                self.accept(token);
            }
        }
    }

    fn colon(&mut self, token: &Token) {
        self.expect = Expect::Value;
        match token.kind {
            TokenKind::Punct(b':') => {}
            TokenKind::Punct(_) => self.lose(syntax("a `:` and a value are missing", self.last.after())),
            _ => {
                let missing = syntax("a colon is missing", self.last.after());
                self.report(missing.fix(self.last.after(), ":"));
                self.accept(token);
            }
        }
    }

    fn open(&mut self, bracket: u8, place: Place) {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.lose(
                Finding::error(code::TOO_DEEP, format!("nested deeper than {MAX_DEPTH} levels"))
                    .at(place, ""),
            );
        }
        if bracket == b'{' {
            self.stack.push(Frame::Object { open: place, members: Vec::new(), key: None });
            self.expect = Expect::KeyOrEnd;
        } else {
            self.stack.push(Frame::List { open: place, items: Vec::new() });
            self.expect = Expect::ValueOrEnd;
        }
    }

    fn close(&mut self, token: &Token) {
        let Some(frame) = self.stack.pop() else {
            return self.lose(syntax("a value is expected here", token.place));
        };
        self.depth -= 1;
        let closes = self.source.slice(token.place);
        let (open, right) = match &frame {
            Frame::Object { open, .. } => (*open, "}"),
            Frame::List { open, .. } => (*open, "]"),
        };
        if closes == right {
            match self.expect {
                Expect::Key | Expect::Value if self.source.slice(self.last) == "," => {
                    let comma = syntax("a comma stands before the end", self.last);
                    self.report(comma.fix(self.last, ""));
                }
                Expect::Value => self.report(syntax("a value is missing", self.last.after())),
                Expect::Colon => self.report(syntax("a `:` and a value are missing", self.last.after())),
                _ => {}
            }
        } else {
            let wrong = syntax(
                format!("`{closes}` closes what {} opens", shown(self.source.slice(open))),
                token.place,
            )
            .at(open, "opened here");
            self.report(wrong.fix(token.place, right));
        }
        let value = match frame {
            Frame::Object { members, .. } => self.object(members),
            Frame::List { items, .. } => list(items),
        };
        self.put(value);
    }

    /// A value is complete: it goes where it belongs.
    fn put(&mut self, value: Arg) {
        self.expect = Expect::CommaOrEnd;
        match self.stack.last_mut() {
            None => self.result = Some(value),
            Some(Frame::List { items, .. }) => items.push(value),
            Some(Frame::Object { members, key, .. }) => {
                if let Some((key, place)) = key.take() {
                    members.push((key, place, value));
                }
            }
        }
    }

    fn object(&mut self, mut members: Vec<(String, Place, Arg)>) -> Arg {
        members.sort_by(|a, b| a.0.cmp(&b.0));
        for pair in members.windows(2) {
            if let [(key, first, _), (same, second, _)] = pair
                && key == same
            {
                let finding =
                    Finding::error(code::DUPLICATE_KEY, format!("the key {} stands twice", shown(key)))
                        .at(*second, "")
                        .at(*first, "the first one")
                        .help("readers of JSON disagree on which of them counts; keep one");
                self.findings.push(finding);
            }
        }
        members.dedup_by(|later, first| later.0 == first.0);
        if members.iter().all(|(_, _, arg)| matches!(arg, Arg::Lit(_))) {
            let literal = members.into_iter().filter_map(|(key, _, arg)| match arg {
                Arg::Lit(value) => Some((key, value)),
                _ => None,
            });
            // No key twice: those are gone.
            return Arg::Lit(Value::Object(Object::new(literal.collect()).unwrap_or_default()));
        }
        Arg::Object(members.into_iter().map(|(key, _, arg)| (key, arg)).collect())
    }
}

/// A bracket closed another sort of bracket: then the count of brackets says nothing.
fn closes_another(finding: &Finding) -> bool {
    finding.code == code::JSON_SYNTAX && finding.labels.len() > 1
}

fn syntax(message: impl Into<String>, place: Place) -> Finding {
    Finding::error(code::JSON_SYNTAX, message).at(place, "")
}

fn list(items: Vec<Arg>) -> Arg {
    if items.iter().all(|item| matches!(item, Arg::Lit(_))) {
        let literal = items.into_iter().filter_map(|item| match item {
            Arg::Lit(value) => Some(value),
            _ => None,
        });
        return Arg::Lit(Value::List(literal.collect()));
    }
    Arg::List(items)
}
