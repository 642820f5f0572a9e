//! The shapes of `actions.json`, field by field, in the order in which they are written. Texts are borrowed: from the plan
//! where it is written, from the file where it is read.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::digest::Digest;
use crate::effect::{self, Effect};
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
pub(super) struct File<'a> {
    /// `actions/1`
    #[serde(borrow)]
    pub(super) format: Cow<'a, str>,
    /// Digest of the recipe's text.
    pub(super) recipe: Digest,
    /// Digest of the policy the plan was made under.
    pub(super) policy: Digest,
    /// The definitions of the tools that are used.
    #[serde(borrow)]
    pub(super) definitions: Vec<Definition<'a>>,
    /// Parameters; never a value of a run.
    #[serde(borrow)]
    pub(super) inputs: Vec<Input<'a>>,
    /// Blocks of the recipe, in typed order.
    #[serde(borrow)]
    pub(super) blocks: Vec<Block<'a>>,
    /// Nodes of the graph.
    #[serde(borrow)]
    pub(super) nodes: Vec<Node<'a>>,
    /// Edges of the graph, by source and target.
    #[serde(borrow)]
    pub(super) edges: Vec<Edge<'a>>,
    /// Notes and warnings.
    #[serde(borrow)]
    pub(super) notes: Vec<Note<'a>>,
    /// Digest over all fields before.
    pub(super) digest: Digest,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Definition<'a> {
    #[serde(borrow)]
    pub(super) server: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) tool: Cow<'a, str>,
    pub(super) digest: Digest,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input<'a> {
    #[serde(borrow)]
    pub(super) name: Cow<'a, str>,
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
pub(super) struct Block<'a> {
    pub(super) kind: BlockKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(borrow)]
    pub(super) name: Option<Text<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) need: Option<Need>,
}

/// A text in a list, or one that may be missing.
#[derive(PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

impl JsonSchema for Text<'_> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

impl<'a> From<&'a String> for Text<'a> {
    fn from(text: &'a String) -> Text<'a> {
        Text(Cow::Borrowed(text))
    }
}

impl From<Text<'_>> for String {
    fn from(text: Text<'_>) -> String {
        text.0.into_owned()
    }
}

