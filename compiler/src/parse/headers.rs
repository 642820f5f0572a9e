//! Heads of blocks, and what else stands at the margin.

use plangate_graph::outline::BlockKind;

use super::Parser;
use super::blocks::{Open, OpenKind};
use super::lines::Line;
use crate::characters::{clean_name, shown};
use crate::diagnostic::{Finding, code};
use crate::grammar;
use crate::recipe::{Block, Name};
use crate::source::Place;
use crate::suggest::Suggester;
use crate::tokens::{Header, Shape};

/// What a header opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Inputs,
    Block(BlockKind),
}

const WORDS: [(&str, Word); 5] = [
    ("inputs", Word::Inputs),
    ("together", Word::Block(BlockKind::Together)),
    ("then", Word::Block(BlockKind::Then)),
    ("ask me", Word::Block(BlockKind::AskMe)),
    ("check", Word::Block(BlockKind::Check)),
];

/// What people and models write instead.
const INSTEAD: [(&str, &str); 14] = [
    ("input", "inputs"),
    ("parameters", "inputs"),
    ("params", "inputs"),
    ("parallel", "together"),
    ("concurrently", "together"),
    ("steps", "then"),
    ("do", "then"),
    ("next", "then"),
    ("sequence", "then"),
    ("ask", "ask me"),
    ("approve", "ask me"),
    ("confirm", "ask me"),
    ("if", "check"),
    ("when", "check"),
];

