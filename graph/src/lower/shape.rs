//! What must hold of an outline before anything is derived from it. A compiled recipe always passes; an edited file may not.

use std::collections::{HashMap, HashSet};

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::is_nfc;

use super::lists::Lists;
use crate::card::visible::is_hidden;
use crate::outline::{BlockKind, Body, Input, InputKind, Item, Outline};
use crate::problem::Problem;
use crate::template::{Source, Template};
use crate::value::Value;

/// The names of inputs and steps; of an input there is no place.
#[derive(Default)]
pub(super) struct Names<'a>(HashMap<&'a str, Option<usize>>);

impl Names<'_> {
    /// The place of a step.
    pub(super) fn step(&self, name: &str) -> Option<usize> {
        self.0.get(name).copied().flatten()
    }
}

/// The names, and all faults of shape in typed order. `members`: the places of the items of each block.
pub(super) fn check<'a>(outline: &'a Outline, members: &Lists) -> (Names<'a>, Vec<Problem>) {
    let mut problems = Vec::new();
    places(outline, &mut problems);
    if !problems.is_empty() {
        return (Names::default(), problems); // Nothing else can be said of items that are nowhere.
    }
    let names = names(outline, &mut problems);
    for input in &outline.inputs {
        default(input, &mut problems);
    }
    for (place, item) in outline.items.iter().enumerate() {
        reads(outline, &names, place, item, &mut problems);
        afters(outline, &names, place, item, &mut problems);
        limits(place, item, &mut problems);
    }
    needs(outline, &names, members, &mut problems);
    bare_questions(outline, members, &mut problems);
    (names, problems)
}

fn places(outline: &Outline, problems: &mut Vec<Problem>) {
    let mut last = 0;
    for (place, item) in outline.items.iter().enumerate() {
        let mut fault = |message: String| problems.push(Problem::error("V0201", Some(place), message));
        let Some(block) = outline.blocks.get(item.block) else {
            fault(format!("{} stands in block {}, which does not exist", label(item), item.block));
            continue;
        };
        if item.block < last {
            fault(format!("{} stands after items of a later block", label(item)));
        }
        last = last.max(item.block);
        let step = item.name().is_some();
        let above = item.under.map(|under| (under, outline.items.get(under)));
        let fits = match (block.kind, &item.body, above) {
            (BlockKind::Together | BlockKind::Then, _, None) => step,
            (BlockKind::AskMe, Body::Question(_), None) | (BlockKind::Check, Body::Check(_), None) => true,
            (BlockKind::AskMe | BlockKind::Check, _, Some((under, Some(guard)))) => {
                step && under < place && guard.block == item.block && guard.name().is_none()
            }
            _ => false,
        };
        if !fits {
            fault(format!("{} cannot stand where it stands in a `{}:`", label(item), block.word()));
        }
    }
    for (at, block) in outline.blocks.iter().enumerate() {
        if block.need.is_some() && block.kind != BlockKind::Then {
            problems.push(Problem::error(
                "V0202",
                None,
                format!("block {at} has a `need`, and is no `then:`"),
            ));
        }
    }
}

fn names<'a>(outline: &'a Outline, problems: &mut Vec<Problem>) -> Names<'a> {
    let mut names: HashMap<&str, Option<usize>> = HashMap::with_capacity(outline.items.len());
    let inputs = outline.inputs.iter().map(|input| (input.name.as_str(), None));
    let steps = outline.items.iter().enumerate();
    let steps = steps.filter_map(|(place, item)| Some((item.name()?, Some(place))));
    for (name, place) in inputs.chain(steps) {
        let first = names.insert(name, place).is_none();
        named(name, place, first, problems);
    }
    // The name of a block labels the card and is not read; it is no other thing's name either.
    let mut blocks = HashSet::new();
    for name in outline.blocks.iter().filter_map(|block| block.name.as_deref()) {
        let first = !names.contains_key(name) && blocks.insert(name);
        named(name, None, first, problems);
    }
    Names(names)
}

fn named(name: &str, place: Option<usize>, first: bool, problems: &mut Vec<Problem>) {
    if !is_name(name) {
        let message = format!("{name:?} is no name: letters, digits, `-` and `_`");
        problems.push(Problem::error("V0203", place, message));
    } else if !name.is_ascii() && !is_nfc(name) {
        let message = format!("the name `{name}` is not in normal form: another could look just like it");
        problems.push(Problem::error("V0203", place, message));
    }
    if !first {
        problems.push(Problem::error("V0204", place, format!("the name {name:?} is given twice")));
    }
}

