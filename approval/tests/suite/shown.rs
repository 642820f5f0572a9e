//! To whom a row was shown.

use super::*;

const OTHER: &str = r##"{"channel":"#ops","text":"1e2 and 1.10"}"##;

/// The digests and surfaces that the log says were shown, in order.
fn log(w: &World) -> Vec<(String, String, String)> {
    let text = |what: &Value, name: &str| what.member(name).and_then(Value::text).unwrap().to_owned();
    let events = w.store.events(0).unwrap();
    let whats = events.iter().map(|event| Value::parse(&event.what).unwrap());
    whats
        .filter(|what| text(what, "kind") == "shown")
        .map(|what| {
            (text(what.member("by").unwrap(), "subject"), text(&what, "digest"), text(&what, "surface"))
        })
        .collect()
}

pub fn a_showing_is_kept_once(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.asked();
    let wake = w.store.run(w.run()).unwrap().wake;
    assert_eq!(row.shown, []);
    w.clock.pass(1_000);
    let bob = with_roles("bob", &["ops"]);
    let seen = w.approvals.shown(&row, &bob, "cli").unwrap();
    let [shown] = seen.shown.as_slice() else { panic!("{seen:#?}") };
    assert_eq!(
        (&shown.to, shown.digest, shown.surface.as_str(), shown.at),
        (&bob, row.digest, "cli", at(1_000))
    );
    assert_eq!(seen, w.row(&row.id));
    // Again, also with other roles, it changes nothing; on another surface or to another person it does.
    w.clock.pass(1_000);
    assert_eq!(w.approvals.shown(&row, &person("bob"), "cli").unwrap(), seen);
    w.approvals.shown(&row, &person("bob"), "web").unwrap();
    w.approvals.shown(&row, &person("carol"), "cli").unwrap();
    let digest = row.digest.to_string();
    let line = |who: &str, surface: &str| (who.to_owned(), digest.clone(), surface.to_owned());
    assert_eq!(log(&w), [line("bob", "cli"), line("bob", "web"), line("carol", "cli")]);
    assert_eq!(w.store.run(w.run()).unwrap().wake, wake, "nothing was decided");
    // What became of the row since is kept beside it.
    let approved = w.vote(&row, "bob", true).unwrap();
    assert_eq!((approved.state, approved.shown.len()), (RowState::Approved, 3));
    assert_eq!(w.kinds(Some(&row.id)), ["asked", "shown", "shown", "shown", "approved"]);
}

/// What somebody saw before an edit is told by its own digest; and what the row never held was not shown.
pub fn a_showing_is_of_the_bytes_that_were_shown(bench: &dyn Bench) {
    let w = World::new(bench);
    let editor = with_roles("eve", &["editor"]);
    let row = w.ask(&under(Terms { may_edit: Some(vec!["editor".into()]), ..Terms::default() }));
    let edit = Edit {
        row: row.id.clone(),
        seen: row.digest,
        by: editor,
        args: OTHER.as_bytes().to_vec(),
        reason: Vec::new(),
        terms: row.terms.clone(),
        note: None,
    };
    let edited = w.approvals.edit(&row, &edit).unwrap();
    w.approvals.shown(&row, &person("bob"), "cli").unwrap();
    let seen = w.approvals.shown(&edited, &person("bob"), "cli").unwrap();
    assert_eq!(seen.shown.iter().map(|s| s.digest).collect::<Vec<_>>(), [row.digest, edited.digest]);
    let never = Digest::of(b"another screen");
    let refused = w.store.shown(&row.id, never, &person("bob"), "cli").unwrap_err();
    assert_eq!(refused, StoreError::Changed { stored: edited.digest, seen: never });
    assert_eq!(log(&w).len(), 2);
}

pub fn what_is_over_is_read_without_a_trace(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.asked();
    w.vote(&row, "bob", false).unwrap();
    assert_eq!(w.approvals.shown(&row, &person("carol"), "cli").unwrap().shown, []);
    let late = w.ask(&post("mail", 0));
    w.clock.pass(3_600_000);
    assert_eq!(w.approvals.shown(&late, &person("carol"), "cli").unwrap().state, RowState::Expired);
    assert_eq!(log(&w), []);
    // A call whose outcome nobody knows waits for people, and is shown to them.
    let w = World::new(bench);
    let (row, permit) = w.claimed();
    let row = w.outcome(permit.claim(), &Outcome::Unknown("lost".into())).map(|_| w.row(&row.id)).unwrap();
    assert_eq!(w.approvals.shown(&row, &person("carol"), "cli").unwrap().shown.len(), 1);
}

pub fn a_showing_names_a_person_and_a_surface(bench: &dyn Bench) {
    let w = World::new(bench);
    let row = w.asked();
    let long = "x".repeat(65);
    for (who, surface) in [("", "cli"), ("bob", ""), ("bob", "a\nb"), ("bob", long.as_str())] {
        let refused = w.approvals.shown(&row, &person(who), surface);
        assert!(matches!(refused, Err(StoreError::NotAllowed(_))), "{who:?} {surface:?}: {refused:?}");
    }
    assert!(matches!(
        w.store.shown(&RowId("nowhere".into()), row.digest, &person("bob"), "cli"),
        Err(StoreError::NotFound { what: "row", .. })
    ));
    assert_eq!(log(&w), []);
}
