//! How far a webhook was told, as a value: no file, no clock, no network.

use plangate_approval::Time;
use serde::{Deserialize, Serialize};

use crate::backoff;

/// How many events that were given up are remembered one by one.
const REMEMBERED: usize = 20;
/// How much of an error is kept, in characters.
const LONGEST_ERROR: usize = 300;

/// How far a webhook was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Position in the store's log up to which everything was told, passed over, or given up.
    pub told: u64,
    /// How many events the receiver took.
    pub delivered: u64,
    /// When it last took one.
    pub last: Option<Time>,
    /// The event that it does not take.
    pub failing: Option<Failing>,
    /// How many events were given up.
    pub lost: u64,
    /// The last of them.
    pub given_up: Vec<GivenUp>,
}

/// An event that the receiver did not take so far. Those behind it wait, so that the order is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failing {
    /// Its position.
    pub seq: u64,
    /// When it was first tried.
    pub since: Time,
    /// How often it was tried.
    pub attempts: u32,
    /// What went wrong last.
    pub error: String,
    /// When it is tried again.
    pub next: Time,
}

/// An event that was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenUp {
    /// Its position.
    pub seq: u64,
    /// When.
    pub at: Time,
    /// What went wrong last.
    pub error: String,
}

impl Progress {
    /// Of a webhook that is told what happens after this position.
    pub fn from(told: u64) -> Progress {
        Progress { told, delivered: 0, last: None, failing: None, lost: 0, given_up: Vec::new() }
    }

    /// Until when nothing is to be tried. A clock that was set back waits no longer than the longest wait.
    pub fn waits_until(&self, now: Time) -> Option<Time> {
        let next = self.failing.as_ref()?.next;
        let sensible = next.0.saturating_sub(now.0) <= backoff::LONGEST_MS;
        (now < next && sensible).then_some(next)
    }

    /// The receiver took the event at this position.
    pub fn took(&mut self, seq: u64, now: Time) {
        self.told = self.told.max(seq);
        self.delivered = self.delivered.saturating_add(1);
        self.last = Some(now);
        self.failing = None;
    }

    /// Nothing up to this position is of interest to the receiver, or it was told.
    pub fn pass(&mut self, seq: u64) {
        self.told = self.told.max(seq);
    }

    /// The receiver did not take the event at this position. Gives it up, and says so, after [`backoff::GIVE_UP_MS`].
    pub fn failed(&mut self, seq: u64, error: &str, now: Time, chance: u8) -> bool {
        let error: String = error.chars().take(LONGEST_ERROR).collect();
        let (since, attempts) = match &self.failing {
            Some(before) if before.seq == seq => (before.since, before.attempts.saturating_add(1)),
            _ => (now, 1),
        };
        if backoff::is_over(attempts, now.0.saturating_sub(since.0)) {
            self.pass(seq);
            self.failing = None;
            self.lost = self.lost.saturating_add(1);
            self.given_up.push(GivenUp { seq, at: now, error });
            let over = self.given_up.len().saturating_sub(REMEMBERED);
            self.given_up.drain(..over);
            return true;
        }
        let next = Time(now.0.saturating_add(backoff::wait_ms(attempts, chance)));
        self.failing = Some(Failing { seq, since, attempts, error, next });
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_waits_longer_each_time() {
        let mut progress = Progress::from(4);
        let mut now = Time(0);
        let mut waits = Vec::new();
        for _ in 0..5 {
            assert!(!progress.failed(5, "answered 500", now, 255));
            let next = progress.waits_until(now).unwrap();
            waits.push(next.0 - now.0);
            assert_eq!(progress.waits_until(next), None, "then it is tried");
            now = next;
        }
        assert_eq!(waits, [1_000, 2_000, 4_000, 8_000, 16_000]);
        assert_eq!(progress.failing.as_ref().unwrap().since, Time(0));
        assert_eq!(progress.told, 4, "it is still to be told");
        progress.took(5, now);
        assert_eq!((progress.told, progress.delivered, &progress.failing), (5, 1, &None));
        progress.failed(9, "answered 500", now, 255);
        assert_eq!(progress.failing.as_ref().unwrap().attempts, 1, "another event begins anew");
    }

    #[test]
    fn an_event_is_given_up_after_three_days_and_remembered() {
        let mut progress = Progress::from(0);
        let mut now = Time(0);
        let mut attempts = 0;
        while !progress.failed(1, "refused", now, 0) {
            attempts += 1;
            now = progress.waits_until(now).unwrap();
        }
        assert!(now.0 >= backoff::GIVE_UP_MS && attempts > 100, "{attempts} until {now}");
        assert_eq!((progress.told, progress.lost, progress.failing.is_none()), (1, 1, true));
        assert_eq!(progress.given_up, [GivenUp { seq: 1, at: now, error: "refused".into() }]);
        for seq in 2..100 {
            let mut later = now;
            while !progress.failed(seq, "refused", later, 0) {
                later = Time(later.0 + backoff::GIVE_UP_MS);
            }
        }
        assert_eq!((progress.lost, progress.given_up.len()), (99, REMEMBERED), "it does not grow");
    }

    #[test]
    fn a_clock_set_back_does_not_silence_it() {
        let mut progress = Progress::from(0);
        progress.failed(1, "refused", Time(10 * backoff::LONGEST_MS), 255);
        assert_eq!(progress.waits_until(Time(0)), None);
    }
}
