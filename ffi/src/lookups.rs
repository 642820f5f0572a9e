//! Questions to the host about calls whose outcome nobody recorded: each has its key, which is all that a host keeps.
#![expect(unsafe_code, reason = "exports functions, which enter the boundary for a C caller")]

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use plangate_approval::Reconciled;
use plangate_executor::Cancel;
use plangate_graph::Value;

use crate::failure::Failure;
use crate::guard::boundary;
use crate::host::Reconcile;
use crate::status::{PLANGATE_E_NOT_FOUND, PLANGATE_OK, plangate_status};

/// Returned by the reconcile callback: plangate_reconciled will be called later, from any thread.
pub const PLANGATE_RECONCILE_LATER: i32 = 2;

/// What is being asked, by key. One lock for all: an answer and the end of a question never overlap.
static ASKED: Mutex<BTreeMap<String, Question>> = Mutex::new(BTreeMap::new());

struct Question {
    answer: Option<Reconciled>,
    bell: Arc<Condvar>,
}

fn asked() -> MutexGuard<'static, BTreeMap<String, Question>> {
    // Each change of the table is one insertion or removal.
    ASKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A key that is open for an answer, for as long as somebody waits for it.
struct Open<'a> {
    key: &'a str,
    bell: Arc<Condvar>,
}

impl Open<'_> {
    fn new(key: &str) -> Open<'_> {
        let bell = Arc::new(Condvar::new());
        asked().insert(key.to_owned(), Question { answer: None, bell: Arc::clone(&bell) });
        Open { key, bell }
    }

    /// The answer, waited for until the deadline if it is to come later.
    fn answer(&self, later: bool, cancel: &Cancel) -> Option<Reconciled> {
        let mut questions = asked();
        loop {
            let answer = questions.get_mut(self.key).and_then(|question| question.answer.take());
            let left = cancel.deadline().map(|at| at.saturating_duration_since(Instant::now()));
            let left = left.filter(|left| answer.is_none() && later && !left.is_zero());
            let Some(left) = left else { return answer };
            questions = self.bell.wait_timeout(questions, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        asked().remove(self.key);
    }
}

/// Asks the host, and takes its word. The strings live until the callback returns.
pub(crate) fn look_up(
    reconcile: Reconcile,
    key: &str,
    (c_key, tool, args): (&CStr, &CStr, &CStr),
    cancel: &Cancel,
) -> Reconciled {
    let open = Open::new(key);
    let returned = reconcile.call(c_key, tool, args);
    let later = returned == PLANGATE_RECONCILE_LATER;
    match (open.answer(later, cancel), returned) {
        (Some(answer), _) => answer,
        (None, 1) => Reconciled::Happened(None),
        (None, -1) => Reconciled::DidNot,
        (None, 0) => Reconciled::Unknown("the host does not know".to_owned()),
        (None, PLANGATE_RECONCILE_LATER) => Reconciled::Unknown("the host gave no answer in time".to_owned()),
        (None, other) => {
            Reconciled::Unknown(format!("the host's callback returned {other}, which is no answer"))
        }
    }
}

/// What an answer says, and what is wrong with it. Only an explicit -1 says that a call did not happen.
fn word(happened: i32, text: &[u8]) -> (Reconciled, Option<String>) {
    let unknown = |why: String| (Reconciled::Unknown(why.clone()), Some(why));
    match happened {
        1 if text.is_empty() => (Reconciled::Happened(None), None),
        1 => match Value::parse_bytes(text) {
            Ok(value) => (Reconciled::Happened(Some(value)), None),
            Err(e) => unknown(format!("the host says that it happened, but not with JSON: {e}")),
        },
        -1 => (Reconciled::DidNot, None),
        0 => {
            let why = match Value::parse_bytes(text) {
                Ok(Value::Text(why)) => why,
                _ => String::from_utf8_lossy(text).into_owned(),
            };
            let why = if why.trim().is_empty() { "the host does not know".to_owned() } else { why };
            (Reconciled::Unknown(why), None)
        }
        other => unknown(format!("{other} is no answer: 1, -1 and 0 are")),
    }
}

fn reconciled(key: &str, answer: Reconciled) -> Result<(), Failure> {
    let mut questions = asked();
    match questions.get_mut(key).filter(|question| question.answer.is_none()) {
        Some(question) => {
            question.answer = Some(answer);
            question.bell.notify_all();
            Ok(())
        }
        None => Err(Failure::new(PLANGATE_E_NOT_FOUND, "nobody asks about a call with this key")),
    }
}

/// Answers the reconcile callback, while it runs or after it returned PLANGATE_RECONCILE_LATER, from any thread, once; it
/// counts before what the callback returns. `happened`: 1 it did (`json` is the value of the step, or empty where none is
/// known), -1 it did not and will not, 0 not known (`json` is the reason, and may be empty). Anything else, and a value that
/// is not JSON, is taken as not known, and PLANGATE_E_ARGUMENT says so. PLANGATE_E_NOT_FOUND: nobody asks about a call with
/// this key any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_reconciled(
    key: *const c_char,
    happened: i32,
    json: *const c_char,
    len: usize,
) -> plangate_status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        boundary(std::ptr::null_mut(), |caller| {
            let (answer, fault) = word(happened, caller.bytes("json", json, len)?);
            reconciled(caller.name("key", key)?, answer)?;
            fault.map_or(Ok(PLANGATE_OK), |fault| Err(Failure::argument(fault)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_explicit_words_say_what_happened() {
        let of = |happened, text: &str| word(happened, text.as_bytes()).0;
        assert_eq!(of(1, ""), Reconciled::Happened(None));
        assert_eq!(of(1, "1.10"), Reconciled::Happened(Some(Value::parse("1.10").unwrap())));
        assert_eq!(of(-1, "whatever"), Reconciled::DidNot);
        assert_eq!(of(0, "\"no such key yet\""), Reconciled::Unknown("no such key yet".to_owned()));
        for (happened, text) in [(0, ""), (1, "yes"), (2, ""), (99, "{}"), (i32::MIN, "")] {
            assert!(matches!(of(happened, text), Reconciled::Unknown(_)), "{happened} {text}");
        }
    }
}
