//! Where an argument stands, and what is known about it.

use crate::template::{Segment, Template};
use crate::value::Value;

/// The arguments that a condition looks at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arguments<'a> {
    /// As they are sent.
    Final(&'a Value),
    /// As the recipe gives them.
    Given(&'a Template),
    /// Nothing is known.
    Unknown,
}

/// What stands at a path.
pub(super) enum Place {
    /// This value.
    Value(Value),
    /// Nothing, for certain.
    Missing,
    /// Not known yet.
    Unknown,
}

/// Follows a path into the arguments.
pub(super) fn find(args: Arguments<'_>, path: &[Segment]) -> Place {
    let mut at = match args {
        Arguments::Final(value) => return find_value(value, path),
        Arguments::Given(template) => template,
        Arguments::Unknown => return Place::Unknown,
    };
    let mut rest = path;
    while let Some((segment, tail)) = rest.split_first() {
        let next = match (at, segment) {
            (Template::Lit(value), _) => return find_value(value, rest),
            // Some servers take `AMOUNT` for `amount`: where both are given, nobody knows which of them counts.
            (_, Segment::Field(field)) if at.is_doubled(field) => return Place::Unknown,
            (Template::Object(members), Segment::Field(field)) => {
                members.iter().find(|(key, _)| key == field).map(|(_, member)| member)
            }
            (Template::List(items), Segment::Index(i)) => items.get(*i as usize),
            (Template::Object(_) | Template::List(_), _) => None,
            (Template::Ref(_) | Template::Text(_), _) => return Place::Unknown,
        };
        match next {
            Some(next) => at = next,
            None => return Place::Missing,
        }
        rest = tail;
    }
    match at {
        Template::Lit(value) => Place::Value(value.clone()),
        _ => Place::Unknown,
    }
}

fn find_value(value: &Value, path: &[Segment]) -> Place {
    let mut at = value;
    for segment in path {
        let next = match (at, segment) {
            (_, Segment::Field(field)) if at.is_doubled(field) => return Place::Unknown,
            (_, Segment::Field(field)) => at.member(field),
            (Value::List(items), Segment::Index(i)) => items.get(*i as usize),
            _ => None,
        };
        match next {
            Some(next) => at = next,
            None => return Place::Missing,
        }
    }
    Place::Value(at.clone())
}
