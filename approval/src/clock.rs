//! Time, behind a clock that tests can set.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A moment: milliseconds since 1970-01-01 UTC, of the store's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Time(pub i64);

/// RFC 3339 in UTC, to the second.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.0.div_euclid(86_400_000), self.0.rem_euclid(86_400_000) / 1000);
        // Days from 0000-03-01 on, in eras of 400 years: a leap day is then the last of its year.
        let days = days + 719_468;
        let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = year + era * 400 + i64::from(month <= 2);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

/// Where a store reads the time. Stores read it after they took their lock.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Wall clock.
    fn now(&self) -> Time;
    /// Milliseconds that never step back and that count suspension; a permit ends by it.
    fn steady(&self) -> i64;
}

/// The machine's clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        let t = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
        Time(t.tv_sec * 1000 + t.tv_nsec / 1_000_000)
    }

    fn steady(&self) -> i64 {
        let t = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        t.tv_sec * 1000 + t.tv_nsec / 1_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (951_868_799_999, "2000-02-29T23:59:59Z"),
            (951_868_800_000, "2000-03-01T00:00:00Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (1_790_000_000_000, "2026-09-21T14:13:20Z"),
            (1_798_761_599_000, "2026-12-31T23:59:59Z"),
        ] {
            assert_eq!(Time(ms).to_string(), text);
        }
        // Whatever a damaged store says.
        assert!(Time(i64::MIN).to_string().ends_with('Z') && Time(i64::MAX).to_string().ends_with('Z'));
    }
}
