//! Random graphs, random outcomes, any order of completion.

use std::collections::BTreeMap;
use std::sync::Arc;

use plangate_approval::StepState::{self, *};
use plangate_executor::schedule::{Act, Event, How, Kind, Limits, Schedule, Topology, Wire, cause};
use plangate_graph::NodeIx;
use plangate_graph::plan::{Asks, Reason};
use proptest::prelude::*;

use crate::model::Model;

/// Choices, one after the other; zero when they run out.
#[derive(Clone, Debug)]
struct Tape(Vec<u8>, usize);

impl Tape {
    fn pick(&mut self, of: usize) -> usize {
        let byte = self.0.get(self.1).copied().unwrap_or(0);
        self.1 += 1;
        usize::from(byte) % of.max(1)
    }
}

fn ix(at: usize) -> NodeIx {
    NodeIx(u32::try_from(at).unwrap())
}

/// A graph of every kind of node; `people`: with gates, questions and calls.
fn graph(tape: &mut Tape, people: bool) -> (Vec<Kind>, Vec<Wire>) {
    let (mut kinds, mut wires) = (Vec::<Kind>::new(), Vec::new());
    let target = 2 + tape.pick(12);
    while kinds.len() < target {
        let at = kinds.len();
        let kind = match tape.pick(if people { 10 } else { 6 }) {
            0 | 1 => Kind::Read { server: tape.pick(2) as u32 },
            2 => Kind::Write,
            3 => Kind::Check,
            4 => Kind::All,
            5 => Kind::Need { k: 1 },
            6 => Kind::Ask,
            7 => Kind::Call { server: tape.pick(2) as u32, gate: None },
            _ => Kind::Gate { call: ix(at + 1) },
        };
        let mut from: Vec<usize> = (0..at).filter(|_| tape.pick(3) == 0).collect();
        from.retain(|f| !matches!(kinds[*f], Kind::Gate { .. }));
        if matches!(kind, Kind::Need { .. }) {
            if from.is_empty() {
                continue;
            }
            kinds.push(Kind::Need { k: 1 + tape.pick(from.len()) as u32 });
            for f in from {
                wires.push(Wire { from: ix(f), to: ix(at), asks: Asks::Ended, reason: Reason::Counted });
            }
            continue;
        }
        for f in from {
            let (asks, reason) = match kinds[f] {
                Kind::Ask | Kind::Check if tape.pick(3) > 0 => (Asks::Yes, Reason::Gate),
                Kind::Ask | Kind::Check | Kind::All => (Asks::DoneOrSkipped, Reason::Effect),
                _ => [
                    (Asks::Done, Reason::Data),
                    (Asks::Done, Reason::Said),
                    (Asks::DoneOrSkipped, Reason::Effect),
                    (Asks::Ended, Reason::Effect),
                ][tape.pick(4)],
            };
            wires.push(Wire { from: ix(f), to: ix(at), asks, reason });
        }
        let gate = matches!(kind, Kind::Gate { .. });
        kinds.push(kind);
        if gate {
            kinds.push(Kind::Call { server: 0, gate: Some(ix(at)) });
            wires.push(Wire { from: ix(at), to: ix(at + 1), asks: Asks::Yes, reason: Reason::Gate });
        }
    }
    (kinds, wires)
}

/// What may happen to a node now.
fn events(kind: &Kind, state: StepState, at: NodeIx) -> Vec<Event> {
    let done = |value| Event::Ended(at, How::Done { value });
    match (kind, state) {
        (Kind::Check, Ready) => vec![
            Event::Ended(at, How::Answered(true)),
            Event::Ended(at, How::Answered(false)),
            Event::Ended(at, How::Failed),
        ],
        (Kind::Gate { .. } | Kind::Ask, Ready) => {
            vec![Event::Asked(at), Event::Yes(at), Event::Unaskable(at)]
        }
        (Kind::Gate { .. } | Kind::Ask, Pending) => vec![Event::Yes(at), Event::No(at), Event::Expired(at)],
        (Kind::Read { .. } | Kind::Write, Running) => {
            vec![done(true), done(true), Event::Ended(at, How::Failed), Event::Ended(at, How::TimedOut)]
        }
        (Kind::Call { .. }, Running) => vec![
            done(true),
            Event::Unknown(at),
            Event::Ended(at, How::Failed),
            Event::Ended(at, How::Expired),
            Event::Asked(at),
            Event::Held(at),
        ],
        (Kind::Call { .. }, Pending) => vec![Event::Yes(at), Event::No(at), Event::Expired(at)],
        (Kind::Call { .. }, Uncertain) => {
            vec![done(true), done(false), Event::Again(at), Event::Cleared(at), Event::Ended(at, How::Failed)]
        }
        _ => Vec::new(),
    }
}

