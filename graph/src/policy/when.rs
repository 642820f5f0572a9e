//! Predicates over arguments: `amount <= 100`, `currency in ["EUR", "CHF"]`.

use std::cmp::Ordering;
use std::fmt;

use super::number;
use super::place::{Arguments, Place, find};
use crate::template::Segment;
use crate::value::Value;

/// One condition of a rule's `when`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Predicate {
    path: Vec<Segment>,
    test: Test,
}

/// How the argument is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    /// With one literal.
    One(Relation, Value),
    /// With a list of literals; `true`: it must be among them.
    Among(bool, Vec<Value>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    AtMost,
    Less,
    AtLeast,
    Greater,
    Is,
    IsNot,
}

/// What a condition comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    /// It holds.
    Yes,
    /// It does not.
    No,
    /// Not known yet, or another type than the rule expects.
    Unclear,
}

/// All conditions together.
pub(super) fn all(predicates: &[Predicate], args: Arguments<'_>) -> Truth {
    predicates.iter().map(|p| p.holds(args)).fold(Truth::Yes, Truth::and)
}

impl Predicate {
    /// Reads a condition. The error says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Predicate, String> {
        let text = text.trim();
        let end = text.find(|c: char| c.is_whitespace() || "<>=!".contains(c)).unwrap_or(text.len());
        let (path, rest) = text.split_at(end);
        let path = parse_path(path).ok_or_else(|| format!("{path:?} is no path to an argument"))?;
        let rest = rest.trim_start();
        for (word, wanted) in [("not in", false), ("in", true)] {
            if let Some(list) = rest.strip_prefix(word).filter(|list| list.starts_with([' ', '['])) {
                return match Value::parse(list.trim()) {
                    Ok(Value::List(list)) if !list.is_empty() => {
                        Ok(Predicate { path, test: Test::Among(wanted, list) })
                    }
                    _ => Err(format!("{:?} is no JSON list of values", list.trim())),
                };
            }
        }
        let relations = [
            ("<=", Relation::AtMost),
            (">=", Relation::AtLeast),
            ("!=", Relation::IsNot),
            ("<", Relation::Less),
            (">", Relation::Greater),
            ("=", Relation::Is),
        ];
        let found =
            relations.into_iter().find_map(|(word, relation)| Some((relation, rest.strip_prefix(word)?)));
        let Some((relation, literal)) = found else {
            return Err("expected <=, <, >=, >, =, !=, in or not in behind the argument".into());
        };
        let literal = literal.trim();
        let value = Value::parse(literal)
            .map_err(|_| format!("{literal:?} is no JSON value (text stands in quotes)"))?;
        let ordered = !matches!(relation, Relation::Is | Relation::IsNot);
        if ordered && !matches!(value, Value::Number(_)) {
            return Err(format!("{literal} is no number, and only numbers are more or less"));
        }
        if matches!(value, Value::List(_) | Value::Object(_)) {
            return Err(format!("{literal} is no single value"));
        }
        Ok(Predicate { path, test: Test::One(relation, value) })
    }

    /// The argument at the top of the path.
    pub(super) fn argument(&self) -> &str {
        match self.path.first() {
            Some(Segment::Field(name)) => name,
            _ => "",
        }
    }

    fn holds(&self, args: Arguments<'_>) -> Truth {
        match find(args, &self.path) {
            Place::Unknown => Truth::Unclear,
            Place::Missing => self.test.of_missing(),
            Place::Value(value) => self.test.of(&value),
        }
    }
}

impl Test {
    fn of(&self, value: &Value) -> Truth {
        match self {
            Test::One(Relation::Is, right) => equal(value, right),
            Test::One(Relation::IsNot, right) => equal(value, right).not(),
            Test::One(relation, Value::Number(right)) => match value {
                Value::Number(left) => Truth::from(relation.takes(number::compare(left, right))),
                _ => Truth::Unclear,
            },
            Test::One(..) => Truth::Unclear,
            Test::Among(wanted, list) => {
                let among = match value {
                    Value::List(items) if items.is_empty() => Truth::Unclear,
                    Value::List(items) => {
                        items.iter().map(|item| among(item, list)).fold(Truth::Yes, Truth::and)
                    }
                    one => among(one, list),
                };
                if *wanted { among } else { among.not() }
            }
        }
    }

    /// What is not there is no value: it equals nothing, and is neither more nor less.
    fn of_missing(&self) -> Truth {
        match self {
            Test::One(Relation::Is, _) | Test::Among(true, _) => Truth::No,
            Test::One(Relation::IsNot, _) | Test::Among(false, _) => Truth::Yes,
            Test::One(..) => Truth::Unclear,
        }
    }
}

impl Relation {
    fn takes(self, order: Ordering) -> bool {
        match self {
            Relation::AtMost => order.is_le(),
            Relation::Less => order.is_lt(),
            Relation::AtLeast => order.is_ge(),
            Relation::Greater => order.is_gt(),
            Relation::Is => order.is_eq(),
            Relation::IsNot => order.is_ne(),
        }
    }
}

impl Truth {
    fn and(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::No, _) | (_, Truth::No) => Truth::No,
            (Truth::Yes, Truth::Yes) => Truth::Yes,
            _ => Truth::Unclear,
        }
    }

    fn not(self) -> Truth {
        match self {
            Truth::Yes => Truth::No,
            Truth::No => Truth::Yes,
            Truth::Unclear => Truth::Unclear,
        }
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Truth {
        if holds { Truth::Yes } else { Truth::No }
    }
}

/// Whether two values are the same; of two types, nobody knows what the tool makes of it.
fn equal(a: &Value, b: &Value) -> Truth {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Truth::from(number::compare(a, b).is_eq()),
        (Value::Null, _) | (_, Value::Null) => Truth::from(a == b),
        (Value::Text(_), Value::Text(_)) | (Value::Bool(_), Value::Bool(_)) => Truth::from(a == b),
        _ => Truth::Unclear,
    }
}

