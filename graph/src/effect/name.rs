//! Layer 3, the name: a small grammar over its words.
//!
//! A verb of change counts almost anywhere; a verb of reading clears only where it is the verb of the call. Words that
//! are verbs and nouns are told apart by what stands before them: after `get` a `post` is a noun, after `and` it is a
//! verb, after `by` it is neither.

use super::tokens::{split, unspaced};
use super::words::{Glue, ReadAs, Says, Usage, Verb, Word, words};
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

/// Reads a tool's name. Words of the server's name in front of it are passed over. `asks_records`: the call's arguments
/// are known, and none of them is a text that is run, so that to query is to read.
pub(super) fn of_tool(server: &str, name: &str, asks_records: bool) -> Reading {
    let all = split(name);
    let mut prefixes = split(server);
    prefixes.push("mcp".to_owned());
    let bare = |keep_verbs: bool| {
        let leading = all
            .iter()
            .take_while(|word| prefixes.contains(word) && !(keep_verbs && words().word(word).verb.is_some()));
        let skipped = leading.count();
        all.get(skipped..).filter(|rest| !rest.is_empty()).unwrap_or(&all)
    };
    let mut reading = of_words(bare(true), asks_records);
    // A server called `fetch` must not make a read of `fetch_post`.
    let without_prefix = of_words(bare(false), asks_records).changes;
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

/// Reads folded words as a name.
pub(super) fn of_words(folded: &[String], asks_records: bool) -> Reading {
    let units = units(folded);
    let mut state = State { asks_records, ..State::default() };
    for (i, unit) in units.iter().enumerate() {
        state.take(&units, i, unit);
    }
    state.finish()
}

/// A word of the name with what is known about it.
struct Unit {
    text: String,
    word: Word,
}

impl Unit {
    /// Whether it is known for a noun, also if it is a verb elsewhere.
    fn is_noun(&self) -> bool {
        let verb = self.word.verb.map(|verb| verb.usage);
        self.word.thing || matches!(verb, Some(Usage::Noun | Usage::Result))
    }
}

/// How much of reading stands before a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Before {
    /// No word of reading.
    #[default]
    Nothing,
    /// One that may be a noun.
    Maybe,
    /// A verb of reading for certain.
    Sure,
}

#[derive(Default)]
struct State {
    asks_records: bool,
    reading: Before,
    /// A verb of change stands before.
    changing: bool,
    /// A verb that says nothing stood where the verb of the call stands.
    silent: bool,
    /// That verb is a noun too.
    silent_noun: bool,
    /// The words since a preposition.
    tail: bool,
    /// A conjunction stands right before.
    and: bool,
    /// Some word before carries meaning.
    begun: bool,
    reads: Option<Found>,
    /// `reads` is the last word that carries meaning.
    closed: bool,
    changes: Vec<Found>,
    /// What a verb that says nothing does it with, where that is money: `make_payment`.
    payment: Option<Found>,
    /// The first noun that would be a verb of change if no word of reading made it a noun.
    pending: Option<Found>,
}

impl State {
    fn take(&mut self, units: &[Unit], i: usize, unit: &Unit) {
        match unit.word.glue {
            Some(Glue::And) => {
                self.and = true;
                self.tail = false;
                return;
            }
            Some(Glue::Of) => {
                self.tail = true;
                return;
            }
            Some(Glue::How) => return,
            None => {}
        }
        match unit.word.verb {
            None => self.third_person(units, i, unit),
            Some(_) if unit.word.thing && is_namespace(units, i) => {}
            Some(verb) => match verb.says {
                Says::Changes(_) => self.change(units, i, unit, verb),
                Says::Reads if verb.group != "queries" || self.asks_records => {
                    self.read(units, i, unit, verb);
                }
                Says::Nothing if self.draws(units, i, unit) => {
                    self.read(
                        units,
                        i,
                        unit,
                        Verb { says: Says::Reads, group: "draws", sentence: "draws", ..verb },
                    );
                }
                Says::Reads | Says::Nothing => {
                    if self.and || (!self.tail && self.reading == Before::Nothing) {
                        if !self.silent && !self.changing {
                            self.payment = object(verb, units, i);
                        }
                        self.silent = true;
                        self.silent_noun = unit.word.thing && !self.and;
                    }
                }
            },
        }
        self.and = false;
        self.begun = true;
    }