/// A default is what its input takes.
fn default(input: &Input, problems: &mut Vec<Problem>) {
    let fits = match (&input.default, input.kind) {
        (None, _)
        | (Some(Value::Text(_)), InputKind::Text)
        | (Some(Value::Number(_)), InputKind::Number)
        | (Some(Value::Bool(_)), InputKind::YesNo)
        | (Some(Value::List(_)), InputKind::List) => true,
        (Some(_), _) => false,
    };
    if !fits {
        let message = format!("the default of the input `{}` is nothing that it takes", input.name);
        problems.push(Problem::error("V0216", None, message));
    }
}

/// Whether a text is a name: it begins with a letter or `_`, and goes on with letters, digits, `-` and `_`. Marks that
/// many scripts combine with letters count as letters; what cannot be seen does not.
pub fn is_name(text: &str) -> bool {
    let letter = |c: char| c.is_alphabetic() && !is_hidden(c);
    if text.is_ascii() {
        // What most names are; the rule below says the same of it.
        let mut bytes = text.bytes();
        return bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
            && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    }
    let mut chars = text.chars();
    chars.next().is_some_and(|c| letter(c) || c == '_')
        && chars.all(|c| {
            letter(c) || c.is_numeric() || c == '-' || c == '_' || is_combining_mark(c) && !is_hidden(c)
        })
}

/// Whether two items are siblings: of one `together:`, or of different questions of one `ask me:`.
pub(super) fn siblings(outline: &Outline, a: usize, b: usize) -> bool {
    let (Some(one), Some(other)) = (outline.items.get(a), outline.items.get(b)) else { return false };
    one.block == other.block
        && match outline.blocks.get(one.block).map(|b| b.kind) {
            Some(BlockKind::Together) => true,
            Some(BlockKind::AskMe) => one.under.unwrap_or(a) != other.under.unwrap_or(b),
            _ => false,
        }
}

fn reads(outline: &Outline, names: &Names<'_>, place: usize, item: &Item, problems: &mut Vec<Problem>) {
    let loose = outline.blocks.get(item.block).and_then(|b| b.need).is_some_and(|need| need.k < need.n);
    item.each_ref(&mut |r| {
        let known = names.0.get(r.name());
        let at = match (&r.source, known) {
            (Source::Input(_), Some(None)) => return,
            (Source::Step(_), Some(Some(at))) => *at,
            _ => {
                let message = format!("{} reads `{}`, which is nowhere", label(item), r.name());
                problems.push(Problem::error("V0205", Some(place), message));
                return;
            }
        };
        if at >= place {
            let message = format!("{} reads `{}`, which stands below it", label(item), r.name());
            problems.push(Problem::error("V0206", Some(place), message));
        } else if siblings(outline, at, place) {
            let message = format!("{} reads its sibling `{}`", label(item), r.name());
            problems.push(Problem::error("V0207", Some(place), message));
        } else if loose
            && matches!(item.body, Body::Call(_))
            && outline.items.get(at).is_some_and(|i| i.block != item.block)
        {
            let message = format!(
                "an argument of {} reads `{}`, which its block's join may miss",
                label(item),
                r.name()
            );
            problems.push(Problem::error("V0208", Some(place), message));
        }
    });
    if let Body::Call(call) = &item.body
        && !matches!(&call.args, Template::Object(_) | Template::Lit(Value::Object(_)))
    {
        problems.push(Problem::error(
            "V0209",
            Some(place),
            format!("the arguments of {} are no object", label(item)),
        ));
    }
    if let Body::Call(call) = &item.body
        && call.args.depth() > MOST_DEPTH
    {
        let message = format!(
            "the arguments of {} hold references nested deeper than {MOST_DEPTH} levels",
            label(item)
        );
        problems.push(Problem::error("V0213", Some(place), message));
    }
}

fn afters(outline: &Outline, names: &Names<'_>, place: usize, item: &Item, problems: &mut Vec<Problem>) {
    for name in item.settings().into_iter().flat_map(|s| &s.after) {
        match names.step(name) {
            Some(at) if at < place && !siblings(outline, at, place) => {}
            _ => {
                let message = format!(
                    "{} says `after: {name}`, which is no step above it that it may wait for",
                    label(item)
                );
                problems.push(Problem::error("V0210", Some(place), message));
            }
        }
    }
}