/// A node, by its kind.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Node<'a> {
    #[serde(borrow)]
    Call(Call<'a>),
    #[serde(borrow)]
    Write(Write<'a>),
    #[serde(borrow)]
    Join(Join<'a>),
    #[serde(borrow)]
    Gate(Gate<'a>),
    #[serde(borrow)]
    Ask(Ask<'a>),
    #[serde(borrow)]
    Check(Check<'a>),
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
pub(super) struct Call<'a> {
    #[serde(borrow)]
    pub(super) id: Cow<'a, str>,
    pub(super) place: Place,
    #[serde(borrow)]
    pub(super) server: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) tool: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) args: Template<'a>,
    #[serde(default, skip_serializing_if = "Settings::is_default")]
    #[serde(borrow)]
    pub(super) settings: Settings<'a>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) without_asking: bool,
    pub(super) effect: Effect,
    pub(super) asked: bool,
    #[serde(borrow)]
    #[schemars(with = "Vec<effect::Evidence>")]
    pub(super) evidence: Vec<Evidence<'a>>,
}

/// The shape of [`effect::Evidence`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Evidence<'a> {
    #[serde(borrow)]
    pub(super) code: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) says: Cow<'a, str>,
    pub(super) effect: Effect,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Write<'a> {
    #[serde(borrow)]
    pub(super) id: Cow<'a, str>,
    pub(super) place: Place,
    #[serde(borrow)]
    pub(super) instruction: Vec<Part<'a>>,
    #[serde(default, skip_serializing_if = "Settings::is_default")]
    #[serde(borrow)]
    pub(super) settings: Settings<'a>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Join<'a> {
    #[serde(borrow)]
    pub(super) id: Cow<'a, str>,
    /// Only where it is a `need`; otherwise it waits for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(borrow)]
    pub(super) need: Option<JoinNeed<'a>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct JoinNeed<'a> {
    pub(super) block: usize,
    pub(super) k: u32,
    /// Ids of the counted steps, in typed order.
    #[serde(borrow)]
    pub(super) of: Vec<Text<'a>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Gate<'a> {
    #[serde(borrow)]
    pub(super) id: Cow<'a, str>,
    /// Id of the call it guards.
    #[serde(borrow)]
    pub(super) call: Cow<'a, str>,
    /// The question whose words stand on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(borrow)]
    pub(super) question: Option<Question<'a>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Question<'a> {
    pub(super) place: Place,
    #[serde(borrow)]
    pub(super) text: Vec<Part<'a>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Ask<'a> {
    #[serde(borrow)]
    pub(super) id: Cow<'a, str>,
    pub(super) place: Place,
    #[serde(borrow)]
    pub(super) text: Vec<Part<'a>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Check<'a> {
    #[serde(borrow)]
    pub(super) id: Cow<'a, str>,
    pub(super) place: Place,
    #[serde(borrow)]
    pub(super) left: Path<'a>,
    #[serde(borrow)]
    pub(super) test: Test<'a>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(super) enum Test<'a> {
    #[serde(rename = "is empty")]
    IsEmpty,
    #[serde(rename = "is not empty")]
    IsNotEmpty,
    #[serde(rename = "is")]
    Is(#[serde(borrow)] Template<'a>),
    #[serde(rename = "is not")]
    IsNot(#[serde(borrow)] Template<'a>),
    #[serde(rename = ">")]
    Greater(#[serde(borrow)] Template<'a>),
    #[serde(rename = "<")]
    Less(#[serde(borrow)] Template<'a>),
    #[serde(rename = "contains")]
    Contains(#[serde(borrow)] Template<'a>),
}

#[derive(Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "zero")]
    pub(super) retry: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(borrow)]
    pub(super) after: Vec<Text<'a>>,
}

impl Settings<'_> {
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
pub(super) enum Template<'a> {
    /// Literal data.
    Lit(Cow<'a, Value>),
    /// A list with a reference somewhere in it.
    Arr(#[serde(borrow)] Vec<Template<'a>>),
    /// An object with a reference somewhere in it.
    Obj(#[serde(borrow)] Members<'a>),
    /// A reference alone: the value with its type.
    Ref(#[serde(borrow)] Path<'a>),
    /// Text with references in it.
    Text(#[serde(borrow)] Vec<Part<'a>>),
}

/// A piece of a text.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Part<'a> {
    /// Constant characters.
    Lit(#[serde(borrow)] Cow<'a, str>),
    /// A value, as text.
    Ref(#[serde(borrow)] Path<'a>),
}

/// A reference: the name, then fields and indices.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Path<'a>(#[serde(borrow)] pub(super) Vec<Segment<'a>>);

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Segment<'a> {
    Field(Cow<'a, str>),
    Index(u32),
}

/// By what it is: the same as untagged, without a copy of what is read.
impl<'de: 'a, 'a> Deserialize<'de> for Segment<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Segment<'a>, D::Error> {
        struct TextOrNumber;
        impl<'de> Visitor<'de> for TextOrNumber {
            type Value = Segment<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a field or an index")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Segment<'de>, E> {
                Ok(Segment::Field(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Segment<'de>, E> {
                Ok(Segment::Field(Cow::Owned(text.to_owned())))
            }
            fn visit_u64<E: Error>(self, index: u64) -> Result<Segment<'de>, E> {
                u32::try_from(index).map(Segment::Index).map_err(|_| E::custom(NO_SEGMENT))
            }
            fn visit_i64<E: Error>(self, _: i64) -> Result<Segment<'de>, E> {
                Err(E::custom(NO_SEGMENT))
            }
            fn visit_f64<E: Error>(self, _: f64) -> Result<Segment<'de>, E> {
                Err(E::custom(NO_SEGMENT))
            }
            fn visit_bool<E: Error>(self, _: bool) -> Result<Segment<'de>, E> {
                Err(E::custom(NO_SEGMENT))
            }
            fn visit_unit<E: Error>(self) -> Result<Segment<'de>, E> {
                Err(E::custom(NO_SEGMENT))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Segment<'de>, A::Error> {
                Err(A::Error::custom(NO_SEGMENT))
            }
            fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Segment<'de>, A::Error> {
                Err(A::Error::custom(NO_SEGMENT))
            }
        }
        d.deserialize_any(TextOrNumber)
    }
}

/// What is said of a segment that is neither.
const NO_SEGMENT: &str = "data did not match any variant of untagged enum Segment";

/// Members of an object in the order of the text, a key that stands twice too: whoever takes them refuses it.
pub(super) struct Members<'a>(pub(super) Vec<(Text<'a>, Template<'a>)>);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Members<'a>, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of arguments")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
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

impl JsonSchema for Members<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Members".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let template = generator.subschema_for::<Template<'_>>();
        schemars::json_schema!({ "type": "object", "additionalProperties": template })
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Edge<'a> {
    /// Id of the node that is waited for.
    #[serde(borrow)]
    pub(super) from: Cow<'a, str>,
    /// Id of the node that waits.
    #[serde(borrow)]
    pub(super) to: Cow<'a, str>,
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
pub(super) struct Note<'a> {
    #[serde(borrow)]
    pub(super) code: Cow<'a, str>,
    pub(super) severity: Severity,
    /// The item it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) item: Option<usize>,
    #[serde(borrow)]
    pub(super) message: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(borrow)]
    pub(super) help: Option<Text<'a>>,
}
