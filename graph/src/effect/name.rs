//! Layer 3, the name.

use super::grammar::{Takes, of_words};
use super::tokens::split;
use super::words::{Says, Usage, Verb, words};
use super::{Effect, Signal};

/// A word that says something about the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The verb that it is.
    pub(super) verb: Verb,
    /// The word as it stands in the text, folded.
    pub(super) word: String,
    /// `verb` or `noun`: what it is in the text.
    pub(super) part: &'static str,
}

impl Found {
    /// How strongly it changes something; a word of reading does not.
    pub(super) fn effect(&self) -> Effect {
        match self.verb.says {
            Says::Changes(effect) => effect,
            Says::Reads | Says::Nothing => Effect::Read,
        }
    }

    /// Whether it says what is done, rather than that anything can be done, or a thing that it is done with.
    pub(super) fn is_certain(&self) -> bool {
        self.effect() != Effect::Unknown && self.verb.usage != Usage::Noun
    }
}

/// What a name, read as a phrase, says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// The words that say it changes something.
    pub(super) changes: Vec<Found>,
    /// The word that says it only reads; never beside words of change.
    pub(super) reads: Option<Found>,
}

/// Reads a tool's name. Words of the server's name in front of it are passed over.
pub(super) fn of_tool(server: &str, name: &str, takes: Takes) -> Reading {
    let all = split(name);
    let mut prefixes = split(server);
    prefixes.push("mcp".to_owned());
    // "woo" for woocommerce; a verb only where it is the whole word.
    let is_verb = |word: &String| words().word(word).verb.is_some();
    let short_for = |word: &String| {
        word.len() >= 3 && !is_verb(word) && prefixes.iter().any(|prefix| prefix.starts_with(word.as_str()))
    };
    let is_prefix = |word: &String| prefixes.contains(word) || short_for(word);
    let bare = |keep_verbs: bool| {
        // A verb that stands there twice is the server's name once, and what the tool does.
        let repeated = |at: usize, word: &String| all.iter().take(at).any(|before| before == word);
        let leading = all.iter().enumerate().take_while(|(at, word)| {
            is_prefix(word) && !(is_verb(word) && (keep_verbs || repeated(*at, word)))
        });
        let skipped = leading.count();
        all.get(skipped..).filter(|rest| !rest.is_empty()).unwrap_or(&all)
    };
    // A verb of the server's own name, right in front of a verb of reading, is its name: protect_get_camera. `update_list` is none.
    let begins_to_read = bare(false).first().is_some_and(|word| {
        let verb = words().word(word).verb;
        verb.is_some_and(|verb| verb.says == Says::Reads && verb.usage == Usage::Verb)
    });
    let mut reading = of_words(bare(!begins_to_read), takes);
    // A server called `fetch` must not make a read of `fetch_post`.
    let without_prefix = of_words(bare(false), takes).changes;
    if reading.changes.is_empty() && !without_prefix.is_empty() {
        reading = Reading { changes: without_prefix, reads: None };
    }
    reading
}

/// The signals of a reading.
pub(super) fn signals(reading: Reading) -> Vec<Signal> {
    let changes = reading.changes.into_iter().map(|found| {
        Signal::raises(
            format!("name-{}-{}", found.part, found.verb.group),
            format!("{} (name {} {:?})", found.verb.sentence, found.part, found.word),
            found.effect(),
        )
    });
    let reads = reading.reads.map(|found| {
        let says = format!("{} (name {} {:?})", found.verb.sentence, found.part, found.word);
        Signal::clears(format!("name-{}-{}", found.part, found.verb.group), says)
    });
    changes.chain(reads).collect()
}
