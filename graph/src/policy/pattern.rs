//! Names of servers and tools in rules: exact, or with wildcards.

use std::fmt;

use globset::{GlobBuilder, GlobMatcher};

/// The characters that make a glob of a name.
pub(super) const WILD: &str = "*?[]{}\\";

/// A name, or a glob over names: `*`, `?`, `[ab]`, `{a,b}`. Equal if written alike.
#[derive(Clone)]
pub(super) struct Pattern {
    text: String,
    /// Nothing where the pattern is an exact name.
    matcher: Option<GlobMatcher>,
}

impl Pattern {
    /// Reads a pattern. The error says what is wrong with it.
    pub(super) fn new(text: &str) -> Result<Pattern, String> {
        if text.is_empty() {
            return Err("an empty name matches nothing; write \"*\" for every name".into());
        }
        let matcher = if text.contains(|c| WILD.contains(c)) {
            let glob = GlobBuilder::new(text).literal_separator(false).backslash_escape(true).build();
            Some(glob.map_err(|e| e.kind().to_string())?.compile_matcher())
        } else {
            None
        };
        Ok(Pattern { text: text.to_owned(), matcher })
    }

    /// Whether a name is meant.
    pub(super) fn matches(&self, name: &str) -> bool {
        match &self.matcher {
            Some(matcher) => matcher.is_match(name),
            None => self.text == name,
        }
    }

    /// Whether it is one name and no other.
    pub(super) fn is_exact(&self) -> bool {
        self.matcher.is_none()
    }

    /// How many characters of it are not wildcards.
    pub(super) fn length(&self) -> usize {
        self.text.chars().filter(|c| *c != ',' && !WILD.contains(*c)).count()
    }

    /// As written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}