/// Settings that a recipe can give.
fn limits(place: usize, item: &Item, problems: &mut Vec<Problem>) {
    let Some(settings) = item.settings() else { return };
    let mut fault = |what: String| {
        let message = format!("{} {what}", label(item));
        problems.push(Problem::error("V0215", Some(place), message));
    };
    if settings.timeout_ms.is_some_and(|ms| !(1..=LONGEST_TIMEOUT_MS).contains(&ms)) {
        fault("has a timeout that is no time from a millisecond to a day".to_owned());
    }
    if settings.retry > MOST_RETRIES {
        fault(format!("would be tried again more than {MOST_RETRIES} times"));
    }
    if settings.retry > 0 && matches!(item.body, Body::Sentence(_)) {
        fault("is a sentence, and only reads are tried again".to_owned());
    }
}

/// The longest timeout of a step, in milliseconds: a day.
const LONGEST_TIMEOUT_MS: u64 = 24 * 60 * 60 * 1000;

/// How often a read may be tried again.
const MOST_RETRIES: u32 = 100;

/// The places of the steps that a block's `need` counts, of those that its steps read: typed above the block, each once.
pub(super) fn counted(outline: &Outline, block: usize, reads: impl Iterator<Item = usize>) -> Vec<usize> {
    let above = |at: &usize| outline.items.get(*at).is_some_and(|i| i.block < block);
    let mut counted: Vec<usize> = reads.filter(above).collect();
    counted.sort_unstable();
    counted.dedup();
    counted
}

fn bare_questions(outline: &Outline, members: &Lists, problems: &mut Vec<Problem>) {
    let mut guards = vec![false; outline.items.len()];
    for guard in outline.items.iter().filter_map(|i| i.under) {
        if let Some(slot) = guards.get_mut(guard) {
            *slot = true;
        }
    }
    for places in members.iter() {
        let bare = |place: &&usize| {
            let item = outline.items.get(**place);
            matches!(item.map(|i| &i.body), Some(Body::Question(_))) && guards.get(**place) == Some(&false)
        };
        let mut found = places.iter().filter(bare);
        if let Some(place) = found.nth(MOST_BARE) {
            let message =
                format!("more than {MOST_BARE} questions of one `ask me:` guard everything below it");
            problems.push(
                Problem::error("V0214", Some(*place), message)
                    .help("ask them as one, or indent under each what it guards"),
            );
        }
    }
}

/// How many questions of one `ask me:` may guard everything below it. Each step below waits for each of them.
const MOST_BARE: usize = 32;

/// How deep lists and objects with references in them may be nested, so that what is written can be read again.
const MOST_DEPTH: usize = 48;

/// How many blocks of one recipe may have a `need`. A card with more is no longer read by anybody, and each one costs its
/// followers.
const MOST_NEEDS: usize = 2_000;

fn needs(outline: &Outline, names: &Names<'_>, members: &Lists, problems: &mut Vec<Problem>) {
    if outline.blocks.iter().filter(|b| b.need.is_some()).count() > MOST_NEEDS {
        problems.push(Problem::error("V0212", None, format!("more than {MOST_NEEDS} blocks have a `need`")));
        return;
    }
    for (at, block) in outline.blocks.iter().enumerate() {
        let (Some(need), items) = (block.need, members.get(at)) else { continue };
        let refs = items.iter().filter_map(|place| outline.items.get(*place)).flat_map(Item::refs);
        let n = counted(outline, at, refs.filter_map(|r| names.step(r.step()?))).len();
        if need.k < 1 || need.k > need.n || usize::try_from(need.n) != Ok(n) {
            let message =
                format!("block {at} needs {} of {}, and its steps read {n} steps above it", need.k, need.n);
            problems.push(Problem::error("V0211", items.first().copied(), message));
        }
    }
}

/// What an item is called in a message.
pub(super) fn label(item: &Item) -> String {
    match &item.body {
        Body::Call(call) => format!("`{}` ({}.{})", call.name, call.server, call.tool),
        Body::Sentence(sentence) => format!("`{}`", sentence.name),
        Body::Question(question) => {
            format!("the question {:?}", crate::template::source_text(&question.text))
        }
        Body::Check(check) => format!("the check of `{}`", check.left),
    }
}
