//! The event log.
#![expect(unsafe_code, reason = "exports functions, which enter the boundary for a C caller")]

use std::ffi::c_char;

use plangate_approval::audit::{self, Head};
use plangate_approval::storage::Event;
use plangate_approval::{Storage as _, Time};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::caller::plangate_buf;
use crate::failure::Failure;
use crate::guard::boundary;
use crate::handle;
use crate::status::{PLANGATE_OK, plangate_status};
use crate::store::plangate_store;
use crate::view;

#[derive(Serialize)]
struct EventView<'a> {
    seq: u64,
    at: Time,
    what: &'a RawValue,
    prev: String,
    hash: String,
}

/// The events after a place, one JSON object a line: `seq`, `at`, `what`, `prev`, `hash`. `after` is NULL or "" for all, a
/// `seq`, or "SEQ:HASH" of an event that was noted before; then the whole log is verified first, and CHANGED says that it
/// is not the one that was noted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_events(
    store: *mut plangate_store,
    after: *const c_char,
    out: *mut plangate_buf,
    err: *mut plangate_buf,
) -> plangate_status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        boundary(err, |caller| {
            let out = caller.text("out", out)?;
            let store = handle::look_up(store)?;
            let after = match caller.name_or_null("after", after)?.unwrap_or_default() {
                "" => 0,
                head if head.contains(':') => {
                    let head: Head = head.parse().map_err(|e| Failure::argument(format!("`after`: {e}")))?;
                    audit::verify(&*store.kept, Some(&head))?;
                    head.seq
                }
                seq => seq.parse().map_err(|_| {
                    Failure::argument(format!("`after` is {seq:?}; it is a `seq`, or SEQ:HASH"))
                })?,
            };
            let mut lines = String::new();
            for event in store.kept.events(after)? {
                lines.push_str(&line(&event)?);
                lines.push('\n');
            }
            out.set(lines);
            Ok(PLANGATE_OK)
        })
    }
}

fn line(event: &Event) -> Result<String, Failure> {
    let what = RawValue::from_string(event.what.clone());
    let what = what.map_err(|e| Failure::refused(&format!("event {} cannot be read", event.seq), &e))?;
    view::written(&EventView {
        seq: event.seq,
        at: event.at,
        what: &what,
        prev: event.prev.to_string(),
        hash: event.hash.to_string(),
    })
}
