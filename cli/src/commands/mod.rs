//! One file a command.

pub(crate) mod approvals;
pub(crate) mod audit;
mod batch;
pub(crate) mod cancel;
pub(crate) mod check;
pub(crate) mod decide;
pub(crate) mod demo_server;
mod edit;
pub(crate) mod explain;
pub(crate) mod guide;
pub(crate) mod plan;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod settle;
pub(crate) mod show;
pub(crate) mod tools;
pub(crate) mod webhooks;
