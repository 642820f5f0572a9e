//! pending -> pending, with other arguments

use plangate_graph::Digest;

use super::people::may_edit;
use super::vote::undecided;
use super::{Change, Moment, Refusal, Stored, about, not_over, same_bytes};
use crate::clock::Time;
use crate::event::Kind;
use crate::row::{Edit, Edited};
use crate::storage::StoreError;

/// Puts other arguments in the place of those that were asked, under another digest and key. Votes so far are void and
/// kept, as the bytes before are; the row expires no later than before. The same edit again changes nothing.
pub fn edit(stored: &Stored, moment: &Moment<'_>, edit: &Edit, key: &str) -> Result<Change, Refusal> {
    undecided(stored, moment)?;
    not_over(stored, moment)?;
    let row = &stored.row;
    let digest = Digest::of(&edit.args);
    let before = row.edits.last().is_some_and(|last| last.digest == edit.seen && last.by.is(&edit.by));
    if before && row.digest == digest {
        return Ok(Change::nothing(stored));
    }
    same_bytes(row, edit.seen)?;
    let Some(call) = &row.call else {
        return Err(StoreError::NotAllowed("a question has no call to be edited".into()).into());
    };
    may_edit(&row.terms, &edit.by)?;
    if digest == row.digest {
        return Ok(Change::nothing(stored));
    }

    let edited = Edited {
        digest: row.digest,
        args: call.args.clone(),
        key: row.key.clone(),
        by: edit.by.clone(),
        at: moment.now,
        note: edit.note.clone(),
    };
    let event = about(Kind::Edited, stored)
        .by(&edit.by)
        .digest("from", &row.digest)
        .digest("digest", &digest)
        .with_some("note", edit.note.as_deref());
    let mut next = stored.clone();
    let row = &mut next.row;
    if let Some(call) = &mut row.call {
        call.args.clone_from(&edit.args);
    }
    row.digest = digest;
    key.clone_into(&mut row.key);
    row.reason.clone_from(&edit.reason);
    row.terms.clone_from(&edit.terms);
    row.terms.quorum = row.terms.quorum.max(1);
    row.expires = row.expires.min(Time(row.created.0.saturating_add(edit.terms.deadline_ms)));
    row.edits.push(edited.clone());
    Ok(Change { edited: Some(edited), ..Change::new(next, event).waking() })
}
