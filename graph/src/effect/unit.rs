//! The words of a name with what is known about each, also where it is a form of a listed word or made of one.

use super::tokens::unspaced;
use super::words::{Glue, ReadAs, Says, Usage, Verb, Word, words};

/// A word of the name with what is known about it.
pub(super) struct Unit {
    /// As it stands in the name, folded; a phrase with spaces.
    pub(super) text: String,
    /// What is known about it.
    pub(super) word: Word,
}

impl Unit {
    /// Whether it is a noun, and nothing is known of a verb that it could be.
    pub(super) fn is_only_a_noun(&self) -> bool {
        let gives = self.word.verb.is_none_or(|verb| verb.says == Says::Reads && verb.usage == Usage::Result);
        self.word.glue == Some(Glue::How) || (gives && self.is_noun())
    }

    /// Whether it is known for a noun, also if it is a verb elsewhere.
    pub(super) fn is_noun(&self) -> bool {
        let verb = self.word.verb.map(|verb| verb.usage);
        self.word.thing || matches!(verb, Some(Usage::Noun | Usage::Result))
    }
}

/// The words in order; a phrase of the lists is one.
pub(super) fn units(folded: &[String]) -> Vec<Unit> {
    let mut units = Vec::with_capacity(folded.len());
    let mut rest = folded;
    while let Some((first, tail)) = rest.split_first() {
        if let Some((length, read_as)) = words().phrase(rest) {
            let text = rest.get(..length).unwrap_or_default().join(" ");
            let word = match read_as {
                ReadAs::Word(word) => words().word(word),
                ReadAs::Noun => {
                    let last = rest.get(length - 1).map(|word| known(word)).unwrap_or_default();
                    Word { verb: None, glue: None, thing: true, ..last }
                }
            };
            units.push(Unit { text, word });
            rest = rest.get(length..).unwrap_or_default();
        } else {
            units.push(Unit { text: first.clone(), word: known(first) });
            rest = tail;
        }
    }
    units
}

/// The last word of a noun phrase, before any small word: of `mail_folder_by_id` the folder.
pub(super) fn head(units: &[Unit]) -> Option<&Unit> {
    units
        .iter()
        .take_while(|unit| !matches!(unit.word.glue, Some(Glue::And | Glue::Of)))
        .filter(|unit| unit.word.glue.is_none() && !is_mark(&unit.text))
        .last()
}

/// Whether a version follows, as after the first words of a dotted interface: `mail.v1.folder.list`.
pub(super) fn is_namespace(units: &[Unit], i: usize) -> bool {
    let is_v = units.get(i + 1).is_some_and(|unit| unit.text == "v");
    is_v && units.get(i + 2).is_some_and(|unit| unit.text.chars().all(char::is_numeric))
}

/// Whether the last word is a verb of reading that is nothing else: of `deploy_plan_get` the deploy is a noun.
pub(super) fn ends_in_get(units: &[Unit], i: usize) -> bool {
    let after = units.get(i + 1..).unwrap_or_default();
    head(after).is_some_and(|last| ["get", "describe", "retrieve"].contains(&last.text.as_str()))
}

/// Digits and single letters: `v2`, `s3`.
pub(super) fn is_mark(text: &str) -> bool {
    text.chars().all(char::is_numeric) || (text.chars().count() == 1 && !text.chars().any(unspaced))
}

const NOUN: Word = Word {
    verb: None,
    glue: None,
    thing: true,
    people: false,
    money: false,
    picture: false,
    record: false,
    ledger: false,
};

/// Endings of nouns that no verb has; the few verbs that do are listed.
const NOUN_ENDINGS: [&str; 12] =
    ["tion", "sion", "ment", "ness", "ity", "ance", "ence", "ology", "graphy", "ship", "ware", "ics"];

