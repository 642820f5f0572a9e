//! The classifier measured on tools of real servers, where that data is at hand.
//!
//! The data is no part of the project. It is looked for in `$PLANGATE_SHARED`, then beside the workspace; without it the
//! tests say that they were skipped. Rates are those of rows drawn at random; what must never happen is asked of all.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "tests: the data is a file, the table is the point"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use plangate_graph::catalog::Definition;
use plangate_graph::effect::{Classification, Effect, classify};
use plangate_graph::policy::Policy;
use plangate_graph::value::Value;

/// A row of the data: one tool, and what a careful reader says that it does.
struct Tool {
    server: String,
    definition: Definition,
    label: String,
    style: String,
    random: bool,
}

impl Tool {
    fn changes(&self) -> bool {
        self.label != "read"
    }

    fn language(&self) -> &'static str {
        let text = &self.definition.description;
        let han = text.chars().filter(|c| matches!(c, '\u{3400}'..='\u{9fff}')).count();
        match (han, text.is_empty()) {
            (_, true) => "none",
            (0..4, _) => "English and others",
            _ => "Chinese",
        }
    }
}

/// The tools, or nothing where the data is not at hand.
fn tools() -> Option<Vec<Tool>> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let folder = std::env::var_os("PLANGATE_SHARED").map_or(beside, PathBuf::from);
    let file = folder.join("data/tools-dev.jsonl");
    let Ok(text) = std::fs::read_to_string(&file) else {
        println!("skipped: {} is not there (set PLANGATE_SHARED)", file.display());
        return None;
    };
    Some(text.lines().map(|line| row(&Value::parse(line).unwrap())).collect())
}

fn row(row: &Value) -> Tool {
    let text = |key: &str| row.member(key).and_then(Value::text).unwrap_or_default().to_owned();
    let mut properties = serde_json::Map::new();
    if let Some(Value::List(params)) = row.member("params") {
        for param in params.iter().filter_map(Value::text) {
            // `name`, or `name=one|another` where the values are a closed list.
            let (name, schema) = match param.split_once('=') {
                Some((name, values)) => {
                    (name, serde_json::json!({ "enum": values.split('|').collect::<Vec<_>>() }))
                }
                None => (param, serde_json::json!({})),
            };
            properties.insert(name.to_owned(), schema);
        }
    }
    Tool {
        server: text("server"),
        definition: Definition {
            name: text("tool"),
            description: text("description"),
            input_schema: serde_json::json!({ "type": "object", "properties": properties }).into(),
            annotations: row.member("annotations").cloned().unwrap_or_default(),
        },
        label: text("label"),
        style: text("style"),
        random: text("sample") == "random",
    }
}

fn trusting() -> Policy {
    Policy::from_toml("[[trust]]\nserver = \"*\"\n").unwrap()
}

fn of(tool: &Tool, policy: &Policy) -> Classification {
    classify(&tool.server, &tool.definition, None, policy)
}

fn rate(part: usize, whole: usize) -> f64 {
    let count = |n: usize| f64::from(u32::try_from(n).unwrap());
    100.0 * count(part) / count(whole.max(1))
}

/// How many rows there are by some feature, and how they came out.
#[derive(Default)]
struct Table(BTreeMap<(String, String), BTreeMap<Effect, usize>>);

impl Table {
    fn count(&mut self, by: &str, label: &str, effect: Effect) {
        *self.0.entry((by.to_owned(), label.to_owned())).or_default().entry(effect).or_default() += 1;
    }

    fn print(&self, title: &str) {
        println!(
            "\n{title:<22} {:<12} {:>5} {:>6} {:>6} {:>12} {:>8} {:>8}",
            "label", "rows", "read", "write", "destructive", "unknown", "asked"
        );
        for ((by, label), effects) in &self.0 {
            let n = |effect| effects.get(&effect).copied().unwrap_or(0);
            let all = effects.values().sum();
            println!(
                "{by:<22} {label:<12} {all:>5} {:>6} {:>6} {:>12} {:>8} {:>7.1}%",
                n(Effect::Read),
                n(Effect::Write),
                n(Effect::Destructive),
                n(Effect::Unknown),
                rate(all - n(Effect::Read), all)
            );
        }
    }
}

