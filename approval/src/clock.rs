//! Time, behind a clock that tests can set.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A moment: milliseconds since 1970-01-01 UTC, of the store's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Time(pub i64);

/// RFC 3339 in UTC. What no calendar holds, in a damaged store, is a number of milliseconds.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => moment.fmt(f),
            Err(_) => write!(f, "{} ms", self.0),
        }
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
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (i64::MIN, "-9223372036854775808 ms"),
        ] {
            assert_eq!(Time(ms).to_string(), text);
        }
    }
}
