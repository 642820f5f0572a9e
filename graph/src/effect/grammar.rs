//! The words of a name read as a phrase: which of them is the verb of the call.
//!
//! A verb of change counts almost anywhere; a verb of reading clears only where it is the verb of the call. Words that
//! are verbs and nouns are told apart by what stands before them: after `get` a `post` is a noun, after `and` it is a
//! verb, after `by` it is neither. What decides is never how far in front a word stands, so that a prefix changes nothing.

use super::Effect;
use super::name::{Found, Reading};
use super::unit::{Unit, ends_in_get, head, is_mark, is_namespace, is_noun_by_ending, singular, units};
use super::words::{Glue, Says, Usage, Verb, Word, words};

/// Reads folded words as a name of something that takes such arguments.
pub(super) fn of_words(folded: &[String], takes: Takes) -> Reading {
    let units = units(folded);
    let mut state = State { takes, ..State::default() };
    for (i, unit) in units.iter().enumerate() {
        state.take(&units, i, unit);
    }
    state.finish(&units)
}

/// What is known of the arguments that a call takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Takes {
    /// They are known, and none of them is a text that may be run: to query is to read.
    pub(super) records: bool,
    /// They are known, and all of them only pick what is looked at.
    pub(super) picks: bool,
    /// They are known, and none of them holds or names something kept elsewhere.
    pub(super) content: bool,
}

