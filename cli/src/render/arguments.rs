//! Tools with their arguments, as Markdown that a model reads.

use plangate_graph::Value;
use plangate_graph::card::visible::visible;
use plangate_graph::policy::Asking;

use super::put::Put as _;
use crate::toolbox::Tool;

/// How deep objects within arguments are written out.
const DEEPEST: usize = 2;
/// How many values of an enum are listed.
const VALUES: usize = 24;
/// How many characters of a description are kept.
const WORDS: usize = 300;

/// A section for each server, with each tool and its arguments.
pub(crate) fn page(tools: &[Tool<'_>]) -> String {
    let mut out = String::from(
        "# The tools here\n\nThere are no others. A `?` marks what may be left out; everything else is required.\n",
    );
    let mut server = None;
    for tool in tools {
        if server != Some(tool.server) {
            server = Some(tool.server);
            out.put(format_args!("\n## {}\n\n", visible(tool.server)));
        }
        out.push_str(&of(tool));
    }
    if tools.is_empty() {
        out.push_str("\nThere are none: a recipe can hold sentences and questions only.\n");
    }
    out
}

fn of(tool: &Tool<'_>) -> String {
    let asked = match tool.asking {
        Asking::Ask(_) => ", asked before it runs",
        Asking::Through(_) if tool.classification.effect.changes() => ", changes something, not asked",
        Asking::Through(_) => "",
        Asking::Deny(_) => ", DENIED: do not use it",
    };
    let name = format!("{}.{}", tool.server, tool.definition.name);
    let about = first_words(&tool.definition.description);
    let about = if about.is_empty() { String::new() } else { format!(" — {about}") };
    let mut out = format!("- `{}` ({}{asked}){about}\n", visible(&name), tool.classification.effect);
    members(&tool.definition.input_schema, &tool.definition.input_schema, 1, &mut out);
    out
}

/// A line for each member of an object schema.
fn members(schema: &Value, root: &Value, depth: usize, out: &mut String) {
    let Some(Value::Object(properties)) = schema.member("properties") else { return };
    let required = |name: &str| match schema.member("required") {
        Some(Value::List(names)) => names.iter().any(|n| n.text() == Some(name)),
        _ => false,
    };
    let indent = "  ".repeat(depth);
    for (name, member) in properties.iter() {
        let member = resolved(member, root);
        let optional = if required(name) { "" } else { "?" };
        let about = member.member("description").and_then(Value::text).map(first_words).unwrap_or_default();
        let about = if about.is_empty() { String::new() } else { format!(": {about}") };
        let standard = match member.member("default") {
            Some(value) => format!(", else {}", visible(&value.to_string())),
            None => String::new(),
        };
        out.put(format_args!(
            "{indent}- `{}`{optional} {}{standard}{about}\n",
            visible(name),
            kind(member, root)
        ));
        if depth < DEEPEST {
            members(member, root, depth + 1, out);
            if let Some(items) = member.member("items") {
                members(resolved(items, root), root, depth + 1, out);
            }
        }
    }
}

/// What a schema takes, in words.
fn kind(schema: &Value, root: &Value) -> String {
    if let Some(Value::List(values)) = schema.member("enum") {
        let shown: Vec<String> = values.iter().take(VALUES).map(|v| visible(&v.to_string())).collect();
        let more =
            if values.len() > VALUES { format!(" or {} more", values.len() - VALUES) } else { String::new() };
        return format!("one of {}{more}", shown.join(", "));
    }
    if let Some(value) = schema.member("const") {
        return format!("always {}", visible(&value.to_string()));
    }
    match schema.member("type") {
        Some(Value::Text(name)) => named(name, schema, root),
        Some(Value::List(names)) => {
            let names: Vec<String> =
                names.iter().filter_map(Value::text).map(|n| named(n, schema, root)).collect();
            names.join(" or ")
        }
        _ => match ["anyOf", "oneOf"].iter().find_map(|key| schema.member(key)) {
            Some(Value::List(options)) => {
                let mut words: Vec<String> = options.iter().map(|o| kind(resolved(o, root), root)).collect();
                words.dedup();
                words.join(" or ")
            }
            _ if schema.member("properties").is_some() => "object".to_owned(),
            _ => "anything".to_owned(),
        },
    }
}

fn named(name: &str, schema: &Value, root: &Value) -> String {
    match name {
        "string" => match schema.member("format").and_then(Value::text) {
            Some(format) => format!("text ({})", visible(format)),
            None => "text".to_owned(),
        },
        "integer" => "whole number".to_owned(),
        "number" => "number".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => match schema.member("items") {
            Some(items) => format!("list of {}", kind(resolved(items, root), root)),
            None => "list".to_owned(),
        },
        other => visible(other),
    }
}

/// Follows a reference within the schema, once; what leads further is "anything".
fn resolved<'v>(schema: &'v Value, root: &'v Value) -> &'v Value {
    let Some(path) = schema.member("$ref").and_then(Value::text).and_then(|r| r.strip_prefix("#/")) else {
        return schema;
    };
    path.split('/').try_fold(root, |value, key| value.member(key)).unwrap_or(schema)
}

/// The first paragraph on one line, cut with a mark where it is long.
fn first_words(text: &str) -> String {
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(WORDS).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    visible(&short)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;
    use crate::toolbox::judged;
    use plangate_graph::{Catalog, Policy};

    #[test]
    fn arguments_are_written_as_a_person_would() {
        let catalog = Catalog::from_json(
            r##"{"servers":{"mail":{"tools":[{"name":"list","description":"Lists mail.\n\nLong story.","inputSchema":{
                "type":"object","required":["box"],"$defs":{"when":{"type":"string","format":"date"}},
                "properties":{"box":{"enum":["in","out"]},"max":{"type":"integer","default":10},
                "since":{"$ref":"#/$defs/when","description":"never seen"},"ids":{"type":"array","items":{"type":"string"}},
                "who":{"type":"object","required":["name"],"properties":{"name":{"type":["string","null"],"description":"a\nname"}}},
                "any":{}}}}]}}}"##,
        )
        .unwrap();
        let policy = Policy::default();
        let page = page(&judged(&catalog, &policy));
        let wanted = "\n  - `any`? anything\n  - `box` one of \"in\", \"out\"\n  - `ids`? list of text\n  - `max`? whole \
                      number, else 10\n  - `since`? text (date)\n  - `who`? object\n    - `name` text or null: a name\n";
        assert!(page.ends_with(wanted), "{page}");
        assert!(page.contains("— Lists mail.\n"), "{page}");
    }

    #[test]
    fn without_tools_it_says_so() {
        assert!(page(&[]).contains("There are none"));
    }
}
