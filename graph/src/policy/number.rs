//! Numbers compared as they are written: no digit is lost, whatever the size.

use std::cmp::Ordering;

use crate::value::Number;

/// Compares two JSON numbers by value: `1`, `1.0` and `1e0` are equal, `100.00000000000000001` is more than `100`.
pub(crate) fn compare(a: &Number, b: &Number) -> Ordering {
    let (a, b) = (Decimal::of(a.as_str()), Decimal::of(b.as_str()));
    match (a.sign(), b.sign()) {
        (-1, -1) => b.magnitude(&a),
        (1, 1) => a.magnitude(&b),
        (a, b) => a.cmp(&b),
    }
}

/// A number in normal form: its digits without zeros at either end, and the power of ten of the first digit.
struct Decimal {
    negative: bool,
    digits: String,
    power: i128,
}

impl Decimal {
    fn of(text: &str) -> Decimal {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        // An exponent too long for i128 is beyond every other number of the same sign.
        let huge = if exponent.starts_with('-') { i128::MIN / 4 } else { i128::MAX / 4 };
        let exponent = exponent
            .strip_prefix('+')
            .unwrap_or(exponent)
            .parse::<i128>()
            .unwrap_or(huge)
            .clamp(i128::MIN / 4, i128::MAX / 4);
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let leading = all.len() - all.trim_start_matches('0').len();
        let places = |n: usize| i128::try_from(n).unwrap_or(0);
        Decimal {
            negative,
            digits: all.trim_matches('0').to_owned(),
            power: exponent + places(whole.len()) - places(leading),
        }
    }

    fn sign(&self) -> i8 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    /// Compares without the sign. Digits are an ASCII fraction, so their order is that of their text.
    fn magnitude(&self, other: &Decimal) -> Ordering {
        self.power.cmp(&other.power).then_with(|| self.digits.cmp(&other.digits))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use proptest::prelude::*;

    use super::*;

    fn order(a: &str, b: &str) -> Ordering {
        compare(&Number::from_text(a).unwrap(), &Number::from_text(b).unwrap())
    }

    #[test]
    fn by_value_and_exactly() {
        for (a, b) in
            [("1", "1.0"), ("1e0", "1"), ("-0", "0"), ("0.0e9", "0"), ("120", "1.2e2"), ("0.012", "12e-3")]
        {
            assert_eq!(order(a, b), Ordering::Equal, "{a} {b}");
        }
        for (a, b) in [
            ("100", "100.00000000000000000001"),
            ("99.999", "100"),
            ("9007199254740992", "9007199254740993"),
            ("-2", "-1"),
            ("-1", "0"),
            ("0", "1e-999999999999"),
            ("9e999999999999", "1e1000000000000"),
            ("1e5", "1e99999999999999999999999999999999999999999999"),
            ("1e-99999999999999999999999999999999999999999999", "1e-5"),
            ("-1e99999999999999999999999999999999999999999999", "1"),
        ] {
            assert_eq!(order(a, b), Ordering::Less, "{a} {b}");
            assert_eq!(order(b, a), Ordering::Greater, "{b} {a}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_integers(a in any::<i64>(), b in any::<i64>()) {
            prop_assert_eq!(order(&a.to_string(), &b.to_string()), a.cmp(&b));
        }
    }
}
