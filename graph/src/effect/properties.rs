//! The arguments that a schema names, as far as their names and values say what a call does.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::value::Value;

/// An argument.
#[derive(Debug)]
pub(super) struct Property {
    /// Its name.
    pub(super) name: String,
    /// The closed list of its values; empty where it is open.
    pub(super) values: Vec<String>,
    /// It is true or false.
    pub(super) boolean: bool,
}

/// The properties of an object schema, those of its alternatives too, by name. Linear in the schema: nothing is looked at
/// twice, however it refers to itself.
pub(super) fn of(schema: &Value) -> Vec<Property> {
    let mut found: BTreeMap<&str, Property> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut todo = vec![schema];
    while let Some(node) = todo.pop() {
        let node = resolve(schema, node);
        if !seen.insert(std::ptr::from_ref(node)) {
            continue;
        }
        if let Some(Value::Object(members)) = node.member("properties") {
            for (name, property) in members.iter() {
                let values = values(schema, property, 0);
                let boolean = is_of_type(resolve(schema, property), "boolean");
                let new = Property { name: name.to_owned(), values, boolean };
                match found.entry(name) {
                    Entry::Vacant(place) => {
                        place.insert(new);
                    }
                    // A list is closed only if it is closed wherever it stands.
                    Entry::Occupied(mut known) if known.get().values.is_empty() || new.values.is_empty() => {
                        known.get_mut().values.clear();
                    }
                    Entry::Occupied(mut known) => known.get_mut().values.extend(new.values),
                }
            }
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            if let Some(Value::List(branches)) = node.member(keyword) {
                todo.extend(branches);
            }
        }
    }
    found.into_values().collect()
}

/// Whether the schema says itself which arguments there are, if only that there are none.
pub(super) fn are_listed(schema: &Value) -> bool {
    matches!(schema.member("properties"), Some(Value::Object(_)))
}

/// How many references are followed in a row, and how many alternatives a list of values may have; beyond, it is open.
const MAX_HOPS: usize = 8;
const MAX_BRANCHES: usize = 64;

/// The texts that a schema takes, if they are a closed list.
fn values(root: &Value, schema: &Value, depth: usize) -> Vec<String> {
    let schema = resolve(root, schema);
    if let Some(Value::List(list)) = schema.member("enum") {
        return list.iter().filter_map(Value::text).map(str::to_owned).collect();
    }
    if let Some(constant) = schema.member("const").and_then(Value::text) {
        return vec![constant.to_owned()];
    }
    let mut all = Vec::new();
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::List(branches)) = schema.member(keyword) else { continue };
        // Alternatives of alternatives are no list of values.
        if depth > 0 || branches.len() > MAX_BRANCHES {
            return Vec::new();
        }
        for branch in branches.iter().filter(|branch| !is_of_type(branch, "null")) {
            let more = values(root, branch, depth + 1);
            if more.is_empty() {
                return Vec::new();
            }
            all.extend(more);
        }
    }
    all
}

fn is_of_type(schema: &Value, name: &str) -> bool {
    schema.member("type").and_then(Value::text) == Some(name)
}

/// Follows references within the schema.
fn resolve<'v>(root: &'v Value, schema: &'v Value) -> &'v Value {
    let mut at = schema;
    for _ in 0..MAX_HOPS {
        let Some(path) = at.member("$ref").and_then(Value::text).and_then(|r| r.strip_prefix("#/")) else {
            return at;
        };
        let step = |node: &'v Value, key: &str| node.member(&key.replace("~1", "/").replace("~0", "~"));
        match path.split('/').try_fold(root, step) {
            Some(target) => at = target,
            None => return at,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(schema: &str) -> Vec<(String, Vec<String>)> {
        of(&Value::parse(schema).unwrap()).into_iter().map(|p| (p.name, p.values)).collect()
    }

    #[test]
    fn alternatives_are_one_list() {
        let schema = r#"{"oneOf":[{"properties":{"op":{"const":"get"}}},{"properties":{"op":{"const":"drop"},"b":{}}}]}"#;
        let mut values = names(schema);
        values[1].1.sort();
        let op = vec!["drop".to_owned(), "get".to_owned()];
        assert_eq!(values, [("b".to_owned(), Vec::new()), ("op".to_owned(), op)]);
        assert_eq!(
            names(r#"{"properties":{"a":{"anyOf":[{"enum":["x"]},{"type":"string"}]}}}"#)[0].1,
            [""; 0]
        );
    }

    #[test]
    fn a_schema_that_refers_to_itself_everywhere_is_read_once() {
        let circle = vec![r##"{"$ref":"#/$defs/a"}"##; 60].join(",");
        let schema = format!(
            r##"{{"anyOf":[{circle}],"$defs":{{"a":{{"anyOf":[{circle}],"properties":{{"p":{{"$ref":"#/$defs/a"}}}}}}}}}}"##
        );
        assert_eq!(names(&schema), [("p".to_owned(), Vec::new())]);
    }
}
