//! Layer 4, the description: it may raise, and never clears.
//!
//! Only what stands where a sentence says what the tool does is looked at: the first verb, verbs joined to it, and
//! phrases that warn. A description that mentions other tools must not raise.

use super::name::Found;
use super::tokens::{fold, unspaced};
use super::words::{Says, Usage, Verb, Warning, words};
use super::{Effect, Signal};
use crate::catalog::Definition;
use crate::value::Value;

/// Reads the description, and the title among the annotations. `changes`: the name or the arguments say that something
/// changes, so that what else it does on the way counts too.
pub(super) fn of_definition(definition: &Definition, changes: bool) -> Vec<Signal> {
    let title = definition.annotations.member("title").and_then(Value::text).unwrap_or_default();
    let texts = [("description", definition.description.as_str()), ("title", title)];
    let mut signals = Vec::new();
    for (place, text) in texts {
        let method = method(text);
        let text = fold(text);
        let further = if changes { in_clauses(&text) } else { Vec::new() };
        for found in method.into_iter().chain(verbs(&text)).chain(further) {
            signals.push(Signal::raises(
                format!("{place}-verb-{}", found.verb.group),
                format!("{} ({place} verb {:?})", found.verb.sentence, found.word),
                found.effect(),
            ));
        }
        signals.extend(warnings(place, &text));
    }
    signals
}

/// The verbs of change that the text opens with.
fn verbs(text: &str) -> Vec<Found> {
    let text = text.trim_start();
    let (label, rest) = match text.strip_prefix(['[', '【']).and_then(|t| t.split_once([']', '】'])) {
        Some((label, rest)) if label.chars().count() <= 40 => (Some(label), rest.trim_start()),
        _ => (None, text),
    };
    // A trail of headings: [Product]-Section-Title-Sentence.
    if label.is_some() && rest.starts_with('-') {
        let openings: Vec<Opening> =
            rest.split('-').map(|part| opening(first_sentence(part), true)).collect();
        if openings.iter().any(|o| matches!(o, Opening::Reads)) {
            return Vec::new();
        }
        return openings
            .into_iter()
            .find_map(|o| match o {
                Opening::Changes(found) => Some(found),
                _ => None,
            })
            .unwrap_or_default();
    }
    let first = first_sentence(rest);
    let mut found = match opening(first, false) {
        Opening::Changes(found) => found,
        Opening::Reads | Opening::Unclear => Vec::new(),
    };
    found.extend(later_sentences(rest.get(first.len()..).unwrap_or_default()));
    found
}

/// Verbs in the third person that open a later sentence: "Gets the file. Creates a public link."
fn later_sentences(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let sentences = text.split(['.', '\n', ';', '!']).map(str::trim_start);
    for word in sentences.filter_map(|s| s.split(|c: char| !c.is_alphanumeric()).next()) {
        if let Some(form) = form(word)
            && form.third_person
            && ["create", "delete", "send", "publish", "pay", "overwrite"].contains(&form.verb.group)
            && matches!(form.verb.usage, Usage::Verb | Usage::Made)
        {
            found.push(form.found(word));
        }
    }
    found
}

/// The method of HTTP that the text opens with: "DELETE /users/{id}". A POST may ask.
fn method(text: &str) -> Option<Found> {
    let (method, path) = text.trim_start().split_once(' ')?;
    let word = ["DELETE", "PUT", "PATCH"].contains(&method).then(|| method.to_lowercase())?;
    let verb = words().word(&word).verb.filter(|_| path.starts_with('/'))?;
    Some(Found { verb, word, part: "verb" })
}

