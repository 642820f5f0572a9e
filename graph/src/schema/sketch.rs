//! Arguments as the validator sees them: literals as they are, a placeholder for each reference.

use std::collections::BTreeMap;

use super::Inputs;
use crate::outline::InputKind;
use crate::policy::number;
use crate::template::{Ref, Source, Template};
use crate::value::{Number, Value};

/// A place of the arguments whose value is not what the validator sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A reference: it may become anything.
    Anything,
    /// A reference to an input, or text with references in it: only the JSON type is known.
    OfKind,
    /// A number with more digits than the validator keeps.
    Rounded(Number),
}

/// The JSON that is validated, and the places where it is not what will be sent.
#[derive(Debug)]
pub(super) struct Sketch {
    json: serde_json::Value,
    places: Places,
}

/// What the JSON does not say, by JSON pointer.
#[derive(Debug, Default)]
struct Places {
    /// What is not what will be sent.
    unsure: BTreeMap<String, Place>,
    /// Numbers that are written in another way than the validator writes them.
    numbers: BTreeMap<String, Number>,
}

impl Sketch {
    pub(super) fn of(args: &Template, inputs: &Inputs<'_>) -> Sketch {
        let mut places = Places::default();
        let json = draw(args, inputs, &mut String::with_capacity(64), &mut places);
        Sketch { json, places }
    }

    pub(super) fn json(&self) -> &serde_json::Value {
        &self.json
    }

    /// The place that this pointer is, or lies in.
    pub(super) fn around(&self, pointer: &str) -> Option<&Place> {
        let mut at = pointer;
        loop {
            if let Some(place) = self.places.unsure.get(at) {
                return Some(place);
            }
            at = at.rsplit_once('/')?.0;
        }
    }

    /// The number at this pointer as it was written, where that differs from how the validator writes it.
    pub(super) fn number(&self, pointer: &str) -> Option<&Number> {
        self.places.numbers.get(pointer)
    }

    /// Whether a place lies in what this pointer names.
    pub(super) fn has_within(&self, pointer: &str) -> bool {
        let inside = format!("{pointer}/");
        self.places.unsure.range(inside.clone()..).next().is_some_and(|(place, _)| place.starts_with(&inside))
    }

    /// Whether there is no place: everything is known exactly.
    pub(super) fn is_exact(&self) -> bool {
        self.places.unsure.is_empty()
    }
}

/// Draws what stands at the pointer `at`, which is as it was when this returns.
fn draw(args: &Template, inputs: &Inputs<'_>, at: &mut String, places: &mut Places) -> serde_json::Value {
    match args {
        Template::Lit(value) => literal(value, at, places),
        Template::Ref(reference) => {
            let kind = kind_of(reference, inputs);
            places.unsure.insert(at.clone(), if kind.is_some() { Place::OfKind } else { Place::Anything });
            match kind {
                Some(InputKind::Text) => "".into(),
                Some(InputKind::Number) => 0.into(),
                Some(InputKind::YesNo) => false.into(),
                Some(InputKind::List) => serde_json::Value::Array(Vec::new()),
                None => serde_json::Value::Null,
            }
        }
        Template::Text(_) => {
            places.unsure.insert(at.clone(), Place::OfKind);
            "".into()
        }
        Template::List(items) => {
            let items = items.iter().enumerate();
            items.map(|(i, item)| at_index(at, i, |at| draw(item, inputs, at, places))).collect()
        }
        Template::Object(members) => {
            let mut map = serde_json::Map::new();
            for (key, member) in members {
                map.insert(key.clone(), at_key(at, key, |at| draw(member, inputs, at, places)));
            }
            serde_json::Value::Object(map)
        }
    }
}

/// The kind of an input that is read whole.
pub(super) fn kind_of(reference: &Ref, inputs: &Inputs<'_>) -> Option<InputKind> {
    match &reference.source {
        Source::Input(name) if reference.path.is_empty() => inputs.get(name.as_str()).copied(),
        _ => None,
    }
}

fn literal(value: &Value, at: &mut String, places: &mut Places) -> serde_json::Value {
    match value {
        Value::Number(number) => {
            let json = seen_number(number);
            let text = json.to_string();
            if text == number.as_str() {
                return json;
            }
            places.numbers.insert(at.clone(), number.clone());
            let exact = Number::from_text(&text);
            if exact.is_some_and(|exact| number::compare(&exact, number).is_eq()) {
                return json;
            }
            places.unsure.insert(at.clone(), Place::Rounded(number.clone()));
            json
        }
        Value::List(items) => {
            let items = items.iter().enumerate();
            items.map(|(i, item)| at_index(at, i, |at| literal(item, at, places))).collect()
        }
        Value::Object(members) => {
            let mut map = serde_json::Map::new();
            for (key, member) in members.iter() {
                map.insert(key.to_owned(), at_key(at, key, |at| literal(member, at, places)));
            }
            serde_json::Value::Object(map)
        }
        other => seen(other),
    }
}

/// Final arguments as the validator sees them.
pub(super) fn seen(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(b) => (*b).into(),
        Value::Number(number) => seen_number(number),
        Value::Text(text) => text.as_str().into(),
        Value::List(items) => items.iter().map(seen).collect(),
        Value::Object(members) => {
            serde_json::Value::Object(members.iter().map(|(key, v)| (key.to_owned(), seen(v))).collect())
        }
    }
}

fn seen_number(number: &Number) -> serde_json::Value {
    serde_json::from_str(number.as_str()).unwrap_or_else(|_| {
        // Beyond every double; a whole number, as all large ones are.
        let largest = if number.as_str().starts_with('-') { -f64::MAX } else { f64::MAX };
        largest.into()
    })
}

/// Does something one turn further down, at an index.
fn at_index<T>(at: &mut String, index: usize, then: impl FnOnce(&mut String) -> T) -> T {
    at_key(at, &index.to_string(), then)
}

/// Does something one turn further down, at a key.
fn at_key<T>(at: &mut String, key: &str, then: impl FnOnce(&mut String) -> T) -> T {
    let end = at.len();
    at.push('/');
    if key.contains(['~', '/']) {
        at.push_str(&key.replace('~', "~0").replace('/', "~1"));
    } else {
        at.push_str(key);
    }
    let result = then(at);
    at.truncate(end);
    result
}
