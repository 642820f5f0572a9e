//! The calls of one tool, classified: what a call's own words do not change is found out once.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Classification, classify, signals, weigh};
use crate::catalog::Definition;
use crate::digest::Digest;
use crate::policy::Policy;
use crate::template::Template;
use crate::value::Value;

/// Classifies the calls of one tool under one policy, each with the same answer as [`classify`].
pub(crate) struct Calls<'a> {
    policy: &'a Policy,
    server: &'a str,
    definition: &'a Definition,
    digest: Digest,
    /// Its schema has a list of values, so that a literal may say what the call does.
    chooses: bool,
    /// The policy has a rule about its arguments.
    conditions: bool,
    /// What was found out, by the literals that may have a say.
    known: HashMap<Vec<(String, String)>, Arc<Classification>>,
}

impl<'a> Calls<'a> {
    pub(crate) fn of(server: &'a str, definition: &'a Definition, policy: &'a Policy) -> Calls<'a> {
        Calls {
            policy,
            server,
            definition,
            digest: definition.digest(server),
            chooses: chooses(&definition.input_schema),
            conditions: policy.has_conditions(server, &definition.name),
            known: HashMap::new(),
        }
    }

    /// The digest of the definition.
    pub(crate) fn digest(&self) -> Digest {
        self.digest
    }

    /// Whether the arguments have no say in what a call is, nor in what the policy says of it.
    pub(crate) fn are_alike(&self) -> bool {
        !self.chooses && !self.conditions
    }

    /// Whether calls with [alike](crate::schema::alike) arguments are the same, and the same to the policy. Arguments that
    /// are literal are alike where they are equal; of others the policy may look at what references stand in them.
    pub(crate) fn are_alike_in_kind(&self, literal: bool) -> bool {
        literal || !self.conditions
    }

    /// What the call is.
    pub(crate) fn classify(&mut self, args: &Template) -> Arc<Classification> {
        let (policy, server, definition) = (self.policy, self.server, self.definition);
        if policy.reads(server, definition, Some(args)).is_some() {
            // The policy may look at any argument.
            return Arc::new(classify(server, definition, Some(args), policy));
        }
        let key = if self.chooses { literals(args) } else { Vec::new() };
        let known = self.known.entry(key).or_insert_with(|| {
            let signals = signals(server, definition, Some(args), policy);
            Arc::new(weigh(server, definition, None, signals))
        });
        Arc::clone(known)
    }
}

/// Whether a schema has a list of values anywhere.
fn chooses(schema: &Value) -> bool {
    match schema {
        Value::List(items) => items.iter().any(chooses),
        Value::Object(members) => {
            members.iter().any(|(key, member)| matches!(key, "enum" | "const") || chooses(member))
        }
        _ => false,
    }
}

/// The arguments that are literals of one piece, and the names of the others: which names there are has a say too.
fn literals(args: &Template) -> Vec<(String, String)> {
    let scalar = |value: &Value| match value {
        Value::List(_) | Value::Object(_) => String::new(),
        value => value.to_string(),
    };
    match args {
        Template::Lit(Value::Object(members)) => {
            members.iter().map(|(key, value)| (key.to_owned(), scalar(value))).collect()
        }
        Template::Object(members) => members
            .iter()
            .map(|(key, member)| (key.clone(), member.literal().map(scalar).unwrap_or_default()))
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn definition(name: &str, schema: &str) -> Definition {
        Definition {
            name: name.to_owned(),
            description: "Runs what it is told.".to_owned(),
            input_schema: Value::parse(schema).unwrap(),
            annotations: Value::Null,
        }
    }

    proptest! {
        /// Whatever stood before, a call is what it is alone.
        #[test]
        fn remembering_changes_no_answer(calls in prop::collection::vec((0..3_usize, 0..8_usize, any::<bool>()), 1..30)) {
            let tools = [
                definition("kv", r#"{"type":"object","properties":{"action":{"enum":["list","get","delete"]},"key":{"type":"string"}}}"#),
                definition("query", r#"{"type":"object","properties":{"sql":{"type":"string"},"mode":{"oneOf":[{"const":"read"},{"const":"write"}]}}}"#),
                definition("get_page", r#"{"type":"object","properties":{"page":{"type":"number"}}}"#),
            ];
            let args = ["{}", r#"{"action":"list"}"#, r#"{"action":"delete","key":"a"}"#, r#"{"mode":"read"}"#,
                r#"{"sql":"DROP TABLE t","mode":"write"}"#, r#"{"action":["list"],"page":1.10}"#,
                r#"{"ACTION":["delete"],"action":"list"}"#, r#"{"action":"list","key":["a"]}"#];
            let plain = Policy::default();
            let digest = tools[0].digest("s");
            let reads = Policy::from_toml(&format!(
                "[[reads]]\nserver = \"s\"\ntool = \"kv\"\ndefinition = \"{digest}\"\nreason = \"looked at\"\n"
            )).unwrap();
            let mut remembering: Vec<[Calls<'_>; 2]> =
                tools.iter().map(|tool| [&plain, &reads].map(|policy| Calls::of("s", tool, policy))).collect();
            for (tool, args_at, host) in calls {
                let args = Template::Lit(Value::parse(args[args_at]).unwrap());
                let policy = if host { &reads } else { &plain };
                let known = &mut remembering[tool][usize::from(host)];
                prop_assert_eq!(known.digest(), tools[tool].digest("s"));
                prop_assert_eq!(&*known.classify(&args), &classify("s", &tools[tool], Some(&args), policy));
            }
        }
    }
}
