//! The entry of each code in the documentation.

const PAGE: &str = include_str!("../../docs/diagnostics.md");

/// What a code means, with an example and how to mend it, as Markdown; begins with the line `## CODE title`.
/// Nothing for a code that does not exist.
pub fn explain(code: &str) -> Option<&'static str> {
    entries().find(|(found, _)| *found == code).map(|(_, entry)| entry)
}

/// Every code that [`explain`] knows, in the order of the page.
pub fn documented_codes() -> impl Iterator<Item = &'static str> {
    entries().map(|(code, _)| code)
}

fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    let starts = PAGE.match_indices("\n## ").map(|(at, _)| at + 1);
    starts.filter_map(|start| {
        let rest = PAGE.get(start..)?;
        let entry = rest.get(..rest.find("\n## ").map_or(rest.len(), |end| end + 1))?;
        let code = entry.trim_start_matches("## ").split_whitespace().next()?;
        let digits = code.strip_prefix(|c: char| c.is_ascii_uppercase())?;
        (digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit())).then_some((code, entry.trim_end()))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "a test may fail")]
    use super::*;
    use crate::diagnostic::code;

    #[test]
    fn every_code_is_explained_once_and_no_other() {
        let documented: Vec<_> = documented_codes().collect();
        for (a, b) in documented.iter().zip(documented.iter().skip(1)) {
            assert!(a.as_bytes().first() != b.as_bytes().first() || a < b, "{b} stands after {a}");
        }
        for code in code::ALL {
            let entry = explain(code).unwrap_or_else(|| panic!("{code} is not documented"));
            assert!(entry.contains("\n```"), "{code} has no example");
            assert!(!entry.starts_with(&format!("## {code}\n")), "{code} has no title");
        }
        for code in documented {
            assert!(code::ALL.contains(&code) || !is_ours(code), "{code} is documented and unused");
        }
    }

    fn is_ours(code: &str) -> bool {
        ["R00", "R01", "R02"].iter().any(|ours| code.starts_with(ours))
    }

    #[test]
    fn unknown_codes_have_no_entry() {
        assert_eq!(explain("R9999"), None);
        assert_eq!(explain(""), None);
        assert_eq!(explain("The"), None);
    }
}
