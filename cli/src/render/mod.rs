//! What results look like on a terminal.

pub(crate) mod paint;
pub(crate) mod time;
