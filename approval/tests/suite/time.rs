//! Deadlines, and clocks that lie.

use super::*;

const HOUR: i64 = 3_600_000;

pub fn a_row_is_live_to_the_last_millisecond(bench: &dyn Bench) {
    let w = World::new(bench);
    let (in_time, late) = (w.ask(&post("a", 0)), w.ask(&post("b", 0)));
    w.clock.set(HOUR - 1);
    assert_eq!(w.state(&late), RowState::Pending);
    assert_eq!(w.vote(&in_time, "bob", true).unwrap().state, RowState::Approved);
    w.clock.set(HOUR);
    assert_eq!(w.vote(&late, "bob", true), Err(StoreError::Expired { at: at(HOUR) }));
    assert_eq!(w.vote(&late, "bob", false), Err(StoreError::Expired { at: at(HOUR) }));
    assert_eq!(w.state(&late), RowState::Expired);
    assert_eq!(w.kinds(Some(&late.id)), ["asked", "expired"], "said once");
}

pub fn an_approved_row_is_usable_for_an_hour(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let (in_time, late) = (w.ask(&post("a", 0)), w.ask(&post("b", 0)));
    w.clock.set(59 * 60_000);
    w.vote(&in_time, "bob", true).unwrap();
    w.vote(&late, "bob", true).unwrap();
    w.clock.set(59 * 60_000 + HOUR - 1);
    w.take();
    w.claim(&in_time).unwrap();
    w.clock.set(59 * 60_000 + HOUR);
    let lapsed = StoreError::Expired { at: at(59 * 60_000 + HOUR) };
    assert_eq!(w.claim(&late).map(drop), Err(lapsed.clone()));
    assert_eq!(w.vote(&late, "carol", true), Err(lapsed));
    let row = w.row(&late.id);
    assert_eq!((row.state, row.decided_by.as_deref()), (RowState::Expired, Some("os:bob")));
    assert_eq!(w.kinds(Some(&late.id)), ["asked", "approved", "expired"]);
}

pub fn what_was_seen_expired_stays_so(bench: &dyn Bench) {
    let w = World::new(bench);
    let (by_vote, by_row, by_list, unseen) =
        (w.ask(&post("a", 0)), w.ask(&post("b", 0)), w.ask(&post("c", 0)), w.asked());
    let approved = w.ask(&post("d", 0));
    w.vote(&approved, "bob", true).unwrap();

    w.clock.set(HOUR);
    assert!(matches!(w.vote(&by_vote, "bob", true), Err(StoreError::Expired { .. })));
    assert_eq!(w.state(&by_row), RowState::Expired);
    w.clock.set(-2 * HOUR + 1);
    w.clock.set(0);
    for row in [&by_vote, &by_row] {
        assert_eq!(w.state(row), RowState::Expired);
        assert_eq!(w.vote(row, "bob", true), Err(StoreError::Expired { at: at(HOUR) }));
    }
    assert_eq!(w.state(&unseen), RowState::Pending, "nobody looked at it");

    w.clock.set(HOUR);
    assert_eq!(w.store.waiting().unwrap().iter().filter(|r| r.run == *w.run()).count(), 0);
    w.clock.set(0);
    for row in [&by_list, &unseen, &approved] {
        assert_eq!(bench.handle().row(&row.id).unwrap().state, RowState::Expired);
    }
    assert_eq!(w.kinds(Some(&approved.id)), ["asked", "approved", "expired"]);
    assert!(matches!(w.claim(&approved).map(drop), Err(StoreError::Expired { .. })));
}

pub fn a_row_from_the_future_is_not_decided(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.asked();
    w.clock.set(-5_000);
    let early = w.ask(&post("early", 0));
    w.clock.set(-5_001);
    assert_eq!(w.vote(&row, "bob", true), Err(StoreError::FromFuture { at: at(0), now: at(-5_001) }));
    w.clock.set(-2 * HOUR);
    assert!(matches!(w.vote(&row, "bob", true), Err(StoreError::FromFuture { .. })));
    assert_eq!(w.state(&row), RowState::Pending, "it is not over either");
    w.clock.set(-5_000);
    w.vote(&row, "bob", true).unwrap();
    w.clock.set(-10_000);
    assert!(matches!(w.claim(&row).map(drop), Err(StoreError::FromFuture { .. })), "nor is it claimed");
    w.clock.set(0);
    w.claim(&row).unwrap();
    w.vote(&early, "bob", true).unwrap();
}

pub fn a_deadline_may_be_shorter(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.ask(&under(Terms { deadline_ms: 60_000, ..Terms::default() }));
    assert_eq!(row.expires, at(60_000));
    w.clock.pass(60_000);
    assert!(matches!(w.vote(&row, "bob", true), Err(StoreError::Expired { .. })));
    let forever = w.store.holder().and_then(|h| w.store.lease(w.run(), &h)).map(taken).unwrap();
    let ask = Ask { terms: Terms { deadline_ms: i64::MAX, ..Terms::default() }, ..post("far", 0) };
    let row = w.approvals.ask(&forever, &ask, &[]).unwrap();
    assert_eq!(row.expires, Time(i64::MAX));
}

pub fn an_expired_row_is_not_cancelled(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.asked();
    w.clock.pass(HOUR);
    w.store.cancel(w.run(), &person("bob"), None).unwrap();
    assert_eq!(w.state(&row), RowState::Expired);
    assert_eq!(w.kinds(Some(&row.id)), ["asked", "expired"]);
}