    /// Opens a name like a sentence: `gets_files`, `updates_a_page`. Elsewhere such words are plurals.
    fn third_person(&mut self, units: &[Unit], i: usize, unit: &Unit) {
        let Some(verb) = singular(&unit.text).and_then(|base| words().word(&base).verb) else { return };
        let Some(next) = units.get(i + 1).filter(|_| !self.begun) else { return };
        match verb.says {
            Says::Reads if next.word.verb.is_none() => self.read(units, i, unit, verb),
            Says::Changes(_) if ["a", "an", "the"].contains(&next.text.as_str()) => {
                self.change(units, i, unit, Verb { usage: Usage::Verb, ..verb });
            }
            _ => {}
        }
    }

    /// A verb of making whose whole object is a picture of what the arguments hold.
    fn draws(&self, units: &[Unit], i: usize, unit: &Unit) -> bool {
        let after = units.get(i + 1..).unwrap_or_default();
        self.asks_records
            && ["generate", "render", "draw", "visualize"].contains(&unit.text.as_str())
            && after.iter().all(|unit| unit.word.glue.is_none())
            && head(after).is_some_and(|made| made.word.picture)
    }

    fn change(&mut self, units: &[Unit], i: usize, unit: &Unit, verb: Verb) {
        let names_a_record = units.get(i + 1).is_some_and(|next| next.word.record);
        let gerund = unit.text.ends_with("ing") && self.begun;
        let is_noun = match verb.usage {
            _ if gerund && self.reading != Before::Nothing => true,
            Usage::Verb | Usage::Made => {
                let named = head(units.get(i + 1..).unwrap_or_default());
                self.reading == Before::Sure && named.is_some_and(|named| named.word.record)
            }
            Usage::Both => {
                self.tail
                    || ends_in_get(units, i)
                    || self.changing
                    || self.reading == Before::Sure
                    || (self.reading == Before::Maybe && names_a_record)
            }
            Usage::Noun | Usage::Result => {
                let object = self.silent && !self.silent_noun && !unit.word.money;
                self.tail || self.changing || object || self.reading != Before::Nothing
            }
        };
        if is_noun && !self.and {
            return;
        }
        let found = Found { verb, word: unit.text.clone(), part: "verb" };
        if verb.usage == Usage::Noun && !self.and {
            self.pending.get_or_insert(found);
            return;
        }
        self.changing = true;
        self.changes.push(found);
        self.changes.extend(object(verb, units, i));
    }

    fn read(&mut self, units: &[Unit], i: usize, unit: &Unit, verb: Verb) {
        if self.tail || self.changing {
            return;
        }
        let object = head(units.get(i + 1..).unwrap_or_default());
        let last = object.is_none();
        // To analyze a query may be to run it.
        if verb.group == "computes"
            && !self.asks_records
            && object.is_some_and(|o| ["query", "sql"].contains(&o.text.as_str()))
        {
            self.silent = true;
            return;
        }
        // After a noun that could be a verb, a verb of reading shows that it is a noun: plan_get, package_search.
        if self.silent && !(self.silent_noun && (verb.usage == Usage::Verb || last)) {
            return;
        }
        self.silent = false;
        // "flag_read" is to flag as read.
        let marks = |noun: &Found| ["change", "follow"].contains(&noun.verb.group);
        if unit.text == "read" && last && self.pending.as_ref().is_some_and(marks) {
            return;
        }
        let clears = match verb.usage {
            Usage::Verb | Usage::Made => true,
            Usage::Both => !self.begun || self.pending.is_none() || last,
            // Of the words around it alone: what stands further in front may be anybody's prefix.
            Usage::Noun => {
                let known = |unit: Option<&Unit>| unit.is_some_and(Unit::is_noun);
                let noun_before = i.checked_sub(1).is_some_and(|before| known(units.get(before)));
                let noun_after =
                    known(units.get(i + 1)) && !units.get(i + 1).is_some_and(|u| is_mark(&u.text));
                !self.begun
                    || (last && noun_before)
                    || (self.pending.is_none() && (noun_before || noun_after))
            }
            // "post_status" and "email_summary" are orders.
            Usage::Result => {
                last && self
                    .pending
                    .as_ref()
                    .is_none_or(|noun| !["send", "publish"].contains(&noun.verb.group))
            }
        };
        if !clears {
            return;
        }
        let sure = if verb.usage == Usage::Verb { Before::Sure } else { Before::Maybe };
        self.closed |= last;
        if sure > self.reading {
            let part = if verb.usage == Usage::Result { "noun" } else { "verb" };
            self.reading = sure;
            self.reads = Some(Found { verb, word: unit.text.clone(), part });
        }
    }

