//! Decisions on stored rows. None of these executes anything.
#![expect(unsafe_code, reason = "exports functions, which enter the boundary for a C caller")]

use std::ffi::c_char;

use plangate_approval::row::Settled;
use plangate_approval::storage::Settlement;
use plangate_approval::{Decision, RowId, Storage as _, StoreError};
use plangate_graph::{Digest, Value};

use crate::caller::{Caller, plangate_buf};
use crate::document;
use crate::failure::Failure;
use crate::guard::boundary;
use crate::handle;
use crate::stack::own_stack;
use crate::status::{PLANGATE_OK, plangate_status};
use crate::store::{Store, plangate_store};
use crate::view::{self, Told};

/// The rows of all runs that wait for somebody (pending, approved, claimed, uncertain), in the order they were asked:
/// {"approvals": [...]}. Each has its `id`, the `digest` that a decision names, the exact `call`, until when it may be
/// decided, everything that was recorded of it since (edits, votes, claim, outcome, the host's and people's words), and
/// under `before` what became of the very same call earlier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_approval_list(
    store: *mut plangate_store,
    out: *mut plangate_buf,
    err: *mut plangate_buf,
) -> plangate_status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        boundary(err, |caller| {
            let out = caller.text("out", out)?;
            let store = handle::look_up(store)?;
            out.set(view::rows(&Told::each(&store.kept, store.kept.waiting()?)?)?);
            Ok(PLANGATE_OK)
        })
    }
}

/// One row, whatever its state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_approval_get(
    store: *mut plangate_store,
    approval_id: *const c_char,
    out: *mut plangate_buf,
    err: *mut plangate_buf,
) -> plangate_status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        boundary(err, |caller| {
            let out = caller.text("out", out)?;
            let store = handle::look_up(store)?;
            let row = RowId(caller.name("approval_id", approval_id)?.to_owned());
            out.set(view::row(&Told::read(&store.kept, store.kept.row(&row)?)?)?);
            Ok(PLANGATE_OK)
        })
    }
}

/// One person's yes. `digest` is that of the row as the person saw it. `decider_json` is {"issuer", "subject", "roles",
/// "verified"}; `verified` says that the host knows who it is. `edited_args_json` is NULL: as shown. Else it is all of the
/// arguments as one JSON object: they are held against the tool's schema and the policy of the run, classified again, and
/// take the place of what was asked; earlier votes are void, and the yes is one to them. NOT_ALLOWED: they do not pass,
/// or this person may not edit; nothing was changed. PARKED: the edit stands and this person may not decide it, since
/// whoever edits counts as requester; the row waits for others, under the digest that `err` has in `details`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_approve(
    store: *mut plangate_store,
    approval_id: *const c_char,
    digest: *const c_char,
    decider_json: *const c_char,
    edited_args_json: *const c_char,
    err: *mut plangate_buf,
) -> plangate_status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        boundary(err, |caller| {
            let store = handle::look_up(store)?;
            let decision = decision(caller, approval_id, digest, decider_json, true)?;
            let Some(json) = caller.name_or_null("edited_args_json", edited_args_json)? else {
                return decide(&store, &decision);
            };
            let undecided = own_stack(|| edit_and_decide(&store, &decision, json))?;
            let Some(undecided) = undecided else { return Ok(PLANGATE_OK) };
            caller.fill(err, undecided.to_json());
            Ok(undecided.status)
        })
    }
}

/// One person's no; one is enough. `reason` may be NULL; it reaches the record, and whoever started the run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_reject(
    store: *mut plangate_store,
    approval_id: *const c_char,
    digest: *const c_char,
    decider_json: *const c_char,
    reason: *const c_char,
    err: *mut plangate_buf,
) -> plangate_status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        boundary(err, |caller| {
            let store = handle::look_up(store)?;
            let decision = decision(caller, approval_id, digest, decider_json, false)?;
            let reason = caller.name_or_null("reason", reason)?.map(str::to_owned);
            decide(&store, &Decision { reason, ..decision })
        })
    }
}

fn decision(
    caller: &Caller,
    row: *const c_char,
    digest: *const c_char,
    decider: *const c_char,
    yes: bool,
) -> Result<Decision, Failure> {
    let row = RowId(caller.name("approval_id", row)?.to_owned());
    let seen: Digest = caller.name("digest", digest)?.parse().map_err(|e| {
        Failure::argument(format!("`digest`: {e}")).help("pass the `digest` of the row as it was shown")
    })?;
    let by = document::person("decider_json", caller.name("decider_json", decider)?)?;
    Ok(Decision { row, seen, by, yes, reason: None })
}

fn decide(store: &Store, decision: &Decision) -> Result<plangate_status, Failure> {
    let row = store.kept.decide(decision)?;
    store.notice(&row.run);
    Ok(PLANGATE_OK)
}

/// Edits, and decides what came of it. Where the edit stands and the same person may not decide it, that is the answer.
fn edit_and_decide(store: &Store, shown: &Decision, json: &str) -> Result<Option<Failure>, Failure> {
    let args = arguments(json)?;
    let row = plangate_executor::edit(&**store.kept, &shown.row, shown.seen, &shown.by, &args, None, None)?;
    store.notice(&row.run);
    match store.kept.decide(&Decision { seen: row.digest, ..shown.clone() }) {
        Ok(row) => {
            store.notice(&row.run);
            Ok(None)
        }
        Err(StoreError::NotAllowed(why)) => Ok(Some(Failure::only_edited(&row, &why))),
        Err(error) => Err(error.into()),
    }
}

fn arguments(json: &str) -> Result<Value, Failure> {
    let wrong = |why: String| {
        Failure::argument(format!("`edited_args_json` {why}"))
            .help("pass all of the arguments as one JSON object, or NULL to approve them as shown")
    };
    match Value::parse(json) {
        Ok(args @ Value::Object(_)) => Ok(args),
        Ok(other) => Err(wrong(format!("is {}, not an object", other.kind()))),
        Err(e) => Err(wrong(format!("cannot be read: {e}"))),
    }
}

/// A person's word on an uncertain call: `happened` is 1 (it did) or 0 (it did not). `value_json` may be NULL; with "it
/// happened" it is the value of the step. `note` may be NULL. IN_FLIGHT: the call may still be under way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_settle(
    store: *mut plangate_store,
    approval_id: *const c_char,
    happened: i32,
    decider_json: *const c_char,
    value_json: *const c_char,
    note: *const c_char,
    err: *mut plangate_buf,
) -> plangate_status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        boundary(err, |caller| {
            let store = handle::look_up(store)?;
            let id = RowId(caller.name("approval_id", approval_id)?.to_owned());
            let happened = match happened {
                1 => true,
                0 => false,
                other => return Err(Failure::argument(format!("`happened` is {other}; it is 1 or 0"))),
            };
            let by = document::person("decider_json", caller.name("decider_json", decider_json)?)?;
            let value = caller.name_or_null("value_json", value_json)?.map(Value::parse).transpose();
            let value = value.map_err(|e| Failure::argument(format!("`value_json` cannot be read: {e}")))?;
            if value.is_some() && !happened {
                return Err(Failure::argument("`value_json` is given for a call that did not happen"));
            }
            let note = caller.name_or_null("note", note)?.map(str::to_owned);
            let row = store.kept.row(&id)?;
            let claim = row.claim.ok_or(StoreError::NotNow(row.state))?;
            let settled = Settled { by, happened, value, note, at: store.kept.now() };
            let row = store.kept.settle(&id, &Settlement { claim, settled })?;
            store.notice(&row.run);
            Ok(PLANGATE_OK)
        })
    }
}
