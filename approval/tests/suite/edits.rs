//! pending, with other arguments

use super::*;

const OTHER: &str = r##"{"channel":"#ops","text":"1e2 and 1.10"}"##;

fn editor(name: &str) -> Person {
    with_roles(name, &["editor"])
}

fn editable() -> Terms {
    Terms { may_edit: Some(vec!["editor".into()]), ..Terms::default() }
}

fn to(row: &Row, by: &Person, args: &str) -> Edit {
    Edit {
        row: row.id.clone(),
        seen: row.digest,
        by: by.clone(),
        args: args.as_bytes().to_vec(),
        reason: vec!["edited".into()],
        terms: row.terms.clone(),
        note: Some("ops asked for it".into()),
    }
}

pub fn an_edit_keeps_both_bytes(bench: &dyn Bench) {
    let mut w = World::new(bench);
    let asked = w.ask(&under(editable()));
    let wake = w.store.run(w.run()).unwrap().wake;
    let row = w.approvals.edit(&asked, &to(&asked, &editor("bob"), OTHER)).unwrap();
    assert_eq!(row, w.row(&row.id));
    assert_eq!((row.state, row.expires), (RowState::Pending, asked.expires));
    assert_eq!(row.call.as_ref().unwrap().args, OTHER.as_bytes());
    assert_eq!(row.digest, Digest::of(OTHER.as_bytes()));
    assert_ne!(row.key, asked.key, "another call has another key");
    assert_eq!(row.edited_from(), Some(asked.digest));
    let [edit] = row.edits.as_slice() else { panic!("{row:#?}") };
    assert_eq!((edit.args.as_slice(), &edit.key), (ARGS.as_bytes(), &asked.key));
    assert_eq!((edit.by.subject.as_str(), edit.note.as_deref()), ("bob", Some("ops asked for it")));
    assert!(w.store.run(w.run()).unwrap().wake > wake, "a driver looks again");
    // The same edit again changes nothing; that the driver asks again neither.
    assert_eq!(w.approvals.edit(&asked, &to(&asked, &editor("bob"), OTHER)), Ok(row.clone()));
    assert_eq!(w.ask(&under(editable())), row);
    let row = w.vote(&row, "carol", true).unwrap();
    w.renew();
    let permit = w.claim(&row).unwrap();
    assert_eq!(permit.spend().unwrap().args(), OTHER.as_bytes());
    assert_eq!(w.kinds(Some(&row.id)), ["asked", "edited", "approved", "claimed"]);
}

/// Ann votes for the first bytes, Bob edits: Ann's vote is void, and stays void when the first bytes come back.
pub fn an_edit_voids_votes(bench: &dyn Bench) {
    let w = World::of(bench, |run| run.requester = person("zoe"));
    let terms = Terms { quorum: 2, requester_may_decide: false, ..editable() };
    let asked = w.ask(&under(terms));
    w.vote(&asked, "ann", true).unwrap();
    let edited = w.approvals.edit(&asked, &to(&asked, &editor("bob"), OTHER)).unwrap();
    assert!(matches!(w.vote(&edited, "bob", true), Err(StoreError::NotAllowed(_))), "he edited it");
    assert!(
        matches!(w.vote(&asked, "carol", true), Err(StoreError::Changed { .. })),
        "she saw the first bytes"
    );
    assert_eq!(w.vote(&edited, "carol", true).unwrap().state, RowState::Pending);
    let back = w.approvals.edit(&edited, &to(&edited, &editor("eve"), ARGS)).unwrap();
    assert_eq!(back.digest, asked.digest);
    assert_eq!(back.votes.iter().filter(|vote| back.counts(vote)).count(), 0, "{:#?}", back.votes);
    assert!(matches!(w.vote(&back, "bob", true), Err(StoreError::NotAllowed(_))), "whoever edited it");
    assert!(matches!(w.vote(&back, "eve", true), Err(StoreError::NotAllowed(_))));
    assert_eq!(w.vote(&back, "ann", true).unwrap().state, RowState::Pending, "a new vote of hers");
    let row = w.vote(&back, "dan", true).unwrap();
    assert_eq!((row.state, row.votes.len()), (RowState::Approved, 4), "all are kept");
    assert_eq!(row, w.row(&row.id));
}

pub fn editing_is_a_right_of_its_own(bench: &dyn Bench) {
    let w = World::new(bench);
    let nobody = w.ask(&post("nobody", 0));
    let refused = |row: &Row, by: &Person| w.approvals.edit(row, &to(row, by, OTHER)).unwrap_err();
    assert!(matches!(refused(&nobody, &editor("bob")), StoreError::NotAllowed(_)));
    let row = w.ask(&under(editable()));
    assert!(matches!(refused(&row, &person("bob")), StoreError::NotAllowed(_)), "without the role");
    let asserted = Person { verified: false, ..editor("bob") };
    assert!(matches!(refused(&row, &asserted), StoreError::NotAllowed(_)), "not verified");
    let question = w.ask(&Ask { terms: editable(), ..question("ready") });
    assert!(matches!(refused(&question, &editor("bob")), StoreError::NotAllowed(_)));
    let stale = Edit { seen: Digest::of(b"another screen"), ..to(&row, &editor("bob"), OTHER) };
    assert!(matches!(w.approvals.edit(&row, &stale), Err(StoreError::Changed { .. })));
    assert_eq!(w.row(&row.id), row);
    w.vote(&row, "bob", true).unwrap();
    assert!(matches!(refused(&row, &editor("bob")), StoreError::Decided { .. }), "too late");
}

pub fn an_edit_never_extends(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.ask(&under(editable()));
    w.clock.pass(1_000);
    let longer = Terms { deadline_ms: 100 * 3_600_000, ..editable() };
    let later = Edit { terms: longer, ..to(&row, &editor("bob"), OTHER) };
    assert_eq!(w.approvals.edit(&row, &later).unwrap().expires, row.expires);
    let row = w.row(&row.id);
    let shorter = Terms { deadline_ms: 60_000, ..editable() };
    let sooner = Edit { terms: shorter, ..to(&row, &editor("bob"), ARGS) };
    let row = w.approvals.edit(&row, &sooner).unwrap();
    assert_eq!(row.expires, at(60_000));
    w.clock.pass(60_000);
    assert!(matches!(
        w.approvals.edit(&row, &to(&row, &editor("bob"), OTHER)),
        Err(StoreError::Expired { .. })
    ));
}
