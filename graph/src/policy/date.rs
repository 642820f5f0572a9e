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

impl Date {
    /// The day, in UTC, of a time in milliseconds since 1970. Nothing outside of the years 1 to 9999.
    pub fn of_unix_ms(ms: i64) -> Option<Date> {
        // Counted in years that begin with March, in cycles of 400 years, so that a leap day is the last of its year.
        let days = ms.div_euclid(86_400_000) + 719_468;
        let (cycle, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
        Date::new(u16::try_from(cycle * 400 + year).ok()?, u8::try_from(month).ok()?, u8::try_from(day).ok()?)
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
    fn days_of_a_clock() {
        for (ms, day) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (86_399_999, "1970-01-01"),
            (951_782_400_000, "2000-02-29"),
            (951_868_800_000, "2000-03-01"),
            (1_700_000_000_000, "2023-11-14"),
            (4_107_542_400_000, "2100-03-01"),
            (1_796_083_199_999, "2026-11-30"),
        ] {
            assert_eq!(Date::of_unix_ms(ms).map(|d| d.to_string()), Some(day.to_owned()), "{ms}");
        }
        assert_eq!(Date::of_unix_ms(i64::MAX), None);
        assert_eq!(Date::of_unix_ms(i64::MIN), None);
    }

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