#[test]
fn measured() {
    let Some(tools) = tools() else { return };
    let untrusted = Policy::default();
    let started = Instant::now();
    let found: Vec<(&Tool, Classification)> = tools.iter().map(|tool| (tool, of(tool, &untrusted))).collect();
    let took = started.elapsed();
    let (mut labels, mut styles, mut languages, mut layers) = <(Table, Table, Table, Table)>::default();
    for (tool, classification) in &found {
        let sample = if tool.random { "random" } else { "targeted" };
        labels.count(sample, &tool.label, classification.effect);
        if tool.random {
            styles.count(&tool.style, &tool.label, classification.effect);
            languages.count(tool.language(), &tool.label, classification.effect);
            let layer = classification.evidence[0].code.split('-').next().unwrap_or_default();
            layers.count(layer, &tool.label, classification.effect);
        }
    }
    labels.print("sample");
    styles.print("style");
    languages.print("description");
    layers.print("deciding layer");

    let missed = |label: &str, random_only: bool| -> Vec<String> {
        let of_label = found.iter().filter(|(tool, _)| tool.label == label && (tool.random || !random_only));
        let through = of_label.filter(|(_, c)| !c.effect.changes());
        through
            .map(|(tool, c)| format!("{} {} ({})", tool.server, tool.definition.name, c.evidence[0].says))
            .collect()
    };
    let rows = |label: &str| found.iter().filter(|(tool, _)| tool.random && tool.label == label).count();
    let asked = |policy: &Policy| {
        tools.iter().filter(|t| t.random && !t.changes() && of(t, policy).effect.changes()).count()
    };
    let (plain, trusted) = (asked(&untrusted), asked(&trusting()));
    // Not even as writes: those can be let through as a class.
    let weaker: Vec<String> = found
        .iter()
        .filter(|(tool, c)| tool.label == "destructive" && c.effect == Effect::Write)
        .map(|(tool, c)| format!("{} {} ({})", tool.server, tool.definition.name, c.evidence[0].says))
        .collect();
    println!(
        "\nreads asked: {plain} of {} ({:.1} %), with trusted hints {trusted} ({:.1} %)",
        rows("read"),
        rate(plain, rows("read")),
        rate(trusted, rows("read"))
    );
    println!("destructive taken for reversible: {weaker:?}");
    println!("writes missed: {:?}", missed("write", true));
    println!("{} tools in {} ms", tools.len(), took.as_millis());
    println!(
        "\nfootnote: labels that the rules do not follow (read, and the name says that something changes):"
    );
    for (tool, c) in
        found.iter().filter(|(t, c)| !t.changes() && matches!(c.effect, Effect::Write | Effect::Destructive))
    {
        println!("  {} {}: {}", tool.server, tool.definition.name, c.evidence[0].says);
    }

    let mut servers: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (tool, c) in found.iter().filter(|(tool, _)| tool.random && !tool.changes()) {
        let (asked, all) = servers.entry(&tool.server).or_default();
        *asked += usize::from(c.effect.changes());
        *all += 1;
    }
    println!("\nservers of which more than a third of the reads are asked:");
    for (server, (asked, all)) in servers.iter().filter(|(_, (asked, all))| 3 * asked > *all) {
        println!("  {server}: {asked} of {all}");
    }

    assert_eq!(missed("destructive", false), [""; 0]);
    assert_eq!(weaker, [""; 0]);
    assert_eq!(missed("ambiguous", true), [""; 0]);
    assert!(rate(missed("write", true).len(), rows("write")) <= 0.5, "{:?}", missed("write", true));
    assert!(rate(plain, rows("read")) <= 15.0);
    assert!(rate(trusted, rows("read")) <= 9.0);
}

#[test]
fn a_name_in_another_style_is_the_same_tool() {
    let Some(tools) = tools() else { return };
    let mut differ = Vec::new();
    for tool in &tools {
        let before = of(tool, &Policy::default()).effect;
        for (style, name) in restyled(&tool.definition.name) {
            let definition = Definition { name, ..tool.definition.clone() };
            let after = classify(&tool.server, &definition, None, &Policy::default()).effect;
            if after != before {
                differ.push(format!(
                    "{} as {style} {}: {before} and {after}",
                    tool.definition.name, definition.name
                ));
            }
        }
    }
    assert_eq!(differ, [""; 0]);
}

