//! The life of one row, of its run's lease and of the driver's `wake`, as a page of rules.
//!
//! It shares nothing with the code under test but the names of the states. Times are milliseconds from the start, people
//! and drivers are numbers, bytes are the number of the version, and each verb gives the words of its answer.

use std::collections::BTreeSet;

use plangate_approval::RowState::{self, *};

const HOUR: i64 = 3_600_000;
const LEASE: i64 = 30_000;
const GRACE: i64 = 30_000;
/// How long a call may take.
const CALL: i64 = 60_000;

/// Whoever started the run.
pub const ANN: usize = 0;
/// Whoever may edit.
pub const DAN: usize = 3;

/// What a claimer says, by the number of the word.
pub const UNKNOWN: u8 = 3;
const NOT_SENT: u8 = 2;
/// What the row says when host and claimer contradict each other.
const CONTRADICTED: u8 = 9;

/// The host's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Happened,
    DidNot,
    CannotTell,
}

#[derive(Clone, Copy, Debug)]
struct Claim {
    number: usize,
    driver: usize,
    /// Nobody said what came of it.
    open: bool,
    deadline: i64,
}

pub struct Model {
    pub now: i64,
    pub quorum: usize,
    pub requester_may: bool,

    driver: usize,
    lease_until: Option<i64>,
    dead: BTreeSet<usize>,
    pub cancelled: bool,
    pub ended: bool,
    wake: u32,
    /// `wake` as the driver knows it.
    known: u32,

    written: RowState,
    created: i64,
    decided_at: Option<i64>,
    usable_until: i64,
    bytes: u8,
    /// What was there before each edit, and who made it.
    edits: Vec<(u8, usize)>,
    yes: BTreeSet<usize>,
    claim: Option<Claim>,
    outcome: Option<u8>,
    settled: bool,
    word: Option<(Word, Claim)>,
}

impl Model {
    pub fn new(quorum: usize, requester_may: bool) -> Model {
        Model {
            now: 0,
            quorum,
            requester_may,
            driver: 1,
            lease_until: Some(LEASE),
            dead: BTreeSet::new(),
            cancelled: false,
            ended: false,
            wake: 0,
            known: 0,
            written: Pending,
            created: 0,
            decided_at: None,
            usable_until: 0,
            bytes: 0,
            edits: Vec::new(),
            yes: BTreeSet::new(),
            claim: None,
            outcome: None,
            settled: false,
            word: None,
        }
    }

    /// The number of the claim that stands, and of the one that the host was asked about.
    pub fn claims(&self) -> (Option<usize>, Option<usize>) {
        (self.claim.map(|c| c.number), self.word.map(|(_, c)| c.number))
    }

    pub fn bytes(&self) -> u8 {
        self.bytes
    }

    pub fn driver(&self) -> usize {
        self.driver
    }

    fn held(&self) -> bool {
        self.lease_until.is_some_and(|until| self.now < until)
    }

    fn driver_dead(&self) -> bool {
        self.dead.contains(&self.driver)
    }

    /// Whether this claim's call may no longer be under way, as far as anybody knows.
    fn over(&self, claim: Claim) -> bool {
        !claim.open || self.dead.contains(&claim.driver)
    }

    fn lapsed(&self) -> bool {
        match self.written {
            Pending => self.now >= self.created + HOUR,
            Approved => self.now >= self.usable_until,
            _ => false,
        }
    }

    fn seen(&self) -> RowState {
        let driven = |c: Claim| c.driver == self.driver && self.held() && !self.dead.contains(&c.driver);
        match self.written {
            _ if self.lapsed() => Expired,
            Claimed if !self.claim.is_some_and(driven) => Uncertain,
            state => state,
        }
    }

    fn ok(&self) -> String {
        format!("ok {}", self.seen())
    }

    fn not_now(&self) -> String {
        format!("not now {}", self.written)
    }

    fn expire(&mut self) -> bool {
        let lapsed = self.lapsed();
        if lapsed {
            self.written = Expired;
            self.wake += 1;
        }
        lapsed
    }

    pub fn read(&mut self) -> RowState {
        self.expire();
        self.seen()
    }