/// Verbs of the first sentence that cannot be taken back, wherever they stand in it: "Starts a campaign to send".
fn in_clauses(text: &str) -> Vec<Found> {
    let sentence = first_sentence(text.trim_start());
    let parts: Vec<&str> =
        sentence.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|w| !w.is_empty()).collect();
    let denied = parts.iter().any(|word| is("denial", word));
    let mut found = Vec::new();
    for (before, pair) in parts.iter().enumerate().take(if denied { 0 } else { parts.len() }) {
        let Some((&word, rest)) = parts.get(before + 1..).and_then(<[_]>::split_first) else { break };
        if let Some(form) = form(word)
            && form.verb.says == Says::Changes(Effect::Destructive)
            && is("infinitive", pair)
            && (form.is_only_a_verb() || rest.first().is_some_and(|next| is("article", next)))
            && form.is_verb(rest)
        {
            found.push(form.found(word));
        }
    }
    found
}

/// How a sentence opens.
enum Opening {
    Reads,
    Changes(Vec<Found>),
    Unclear,
}

fn first_sentence(text: &str) -> &str {
    let end = text
        .char_indices()
        .find(|&(i, c)| {
            matches!(c, '\n' | '。' | '!' | '！' | ';' | '；')
                || (c == '.'
                    && text.get(i + 1..).is_none_or(|t| t.is_empty() || t.starts_with(char::is_whitespace)))
        })
        .map_or(text.len(), |(i, _)| i);
    text.get(..end).unwrap_or(text)
}

fn opening(sentence: &str, strict: bool) -> Opening {
    if sentence.chars().any(unspaced) {
        return unspaced_opening(sentence, strict);
    }
    let parts: Vec<&str> =
        sentence.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|w| !w.is_empty()).collect();
    let Some(start) = parts.iter().position(|word| !is("filler", word)) else { return Opening::Unclear };
    let parts = parts.get(start..).unwrap_or_default();
    let Some((&first, rest)) = parts.split_first() else { return Opening::Unclear };
    let Some(lead) = form(first) else { return Opening::Unclear };
    let mut found = Vec::new();
    let reads = match lead.verb.says {
        Says::Changes(_) if lead.is_verb(rest) => {
            found.push(lead.found(first));
            false
        }
        Says::Reads if lead.verb.usage != Usage::Result => true,
        _ => return Opening::Unclear,
    };
    found.extend(joined(rest, &lead));
    if found.is_empty() && reads { Opening::Reads } else { Opening::Changes(found) }
}

/// Verbs of change joined to the first one: "gets the messages and marks them as read".
fn joined(rest: &[&str], lead: &Form) -> Vec<Found> {
    let mut found = Vec::new();
    for (i, word) in rest.iter().enumerate() {
        if is("clause", word) {
            break;
        }
        if !["and", "then", "or"].contains(word) {
            continue;
        }
        let after = rest.get(i + 1..).unwrap_or_default();
        let skip = after.iter().take_while(|w| is("filler", w)).count();
        let Some((&verb, tail)) = after.get(skip..).and_then(<[_]>::split_first) else { break };
        if let Some(form) = form(verb)
            && matches!(form.verb.says, Says::Changes(_))
            && form.third_person == lead.third_person
            && ((form.third_person && !tail.is_empty())
                || tail.first().is_some_and(|next| is("article", next)))
            && form.is_verb(tail)
        {
            found.push(form.found(verb));
        }
    }
    found
}

/// A verb in one of its forms.
struct Form {
    verb: Verb,
    third_person: bool,
}

impl Form {
    /// Whether it is the verb of its sentence rather than a noun, from what follows.
    fn is_verb(&self, rest: &[&str]) -> bool {
        // "Start here" is advice, and to download is to read unless a phrase says where it is written.
        if rest.first() == Some(&"here") || self.verb.group == "file" {
            return false;
        }
        // To run a search is to search; to run a query is to run whatever it is.
        if self.verb.says == Says::Changes(Effect::Unknown) {
            let object = || rest.iter().take(8);
            return object().any(|word| is("run", word)) && !object().any(|word| is("asking", word));
        }
        let article = rest.first().is_some_and(|next| is("article", next));
        match self.verb.usage {
            Usage::Verb | Usage::Made => true,
            // "Moves the page", not "Releases of a project".
            Usage::Both => {
                let noun = rest.first().is_some_and(|next| is("partitive", next));
                article || (self.third_person && !noun)
            }
            Usage::Noun => article,
            Usage::Result => false,
        }
    }

