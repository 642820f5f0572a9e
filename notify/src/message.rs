//! What is told of an event: ids, kinds, names and digests, and nothing that people or tools wrote.
//!
//! Arguments, results, reasons and notes stay in the store. A receiver is often a chat or a monitor that more people read
//! than may see them; and whoever decides looks at the approval itself, not at a message about it. A claim's nonce stays,
//! too: under it an outcome is recorded.

use plangate_approval::storage::Event;
use plangate_graph::Digest;
use plangate_graph::value::{Number, Object, Value};

use crate::webhook::Webhook;

/// Members of an event that are told. A member that a later version adds is not, until it stands here.
const TOLD: [&str; 28] = [
    "answer",
    "ask",
    "author",
    "before",
    "before_at",
    "before_run",
    "by",
    "catalog",
    "digest",
    "expires",
    "fence",
    "from",
    "happened",
    "node",
    "outcome",
    "plan",
    "policy",
    "row",
    "run",
    "seen",
    "server",
    "since",
    "state",
    "surface",
    "tool",
    "until",
    "value",
    "yes",
];

/// One delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The same each time that this event is told to this webhook, from whichever process.
    pub id: String,
    /// JSON: `{"data":{…},"timestamp":"…","type":"…"}`, the same bytes each time.
    pub body: Vec<u8>,
}

/// The kind of an event, if its content can be read.
pub fn kind(event: &Event) -> Option<String> {
    let what = Value::parse(&event.what).ok()?;
    what.member("kind").and_then(Value::text).map(str::to_owned)
}

/// The message to this webhook about an event of the store with this id.
pub fn of(store: &str, webhook: &Webhook, event: &Event) -> Message {
    let name = webhook.address().name();
    let parts: [&[u8]; 3] = [store.as_bytes(), name.as_bytes(), &event.seq.to_be_bytes()];
    let digest = Digest::of_parts(parts).to_string();
    let id: String = digest.trim_start_matches("sha256:").chars().take(32).collect();
    let what = Value::parse(&event.what).unwrap_or(Value::Null);
    let mut data: Vec<(String, Value)> = match &what {
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| TOLD.contains(name))
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect(),
        _ => Vec::new(),
    };
    data.push(("store".to_owned(), Value::from(store)));
    data.push(("event_hash".to_owned(), Value::from(event.hash.to_string().as_str())));
    if let Some(seq) = Number::from_text(&event.seq.to_string()) {
        data.push(("seq".to_owned(), Value::Number(seq)));
    }
    let kind = what.member("kind").and_then(Value::text).unwrap_or_default();
    let body = object(vec![
        ("type".to_owned(), Value::from(kind)),
        ("timestamp".to_owned(), Value::from(event.at.to_string().as_str())),
        ("data".to_owned(), object(data)),
    ]);
    Message { id: format!("msg_{id}"), body: body.canonical() }
}

/// An object of members whose names differ.
fn object(members: Vec<(String, Value)>) -> Value {
    Value::Object(Object::new(members).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use plangate_approval::event::{Kind, What};
    use plangate_approval::{Outcome, Person, RowId, RunId, Time};

    use super::*;
    use crate::sign::Secret;

    fn webhook(url: &str) -> Webhook {
        let secret = Secret::new("sixteen bytes or more").unwrap();
        Webhook::new(url.parse().unwrap(), secret, vec![Kind::Asked])
    }

    fn event(seq: u64, what: &What) -> Event {
        Event::chained(Event::genesis("s"), seq, Time(1_790_000_000_123), what.text())
    }

    #[test]
    fn ids_and_digests_are_told_and_what_was_written_is_not() {
        let ann =
            Person { issuer: "os".into(), subject: "ann".into(), roles: vec!["x".into()], verified: true };
        let what = What::new(Kind::Outcome, &RunId("r1".into()))
            .row(&RowId("a1".into()))
            .by(&ann)
            .with("claim", "a nonce")
            .with("note", "a note")
            .with("holder", "a holder")
            .outcome(&Outcome::Failed("the card 4111 was refused".into()));
        let event = event(7, &what);
        let message = of("store-1", &webhook("https://example.invalid/a"), &event);
        let text = String::from_utf8(message.body).unwrap();
        assert_eq!(
            text,
            format!(
                "{{\"data\":{{\"by\":{{\"issuer\":\"os\",\"subject\":\"ann\",\"verified\":true}},\"event_hash\":\"{}\",\
                 \"outcome\":\"failed\",\"row\":\"a1\",\"run\":\"r1\",\"seq\":7,\"store\":\"store-1\"}},\
                 \"timestamp\":\"2026-09-21T14:13:20.123Z\",\"type\":\"outcome\"}}",
                event.hash
            )
        );
    }

    #[test]
    fn an_id_is_of_one_event_of_one_store_for_one_webhook() {
        let (a, b) = (webhook("https://example.invalid/a"), webhook("https://example.invalid/b"));
        let what = What::new(Kind::Asked, &RunId("r1".into()));
        let id = |store, hook, seq| of(store, hook, &event(seq, &what)).id;
        let first = id("s", &a, 1);
        assert_eq!(first, id("s", &a, 1));
        assert_eq!((first.len(), first.starts_with("msg_")), (36, true));
        for other in [id("t", &a, 1), id("s", &b, 1), id("s", &a, 2)] {
            assert_ne!(other, first);
        }
    }
}
