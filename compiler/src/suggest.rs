//! "Did you mean": the name that is nearest to one that does not exist.

/// How many comparisons one compilation may cost, so that a recipe full of mistakes stays linear.
const COMPARISONS: usize = 500_000;
/// Longer words are not compared.
const LONGEST: usize = 64;

/// Looks for near names, until its comparisons are used up.
#[derive(Debug)]
pub(crate) struct Suggester {
    left: usize,
}

/// A name that is near to what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Near<'n> {
    pub(crate) name: &'n str,
    /// So near, and so much nearer than any other, that it can only be meant.
    pub(crate) certain: bool,
}

impl Suggester {
    pub(crate) fn new() -> Suggester {
        Suggester { left: COMPARISONS }
    }

    /// Takes this many comparisons, if there are as many left.
    pub(crate) fn spend(&mut self, comparisons: usize) -> bool {
        let left = self.left.checked_sub(comparisons);
        self.left = left.unwrap_or_default();
        left.is_some()
    }

    /// The nearest of the candidates, if one is near. Among equals the first.
    pub(crate) fn nearest<'n>(
        &mut self,
        word: &str,
        candidates: impl IntoIterator<Item = &'n str>,
    ) -> Option<Near<'n>> {
        let length = word.chars().count();
        if length == 0 || length > LONGEST {
            return None;
        }
        let folded = fold(word);
        let words = sorted_words(word);
        let mut best: Option<(usize, &str)> = None;
        let mut second = usize::MAX;
        for candidate in candidates {
            if self.left == 0 {
                return None;
            }
            self.left -= 1;
            if candidate == word || candidate.chars().count() > LONGEST {
                continue;
            }
            let distance = if fold(candidate) == folded {
                0
            } else if words.len() > 1 && sorted_words(candidate) == words {
                1
            } else {
                strsim::osa_distance(word, candidate)
            };
            match best {
                Some((least, _)) if distance >= least => second = second.min(distance),
                _ => {
                    second = best.map_or(usize::MAX, |(least, _)| least);
                    best = Some((distance, candidate));
                }
            }
        }
        let (distance, name) = best?;
        let longer = length.max(name.chars().count());
        let near = distance <= 1 && longer > 2 || distance * 3 <= longer;
        near.then_some(Near { name, certain: distance <= 2 && distance < second && longer > 3 })
    }
}

/// Without case and separators.
fn fold(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '-' | '_' | '.')).flat_map(char::to_lowercase).collect()
}

/// Its words in order of the alphabet: `list_messages`, `messages-list` and `listMessages` are the same.
fn sorted_words(word: &str) -> Vec<String> {
    let mut split = String::with_capacity(word.len() + 4);
    let mut lower = false;
    for c in word.chars() {
        if lower && c.is_uppercase() {
            split.push('_');
        }
        lower = c.is_lowercase();
        split.extend(c.to_lowercase());
    }
    let words = split.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    let mut words: Vec<String> = words.map(str::to_owned).collect();
    words.sort_unstable();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest(word: &str, candidates: &[&'static str]) -> Option<(&'static str, bool)> {
        Suggester::new().nearest(word, candidates.iter().copied()).map(|n| (n.name, n.certain))
    }

    #[test]
    fn misspelt() {
        assert_eq!(nearest("maill", &["calendar", "mail"]), Some(("mail", true)));
        assert_eq!(nearest("messagesList", &["messages_list", "send"]), Some(("messages_list", true)));
        assert_eq!(nearest("list_messages", &["messages_list", "send"]), Some(("messages_list", true)));
        assert_eq!(nearest("listMessages", &["messages_list", "list"]), Some(("messages_list", true)));
        assert_eq!(nearest("weather", &["mail", "calendar"]), None);
    }

    #[test]
    fn two_that_are_as_near_are_not_certain() {
        assert_eq!(nearest("post_x", &["post_a", "post_b"]), Some(("post_a", false)));
    }

    #[test]
    fn comparisons_run_out() {
        let mut suggester = Suggester { left: 1 };
        assert!(suggester.nearest("maill", ["mail"]).is_some());
        assert!(suggester.nearest("maill", ["mail"]).is_none());
    }
}