impl Takes {
    /// As of a value in a closed list.
    pub(super) const VALUE: Takes = Takes { records: true, picks: false, content: false };
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
    takes: Takes,
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
    /// What it would start, where that reaches people or moves money.
    started: Option<Found>,
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
                if unit.text == "by" {
                    self.looked_up(units, i, unit);
                }
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
                Says::Reads if verb.group != "queries" || self.takes.records => {
                    self.read(units, i, unit, verb);
                }
                Says::Nothing if self.draws(units, i, unit) => {
                    let draws = Verb { says: Says::Reads, group: "draws", sentence: "draws", ..verb };
                    self.read(units, i, unit, draws);
                }
                Says::Nothing if self.converts(units, i, unit) => {
                    let sentence = "works something out and changes nothing";
                    self.read(
                        units,
                        i,
                        unit,
                        Verb { says: Says::Reads, group: "computes", sentence, ..verb },
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
        self.takes.records
            && ["generate", "render", "draw", "visualize"].contains(&unit.text.as_str())
            && after.iter().all(|unit| unit.word.glue.is_none())
            && head(after).is_some_and(|made| made.word.picture)
    }

    /// To convert what the arguments hold, and to answer with it; a recording or a printed page is kept somewhere.
    fn converts(&self, units: &[Unit], i: usize, unit: &Unit) -> bool {
        let kept = |unit: &Unit| {
            ["audio", "speech", "sound", "voice", "video", "image", "pdf", "docx", "file"]
                .contains(&unit.text.as_str())
        };
        let changes = |unit: &Unit| unit.word.verb.is_some_and(|verb| matches!(verb.says, Says::Changes(_)));
        self.takes.content
            && unit.text == "convert"
            && !units.get(i + 1..).unwrap_or_default().iter().any(|unit| kept(unit) || changes(unit))
    }

    /// Behind nouns, and nothing else, `by` says how they are looked up: `issue_by_id`.
    fn looked_up(&mut self, units: &[Unit], i: usize, by: &Unit) {
        let (before, after) = (units.get(..i).unwrap_or_default(), units.get(i + 1..).unwrap_or_default());
        let only_nouns = before.iter().all(Unit::is_only_a_noun);
        if only_nouns && !after.is_empty() && self.reads.is_none() {
            self.reads = Some(picked(before.last().unwrap_or(by)));
            self.reading = self.reading.max(Before::Maybe);
        }
    }

    fn change(&mut self, units: &[Unit], i: usize, unit: &Unit, verb: Verb) {
        let names_a_record = units.get(i + 1).is_some_and(|next| next.word.record);
        let gerund = unit.text.ends_with("ing") && self.begun;
        let is_noun = match verb.usage {
            _ if (gerund || is_plural(unit)) && self.reading != Before::Nothing => true,
            Usage::Verb | Usage::Made => {
                let named = head(units.get(i + 1..).unwrap_or_default());
                self.reading == Before::Sure && named.is_some_and(|named| named.word.record)
            }
            Usage::Both => {
                self.tail
                    || is_progress(units, i)
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
            if self.pending.is_none() {
                self.started = object(verb, units, i).filter(|_| verb.group == "start");
                self.pending = Some(found);
            }
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
            && !self.takes.records
            && object.is_some_and(|o| ["query", "sql"].contains(&o.text.as_str()))
        {
            self.silent = true;
            return;
        }
        // After a noun that could be a verb, a verb of reading shows that it is a noun: plan_get, package_search.
        if self.silent && !(self.silent_noun && !self.and && (verb.usage == Usage::Verb || last)) {
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
            Usage::Noun if verb.group == "picks" => {
                let before = i.checked_sub(1).and_then(|before| units.get(before));
                !self.begun || (self.pending.is_none() && before.is_some_and(Unit::is_only_a_noun))
            }
            // Of the words around it alone: what stands further in front may be anybody's prefix.
            Usage::Noun => {
                let known = |unit: Option<&Unit>| unit.is_some_and(Unit::is_noun);
                let before = i.checked_sub(1).and_then(|before| units.get(before));
                // A word that no list knows for a verb, in front of "list", is what is listed.
                let listed = words().is_in("listing", &unit.text)
                    && before.is_some_and(|unit| unit.word == Word::default());
                let noun_before = known(before) || listed;
                let noun_after =
                    known(units.get(i + 1)) && !units.get(i + 1).is_some_and(|u| is_mark(&u.text));
                // "schedule_port_scan" is an order; of "order_list" the order is a noun.
                let names_a_list = verb.group == "reads" && known(before);
                !self.begun
                    || (last && names_a_list)
                    || (self.pending.is_none() && (noun_before || noun_after))
            }
            // "reports_sales": a collection, and which part of it.
            Usage::Result if !last => {
                let all = units.iter().take_while(|unit| unit.word.glue != Some(Glue::Of));
                unit.text.ends_with('s')
                    && self.pending.is_none()
                    && all.enumerate().all(|(at, unit)| at == i || unit.is_only_a_noun())
            }
            // "post_status", "email_summary" and "log_results" are orders.
            Usage::Result => {
                let sends = |noun: &Found| ["send", "publish"].contains(&noun.verb.group);
                let told = words().is_in("told", &unit.text);
                self.pending.as_ref().is_none_or(|noun| told && !sends(noun))
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

    fn finish(mut self, units: &[Unit]) -> Reading {
        if let Some(noun) = self.pending.take()
            && self.reading != Before::Sure
            && !self.closed
            && self.changes.is_empty()
        {
            self.changes.push(noun);
            self.changes.extend(self.started.take());
        }
        if self.silent && self.changes.is_empty() {
            self.changes.extend(self.payment.take());
        }
        let clears = self.changes.is_empty() && !self.silent;
        if clears && self.reads.is_none() && self.takes.picks {
            self.reads = collection(units);
        }
        Reading { changes: self.changes, reads: self.reads.filter(|_| clears) }
    }
}

/// What is made or changed, where that says more than the verb: a message, an order.
fn object(verb: Verb, units: &[Unit], i: usize) -> Option<Found> {
    let before = || head(units.get(..i).unwrap_or_default());
    let object = head(units.get(i + 1..).unwrap_or_default()).or_else(before)?;
    let made = verb.usage == Usage::Made;
    let (group, sentence) = match verb.group {
        _ if object.word.money => ("money", "spends or moves money"),
        _ if object.word.people && (made || verb.group == "start") => ("people", "reaches people"),
        _ if made && units.iter().any(|unit| unit.word.ledger) => ("ledger", "cannot be taken back"),
        _ => return None,
    };
    let verb = Verb { says: Says::Changes(Effect::Destructive), group, sentence, ..verb };
    Some(Found { verb, word: object.text.clone(), part: "noun" })
}

/// Nouns and nothing else, of which the last is a plural: `conversation_members`. It names what is given back, where all
/// that is asked for besides is which of it.
fn collection(units: &[Unit]) -> Option<Found> {
    let phrase: Vec<&Unit> = units
        .iter()
        .take_while(|unit| unit.word.glue != Some(Glue::Of))
        .filter(|unit| unit.word.glue.is_none() && !is_mark(&unit.text))
        .collect();
    let last = phrase.last()?;
    let plural = singular(&last.text).is_some_and(|one| {
        let word = words().word(&one);
        let acts = word.verb.is_some_and(|verb| matches!(verb.says, Says::Changes(_)));
        (word.thing || is_noun_by_ending(&one)) && !acts
    });
    let only_nouns = phrase.iter().all(|unit| unit.is_only_a_noun());
    (only_nouns && plural && !last.word.people && !last.word.money).then(|| picked(last))
}

/// What is found where a name only says what is given back.
fn picked(noun: &Unit) -> Found {
    let verb = Verb { says: Says::Reads, usage: Usage::Noun, group: "picks", sentence: "reads" };
    Found { verb, word: noun.text.clone(), part: "noun" }
}

/// Whether the word is something that takes time, and the name asks how far it is: `sync_status`.
fn is_progress(units: &[Unit], i: usize) -> bool {
    let takes_time = |text: &str| words().is_in("progress", text);
    let after = units.get(i + 1..).unwrap_or_default();
    after.len() == 1
        && after.iter().all(|unit| ["status", "progress"].contains(&unit.text.as_str()))
        && units.get(i).is_some_and(|unit| takes_time(&unit.text))
}

/// Whether it is a verb only as the third person, which is a plural too: `list_rewrites`.
fn is_plural(unit: &Unit) -> bool {
    words().word(&unit.text).verb.is_none() && singular(&unit.text).is_some()
}
