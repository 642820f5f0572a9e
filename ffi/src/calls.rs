//! Calls that are out: each has a number, which is all that a host keeps of it.
#![expect(unsafe_code, reason = "exports functions, which enter the boundary for a C caller")]

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use plangate_approval::Claim;
use plangate_executor::Cancel;

use crate::answer::Answer;
use crate::failure::Failure;
use crate::guard::{boundary, quietly};
use crate::status::{PLANGATE_E_NOT_FOUND, PLANGATE_OK, plangate_status};
use crate::store::Store;

/// plangate_answer was called before the callback returned.
pub const PLANGATE_ANSWERED: i32 = 0;
/// plangate_answer will be called later, from any thread.
pub const PLANGATE_LATER: i32 = 1;

/// How many calls past their deadline are remembered. The oldest are forgotten first: a person settles those.
const MOST_LATE: usize = 4_096;

/// What is known under a number. One lock for all: an answer, a deadline and a second answer never overlap.
static OUT: Mutex<Calls> = Mutex::new(Calls { open: BTreeMap::new(), late: BTreeMap::new() });
/// Never used again.
static NEXT: AtomicU64 = AtomicU64::new(1);

struct Calls {
    open: BTreeMap<u64, Open>,
    late: BTreeMap<u64, Late>,
}

/// A call that somebody waits for.
struct Open {
    answer: Option<Answer>,
    /// The run has cancelled it.
    stopped: bool,
    cancel: Cancel,
    bell: Arc<Condvar>,
}

/// A call that changes something, past its deadline: an answer is still the caller's word.
struct Late {
    store: Weak<Store>,
    claim: Claim,
}

fn out() -> MutexGuard<'static, Calls> {
    // Each change of the tables is one insertion or removal.
    OUT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of a call that is about to be made, for as long as it is waited for.
pub(crate) struct Ticket {
    pub(crate) number: u64,
    cancel: Cancel,
    bell: Arc<Condvar>,
}

impl Ticket {
    pub(crate) fn new(cancel: &Cancel) -> Ticket {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let bell = Arc::new(Condvar::new());
        let open = Open { answer: None, stopped: false, cancel: cancel.clone(), bell: Arc::clone(&bell) };
        out().open.insert(number, open);
        Ticket { number, cancel: cancel.clone(), bell }
    }

    /// The answer, if it came.
    pub(crate) fn taken(self) -> Option<Answer> {
        out().open.remove(&self.number)?.answer
    }

    /// Waits for the answer of a read until nobody wants it any more: its deadline, or a cancel. After that an answer finds
    /// nothing.
    pub(crate) fn of_read(self) -> Option<Answer> {
        self.wait(|open| open.stopped).open.remove(&self.number)?.answer
    }

    /// Waits for the answer of a call that changes something until its deadline: a cancel asks the host to stop, and what
    /// it did is still to be heard. After the deadline an answer is recorded under the claim.
    pub(crate) fn of_effect(self, store: &Weak<Store>, claim: Claim) -> Option<Answer> {
        let mut calls = self.wait(|open| open.stopped && (open.cancel.is_past() || open.cancel.is_left()));
        let answer = calls.open.remove(&self.number)?.answer;
        if answer.is_none() {
            while calls.late.len() >= MOST_LATE {
                calls.late.pop_first();
            }
            calls.late.insert(self.number, Late { store: Weak::clone(store), claim });
        }
        answer
    }

    /// Sleeps until it is answered or over.
    fn wait(&self, over: impl Fn(&Open) -> bool) -> MutexGuard<'static, Calls> {
        let (number, bell) = (self.number, Arc::clone(&self.bell));
        self.cancel.on_cancel(move || {
            if let Some(open) = out().open.get_mut(&number) {
                open.stopped = true;
            }
            bell.notify_all();
        });
        let mut calls = out();
        loop {
            let Some(open) = calls.open.get(&self.number) else { return calls };
            if open.answer.is_some() || over(open) {
                return calls;
            }
            // The run cancels the call at its deadline; one that was cancelled before is waited for until then.
            let left = self.cancel.deadline().map(|at| at.saturating_duration_since(Instant::now()));
            calls = match left.filter(|left| open.stopped && !left.is_zero()) {
                Some(left) => self.bell.wait_timeout(calls, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.bell.wait(calls).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

/// However the call ends, its number does.
impl Drop for Ticket {
    fn drop(&mut self) {
        drop(out().open.remove(&self.number));
    }
}

/// Takes an answer to where it is waited for, or into the store.
fn answer(number: u64, answer: Answer) -> Result<(), Failure> {
    let fault = answer.fault();
    let mut calls = out();
    if let Some(open) = calls.open.get_mut(&number).filter(|open| open.answer.is_none()) {
        open.answer = Some(answer);
        let bell = Arc::clone(&open.bell);
        drop(calls);
        bell.notify_all();
    } else {
        let late = calls.late.remove(&number);
        drop(calls);
        let store = late.as_ref().and_then(|late| late.store.upgrade());
        let (Some(late), Some(store)) = (late, store) else {
            return Err(Failure::new(PLANGATE_E_NOT_FOUND, format!("no open call {number}")));
        };
        let row = plangate_executor::late(&**store.kept, &late.claim, &answer.outcome())?;
        store.notice(&row.run);
    }
    match fault {
        Some(fault) => Err(Failure::argument(fault)),
        None => Ok(()),
    }
}

/// Answers a call, from any thread, once. `outcome`: 1 ok (`json` is the value), -1 the tool says that it failed, -2 it is not
/// known whether it happened, -3 it was not sent; with the last three `json` is the reason, as a JSON text or as it stands,
/// and may be empty. Anything else, and a value that is not JSON, is taken as -2 for a call that changes something and as
/// a failure of a read; the call is answered by it all the same, and PLANGATE_E_ARGUMENT says so. PLANGATE_E_NOT_FOUND: the
/// call was answered before, or nobody waits for it. After its deadline the answer to a call that changes something is
/// still recorded, while no person has settled it and its store is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_answer(
    call: u64,
    outcome: i32,
    json: *const c_char,
    len: usize,
) -> plangate_status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        boundary(std::ptr::null_mut(), |caller| {
            answer(call, Answer::new(outcome, caller.bytes("json", json, len)?))?;
            Ok(PLANGATE_OK)
        })
    }
}

/// 1 when nobody waits for the call any more: its deadline passed, its run was cancelled, or it was answered. Else 0.
#[unsafe(no_mangle)]
pub extern "C" fn plangate_cancelled(call: u64) -> i32 {
    quietly(1, || {
        let cancel =
            out().open.get(&call).filter(|open| open.answer.is_none()).map(|open| open.cancel.clone());
        i32::from(cancel.is_none_or(|cancel| cancel.is_cancelled()))
    })
}
