//! Graphs by hand, by name.

use std::collections::HashMap;
use std::sync::Arc;

use plangate_approval::StepState;
use plangate_executor::schedule::{Act, Event, How, Kind, Limits, Schedule, Standing, Topology, Wire, cause};
use plangate_graph::NodeIx;
use plangate_graph::plan::{Asks, Reason};

#[derive(Default)]
pub struct Chart {
    names: Vec<&'static str>,
    kinds: Vec<Kind>,
    wires: Vec<Wire>,
}

impl Chart {
    pub fn node(mut self, name: &'static str, kind: Kind) -> Chart {
        self.names.push(name);
        self.kinds.push(kind);
        self
    }
    pub fn read(self, name: &'static str) -> Chart {
        self.node(name, Kind::Read { server: 0 })
    }
    pub fn write(self, name: &'static str) -> Chart {
        self.node(name, Kind::Write)
    }
    pub fn check(self, name: &'static str) -> Chart {
        self.node(name, Kind::Check)
    }
    pub fn ask(self, name: &'static str) -> Chart {
        self.node(name, Kind::Ask)
    }
    pub fn all(self, name: &'static str) -> Chart {
        self.node(name, Kind::All)
    }
    /// A call that nobody is asked about.
    pub fn through(self, name: &'static str) -> Chart {
        self.node(name, Kind::Call { server: 0, gate: None })
    }
    /// A gate and the call behind it.
    pub fn gated(mut self, gate: &'static str, call: &'static str) -> Chart {
        let at = u32::try_from(self.names.len()).unwrap();
        self = self.node(gate, Kind::Gate { call: NodeIx(at + 1) });
        self = self.node(call, Kind::Call { server: 0, gate: Some(NodeIx(at)) });
        self.guard(gate, call)
    }
    /// A join over earlier nodes.
    pub fn need(mut self, name: &'static str, k: u32, of: &[&str]) -> Chart {
        self = self.node(name, Kind::Need { k });
        for from in of {
            self = self.wire(from, name, Asks::Ended, Reason::Counted);
        }
        self
    }
    pub fn data(self, from: &str, to: &str) -> Chart {
        self.wire(from, to, Asks::Done, Reason::Data)
    }
    pub fn effect(self, from: &str, to: &str) -> Chart {
        self.wire(from, to, Asks::DoneOrSkipped, Reason::Effect)
    }
    pub fn ended(self, from: &str, to: &str) -> Chart {
        self.wire(from, to, Asks::Ended, Reason::Effect)
    }
    pub fn guard(self, from: &str, to: &str) -> Chart {
        self.wire(from, to, Asks::Yes, Reason::Gate)
    }
    fn wire(mut self, from: &str, to: &str, asks: Asks, reason: Reason) -> Chart {
        let at =
            |name| NodeIx(u32::try_from(self.names.iter().position(|n| *n == name).expect(name)).unwrap());
        let wire = Wire { from: at(from), to: at(to), asks, reason };
        self.wires.push(wire);
        self
    }
    pub fn shape(&self) -> Arc<Topology> {
        Arc::new(Topology::new(self.kinds.clone(), &self.wires).unwrap())
    }
    pub fn begin(self) -> Bench {
        self.begin_with(&Limits::default())
    }
    pub fn begin_with(self, limits: &Limits) -> Bench {
        let schedule = Schedule::new(&self.shape(), limits);
        let mut bench =
            Bench { names: self.names, schedule, todo: Vec::new(), told: HashMap::new(), late: Vec::new() };
        bench.step();
        bench
    }
}

/// A schedule with names, and what it asked for so far.
pub struct Bench {
    names: Vec<&'static str>,
    pub schedule: Schedule,
    /// What it asked for and has not been answered.
    pub todo: Vec<&'static str>,
    /// How often each node was started, asked or fired.
    pub told: HashMap<&'static str, u32>,
    pub late: Vec<(&'static str, &'static str)>,
}

impl Bench {
    pub fn at(&self, name: &str) -> NodeIx {
        NodeIx(u32::try_from(self.names.iter().position(|n| *n == name).expect(name)).unwrap())
    }
    fn name(&self, ix: NodeIx) -> &'static str {
        self.names[ix.0 as usize]
    }
    pub fn step(&mut self) {
        for act in self.schedule.advance() {
            match act {
                Act::Read(ix) | Act::Write(ix) | Act::Call(ix) | Act::Check(ix) | Act::Ask(ix) => {
                    let name = self.name(ix);
                    self.todo.push(name);
                    *self.told.entry(name).or_default() += 1;
                }
                Act::Fired(ix) => *self.told.entry(self.name(ix)).or_default() += 1,
                Act::Late { join, node } => self.late.push((self.name(join), self.name(node))),
                Act::Ended(..) | Act::Stop(_) => {}
            }
        }
    }
    pub fn on(&mut self, event: Event) -> &mut Bench {
        self.schedule.on(event).unwrap();
        self.step();
        self
    }
    fn answered(&mut self, name: &str) -> NodeIx {
        self.todo.retain(|n| *n != name);
        self.at(name)
    }
    pub fn done(&mut self, name: &str) -> &mut Bench {
        let ix = self.answered(name);
        self.on(Event::Ended(ix, How::Done { value: true }))
    }
    pub fn fail(&mut self, name: &str) -> &mut Bench {
        let ix = self.answered(name);
        self.on(Event::Ended(ix, How::Failed))
    }
    pub fn how(&mut self, name: &str, how: How) -> &mut Bench {
        let ix = self.answered(name);
        self.on(Event::Ended(ix, how))
    }
    pub fn unknown(&mut self, name: &str) -> &mut Bench {
        let ix = self.answered(name);
        self.on(Event::Unknown(ix))
    }
    pub fn pend(&mut self, name: &str) -> &mut Bench {
        let ix = self.answered(name);
        self.on(Event::Asked(ix))
    }
    pub fn yes(&mut self, name: &str) -> &mut Bench {
        let ix = self.answered(name);
        self.on(Event::Yes(ix))
    }
    pub fn no(&mut self, name: &str) -> &mut Bench {
        let ix = self.answered(name);
        self.on(Event::No(ix))
    }
    pub fn state(&self, name: &str) -> StepState {
        self.schedule.state(self.at(name))
    }
    pub fn cause(&self, name: &str) -> Option<(&'static str, StepState)> {
        let ix = cause(self.schedule.shape(), self.at(name), |ix| self.schedule.standing(ix))?;
        Some((self.name(ix), self.schedule.state(ix)))
    }
    /// Goes on from what would be stored: ended nodes, and what waits for people.
    pub fn resumed(&self) -> Schedule {
        let old = &self.schedule;
        Schedule::resumed(old.shape(), &Limits::default(), |ix| {
            let standing: Standing = old.standing(ix);
            let kept =
                standing.state.ended() || matches!(standing.state, StepState::Pending | StepState::Uncertain);
            kept.then_some(standing)
        })
    }
}