fn note(model: &mut Model, event: Event, schedule: &Schedule) {
    let put = |model: &mut Model, at: NodeIx, state| model.states[at.0 as usize] = state;
    match event {
        Event::Ended(at, how) => {
            match how {
                How::Done { value } => model.value[at.0 as usize] = value,
                How::Answered(yes) => model.yes[at.0 as usize] = yes,
                _ => {}
            }
            put(model, at, schedule.state(at));
        }
        Event::Unknown(at) => put(model, at, Uncertain),
        Event::Asked(at) => put(model, at, Pending),
        Event::Yes(at) if matches!(model.kinds[at.0 as usize], Kind::Call { .. }) => put(model, at, Ready),
        Event::Yes(at) => {
            model.yes[at.0 as usize] = true;
            put(model, at, Done);
        }
        Event::No(at) => put(model, at, Rejected),
        Event::Expired(at) => put(model, at, Expired),
        Event::Unaskable(at) => {
            if let Kind::Gate { call } = model.kinds[at.0 as usize] {
                put(model, call, Failed);
            }
            put(model, at, Failed);
        }
        Event::Again(at) => match model.kinds[at.0 as usize] {
            Kind::Call { gate: Some(gate), .. } => {
                model.yes[gate.0 as usize] = false;
                put(model, gate, Waiting);
                put(model, at, Waiting);
            }
            _ => put(model, at, Waiting),
        },
        Event::Held(at) | Event::Cleared(at) => put(model, at, Ready),
        Event::Cancel | Event::TimeUp => {}
    }
}

/// Plays a run to its end and checks everything on the way.
fn play(mut tape: Tape) -> Result<(), TestCaseError> {
    let (kinds, wires) = graph(&mut tape, true);
    let shape = Arc::new(Topology::new(kinds.clone(), &wires).unwrap());
    let limits = Limits {
        workers: [None, Some(1), Some(2)][tape.pick(3)],
        caps: if tape.pick(2) == 0 { vec![(0, 1)] } else { Vec::new() },
        hold_siblings: false,
    };
    let mut schedule = Schedule::new(&shape, &limits);
    let mut model = Model::new(&kinds, &wires);
    let mut told: BTreeMap<NodeIx, usize> = BTreeMap::new();
    let mut again: BTreeMap<NodeIx, usize> = BTreeMap::new();
    let (mut ended, mut budget) = (Vec::new(), 400);
    loop {
        for act in schedule.advance() {
            match act {
                Act::Read(at)
                | Act::Write(at)
                | Act::Call(at)
                | Act::Check(at)
                | Act::Ask(at)
                | Act::Fired(at) => {
                    *told.entry(at).or_default() += 1;
                }
                Act::Ended(at, state) => {
                    prop_assert_eq!(schedule.state(at), state);
                    ended.push(at);
                }
                Act::Late { .. } | Act::Stop(_) => {}
            }
        }
        model.follow(|at| schedule.state(at)).map_err(TestCaseError::fail)?;
        let tally = schedule.tally();
        prop_assert!(tally.open == 0 || tally.ready + tally.running + tally.pending + tally.uncertain > 0);
        prop_assert!(tally.ready == 0 || tally.running > 0 || !events_of(&schedule, &kinds).is_empty());
        prop_assert!(tally.running <= limits.workers.unwrap_or(usize::MAX));
        for (server, cap) in &limits.caps {
            prop_assert!(running_on(*server, &schedule, &kinds) <= *cap, "server {} has a cap", server);
        }
        prop_assert_eq!(schedule.over(), tally.open == 0);
        held_against_a_fresh_one(&schedule, &shape)?;
        let possible = events_of(&schedule, &kinds);
        if possible.is_empty() {
            break;
        }
        budget -= 1;
        let event = possible[tape.pick(possible.len())];
        if let Event::Again(at) | Event::Cleared(at) | Event::Asked(at) | Event::Held(at) = event {
            *again.entry(at).or_default() += 1;
            if let Kind::Call { gate: Some(gate), .. } = kinds[at.0 as usize] {
                *again.entry(gate).or_default() += 1;
            }
        }
        prop_assert!(
            budget > 0
                || matches!(event, Event::Again(_) | Event::Cleared(_) | Event::Asked(_) | Event::Held(_))
        );
        if budget < -200 {
            return Ok(());
        }
        schedule.on(event).unwrap();
        note(&mut model, event, &schedule);
    }
    prop_assert!(schedule.over());
    for (at, n) in &told {
        prop_assert!(*n <= 1 + again.get(at).copied().unwrap_or(0), "node {} was started {} times", at.0, n);
    }
    ended.sort();
    let distinct = ended.len();
    ended.dedup();
    prop_assert_eq!(distinct, ended.len(), "a node ended twice");
    for at in shape.indices() {
        if matches!(schedule.state(at), Blocked | Skipped) {
            let root = cause(&shape, at, |ix| schedule.standing(ix));
            prop_assert!(root.is_some(), "node {} has no cause", at.0);
            prop_assert!(schedule.state(root.unwrap()) != Blocked);
        }
    }
    Ok(())
}

