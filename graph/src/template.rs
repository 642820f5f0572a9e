//! Arguments and texts with references in them: a tagged tree, filled once, never scanned again.

use std::fmt;

use crate::lower::is_name;
use crate::value::{Object, Value, ValueError};

/// An argument, or a part of one, as the recipe gives it: literal data, or data with references in it.
///
/// Normal form: what holds no reference is one [`Template::Lit`]. The constructors keep it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Template {
    /// Literal data; may look like anything, braces too.
    Lit(Value),
    /// A list with at least one reference somewhere in it.
    List(Vec<Template>),
    /// An object with at least one reference somewhere in it; sorted by key, no key twice.
    Object(Vec<(String, Template)>),
    /// A reference alone: the value with its JSON type.
    Ref(Ref),
    /// Text made of parts, at least one of them a reference; values enter as text.
    Text(Vec<Part>),
}

/// A part of a text: constant characters or a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Constant characters.
    Lit(String),
    /// A value, as text.
    Ref(Ref),
}

/// A read of an input or of an earlier step's result, or of a place within it: `{mail.messages[0].from}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ref {
    /// What is read.
    pub source: Source,
    /// Where in it.
    pub path: Vec<Segment>,
}

/// What a reference names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A parameter of the recipe.
    Input(String),
    /// A step typed above.
    Step(String),
}

/// One turn of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// `.field`, or `['Full Name']` where the field's name is no plain name.
    Field(String),
    /// `[3]`, counted from 0.
    Index(u32),
}

/// A path that is not there in the value that was read. Names both, so that the message can.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{{{wanted}}} is not there: {found}")]
pub struct MissingPath {
    /// The reference as written.
    pub wanted: Ref,
    /// How far the path went and what stood there, for instance `mail.messages is a list of 0`.
    pub found: String,
}

impl Template {
    /// A list; a [`Template::Lit`] if every element is literal.
    pub fn list(items: Vec<Template>) -> Template {
        if items.iter().all(|t| matches!(t, Template::Lit(_))) {
            return Template::Lit(Value::List(
                items.into_iter().filter_map(Template::into_literal).collect(),
            ));
        }
        Template::List(items)
    }

    /// An object from members in any order; a [`Template::Lit`] if every member is literal. A key that stands twice is the error.
    pub fn object(mut members: Vec<(String, Template)>) -> Result<Template, ValueError> {
        members.sort_by(|a, b| a.0.cmp(&b.0));
        for pair in members.windows(2) {
            if let [(a, _), (b, _)] = pair
                && a == b
            {
                return Err(ValueError::DuplicateKey(a.clone()));
            }
        }
        if members.iter().all(|(_, t)| matches!(t, Template::Lit(_))) {
            let members = members.into_iter().filter_map(|(k, t)| Some((k, t.into_literal()?))).collect();
            return Ok(Template::Lit(Value::Object(Object::new(members)?)));
        }
        Ok(Template::Object(members))
    }

    /// A string made of parts: literal if it holds no reference, the reference itself if it is alone.
    pub fn text(parts: Vec<Part>) -> Template {
        let mut joined: Vec<Part> = Vec::with_capacity(parts.len());
        for part in parts {
            match (joined.last_mut(), part) {
                (Some(Part::Lit(before)), Part::Lit(more)) => before.push_str(&more),
                (_, Part::Lit(empty)) if empty.is_empty() => {}
                (_, part) => joined.push(part),
            }
        }
        match joined.as_mut_slice() {
            [] => Template::Lit(Value::Text(String::new())),
            [Part::Lit(text)] => Template::Lit(Value::Text(std::mem::take(text))),
            [Part::Ref(alone)] => Template::Ref(alone.clone()),
            _ => Template::Text(joined),
        }
    }

    /// The value, if no reference stands in it.
    pub fn literal(&self) -> Option<&Value> {
        match self {
            Template::Lit(value) => Some(value),
            _ => None,
        }
    }

