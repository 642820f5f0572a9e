//! The policy as it is written: TOML in and out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::PolicyError;
use super::nearest::did_you_mean;

/// The top-level keys of a policy.
pub(super) const KEYS: [&str; 12] = [
    "allow_reversible_writes",
    "honour_without_asking",
    "worlds",
    "roles",
    "deny",
    "ask",
    "allow",
    "reads",
    "trust",
    "once",
    "people",
    "repeat",
];

/// A policy as written. Simple values come first, as TOML wants it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Document {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) allow_reversible_writes: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) honour_without_asking: Option<Waivers>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) worlds: BTreeMap<String, Vec<String>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) roles: BTreeMap<String, Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) deny: Vec<RuleLines>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) ask: Vec<RuleLines>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) allow: Vec<RuleLines>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reads: Vec<RuleLines>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) trust: Vec<RuleLines>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) once: Vec<RuleLines>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) people: Vec<RuleLines>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) repeat: Vec<RuleLines>,
}

/// Whose `without asking` is honoured, and for which effects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Waivers {
    pub(super) authors: Vec<String>,
    pub(super) effects: Vec<String>,
}

impl Default for Waivers {
    fn default() -> Waivers {
        Waivers { authors: vec!["person".into()], effects: vec!["write".into()] }
    }
}

/// The lines of one rule. Which of them a rule may have depends on its kind: see [`keys_of`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct RuleLines {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) definition: Option<OneOrMany>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "day")]
    pub(super) until: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) when: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) roles: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) quorum: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) deadline: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) may_edit: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) requester_may_decide: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) verified: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) within: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rejected: Option<bool>,
}

/// A day, as a TOML date or as text.
fn day<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Option<String>, D::Error> {
    Ok(Some(match toml::Value::deserialize(d)? {
        toml::Value::String(text) => text,
        other => other.to_string(),
    }))
}

/// One text or a list of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl Document {
    /// Reads a policy. `others`: keys of the top level that are no policy are passed over and returned.
    pub(super) fn read(text: &str, others: bool) -> Result<(Document, Vec<String>), PolicyError> {
        let wrong = |message: String| PolicyError { code: "P0101", message };
        let mut table: toml::Table = text
            .parse()
            .map_err(|e: toml::de::Error| wrong(format!("not valid TOML: {}", e.to_string().trim_end())))?;
        let mut passed_over: Vec<String> = Vec::new();
        table.retain(|key, _| {
            let keep = !others || KEYS.contains(&key);
            if !keep {
                passed_over.push(key.to_owned());
            }
            keep
        });
        check_keys(&table)?;
        let document =
            table.try_into().map_err(|e: toml::de::Error| wrong(e.to_string().trim_end().to_owned()))?;
        Ok((document, passed_over))
    }
}

/// The lines that a rule of a kind may have.
pub(super) fn keys_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "deny" => &["server", "tool", "when", "reason", "until"],
        "ask" => &[
            "server",
            "tool",
            "when",
            "reason",
            "until",
            "roles",
            "quorum",
            "deadline",
            "may_edit",
            "requester_may_decide",
            "verified",
        ],
        "allow" | "reads" => &["server", "tool", "definition", "when", "reason", "until"],
        "trust" | "once" => &["server", "tool", "reason", "until"],
        "repeat" => &["server", "tool", "when", "within", "rejected", "reason", "until"],
        "people" => &[
            "server",
            "tool",
            "reason",
            "roles",
            "quorum",
            "deadline",
            "may_edit",
            "requester_may_decide",
            "verified",
        ],
        "honour_without_asking" => &["authors", "effects"],
        _ => &[],
    }
}

fn check_keys(table: &toml::Table) -> Result<(), PolicyError> {
    let unknown = |place: &str, key: &str, keys: &[&str]| PolicyError {
        code: "P0102",
        message: format!("{place}: unknown key {key:?}{}", did_you_mean(key, keys.iter().copied())),
    };
    for (key, value) in table {
        if !KEYS.contains(&key.as_str()) {
            return Err(unknown("policy", key, &KEYS));
        }
        let keys = keys_of(key);
        if keys.is_empty() {
            continue;
        }
        let (name, tables): (String, Vec<&toml::Value>) = match value {
            toml::Value::Array(list) => (format!("[[{key}]]"), list.iter().collect()),
            one => (format!("[{key}]"), vec![one]),
        };
        for lines in tables.into_iter().filter_map(toml::Value::as_table) {
            if let Some(bad) = lines.keys().find(|k| !keys.contains(&k.as_str())) {
                return Err(unknown(&name, bad, keys));
            }
        }
    }
    Ok(())
}
