//! Whether the event log is whole, and where it breaks.
//!
//! Each event carries a hash over the one before it, its position, its time and its content. That shows accidents, and
//! edits by somebody who did not compute the rest anew. Whoever can write the store can do that; only a [`Head`] that was
//! noted elsewhere proves that nothing before it was changed or taken away.

use std::fmt;
use std::str::FromStr;

use plangate_graph::Digest;

use crate::storage::{Event, Storage, StoreError};

/// The end of the log at some time: `SEQ:sha256:...` as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Position of the last event; 0: there is none.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
}

/// A text that is no head.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no head of a log: expected a position, a colon and a digest")]
pub struct HeadError(String);

/// Where the log breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// Events are missing.
    #[error("event {expected} is missing: {found} follows")]
    Missing {
        /// The position that should be there.
        expected: u64,
        /// The one that is.
        found: u64,
    },
    /// The event, or the one before it, is not what was written.
    #[error("event {seq} does not hang together with what stands before it")]
    Changed {
        /// Its position.
        seq: u64,
    },
    /// The log is shorter than a head that was noted.
    #[error("the log ends at {last}, but its head was noted at {head}")]
    Shortened {
        /// Position of the noted head.
        head: u64,
        /// Position of the last event that is there.
        last: u64,
    },
    /// The log hangs together, but not with a head that was noted.
    #[error("event {seq} has another hash than was noted: the log was written anew")]
    Rewritten {
        /// Position of the noted head.
        seq: u64,
    },
}

/// Why a log does not pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuditError {
    /// It breaks.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// It cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reads the whole log and verifies it; with a head that was noted before, also that it still stands. Gives the head to
/// note now. Linear in the log.
pub fn verify<S: Storage + ?Sized>(store: &S, noted: Option<&Head>) -> Result<Head, AuditError> {
    let genesis = Event::genesis(&store.id()?);
    let events = store.events(0)?;
    let head = chain(genesis, &events)?;
    if let Some(noted) = noted {
        let then = match noted.seq.checked_sub(1) {
            None => Some(genesis),
            Some(at) => usize::try_from(at).ok().and_then(|at| events.get(at)).map(|event| event.hash),
        };
        match then {
            None => return Err(Broken::Shortened { head: noted.seq, last: head.seq }.into()),
            Some(hash) if hash != noted.hash => return Err(Broken::Rewritten { seq: noted.seq }.into()),
            Some(_) => {}
        }
    }
    Ok(head)
}

/// Verifies all events of a log, from the first.
pub fn chain(genesis: Digest, events: &[Event]) -> Result<Head, Broken> {
    let mut head = Head { seq: 0, hash: genesis };
    for event in events {
        let expected = head.seq.saturating_add(1);
        if event.seq != expected {
            return Err(Broken::Missing { expected, found: event.seq });
        }
        let hash = Event::hash_of(&head.hash, event.seq, event.at, &event.what);
        if event.prev != head.hash || event.hash != hash {
            return Err(Broken::Changed { seq: event.seq });
        }
        head = Head { seq: event.seq, hash };
    }
    Ok(head)
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

impl FromStr for Head {
    type Err = HeadError;

    fn from_str(text: &str) -> Result<Head, HeadError> {
        let bad = || HeadError(text.chars().take(100).collect());
        let (seq, hash) = text.split_once(':').ok_or_else(bad)?;
        Ok(Head { seq: seq.parse().map_err(|_| bad())?, hash: hash.parse().map_err(|_| bad())? })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]
    use super::*;
    use crate::clock::Time;

    fn log(n: u64) -> (Digest, Vec<Event>) {
        let genesis = Event::genesis("a store");
        let mut prev = genesis;
        let events = (1..=n)
            .map(|seq| {
                let event = Event::chained(prev, seq, Time(1), format!("{{\"n\":{seq}}}"));
                prev = event.hash;
                event
            })
            .collect();
        (genesis, events)
    }

    #[test]
    fn a_change_is_found_where_it_is() {
        let (genesis, events) = log(9);
        assert_eq!(chain(genesis, &events).unwrap().seq, 9);
        for i in 0..9 {
            let mut edited = events.clone();
            edited[i].what.push(' ');
            assert_eq!(chain(genesis, &edited), Err(Broken::Changed { seq: i as u64 + 1 }));
            let mut edited = events.clone();
            edited[i].at = Time(2);
            assert_eq!(chain(genesis, &edited), Err(Broken::Changed { seq: i as u64 + 1 }));
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let (genesis, mut events) = log(9);
        events.remove(4);
        assert_eq!(chain(genesis, &events), Err(Broken::Missing { expected: 5, found: 6 }));
    }

    #[test]
    fn another_stores_log_does_not_pass() {
        let (_, events) = log(3);
        assert_eq!(chain(Event::genesis("another"), &events), Err(Broken::Changed { seq: 1 }));
    }

    #[test]
    fn a_head_round_trips() {
        let (genesis, events) = log(3);
        let head = chain(genesis, &events).unwrap();
        assert_eq!(head.to_string().parse(), Ok(head));
        assert!("3:sha256:xy".parse::<Head>().is_err());
        assert!("sha256:ab".parse::<Head>().is_err());
    }
}
