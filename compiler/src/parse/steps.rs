//! Steps: calls and sentences, and the lines that belong to them.

use super::lines::Line;
use super::{Parser, RESERVED};
use crate::characters::shown;
use crate::diagnostic::{Finding, code};
use crate::grammar;
use crate::recipe::{Body, Call, Item, Name, Sentence, Settings, TextPart};
use crate::source::Place;
use crate::tokens::Shape;

/// Where the arguments of a call begin.
#[derive(Clone, Copy, Debug)]
enum Arguments {
    /// On the step's own line.
    Here,
    /// On the line below.
    Below,
    Missing,
}

impl Parser<'_> {
    /// A step's name; one that is the word of a setting is refused.
    pub(super) fn step_name(&mut self, place: Place) -> Option<Name> {
        let name = self.checked_name(place)?;
        if !RESERVED.contains(&name.text.as_str()) {
            return Some(name);
        }
        self.report(
            Finding::error(code::RESERVED_NAME, format!("`{}` cannot name a step", name.text))
                .at(place, "this word begins a setting")
                .help("a setting is indented deeper than its step; a step needs another name"),
        );
        None
    }

    /// Reads a step whose name is read, with every deeper line below it.
    pub(super) fn step(
        &mut self,
        line: Line,
        name: Option<Name>,
        rest: Place,
        block: usize,
        under: Option<usize>,
    ) {
        let mut settings = Settings::default();
        let (word, after) = grammar::body(self.slice(rest), rest.start);
        let body = match self.call_shape(line, word, after) {
            Some(arguments) => self.call(line, word, after, arguments, &mut settings),
            None => self.sentence(line, rest, word, after, &mut settings),
        };
        if name.is_none() || matches!(body, Body::Broken) {
            self.mark_broken();
        }
        self.recipe.items.push(Item { block, under, line: line.content, name, body, settings });
    }

    /// Whether this would be a call if it stood behind a name.
    pub(super) fn is_call(&self, rest: Place) -> bool {
        let (word, after) = grammar::body(self.slice(rest), rest.start);
        let dotted = word.is_some_and(|word| self.slice(word).contains('.'));
        let line = Line { indent: usize::MAX, content: rest, doubtful_comment: None };
        dotted && self.call_shape(line, word, after).is_some()
    }

    /// Whether a step is a call: its first word names a server of the catalog, or arguments follow it. Behind a word
    /// with a dot also what only begins like arguments is taken for them.
    fn call_shape(&self, line: Line, word: Option<Place>, after: Place) -> Option<Arguments> {
        let text = self.slice(after);
        let next = self.peek().filter(|next| next.indent > line.indent).map(|next| self.slice(next.content));
        let next = next.unwrap_or_default();
        let (arguments, first) = match text {
            "" if next.starts_with('{') => (Arguments::Below, next),
            text if text.starts_with('{') => (Arguments::Here, text),
            _ => (Arguments::Missing, ""),
        };
        let tight = text.starts_with("{\"") || text.starts_with("{}");
        let Some(word) = word else { return tight.then_some(arguments) };
        let word = self.slice(word);
        let inside = first.strip_prefix('{').map(str::trim_start);
        let begun = inside.is_some_and(|inside| inside.is_empty() || inside.starts_with(['"', '}']));
        (tight || begun && word.contains('.') || self.server_of(word).is_some()).then_some(arguments)
    }

    /// The longest server name of the catalog that this word begins with, followed by a dot.
    fn server_of(&self, word: &str) -> Option<usize> {
        let dots = word.rmatch_indices('.').map(|(at, _)| at);
        dots.into_iter()
            .find(|at| word.get(..*at).is_some_and(|server| self.catalog.server(server).is_some()))
    }

    fn call(
        &mut self,
        line: Line,
        word: Option<Place>,
        after: Place,
        arguments: Arguments,
        settings: &mut Settings,
    ) -> Body {
        let start = match arguments {
            Arguments::Here => Some(after),
            Arguments::Below => self.take().map(|below| below.content),
            Arguments::Missing => {
                self.arguments_missing(word, after);
                None
            }
        };
        let read = start.map(|start| self.arguments(start, line.indent));
        let mut call = Call { tool: word.unwrap_or(after.before()), args: None, without_asking: false };
        if let Some((args, rest)) = read {
            call.args = args;
            // Without a server it is most likely a sentence, and what follows is the rest of it.
            let named = word.is_some_and(|word| self.slice(word).contains('.'));
            call.without_asking = named && self.after_arguments(rest);
        }
        self.below_call(line, &mut call, settings, start.is_some());
        if word.is_some() {
            Body::Call(call)
        } else {
            self.report(
                Finding::error(code::NO_SERVER, "arguments without a tool")
                    .at(after, "")
                    .help("a call is written `name: server.tool {…}`"),
            );
            Body::Broken
        }
    }

    fn arguments_missing(&mut self, word: Option<Place>, after: Place) {
        let Some(word) = word else { return };
        let tool = self.slice(word);
        // A tool that does not exist is one mistake, not two.
        let known = self
            .server_of(tool)
            .and_then(|at| Some((tool.get(..at)?, tool.get(at + 1..)?)))
            .and_then(|(server, tool)| self.catalog.definition(server, tool));
        let Some(definition) = known else { return };
        let wanted = super::arguments::required(&definition.input_schema);
        let finding =
            Finding::error(code::ARGUMENTS_REQUIRED, format!("{} lacks its arguments", shown(tool)))
                .at(word.after(), "arguments are expected here");
        let text = self.slice(after);
        let finding = if !text.is_empty() {
            finding.help(format!(
                "arguments are a JSON object: `{tool} {{…}}`; if this is a sentence, begin it with another word"
            ))
        } else if wanted.is_empty() {
            finding.fix(word.after(), " {}")
        } else {
            finding.help(format!("it requires {}", wanted.join(", ")))
        };
        self.report(finding);
    }

    /// What stands behind the arguments: nothing, or `without asking`.
    fn after_arguments(&mut self, rest: Place) -> bool {
        let rest = self.source.trim(rest);
        let text = self.slice(rest);
        if text.is_empty() || text == "without asking" {
            return !text.is_empty();
        }
        let finding = Finding::error(code::AFTER_ARGUMENTS, "something follows the arguments").at(rest, "");
        let punctuation = text.chars().all(|c| c.is_ascii_punctuation());
        self.report(if punctuation {
            finding.fix(rest, "")
        } else if text.eq_ignore_ascii_case("without asking") {
            finding.fix(rest, "without asking")
        } else {
            finding.help(
                "only `without asking` may stand here; settings go on lines of their own, indented deeper",
            )
        });
        false
    }

    /// The lines below a call: settings, and nothing else.
    fn below_call(&mut self, step: Line, call: &mut Call, settings: &mut Settings, read: bool) {
        while let Some(line) = self.take_deeper(step.indent) {
            if self.setting(line, settings) {
                continue;
            }
            let text = self.slice(line.content);
            if text == "without asking" {
                call.without_asking = true;
                continue;
            }
            if !read {
                // Its arguments were missing, so this line may be anything; that was reported.
                continue;
            }
            if let Shape::Step { name, rest } = grammar::block_line(text, line.content.start) {
                if self.unknown_setting(name, rest) {
                    continue;
                }
                if !self.slice(rest).trim().is_empty() {
                    // Most likely the next step, indented too far: it is read as one.
                    self.next -= 1;
                    break;
                }
            }
            self.report(
                Finding::error(code::STRAY_LINE, "this line belongs to no step")
                    .at(line.content, "")
                    .help("below a call stand only its settings: `timeout:`, `retry:`, `after:`"),
            );
        }
    }

    fn sentence(
        &mut self,
        step: Line,
        rest: Place,
        word: Option<Place>,
        after: Place,
        settings: &mut Settings,
    ) -> Body {
        let rest = self.source.trim(rest);
        let mut text = self.words(rest);
        let mut last = rest;
        let mut single = self.slice(after).is_empty();
        self.warn_arguments(word, after);
        let mut above = step;
        loop {
            if let Some((indent, comment)) = above.doubtful_comment
                && indent > step.indent
            {
                self.report(
                    Finding::warning(code::COMMENT_IN_SENTENCE, "this line is a comment, not part of the sentence")
                        .at(comment, "")
                        .help("a line that begins with `#` is a comment; move a word of the sentence in front of it"),
                );
            }
            let Some(line) = self.take_deeper(step.indent) else { break };
            above = line;
            if self.setting(line, settings) {
                continue;
            }
            self.warn_step_in_sentence(line);
            let words = self.words(line.content);
            if !text.is_empty() {
                text.push(TextPart::Lit(" ".into()));
                single = false;
            }
            text.extend(words);
            last = line.content;
        }
        if text.is_empty() {
            self.report(
                Finding::error(code::SAYS_NOTHING, "nothing follows the name")
                    .at(step.content, "")
                    .help("a step is a call, `server.tool {…}`, or a sentence"),
            );
            return Body::Broken;
        }
        let tail = self.slice(last);
        if let Some(before) = tail.strip_suffix("without asking")
            && (before.is_empty() || before.ends_with(' '))
        {
            let place = Place::new(last.start + before.len(), last.end);
            self.report(
                Finding::error(code::SENTENCE_WITHOUT_ASKING, "`without asking` stands at the end of a sentence")
                    .at(place, "")
                    .help("a sentence changes nothing and is never asked about; take this out, or say it in other words"),
            );
        }
        Body::Sentence(Sentence { text, word, single })
    }

    /// Behind a word without a dot, only `{"` and `{}` make a call; this is nearly one.
    fn warn_arguments(&mut self, word: Option<Place>, after: Place) {
        let Some(word) = word else { return };
        let inside = self.slice(after).strip_prefix('{').map(str::trim_start);
        if inside.is_some_and(|inside| inside.is_empty() || inside.starts_with('"')) {
            self.report(
                Finding::warning(
                    code::LOOKS_LIKE_CALL,
                    format!("{} is read as a sentence", shown(self.slice(word))),
                )
                .at(word, "it looks like a call")
                .help("a call is written `server.tool {…}`"),
            );
        }
    }

    /// A line of a sentence that looks like a step of its own.
    fn warn_step_in_sentence(&mut self, line: Line) {
        let Shape::Step { rest, .. } = grammar::block_line(self.slice(line.content), line.content.start)
        else {
            return;
        };
        let (Some(word), after) = grammar::body(self.slice(rest), rest.start) else { return };
        if self.server_of(self.slice(word)).is_some() && self.slice(after).starts_with('{') {
            self.report(
                Finding::warning(code::STEP_IN_SENTENCE, "this line continues the sentence above")
                    .at(line.content, "it looks like a step")
                    .help("a step is indented as far as the step above it"),
            );
        }
    }
}
