//! The life of a row against a model that fits on a page.
//!
//! The model knows nothing of the store: it is one row, one lease and one clock, and says what each verb must answer.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use super::*;

const HOUR: i64 = 3_600_000;

#[derive(Clone, Debug)]
enum Op {
    Pass(i64),
    Back(i64),
    Read,
    Vote { who: usize, yes: bool, stale: bool },
    Claim { again: bool },
    Outcome(u8),
    Settle(bool),
    Renew,
    Take,
    Park,
    Cancel,
    AskSame,
    AskNext,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    // Weighted so that lives get far: most votes are a yes, and most outcomes unknown.
    let step = prop_oneof![
        6 => prop::sample::select(vec![1, 1_000, 1_000, 1_000, 29_999, 30_000, 60_000, HOUR - 1, HOUR])
            .prop_map(Op::Pass),
        2 => prop::sample::select(vec![1_000, 5_001, 2 * HOUR]).prop_map(Op::Back),
        4 => Just(Op::Read),
        14 => (0..4_usize, prop::bool::weighted(0.9), prop::bool::weighted(0.1))
            .prop_map(|(who, yes, stale)| Op::Vote { who, yes, stale }),
        14 => prop::bool::weighted(0.3).prop_map(|again| Op::Claim { again }),
        10 => prop::sample::select(vec![0, 1, 2, 3, 3, 3, 3]).prop_map(Op::Outcome),
        8 => any::<bool>().prop_map(Op::Settle),
        4 => Just(Op::Renew),
        10 => Just(Op::Take),
        2 => Just(Op::Park),
        1 => Just(Op::Cancel),
        4 => Just(Op::AskSame),
        6 => Just(Op::AskNext),
    ];
    prop::collection::vec(step, 1..40)
}

/// One row, its run's lease, and the time.
struct Model {
    now: i64,
    quorum: usize,
    requester_may: bool,
    lease_until: Option<i64>,
    cancelled: bool,
    ended: bool,
    state: RowState,
    created: i64,
    decided_at: Option<i64>,
    usable_until: i64,
    yes: BTreeSet<usize>,
    claimed: bool,
    claimed_now: bool, // under the lease that is held now
    open: bool,
    deadline: i64,
    outcome: Option<u8>,
    settled: bool,
}

impl Model {
    fn new(quorum: usize, requester_may: bool) -> Model {
        Model {
            now: 0,
            quorum,
            requester_may,
            lease_until: Some(30_000),
            cancelled: false,
            ended: false,
            state: RowState::Pending,
            created: 0,
            decided_at: None,
            usable_until: 0,
            yes: BTreeSet::new(),
            claimed: false,
            claimed_now: false,
            open: false,
            deadline: 0,
            outcome: None,
            settled: false,
        }
    }

    fn live(&self) -> bool {
        self.lease_until.is_some_and(|until| self.now < until)
    }

    fn lapsed(&self) -> bool {
        match self.state {
            RowState::Pending => self.now >= self.created + HOUR,
            RowState::Approved => self.now >= self.usable_until,
            _ => false,
        }
    }

    fn seen(&self) -> RowState {
        match self.state {
            _ if self.lapsed() => RowState::Expired,
            RowState::Claimed if !(self.claimed_now && self.live()) => RowState::Uncertain,
            state => state,
        }
    }

