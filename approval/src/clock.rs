//! Time, behind a clock that tests can set.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A moment: milliseconds since 1970-01-01 UTC, of the store's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Time(pub i64);

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
