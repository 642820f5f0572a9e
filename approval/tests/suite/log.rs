//! The event log.

use super::*;
use plangate_approval::audit::{self, Broken, Head};
use plangate_approval::storage::Event;

pub fn events_are_a_chain(bench: &dyn Bench) {
    let w = World::new(bench);
    let (row, permit) = w.claimed();
    w.outcome(permit.claim(), &ok()).unwrap();
    let events = w.store.events(0).unwrap();
    assert_eq!(events[0].prev, Event::genesis(&w.store.id().unwrap()));
    for (i, event) in events.iter().enumerate() {
        assert_eq!(event.seq, i as u64 + 1);
        assert_eq!(event.hash, Event::hash_of(&event.prev, event.seq, event.at, &event.what));
        assert_eq!(Value::parse(&event.what).unwrap().to_string(), event.what, "canonical");
        if i > 0 {
            assert_eq!(event.prev, events[i - 1].hash);
        }
    }
    assert_eq!(w.store.events(3).unwrap(), events[3..]);
    assert_eq!(w.store.events(99).unwrap(), []);
    let head = audit::verify(&w.store, None).unwrap();
    assert_eq!((head.seq, head.hash), (events.len() as u64, events.last().unwrap().hash));
    assert_eq!(w.kinds(Some(&row.id)), ["asked", "approved", "claimed", "outcome"]);
}

pub fn a_refusal_leaves_no_event(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.approved();
    let before = audit::verify(&w.store, None).unwrap();
    w.vote(&row, "carol", true).unwrap_err();
    w.settle(&row, true).unwrap_err();
    w.try_ask(&post("post", 1)).unwrap_err();
    w.store.runs().unwrap();
    assert_eq!(audit::verify(&w.store, None).unwrap(), before);
}

pub fn a_noted_head_proves_that_nothing_is_gone(bench: &dyn Bench) {
    let w = World::new(bench);
    let noted = audit::verify(&w.store, None).unwrap();
    assert_eq!(noted.to_string().parse(), Ok(noted));
    w.approved();
    assert_eq!(audit::verify(&w.store, Some(&noted)).unwrap().seq, noted.seq + 2);
    let other = Head { hash: Digest::of(b"another log"), ..noted };
    assert_eq!(audit::verify(&w.store, Some(&other)), Err(Broken::Rewritten { seq: noted.seq }.into()));
    let longer = Head { seq: 99, ..noted };
    assert_eq!(audit::verify(&w.store, Some(&longer)), Err(Broken::Shortened { head: 99, last: 3 }.into()));
}
