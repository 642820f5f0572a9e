//! The calls of one plan, classified: what a call's own words do not change is found out once a tool.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Classification, classify, signals, weigh};
use crate::catalog::Definition;
use crate::digest::Digest;
use crate::policy::Policy;
use crate::template::Template;
use crate::value::Value;

/// Classifies calls against one catalog and one policy, each with the same answer as [`classify`].
pub(crate) struct Calls<'a> {
    policy: &'a Policy,
    tools: HashMap<(&'a str, &'a str), Tool>,
}

/// What is known of one tool.
struct Tool {
    digest: Digest,
    /// Its schema has a list of values, so that a literal may say what the call does.
    chooses: bool,
    /// What was found out, by the literals that may have a say.
    known: HashMap<Vec<(String, String)>, Arc<Classification>>,
}

impl<'a> Calls<'a> {
    pub(crate) fn new(policy: &'a Policy) -> Calls<'a> {
        Calls { policy, tools: HashMap::new() }
    }

    /// The digest of the definition, and what the call is. A tool's definition must be the same each time.
    pub(crate) fn classify(
        &mut self,
        server: &'a str,
        definition: &'a Definition,
        args: &Template,
    ) -> (Digest, Arc<Classification>) {
        let policy = self.policy;
        let tool = self.tools.entry((server, &definition.name)).or_insert_with(|| Tool {
            digest: definition.digest(server),
            chooses: chooses(&definition.input_schema),
            known: HashMap::new(),
        });
        if policy.reads(server, definition, Some(args)).is_some() {
            // The policy may look at any argument.
            return (tool.digest, Arc::new(classify(server, definition, Some(args), policy)));
        }
        let key = if tool.chooses { literals(args) } else { Vec::new() };
        let known = tool.known.entry(key).or_insert_with(|| {
            let signals = signals(server, definition, Some(args), policy);
            Arc::new(weigh(server, definition, None, signals))
        });
        (tool.digest, Arc::clone(known))
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

/// The arguments that are literals of one piece.
fn literals(args: &Template) -> Vec<(String, String)> {
    let scalar = |value: &Value| !matches!(value, Value::List(_) | Value::Object(_));
    match args {
        Template::Lit(Value::Object(members)) => members
            .iter()
            .filter(|(_, value)| scalar(value))
            .map(|(key, value)| (key.to_owned(), value.to_string()))
            .collect(),
        Template::Object(members) => members
            .iter()
            .filter_map(|(key, member)| {
                Some((key.clone(), member.literal().filter(|v| scalar(v))?.to_string()))
            })
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
        fn remembering_changes_no_answer(calls in prop::collection::vec((0..3_usize, 0..6_usize, any::<bool>()), 1..30)) {
            let tools = [
                definition("kv", r#"{"type":"object","properties":{"action":{"enum":["list","get","delete"]},"key":{"type":"string"}}}"#),
                definition("query", r#"{"type":"object","properties":{"sql":{"type":"string"},"mode":{"oneOf":[{"const":"read"},{"const":"write"}]}}}"#),
                definition("get_page", r#"{"type":"object","properties":{"page":{"type":"number"}}}"#),
            ];
            let args = ["{}", r#"{"action":"list"}"#, r#"{"action":"delete","key":"a"}"#, r#"{"mode":"read"}"#,
                r#"{"sql":"DROP TABLE t","mode":"write"}"#, r#"{"action":["list"],"page":1.10}"#];
            let plain = Policy::default();
            let digest = tools[0].digest("s");
            let reads = Policy::from_toml(&format!(
                "[[reads]]\nserver = \"s\"\ntool = \"kv\"\ndefinition = \"{digest}\"\nreason = \"looked at\"\n"
            )).unwrap();
            let mut remembering = [Calls::new(&plain), Calls::new(&reads)];
            for (tool, args_at, host) in calls {
                let args = Template::Lit(Value::parse(args[args_at]).unwrap());
                let policy = if host { &reads } else { &plain };
                let (digest, found) = remembering[usize::from(host)].classify("s", &tools[tool], &args);
                prop_assert_eq!(digest, tools[tool].digest("s"));
                prop_assert_eq!(&*found, &classify("s", &tools[tool], Some(&args), policy));
            }
        }
    }
}
