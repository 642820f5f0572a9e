//! That a surface showed the row to a person.

use plangate_graph::Digest;

use super::{Change, Moment, Refusal, Stored, about, named, seen};
use crate::event::Kind;
use crate::row::{Person, Shown};
use crate::storage::StoreError;

/// The longest name of a surface, in bytes.
const LONGEST: usize = 64;

/// Writes down that these bytes, as they are or as they were before an edit, were shown to this person. Once for each
/// person, digest and surface, and only while the row waits for somebody: what is over is history, and reading it leaves
/// no trace. Nobody is woken.
pub fn shown(
    stored: &Stored,
    moment: &Moment<'_>,
    digest: Digest,
    to: &Person,
    surface: &str,
) -> Result<Change, Refusal> {
    let row = &stored.row;
    named(to, "a row is shown to a person")?;
    let named = !surface.is_empty() && surface.len() <= LONGEST && !surface.contains(char::is_control);
    if !named {
        let why = format!("a surface has a name of 1 to {LONGEST} bytes, on one line");
        return Err(StoreError::NotAllowed(why).into());
    }
    if digest != row.digest && !row.edits.iter().any(|edit| edit.digest == digest) {
        return Err(StoreError::Changed { stored: row.digest, seen: digest }.into());
    }
    let before = row.shown.iter().any(|s| s.to.is(to) && s.digest == digest && s.surface == surface);
    if before || !seen(stored, &moment.run.tenure, moment.now, moment.claimer_dead).open() {
        return Ok(Change::nothing(stored));
    }
    let mut next = stored.clone();
    let surface = surface.to_owned();
    let event = about(Kind::Shown, stored).by(to).digest("digest", &digest).with("surface", surface.as_str());
    next.row.shown.push(Shown { to: to.clone(), digest, surface, at: moment.now });
    Ok(Change::new(next, event))
}
