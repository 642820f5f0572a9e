//! Edges that earn their place.
//!
//! Items are taken in typed order. Each gets its node (a call to be asked gets its gate first, which takes over every
//! edge of the call), and its edges from what it reads, what its author said, what guards it, and what it does not
//! commute with. The [frontier](super::frontier) keeps the last part minimal.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use petgraph::graph::DiGraph;

use super::frontier::{Branch, Frontier, Waiter};
use super::guards::Guards;
use super::judge::Judgement;
use super::shape::{block_ids, by_block, counted, step_places};
use crate::digest::Digest;
use crate::outline::{BlockKind, Body, Item, Outline};
use crate::plan::{Asks, Edge, Join, Node, NodeIx, NodeKind, Plan, Reason};
use crate::policy::Policy;

/// The nodes and edges that follow from an outline.
pub(super) struct Derived {
    nodes: Vec<Node>,
    edges: Vec<(NodeIx, NodeIx, Reason, Asks)>,
    of_item: Vec<NodeIx>,
    joins: Vec<Option<NodeIx>>,
}

/// Derives them. Linear in steps and references.
pub(super) fn derive(
    outline: &Outline,
    judgements: &BTreeMap<usize, Judgement>,
    guards: &Guards,
    policy: &Policy,
) -> Derived {
    let places = step_places(outline);
    let blocks = by_block(outline);
    let mut worlds: Vec<&str> = outline.items.iter().filter_map(|i| world_of(i, policy)).collect();
    worlds.sort_unstable();
    worlds.dedup();
    let mut deriving = Deriving {
        outline,
        judgements,
        guards,
        policy,
        places,
        ids: block_ids(&outline.blocks),
        out: Derived {
            nodes: Vec::new(),
            edges: Vec::new(),
            of_item: vec![NodeIx(0); outline.items.len()],
            joins: vec![None; outline.blocks.len()],
        },
        worlds: worlds.iter().enumerate().map(|(i, w)| ((*w).to_owned(), i)).collect(),
        // Sentences belong to no world and are waited for in every one.
        frontier: Frontier::new(worlds.len().max(1)),
        from_joins: vec![BTreeSet::new(); outline.items.len()],
        questions: 0,
        checks: 0,
    };
    for (at, items) in blocks.iter().enumerate() {
        deriving.block(at, items);
    }
    deriving.out
}

fn world_of<'p>(item: &Item, policy: &'p Policy) -> Option<&'p str> {
    match &item.body {
        Body::Call(call) => Some(policy.world(&call.server)),
        _ => None,
    }
}

struct Deriving<'a> {
    outline: &'a Outline,
    judgements: &'a BTreeMap<usize, Judgement>,
    guards: &'a Guards,
    policy: &'a Policy,
    places: HashMap<&'a str, usize>,
    ids: Vec<String>,
    out: Derived,
    worlds: HashMap<String, usize>,
    frontier: Frontier,
    /// For each item: the blocks from whose `need` joins it gets data, directly or through other steps.
    from_joins: Vec<BTreeSet<usize>>,
    questions: usize,
    checks: usize,
}

