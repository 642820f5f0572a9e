//! The life of a row against the model in `reference`: any order of verbs, of many people, drivers and clocks.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use plangate_approval::{Accepted, Reconciled};

use super::reference::{DAN, Model, UNKNOWN, Word};
use super::*;

const HOUR: i64 = 3_600_000;

#[derive(Clone, Debug)]
enum Op {
    Pass(i64),
    Back(i64),
    Read,
    Vote { who: usize, yes: bool, stale: bool },
    Edit { who: usize, stale: bool, to: u8 },
    Claim { again: bool },
    Outcome { kind: u8, first: bool },
    Settle(bool),
    Reconcile(Word),
    Renew,
    Kill,
    Take,
    Park { fresh: bool },
    End,
    Cancel,
    Accept,
    AskSame,
    AskNext,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    // Weighted so that lives get far: most votes are a yes, and most outcomes unknown.
    let seldom = || prop::bool::weighted(0.1);
    let step = prop_oneof![
        6 => prop::sample::select(vec![1, 1_000, 1_000, 1_000, 29_999, 30_000, 60_000, HOUR - 1, HOUR])
            .prop_map(Op::Pass),
        2 => prop::sample::select(vec![1_000, 5_001, 2 * HOUR]).prop_map(Op::Back),
        4 => Just(Op::Read),
        14 => (0..4_usize, prop::bool::weighted(0.9), seldom())
            .prop_map(|(who, yes, stale)| Op::Vote { who, yes, stale }),
        4 => (prop::sample::select(vec![1, DAN, DAN, DAN]), seldom(), 0..3_u8)
            .prop_map(|(who, stale, to)| Op::Edit { who, stale, to }),
        14 => prop::bool::weighted(0.3).prop_map(|again| Op::Claim { again }),
        10 => (prop::sample::select(vec![0, 1, 2, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN]), prop::bool::weighted(0.3))
            .prop_map(|(kind, first)| Op::Outcome { kind, first }),
        5 => any::<bool>().prop_map(Op::Settle),
        6 => prop::sample::select(vec![Word::DidNot, Word::DidNot, Word::Happened, Word::CannotTell])
            .prop_map(Op::Reconcile),
        4 => Just(Op::Renew),
        2 => Just(Op::Kill),
        10 => Just(Op::Take),
        3 => any::<bool>().prop_map(|fresh| Op::Park { fresh }),
        1 => Just(Op::End),
        1 => Just(Op::Cancel),
        2 => Just(Op::Accept),
        4 => Just(Op::AskSame),
        6 => Just(Op::AskNext),
    ];
    prop::collection::vec(step, 1..60)
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

fn laid_down(answer: Result<ParkAnswer, StoreError>, lease: &mut Lease) -> String {
    match answer {
        Ok(ParkAnswer::Released) => "released".into(),
        Ok(ParkAnswer::LookAgain(newer)) => {
            *lease = newer;
            "look again".into()
        }
        Err(refusal) => refused(&refusal),
    }
}

fn somebody(who: usize) -> Person {
    match who {
        DAN => with_roles("dan", &["editor"]),
        _ => person(["ann", "bob", "carol"][who]),
    }
}

/// A row in its store, beside the model of it.
struct Life {
    w: World,
    row: Row,
    ask: Ask,
    model: Model,
    /// Nonces by the number of the claim; the first is of none.
    nonces: Vec<String>,
    /// Drivers live as long as this.
    drivers: Vec<Option<Mortal>>,
}

impl Life {
    fn new(bench: &dyn Bench, quorum: usize, requester_may: bool) -> Life {
        bench.clock().set(0);
        let w = World::new(bench);
        let ask = under(Terms {
            quorum: u32::try_from(quorum).unwrap(),
            requester_may_decide: requester_may,
            may_edit: Some(vec!["editor".into()]),
            ..Terms::default()
        });
        let row = w.ask(&ask);
        let model = Model::new(quorum, requester_may);
        Life { w, row, ask, model, nonces: vec!["none".into()], drivers: vec![None] }
    }

