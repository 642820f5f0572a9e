//! Who may decide a row.

use plangate_graph::policy::Terms;

use super::{RunHead, Stored};
use crate::row::{Person, Vote};
use crate::storage::StoreError;

impl Person {
    /// Whether these are one person: the same subject of the same issuer, whatever its roles.
    pub fn is(&self, other: &Person) -> bool {
        self.issuer == other.issuer && self.subject == other.subject
    }
}

/// Whether this person may vote on this row.
pub(super) fn may_vote(stored: &Stored, run: &RunHead, person: &Person) -> Result<(), StoreError> {
    let terms = &stored.row.terms;
    may_speak(terms, person)?;
    if !terms.requester_may_decide {
        if person.is(&run.requester) {
            return refuse("whoever started the run may not decide this");
        }
        if stored.row.edits.iter().any(|edit| person.is(&edit.by)) {
            return refuse("whoever edited the call may not decide it");
        }
    }
    Ok(())
}

/// That a person is somebody: by issuer and subject what they do is theirs. `what` says what needs a person.
pub fn named(person: &Person, what: &str) -> Result<(), StoreError> {
    if person.issuer.is_empty() || person.subject.is_empty() {
        return refuse(&format!("{what}: issuer and subject"));
    }
    Ok(())
}

/// Whether this person may say anything about a row under these terms. A rule about people is met only by people whom
/// the host has verified.
pub(super) fn may_speak(terms: &Terms, person: &Person) -> Result<(), StoreError> {
    named(person, "a decision needs a person")?;
    let about_people =
        terms.verified_only || terms.quorum > 1 || !terms.roles.is_empty() || !terms.requester_may_decide;
    if about_people && !person.verified {
        return refuse("only people whom the host has verified decide this");
    }
    if !terms.roles.is_empty() && !terms.roles.iter().any(|role| person.roles.contains(role)) {
        return refuse(&format!("it needs one of the roles {}", terms.roles.join(", ")));
    }
    Ok(())
}

/// Whether this person may edit the call: a right of its own, for verified people with one of the roles that policy names.
pub(super) fn may_edit(terms: &Terms, person: &Person) -> Result<(), StoreError> {
    let Some(roles) = &terms.may_edit else { return refuse("policy lets nobody edit this call") };
    named(person, "an edit needs a person")?;
    if !person.verified {
        return refuse("only people whom the host has verified edit this");
    }
    if !roles.iter().any(|role| person.roles.contains(role)) {
        return refuse(&format!("to edit it needs one of the roles {}", roles.join(", ")));
    }
    Ok(())
}

/// The people whose yes counts: distinct, and for the bytes as they are now.
pub(super) fn counted(stored: &Stored) -> Vec<&Person> {
    let mut people: Vec<&Person> = Vec::new();
    for vote @ Vote { by, yes, .. } in &stored.row.votes {
        if *yes && stored.row.counts(vote) && !people.iter().any(|person| person.is(by)) {
            people.push(by);
        }
    }
    people
}

/// How many distinct yes a row needs.
pub(super) fn quorum(terms: &Terms) -> usize {
    usize::try_from(terms.quorum.max(1)).unwrap_or(usize::MAX)
}

fn refuse(why: &str) -> Result<(), StoreError> {
    Err(StoreError::NotAllowed(why.to_owned()))
}

#[cfg(test)]
mod tests {
    use plangate_graph::Digest;

    use super::*;
    use crate::clock::Time;
    use crate::row::{Edited, NewRow, RowId};
    use crate::run::{Holder, NewRun, RunId};
    use crate::state::{Asked, Earlier, Moment, ask, lease_of, start};

    fn person(name: &str) -> Person {
        Person { issuer: "os".into(), subject: name.into(), roles: Vec::new(), verified: true }
    }

    fn asked() -> (Stored, RunHead) {
        let (run, holder) = (RunId("r".into()), Holder("h".into()));
        let new = NewRun {
            id: run.clone(),
            plan: b"".to_vec().into(),
            catalog: b"".to_vec().into(),
            policy: b"".to_vec().into(),
            inputs: Vec::new(),
            requester: person("ann"),
            author: "person".into(),
            title: String::new(),
            hold_siblings: false,
        };
        let head = start(&new, Digest::of(b""), &holder, Time(0));
        let new = NewRow {
            id: RowId("a".into()),
            run,
            node: "ready".into(),
            ask: 0,
            call: None,
            digest: Digest::of(b"ready?"),
            question: Some("ready?".into()),
            reason: Vec::new(),
            policy: Digest::of(b""),
            terms: Terms { requester_may_decide: false, ..Terms::default() },
            key: String::new(),
        };
        let moment = Moment { now: Time(0), run: &head, claimer_dead: false };
        match ask(&new, Earlier::default(), &moment, &lease_of(&head, &holder, 0)) {
            Ok(Asked::New { row, .. }) => (row.next, head),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_editor_counts_as_requester() {
        let (stored, head) = asked();
        let mut edited = stored;
        edited.row.edits.push(Edited {
            digest: edited.row.digest,
            args: Vec::new(),
            key: String::new(),
            by: person("bob"),
            at: Time(0),
            note: None,
        });
        assert!(matches!(may_vote(&edited, &head, &person("ann")), Err(StoreError::NotAllowed(_))));
        assert!(matches!(may_vote(&edited, &head, &person("bob")), Err(StoreError::NotAllowed(_))));
        assert_eq!(may_vote(&edited, &head, &person("carol")), Ok(()));
    }

    #[test]
    fn votes_for_other_bytes_do_not_count() {
        let (mut stored, _) = asked();
        let vote = |name: &str, digest| Vote {
            by: person(name),
            yes: true,
            digest,
            edits: 0,
            at: Time(0),
            reason: None,
        };
        stored.row.votes = vec![
            vote("bob", stored.row.digest),
            vote("bob", stored.row.digest),
            vote("carol", Digest::of(b"before the edit")),
            Vote { yes: false, ..vote("dan", stored.row.digest) },
        ];
        assert_eq!(counted(&stored), [&person("bob")]);
    }
}
