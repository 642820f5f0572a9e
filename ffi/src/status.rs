//! What a function returns.
#![expect(unsafe_code, reason = "exports functions, which enter the boundary for a C caller")]

use std::ffi::{CStr, c_char};

/// 0 or positive: an ordinary outcome. Negative: an error.
pub type plangate_status = i32;

/// Done; of a run: every step ended ok or was skipped.
pub const PLANGATE_OK: plangate_status = 0;
/// The run waits for people, durably.
pub const PLANGATE_PARKED: plangate_status = 1;
/// The run ended; at least one step did not end ok (see the record).
pub const PLANGATE_FAILED: plangate_status = 2;
/// NULL where it is not allowed, not UTF-8, an unknown option, a handle that was freed, inputs that do not fit.
pub const PLANGATE_E_ARGUMENT: plangate_status = -1;
/// The recipe, actions.json, the catalog or the policy is refused (see `related`).
pub const PLANGATE_E_PLAN: plangate_status = -2;
/// The store cannot be used.
pub const PLANGATE_E_STORE: plangate_status = -3;
/// No such run, approval or open call.
pub const PLANGATE_E_NOT_FOUND: plangate_status = -4;
/// Decided already: the error says by whom, when and what.
pub const PLANGATE_E_DECIDED: plangate_status = -5;
/// Its time was over; nothing was run.
pub const PLANGATE_E_EXPIRED: plangate_status = -6;
/// Another caller drives this run, and will take up what was decided.
pub const PLANGATE_E_BUSY: plangate_status = -7;
/// The digest is not that of the stored call.
pub const PLANGATE_E_CHANGED: plangate_status = -8;
/// This person may not decide this, or the row is not in a state that allows it.
pub const PLANGATE_E_NOT_ALLOWED: plangate_status = -9;
/// The run was cancelled.
pub const PLANGATE_E_CANCELLED: plangate_status = -10;
/// It cannot be settled yet: the call may still be under way.
pub const PLANGATE_E_IN_FLIGHT: plangate_status = -11;
/// Another took the run over; nothing more was started here.
pub const PLANGATE_E_LEASE_LOST: plangate_status = -12;
/// The stored plan no longer passes: the error says what changed.
pub const PLANGATE_E_ATTENTION: plangate_status = -13;
/// A fault in the library; handles stay usable.
pub const PLANGATE_E_PANIC: plangate_status = -99;

/// Every status with its name in this header.
const NAMES: &[(plangate_status, &CStr)] = &[
    (PLANGATE_OK, c"PLANGATE_OK"),
    (PLANGATE_PARKED, c"PLANGATE_PARKED"),
    (PLANGATE_FAILED, c"PLANGATE_FAILED"),
    (PLANGATE_E_ARGUMENT, c"PLANGATE_E_ARGUMENT"),
    (PLANGATE_E_PLAN, c"PLANGATE_E_PLAN"),
    (PLANGATE_E_STORE, c"PLANGATE_E_STORE"),
    (PLANGATE_E_NOT_FOUND, c"PLANGATE_E_NOT_FOUND"),
    (PLANGATE_E_DECIDED, c"PLANGATE_E_DECIDED"),
    (PLANGATE_E_EXPIRED, c"PLANGATE_E_EXPIRED"),
    (PLANGATE_E_BUSY, c"PLANGATE_E_BUSY"),
    (PLANGATE_E_CHANGED, c"PLANGATE_E_CHANGED"),
    (PLANGATE_E_NOT_ALLOWED, c"PLANGATE_E_NOT_ALLOWED"),
    (PLANGATE_E_CANCELLED, c"PLANGATE_E_CANCELLED"),
    (PLANGATE_E_IN_FLIGHT, c"PLANGATE_E_IN_FLIGHT"),
    (PLANGATE_E_LEASE_LOST, c"PLANGATE_E_LEASE_LOST"),
    (PLANGATE_E_ATTENTION, c"PLANGATE_E_ATTENTION"),
    (PLANGATE_E_PANIC, c"PLANGATE_E_PANIC"),
];

/// The name of a status, as it stands under `code` in errors. Of a number that is none: "unknown".
pub(crate) fn name(status: plangate_status) -> &'static CStr {
    NAMES.iter().find(|(known, _)| *known == status).map_or(c"unknown", |(_, name)| name)
}

/// The name of a status, for instance "PLANGATE_E_PLAN"; "unknown" for any other number. Lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn plangate_status_name(status: plangate_status) -> *const c_char {
    name(status).as_ptr()
}
