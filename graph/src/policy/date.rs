//! Days, for the end of a rule. The core has no clock: a host says which day it is.

use std::fmt;
use std::str::FromStr;

/// A day of the calendar, written `2027-01-31`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

/// A text that is no day.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a day: expected year-month-day, for instance 2027-01-31")]
pub struct DateError(String);

impl Date {
    /// The day, if there is one: years 1 to 9999, months and days counted from 1.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Date> {
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            4 | 6 | 9 | 11 => 30,
            2 if leap => 29,
            2 => 28,
            1..=12 => 31,
            _ => return None,
        };
        ((1..=9999).contains(&year) && (1..=days).contains(&day)).then_some(Date { year, month, day })
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl FromStr for Date {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Date, DateError> {
        let parse = || {
            let (year, rest) = text.split_once('-')?;
            let (month, day) = rest.split_once('-')?;
            if (year.len(), month.len(), day.len()) != (4, 2, 2)
                || !text.bytes().all(|b| b.is_ascii_digit() || b == b'-')
            {
                return None;
            }
            Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)
        };
        parse().ok_or_else(|| DateError(text.chars().take(40).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_calendar() {
        for text in ["2027-01-31", "2028-02-29", "0001-12-31"] {
            assert_eq!(text.parse::<Date>().map(|d| d.to_string()), Ok(text.to_owned()));
        }
        for text in
            ["2027-02-29", "2100-02-29", "2027-13-01", "2027-1-1", "2027-01-32", "+027-01-01", "today", ""]
        {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
        assert!(Date::new(2027, 1, 31) < Date::new(2027, 2, 1));
    }
}
