//! The entry of every code: of diagnostics, of refusals, of reasons to ask.

const REFUSALS: &str = include_str!("refusals.md");
const REASONS: &str = include_str!("reasons.md");

/// What a code means, as Markdown that begins with `## CODE`. Codes are found whatever their case.
///
/// Reason codes come in families: what stands last says which verb or phrase it was. Their entry is that of the family.
pub(crate) fn explain(code: &str) -> Option<&'static str> {
    let upper = code.to_ascii_uppercase();
    if let Some(entry) = plangate_compiler::explain(&upper) {
        return Some(entry);
    }
    let lower = code.to_ascii_lowercase();
    entries(REFUSALS).find(|(found, _)| *found == upper).map(|(_, entry)| entry).or_else(|| {
        let fits = |family: &str| match family.strip_suffix('*') {
            Some(start) => lower.starts_with(start),
            None => lower == family,
        };
        // The longest that fits: `description-says` before `description-*`.
        entries(REASONS)
            .filter(|(family, _)| fits(family))
            .max_by_key(|(family, _)| family.len())
            .map(|(_, e)| e)
    })
}

/// All codes with their titles, in order.
pub(crate) fn codes() -> Vec<(&'static str, &'static str)> {
    let compiler = plangate_compiler::documented_codes()
        .filter_map(|code| Some((code, title(plangate_compiler::explain(code)?))));
    let own = entries(REFUSALS).chain(entries(REASONS)).map(|(code, entry)| (code, title(entry)));
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

    /// Every `V` code in the sources of a folder.
    fn codes_in(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                codes_in(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let quoted = text.split('"').filter(|w| w.len() == 5 && w.starts_with('V'));
                found.extend(
                    quoted.filter(|w| w.bytes().skip(1).all(|b| b.is_ascii_digit())).map(str::to_owned),
                );
            }
        }
    }

    #[test]
    fn every_refusal_is_explained_and_no_other() {
        let mut used = Vec::new();
        codes_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../graph/src"), &mut used);
        used.sort();
        used.dedup();
        let documented: Vec<&str> = entries(REFUSALS).map(|(code, _)| code).collect();
        assert_eq!(documented, used);
    }

    #[test]
    fn codes_are_found_in_any_case_and_by_family() {
        assert!(explain("v0401").unwrap().starts_with("V0401 A missing gate"));
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
