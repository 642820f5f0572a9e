//! JSON as plangate keeps it: numbers as they were written, no key twice, one byte form.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;

/// Deepest nesting of arrays and objects that is read. Deeper input is refused, never walked.
pub const MAX_DEPTH: usize = 128;

/// A JSON value whose numbers keep their text and whose objects are sorted by key, without duplicates.
///
/// Equality is equality of [canonical bytes](Value::canonical): `1`, `1.0` and `1e0` are three values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as written.
    Number(Number),
    /// A string, unescaped.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// An object.
    Object(Object),
}

/// A JSON number as its author wrote it, for instance `1.10`, `1e2` or 23 digits.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number(Box<str>);

/// The members of a JSON object: sorted by code point, no key twice.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Object(Vec<(String, Value)>);

/// Why a text is not a JSON value that plangate takes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Not JSON; the message names line and column.
    #[error("not valid JSON: {0}")]
    Syntax(String),
    /// The same key stands twice in one object.
    #[error("the key {0:?} stands twice in one object")]
    DuplicateKey(String),
    /// Nested deeper than [`MAX_DEPTH`].
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

impl Value {
    /// Reads JSON text. Time and space are linear in the text times its depth, which is at most [`MAX_DEPTH`].
    pub fn parse(text: &str) -> Result<Value, ValueError> {
        let raw: &RawValue = serde_json::from_str(text).map_err(syntax)?;
        read(raw, 0)
    }

    /// Reads what `serde_json` left unread. Costs as [`parse`](Value::parse) does.
    pub fn from_raw(raw: &RawValue) -> Result<Value, ValueError> {
        read(raw, 0)
    }

    /// Reads JSON bytes; they must be UTF-8.
    pub fn parse_bytes(bytes: &[u8]) -> Result<Value, ValueError> {
        let text = std::str::from_utf8(bytes).map_err(|e| ValueError::Syntax(e.to_string()))?;
        Value::parse(text)
    }

    /// The one byte form: keys by code point, no white space, the least escapes, numbers as written.
    pub fn canonical(&self) -> Vec<u8> {
        self.to_string().into_bytes()
    }

    /// The member of an object, or nothing.
    pub fn member(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Object(o) => o.member(key),
            _ => None,
        }
    }

    /// The text of a string, or nothing.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(s) => Some(s),
            _ => None,
        }
    }

    /// What the value is, in words for a message: `text`, `a number`, …
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Object(_) => "an object",
        }
    }

    /// The value as `serde_json` holds it. Numbers may lose their text: for validating and comparing only.
    pub fn to_serde_json(&self) -> serde_json::Value {
        match self {
            Value::Null => serde_json::Value::Null,
            Value::Bool(b) => (*b).into(),
            Value::Number(n) => serde_json::from_str(n.as_str()).unwrap_or_default(),
            Value::Text(s) => s.clone().into(),
            Value::List(l) => l.iter().map(Value::to_serde_json).collect(),
            Value::Object(o) => {
                serde_json::Value::Object(o.iter().map(|(k, v)| (k.to_owned(), v.to_serde_json())).collect())
            }
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::Bool(b)
    }
}

impl From<u64> for Value {
    fn from(n: u64) -> Value {
        Value::Number(Number(n.to_string().into()))
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Value {
        Value::List(items)
    }
}

/// From a library's tree, for instance a tool's answer. A number that `serde_json` holds loses its first text.
impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Value {
        match value {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(b) => Value::Bool(b),
            serde_json::Value::Number(n) => Value::Number(Number(n.to_string().into())),
            serde_json::Value::String(s) => Value::Text(s),
            serde_json::Value::Array(a) => Value::List(a.into_iter().map(Value::from).collect()),
            serde_json::Value::Object(o) => {
                let mut members: Vec<_> = o.into_iter().map(|(k, v)| (k, Value::from(v))).collect();
                members.sort_by(|a, b| a.0.cmp(&b.0));
                Value::Object(Object(members))
            }
        }
    }
}

