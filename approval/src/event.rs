//! What the event log says of a transition, and how its entries hang together.

use std::fmt;

use plangate_graph::Digest;
use plangate_graph::value::{Number, Object, Value};

use crate::clock::Time;
use crate::outcome::Outcome;
use crate::row::{Person, RowId};
use crate::run::RunId;
use crate::storage::Event;

/// Kind of an event: the transition that it tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A run was stored and its first lease taken.
    Started,
    /// A driver took a run up.
    Leased,
    /// A row was put.
    Asked,
    /// A person put other arguments in the place of those that were asked.
    Edited,
    /// A surface showed a row to a person.
    Shown,
    /// A vote that decided nothing yet.
    Voted,
    /// The vote that made a row approved.
    Approved,
    /// The vote that made a question answered.
    Answered,
    /// The no that rejected a row.
    Rejected,
    /// The very same call was made a short while before: it was not asked, not edited into that, or not claimed.
    Refused,
    /// A row was seen past its time for the first time.
    Expired,
    /// A row was cancelled, or its run.
    Cancelled,
    /// A call was claimed, or born claimed under a rule.
    Claimed,
    /// The claimer said what it saw.
    Outcome,
    /// A verb met a claim whose claimer is gone.
    Uncertain,
    /// The host said what it knows of an uncertain call.
    Reconciled,
    /// A person said what happened.
    Settled,
    /// After a person had spoken, the claimer said the same.
    Confirmed,
    /// After a person had spoken, the claimer said something else.
    Contradicted,
    /// A person accepted what changed of the tools or the policy: the run goes on under these, and asks again.
    Accepted,
    /// A driver let go of a run that waits for people.
    Parked,
    /// A driver let go of a run that a person must look at.
    Attention,
    /// A run ended.
    Ended,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 23] = [
        Kind::Started,
        Kind::Leased,
        Kind::Asked,
        Kind::Edited,
        Kind::Shown,
        Kind::Voted,
        Kind::Approved,
        Kind::Answered,
        Kind::Rejected,
        Kind::Refused,
        Kind::Expired,
        Kind::Cancelled,
        Kind::Claimed,
        Kind::Outcome,
        Kind::Uncertain,
        Kind::Reconciled,
        Kind::Settled,
        Kind::Confirmed,
        Kind::Contradicted,
        Kind::Accepted,
        Kind::Parked,
        Kind::Attention,
        Kind::Ended,
    ];

    /// The kind that is written so.
    pub fn named(text: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// As it stands under `kind`.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Started => "started",
            Kind::Leased => "leased",
            Kind::Asked => "asked",
            Kind::Edited => "edited",
            Kind::Shown => "shown",
            Kind::Voted => "voted",
            Kind::Approved => "approved",
            Kind::Answered => "answered",
            Kind::Rejected => "rejected",
            Kind::Refused => "refused",
            Kind::Expired => "expired",
            Kind::Cancelled => "cancelled",
            Kind::Claimed => "claimed",
            Kind::Outcome => "outcome",
            Kind::Uncertain => "uncertain",
            Kind::Reconciled => "reconciled",
            Kind::Settled => "settled",
            Kind::Confirmed => "confirmed",
            Kind::Contradicted => "contradicted",
            Kind::Accepted => "accepted",
            Kind::Parked => "parked",
            Kind::Attention => "attention",
            Kind::Ended => "ended",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The content of one event: its kind, its run, and members by name. Written as canonical JSON.
///
/// Arguments and values stand in it by digest; the row holds the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct What {
    kind: Kind,
    members: Vec<(String, Value)>,
}

impl What {
    /// An event of this kind about a run.
    pub fn new(kind: Kind, run: &RunId) -> What {
        What { kind, members: Vec::new() }.with("run", run.0.as_str())
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// With one more member. A name is given once.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> What {
        self.members.push((name.to_owned(), value.into()));
        self
    }

    /// With a member where there is something to say.
    #[must_use]
    pub fn with_some(self, name: &str, value: Option<impl Into<Value>>) -> What {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// About this row.
    #[must_use]
    pub fn row(self, row: &RowId) -> What {
        self.with("row", row.0.as_str())
    }

    /// With a digest.
    #[must_use]
    pub fn digest(self, name: &str, digest: &Digest) -> What {
        self.with(name, digest.to_string())
    }

    /// With a time.
    #[must_use]
    pub fn time(self, name: &str, at: Time) -> What {
        let number = Number::from_text(&at.0.to_string());
        self.with_some(name, number.map(Value::Number))
    }

    /// Done by this person. Whether the host verified who it was is part of it.
    #[must_use]
    pub fn by(self, person: &Person) -> What {
        let by = object([
            ("issuer", Value::from(person.issuer.as_str())),
            ("subject", Value::from(person.subject.as_str())),
            ("verified", Value::from(person.verified)),
        ]);
        self.with("by", by)
    }

    /// With what the claimer saw: its kind, and a reason in words or the digest of the value.
    #[must_use]
    pub fn outcome(self, outcome: &Outcome) -> What {
        let what = self.with("outcome", outcome.kind());
        match outcome {
            Outcome::Ok(value) => what.digest("value", &Digest::of(&value.canonical())),
            Outcome::Failed(reason) | Outcome::NotSent(reason) | Outcome::Unknown(reason) => {
                what.with("reason", reason.as_str())
            }
        }
    }

    /// Canonical JSON.
    pub fn text(&self) -> String {
        let kind = [("kind".to_owned(), Value::from(self.kind.as_str()))];
        object_of(kind.into_iter().chain(self.members.iter().cloned()).collect()).to_string()
    }
}

impl Event {
    /// The event at this place of the chain.
    pub fn chained(prev: Digest, seq: u64, at: Time, what: String) -> Event {
        let hash = Event::hash_of(&prev, seq, at, &what);
        Event { seq, at, what, prev, hash }
    }

    /// Hash over the event before, position, time and content.
    pub fn hash_of(prev: &Digest, seq: u64, at: Time, what: &str) -> Digest {
        let parts: [&[u8]; 4] = [prev.as_bytes(), &seq.to_be_bytes(), &at.0.to_be_bytes(), what.as_bytes()];
        Digest::of_parts(parts)
    }

    /// What stands before the first event of a store, so that the logs of two stores are never one.
    pub fn genesis(store: &str) -> Digest {
        Digest::of_parts([&b"plangate events"[..], store.as_bytes()])
    }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    object_of(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// An object of members whose names differ. Of a name given twice the first stands.
fn object_of(mut members: Vec<(String, Value)>) -> Value {
    members.sort_by(|a, b| a.0.cmp(&b.0));
    members.dedup_by(|later, first| later.0 == first.0);
    Value::Object(Object::new(members).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_canonical() {
        let run = RunId("r1".into());
        let what = What::new(Kind::Asked, &run).with("node", "post/gate").with("ask", 0_u64);
        assert_eq!(what.text(), r#"{"ask":0,"kind":"asked","node":"post/gate","run":"r1"}"#);
    }

    #[test]
    fn the_hash_covers_every_part() {
        let base = Event::chained(Event::genesis("s"), 1, Time(5), "{}".into());
        let others = [
            Event::chained(Event::genesis("t"), 1, Time(5), "{}".into()),
            Event::chained(Event::genesis("s"), 2, Time(5), "{}".into()),
            Event::chained(Event::genesis("s"), 1, Time(6), "{}".into()),
            Event::chained(Event::genesis("s"), 1, Time(5), "{ }".into()),
        ];
        assert!(others.iter().all(|other| other.hash != base.hash));
    }
}
