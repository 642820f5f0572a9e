//! A hundred thousand nodes, in no more than linear work and without recursion; and the counted clock.

use std::sync::Arc;
use std::time::Instant;

use plangate_approval::StepState;
use plangate_executor::schedule::{Act, Event, How, Kind, Limits, Schedule, Topology, Wire};
use plangate_executor::simulate::simulate;
use plangate_graph::NodeIx;
use plangate_graph::plan::{Asks, Reason};

const N: u32 = 100_000;

fn wire(from: u32, to: u32, asks: Asks, reason: Reason) -> Wire {
    Wire { from: NodeIx(from), to: NodeIx(to), asks, reason }
}

fn data(from: u32, to: u32) -> Wire {
    wire(from, to, Asks::Done, Reason::Data)
}

fn reads(n: u32) -> Vec<Kind> {
    vec![Kind::Read { server: 0 }; n as usize]
}

fn shape(kinds: Vec<Kind>, wires: &[Wire]) -> Arc<Topology> {
    Arc::new(Topology::new(kinds, wires).unwrap())
}

/// Seconds are generous: a quadratic pass over these takes minutes.
fn quickly<T>(what: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let out = what();
    assert!(start.elapsed().as_secs() < 20, "took {:?}", start.elapsed());
    out
}

#[test]
fn chains_and_fans() {
    quickly(|| {
        let chain = shape(reads(N), &(1..N).map(|i| data(i - 1, i)).collect::<Vec<_>>());
        assert_eq!(simulate(&chain, |_| 1, Some(1)).unwrap().makespan, u64::from(N));
        let fan = shape(reads(N), &[]);
        assert_eq!(simulate(&fan, |_| 1, None).unwrap().makespan, 1);
        assert_eq!(simulate(&fan, |_| 1, Some(8)).unwrap().makespan, u64::from(N / 8));
    });
}

#[test]
fn two_wide_layers_through_one_join() {
    quickly(|| {
        let half = N / 2;
        let mut kinds = reads(half);
        kinds.push(Kind::All);
        kinds.extend((0..half).map(|_| Kind::Call { server: 0, gate: None }));
        let wires: Vec<_> = (0..half)
            .map(|i| wire(i, half, Asks::DoneOrSkipped, Reason::Effect))
            .chain((0..half).map(|i| wire(half, half + 1 + i, Asks::DoneOrSkipped, Reason::Effect)))
            .collect();
        assert_eq!(simulate(&shape(kinds, &wires), |_| 1, None).unwrap().makespan, 2);
    });
}

#[test]
fn a_failure_blocks_a_long_chain_at_once() {
    quickly(|| {
        let chain = shape(reads(N), &(1..N).map(|i| data(i - 1, i)).collect::<Vec<_>>());
        let mut schedule = Schedule::new(&chain, &Limits::default());
        assert_eq!(schedule.advance(), [Act::Read(NodeIx(0))]);
        schedule.on(Event::Ended(NodeIx(0), How::Failed)).unwrap();
        assert!(schedule.over());
        assert_eq!(schedule.advance().len(), N as usize - 1);
    });
}

/// A wide `need` whose branches wait for people one after the other, beside a long branch that works.
#[test]
fn a_wide_join_with_people_and_a_long_branch() {
    quickly(|| {
        let (gates, long) = (20_000, 20_000);
        let mut kinds = reads(1 + long);
        let mut wires: Vec<_> = (2..=long).map(|i| data(i - 1, i)).collect();
        for g in 0..gates {
            let at = 1 + long + 3 * g;
            kinds.push(Kind::Read { server: 1 });
            kinds.push(Kind::Gate { call: NodeIx(at + 2) });
            kinds.push(Kind::Call { server: 1, gate: Some(NodeIx(at + 1)) });
            wires.push(data(at, at + 1));
            wires.push(wire(at + 1, at + 2, Asks::Yes, Reason::Gate));
        }
        let join = u32::try_from(kinds.len()).unwrap();
        kinds.push(Kind::Need { k: 1 });
        let counted = |from| wire(from, join, Asks::Ended, Reason::Counted);
        wires.push(counted(0));
        wires.extend((0..gates).map(|g| counted(1 + long + 3 * g + 2)));
        wires.push(counted(long));
        let mut schedule = Schedule::new(&shape(kinds, &wires), &Limits::default());
        schedule.advance();
        let done = |ix| Event::Ended(NodeIx(ix), How::Done { value: true });
        schedule.on(done(0)).unwrap();
        for g in 0..gates {
            let at = 1 + long + 3 * g;
            schedule.on(done(at)).unwrap();
            schedule.advance();
            schedule.on(Event::Asked(NodeIx(at + 1))).unwrap();
            schedule.advance();
            assert_eq!(schedule.state(NodeIx(join)), StepState::Waiting);
        }
        for i in 1..=long {
            schedule.on(done(i)).unwrap();
            schedule.advance();
        }
        assert_eq!(schedule.state(NodeIx(join)), StepState::Done);
        assert!(schedule.parked());
    });
}

#[test]
fn many_joins_in_a_chain() {
    quickly(|| {
        // s(i) reads join(i), which needs one of s(i-1) and a branch that waits for a person.
        let n = 25_000;
        let mut kinds = vec![Kind::Read { server: 0 }];
        let mut wires = Vec::new();
        let mut last = 0;
        for _ in 0..n {
            let at = u32::try_from(kinds.len()).unwrap();
            kinds.extend([
                Kind::Gate { call: NodeIx(at + 1) },
                Kind::Call { server: 0, gate: Some(NodeIx(at)) },
                Kind::Need { k: 1 },
                Kind::Write,
            ]);
            wires.push(wire(at, at + 1, Asks::Yes, Reason::Gate));
            wires.push(wire(last, at + 2, Asks::Ended, Reason::Counted));
            wires.push(wire(at + 1, at + 2, Asks::Ended, Reason::Counted));
            wires.push(data(at + 2, at + 3));
            last = at + 3;
        }
        let mut schedule = Schedule::new(&shape(kinds, &wires), &Limits::default());
        let mut todo = schedule.advance();
        while let Some(act) = todo.pop() {
            match act {
                Act::Read(ix) | Act::Write(ix) => {
                    schedule.on(Event::Ended(ix, How::Done { value: true })).unwrap();
                }
                Act::Ask(ix) => schedule.on(Event::Asked(ix)).unwrap(),
                _ => {}
            }
            todo.extend(schedule.advance());
        }
        assert_eq!(schedule.state(NodeIx(last)), StepState::Done);
    });
}

#[test]
fn the_counted_clock_takes_the_longest_path() {
    // a(3) -> b(5) -> d(1); a -> c(2) -> d; e(4) alone.
    let plan = shape(reads(5), &[data(0, 1), data(0, 2), data(1, 3), data(2, 3)]);
    let costs = |ix: NodeIx| [3, 5, 2, 1, 4][ix.0 as usize];
    let wide = simulate(&plan, costs, None).unwrap();
    assert_eq!((wide.makespan, wide.ends.0.clone()), (9, vec![3, 8, 5, 9, 4]));
    assert_eq!(wide.starts.0, [0, 3, 3, 8, 0]);
    assert_eq!(simulate(&plan, costs, Some(1)).unwrap().makespan, 15);
    assert_eq!(simulate(&plan, costs, Some(2)).unwrap().makespan, 9);
}
