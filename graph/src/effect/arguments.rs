//! Layer 1, the arguments: what a closed list of values answers, and text that is run where it arrives.

use super::grammar::{Takes, of_words};
use super::name::Reading;
use super::properties::{self, Property};
use super::tokens::{fold, split};
use super::unit::singular;
use super::words::{Says, Usage, words};
use super::{Effect, Signal};
use crate::catalog::Definition;
use crate::template::Template;

/// What the arguments say.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// Every rule that fired.
    pub(super) signals: Vec<Signal>,
    /// How far the arguments say which of the things that the tool can do this call does.
    pub(super) answered: Answered,
    /// What the name may be read with.
    pub(super) takes: Takes,
}

/// How far the arguments answer for the tool as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Answered {
    /// Not at all.
    #[default]
    No,
    /// It does one of several things, all of which only read: a name that could mean anything no longer counts.
    OnlyReads,
    /// A literal says what this call does: what the tool says of itself as a whole no longer counts.
    ByLiteral,
}

/// Reads the arguments of a call, or of the tool as such where none are given.
pub(super) fn of_call(definition: &Definition, args: Option<&Template>) -> Arguments {
    let properties = properties::of(&definition.input_schema);
    let known = !properties.is_empty();
    let named = split(&definition.name);
    let takes = Takes {
        records: known,
        picks: properties::are_listed(&definition.input_schema)
            && properties.iter().all(|property| picks(property, &named)),
        content: known && !properties.iter().any(kept),
    };
    let mut found = Arguments { takes, ..Arguments::default() };
    let mut answers = Vec::new();
    let runs_text = speaks_a_language(definition);
    for property in &properties {
        let words_of = split(&property.name);
        let open = property.values.is_empty();
        match words().argument(&words_of) {
            Some("text") if open => found.signals.push(free_text(&property.name)),
            Some("query") if open && runs_text => found.signals.push(free_text(&property.name)),
            Some("query" | "language") if open => found.takes.records = false,
            Some("file") => found.signals.push(Signal::raises(
                "argument-file",
                format!("writes a file (argument {})", property.name),
                Effect::Write,
            )),
            Some("switch") => found.signals.push(Signal::raises(
                "argument-switch",
                format!("changes something unless told not to (argument {})", property.name),
                Effect::Write,
            )),
            Some("selector" | "text") if !open => answers.push(answer(property, args)),
            Some("mode") if property.values.iter().any(|value| is_certain(&read(value))) => {
                answers.push(answer(property, args));
            }
            Some(_) => {}
            None => found.signals.extend(switch_of_change(property, &words_of)),
        }
    }
    found.answered = answers.iter().map(|answer| answer.settles).min().unwrap_or_default();
    found.signals.extend(answers.into_iter().filter_map(|answer| answer.signal));
    found
}

/// What an argument that says which of several things is done says.
struct Answer {
    signal: Option<Signal>,
    settles: Answered,
}

/// What the literal value says, or else the strongest of the values that it can be.
fn answer(property: &Property, args: Option<&Template>) -> Answer {
    let name = &property.name;
    if is_raw_request(&property.values) {
        let says = format!("makes a request of any kind (argument {name})");
        let signal = Signal::raises("argument-raw-request", says, Effect::Unknown);
        return Answer { signal: Some(signal), settles: Answered::No };
    }
    // Some servers take `ACTION` for `action`: where both are given, nobody knows which of them counts.
    let given = args
        .filter(|args| !args.is_doubled(name))
        .and_then(|args| args.member(name))
        .and_then(|member| Some(member.literal()?.text()?.to_owned()));
    if let Some(value) = given.filter(|given| property.values.contains(given)) {
        let signal = signal(&read(&value), &format!("argument {name} {:?}", shown(&value)));
        let settles = if signal.is_some() { Answered::ByLiteral } else { Answered::No };
        return Answer { signal, settles };
    }
    let readings: Vec<_> = property.values.iter().map(|value| (value, read(value))).collect();
    let says_nothing =
        |value: &str| ["my", "mine", "me", "all", "any", "none"].contains(&value.to_lowercase().as_str());
    if readings.iter().any(|(_, reading)| reading.reads.is_some())
        && readings.iter().all(|(value, reading)| reading.reads.is_some() || says_nothing(value))
    {
        let says = format!("reads, whatever {name} is (argument {name})");
        return Answer { signal: Some(Signal::clears("argument-reads", says)), settles: Answered::OnlyReads };
    }
    let strongest = readings
        .iter()
        .filter_map(|(value, reading)| signal(reading, &format!("argument {name} may be {:?}", shown(value))))
        .filter(|signal| signal.raises)
        .reduce(|a, b| if b.evidence.effect > a.evidence.effect { b } else { a });
    Answer { signal: strongest, settles: Answered::No }
}

