//! The words of a name read as a phrase: which of them is the verb of the call.
//!
//! A verb of change counts almost anywhere; a verb of reading clears only where it is the verb of the call. Words that
//! are verbs and nouns are told apart by what stands before them: after `get` a `post` is a noun, after `and` it is a
//! verb, after `by` it is neither. What decides is never how far in front a word stands, so that a prefix changes nothing.

use super::Effect;
use super::name::{Found, Reading};
use super::unit::{Unit, ends_in_get, head, is_mark, is_namespace, singular, units};
use super::words::{Glue, Says, Usage, Verb, words};

/// Reads folded words as a name. `asks_records`: to query is to read.
pub(super) fn of_words(folded: &[String], asks_records: bool) -> Reading {
    let units = units(folded);
    let mut state = State { asks_records, ..State::default() };
    for (i, unit) in units.iter().enumerate() {
        state.take(&units, i, unit);
    }
    state.finish()
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
