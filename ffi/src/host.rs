//! What a host gives with a run: its callback and its options.
#![expect(unsafe_code, reason = "the place where functions of the caller are called")]

use std::ffi::{CStr, c_char, c_void};
use std::mem::offset_of;
use std::time::Duration;

use plangate_approval::Person;
use plangate_executor as executor;

use crate::caller::{Caller, Options};
use crate::document;
use crate::failure::Failure;

/// One tool call, or one sentence for the writer (tool "write"). Called from several threads at once; must not throw or
/// longjmp. `tool` is "server.tool", `args_json` its final arguments as JSON. Of a sentence, `args_json` is
/// {"instruction": TEXT, "inputs": [{"name": TEXT, "value": ANY} or {"name": TEXT, "missing": WHY}]}: the instruction is
/// constant text of the recipe, the inputs are data. `key` is the idempotency key, empty for reads and sentences. The strings
/// live until the callback returns; `call` is never used again. It returns PLANGATE_ANSWERED or PLANGATE_LATER; anything
/// else, and ANSWERED without an answer, is no usable answer: a read then fails, and a call that changes something is
/// uncertain. Every call has a deadline: past it a call that changes something is uncertain, while its row stays claimed,
/// since it may be under way; then the run waits for callbacks that have not returned. Calls that were left for LATER hold
/// no thread of the host and are not waited for.
pub type plangate_tool_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        call: u64,
        tool: *const c_char,
        args_json: *const c_char,
        key: *const c_char,
    ) -> i32,
>;

/// "Did the call with this key happen?" 1 it did, -1 it did not and will not: then an approved call may be made once more,
/// with the same key. 0, and anything else: not known, and a person settles it. PLANGATE_RECONCILE_LATER: plangate_reconciled
/// will say so. Asked once about a call whose outcome is not known, after its deadline and when nothing else of the run is
/// under way; about several calls at once, from several threads. After ten seconds it counts as not known; the run waits
/// for a callback that has not returned, and for no answer that was to come later. Must not throw or longjmp. The strings
/// live until it returns.
pub type plangate_reconcile_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        key: *const c_char,
        tool: *const c_char,
        args_json: *const c_char,
    ) -> i32,
>;

/// What runs a plan. Set everything to 0, then `size` to sizeof(plangate_host).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct plangate_host {
    /// sizeof(plangate_host).
    pub size: u32,
    /// Most calls at once; 0: as wide as the plan.
    pub threads: u32,
    /// Makes the calls. Not NULL.
    pub tool: plangate_tool_fn,
    /// Handed to the callbacks as it is, and not used once the run has returned.
    pub user: *mut c_void,
    /// May be NULL: calls cannot be looked up, and an uncertain one waits for plangate_settle.
    pub reconcile: plangate_reconcile_fn,
    /// May be NULL. The catalog of now, held against the plan; the stricter wins. A tool that changed since is refused.
    pub catalog_json: *const c_char,
    /// Its length.
    pub catalog_len: usize,
    /// May be NULL. The policy of now, held against the plan; the stricter wins.
    pub policy_toml: *const c_char,
    /// Its length.
    pub policy_len: usize,
    /// May be NULL. Who starts the run: {"issuer", "subject", "roles", "verified"}. Else the host itself.
    pub requester_json: *const c_char,
    /// Its length.
    pub requester_len: usize,
    /// May be NULL. What people call the run.
    pub title: *const c_char,
    /// How long a call may take whose step has no `timeout:`, in milliseconds; 0: a minute.
    pub timeout_ms: u32,
    /// 1: while a row of the run waits for a decision, no call of it that changes something starts. Kept with the run.
    pub hold_siblings: u32,
}

// SAFETY: `repr(C)`; numbers, pointers and `Option`s of functions, all of which may be zero; the first size ends at a field.
unsafe impl Options for plangate_host {
    const SIZES: &'static [usize] = &[offset_of!(plangate_host, requester_json), size_of::<plangate_host>()];
}

