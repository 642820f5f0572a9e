//! The boundary that every exported function goes through.
#![expect(unsafe_code, reason = "whoever enters vouches for the pointers")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::caller::{Caller, plangate_buf};
use crate::failure::Failure;
use crate::status::{PLANGATE_E_PANIC, plangate_status};

/// Runs the body of an exported function. Nothing unwinds past it: a panic is [`PLANGATE_E_PANIC`]. `err` may be null;
/// it is emptied first, and filled if the body fails.
///
/// # Safety
///
/// The caller of the exported function keeps the rules at the top of the header for every pointer that is handed to the
/// [`Caller`].
pub(crate) unsafe fn boundary(
    err: *mut plangate_buf,
    body: impl for<'a> FnOnce(&'a Caller) -> Result<plangate_status, Failure>,
) -> plangate_status {
    // SAFETY: what this function asks for.
    let caller = unsafe { Caller::that_keeps_the_rules() };
    caller.empty(err);
    let failure = match catch_unwind(AssertUnwindSafe(|| body(&caller))) {
        Ok(Ok(status)) => return status,
        Ok(Err(failure)) => failure,
        Err(panic) => Failure::panicked(&*panic),
    };
    // Writing a failure down is plain work on text; where even that is at fault, the status still says so.
    catch_unwind(AssertUnwindSafe(|| {
        caller.fill(err, failure.to_json());
        failure.status
    }))
    .unwrap_or(PLANGATE_E_PANIC)
}

/// As [`boundary`], for what can neither fail nor tell: a panic ends here, with what is said in its place.
pub(crate) fn quietly<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plangate_buf_free;
    use crate::status::PLANGATE_OK;

    #[test]
    fn a_panic_is_a_status_and_the_next_call_works() {
        let mut err = plangate_buf::EMPTY;
        // SAFETY: the pointer is that of a local.
        let status = unsafe { boundary(&raw mut err, |_| panic!("as \u{0} expected")) };
        assert_eq!(status, PLANGATE_E_PANIC);
        assert!(err.text().contains("as \\u0000 expected"), "{}", err.text());
        // SAFETY: it was filled by the library.
        unsafe { plangate_buf_free(&raw mut err) };
        // SAFETY: null is allowed.
        assert_eq!(unsafe { boundary(std::ptr::null_mut(), |_| Ok(PLANGATE_OK)) }, PLANGATE_OK);
        assert_eq!(quietly(7, || panic!("as expected")), 7);
    }
}