    fn finish(mut self) -> Reading {
        if let Some(noun) = self.pending.take()
            && self.reading != Before::Sure
            && !self.closed
            && self.changes.is_empty()
        {
            self.changes.push(noun);
        }
        if self.silent && self.changes.is_empty() {
            self.changes.extend(self.payment.take());
        }
        let clears = self.changes.is_empty() && !self.silent;
        Reading { changes: self.changes, reads: self.reads.filter(|_| clears) }
    }
}

/// What is made or changed, where that says more than the verb: a message, an order.
fn object(verb: Verb, units: &[Unit], i: usize) -> Option<Found> {
    let before = || head(units.get(..i).unwrap_or_default());
    let object = head(units.get(i + 1..).unwrap_or_default()).or_else(before)?;
    let (group, sentence) = match verb.usage {
        _ if object.word.money => ("money", "spends or moves money"),
        Usage::Made if object.word.people => ("people", "reaches people"),
        _ => return None,
    };
    let verb = Verb { says: Says::Changes(Effect::Destructive), group, sentence, ..verb };
    Some(Found { verb, word: object.text.clone(), part: "noun" })
}

/// The last word of a noun phrase, before any small word: of `mail_folder_by_id` the folder.
fn head(units: &[Unit]) -> Option<&Unit> {
    units
        .iter()
        .take_while(|unit| !matches!(unit.word.glue, Some(Glue::And | Glue::Of)))
        .filter(|unit| unit.word.glue.is_none() && !is_mark(&unit.text))
        .last()
}

/// Whether a version follows, as after the first words of a dotted interface: `mail.v1.folder.list`.
fn is_namespace(units: &[Unit], i: usize) -> bool {
    let is_v = units.get(i + 1).is_some_and(|unit| unit.text == "v");
    is_v && units.get(i + 2).is_some_and(|unit| unit.text.chars().all(char::is_numeric))
}

/// Whether the last word is a verb of reading that is nothing else: of `deploy_plan_get` the deploy is a noun.
fn ends_in_get(units: &[Unit], i: usize) -> bool {
    let after = units.get(i + 1..).unwrap_or_default();
    head(after).is_some_and(|last| ["get", "describe", "retrieve"].contains(&last.text.as_str()))
}

/// Digits and single letters: `v2`, `s3`.
fn is_mark(text: &str) -> bool {
    text.chars().all(char::is_numeric) || (text.chars().count() == 1 && !text.chars().any(unspaced))
}

fn units(folded: &[String]) -> Vec<Unit> {
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

const NOUN: Word =
    Word { verb: None, glue: None, thing: true, people: false, money: false, picture: false, record: false };

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
    if word.ends_with("ed") {
        return NOUN;
    }
    if ["ify", "ize", "ise", "yse", "yze", "ate"].iter().any(|end| word.ends_with(end)) {
        let verb = Verb { says: Says::Nothing, usage: Usage::Verb, group: "silent", sentence: "" };
        return Word { verb: Some(verb), ..Word::default() };
    }
    Word::default()
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
fn singular(word: &str) -> Option<String> {
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