fn events_of(schedule: &Schedule, kinds: &[Kind]) -> Vec<Event> {
    (0..kinds.len()).flat_map(|at| events(&kinds[at], schedule.state(ix(at)), ix(at))).collect()
}

/// How many calls to a server are under way, whatever they are and wherever they stand.
fn running_on(server: u32, schedule: &Schedule, kinds: &[Kind]) -> usize {
    let of = |kind: &Kind| match kind {
        Kind::Read { server: s } | Kind::Call { server: s, .. } => *s == server,
        _ => false,
    };
    (0..kinds.len()).filter(|at| of(&kinds[*at]) && schedule.state(ix(*at)) == Running).count()
}

/// A run that goes on from what is stored at this moment stands where this one stands.
fn held_against_a_fresh_one(schedule: &Schedule, shape: &Arc<Topology>) -> Result<(), TestCaseError> {
    let mut fresh = Schedule::resumed(shape, &Limits::default(), |at| {
        let standing = schedule.standing(at);
        let kept = standing.state.ended() || matches!(standing.state, Pending | Uncertain);
        kept.then_some(standing)
    });
    fresh.advance();
    for at in shape.indices() {
        let (old, new) = (schedule.state(at), fresh.state(at));
        let under_way = |s| matches!(s, Ready | Running);
        prop_assert!(
            old == new || (under_way(old) && under_way(new)),
            "node {} was {old:?}, is {new:?}",
            at.0
        );
    }
    Ok(())
}

/// Each node ends in its own way, whatever the order; joins wait for machines, so the order must not show.
fn any_order(mut tape: Tape, orders: [Vec<u8>; 2]) -> Result<(), TestCaseError> {
    let (kinds, wires) = graph(&mut tape, false);
    let shape = Arc::new(Topology::new(kinds.clone(), &wires).unwrap());
    let fate: Vec<usize> = kinds.iter().map(|_| tape.pick(5)).collect();
    let mut ends = Vec::new();
    for (order, workers) in orders.into_iter().zip([None, Some(1)]) {
        let mut order = Tape(order, 0);
        let mut schedule = Schedule::new(&shape, &Limits { workers, ..Limits::default() });
        loop {
            schedule.advance();
            let startable: Vec<_> = shape
                .indices()
                .filter(|at| !events(shape.kind(*at), schedule.state(*at), *at).is_empty())
                .collect();
            if startable.is_empty() {
                break;
            }
            let at = startable[order.pick(startable.len())];
            let possible = events(shape.kind(at), schedule.state(at), at);
            schedule.on(possible[fate[at.0 as usize] % possible.len()]).unwrap();
        }
        prop_assert!(schedule.over());
        let end: Vec<_> = shape
            .indices()
            .map(|at| (schedule.state(at), cause(&shape, at, |ix| schedule.standing(ix))))
            .collect();
        ends.push(end);
    }
    prop_assert_eq!(&ends[0], &ends[1]);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_model(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        play(Tape(bytes, 0))?;
    }

    #[test]
    fn the_order_of_completion_does_not_show(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        first in proptest::collection::vec(any::<u8>(), 0..60),
        second in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        any_order(Tape(bytes, 0), [first, second])?;
    }
}