    /// The bytes of a version.
    fn bytes(&self, version: u8) -> Vec<u8> {
        match version {
            0 => self.ask.call.as_ref().unwrap().args.clone(),
            n => format!("{{\"edited\":{n}}}").into_bytes(),
        }
    }

    fn nonce(&self, claim: Option<usize>) -> (usize, String) {
        let claim = claim.unwrap_or(0);
        (claim, self.nonces[claim].clone())
    }

    /// What the store says, and what it must say.
    fn step(&mut self, bench: &dyn Bench, op: &Op) -> Option<(String, String)> {
        let (current, first) = self.model.claims();
        let (w, model) = (&mut self.w, &mut self.model);
        let answer = match *op {
            Op::Pass(ms) => {
                w.clock.pass(ms);
                model.now += ms;
                return None;
            }
            Op::Back(ms) => {
                model.now -= ms;
                w.clock.set(model.now);
                return None;
            }
            Op::Kill => {
                let driver = self.drivers.get_mut(model.driver() - 1).and_then(Option::take)?;
                (driver.kill)();
                model.kill();
                return None;
            }
            Op::Read => (w.state(&self.row).to_string(), model.read().to_string()),
            Op::Vote { who, yes, stale } => {
                let bytes = self.bytes(self.model.bytes());
                let seen = if stale { Digest::of(b"stale") } else { Digest::of(&bytes) };
                let vote = Decision { seen, ..decision(&self.row, &somebody(who), yes) };
                (told(self.w.approvals.decide(&vote)), self.model.vote(who, yes, stale))
            }
            Op::Edit { who, stale, to } => {
                let from = if stale { (self.model.bytes() + 1) % 3 } else { self.model.bytes() };
                let edit = Edit {
                    row: self.row.id.clone(),
                    seen: Digest::of(&self.bytes(from)),
                    by: somebody(who),
                    args: self.bytes(to),
                    reason: self.ask.reason.clone(),
                    terms: self.ask.terms.clone(),
                    note: None,
                };
                (told(self.w.approvals.edit(&self.row, &edit)), self.model.edit(who, from, to))
            }
            Op::Claim { again } => {
                let number = current.or(first).filter(|_| again).unwrap_or_else(|| {
                    self.nonces.push(format!("{}-{}", self.row.id, self.nonces.len()));
                    self.nonces.len() - 1
                });
                let digest = Digest::of(&self.bytes(self.model.bytes()));
                let (running, nonce) = (step("post", StepState::Running), &self.nonces[number]);
                let w = &self.w;
                let said = w.store.claim(&w.lease, &self.row.id, nonce, digest, definition(), &running);
                (told(said), self.model.claim(number))
            }
            Op::Outcome { kind, first: of_first } => {
                let outcomes = [
                    ok(),
                    Outcome::Failed("f".into()),
                    Outcome::NotSent("n".into()),
                    Outcome::Unknown("u".into()),
                ];
                let (number, nonce) = self.nonce(if of_first { first.or(current) } else { current });
                let claim = plangate_approval::Claim { row: self.row.id.clone(), nonce };
                (told(self.w.outcome(&claim, &outcomes[usize::from(kind)])), self.model.outcome(number, kind))
            }
            Op::Settle(happened) => {
                let (number, nonce) = self.nonce(current);
                let seen = Row { claim: Some(nonce), ..self.row.clone() };
                (told(self.w.settle(&seen, happened)), self.model.settle(number, happened))
            }
            Op::Reconcile(word) => {
                let (number, nonce) = self.nonce(current.or(first));
                let answer = match word {
                    Word::Happened => Reconciled::Happened(None),
                    Word::DidNot => Reconciled::DidNot,
                    Word::CannotTell => Reconciled::Unknown("down".into()),
                };
                let said = self.w.store.reconcile(&self.w.lease, &self.row.id, &nonce, &answer);
                (told(said), self.model.reconcile(number, word))
            }
            Op::Renew => {
                let said = w.store.renew(&w.lease).map(|lease| w.lease = lease);
                (said.map_or_else(|no| refused(&no), |()| "renewed".into()), model.renew().into())
            }
            Op::Take => {
                let mortal = bench.mortal();
                let said = match w.store.lease(w.run(), &mortal.holder).unwrap() {
                    LeaseAnswer::Taken(lease) => {
                        w.lease = lease;
                        self.drivers.push(Some(mortal));
                        "taken"
                    }
                    LeaseAnswer::Busy { .. } => "busy",
                    LeaseAnswer::Ended(_) => "ended",
                };
                (said.into(), model.take().into())
            }
            Op::Park { fresh } => {
                if fresh && model.renew() == "renewed" {
                    w.renew();
                }
                let said = w.store.park(&w.lease);
                (laid_down(said, &mut w.lease), model.lay_down(false).into())
            }
            Op::End => {
                let to = if model.cancelled { RunState::Cancelled } else { RunState::Done };
                let said = w.store.end(&w.lease, to, None);
                (laid_down(said, &mut w.lease), model.lay_down(true).into())
            }
            Op::Cancel => {
                let run = w.store.cancel(w.run(), &person("carol"), None).unwrap();
                model.cancel();
                (run.state.ended().to_string(), model.ended.to_string())
            }
            Op::Accept => {
                let accepted = Accepted {
                    plan: b"{\"format\":\"actions/1\",\"again\":true}".to_vec().into(),
                    catalog: b"{\"servers\":{}}".to_vec().into(),
                    policy: b"# stricter".to_vec().into(),
                    shown: "it became stricter".into(),
                };
                let said = w.store.accept(&w.lease, &person("bob"), &accepted).map(|lease| w.lease = lease);
                (said.map_or_else(|no| refused(&no), |()| "accepted".into()), model.accept().into())
            }
            Op::AskSame => (told(w.try_ask(&self.ask)), model.ask(false)),
            Op::AskNext => {
                let next = Ask { ask: self.ask.ask + 1, ..self.ask.clone() };
                let said = w.try_ask(&next);
                if let Ok(new) = &said {
                    (self.row, self.ask) = (new.clone(), next);
                }
                (told(said), model.ask(true))
            }
        };
        Some(answer)
    }
}

fn one_life(
    bench: &dyn Bench,
    log: &Cell<u64>,
    (quorum, requester_may): (usize, bool),
    ops: &[Op],
) -> Result<(), TestCaseError> {
    let mut life = Life::new(bench, quorum, requester_may);
    for (i, op) in ops.iter().enumerate() {
        if let Some((said, expected)) = life.step(bench, op) {
            prop_assert_eq!(said, expected, "op {} of {:?}", i, ops);
        }
    }
    prop_assert_eq!(life.w.state(&life.row), life.model.read());
    // What the log says of this row, read from where the life before ended.
    let events = life.w.store.events(log.get()).unwrap();
    log.set(events.last().map_or(log.get(), |event| event.seq));
    let count = |kind: &str| {
        let kind = format!("\"kind\":\"{kind}\"");
        events.iter().filter(|e| e.what.contains(&kind) && e.what.contains(&life.row.id.0)).count()
    };
    // One approval, and a second claim only after the host's word.
    prop_assert!(count("approved") <= 1 && count("claimed") <= 1 + count("reconciled"));
    prop_assert!(count("rejected") + count("expired") + count("cancelled") + count("settled") <= 1);
    Ok(())
}

pub fn a_row_lives_as_the_model_says(bench: &dyn Bench) {
    let cases = Config::default().cases / 2; // half of what PROPTEST_CASES says: a life has many steps
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let log = Cell::new(0);
    let lives = (1..=2_usize, any::<bool>(), ops());
    TestRunner::new(config)
        .run(&lives, |(quorum, requester_may, ops)| one_life(bench, &log, (quorum, requester_may), &ops))
        .unwrap();
    plangate_approval::audit::verify(&bench.handle(), None).unwrap();
}