    /// Refusals of a row that is over, or not yet live; what is seen expired stays so.
    fn over(&mut self) -> Option<&'static str> {
        match self.state {
            RowState::Cancelled => return Some("cancelled"),
            RowState::Expired => return Some("expired"),
            _ if self.cancelled => return Some("cancelled"),
            _ if self.lapsed() => {
                self.state = RowState::Expired;
                return Some("expired");
            }
            _ => {}
        }
        let from = self.decided_at.unwrap_or(self.created).max(self.created);
        (self.now < from - 5_000).then_some("from the future")
    }

    fn read(&mut self) -> RowState {
        if self.lapsed() {
            self.state = RowState::Expired;
        }
        self.seen()
    }

    fn vote(&mut self, who: usize, yes: bool, stale: bool) -> String {
        if !matches!(self.seen(), RowState::Pending | RowState::Cancelled | RowState::Expired) {
            return format!("decided {}", self.seen());
        }
        if let Some(refusal) = self.over() {
            return refusal.into();
        }
        if stale {
            return "changed".into();
        }
        if who == 0 && !self.requester_may {
            return "not allowed".into();
        }
        if yes {
            self.yes.insert(who);
        }
        if !yes || self.yes.len() >= self.quorum {
            self.state = if yes { RowState::Approved } else { RowState::Rejected };
            self.decided_at = Some(self.now);
            self.usable_until = self.now + HOUR;
        }
        format!("ok {}", self.seen())
    }

    fn claim(&mut self, again: bool) -> String {
        if again && self.claimed {
            return format!("ok {}", self.seen());
        }
        if !self.live() {
            return "lease lost".into();
        }
        if !matches!(self.seen(), RowState::Approved | RowState::Cancelled | RowState::Expired) {
            return format!("not now {}", self.seen());
        }
        if let Some(refusal) = self.over() {
            return refusal.into();
        }
        self.state = RowState::Claimed;
        (self.claimed, self.claimed_now, self.open) = (true, true, true);
        self.deadline = self.now + 60_000;
        "ok claimed".into()
    }

    fn outcome(&mut self, kind: u8) -> String {
        if !self.claimed {
            return "not found".into();
        }
        if !self.settled && self.outcome != Some(kind) {
            if !matches!(self.state, RowState::Claimed | RowState::Uncertain) {
                return format!("not now {}", self.state);
            }
            self.state = [RowState::Succeeded, RowState::Failed, RowState::Failed, RowState::Uncertain]
                [usize::from(kind)];
            self.outcome = Some(kind);
            self.open = false;
        }
        format!("ok {}", self.seen())
    }

    fn settle(&mut self, happened: bool) -> String {
        if self.settled {
            return format!("decided {}", self.state);
        }
        if !self.claimed || !matches!(self.state, RowState::Claimed | RowState::Uncertain) {
            return format!("not now {}", self.seen());
        }
        if self.open && self.now < self.deadline + 30_000 {
            return "in flight".into();
        }
        self.settled = true;
        self.state = if happened { RowState::Happened } else { RowState::DidNot };
        format!("ok {}", self.state)
    }

    fn lose(&mut self) {
        if self.state == RowState::Claimed {
            self.state = RowState::Uncertain;
        }
        self.claimed_now = false;
    }

    fn take(&mut self) -> &'static str {
        if self.ended {
            return "ended";
        }
        if self.live() {
            return "busy";
        }
        self.lose();
        self.lease_until = Some(self.now + 30_000);
        "taken"
    }

    fn park(&mut self) -> &'static str {
        if !self.live() {
            return "lease lost";
        }
        self.lease_until = Some(self.now + 30_000);
        if self.cancelled {
            return "cancelled";
        }
        self.lease_until = None;
        self.claimed_now = false;
        "released"
    }

    fn cancel(&mut self) {
        if self.ended {
            return;
        }
        if !self.cancelled {
            self.cancelled = true;
            if matches!(self.state, RowState::Pending | RowState::Approved) {
                self.state = if self.lapsed() { RowState::Expired } else { RowState::Cancelled };
            }
        }
        if !self.live() {
            self.ended = true;
            self.lose();
            self.lease_until = None;
        }
    }

    fn ask(&mut self, next: bool) -> String {
        if !self.live() {
            return "lease lost".into();
        }
        if self.cancelled {
            return "cancelled".into();
        }
        if !next {
            return format!("ok {}", self.seen());
        }
        if !matches!(self.seen(), RowState::DidNot | RowState::Expired) {
            return format!("not now {}", self.seen());
        }
        let (now, lease_until) = (self.now, self.lease_until);
        *self = Model { now, lease_until, created: now, ..Model::new(self.quorum, self.requester_may) };
        "ok pending".into()
    }
}

fn told(answer: Result<Row, StoreError>) -> String {
    match answer {
        Ok(row) => format!("ok {}", row.state),
        Err(refusal) => refused(&refusal),
    }
}

fn refused(refusal: &StoreError) -> String {
    match refusal {
        StoreError::NotFound { .. } => "not found".into(),
        StoreError::Decided { state, .. } => format!("decided {state}"),
        StoreError::Cancelled => "cancelled".into(),
        StoreError::Expired { .. } => "expired".into(),
        StoreError::Changed { .. } => "changed".into(),
        StoreError::NotAllowed(_) => "not allowed".into(),
        StoreError::InFlight { .. } => "in flight".into(),
        StoreError::NotNow(state) => format!("not now {state}"),
        StoreError::LeaseLost(_) => "lease lost".into(),
        StoreError::FromFuture { .. } => "from the future".into(),
        other => format!("{other:?}"),
    }
}