/// The callback with its user pointer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Callback {
    tool: unsafe extern "C" fn(*mut c_void, u64, *const c_char, *const c_char, *const c_char) -> i32,
    user: *mut c_void,
}

// SAFETY: the header says that the callback is called from several threads at once, with `user` as it was given; nothing
// here follows the pointer.
unsafe impl Send for Callback {}
// SAFETY: as above.
unsafe impl Sync for Callback {}

impl Callback {
    /// Makes a call. The strings live until it returns.
    pub(crate) fn call(&self, number: u64, tool: &CStr, args: &CStr, key: &CStr) -> i32 {
        // SAFETY: the function and `user` are the caller's for as long as the run, which waits for every callback.
        unsafe { (self.tool)(self.user, number, tool.as_ptr(), args.as_ptr(), key.as_ptr()) }
    }
}

/// The callback that looks calls up, with its user pointer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reconcile {
    ask: unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char, *const c_char) -> i32,
    user: *mut c_void,
}

// SAFETY: as for `Callback`.
unsafe impl Send for Reconcile {}
// SAFETY: as for `Callback`.
unsafe impl Sync for Reconcile {}

impl Reconcile {
    /// Asks. The strings live until it returns.
    pub(crate) fn call(&self, key: &CStr, tool: &CStr, args: &CStr) -> i32 {
        // SAFETY: the function and `user` are the caller's for as long as the run, which waits for every callback.
        unsafe { (self.ask)(self.user, key.as_ptr(), tool.as_ptr(), args.as_ptr()) }
    }
}

/// A host, read.
#[derive(Debug)]
pub(crate) struct Host<'a> {
    pub(crate) callback: Callback,
    pub(crate) reconcile: Option<Reconcile>,
    pub(crate) catalog: Option<&'a str>,
    pub(crate) policy: Option<&'a str>,
    pub(crate) requester: Person,
    pub(crate) title: String,
    pub(crate) options: executor::Options,
}

/// A callback that does not return keeps its run from returning, since no thread is left behind in the host's code.
const UNTIL_IT_RETURNS: Duration = Duration::from_secs(10 * 365 * 24 * 3_600);

impl<'a> Host<'a> {
    pub(crate) fn read(caller: &'a Caller, host: *const plangate_host) -> Result<Host<'a>, Failure> {
        let host = caller.sized("host", host)?;
        let tool = host.tool.ok_or_else(|| Failure::null("host.tool"))?;
        let document = |what, ptr: *const c_char, len| {
            let text = caller.document(what, ptr, len)?;
            Ok::<_, Failure>((!ptr.is_null()).then_some(text))
        };
        let requester = document("host.requester_json", host.requester_json, host.requester_len)?;
        let hold_siblings = match host.hold_siblings {
            0 => false,
            1 => true,
            other => return Err(Failure::argument(format!("`host.hold_siblings` is {other}; it is 0 or 1"))),
        };
        let mut options =
            executor::Options { hold_siblings, grace: UNTIL_IT_RETURNS, ..executor::Options::default() };
        options.workers = usize::try_from(host.threads).ok().filter(|threads| *threads > 0);
        if host.timeout_ms > 0 {
            options.timeout = Duration::from_millis(host.timeout_ms.into());
        }
        Ok(Host {
            callback: Callback { tool, user: host.user },
            reconcile: host.reconcile.map(|ask| Reconcile { ask, user: host.user }),
            catalog: document("host.catalog_json", host.catalog_json, host.catalog_len)?,
            policy: document("host.policy_toml", host.policy_toml, host.policy_len)?,
            requester: match requester {
                Some(json) => document::person("host.requester_json", json)?,
                None => document::the_host(),
            },
            title: caller.name_or_null("host.title", host.title)?.unwrap_or_default().to_owned(),
            options,
        })
    }
}
