//! Adding to a text.

use std::fmt;

/// A text that more is added to.
pub(crate) trait Put {
    /// Adds what `format_args!` makes.
    fn put(&mut self, what: fmt::Arguments<'_>);
}

impl Put for String {
    fn put(&mut self, what: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = fmt::Write::write_fmt(self, what);
    }
}