/// Canonical JSON.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Number(n) => f.write_str(n.as_str()),
            Value::Text(s) => write_text(f, s),
            Value::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        f.write_str(",")?;
                    }
                    write!(f, "{item}")?;
                }
                f.write_str("]")
            }
            Value::Object(o) => {
                f.write_str("{")?;
                for (i, (key, value)) in o.iter().enumerate() {
                    if i > 0 {
                        f.write_str(",")?;
                    }
                    write_text(f, key)?;
                    write!(f, ":{value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

impl Number {
    /// A number from its JSON text, or nothing if it is none.
    pub fn from_text(text: &str) -> Option<Number> {
        match Value::parse(text) {
            Ok(Value::Number(n)) if n.as_str() == text => Some(n),
            _ => None,
        }
    }

    /// The text as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The nearest double, for comparing.
    pub fn to_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Object {
    /// From members in any order. The key that stands twice is the error.
    pub fn new(mut members: Vec<(String, Value)>) -> Result<Object, ValueError> {
        members.sort_by(|a, b| a.0.cmp(&b.0));
        if let Some(key) = twice(&members) {
            return Err(ValueError::DuplicateKey(key.to_owned()));
        }
        Ok(Object(members))
    }

    /// The member with this key. Logarithmic.
    pub fn member(&self, key: &str) -> Option<&Value> {
        let at = self.0.binary_search_by(|(k, _)| k.as_str().cmp(key)).ok()?;
        self.0.get(at).map(|(_, v)| v)
    }

    /// All members, keys by code point.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.0.iter().map(|(k, v)| (k.as_str(), v))
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Writes as JSON with numbers as written. Only `serde_json` serialisers keep that text.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => s.serialize_unit(),
            Value::Bool(b) => s.serialize_bool(*b),
            Value::Number(n) => {
                RawValue::from_string(n.as_str().to_owned()).map_err(S::Error::custom)?.serialize(s)
            }
            Value::Text(t) => s.serialize_str(t),
            Value::List(items) => {
                let mut seq = s.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Value::Object(o) => {
                let mut map = s.serialize_map(Some(o.len()))?;
                for (key, value) in o.iter() {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

/// Reads from `serde_json` only, because the text of numbers passes through its raw values.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Value, D::Error> {
        let raw = Box::<RawValue>::deserialize(d)?;
        read(&raw, 0).map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for Value {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "description": "any JSON; numbers keep their text" })
    }
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let quoted = serde_json::to_string(text).map_err(|_| fmt::Error)?;
    f.write_str(&quoted)
}

fn twice(sorted: &[(String, Value)]) -> Option<&str> {
    sorted.windows(2).find_map(|pair| match pair {
        [(a, _), (b, _)] if a == b => Some(a.as_str()),
        _ => None,
    })
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err takes")]
fn syntax(error: serde_json::Error) -> ValueError {
    ValueError::Syntax(error.to_string())
}

fn read(raw: &RawValue, depth: usize) -> Result<Value, ValueError> {
    let text = raw.get();
    match text.bytes().next() {
        Some(b'{' | b'[') if depth >= MAX_DEPTH => Err(ValueError::TooDeep),
        Some(b'{') => {
            let Members(members) = serde_json::from_str(text).map_err(syntax)?;
            // Sized up front: collecting results would keep room for four.
            let mut kept = Vec::with_capacity(members.len());
            for (key, raw) in members {
                kept.push((key, read(raw, depth + 1)?));
            }
            Ok(Value::Object(Object::new(kept)?))
        }
        Some(b'[') => {
            let Elements(items) = serde_json::from_str(text).map_err(syntax)?;
            let mut kept = Vec::with_capacity(items.len());
            for raw in items {
                kept.push(read(raw, depth + 1)?);
            }
            Ok(Value::List(kept))
        }
        Some(b'"') => Ok(Value::Text(serde_json::from_str(text).map_err(syntax)?)),
        Some(b't') => Ok(Value::Bool(true)),
        Some(b'f') => Ok(Value::Bool(false)),
        Some(b'n') => Ok(Value::Null),
        _ => Ok(Value::Number(Number(text.into()))),
    }
}

/// One level of an object, with its keys as they stand, duplicates too.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct OneLevel;
        impl<'de> Visitor<'de> for OneLevel {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        d.deserialize_map(OneLevel)
    }
}

/// One level of a list.
struct Elements<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Elements<'de> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct OneLevel;
        impl<'de> Visitor<'de> for OneLevel {
            type Value = Elements<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Elements<'de>, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Elements(items))
            }
        }
        d.deserialize_seq(OneLevel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_keep_their_text() {
        for text in ["1.10", "1e2", "12345678901234567890123", "1.0", "-0", "1E+2"] {
            assert_eq!(Value::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn keys_are_sorted_and_unique() {
        assert_eq!(Value::parse(r#"{"b":1, "a" : [ 2 ]}"#).unwrap().to_string(), r#"{"a":[2],"b":1}"#);
        let twice = Value::parse(r#"{"x":{"a":1,"\u0061":2}}"#);
        assert_eq!(twice, Err(ValueError::DuplicateKey("a".into())));
    }

    #[test]
    fn depth_is_bounded_without_recursion() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(Value::parse(&deep), Err(ValueError::TooDeep));
        let fits = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH);
        assert!(Value::parse(&fits).is_ok());
    }

    #[test]
    fn serde_round_trip_keeps_text() {
        let value = Value::parse(r#"{"n":1.10,"big":123456789012345678901}"#).unwrap();
        let text = serde_json::to_string(&value).unwrap();
        assert_eq!(text, r#"{"big":123456789012345678901,"n":1.10}"#);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    proptest! {
        #[test]
        fn canonical_is_a_fixed_point(s in any::<String>(), n in any::<f64>().prop_filter("finite", |n| n.is_finite())) {
            let value = Value::List(vec![Value::Text(s), Value::Number(Number(format!("{n:?}").into()))]);
            let text = value.to_string();
            prop_assert_eq!(Value::parse(&text).unwrap().to_string(), text);
        }
    }
}