    /// What is over, or not yet live, is refused; what is seen expired stays so.
    fn refused(&mut self) -> Option<String> {
        if self.written == Expired {
            return Some("expired".into());
        }
        if self.written == Cancelled || self.cancelled {
            return Some("cancelled".into());
        }
        if self.expire() {
            return Some("expired".into());
        }
        let from = self.decided_at.unwrap_or(self.created).max(self.created);
        (self.now < from - 5_000).then(|| "from the future".into())
    }

    fn decided(&self) -> Option<String> {
        let open = matches!(self.seen(), Pending | Cancelled | Expired);
        (!open).then(|| format!("decided {}", self.seen()))
    }

    pub fn vote(&mut self, who: usize, yes: bool, stale: bool) -> String {
        if let Some(refusal) = self.decided().or_else(|| self.refused()) {
            return refusal;
        }
        if stale {
            return "changed".into();
        }
        let asked_for_it = who == ANN || self.edits.iter().any(|(_, by)| *by == who);
        if asked_for_it && !self.requester_may {
            return "not allowed".into();
        }
        if yes && !self.yes.insert(who) {
            return self.ok();
        }
        self.wake += 1;
        if !yes || self.yes.len() >= self.quorum {
            self.written = if yes { Approved } else { Rejected };
            self.decided_at = Some(self.now);
            self.usable_until = self.now + HOUR;
        }
        self.ok()
    }

    pub fn edit(&mut self, who: usize, seen: u8, to: u8) -> String {
        if let Some(refusal) = self.decided().or_else(|| self.refused()) {
            return refusal;
        }
        if self.edits.last() == Some(&(seen, who)) && self.bytes == to {
            return self.ok();
        }
        if seen != self.bytes {
            return "changed".into();
        }
        if who != DAN {
            return "not allowed".into();
        }
        if to != self.bytes {
            self.edits.push((self.bytes, who));
            self.bytes = to;
            self.yes.clear();
            self.wake += 1;
        }
        self.ok()
    }

    pub fn claim(&mut self, number: usize) -> String {
        if self.claim.is_some_and(|c| c.number == number) {
            return self.ok();
        }
        if !self.held() {
            return "lease lost".into();
        }
        if self.word.is_some_and(|(_, c)| c.number == number) {
            return self.not_now();
        }
        if !matches!(self.seen(), Approved | Cancelled | Expired) {
            return format!("not now {}", self.seen());
        }
        if let Some(refusal) = self.refused() {
            return refusal;
        }
        self.written = Claimed;
        self.claim = Some(Claim { number, driver: self.driver, open: true, deadline: self.now + CALL });
        self.ok()
    }

    pub fn outcome(&mut self, number: usize, kind: u8) -> String {
        if let Some((Word::DidNot, first)) = self.word
            && first.number == number
            && !self.settled
        {
            return self.contradict(first, kind);
        }
        if self.claim.is_none_or(|c| c.number != number) {
            return match self.word {
                // Of a claim that the host has spoken about it is kept, and changes nothing.
                Some((_, first)) if first.number == number => self.ok(),
                _ => "not found".into(),
            };
        }
        if self.settled || self.outcome == Some(kind) {
            return self.ok();
        }
        if !matches!(self.written, Claimed | Uncertain) {
            return self.not_now();
        }
        self.written = [Succeeded, Failed, Failed, Uncertain][usize::from(kind)];
        self.outcome = Some(kind);
        let driver = self.lease_until.is_some().then_some(self.driver);
        if let Some(claim) = &mut self.claim {
            claim.open = false;
            self.wake += u32::from(driver != Some(claim.driver));
        }
        self.ok()
    }

    /// The host said that it did not happen, and the first claimer speaks.
    fn contradict(&mut self, first: Claim, kind: u8) -> String {
        if self.written == Approved && kind != NOT_SENT && kind != UNKNOWN {
            self.written = Uncertain;
            self.claim = Some(Claim { open: false, ..first });
            self.outcome = Some(CONTRADICTED);
            self.wake += 1;
        }
        self.ok()
    }