fn signal(reading: &Reading, place: &str) -> Option<Signal> {
    if let Some(found) = &reading.reads {
        return Some(Signal::clears("argument-reads", format!("{} ({place})", found.verb.sentence)));
    }
    let strongest = reading.changes.iter().max_by_key(|found| found.effect())?;
    let code = format!("argument-{}-{}", strongest.part, strongest.verb.group);
    Some(Signal::raises(code, format!("{} ({place})", strongest.verb.sentence), strongest.effect()))
}

fn shown(value: &str) -> String {
    value.chars().take(40).collect()
}

fn read(value: &str) -> Reading {
    of_words(&split(value), Takes::VALUE)
}

/// Whether a value is a verb of change for certain, not a noun that could be one.
fn is_certain(reading: &Reading) -> bool {
    reading.changes.iter().any(|found| matches!(found.verb.usage, Usage::Verb | Usage::Made))
}

/// Whether an argument only picks what is looked at, of what a tool of this name gives back: `page_size` and, of
/// `channel_members`, `channel_id`. `member_id` is the one that something may be done with, and so is a bare `id`.
fn picks(property: &Property, named: &[String]) -> bool {
    let words_of = split(&property.name);
    let Some((last, before)) = words_of.split_last() else { return false };
    let is = |group, word: &str| words().argument_part(group, word);
    let head = named.iter().take_while(|word| *word != "by").last();
    let of_head = |word: &String| {
        let one = |word: &String| singular(word).unwrap_or_else(|| word.clone());
        head.is_some_and(|head| one(head) == one(word))
            || ["entity", "device", "item", "object"].contains(&word.as_str())
    };
    if is("one", last) && before.last().is_none_or(of_head) {
        return false;
    }
    is("picks", last)
        || is("picks", &words_of.join("_"))
        || (!before.is_empty()
            && (is("tail", last) || words_of.first().is_some_and(|first| is("lead", first))))
}

/// Whether an argument holds or names something kept elsewhere: `input_path`.
fn kept(property: &Property) -> bool {
    split(&property.name).iter().any(|word| words().argument_part("kept", word))
}

fn is_raw_request(values: &[String]) -> bool {
    let methods = ["get", "post", "put", "patch", "delete", "head", "options"];
    let upper = values.iter().filter(|v| methods.contains(&v.to_lowercase().as_str())).count();
    upper >= 2 && values.iter().any(|v| ["post", "put", "patch"].contains(&v.to_lowercase().as_str()))
}

fn free_text(name: &str) -> Signal {
    let says = format!("runs the text that it is given (argument {name})");
    Signal::raises("argument-free-text", says, Effect::Unknown)
}

/// A yes/no argument whose name is a verb of change: `send_notification`, `delete_source`.
fn switch_of_change(property: &Property, words_of: &[String]) -> Option<Signal> {
    let first = words().word(words_of.first()?).verb?;
    let changes = matches!(first.says, Says::Changes(_)) && matches!(first.usage, Usage::Verb | Usage::Made);
    let of_the_answer = words().argument_part("answer", &words_of.join("_"));
    (property.boolean && changes && words_of.len() > 1 && !of_the_answer).then(|| {
        let says = format!("can change something on the way (argument {})", property.name);
        Signal::raises("argument-switch", says, Effect::Write)
    })
}

/// Whether the tool speaks of a language in which reading and changing look alike.
fn speaks_a_language(definition: &Definition) -> bool {
    let languages = ["sql", "cypher", "graphql", "gremlin", "sparql", "soql", "mql", "tsql", "plsql"];
    split(&definition.name).iter().any(|word| languages.contains(&word.as_str()))
        || fold(&definition.description)
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| languages.contains(&word))
}
