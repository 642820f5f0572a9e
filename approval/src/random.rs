//! Random ids.

use crate::row::RowId;
use crate::run::{Holder, RunId};
use crate::storage::StoreError;

/// 128 random bits as 32 hexadecimal digits.
pub(crate) fn id() -> Result<String, StoreError> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|e| StoreError::Random(e.to_string()))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

impl RunId {
    /// A new one.
    pub fn random() -> Result<RunId, StoreError> {
        id().map(RunId)
    }
}

impl RowId {
    /// A new one.
    pub fn random() -> Result<RowId, StoreError> {
        id().map(RowId)
    }
}

impl Holder {
    /// A new one, of which no store knows whether it lives: its lease decides. A store makes better ones.
    pub fn random() -> Result<Holder, StoreError> {
        id().map(Holder)
    }
}