    pub fn settle(&mut self, number: usize, happened: bool) -> String {
        if self.settled {
            return format!("decided {}", self.written);
        }
        let Some(claim) = self.claim else { return format!("not now {}", self.seen()) };
        if !matches!(self.written, Claimed | Uncertain) {
            return self.not_now();
        }
        if claim.number != number {
            return "not found".into();
        }
        if !self.over(claim) && self.now < claim.deadline + GRACE {
            return "in flight".into();
        }
        self.settled = true;
        self.written = if happened { Happened } else { DidNot };
        self.wake += 1;
        self.ok()
    }

    pub fn reconcile(&mut self, number: usize, word: Word) -> String {
        if let Some((said, claim)) = self.word {
            return if said == word && claim.number == number { self.ok() } else { self.not_now() };
        }
        if !self.held() {
            return "lease lost".into();
        }
        let Some(claim) = self.claim else { return format!("not now {}", self.seen()) };
        if !matches!(self.written, Claimed | Uncertain) {
            return self.not_now();
        }
        if claim.number != number {
            return "not found".into();
        }
        let grace = if self.over(claim) { 0 } else { GRACE };
        if self.now < claim.deadline + grace {
            return "in flight".into();
        }
        self.word = Some((word, claim));
        match word {
            Word::CannotTell => return self.ok(),
            Word::DidNot if !self.cancelled && self.now < self.usable_until => {
                self.written = Approved;
                (self.claim, self.outcome) = (None, None);
            }
            Word::Happened => (self.written, self.settled) = (Happened, true),
            Word::DidNot => (self.written, self.settled) = (DidNot, true),
        }
        self.wake += 1;
        self.ok()
    }

    pub fn kill(&mut self) {
        self.dead.insert(self.driver);
    }

    /// Nobody has the run any more: what was under way is uncertain.
    fn lose(&mut self) {
        if self.written == Claimed {
            self.written = Uncertain;
        }
    }

    pub fn renew(&mut self) -> &'static str {
        if !self.held() {
            return "lease lost";
        }
        self.lease_until = Some(self.now + LEASE);
        self.known = self.wake;
        "renewed"
    }

    pub fn take(&mut self) -> &'static str {
        if self.ended {
            return "ended";
        }
        if self.held() && !self.driver_dead() {
            return "busy";
        }
        self.lose();
        self.driver += 1;
        self.lease_until = Some(self.now + LEASE);
        self.known = self.wake;
        "taken"
    }

    /// Parks, or ends.
    pub fn lay_down(&mut self, end: bool) -> &'static str {
        if !self.held() {
            return "lease lost";
        }
        if self.known != self.wake {
            self.renew();
            return "look again";
        }
        if self.cancelled && !end {
            return "cancelled";
        }
        self.lease_until = None;
        if end {
            self.ended = true;
            self.cancel_row();
        }
        "released"
    }

    fn cancel_row(&mut self) {
        if matches!(self.written, Pending | Approved) && !self.expire() {
            self.written = Cancelled;
        }
    }

    pub fn cancel(&mut self) {
        if self.ended {
            return;
        }
        if !self.cancelled {
            self.cancelled = true;
            self.wake += 1;
            self.cancel_row();
        }
        if !self.held() || self.driver_dead() {
            self.ended = true;
            self.lose();
            self.lease_until = None;
        }
    }

    pub fn accept(&mut self) -> &'static str {
        if !self.held() {
            return "lease lost";
        }
        if self.cancelled {
            return "cancelled";
        }
        self.cancel_row();
        self.renew();
        "accepted"
    }

    pub fn ask(&mut self, next: bool) -> String {
        if !self.held() {
            return "lease lost".into();
        }
        if self.cancelled {
            return "cancelled".into();
        }
        if !next {
            return self.ok();
        }
        if !matches!(self.seen(), DidNot | Expired | Cancelled) {
            return format!("not now {}", self.seen());
        }
        self.expire();
        let fresh = Model::new(self.quorum, self.requester_may);
        *self = Model {
            now: self.now,
            driver: self.driver,
            lease_until: self.lease_until,
            dead: std::mem::take(&mut self.dead),
            wake: self.wake,
            known: self.known,
            created: self.now,
            ..fresh
        };
        self.ok()
    }
}
