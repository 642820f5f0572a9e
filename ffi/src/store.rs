//! The store handle.
#![expect(unsafe_code, reason = "exports functions, which enter the boundary for a C caller")]

use std::ffi::{OsStr, c_char};
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use plangate_approval::{MemoryStore, RunId, SqliteStore, Storage};
use plangate_executor::Executor;

use crate::caller::plangate_buf;
use crate::failure::Failure;
use crate::guard::{boundary, quietly};
use crate::handle::{self, Handle, Table};
use crate::status::{PLANGATE_OK, plangate_status};

/// A store of runs and approvals. Shared; any number of threads, and of processes, may use it at once.
#[derive(Debug)]
pub struct plangate_store {
    _opaque: [u8; 0],
}

/// Any kind of store.
pub(crate) type Kept = Arc<dyn Storage>;

/// A store, and the runs of this process that are driven over it.
pub(crate) struct Store {
    pub(crate) kept: Arc<Kept>,
    drives: Mutex<Vec<Weak<Executor<Kept>>>>,
}

static STORES: Table<Store> = Table::new();

impl Handle for plangate_store {
    type Of = Store;
    const NAME: &'static str = "store";

    fn table() -> &'static Table<Store> {
        &STORES
    }
}

impl Store {
    fn open(path: &[u8]) -> Result<Store, Failure> {
        let kept: Kept = match path {
            b"" => return Err(Failure::argument("`path` is empty").help("\":memory:\" keeps nothing")),
            path if path.contains(&0) => return Err(Failure::argument("`path` holds a NUL")),
            b":memory:" => Arc::new(MemoryStore::new()?),
            path => Arc::new(SqliteStore::open(Path::new(OsStr::from_bytes(path)))?),
        };
        Ok(Store { kept: Arc::new(kept), drives: Mutex::default() })
    }

    /// From here on, what is decided reaches the runs of this executor at once.
    pub(crate) fn drives(&self, executor: &Arc<Executor<Kept>>) {
        let mut drives = self.drives.lock().unwrap_or_else(PoisonError::into_inner);
        drives.retain(|drive| drive.strong_count() > 0);
        drives.push(Arc::downgrade(executor));
    }

    /// Something was decided about a run.
    pub(crate) fn notice(&self, run: &RunId) {
        let drives = self.drives.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for executor in drives.iter().filter_map(Weak::upgrade) {
            executor.notice(run);
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

/// Opens the store in the SQLite file at `path`, and makes it (with its folder) if there is nothing. ":memory:" is a store
/// that ends with its last use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_store_open(
    path: *const c_char,
    len: usize,
    out: *mut *mut plangate_store,
    err: *mut plangate_buf,
) -> plangate_status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        boundary(err, |caller| {
            let out = caller.out("out", out)?;
            let store = Store::open(caller.bytes("path", path, len)?)?;
            out.set(handle::keep(Arc::new(store)));
            Ok(PLANGATE_OK)
        })
    }
}

/// Frees a store. NULL is fine; a run that uses it goes on.
#[unsafe(no_mangle)]
pub extern "C" fn plangate_store_free(store: *mut plangate_store) {
    quietly((), || handle::free(store));
}