impl Deriving<'_> {
    fn block(&mut self, at: usize, items: &[usize]) {
        let Some(block) = self.outline.blocks.get(at) else { return };
        if let Some(need) = block.need {
            self.need(at, need.k, items);
        }
        // What may run side by side is a branch of its own; a branch is in typed order.
        let mut branches: Vec<(Option<usize>, Branch)> = Vec::new();
        for place in items {
            let Some(item) = self.outline.items.get(*place) else { continue };
            let key = match block.kind {
                BlockKind::Together => Some(*place),
                BlockKind::AskMe => Some(item.under.unwrap_or(*place)),
                BlockKind::Then | BlockKind::Check => None,
            };
            if branches.last().is_none_or(|(last, _)| *last != key) {
                branches.push((key, Branch::default()));
            }
            if let Some((_, branch)) = branches.last_mut() {
                self.item(*place, item, branch);
            }
        }
        self.frontier.merge(branches.into_iter().map(|(_, branch)| branch));
    }

    /// The join of a block's `need`, in front of its steps.
    fn need(&mut self, at: usize, k: u32, items: &[usize]) {
        let counted = counted(self.outline, &self.places, at, items);
        let of: Vec<NodeIx> =
            counted.iter().filter_map(|place| self.out.of_item.get(*place)).copied().collect();
        let id = format!("{}/join", self.ids.get(at).map_or("then", String::as_str));
        let join = self.out.node(id, NodeKind::Join(Join::Need { block: at, k, of: of.clone() }));
        for step in &of {
            self.out.edge(*step, join, Reason::Counted, Asks::Ended);
        }
        if let Some(slot) = self.out.joins.get_mut(at) {
            *slot = Some(join);
        }
        self.frontier.loosen(at, join, &of);
    }

    fn item(&mut self, place: usize, item: &Item, branch: &mut Branch) {
        if matches!(item.body, Body::Question(_)) && self.guards.is_on_gate(place) {
            self.questions += 1;
            return; // Its words go where its call goes.
        }
        let loose = self.loosened(place, item);
        // Joins of many are made before the node that waits for them, so that every edge leads to a higher index.
        let waiter = self.waiter(place, item, loose);
        let waits = self.frontier.waits(&waiter, branch, &mut self.out);
        let entry = self.nodes(place, item);
        for (from, asks) in waits {
            self.out.edge(from, entry, Reason::Effect, asks);
        }
        self.data(place, item, entry);
        let said = item.settings().into_iter().flat_map(|s| &s.after);
        for name in said {
            if let Some(from) =
                self.places.get(name.as_str()).and_then(|at| self.out.of_item.get(*at)).copied()
            {
                self.out.edge(from, entry, Reason::Said, Asks::Done);
            }
        }
        for guard in self.guards.of.get(place).into_iter().flatten() {
            if let Some(from) = self.out.of_item.get(*guard).copied() {
                self.out.edge(from, entry, Reason::Gate, Asks::Yes);
            }
        }
        if let Some(node) = self.out.of_item.get(place).copied() {
            self.frontier.pass(&waiter, node, branch);
        }
    }

    fn waiter(&self, place: usize, item: &Item, loose: BTreeSet<usize>) -> Waiter {
        let world = |server: &str| self.worlds.get(self.policy.world(server)).copied().unwrap_or(0);
        match &item.body {
            Body::Call(call) if self.judgements.get(&place).is_some_and(|j| j.judged.effect.changes()) => {
                Waiter::Effect { world: world(&call.server), loose }
            }
            Body::Call(call) => Waiter::Read { world: world(&call.server), loose },
            Body::Sentence(_) => Waiter::Sentence,
            Body::Question(_) => Waiter::Question { loose },
            Body::Check(_) => Waiter::Nothing,
        }
    }

    /// Makes the item's node, with a gate in front of a call that is asked, and returns where its edges enter.
    fn nodes(&mut self, place: usize, item: &Item) -> NodeIx {
        let (entry, node) = match &item.body {
            Body::Call(call) => {
                let Some(judgement) = self.judgements.get(&place) else { return NodeIx(0) };
                let kind = NodeKind::Call { item: place, judged: judgement.judged.clone() };
                if judgement.judged.asked {
                    let question = self.guards.on_gate.get(&place).copied();
                    let gate = self
                        .out
                        .node(format!("{}/gate", call.name), NodeKind::Gate { call: NodeIx(0), question });
                    let node = self.out.node(call.name.clone(), kind);
                    self.out.guard(gate, node);
                    if let Some(slot) = question.and_then(|q| self.out.of_item.get_mut(q)) {
                        *slot = gate;
                    }
                    (gate, node)
                } else {
                    let node = self.out.node(call.name.clone(), kind);
                    (node, node)
                }
            }
            Body::Sentence(sentence) => {
                let node = self.out.node(sentence.name.clone(), NodeKind::Write { item: place });
                (node, node)
            }
            Body::Question(_) => {
                self.questions += 1;
                let node =
                    self.out.node(format!("question-{}/ask", self.questions), NodeKind::Ask { item: place });
                (node, node)
            }
            Body::Check(_) => {
                self.checks += 1;
                let node =
                    self.out.node(format!("check-{}/check", self.checks), NodeKind::Check { item: place });
                (node, node)
            }
        };
        if let Some(slot) = self.out.of_item.get_mut(place) {
            *slot = node;
        }
        entry
    }

    /// Edges from what is read: by the item, and by the words on its gate.
    fn data(&mut self, place: usize, item: &Item, entry: NodeIx) {
        for from in self.sources(item) {
            self.out.edge(from, entry, Reason::Data, Asks::Done);
        }
        if let Some(words) = self.guards.on_gate.get(&place)
            && let Some(question) = self.outline.items.get(*words)
        {
            for from in self.sources(question) {
                self.out.edge(from, entry, Reason::Data, Asks::Done);
            }
        }
    }

    /// The nodes that an item's references read, in order, none twice: the join of its block for steps that it counts.
    fn sources(&self, item: &Item) -> Vec<NodeIx> {
        let join = self.out.joins.get(item.block).copied().flatten();
        let mut seen = BTreeSet::new();
        item.refs()
            .into_iter()
            .filter_map(|r| self.places.get(r.step()?))
            .filter_map(|at| {
                let above = self.outline.items.get(*at).is_some_and(|i| i.block < item.block);
                if above && join.is_some() { join } else { self.out.of_item.get(*at).copied() }
            })
            .filter(|node| seen.insert(*node))
            .collect()
    }

    /// The blocks whose `need` loosens this item: its own, and those it gets data from.
    fn loosened(&mut self, place: usize, item: &Item) -> BTreeSet<usize> {
        let own = self.out.joins.get(item.block).copied().flatten().map(|_| item.block);
        let words = self.guards.on_gate.get(&place).and_then(|words| self.outline.items.get(*words));
        let mut loose: BTreeSet<usize> = own.into_iter().collect();
        for r in item.refs().into_iter().chain(words.into_iter().flat_map(Item::refs)) {
            if let Some(from) =
                r.step().and_then(|name| self.places.get(name)).and_then(|at| self.from_joins.get(*at))
            {
                loose.extend(from);
            }
        }
        // Only joins whose counted steps are still in the frontier can matter to anyone below.
        loose.retain(|block| self.frontier.is_live(*block));
        if let Some(slot) = self.from_joins.get_mut(place) {
            slot.clone_from(&loose);
        }
        loose
    }
}

