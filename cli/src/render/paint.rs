//! Colours, by what they mean.

/// Colours a text, or leaves it as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// With colours or without.
    pub(crate) fn new(on: bool) -> Paint {
        Paint { on }
    }

    /// Without.
    #[cfg(test)]
    pub(crate) fn plain() -> Paint {
        Paint { on: false }
    }

    /// Whether it colours.
    pub(crate) fn is_on(self) -> bool {
        self.on
    }

    /// What matters most on its line.
    pub(crate) fn strong(self, text: &str) -> String {
        self.sgr("1", text)
    }

    /// What may be passed over.
    pub(crate) fn dim(self, text: &str) -> String {
        self.sgr("2", text)
    }

    /// What went as it should.
    pub(crate) fn good(self, text: &str) -> String {
        self.sgr("32", text)
    }

    /// What did not.
    pub(crate) fn bad(self, text: &str) -> String {
        self.sgr("1;31", text)
    }

    /// What waits for somebody.
    pub(crate) fn wait(self, text: &str) -> String {
        self.sgr("1;33", text)
    }

    /// What can be typed as it stands.
    pub(crate) fn typed(self, text: &str) -> String {
        self.sgr("36", text)
    }

    fn sgr(self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
