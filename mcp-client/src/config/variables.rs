//! `${VAR}` and `${VAR:-default}` in the texts of a configuration.

use std::collections::BTreeMap;

/// The variable that stands for the running program where nobody set it: `{"command": "${PLANGATE}"}`.
pub const PLANGATE: &str = "PLANGATE";

/// What `${VAR}` stands for: what was set here, else the environment of this process, else the built-in [`PLANGATE`].
#[derive(Clone, Debug, Default)]
pub struct Variables {
    set: BTreeMap<String, String>,
    process: bool,
}

/// Why a text could not be expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unexpanded {
    /// The variable is not set and has no default.
    Unset(String),
    /// What stands after `${` is no variable.
    Malformed(String),
}

impl Variables {
    /// Those of the environment of this process, and the built-in ones.
    pub fn of_process() -> Variables {
        Variables { set: BTreeMap::new(), process: true }
    }

    /// None but those that [`with`](Variables::with) adds.
    pub fn none() -> Variables {
        Variables::default()
    }

    /// With this variable; it wins over the environment.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Variables {
        self.set.insert(name.into(), value.into());
        self
    }

    /// The value of a variable. One that is not UTF-8 counts as not set.
    pub(crate) fn value(&self, name: &str) -> Option<String> {
        if let Some(value) = self.set.get(name) {
            return Some(value.clone());
        }
        if !self.process {
            return None;
        }
        std::env::var(name).ok().or_else(|| match name {
            PLANGATE => std::env::current_exe().ok()?.into_os_string().into_string().ok(),
            _ => None,
        })
    }

    /// The text with every variable replaced. A default counts where the variable is not set or empty, as in a shell.
    pub(crate) fn expand(&self, text: &str) -> Result<String, Unexpanded> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            out.push_str(before);
            let Some((inside, tail)) = after.split_once('}') else {
                return Err(Unexpanded::Malformed(format!("${{{after}")));
            };
            let (name, default) = match inside.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (inside, None),
            };
            if !is_name(name) {
                return Err(Unexpanded::Malformed(format!("${{{inside}}}")));
            }
            match (self.value(name), default) {
                (Some(value), None) => out.push_str(&value),
                (Some(value), Some(_)) if !value.is_empty() => out.push_str(&value),
                (_, Some(default)) => out.push_str(default),
                (None, None) => return Err(Unexpanded::Unset(name.to_owned())),
            }
            rest = tail;
        }
        out.push_str(rest);
        Ok(out)
    }
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    #[test]
    fn expands_set_default_and_empty() {
        let variables = Variables::none().with("A", "one").with("EMPTY", "");
        let cases = [
            ("plain $A {A}", "plain $A {A}"),
            ("${A}/${A}", "one/one"),
            ("${B:-two}", "two"),
            ("${EMPTY:-two}", "two"),
            ("[${EMPTY}]", "[]"),
            ("${A:-two}", "one"),
            ("${B:-}", ""),
            ("${B:-http://h:1/x?y}", "http://h:1/x?y"),
        ];
        for (text, wanted) in cases {
            assert_eq!(variables.expand(text).as_deref(), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn values_are_not_expanded_again() {
        assert_eq!(Variables::none().with("A", "${B}").expand("${A}").unwrap(), "${B}");
    }

    #[test]
    fn what_is_not_set_or_no_variable_is_an_error() {
        let none = Variables::none();
        assert_eq!(none.expand("x${B}"), Err(Unexpanded::Unset("B".into())));
        assert_eq!(none.expand("${PLANGATE}"), Err(Unexpanded::Unset("PLANGATE".into())));
        for text in ["${B", "${}", "${input:key}", "${1}"] {
            assert!(matches!(none.expand(text), Err(Unexpanded::Malformed(_))), "{text}");
        }
    }

    #[test]
    fn the_program_itself_is_built_in() {
        let own = std::env::current_exe().unwrap().into_os_string().into_string().unwrap();
        assert_eq!(Variables::of_process().value(PLANGATE), Some(own));
        assert_eq!(
            Variables::of_process().with(PLANGATE, "/opt/p").expand("${PLANGATE}").as_deref(),
            Ok("/opt/p")
        );
    }
}
