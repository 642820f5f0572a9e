//! Blocks: which line of a block is what.

use plangate_graph::outline::BlockKind;

use super::Parser;
use super::lines::Line;
use crate::diagnostic::{Finding, code};
use crate::grammar;
use crate::recipe::{Body, Item, Name, Settings};
use crate::source::Place;
use crate::tokens::Shape;

/// The block whose lines are being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) kind: OpenKind,
    pub(super) header: Place,
    /// Indentation of its lines, once there is one.
    pub(super) indent: Option<usize>,
    /// Indentation of the steps under its current question or check.
    pub(super) guard_indent: Option<usize>,
    /// Its current question or check.
    pub(super) question: Option<usize>,
    /// How many lines it has.
    pub(super) lines: usize,
    /// It has a `need:`.
    pub(super) need: bool,
    /// Nobody typed its header: it holds what stood in no block.
    pub(super) implicit: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenKind {
    Inputs,
    /// Index into the recipe's blocks.
    Block(usize, BlockKind),
}

impl Parser<'_> {
    /// An indented line.
    pub(super) fn block_line(&mut self, line: Line) {
        let shape = grammar::block_line(self.slice(line.content), line.content.start);
        if self.open.is_none() {
            self.outside(line, shape);
        } else {
            self.line_of_block(line, shape);
        }
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

    pub(super) fn line_of_block(&mut self, line: Line, shape: Shape) {
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
    fn lacks_colon(&mut self, line: Line) -> Option<(Name, Place)> {
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
    pub(super) fn rescue(&mut self, indent: usize, under: Option<usize>) {
        let Some(Open { kind: OpenKind::Block(block, _), .. }) = self.open else {
            return self.skip_deeper(indent);
        };
        while let Some(line) = self.take_deeper(indent) {
            if let Shape::Step { name, rest } =
                grammar::block_line(self.slice(line.content), line.content.start)
                && !super::RESERVED.contains(&self.slice(name))
            {
                let name = self.checked_name(name);
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
