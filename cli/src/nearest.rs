//! What somebody probably meant.

/// The candidate that differs least from a word, if it differs little enough to be a slip.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    candidates
        .into_iter()
        .map(|c| (strsim::damerau_levenshtein(&lower, &c.to_lowercase()), c))
        .filter(|(distance, c)| *distance <= (c.chars().count().max(lower.chars().count()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_found_and_another_word_is_not() {
        let known = ["calendar", "gmail", "slack"];
        assert_eq!(nearest("gmial", known), Some("gmail"));
        assert_eq!(nearest("Slack", known), Some("slack"));
        assert_eq!(nearest("postgres", known), None);
        assert_eq!(nearest("", known), None);
    }
}
