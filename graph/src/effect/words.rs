//! The word lists, read once: what each word of a name or of a description stands for.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use super::Effect;
use super::tokens::{fold, split};

/// What a verb says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// That the call only reads.
    Reads,
    /// That it changes something, this strongly.
    Changes(Effect),
    /// Nothing about it.
    Nothing,
}

/// How a word is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Usage {
    /// Only ever a verb.
    Verb,
    /// A verb that makes something: what it makes counts too.
    Made,
    /// Verb and noun.
    Both,
    /// Mostly a noun.
    Noun,
    /// A noun that names what is given back.
    Result,
}

/// A verb of the lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verb {
    /// What it says.
    pub(super) says: Says,
    /// How it is used.
    pub(super) usage: Usage,
    /// Its group, which names the reason code.
    pub(super) group: &'static str,
    /// The group's sentence for the card.
    pub(super) sentence: &'static str,
}

/// A small word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Glue {
    /// The next word is a verb if it can be one.
    And,
    /// No verb of the call follows.
    Of,
    /// Changes nothing.
    How,
}

/// What is known about a word; nothing of it for an unknown one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// What it is as a verb.
    pub(super) verb: Option<Verb>,
    /// What it is as a small word.
    pub(super) glue: Option<Glue>,
    /// It is a noun.
    pub(super) thing: bool,
    /// To make one is to reach people.
    pub(super) people: bool,
    /// To change one is to move money.
    pub(super) money: bool,
    /// It is a picture of what is given.
    pub(super) picture: bool,
    /// It is a record of something that was done, or a rule about it.
    pub(super) record: bool,
    /// What is written there stays there.
    pub(super) ledger: bool,
}

/// A word of a script without spaces, found within a longer run.
#[derive(Clone, Debug)]
pub(super) struct Stroke {
    /// The word, folded.
    pub(super) text: String,
    /// What it says.
    pub(super) verb: Verb,
}

/// A phrase of descriptions that warns.
#[derive(Clone, Debug)]
pub(super) struct Warning {
    /// Its group, which names the reason code.
    pub(super) group: &'static str,
    /// The group's sentence for the card.
    pub(super) sentence: &'static str,
    /// The phrase, folded.
    pub(super) phrase: String,
}

/// What a phrase is read as.
#[derive(Clone, Debug)]
pub(super) enum ReadAs {
    /// This word.
    Word(&'static str),
    /// A noun.
    Noun,
}

/// All lists.
#[derive(Debug, Default)]
pub(super) struct Words {
    by_text: HashMap<String, Word>,
    phrases: BTreeMap<String, Vec<(Vec<String>, ReadAs)>>,
    strokes: Vec<Stroke>,
    arguments: HashMap<String, &'static str>,
    argument_parts: BTreeMap<&'static str, BTreeSet<String>>,
    sentences: BTreeMap<&'static str, Vec<String>>,
    warnings: Vec<Warning>,
}

/// The lists of verbs: file, what its words say.
const VERBS: [(&str, Says); 5] = [
    (include_str!("words/read.txt"), Says::Reads),
    (include_str!("words/write.txt"), Says::Changes(Effect::Write)),
    (include_str!("words/destructive.txt"), Says::Changes(Effect::Destructive)),
    (include_str!("words/open.txt"), Says::Changes(Effect::Unknown)),
    (include_str!("words/silent.txt"), Says::Nothing),
];
const NOUNS: &str = include_str!("words/nouns.txt");
const GLUE: &str = include_str!("words/glue.txt");
const PHRASES: &str = include_str!("words/phrases.txt");
const ARGUMENTS: &str = include_str!("words/arguments.txt");
const SENTENCES: &str = include_str!("words/sentences.txt");
const WARNINGS: &str = include_str!("words/warnings.txt");

static WORDS: LazyLock<Words> = LazyLock::new(Words::read);

/// The lists, read on first use.
pub(super) fn words() -> &'static Words {
    &WORDS
}

impl Words {
    /// A word in folded form (see [`fold`]).
    pub(super) fn word(&self, folded: &str) -> Word {
        self.by_text.get(folded).copied().unwrap_or_default()
    }

    /// The longest phrase that these folded words begin with: how many words it takes, and what it is read as.
    pub(super) fn phrase(&self, words: &[String]) -> Option<(usize, &ReadAs)> {
        let (first, rest) = words.split_first()?;
        let found = self.phrases.get(first)?.iter().find(|(tail, _)| rest.starts_with(tail))?;
        Some((found.0.len() + 1, &found.1))
    }

    /// The verbs of scripts without spaces, longest first.
    pub(super) fn strokes(&self) -> &[Stroke] {
        &self.strokes
    }

