//! From a given plan to a recipe, a catalog and a policy.

use std::collections::BTreeSet;

use plangate_graph::{Catalog, Definition, Policy, Value};

use super::given::{Given, GivenStep};

/// How a plan is told as a recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// The policy says of every tool that it only reads; otherwise their names speak for themselves.
    pub all_read: bool,
    /// What a step waits for without reading it is written as `after:`.
    pub after: bool,
}

/// A plan as a recipe, with what it is compiled against.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The recipe: one `then:` with all steps, as they stand.
    pub recipe: String,
    /// Every tool that it names.
    pub catalog: Catalog,
    /// What says that they only read.
    pub policy: Policy,
}

/// Tells a plan as a recipe.
///
/// # Panics
/// Where the policy that it writes is none.
pub fn import(plan: &Given, manner: Manner) -> Imported {
    let mut recipe = String::from("then:\n");
    let mut tools = BTreeSet::new();
    for step in &plan.steps {
        let (server, tool) = tool_of(step);
        let args = json(&step.args);
        recipe.push_str(&format!("  {}: {server}.{tool} {args}\n", step.id));
        for name in step.after.iter().filter(|name| manner.after && !step.reads.contains(name)) {
            recipe.push_str(&format!("    after: {name}\n"));
        }
        tools.insert((server, tool));
    }
    let mut catalog = Catalog::new();
    let mut policy = String::new();
    for (server, tool) in tools {
        let definition = Definition {
            name: tool.clone(),
            description: String::new(),
            input_schema: object_schema(),
            annotations: Value::Null,
        };
        if manner.all_read {
            policy.push_str(&format!(
                "[[reads]]\nserver = \"{server}\"\ntool = \"{tool}\"\ndefinition = \"{}\"\nreason = \"so given\"\n",
                definition.digest(&server)
            ));
        }
        // A set holds each tool once.
        let added = catalog.insert(&server, definition);
        assert_eq!(added, Ok(()), "{server}.{tool}");
    }
    let policy = Policy::from_toml(&policy);
    #[expect(clippy::panic, reason = "a test may fail")]
    let policy = policy.unwrap_or_else(|why| panic!("{}: {why}", plan.id));
    Imported { recipe, catalog, policy }
}

fn object_schema() -> Value {
    #[expect(clippy::unwrap_used, reason = "a constant")]
    Value::parse(r#"{"type":"object"}"#).unwrap()
}

/// Server and tool, in names that a recipe can say.
fn tool_of(step: &GivenStep) -> (String, String) {
    let (server, tool) = step.tool.split_once('.').unwrap_or(("tools", &step.tool));
    let plain = |text: &str| -> String {
        text.chars().map(|c| if c.is_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect()
    };
    (plain(server), plain(tool))
}

/// JSON as a recipe writes it: `${step.path}` is `{step.path}`, other braces in a text are doubled.
fn json(value: &Value) -> String {
    match value {
        Value::Text(text) => Value::Text(template(text)).to_string(),
        Value::List(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let members =
                members.iter().map(|(key, member)| format!("{}:{}", Value::from(key), json(member)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        plain => plain.to_string(),
    }
}

fn template(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, from) = rest.split_at(at);
        out.push_str(&doubled(before));
        let Some(end) = from.find('}') else {
            rest = from;
            break;
        };
        let (reference, after) = from.split_at(end + 1);
        out.push_str(reference.trim_start_matches('$'));
        rest = after;
    }
    out.push_str(&doubled(rest));
    out
}

fn doubled(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}
