//! The tests of a `check:`, evaluated.

use std::cmp::Ordering;

use plangate_graph::Value;
use plangate_graph::value::Number;

/// A test with its right side filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    IsEmpty,
    IsNotEmpty,
    Is(Value),
    IsNot(Value),
    Greater(Value),
    Less(Value),
    Contains(Value),
}

/// Whether the test holds of this value. The error says what cannot be compared.
pub(crate) fn holds(left: &Value, test: &Test) -> Result<bool, String> {
    match test {
        Test::IsEmpty => Ok(is_empty(left)),
        Test::IsNotEmpty => Ok(!is_empty(left)),
        Test::Is(right) => Ok(same(left, right)),
        Test::IsNot(right) => Ok(!same(left, right)),
        Test::Greater(right) => Ok(numbers(left, right)? == Ordering::Greater),
        Test::Less(right) => Ok(numbers(left, right)? == Ordering::Less),
        Test::Contains(right) => match (left, right) {
            (Value::Text(whole), Value::Text(part)) => Ok(whole.contains(part.as_str())),
            (Value::List(items), right) => Ok(items.iter().any(|item| same(item, right))),
            (Value::Text(_), other) => Err(format!("text cannot contain {}", other.kind())),
            (other, _) => Err(format!("{} contains nothing: only text and lists do", other.kind())),
        },
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The same JSON, numbers compared as numbers. Values are at most as deep as they may be read.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Decimal::of(a).compare(&Decimal::of(b)) == Ordering::Equal,
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|((k, a), (l, b))| k == l && same(a, b))
        }
        _ => a == b,
    }
}

fn numbers(left: &Value, right: &Value) -> Result<Ordering, String> {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => Ok(Decimal::of(a).compare(&Decimal::of(b))),
        (Value::Number(_), other) | (other, _) => {
            Err(format!("only numbers are greater or less, and this is {}", other.kind()))
        }
    }
}

/// A JSON number of any length, exactly: sign, digits without zeros at either end, and the place of the first digit.
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    /// Ten to this power times `0.digits`.
    point: i64,
}

impl Decimal {
    fn of(number: &Number) -> Decimal {
        let text = number.as_str();
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let places = i64::try_from(whole.len()).unwrap_or(i64::MAX);
        let leading = digits.iter().take_while(|d| **d == b'0').count();
        digits.drain(..leading);
        digits.truncate(digits.iter().rposition(|d| *d != b'0').map_or(0, |last| last + 1));
        // Beyond 64 bits an exponent is as large or as small as can be.
        let far = if exponent.starts_with('-') { i64::MIN } else { i64::MAX };
        let exponent = exponent.trim_start_matches('+').parse().unwrap_or(far);
        let point =
            places.saturating_sub(i64::try_from(leading).unwrap_or(i64::MAX)).saturating_add(exponent);
        Decimal { negative: negative && !digits.is_empty(), digits, point }
    }

    fn compare(&self, other: &Decimal) -> Ordering {
        let size = match (self.digits.is_empty(), other.digits.is_empty()) {
            (true, true) => return Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self.point.cmp(&other.point).then_with(|| self.digits.cmp(&other.digits)),
        };
        match (self.negative, other.negative) {
            (false, false) => size,
            (true, true) => size.reverse(),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn json(text: &str) -> Value {
        Value::parse(text).unwrap()
    }

    #[test]
    fn empty_is_nothing_in_it() {
        for (text, empty) in [
            ("null", true),
            ("\"\"", true),
            ("[]", true),
            ("{}", true),
            ("0", false),
            ("false", false),
            ("[0]", false),
        ] {
            assert_eq!(holds(&json(text), &Test::IsEmpty), Ok(empty), "{text}");
            assert_eq!(holds(&json(text), &Test::IsNotEmpty), Ok(!empty), "{text}");
        }
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_exactly() {
        let is = |a, b| holds(&json(a), &Test::Is(json(b))).unwrap();
        assert!(is("1", "1.0") && is("100", "1e2") && is("-0", "0") && is("0.10", "1E-1"));
        assert!(is(r#"{"a":[1.0,"x"]}"#, r#"{"a":[1,"x"]}"#));
        assert!(!is("12345678901234567890123", "12345678901234567890124"));
        assert!(!is("\"1\"", "1") && !is("[1]", "[1,1]") && !is(r#"{"a":1}"#, r#"{"b":1}"#));
        let greater = |a, b| holds(&json(a), &Test::Greater(json(b))).unwrap();
        assert!(greater("12345678901234567890124", "12345678901234567890123"));
        assert!(
            greater("10", "9.99") && greater("-1", "-2") && greater("0.02", "0.009") && greater("1", "-5")
        );
        assert!(!greater("1", "1.0") && !greater("0", "1e-400") && greater("1e99999999999999999999", "5"));
        assert!(holds(&json("2"), &Test::Less(json("10"))).unwrap());
    }

    #[test]
    fn contains_looks_into_text_and_lists() {
        let contains = |a, b| holds(&json(a), &Test::Contains(json(b)));
        assert_eq!(contains("\"urgent: x\"", "\"urgent\""), Ok(true));
        assert_eq!(contains("[1,2]", "2.0"), Ok(true));
        assert_eq!(contains("[\"ab\"]", "\"a\""), Ok(false));
        assert!(contains("{}", "1").is_err() && contains("\"1\"", "1").is_err());
    }

    #[test]
    fn what_is_no_number_is_neither_greater_nor_less() {
        assert_eq!(
            holds(&json("\"7\""), &Test::Greater(json("3"))),
            Err("only numbers are greater or less, and this is text".to_owned())
        );
        assert!(holds(&json("7"), &Test::Less(json("null"))).is_err());
    }

    proptest! {
        #[test]
        fn agrees_with_doubles(a in -1e6..1e6_f64, b in -1e6..1e6_f64) {
            let value = |n: f64| json(&format!("{n:e}"));
            prop_assert_eq!(numbers(&value(a), &value(b)).ok(), a.partial_cmp(&b));
        }
    }
}