    /// The group of arguments.txt that an argument's folded words stand in.
    pub(super) fn argument(&self, words: &[String]) -> Option<&'static str> {
        self.arguments.get(&words.join("_")).copied()
    }

    /// Whether words joined by `_` stand in one of the groups of arguments.txt that hold words, not arguments.
    pub(super) fn argument_part(&self, group: &str, word: &str) -> bool {
        self.argument_parts.get(group).is_some_and(|words| words.contains(word))
    }

    /// The words of a group of sentences.txt, folded.
    pub(super) fn group(&self, group: &str) -> impl Iterator<Item = &str> {
        self.sentences.get(group).into_iter().flatten().map(String::as_str)
    }

    /// Whether a folded word stands in a group of sentences.txt.
    pub(super) fn is_in(&self, group: &str, word: &str) -> bool {
        self.group(group).any(|listed| listed == word)
    }

    /// Phrases of descriptions that warn.
    pub(super) fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn read() -> Words {
        let mut lists = Words::default();
        for (text, says) in VERBS {
            for row in rows(text) {
                let usage = match row.column {
                    "verb" | "han" => Usage::Verb,
                    "made" => Usage::Made,
                    "both" => Usage::Both,
                    "result" => Usage::Result,
                    _ => Usage::Noun,
                };
                let verb = Verb { says, usage, group: row.group, sentence: row.sentence };
                if row.column == "han" {
                    lists.strokes.push(Stroke { text: fold(row.word), verb });
                } else {
                    lists.by_text.entry(fold(row.word)).or_default().verb = Some(verb);
                }
            }
        }
        for row in rows(NOUNS) {
            let word = lists.by_text.entry(fold(row.word)).or_default();
            word.thing = true;
            word.people |= row.group == "people";
            word.money |= row.group == "money";
            word.picture |= row.group == "picture";
            word.record |= row.group == "record";
            word.ledger |= row.group == "ledger";
        }
        for row in rows(GLUE) {
            let glue = match row.group {
                "and" => Glue::And,
                "of" => Glue::Of,
                _ => Glue::How,
            };
            lists.by_text.entry(fold(row.word)).or_default().glue = Some(glue);
        }
        for (left, right) in phrase_rows() {
            let mut left = left.split_whitespace().map(fold);
            let Some(first) = left.next() else { continue };
            let read_as = if right == "-" { ReadAs::Noun } else { ReadAs::Word(right) };
            lists.phrases.entry(first).or_default().push((left.collect(), read_as));
        }
        for row in rows(ARGUMENTS) {
            let word = split(row.word).join("_");
            if ["picks", "lead", "tail", "one", "kept", "answer"].contains(&row.group) {
                lists.argument_parts.entry(row.group).or_default().insert(word);
            } else {
                lists.arguments.insert(word, row.group);
            }
        }
        for row in rows(SENTENCES) {
            lists.sentences.entry(row.group).or_default().push(fold(row.word));
        }
        lists.warnings = warning_rows().collect();
        for tails in lists.phrases.values_mut() {
            tails.sort_by_key(|(tail, _)| std::cmp::Reverse(tail.len()));
        }
        lists.strokes.sort_by_key(|stroke| std::cmp::Reverse(stroke.text.len()));
        lists
    }
}

/// One word of a list, with its heading and its column.
struct Row {
    group: &'static str,
    sentence: &'static str,
    column: &'static str,
    word: &'static str,
}

/// The words of a list: `[group] sentence` headings, then lines of a column and its words; `#` begins a comment.
fn rows(text: &'static str) -> impl Iterator<Item = Row> {
    let mut heading = ("", "");
    text.lines().filter(|line| !line.starts_with('#')).flat_map(move |line| {
        let mut words = line.split_whitespace();
        let column = words.next().unwrap_or_default();
        if let Some(group) = column.strip_prefix('[').and_then(|c| c.strip_suffix(']')) {
            heading = (group, line.get(column.len()..).unwrap_or_default().trim());
            words = "".split_whitespace();
        }
        let (group, sentence) = heading;
        words.map(move |word| Row { group, sentence, column, word })
    })
}

/// The phrases: words on the left, what they are read as on the right, at least two spaces between.
fn phrase_rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    PHRASES
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once("  "))
        .map(|(left, right)| (left.trim(), right.trim()))
}

/// The warnings: a heading as in the other lists, then one phrase a line.
fn warning_rows() -> impl Iterator<Item = Warning> {
    let mut heading = ("", "");
    WARNINGS.lines().filter(|line| !line.starts_with('#')).filter_map(move |line| {
        let line = line.trim();
        if let Some((group, sentence)) = line.strip_prefix('[').and_then(|l| l.split_once(']')) {
            heading = (group, sentence.trim());
            return None;
        }
        (!line.is_empty()).then(|| Warning { group: heading.0, sentence: heading.1, phrase: fold(line) })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "a malformed list is a failed test")]
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_line_of_a_list_is_understood() {
        let columns = ["verb", "made", "both", "noun", "result", "han", "word"];
        let texts = VERBS.iter().map(|(text, _)| *text).chain([NOUNS, GLUE, ARGUMENTS, SENTENCES]);
        for line in texts.flat_map(str::lines).filter(|l| !l.starts_with('#') && !l.trim().is_empty()) {
            let first = line.split_whitespace().next().unwrap_or_default();
            let heading = first.starts_with('[') && first.ends_with(']');
            assert!(heading || columns.contains(&first), "{line:?}");
        }
        for line in PHRASES.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty()) {
            let Some((left, right)) = line.split_once("  ") else { panic!("{line:?}") };
            assert!(left.split_whitespace().count() >= 2, "{line:?}");
            let right = right.trim();
            assert!(right == "-" || words().word(right).verb.is_some(), "{line:?}");
        }
    }

    #[test]
    fn no_verb_stands_twice() {
        let mut seen = HashSet::new();
        for (text, _) in VERBS {
            for row in rows(text) {
                assert!(seen.insert(fold(row.word)), "{:?} stands twice", row.word);
            }
        }
    }

    #[test]
    fn words_are_single_tokens() {
        for row in VERBS.iter().flat_map(|(text, _)| rows(text)).filter(|row| row.column != "han") {
            assert_eq!(split(row.word).len(), 1, "{:?}", row.word);
        }
    }

    #[test]
    fn every_group_is_documented() {
        let page = include_str!("../../../docs/gates.md");
        for row in VERBS.iter().filter(|(_, says)| *says != Says::Nothing).flat_map(|(text, _)| rows(text)) {
            assert!(
                page.contains(&format!("`{}`", row.group)),
                "docs/gates.md does not name {:?}",
                row.group
            );
        }
    }
}