    /// The member of an object template, literal or not.
    pub fn member(&self, key: &str) -> Option<Template> {
        match self {
            Template::Lit(value) => value.member(key).cloned().map(Template::Lit),
            Template::Object(members) => members.iter().find(|(k, _)| k == key).map(|(_, t)| t.clone()),
            _ => None,
        }
    }

    /// Whether another key of an object differs from this one in upper and lower case alone.
    pub(crate) fn is_doubled(&self, key: &str) -> bool {
        match self {
            Template::Lit(value) => value.is_doubled(key),
            Template::Object(members) => members.iter().any(|(k, _)| twins(k, key)),
            _ => false,
        }
    }

    /// Every reference, in the order of the text.
    pub fn refs(&self) -> Vec<&Ref> {
        let mut found = Vec::new();
        self.each_ref(&mut |r| found.push(r));
        found
    }

    /// Whether it reads the result of a step.
    pub fn reads_steps(&self) -> bool {
        match self {
            Template::Lit(_) => false,
            Template::Ref(r) => r.step().is_some(),
            Template::Text(parts) => text_refs(parts).any(|r| r.step().is_some()),
            Template::List(items) => items.iter().any(Template::reads_steps),
            Template::Object(members) => members.iter().any(|(_, t)| t.reads_steps()),
        }
    }

    /// Shows every reference, in the order of the text.
    pub(crate) fn each_ref<'a>(&'a self, show: &mut impl FnMut(&'a Ref)) {
        match self {
            Template::Lit(_) => {}
            Template::Ref(r) => show(r),
            Template::Text(parts) => text_refs(parts).for_each(show),
            Template::List(items) => items.iter().for_each(|t| t.each_ref(show)),
            Template::Object(members) => members.iter().for_each(|(_, t)| t.each_ref(show)),
        }
    }

    /// Fills every reference. The first that fails is the error.
    pub fn fill<E>(&self, read: &mut dyn FnMut(&Ref) -> Result<Value, E>) -> Result<Value, E> {
        Ok(match self {
            Template::Lit(value) => value.clone(),
            Template::Ref(r) => read(r)?,
            Template::Text(parts) => Value::Text(fill_text(parts, read)?),
            Template::List(items) => {
                let mut filled = Vec::with_capacity(items.len());
                for item in items {
                    filled.push(item.fill(read)?);
                }
                Value::List(filled)
            }
            Template::Object(members) => {
                let mut filled = Vec::with_capacity(members.len());
                for (key, member) in members {
                    filled.push((key.clone(), member.fill(read)?));
                }
                // The constructor sorted them, and no key stands twice.
                Value::Object(Object::sorted(filled))
            }
        })
    }

    /// Whether a value can have come of this: every literal part stands in it as it was typed, and an object has no
    /// member that was not typed. What a reference became may be anything, missing too.
    pub fn admits(&self, value: &Value) -> bool {
        match (self, value) {
            (Template::Lit(literal), value) => literal == value,
            (Template::Ref(_), _) => true,
            (Template::Text(_), value) => matches!(value, Value::Text(_)),
            (Template::List(items), Value::List(values)) => {
                items.len() == values.len()
                    && items.iter().zip(values).all(|(item, value)| item.admits(value))
            }
            (Template::Object(members), Value::Object(values)) => {
                let typed = |key: &str| members.iter().find(|(k, _)| k == key).map(|(_, t)| t);
                values.iter().all(|(key, value)| typed(key).is_some_and(|t| t.admits(value)))
                    && members.iter().all(|(key, t)| !t.is_literal() || values.member(key).is_some())
            }
            (Template::List(_) | Template::Object(_), _) => false,
        }
    }

    fn is_literal(&self) -> bool {
        matches!(self, Template::Lit(_))
    }

    /// How many levels of lists and objects with references in them there are.
    pub fn depth(&self) -> usize {
        match self {
            Template::Lit(_) | Template::Ref(_) | Template::Text(_) => 0,
            Template::List(items) => 1 + items.iter().map(Template::depth).max().unwrap_or(0),
            Template::Object(members) => 1 + members.iter().map(|(_, t)| t.depth()).max().unwrap_or(0),
        }
    }

