//! What may be read and waited for, and what may not.

use plangate_graph::outline::BlockKind;
use plangate_graph::template::{Part, Ref, Source, Template};

use super::{Named, Resolver, UnknownName};
use crate::characters::shown;
use crate::diagnostic::{Finding, code};
use crate::grammar;
use crate::recipe::{Arg, Doubt, Doubtful, Name, Reference, TextPart};
use crate::source::Place;
use crate::tokens::Piece;

/// No more places than this are shown of one unknown name.
const PLACES: usize = 4;

/// How a name is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Read,
    After,
}

impl Resolver<'_> {
    /// A reference of an item, looked up.
    pub(super) fn reference(&mut self, reader: usize, reference: &Reference) -> Option<Ref> {
        let name = &reference.name;
        let Some((named, at)) = self.names.find(name) else {
            self.unknown(name, reference.place, Use::Read);
            return None;
        };
        let source = match named {
            Named::Input(index) => {
                if let Some(read) = self.read.get_mut(index) {
                    *read = true;
                }
                Source::Input(name.clone())
            }
            Named::Block(block) => {
                self.block_named(block, name, reference.place, Use::Read);
                return None;
            }
            Named::Step(step) => {
                if !self.may_use(reader, step, name, reference.place, at, Use::Read) {
                    return None;
                }
                let block = self.recipe.items.get(reader).map(|item| item.block);
                if let Some(block) = block
                    && self.first_of.get(block).is_some_and(|first| step < *first)
                    && let Some(reads) = self.reads.get_mut(block)
                {
                    reads.push(step);
                }
                Source::Step(name.clone())
            }
        };
        Some(Ref { source, path: reference.path.clone() })
    }

    /// A step of an `after:`, looked up.
    pub(super) fn wait_for(&mut self, waiter: usize, name: &Name) -> Option<String> {
        match self.names.find(&name.text) {
            None => self.unknown(&name.text, name.place, Use::After),
            Some((Named::Input(_), at)) => self.findings.push(
                Finding::error(
                    code::AFTER_INPUT,
                    format!("`{}` is an input, nothing to wait for", name.text),
                )
                .at(name.place, "")
                .at(at, "the input")
                .help("inputs are there from the start; `after:` names steps"),
            ),
            Some((Named::Block(block), _)) => self.block_named(block, &name.text, name.place, Use::After),
            Some((Named::Step(step), at)) => {
                if self.may_use(waiter, step, &name.text, name.place, at, Use::After) {
                    return Some(name.text.clone());
                }
            }
        }
        None
    }

    /// Whether an item may read or wait for a step; if not, says why.
    fn may_use(&mut self, item: usize, step: usize, name: &str, place: Place, at: Place, used: Use) -> bool {
        let verb = if used == Use::Read { "reads" } else { "waits for" };
        let finding = if step == item {
            let message = format!("`{name}` {verb} itself");
            Finding::error(code::ITSELF, message).at(place, "").help("it can use only what stands above it")
        } else if step > item {
            let what = self.recipe.items.get(item).and_then(|item| item.name.as_ref());
            let who = what.map_or_else(|| "this".to_owned(), |name| format!("`{}`", name.text));
            Finding::error(code::LATER_STEP, format!("{who} {verb} `{name}`, which is typed below it"))
                .at(place, "")
                .at(at, "typed here")
                .help(format!("move `{name}` up"))
        } else if let Some(kind) = self.siblings(item, step) {
            let (message, help) = match kind {
                BlockKind::AskMe => (
                    format!(
                        "this {verb} `{name}`, which stands under another question of the same `ask me:`"
                    ),
                    "questions of one `ask me:` do not wait for each other; write a second `ask me:`",
                ),
                _ => (
                    format!("this {verb} `{name}`, which stands in the same `together:`"),
                    "steps of a `together:` do not need each other; move this one to a `then:`",
                ),
            };
            Finding::error(code::SIBLING, message).at(place, "").at(at, "its sibling").help(help)
        } else {
            return true;
        };
        self.findings.push(finding);
        false
    }

    fn block_named(&mut self, block: usize, name: &str, place: Place, used: Use) {
        let first = self.first_of.get(block).copied().unwrap_or(usize::MAX);
        let steps = self.recipe.items.iter().skip(first).take_while(|item| item.block == block);
        let steps: Vec<&str> =
            steps.filter_map(|i| i.name.as_ref()).map(|n| n.text.as_str()).take(8).collect();
        let steps = steps.join(", ");
        let (verb, instead) = match used {
            Use::Read => ("read", format!("in a sentence, `{{{steps}}}`")),
            Use::After => ("waited for", format!("`after: {steps}`")),
        };
        let finding =
            Finding::error(code::BLOCK_NAME, format!("`{name}` is a block, and blocks are not {verb}"))
                .at(place, "");
        let at = self.recipe.blocks.get(block).and_then(|block| block.name.as_ref()).map(|name| name.place);
        let finding = match at {
            Some(at) => finding.at(at, "its name labels the card"),
            None => finding,
        };
        self.findings.push(if steps.is_empty() {
            finding
        } else {
            finding.help(format!("name its steps: {instead}"))
        });
    }

    fn unknown(&mut self, name: &str, place: Place, used: Use) {
        let index = if let Some(index) = self.unknown.index.get(name) {
            *index
        } else {
            let index = self.unknown.names.len();
            self.unknown.index.insert(name.to_owned(), index);
            let braces = used == Use::Read;
            self.unknown.names.push(UnknownName { name: name.to_owned(), places: Vec::new(), braces });
            index
        };
        if let Some(unknown) = self.unknown.names.get_mut(index) {
            unknown.places.push(place);
        }
    }

    /// One finding for each unknown name, wherever it stands.
    pub(super) fn report_unknown(&mut self) {
        for unknown in std::mem::take(&mut self.unknown.names) {
            let Some(first) = unknown.places.first() else { continue };
            let first = self.name_only(*first);
            // A step stands above its own words, and cannot be meant.
            let line = self.source.line(self.source.line_of(first.start));
            let above = || self.names.above(line);
            let near = self.suggester.nearest(&unknown.name, above());
            let mut finding =
                Finding::error(code::UNKNOWN_NAME, format!("nothing is named {}", shown(&unknown.name)))
                    .at(first, "no input and no step");
            for place in unknown.places.iter().skip(1).take(PLACES - 1) {
                finding = finding.at(self.name_only(*place), "here too");
            }
            let mut help = match near {
                Some(near) => format!("did you mean `{}`?", near.name),
                None => match above().take(8).collect::<Vec<_>>().as_slice() {
                    [] => "nothing stands above that could be read.".to_owned(),
                    names => format!("above it stand: {}.", names.join(", ")),
                },
            };
            if unknown.braces {
                help.push_str(" Literal braces are written `{{` and `}}`");
            }
            if let (Some(near), [_]) = (near.filter(|near| near.certain), unknown.places.as_slice()) {
                finding = finding.fix(first, near.name);
            }
            self.findings.push(finding.help(help.trim_end_matches('.')));
        }
    }

    /// The name of a reference, without its path.
    fn name_only(&self, reference: Place) -> Place {
        let text = self.source.slice(reference);
        Place::new(reference.start, reference.start + text.find(['.', '[']).unwrap_or(text.len()))
    }

    /// An argument with its references looked up.
    pub(super) fn template(&mut self, reader: usize, arg: &Arg) -> Option<Template> {
        match arg {
            Arg::Lit(value) => Some(Template::Lit(value.clone())),
            Arg::Text(parts) => self.parts(reader, parts).map(Template::text),
            Arg::List(items) => {
                // Every element is looked at, so that all mistakes are said.
                let items: Vec<_> = items.iter().map(|item| self.template(reader, item)).collect();
                Some(Template::list(items.into_iter().collect::<Option<_>>()?))
            }
            Arg::Object(members) => {
                let members: Vec<_> = members
                    .iter()
                    .map(|(key, arg)| Some((key.clone(), self.template(reader, arg)?)))
                    .collect();
                Template::object(members.into_iter().collect::<Option<_>>()?).ok()
            }
        }
    }

    /// A text with its references looked up.
    pub(super) fn parts(&mut self, reader: usize, parts: &[TextPart]) -> Option<Vec<Part>> {
        let mut found: Vec<Part> = Vec::with_capacity(parts.len());
        let mut sound = true;
        for part in parts {
            match part {
                TextPart::Lit(text) => literal(&mut found, text),
                TextPart::Ref(reference) => match self.reference(reader, reference) {
                    Some(reference) => found.push(Part::Ref(reference)),
                    None => sound = false,
                },
                TextPart::Group(place, references) => {
                    self.group_in_string(*place, references);
                    sound = false;
                }
                TextPart::Doubtful(doubtful) => {
                    sound &= self.doubtful(doubtful);
                    literal(&mut found, &doubtful.literal);
                }
            }
        }
        sound.then_some(found)
    }

    fn group_in_string(&mut self, place: Place, references: &[Reference]) {
        let known = references.iter().all(|one| self.names.find(&one.name).is_some());
        let text = self.source.slice(place);
        let finding = Finding::error(code::GROUP_IN_STRING, "several references stand in one pair of braces")
            .at(place, "")
            .help("that is for sentences; in JSON each has its own braces, and literal braces are written `{{` and `}}`");
        let instead = if known {
            references
                .iter()
                .map(|one| format!("{{{}}}", self.source.slice(one.place)))
                .collect::<Vec<_>>()
                .join(", ")
        } else {
            format!("{{{text}}}")
        };
        self.findings.push(finding.fix(place, instead));
    }

    /// Says what braces around a known name mean. False if they are an error.
    fn doubtful(&mut self, doubtful: &Doubtful) -> bool {
        if self.names.find(&doubtful.name).is_none() {
            return true;
        }
        let text = self.source.slice(doubtful.place);
        if doubtful.doubt == Doubt::Path {
            let finding = Finding::error(code::REFERENCE_PATH, format!("{} is not a reference", shown(text)))
                .at(doubtful.place, "");
            let (help, better) = almost_path(&doubtful.literal);
            let is_reference = |text: &String| matches!(grammar::text(text, 0).as_slice(), [Piece::Ref(..)]);
            let finding = finding.help(help);
            self.findings.push(match better.filter(is_reference) {
                Some(better) => finding.fix(doubtful.place, better),
                None => finding,
            });
            return false;
        }
        let says = format!("{} is literal text, not a reference", shown(text));
        self.findings.push(
            Finding::warning(code::LITERAL_BRACES, says)
                .at(doubtful.place, format!("becomes {}", shown(&doubtful.literal)))
                .help(format!("the value of `{0}` is written `{{{0}}}`", doubtful.name)),
        );
        true
    }
}

