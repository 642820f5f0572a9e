//! The one place where a claim that was won becomes a permit.

use crate::storage::Storage;

/// Decisions and claims over a store.
#[derive(Debug)]
pub struct Approvals<S> {
    store: S,
}

impl<S: Storage> Approvals<S> {
    /// Over this store.
    pub fn new(store: S) -> Approvals<S> {
        Approvals { store }
    }

    /// The store.
    pub fn store(&self) -> &S {
        &self.store
    }
}