impl Parser<'_> {
    /// A line at the margin: a header, or something that should be indented.
    pub(super) fn margin_line(&mut self, line: Line) {
        match grammar::margin_line(self.slice(line.content), line.content.start) {
            Shape::Header(header) => self.header(line, header),
            Shape::Step { name: label, rest } | Shape::Misnamed { label, rest }
                if self.slice(rest).trim().is_empty() =>
            {
                self.unknown_block(line, label);
            }
            shape => match self.open {
                Some(open) if open.implicit => self.line_of_block(line, shape),
                Some(open) => {
                    let indent = open.indent.unwrap_or(2);
                    self.report(
                        Finding::error(code::INDENTATION, "a line of a block is indented")
                            .at(line.content, "this stands at the margin")
                            .at(open.header, "the block")
                            .help("indent it")
                            .fix(line.content.before(), " ".repeat(indent)),
                    );
                    self.mark_broken();
                    self.line_of_block(line, shape);
                }
                None => self.outside(line, shape),
            },
        }
    }

    /// Ends the open block.
    pub(super) fn close_block(&mut self) {
        let Some(open) = self.open.take() else { return };
        let (word, what) = match open.kind {
            OpenKind::Inputs => ("inputs", "one line each: `channel: text`"),
            OpenKind::Block(_, BlockKind::Together) => ("together", "its steps, indented"),
            OpenKind::Block(_, BlockKind::Then) => ("then", "its steps, indented"),
            OpenKind::Block(_, BlockKind::AskMe) => ("ask me", "a question, indented: `- post it?`"),
            OpenKind::Block(_, BlockKind::Check) => ("check", "a test, indented: `- {mail} is not empty`"),
        };
        if open.lines > 0 {
            return;
        }
        self.report(
            Finding::error(code::EMPTY_BLOCK, format!("`{word}:` is empty"))
                .at(open.header, "nothing stands in this block")
                .help(format!("write {what}, or take the line out")),
        );
    }

    /// A step before any block: read as if it stood in a `then:`, so that its name is known.
    pub(super) fn outside(&mut self, line: Line, shape: Shape) {
        self.report(
            Finding::error(code::OUTSIDE_BLOCK, "this stands in no block")
                .at(line.content, "")
                .help("begin with `together:`, `then:`, `ask me:`, `check:` or `inputs:` at the margin and indent what belongs to it"),
        );
        self.open_block(line.content, Word::Block(BlockKind::Then), None);
        self.mark_broken();
        if let Some(open) = &mut self.open {
            open.implicit = true;
        }
        if let Shape::Step { .. } = shape {
            self.line_of_block(line, shape);
        } else {
            self.rescue(line.indent, None);
        }
    }

    fn unknown_block(&mut self, line: Line, label: Place) {
        let text = clean_name(self.slice(label));
        let mut words = text.split_whitespace();
        let first = words.next().unwrap_or_default();
        let known = WORDS.iter().map(|(word, _)| *word);
        let lower = first.to_lowercase();
        let instead = INSTEAD.iter().find(|(other, _)| *other == lower).map(|(_, word)| *word);
        let meant = instead.or_else(|| Suggester::new().nearest(&lower, known).map(|near| near.name));
        let finding = Finding::error(code::UNKNOWN_BLOCK, format!("there is no block {}", shown(&text)))
            .at(line.content, "")
            .help_if(Some(match meant {
                Some(word) => format!("did you mean `{word}:`?"),
                None => "the blocks are `inputs:`, `together:`, `then:`, `ask me:` and `check:`".into(),
            }));
        let found = meant.and_then(|word| WORDS.iter().find(|(w, _)| *w == word));
        self.report(match found {
            Some((word, _)) => finding.fix(Place::new(label.start, label.start + first.len()), *word),
            None => finding,
        });
        self.close_block();
        let word = found.map_or(Word::Block(BlockKind::Then), |(_, word)| *word);
        self.open_block(line.content, word, None);
        self.mark_broken();
    }

    fn header(&mut self, line: Line, header: Header) {
        let written: Vec<&str> = self.slice(header.word).split_whitespace().collect();
        let written = clean_name(&written.join(" "));
        let lower = written.to_lowercase();
        let Some((text, word)) = WORDS.iter().find(|(text, _)| *text == lower) else {
            return self.unknown_block(line, header.word);
        };
        let bad = |message: String| Finding::error(code::BLOCK_LINE, message);
        let mut broken = true;
        if !header.colon {
            let label = header.label.map(|label| self.source.trim(label));
            let end = label.unwrap_or(header.word);
            let colon = bad(format!("`{text}` lacks its colon")).at(end, "");
            self.report(match label {
                Some(label) if !grammar::is_name(self.slice(label)) => {
                    colon.help(format!("write `{text}:` and below it, indented, its lines"))
                }
                _ => colon.fix(end.after(), ":"),
            });
        } else if !self.slice(header.rest).trim().is_empty() {
            self.report(
                bad(format!("something follows `{text}:`"))
                    .at(self.source.trim(header.rest), "this belongs on a line of its own, indented"),
            );
        } else if written != *text {
            self.report(
                bad(format!("`{text}:` is written in small letters"))
                    .at(header.word, "")
                    .fix(header.word, *text),
            );
        } else {
            broken = false;
        }
        let name = header.label.filter(|_| header.colon).and_then(|label| {
            let label = self.source.trim(label);
            if matches!(word, Word::Block(BlockKind::Together | BlockKind::Then)) {
                let name = self.checked_name(label);
                broken |= name.is_none();
                return name;
            }
            broken = true;
            let gap = Place::new(header.word.end, label.end);
            self.report(bad(format!("`{text}:` has no name")).at(label, "").fix(gap, ""));
            None
        });
        self.close_block();
        self.open_block(line.content, *word, name);
        if broken {
            self.mark_broken();
        }
    }

    fn open_block(&mut self, header: Place, word: Word, name: Option<Name>) {
        let kind = match word {
            Word::Inputs => {
                if let Some(first) = self.inputs_at {
                    self.report(
                        Finding::error(code::SECOND_INPUTS, "`inputs:` stands twice")
                            .at(header, "")
                            .at(first, "the first one")
                            .help("add these lines to the first one"),
                    );
                }
                self.inputs_at.get_or_insert(header);
                OpenKind::Inputs
            }
            Word::Block(kind) => {
                self.recipe.blocks.push(Block { kind, place: header, name, need: None, broken: false });
                OpenKind::Block(self.recipe.blocks.len() - 1, kind)
            }
        };
        self.open = Some(Open {
            kind,
            header,
            indent: None,
            guard_indent: None,
            question: None,
            lines: 0,
            need: false,
            implicit: false,
        });
    }

    pub(super) fn looks_like_header(&self, label: Place) -> bool {
        let text = self.slice(label).trim();
        WORDS.iter().any(|(word, _)| {
            text.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    }
}
