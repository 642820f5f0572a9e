//! Layer 1, the arguments: what a closed list of values answers, and text that is run where it arrives.

use super::name::{self, Reading};
use super::tokens::{fold, split};
use super::words::{Says, Usage, words};
use super::{Effect, Signal};
use crate::catalog::Definition;
use crate::template::Template;
use crate::value::Value;

/// What the arguments say.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// Every rule that fired.
    pub(super) signals: Vec<Signal>,
    /// Every argument that says which of several things is done is a literal: the tool as a whole is no longer asked.
    pub(super) answered: bool,
}

/// Reads the arguments of a call, or of the tool as such where none are given.
pub(super) fn of_call(definition: &Definition, args: Option<&Template>) -> Arguments {
    let properties = properties(&definition.input_schema);
    let mut found = Arguments::default();
    let mut open = false;
    let runs_text = speaks_a_language(definition);
    for property in &properties {
        let words_of = split(&property.name);
        let Some(group) = words().argument(&words_of) else {
            found.signals.extend(switch_of_change(property, &words_of));
            continue;
        };
        match (group, property.values.as_slice()) {
            ("text", []) => found.signals.push(free_text(&property.name)),
            ("query", []) if runs_text => found.signals.push(free_text(&property.name)),
            ("file", _) => found.signals.push(Signal::raises(
                "argument-file",
                format!("writes a file (argument {})", property.name),
                Effect::Write,
            )),
            ("switch", _) => found.signals.push(Signal::raises(
                "argument-switch",
                format!("changes something unless told not to (argument {})", property.name),
                Effect::Write,
            )),
            ("selector" | "text" | "mode", values) if !values.is_empty() => {
                if group == "mode" && !values.iter().any(|value| is_certain(&read(value))) {
                    continue;
                }
                let (signals, answer) = select(property, args);
                found.signals.extend(signals);
                found.answered |= answer;
                open |= !answer;
            }
            _ => {}
        }
    }
    found.answered &= !open;
    found
}

/// An argument that says which of several things is done: what its literal value says, or the strongest of its values.
fn select(property: &Property, args: Option<&Template>) -> (Vec<Signal>, bool) {
    let name = &property.name;
    if is_raw_request(&property.values) {
        let says = format!("makes a request of any kind (argument {name})");
        return (vec![Signal::raises("argument-raw-request", says, Effect::Unknown)], false);
    }
    let given = args.and_then(|args| args.member(name)).and_then(|member| Some(member.literal()?.text()?.to_owned()));
    if let Some(value) = given.filter(|given| property.values.contains(given)) {
        return (vec![signal(name, &value, "")], true);
    }
    let strongest = property.values.iter().map(|value| signal(name, value, "may be ")).reduce(|a, b| {
        if b.evidence.effect > a.evidence.effect { b } else { a }
    });
    (strongest.into_iter().filter(|signal| signal.raises).collect(), false)
}

fn signal(name: &str, value: &str, modal: &str) -> Signal {
    let shown: String = value.chars().take(40).collect();
    let reading = read(value);
    if let Some(found) = reading.reads {
        let says = format!("{} (argument {name} {modal}{shown:?})", found.verb.sentence);
        return Signal::clears("argument-reads", says);
    }
    let strongest = reading.changes.into_iter().max_by_key(|found| found.effect());
    match strongest {
        Some(found) => Signal::raises(
            format!("argument-verb-{}", found.verb.group),
            format!("{} (argument {name} {modal}{shown:?})", found.verb.sentence),
            found.effect(),
        ),
        None => Signal::raises(
            "argument-silent",
            format!("does not say what it does (argument {name} {modal}{shown:?})"),
            Effect::Unknown,
        ),
    }
}

fn read(value: &str) -> Reading {
    name::of_words(&split(value))
}

/// Whether a value is a verb of change for certain, not a noun that could be one.
fn is_certain(reading: &Reading) -> bool {
    reading.changes.iter().any(|found| matches!(found.verb.usage, Usage::Verb | Usage::Made))
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
    (property.boolean && changes && words_of.len() > 1).then(|| {
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

/// A property of the schema, as far as it matters here.
struct Property {
    name: String,
    /// The closed list of its values; empty where it is open.
    values: Vec<String>,
    boolean: bool,
}

/// The properties of an object schema, those of its alternatives too.
fn properties(schema: &Value) -> Vec<Property> {
    let mut found: Vec<Property> = Vec::new();
    let mut todo = vec![(schema, 0)];
    while let Some((node, depth)) = todo.pop() {
        let node = resolve(schema, node);
        if let Some(Value::Object(members)) = node.member("properties") {
            for (name, property) in members.iter() {
                let property = Property {
                    name: name.to_owned(),
                    values: values(schema, property, 0),
                    boolean: resolve(schema, property).member("type").and_then(Value::text) == Some("boolean"),
                };
                match found.iter_mut().find(|known| known.name == property.name) {
                    Some(known) => known.values.extend(property.values),
                    None => found.push(property),
                }
            }
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            if let Some(Value::List(branches)) = node.member(keyword)
                && depth < MAX_HOPS
            {
                todo.extend(branches.iter().map(|branch| (branch, depth + 1)));
            }
        }
    }
    found
}

/// How many references and alternatives are followed; deeper schemas say nothing.
const MAX_HOPS: usize = 8;

/// The texts that a schema takes, if they are a closed list.
fn values(root: &Value, schema: &Value, depth: usize) -> Vec<String> {
    let schema = resolve(root, schema);
    let texts = |list: &[Value]| -> Vec<String> {
        list.iter().filter_map(Value::text).map(str::to_owned).collect()
    };
    if let Some(Value::List(list)) = schema.member("enum") {
        return texts(list);
    }
    if let Some(constant) = schema.member("const").and_then(Value::text) {
        return vec![constant.to_owned()];
    }
    let mut all = Vec::new();
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::List(branches)) = schema.member(keyword) else { continue };
        for branch in branches.iter().filter(|branch| !is_null(branch)) {
            if depth >= MAX_HOPS {
                return Vec::new();
            }
            let more = values(root, branch, depth + 1);
            if more.is_empty() {
                return Vec::new();
            }
            all.extend(more);
        }
    }
    all
}

fn is_null(schema: &Value) -> bool {
    schema.member("type").and_then(Value::text) == Some("null")
}

/// Follows references within the schema.
fn resolve<'v>(root: &'v Value, schema: &'v Value) -> &'v Value {
    let mut at = schema;
    for _ in 0..MAX_HOPS {
        let Some(path) = at.member("$ref").and_then(Value::text).and_then(|r| r.strip_prefix("#/")) else {
            return at;
        };
        let target = path.split('/').try_fold(root, |node, key| {
            node.member(&key.replace("~1", "/").replace("~0", "~"))
        });
        match target {
            Some(target) => at = target,
            None => return at,
        }
    }
    at
}
