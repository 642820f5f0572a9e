//! Tool definitions as the server wrote them, each checked by itself.

use std::collections::{BTreeMap, BTreeSet};

use plangate_graph::{Definition, Digest, Value};

/// Longest name of a tool, as MCP has it.
const LONGEST_NAME: usize = 128;

/// A tool that a server lists and that cannot be called, because its definition is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedTool {
    /// The server.
    pub server: String,
    /// The tool's name, or its place in the list where it has none.
    pub tool: String,
    /// What is wrong, in a sentence.
    pub reason: String,
}

/// The tools of one server, and those that were refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Definitions {
    pub(crate) tools: BTreeMap<String, Definition>,
    pub(crate) refused: Vec<RefusedTool>,
    digests: BTreeMap<String, Digest>,
}

impl Definitions {
    /// From the definitions of a list, in its order; one that cannot be read says why. A broken one is refused alone. Of
    /// a name that stands twice every definition is refused: which of them a call would reach, only the server knows.
    pub(crate) fn new(server: &str, list: impl IntoIterator<Item = Result<Value, String>>) -> Definitions {
        let mut definitions = Definitions::default();
        let mut twice = BTreeSet::new();
        for (i, tool) in list.into_iter().enumerate() {
            let place = format!("tools[{i}]");
            match tool.and_then(|tool| definition(&tool, &place)) {
                Ok(definition) => {
                    let name = definition.name.clone();
                    if definitions.tools.insert(name.clone(), definition).is_some() {
                        twice.insert(name);
                    }
                }
                Err(reason) => definitions.refuse(server, place, reason),
            }
        }
        for name in twice {
            definitions.tools.remove(&name);
            definitions.refuse(server, name, "two definitions have this name".to_owned());
        }
        definitions.digests = definitions.tools.iter().map(|(k, d)| (k.clone(), d.digest(server))).collect();
        definitions
    }

    /// The digest of a tool's definition.
    pub(crate) fn digest(&self, tool: &str) -> Option<Digest> {
        self.digests.get(tool).copied()
    }

    fn refuse(&mut self, server: &str, tool: String, reason: String) {
        self.refused.push(RefusedTool { server: server.to_owned(), tool, reason });
    }
}

fn definition(tool: &Value, place: &str) -> Result<Definition, String> {
    let definition = Definition::from_json(tool, place).map_err(|e| e.to_string())?;
    let named = |what: &str| Err(format!("{:?} {what}", definition.name));
    if definition.name.chars().count() > LONGEST_NAME {
        return named(&format!("is a name of more than {LONGEST_NAME} characters"));
    }
    if let Some(c) = definition.name.chars().find(|c| !may_stand_in_a_name(*c)) {
        return named(&format!("is a name that no recipe can write: it holds {}", c.escape_unicode()));
    }
    if !matches!(definition.input_schema, Value::Object(_)) {
        return named(&format!(
            "has an inputSchema that is {}, not an object",
            definition.input_schema.kind()
        ));
    }
    if !matches!(definition.annotations, Value::Object(_) | Value::Null) {
        return named(&format!("has annotations that are {}, not an object", definition.annotations.kind()));
    }
    Ok(definition)
}

/// In a recipe a name ends at white space; what is invisible or turns the direction of text is refused there.
fn may_stand_in_a_name(c: char) -> bool {
    !c.is_whitespace()
        && !c.is_control()
        && !matches!(c, '{' | '}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    fn definitions(tools: &[&str]) -> Definitions {
        Definitions::new("s", tools.iter().map(|t| Value::parse(t).map_err(|e| e.to_string())))
    }

    fn names(definitions: &Definitions) -> Vec<&str> {
        definitions.tools.keys().map(String::as_str).collect()
    }

    #[test]
    fn a_broken_definition_is_refused_alone() {
        let cases = [
            (r#"{"inputSchema":{}}"#, "tools[1].name: expected a name"),
            (r#"{"name":""}"#, "tools[1].name: expected a name"),
            (r#"{"name":"a b"}"#, r#""a b" is a name that no recipe can write: it holds \u{20}"#),
            (
                "{\"name\":\"a\u{202e}\"}",
                r#""a\u{202e}" is a name that no recipe can write: it holds \u{202e}"#,
            ),
            (r#"{"name":"x","description":3}"#, "tools[1].description: expected text"),
            (r#"{"name":"x","inputSchema":null}"#, r#""x" has an inputSchema that is null, not an object"#),
            (
                r#"{"name":"x","inputSchema":true}"#,
                r#""x" has an inputSchema that is true or false, not an object"#,
            ),
            (r#"{"name":"x","annotations":[]}"#, r#""x" has annotations that are a list, not an object"#),
            (r#"{"name":"x","name":"y"}"#, r#"the key "name" stands twice in one object"#),
        ];
        for (broken, wanted) in cases {
            let got = definitions(&[r#"{"name":"good"}"#, broken, r#"{"name":"größe/x.y🙂"}"#]);
            assert_eq!(names(&got), ["good", "größe/x.y🙂"], "{broken}");
            assert_eq!(got.refused.iter().map(|r| r.reason.as_str()).collect::<Vec<_>>(), [wanted]);
        }
        let long = format!(r#"{{"name":"{}"}}"#, "n".repeat(LONGEST_NAME + 1));
        assert_eq!(definitions(&[&long]).refused.len(), 1);
    }

    #[test]
    fn a_name_that_stands_twice_is_refused_altogether() {
        let one = r#"{"name":"go"}"#;
        let other = r#"{"name":"go","inputSchema":{"type":"object"}}"#;
        let got = definitions(&[one, other, r#"{"name":"b"}"#, one]);
        assert_eq!(names(&got), ["b"]);
        assert_eq!(got.refused.len(), 1);
        assert_eq!(got.digest("go"), None);
    }

    #[test]
    fn digests_are_those_of_the_text() {
        let tool = r#"{"name":"t","inputSchema":{"minimum":1.10}}"#;
        let got = definitions(&[tool]);
        let wanted = Definition::from_json(&Value::parse(tool).unwrap(), "t").unwrap().digest("s");
        assert_eq!(got.digest("t"), Some(wanted));
        assert_ne!(definitions(&[&tool.replace("1.10", "1.1")]).digest("t"), Some(wanted));
    }
}
