//! Handles: numbers in the clothes of pointers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::failure::Failure;

/// A marker type, to which only pointers exist. Each belongs to one table, so that nothing can be freed two ways.
pub(crate) trait Handle: Sized + 'static {
    /// What it stands for.
    type Of: Send + Sync + 'static;
    /// What the header calls it.
    const NAME: &'static str;

    /// Where those that live are kept.
    fn table() -> &'static Table<Self::Of>;
}

/// The handles of one type that were not freed.
pub(crate) struct Table<T>(RwLock<BTreeMap<usize, Arc<T>>>);

/// Numbers are never used again, and belong to no two tables.
static NEXT: AtomicUsize = AtomicUsize::new(1);

impl<T> Table<T> {
    pub(crate) const fn new() -> Table<T> {
        Table(RwLock::new(BTreeMap::new()))
    }
}

/// A new handle.
pub(crate) fn keep<H: Handle>(value: Arc<H::Of>) -> *mut H {
    let number = NEXT.fetch_add(1, Ordering::Relaxed) << 4;
    let mut table = H::table().0.write().unwrap_or_else(PoisonError::into_inner);
    table.insert(number, value);
    std::ptr::without_provenance_mut(number)
}

/// What a handle stands for; it lives for as long as somebody uses it, freed or not.
pub(crate) fn look_up<H: Handle>(handle: *const H) -> Result<Arc<H::Of>, Failure> {
    if handle.is_null() {
        return Err(Failure::null(H::NAME));
    }
    let table = H::table().0.read().unwrap_or_else(PoisonError::into_inner);
    table
        .get(&handle.addr())
        .cloned()
        .ok_or_else(|| Failure::argument(format!("`{}` is no handle of this library, or was freed", H::NAME)))
}

/// Frees a handle. Null, and one that was freed, are nothing.
pub(crate) fn free<H: Handle>(handle: *mut H) {
    let mut table = H::table().0.write().unwrap_or_else(PoisonError::into_inner);
    let last = table.remove(&handle.addr());
    // Closing a store takes its time.
    drop(table);
    drop(last);
}