#[test]
fn lies_and_silence_lose_nothing() {
    let Some(tools) = tools() else { return };
    let policy = Policy::default();
    let lie = Value::parse(r#"{"readOnlyHint":true}"#).unwrap();
    let mut lost = Vec::new();
    let mut with_a_verb = Vec::new();
    for tool in tools.iter().filter(|tool| tool.changes()) {
        let with = |annotations: &Value, policy: &Policy| {
            let definition = Definition { annotations: annotations.clone(), ..tool.definition.clone() };
            classify(&tool.server, &definition, None, policy)
        };
        for annotations in [&lie, &Value::Null] {
            if !with(annotations, &policy).effect.changes() {
                lost.push(format!("{} {} with {annotations}", tool.server, tool.definition.name));
            }
        }
        let says_so = with(&Value::Null, &policy).evidence[0].effect == Effect::Destructive;
        if says_so && !with(&lie, &trusting()).effect.changes() {
            with_a_verb.push(tool.definition.name.clone());
        }
    }
    println!("lost without hints, or with lying ones: {lost:?}");
    // Where only the server's own word had raised a tool, nothing is left without it; such rows are few, and no worse than writes.
    let changing = tools.iter().filter(|t| t.random && t.changes()).count();
    assert!(rate(lost.len() / 2, changing) <= 0.5, "{lost:?}");
    assert_eq!(with_a_verb, [""; 0]);
}

#[test]
fn a_prefix_never_weakens() {
    let Some(tools) = tools() else { return };
    let policy = Policy::default();
    let mut weaker = Vec::new();
    for tool in &tools {
        let before = of(tool, &policy).effect.changes();
        let own: String = tool.server.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        for prefix in [
            "acme_",
            "mcp__acme__",
            "acme.",
            "server_",
            "my-tools-",
            &format!("{own}_"),
            &format!("mcp__{own}__"),
        ] {
            let name = format!("{prefix}{}", tool.definition.name);
            let after =
                classify(&tool.server, &Definition { name, ..tool.definition.clone() }, None, &policy);
            if before && !after.effect.changes() {
                weaker.push(format!("{prefix}{}", tool.definition.name));
            }
        }
        for separator in ["_", "-", ".", "/", ":", " ", "__"] {
            let name = tool.definition.name.replace(['_', '-', '.', ' '], separator);
            let after = classify(
                &tool.server,
                &Definition { name: name.clone(), ..tool.definition.clone() },
                None,
                &policy,
            );
            if after.effect.changes() != before {
                weaker.push(name);
            }
        }
    }
    assert_eq!(weaker, [""; 0]);
}

/// The name in five styles, from its words.
fn restyled(name: &str) -> [(&'static str, String); 5] {
    let words = words(name);
    let capital = |word: &String| {
        let mut chars = word.chars();
        chars.next().map(|c| c.to_uppercase().chain(chars).collect::<String>()).unwrap_or_default()
    };
    let pascal: String = words.iter().map(capital).collect();
    let camel: String = words.iter().take(1).cloned().chain(words.iter().skip(1).map(capital)).collect();
    [
        ("snake", words.join("_")),
        ("kebab", words.join("-")),
        ("SCREAMING", words.join("_").to_uppercase()),
        ("camel", camel),
        ("Pascal", pascal),
    ]
}

/// The words of a name, cut at separators and at capitals.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let chars: Vec<char> = name.chars().collect();
    for (i, &c) in chars.iter().enumerate() {
        let lower_before = i > 0 && (chars[i - 1].is_lowercase() || chars[i - 1].is_numeric());
        let last_of_acronym =
            i > 0 && chars[i - 1].is_uppercase() && chars.get(i + 1).is_some_and(|c| c.is_lowercase());
        if !c.is_alphanumeric() || (c.is_uppercase() && (lower_before || last_of_acronym)) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().unwrap().extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