impl Derived {
    /// A new node.
    fn node(&mut self, id: String, kind: NodeKind) -> NodeIx {
        let ix = NodeIx(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { id, kind });
        ix
    }

    /// A join of all these, in front of whoever waits for many.
    pub(super) fn join_all(&mut self, number: usize, from: &[(NodeIx, Asks)]) -> NodeIx {
        let join = self.node(format!("above-{number}/join"), NodeKind::Join(Join::All));
        for (node, asks) in from {
            self.edge(*node, join, Reason::Effect, *asks);
        }
        join
    }

    fn edge(&mut self, from: NodeIx, to: NodeIx, reason: Reason, asks: Asks) {
        self.edges.push((from, to, reason, asks));
    }

    fn guard(&mut self, gate: NodeIx, node: NodeIx) {
        if let Some(Node { kind: NodeKind::Gate { call, .. }, .. }) = self.nodes.get_mut(gate.0 as usize) {
            *call = node;
        }
        self.edge(gate, node, Reason::Gate, Asks::Yes);
    }

    /// The plan, with parallel edges made one.
    pub(super) fn into_plan(mut self, outline: Outline, policy: Digest) -> Plan {
        self.edges.sort_unstable();
        self.edges.dedup();
        let mut graph = DiGraph::with_capacity(self.nodes.len(), self.edges.len());
        for node in self.nodes {
            graph.add_node(node);
        }
        let mut edges: Vec<(NodeIx, NodeIx, Edge)> = Vec::with_capacity(self.edges.len());
        for (from, to, reason, asks) in self.edges {
            match edges.last_mut() {
                Some((f, t, edge)) if (*f, *t) == (from, to) => match edge.reasons.last_mut() {
                    // Sorted: what is asked last is the most.
                    Some((last, most)) if *last == reason => *most = asks,
                    _ => edge.reasons.push((reason, asks)),
                },
                _ => edges.push((from, to, Edge { reasons: vec![(reason, asks)] })),
            }
        }
        for (from, to, edge) in edges {
            graph.add_edge(from.into(), to.into(), edge);
        }
        Plan { outline, policy, graph, of_item: self.of_item, joins: self.joins, notes: Vec::new() }
    }
}