/// What is known about a word, also where it is a form of a listed one or made of it.
fn known(word: &str) -> Word {
    let listed = words().word(word);
    if listed != Word::default() {
        return listed;
    }
    if is_mark(word) {
        return NOUN;
    }
    if word.chars().any(unspaced) {
        return unspaced_word(word);
    }
    if let Some(verb) = derived(word) {
        return Word { verb: Some(verb), ..Word::default() };
    }
    if let Some(one) = singular(word) {
        let one = words().word(&one);
        // What is only ever a verb is one in the third person too: deletes_user.
        let only_a_verb = |verb: &Verb| {
            matches!(verb.says, Says::Changes(_)) && matches!(verb.usage, Usage::Verb | Usage::Made)
        };
        return Word { verb: one.verb.filter(only_a_verb), glue: None, thing: true, ..one };
    }
    if let Some(stem) = word.strip_suffix("ing") {
        let base =
            [stem.to_owned(), format!("{stem}e")].into_iter().find_map(|base| words().word(&base).verb);
        let changes = |verb: &Verb| matches!(verb.says, Says::Changes(_)) && verb.usage != Usage::Noun;
        let verb = base.filter(changes).map(|verb| Verb { usage: Usage::Both, ..verb });
        return Word { verb, ..NOUN };
    }
    if word.ends_with("ed") || is_noun_by_ending(word) || is_acronym(word) {
        return NOUN;
    }
    if ["ify", "ize", "ise", "yse", "yze", "ate"].iter().any(|end| word.ends_with(end)) {
        let verb = Verb { says: Says::Nothing, usage: Usage::Verb, group: "silent", sentence: "" };
        return Word { verb: Some(verb), ..Word::default() };
    }
    Word::default()
}

/// Whether it ends like a noun and not like a verb.
pub(super) fn is_noun_by_ending(word: &str) -> bool {
    NOUN_ENDINGS.iter().any(|end| word.ends_with(end))
}

/// Whether it is too short of vowels to be a word: `vpc`, `dns`.
fn is_acronym(word: &str) -> bool {
    word.len() <= 4 && word.chars().all(|c| c.is_ascii_lowercase() && !"aeiouy".contains(c))
}

/// A verb with something in front of it: `unmute`, `resend`, `bulkdelete`, `batchget`.
fn derived(word: &str) -> Option<Verb> {
    let base = |prefix: &str| words().word(word.strip_prefix(prefix)?).verb;
    for prefix in ["batch", "bulk", "multi", "mass", "force", "auto"] {
        if let Some(verb) = base(prefix).filter(|verb| verb.usage != Usage::Result) {
            return Some(verb);
        }
    }
    for prefix in ["un", "re", "de", "dis", "mis", "over", "pre", "co"] {
        if let Some(verb) = base(prefix).filter(|verb| matches!(verb.says, Says::Changes(_))) {
            return Some(Verb { usage: verb.usage.min_noun(), ..verb });
        }
    }
    None
}

impl Usage {
    /// A derived word is less of a noun than the word it is made of: `repost`.
    fn min_noun(self) -> Usage {
        if self == Usage::Noun { Usage::Both } else { self }
    }
}

/// The singular of a plural; names seldom hold a verb in the third person.
pub(super) fn singular(word: &str) -> Option<String> {
    if word.len() < 4 || ["ss", "us", "is", "as"].iter().any(|end| word.ends_with(end)) {
        return None;
    }
    if let Some(stem) = word.strip_suffix("ies") {
        return Some(format!("{stem}y"));
    }
    let stem = word.strip_suffix('s')?;
    let bare =
        stem.strip_suffix('e').filter(|bare| ["s", "x", "ch", "sh"].iter().any(|end| bare.ends_with(end)));
    Some(bare.filter(|bare| words().word(bare).thing).unwrap_or(stem).to_owned())
}

/// A run of a script without spaces: a verb of change anywhere in it counts, a verb of reading at either end clears.
fn unspaced_word(run: &str) -> Word {
    let verb = |wanted: &dyn Fn(Says) -> bool, fits: &dyn Fn(&str) -> bool| {
        words().strokes().iter().find(|s| wanted(s.verb.says) && fits(&s.text)).map(|s| s.verb)
    };
    let changes = verb(&|says| matches!(says, Says::Changes(_)), &|text| run.contains(text));
    let reads = || verb(&|says| says == Says::Reads, &|text| run.starts_with(text) || run.ends_with(text));
    Word { verb: changes.or_else(reads), thing: true, ..Word::default() }
}
