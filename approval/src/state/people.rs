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
        if stored.edited_by.as_ref().is_some_and(|editor| person.is(editor)) {
            return refuse("whoever edited the call may not decide it");
        }
    }
    Ok(())
}

/// Whether this person may say anything about a row under these terms. A rule about people is met only by people whom
/// the host has verified.
pub(super) fn may_speak(terms: &Terms, person: &Person) -> Result<(), StoreError> {
    if person.issuer.is_empty() || person.subject.is_empty() {
        return refuse("a decision needs a person: issuer and subject");
    }
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

/// The people whose yes counts: distinct, and for the bytes as they are now.
pub(super) fn counted(stored: &Stored) -> Vec<&Person> {
    let mut people: Vec<&Person> = Vec::new();
    for Vote { by, yes, digest, .. } in &stored.row.votes {
        if *yes && *digest == stored.row.digest && !people.iter().any(|person| person.is(by)) {
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