fn one_life(bench: &dyn Bench, quorum: usize, requester_may: bool, ops: &[Op]) -> Result<(), TestCaseError> {
    bench.clock().set(0);
    let mut w = World::new(bench);
    let terms = Terms {
        quorum: u32::try_from(quorum).unwrap(),
        requester_may_decide: requester_may,
        ..Terms::default()
    };
    let mut ask = under(terms);
    let mut row = w.ask(&ask);
    let mut model = Model::new(quorum, requester_may);
    let (mut claims, mut nonce) = (0, String::new());
    let outcomes =
        [ok(), Outcome::Failed("f".into()), Outcome::NotSent("n".into()), Outcome::Unknown("u".into())];

    for (i, op) in ops.iter().enumerate() {
        let (said, expected) = match *op {
            Op::Pass(ms) => {
                w.clock.pass(ms);
                model.now += ms;
                continue;
            }
            Op::Back(ms) => {
                model.now -= ms;
                w.clock.set(model.now);
                continue;
            }
            Op::Read => (w.state(&row).to_string(), model.read().to_string()),
            Op::Vote { who, yes, stale } => {
                let by = person(["ann", "bob", "carol", "dan"][who]);
                let seen = if stale { Digest::of(b"stale") } else { row.digest };
                let vote = Decision { seen, ..decision(&row, &by, yes) };
                (told(w.approvals.decide(&vote)), model.vote(who, yes, stale))
            }
            Op::Claim { again } => {
                let again = again && model.claimed;
                if !again {
                    claims += 1;
                }
                let mine = if again { nonce.clone() } else { format!("{}-{claims}", row.id) };
                let running = step("post", StepState::Running);
                let said = w.store.claim(&w.lease, &row.id, &mine, row.digest, definition(), &running);
                if said.is_ok() {
                    nonce = mine;
                }
                (told(said), model.claim(again))
            }
            Op::Outcome(kind) => {
                let claim = plangate_approval::Claim { row: row.id.clone(), nonce: nonce.clone() };
                (told(w.outcome(&claim, &outcomes[usize::from(kind)])), model.outcome(kind))
            }
            Op::Settle(happened) => {
                let seen = Row { claim: model.claimed.then(|| nonce.clone()), ..row.clone() };
                (told(w.settle(&seen, happened)), model.settle(happened))
            }
            Op::Renew => {
                let said = w.store.renew(&w.lease);
                let expected = if model.live() { "renewed" } else { "lease lost" };
                if model.live() {
                    model.lease_until = Some(model.now + 30_000);
                }
                let said = match said {
                    Ok(lease) => {
                        w.lease = lease;
                        "renewed".into()
                    }
                    Err(refusal) => refused(&refusal),
                };
                (said, expected.into())
            }
            Op::Take => {
                let holder = w.store.holder().unwrap();
                let said = match w.store.lease(w.run(), &holder).unwrap() {
                    LeaseAnswer::Taken(lease) => {
                        w.lease = lease;
                        "taken"
                    }
                    LeaseAnswer::Busy { .. } => "busy",
                    LeaseAnswer::Ended(_) => "ended",
                };
                (said.into(), model.take().into())
            }
            Op::Park => {
                let said = match w.store.renew(&w.lease).and_then(|lease| w.store.park(&lease)) {
                    Ok(ParkAnswer::Released) => "released".into(),
                    Ok(ParkAnswer::LookAgain(_)) => "look again".into(),
                    Err(refusal) => refused(&refusal),
                };
                (said, model.park().into())
            }
            Op::Cancel => {
                let run = w.store.cancel(w.run(), &person("carol"), None).unwrap();
                model.cancel();
                (format!("{}", run.state.ended()), format!("{}", model.ended))
            }
            Op::AskSame => (told(w.try_ask(&ask)), model.ask(false)),
            Op::AskNext => {
                let next = Ask { ask: ask.ask + 1, ..ask.clone() };
                let said = w.try_ask(&next);
                if let Ok(new) = &said {
                    (row, ask, nonce) = (new.clone(), next, String::new());
                }
                (told(said), model.ask(true))
            }
        };
        prop_assert_eq!(said, expected, "op {} of {:?}", i, ops);
    }
    prop_assert_eq!(w.state(&row), model.read());
    Ok(())
}

pub fn a_row_lives_as_the_model_says(bench: &dyn Bench) {
    let cases = Config::default().cases / 2; // half of what PROPTEST_CASES says: a life has many steps
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let lives = (1..=2_usize, any::<bool>(), ops());
    TestRunner::new(config)
        .run(&lives, |(quorum, requester_may, ops)| one_life(bench, quorum, requester_may, &ops))
        .unwrap();
    plangate_approval::audit::verify(&bench.handle(), None).unwrap();
}
