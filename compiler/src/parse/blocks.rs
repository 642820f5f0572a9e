//! Blocks: their headers, and which line of a block is what.

use plangate_graph::outline::BlockKind;

use super::Parser;
use super::lines::Line;
use crate::characters::{clean_name, shown};
use crate::diagnostic::{Finding, code};
use crate::grammar::{self, Header, Shape};
use crate::recipe::{Block, Body, Item, Settings};
use crate::source::Place;
use crate::suggest::Suggester;

/// The block whose lines are being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) kind: OpenKind,
    header: Place,
    /// Indentation of its lines, once there is one.
    pub(super) indent: Option<usize>,
    /// Indentation of the steps under its current question or check.
    guard_indent: Option<usize>,
    /// Its current question or check.
    question: Option<usize>,
    /// How many lines it has.
    pub(super) lines: usize,
    /// It has a `need:`.
    pub(super) need: bool,
    /// Nobody typed its header: it holds what stood in no block.
    implicit: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenKind {
    Inputs,
    /// Index into the recipe's blocks.
    Block(usize, BlockKind),
}

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

    /// An indented line.
    pub(super) fn block_line(&mut self, line: Line) {
        let shape = grammar::block_line(self.slice(line.content), line.content.start);
        if self.open.is_none() {
            self.outside(line, shape);
        } else {
            self.line_of_block(line, shape);
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
    fn outside(&mut self, line: Line, shape: Shape) {
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

    fn open_block(&mut self, header: Place, word: Word, name: Option<crate::recipe::Name>) {
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

    /// A line of the open block could not be read: no more is concluded from what the block seems to hold.
    pub(super) fn mark_broken(&mut self) {
        let Some(open) = &mut self.open else { return };
        open.lines += 1;
        if let OpenKind::Block(index, _) = open.kind
            && let Some(block) = self.recipe.blocks.get_mut(index)
        {
            block.broken = true;
        }
    }

    fn line_of_block(&mut self, line: Line, shape: Shape) {
        let Some(mut open) = self.open else { return };
        open.lines += 1;
        let guards = matches!(open.kind, OpenKind::Block(_, BlockKind::AskMe | BlockKind::Check));
        let mut guarded = guards && open.question.is_some();
        if line.indent == 0 {
            // Reported already, and no measure for the others.
            guarded &= matches!(shape, Shape::Step { .. });
        } else {
            let indent = *open.indent.get_or_insert(line.indent);
            guarded &= line.indent > indent;
            let level = if guarded { *open.guard_indent.get_or_insert(line.indent) } else { indent };
            let need = matches!(shape, Shape::Step { name, .. } if self.slice(name) == "need");
            if line.indent != level && !need {
                self.report(misplaced(line, level, open.header));
                self.mark_broken();
            }
        }
        self.open = Some(open);
        match open.kind {
            OpenKind::Inputs => self.input_line(line, shape),
            OpenKind::Block(index, kind @ (BlockKind::Together | BlockKind::Then)) => {
                self.step_line(line, shape, index, kind, None);
            }
            OpenKind::Block(index, kind) if guarded => {
                self.step_line(line, shape, index, kind, open.question);
            }
            OpenKind::Block(index, kind) => self.dash_line(line, shape, index, kind),
        }
    }

    /// A line where a step stands.
    fn step_line(&mut self, line: Line, shape: Shape, block: usize, kind: BlockKind, under: Option<usize>) {
        match shape {
            Shape::Step { name, rest } => {
                if self.slice(name) == "need" {
                    return self.need(line, rest, block, kind);
                }
                if self.slice(rest).is_empty() && self.looks_like_header(name) {
                    return self.nested(line, under);
                }
                let name = self.step_name(name);
                self.step(line, name, rest, block, under);
            }
            Shape::Misnamed { label, rest } => {
                if self.slice(rest).is_empty() && self.looks_like_header(label) {
                    return self.nested(line, under);
                }
                let name = self.checked_name(label);
                self.step(line, name, rest, block, under);
            }
            Shape::Question { .. } => {
                let finding = Finding::error(code::DASH, "a line with `- ` stands where a step should")
                    .at(line.content, "");
                self.report(if under.is_some() {
                    finding.help("a question or check is indented as far as the others of its block")
                } else {
                    finding
                        .help("questions stand in `ask me:`, tests in `check:`; a step is written `name: …`")
                });
                self.mark_broken();
                self.rescue(line.indent, under);
            }
            Shape::Header(_) | Shape::Other => {
                if let Some((name, rest)) = self.lacks_colon(line) {
                    return self.step(line, Some(name), rest, block, under);
                }
                let finding = Finding::error(code::NOT_A_LINE, "this line is no step").at(line.content, "");
                self.report(finding.help(if under.is_some() {
                    "a question or check is one line; a step under it is written `name: server.tool {…}` or `name: a sentence`"
                } else {
                    "a step is written `name: server.tool {…}` or `name: a sentence`"
                }));
                self.mark_broken();
                self.rescue(line.indent, under);
            }
        }
    }

    /// A line of `ask me:` or `check:` itself.
    fn dash_line(&mut self, line: Line, shape: Shape, block: usize, kind: BlockKind) {
        let (word, example) = match kind {
            BlockKind::Check => ("check", "`- {mail} is not empty`"),
            _ => ("ask me", "`- post it?`"),
        };
        let Shape::Question { rest } = shape else {
            self.report(
                Finding::error(code::DASH, format!("a line of `{word}:` begins with `- `"))
                    .at(line.content, "")
                    .help(format!("write {example}, and indent the steps it guards under it")),
            );
            self.mark_broken();
            match shape {
                Shape::Step { name, rest } => {
                    let name = self.step_name(name);
                    self.step(line, name, rest, block, None);
                }
                _ => self.rescue(line.indent, None),
            }
            return;
        };
        let words = self.source.trim(rest);
        let body = if words.start == words.end {
            self.report(
                Finding::error(code::SAYS_NOTHING, "nothing follows the `-`")
                    .at(line.content, "")
                    .help(format!("write {example}")),
            );
            Body::Broken
        } else if kind == BlockKind::Check {
            self.check(words)
        } else {
            Body::Question(self.words(words))
        };
        let broken = matches!(body, Body::Broken);
        // A broken question stays a question, so that what stands under it is still guarded by something.
        let body = if broken { Body::Question(Vec::new()) } else { body };
        let item =
            Item { block, under: None, line: line.content, name: None, body, settings: Settings::default() };
        self.recipe.items.push(item);
        if let Some(open) = &mut self.open {
            open.question = Some(self.recipe.items.len() - 1);
            open.guard_indent = None;
        }
        if broken {
            self.mark_broken();
        }
    }

    /// A step whose colon was forgotten: a name, and behind it what can only be a call.
    fn lacks_colon(&mut self, line: Line) -> Option<(crate::recipe::Name, Place)> {
        let (first, rest) = grammar::body(self.slice(line.content), line.content.start);
        let name = first.filter(|first| grammar::is_name(self.slice(*first)))?;
        self.is_call(rest).then(|| {
            self.report(
                Finding::error(code::NOT_A_LINE, "a colon is missing")
                    .at(name, "this is the step's name")
                    .fix(name.after(), ":"),
            );
            self.mark_broken();
            (self.name(name), rest)
        })
    }

    fn looks_like_header(&self, label: Place) -> bool {
        let text = self.slice(label).trim();
        WORDS.iter().any(|(word, _)| {
            text.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    }

    /// A block inside a block.
    fn nested(&mut self, line: Line, under: Option<usize>) {
        self.report(
            Finding::error(code::NESTED_BLOCK, "a block stands inside a block")
                .at(line.content, "")
                .help("blocks begin at the margin; a recipe has one level of them, so that a card can show all of it"),
        );
        self.mark_broken();
        self.rescue(line.indent, under);
    }

    /// Reads the steps below a line that could not be read, so that their names are known. Other lines are passed over.
    fn rescue(&mut self, indent: usize, under: Option<usize>) {
        let Some(Open { kind: OpenKind::Block(block, _), .. }) = self.open else {
            return self.skip_deeper(indent);
        };
        while let Some(line) = self.take_deeper(indent) {
            if let Shape::Step { name, rest } =
                grammar::block_line(self.slice(line.content), line.content.start)
                && !super::RESERVED.contains(&self.slice(name))
            {
                let name = Some(self.name(name));
                self.step(line, name, rest, block, under);
            }
        }
    }
}

fn misplaced(line: Line, level: usize, header: Place) -> Finding {
    let message = format!("this line is indented by {}, its block's lines by {level}", line.indent);
    Finding::error(code::INDENTATION, message)
        .at(line.content, "")
        .at(header, "the block")
        .help("lines of one block begin in one column; deeper lines belong to the line above them")
}
