//! The single-use value that holds a call which changes something.

use std::sync::Arc;

use crate::clock::Clock;
use crate::row::{Claim, RowId};

/// The right to make one call, and the call itself. Only a claim makes one; it cannot be copied, stored or used twice.
///
/// It ends with the lease it was claimed under. [`Permit::spend`] looks at that just before the first byte goes out.
#[derive(Debug)]
pub struct Permit {
    pub(crate) claim: Claim,
    pub(crate) call: PermittedCall,
    pub(crate) steady_until: i64,
    pub(crate) clock: Arc<dyn Clock>,
}

/// A call that may go out now. Its bytes are those of the row.
#[derive(Debug)]
pub struct PermittedCall {
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) args: Vec<u8>,
    pub(crate) key: String,
}

/// The permit had ended before anything was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the permit had ended before the call was sent")]
pub struct Lapsed;

impl Permit {
    /// The row it was claimed from.
    pub fn row(&self) -> &RowId {
        &self.claim.row
    }

    /// The claim, under which the outcome is recorded. Keep a copy before the permit is handed on.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// The server, for preparing the connection before the permit is spent.
    pub fn server(&self) -> &str {
        &self.call.server
    }

    /// The call, if the permit still holds at this moment of the steady clock. Do this last, right before the first byte.
    pub fn spend(self) -> Result<PermittedCall, Lapsed> {
        if self.clock.steady() < self.steady_until { Ok(self.call) } else { Err(Lapsed) }
    }
}

impl PermittedCall {
    /// The server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Canonical argument bytes, to be sent as they are.
    pub fn args(&self) -> &[u8] {
        &self.args
    }

    /// The idempotency key, for the tool.
    pub fn key(&self) -> &str {
        &self.key
    }
}