    fn into_literal(self) -> Option<Value> {
        match self {
            Template::Lit(value) => Some(value),
            _ => None,
        }
    }
}

impl Value {
    /// Whether another key of an object differs from this one in upper and lower case alone.
    pub(crate) fn is_doubled(&self, key: &str) -> bool {
        matches!(self, Value::Object(members) if members.iter().any(|(k, _)| twins(k, key)))
    }
}

/// Whether two keys differ, and in upper and lower case alone.
fn twins(a: &str, b: &str) -> bool {
    a != b && a.chars().flat_map(char::to_lowercase).eq(b.chars().flat_map(char::to_lowercase))
}

/// The references in a text, in order.
pub fn text_refs(parts: &[Part]) -> impl Iterator<Item = &Ref> {
    parts.iter().filter_map(|part| match part {
        Part::Ref(r) => Some(r),
        Part::Lit(_) => None,
    })
}

/// Fills a text: values enter as text, as [`in_text`] writes them.
pub fn fill_text<E>(parts: &[Part], read: &mut dyn FnMut(&Ref) -> Result<Value, E>) -> Result<String, E> {
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Lit(text) => out.push_str(text),
            Part::Ref(r) => out.push_str(&in_text(&read(r)?)),
        }
    }
    Ok(out)
}

/// A value within a longer text: text as it is, everything else as canonical JSON.
pub fn in_text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A text as the author wrote it: references in braces, braces doubled.
pub fn source_text(parts: &[Part]) -> String {
    parts
        .iter()
        .map(|part| match part {
            Part::Lit(text) => text.replace('{', "{{").replace('}', "}}"),
            Part::Ref(r) => format!("{{{r}}}"),
        })
        .collect()
}

impl Ref {
    /// The input's or step's name.
    pub fn name(&self) -> &str {
        match &self.source {
            Source::Input(name) | Source::Step(name) => name,
        }
    }

    /// The step that is read, if it is a step.
    pub fn step(&self) -> Option<&str> {
        match &self.source {
            Source::Step(name) => Some(name),
            Source::Input(_) => None,
        }
    }

    /// Follows the path into the value of what is read.
    pub fn follow<'v>(&self, root: &'v Value) -> Result<&'v Value, MissingPath> {
        let mut at = root;
        for (i, segment) in self.path.iter().enumerate() {
            let next = match segment {
                Segment::Field(field) => at.member(field),
                Segment::Index(i) => match at {
                    Value::List(items) => items.get(*i as usize),
                    _ => None,
                },
            };
            at = next.ok_or_else(|| {
                let turns = self.path.iter().take(i).map(Segment::to_string);
                let walked: String = std::iter::once(self.name().to_owned()).chain(turns).collect();
                MissingPath { wanted: self.clone(), found: describe(&walked, at) }
            })?;
        }
        Ok(at)
    }
}

fn describe(walked: &str, at: &Value) -> String {
    match at {
        Value::List(items) => format!("{walked} is a list of {}", items.len()),
        Value::Object(o) if o.is_empty() => format!("{walked} is an empty object"),
        Value::Object(o) => {
            let keys: Vec<_> = o.iter().take(8).map(|(k, _)| k).collect();
            let more = if o.len() > keys.len() { ", …" } else { "" };
            format!("{walked} has only {}{more}", keys.join(", "))
        }
        other => format!("{walked} is {}", other.kind()),
    }
}

/// Whether the name of a field may stand behind a dot as it is.
fn is_plain(field: &str) -> bool {
    is_name(&field.replace(['$', '@'], "_"))
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Segment::Field(field) if is_plain(field) => write!(f, ".{field}"),
            Segment::Field(field) => write!(f, "['{field}']"),
            Segment::Index(i) => write!(f, "[{i}]"),
        }
    }
}

/// As written between the braces.
impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        self.path.iter().try_for_each(|segment| write!(f, "{segment}"))
    }
}