    /// Whether it is no noun in this form: "deletes", not "updates", nor "delete" among nouns.
    fn is_only_a_verb(&self) -> bool {
        self.third_person && matches!(self.verb.usage, Usage::Verb | Usage::Made)
    }

    fn found(&self, word: &str) -> Found {
        Found { verb: self.verb, word: word.to_owned(), part: "verb" }
    }
}

fn form(word: &str) -> Option<Form> {
    let known = |text: &str| words().word(text).verb;
    if let Some(verb) = known(word) {
        return Some(Form { verb, third_person: false });
    }
    let english = word.strip_suffix('s').into_iter().flat_map(|stem| {
        let y = stem.strip_suffix("ie").map(|s| format!("{s}y"));
        [Some(stem.to_owned()), y, stem.strip_suffix('e').map(str::to_owned)]
    });
    // Elimina, supprime; elimina (eliminare); löscht, sendet.
    let others = [Some(format!("{word}r")), Some(format!("{word}re"))];
    let german =
        word.strip_suffix('t').into_iter().flat_map(|s| [Some(format!("{s}en")), Some(format!("{s}n"))]);
    let verb = english.chain(others).chain(german).flatten().find_map(|base| known(&base))?;
    Some(Form { verb, third_person: true })
}

/// The first verb of a sentence in a script without spaces; `strict`: only at its very beginning.
fn unspaced_opening(sentence: &str, strict: bool) -> Opening {
    let mut head: String = sentence.chars().take(if strict { 12 } else { 24 }).collect();
    while let Some(rest) = words()
        .group("opening")
        .find_map(|filler| head.strip_prefix(filler).or_else(|| head.strip_prefix(' ')))
    {
        head = rest.to_owned();
    }
    let first = words()
        .strokes()
        .iter()
        .filter_map(|stroke| Some((head.find(&stroke.text)?, stroke)))
        .filter(|(at, stroke)| (!strict || *at == 0) && is_definite(stroke.verb.says))
        .min_by_key(|(at, stroke)| (*at, std::cmp::Reverse(stroke.text.len())));
    match first {
        Some((_, stroke)) => match stroke.verb.says {
            Says::Reads => Opening::Reads,
            Says::Changes(_) => {
                Opening::Changes(vec![Found { verb: stroke.verb, word: stroke.text.clone(), part: "verb" }])
            }
            Says::Nothing => Opening::Unclear,
        },
        None => Opening::Unclear,
    }
}

/// Whether a verb says for certain what is done; to call, to request and to manage do not.
fn is_definite(says: Says) -> bool {
    !matches!(says, Says::Nothing | Says::Changes(Effect::Unknown))
}

/// Phrases that warn, unless the sentence says that it is not so.
fn warnings(place: &str, text: &str) -> Vec<Signal> {
    let mut signals: Vec<Signal> = Vec::new();
    for Warning { group, sentence, phrase } in words().warnings() {
        let Some(at) = text.find(phrase) else { continue };
        let before = text.get(..at).unwrap_or_default();
        let clause = before.rsplit(['.', '\n', ';', ',', '。', '，']).next().unwrap_or_default();
        let denied = clause.split(|c: char| !c.is_alphanumeric() && c != '\'').any(|w| is("denial", w));
        let effect = match *group {
            "file" => Effect::Write,
            "code" => Effect::Unknown,
            _ => Effect::Destructive,
        };
        let code = format!("{place}-warns-{group}");
        if !denied && !signals.iter().any(|signal| signal.evidence.code == code) {
            signals.push(Signal::raises(code, format!("{sentence} ({place} {phrase:?})"), effect));
        }
    }
    signals
}

/// Whether a word stands in a group of sentences.txt.
fn is(group: &str, word: &str) -> bool {
    words().is_in(group, word)
}
