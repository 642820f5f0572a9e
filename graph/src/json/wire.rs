//! The shapes of `actions.json`, field by field, in the order in which they are written.

use schemars::JsonSchema;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::digest::Digest;
use crate::effect::{Effect, Evidence};
use crate::outline::{BlockKind, InputKind, Need};
use crate::plan::{Asks, Reason};
use crate::problem::Severity;
use crate::value::Value;

/// The JSON Schema of `actions.json`.
pub fn schema() -> String {
    let schema = schemars::schema_for!(File);
    // A schema is made of maps and strings; writing one cannot fail.
    serde_json::to_string_pretty(&schema).unwrap_or_default()
}

/// A whole file.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "actions.json")]
pub(super) struct File {
    /// `actions/1`
    pub(super) format: String,
    /// Digest of the recipe's text.
    pub(super) recipe: Digest,
    /// Digest of the policy the plan was made under.
    pub(super) policy: Digest,
    /// The definitions of the tools that are used.
    pub(super) definitions: Vec<Definition>,
    /// Parameters; never a value of a run.
    pub(super) inputs: Vec<Input>,
    /// Blocks of the recipe, in typed order.
    pub(super) blocks: Vec<Block>,
    /// Nodes of the graph.
    pub(super) nodes: Vec<Node>,
    /// Edges of the graph, by source and target.
    pub(super) edges: Vec<Edge>,
    /// Notes and warnings.
    pub(super) notes: Vec<Note>,
    /// Digest over all fields before.
    pub(super) digest: Digest,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Definition {
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) digest: Digest,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    pub(super) name: String,
    pub(super) kind: InputKind,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "there")]
    pub(super) default: Option<Value>,
}

/// A field that is there has a value, `null` too.
fn there<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(d).map(Some)
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Block {
    pub(super) kind: BlockKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) need: Option<Need>,
}

/// A node, by its kind.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Node {
    Call(Call),
    Write(Write),
    Join(Join),
    Gate(Gate),
    Ask(Ask),
    Check(Check),
}

/// Where an item was typed.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    /// Its number among all items of the recipe.
    pub(super) item: usize,
    /// The number of its block.
    pub(super) block: usize,
    /// The item it is indented under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) under: Option<usize>,
    /// Byte offsets in the recipe.
    pub(super) span: (u32, u32),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) place: Place,
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) args: Template,
    #[serde(default, skip_serializing_if = "Settings::is_default")]
    pub(super) settings: Settings,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) without_asking: bool,
    pub(super) effect: Effect,
    pub(super) asked: bool,
    pub(super) evidence: Vec<Evidence>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Write {
    pub(super) id: String,
    pub(super) place: Place,
    pub(super) instruction: Vec<Part>,
    #[serde(default, skip_serializing_if = "Settings::is_default")]
    pub(super) settings: Settings,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Join {
    pub(super) id: String,
    /// Only where it is a `need`; otherwise it waits for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) need: Option<JoinNeed>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct JoinNeed {
    pub(super) block: usize,
    pub(super) k: u32,
    /// Ids of the counted steps, in typed order.
    pub(super) of: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Gate {
    pub(super) id: String,
    /// Id of the call it guards.
    pub(super) call: String,
    /// The question whose words stand on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) question: Option<Question>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    pub(super) place: Place,
    pub(super) text: Vec<Part>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Ask {
    pub(super) id: String,
    pub(super) place: Place,
    pub(super) text: Vec<Part>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Check {
    pub(super) id: String,
    pub(super) place: Place,
    pub(super) left: Path,
    pub(super) test: Test,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(super) enum Test {
    #[serde(rename = "is empty")]
    IsEmpty,
    #[serde(rename = "is not empty")]
    IsNotEmpty,
    #[serde(rename = "is")]
    Is(Template),
    #[serde(rename = "is not")]
    IsNot(Template),
    #[serde(rename = ">")]
    Greater(Template),
    #[serde(rename = "<")]
    Less(Template),
    #[serde(rename = "contains")]
    Contains(Template),
}

#[derive(Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "zero")]
    pub(super) retry: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) after: Vec<String>,
}

impl Settings {
    fn is_default(&self) -> bool {
        *self == Settings::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that the serialiser calls")]
fn zero(n: &u32) -> bool {
    *n == 0
}

/// Arguments: a tagged tree, so that literal data can look like anything.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Template {
    /// Literal data.
    Lit(Value),
    /// A list with a reference somewhere in it.
    Arr(Vec<Template>),
    /// An object with a reference somewhere in it.
    Obj(Members),
    /// A reference alone: the value with its type.
    Ref(Path),
    /// Text with references in it.
    Text(Vec<Part>),
}

/// A piece of a text.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Part {
    /// Constant characters.
    Lit(String),
    /// A value, as text.
    Ref(Path),
}

/// A reference: the name, then fields and indices.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Path(pub(super) Vec<Segment>);

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Segment {
    Field(String),
    Index(u32),
}

/// Members of an object in the order of the text, a key that stands twice too: whoever takes them refuses it.
pub(super) struct Members(pub(super) Vec<(String, Template)>);

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Members, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object of arguments")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        d.deserialize_map(InOrder)
    }
}

impl JsonSchema for Members {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Members".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let template = generator.subschema_for::<Template>();
        schemars::json_schema!({ "type": "object", "additionalProperties": template })
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Edge {
    /// Id of the node that is waited for.
    pub(super) from: String,
    /// Id of the node that waits.
    pub(super) to: String,
    /// All reasons, with what each asks.
    pub(super) because: Vec<Because>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Because {
    pub(super) reason: Reason,
    pub(super) asks: Asks,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Note {
    pub(super) code: String,
    pub(super) severity: Severity,
    /// The item it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) item: Option<usize>,
    pub(super) message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) help: Option<String>,
}
