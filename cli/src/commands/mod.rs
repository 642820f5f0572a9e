//! One file a command.

pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod check;
pub(crate) mod explain;
pub(crate) mod guide;
pub(crate) mod plan;
pub(crate) mod schema;
pub(crate) mod tools;
