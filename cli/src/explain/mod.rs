//! The entry of every code: of diagnostics and refusals, of the policy, of reasons to ask.

const POLICY: &str = include_str!("policy.md");
const REASONS: &str = include_str!("reasons.md");

/// What a code means, as Markdown that begins with `## CODE`. Codes are found whatever their case.
///
/// Reason codes come in families: what stands last says which verb or phrase it was. Their entry is that of the family.
pub(crate) fn explain(code: &str) -> Option<&'static str> {
    let upper = code.to_ascii_uppercase();
    if let Some(entry) = plangate_compiler::explain(&upper) {
        return Some(entry);
    }
    if let Some((_, entry)) = entries(POLICY).find(|(found, _)| *found == upper) {
        return Some(entry);
    }
    let lower = code.to_ascii_lowercase();
    let fits = |family: &str| match family.strip_suffix('*') {
        Some(start) => lower.starts_with(start),
        None => lower == family,
    };
    // The longest that fits: `argument-file` before `argument-*`.
    let families = entries(REASONS).filter(|(family, _)| fits(family));
    families.max_by_key(|(family, _)| family.len()).map(|(_, entry)| entry)
}

/// All codes with their titles, in order.
pub(crate) fn codes() -> Vec<(&'static str, &'static str)> {
    let compiler = plangate_compiler::documented_codes()
        .filter_map(|code| Some((code, title(plangate_compiler::explain(code)?))));
    let own = entries(POLICY).chain(entries(REASONS)).map(|(code, entry)| (code, title(entry)));
    compiler.chain(own).collect()
}

/// The title: the first line after its code.
fn title(entry: &'static str) -> &'static str {
    let line = entry.lines().next().unwrap_or_default().trim_start_matches("## ");
    line.split_once(' ').map_or("", |(_, title)| title)
}

fn entries(page: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    page.split("\n## ").skip(1).filter_map(move |entry| {
        let code = entry.split_whitespace().next()?;
        Some((code, entry.trim_end()))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
    use super::*;
    use std::path::Path;

    /// The texts of all sources of `plangate-graph`.
    fn sources(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(std::fs::read_to_string(&path).unwrap());
            }
        }
    }

    fn graph() -> Vec<String> {
        let mut found = Vec::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../graph/src"), &mut found);
        found
    }

    /// Every code of a letter and four digits in them, sorted.
    fn codes_of(letter: char) -> Vec<String> {
        let is_code = |word: &&str| {
            word.len() == 5 && word.starts_with(letter) && word.bytes().skip(1).all(|b| b.is_ascii_digit())
        };
        let texts = graph();
        let mut used: Vec<String> =
            texts.iter().flat_map(|text| text.split('"')).filter(is_code).map(str::to_owned).collect();
        used.sort();
        used.dedup();
        used
    }

    #[test]
    fn every_refusal_is_explained_and_no_other() {
        for code in codes_of('V').iter().chain(&codes_of('R')) {
            assert!(explain(code).is_some(), "{code} is not explained");
        }
        let documented: Vec<&str> = entries(POLICY).map(|(code, _)| code).collect();
        assert_eq!(documented, codes_of('P'));
    }

    #[test]
    fn every_reason_is_explained() {
        for text in graph() {
            for maker in ["Signal::raises(", "Signal::clears(", "Signal::mentions(", "evidence("] {
                let codes = text.split(maker).skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"'));
                for code in codes.filter_map(|rest| rest.split('"').next()) {
                    assert!(explain(code).is_some(), "{code} is not explained");
                }
            }
        }
    }

    #[test]
    fn codes_are_found_in_any_case_and_by_family() {
        assert!(explain("v0401").unwrap().contains("V0401"));
        assert!(explain("name-verb-send").unwrap().starts_with("name-*"));
        assert_eq!(explain("V9999"), None);
        assert_eq!(explain("nonsense"), None);
    }

    #[test]
    fn every_code_has_a_title() {
        for (code, title) in codes() {
            assert!(!title.is_empty(), "{code} has no title");
        }
    }
}