fn literal(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        Some(Part::Lit(before)) => before.push_str(text),
        _ => parts.push(Part::Lit(text.to_owned())),
    }
}

/// What is wrong with the path of a reference, and how it may have been meant.
fn almost_path(reference: &str) -> (&'static str, Option<String>) {
    if reference.contains("['']") || reference.contains("[\"\"]") {
        return ("between the quotes of `['Full Name']` stands the name of a field; here is none", None);
    }
    if reference.contains("[\"") {
        let better = reference.replace("[\"", "['").replace("\"]", "']");
        return (
            "a field whose name is no plain name stands in single quotes: `['Full Name']`",
            Some(better),
        );
    }
    let after_quote = reference.rsplit_once("['").and_then(|(_, quoted)| Some(quoted.split_once('\'')?.1));
    match (after_quote, reference.contains("['")) {
        (Some(after), _) if !after.starts_with(']') => {
            let help =
                "`']` ends the name of a field in quotes, which has no `'`, `\"`, `\\` and no brace in it";
            return (help, None);
        }
        (None, true) => {
            let closed = reference.strip_suffix("]}").map(|open| format!("{open}']}}"));
            return ("the quote is not closed: `['Full Name']`", closed);
        }
        _ => {}
    }
    let help = "a path goes on with `.field` or `[0]`; literal braces are written `{{` and `}}`";
    (help, Some(with_brackets(reference)))
}

/// `{mail.0.from}` as `{mail[0].from}`.
fn with_brackets(reference: &str) -> String {
    let inner = reference.trim_start_matches('{').trim_end_matches('}');
    let mut parts = inner.split('.');
    let mut better = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if digits {
            better.extend(["[", part, "]"]);
        } else {
            better.extend([".", part]);
        }
    }
    format!("{{{better}}}")
}