fn among(value: &Value, list: &[Value]) -> Truth {
    let mut found = Truth::No;
    for right in list {
        match equal(value, right) {
            Truth::Yes => return Truth::Yes,
            Truth::Unclear => found = Truth::Unclear,
            Truth::No => {}
        }
    }
    found
}

/// `name`, `name.field`, `name[0].field`.
fn parse_path(text: &str) -> Option<Vec<Segment>> {
    let mut segments = Vec::new();
    for (i, part) in text.split('.').enumerate() {
        let (name, indices) = part.find('[').map_or((part, ""), |at| part.split_at(at));
        let word = |c: char| c.is_alphanumeric() || "_-$@/:".contains(c);
        if name.is_empty()
            || !name.chars().all(word)
            || (i == 0 && name.starts_with(|c: char| c.is_numeric()))
        {
            return None;
        }
        segments.push(Segment::Field(name.to_owned()));
        let mut rest = indices;
        while !rest.is_empty() {
            let (index, tail) = rest.strip_prefix('[')?.split_once(']')?;
            segments.push(Segment::Index(index.parse().ok()?));
            rest = tail;
        }
    }
    Some(segments)
}

/// In normal form, as [`Predicate::parse`] reads it back.
impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, segment) in self.path.iter().enumerate() {
            match segment {
                Segment::Field(field) if i == 0 => f.write_str(field)?,
                other => write!(f, "{other}")?,
            }
        }
        match &self.test {
            Test::One(relation, value) => write!(f, " {relation} {value}"),
            Test::Among(wanted, list) => {
                write!(f, " {} {}", if *wanted { "in" } else { "not in" }, Value::List(list.clone()))
            }
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Relation::AtMost => "<=",
            Relation::Less => "<",
            Relation::AtLeast => ">=",
            Relation::Greater => ">",
            Relation::Is => "=",
            Relation::IsNot => "!=",
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::template::{Ref, Source, Template};

    fn holds(predicate: &str, args: &str) -> Truth {
        Predicate::parse(predicate).unwrap().holds(Arguments::Final(&Value::parse(args).unwrap()))
    }

    #[test]
    fn table() {
        use Truth::{No, Unclear, Yes};
        for (predicate, args, truth) in [
            ("amount <= 100", r#"{"amount":100}"#, Yes),
            ("amount <= 100", r#"{"amount":1e2}"#, Yes),
            ("amount <= 100", r#"{"amount":100.00000000000000001}"#, No),
            ("amount <= 100", r#"{"amount":"50"}"#, Unclear),
            ("amount <= 100", "{}", Unclear),
            ("amount<100", r#"{"amount":100}"#, No),
            ("amount > 0.5", r#"{"amount":0.50001}"#, Yes),
            (r#"currency = "EUR""#, r#"{"currency":"EUR"}"#, Yes),
            (r#"currency = "EUR""#, r#"{"currency":"eur"}"#, No),
            (r#"currency != "EUR""#, "{}", Yes),
            ("force = true", "{}", No),
            ("force = true", r#"{"force":"true"}"#, Unclear),
            ("force = null", r#"{"force":null}"#, Yes),
            (r#"to in ["a","b"]"#, r#"{"to":"a"}"#, Yes),
            (r#"to in ["a","b"]"#, r#"{"to":["a","b"]}"#, Yes),
            (r#"to in ["a","b"]"#, r#"{"to":["a","c"]}"#, No),
            (r#"to in ["a","b"]"#, r#"{"to":[]}"#, Unclear),
            (r#"to not in ["a","b"]"#, r#"{"to":["a","c"]}"#, Yes),
            (r#"to not in ["a"]"#, r#"{"to":"a"}"#, No),
            ("order.items[1].n >= 2", r#"{"order":{"items":[{"n":1},{"n":2}]}}"#, Yes),
            ("order.items[2].n >= 2", r#"{"order":{"items":[{"n":1}]}}"#, Unclear),
        ] {
            assert_eq!(holds(predicate, args), truth, "{predicate} over {args}");
        }
    }

    #[test]
    fn what_is_not_known_is_unclear() {
        let reference = Template::Ref(Ref { source: Source::Input("n".into()), path: Vec::new() });
        let args = Template::object(vec![
            ("amount".into(), reference),
            ("currency".into(), Template::Lit(Value::from("EUR"))),
        ])
        .unwrap();
        let amount = Predicate::parse("amount <= 100").unwrap();
        let currency = Predicate::parse(r#"currency = "EUR""#).unwrap();
        assert_eq!(amount.holds(Arguments::Given(&args)), Truth::Unclear);
        assert_eq!(currency.holds(Arguments::Given(&args)), Truth::Yes);
        assert_eq!(all(&[amount, currency], Arguments::Unknown), Truth::Unclear);
        assert_eq!(all(&[], Arguments::Unknown), Truth::Yes);
    }

    #[test]
    fn normal_form_reads_back() {
        for text in ["amount<=1.10", r#"a.b[0].c-d in [1,"x"]"#, "x != null", r#"to not in ["ä"]"#] {
            let predicate = Predicate::parse(text).unwrap();
            assert_eq!(Predicate::parse(&predicate.to_string()), Ok(predicate));
        }
        for text in [
            "",
            "amount",
            "amount ~ 3",
            "amount < \"x\"",
            "= 3",
            "a = [1]",
            "a in 3",
            "a in []",
            "a..b = 1",
            "a = EUR",
        ] {
            assert!(Predicate::parse(text).is_err(), "{text}");
        }
    }
}
