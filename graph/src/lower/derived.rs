//! What follows from an outline: nodes and edges as numbers. A plan is drawn from it, or held against it.

use petgraph::graph::DiGraph;

use super::drawn::Drawn;
use super::judgements::{Judgements, Mark, Marks};
use super::typed::Typed;
use crate::outline::{Item, Outline};
use crate::plan::{Asks, Edge, Join, Node, NodeIx, NodeKind, Reason};

/// The nodes and edges that follow from an outline.
pub(crate) struct Derived {
    nodes: Vec<Made>,
    /// Once settled: by source, target and reason, none twice.
    edges: Vec<(NodeIx, NodeIx, Reason, Asks)>,
    of_item: Vec<NodeIx>,
    joins: Vec<Option<NodeIx>>,
    /// What the `need` joins count, one after the other.
    of_needs: Vec<NodeIx>,
}

/// A node, by the numbers that it is made of.
#[derive(Clone, Copy)]
pub(super) enum Made {
    /// A call of a tool.
    Call { item: usize },
    /// A sentence.
    Write { item: usize },
    /// The join of a block's `need`; `of` is a range of `of_needs`.
    Need { block: usize, number: usize, k: u32, of: (usize, usize) },
    /// A join of all that somebody waits for.
    All { number: usize },
    /// The gate of the call that is this item.
    Gate { item: usize, call: NodeIx, question: Option<usize> },
    /// A question.
    Ask { item: usize, number: usize },
    /// A test.
    Check { item: usize, number: usize },
}

impl Derived {
    /// Nothing yet.
    pub(super) fn of(outline: &Outline) -> Derived {
        Derived {
            nodes: Vec::with_capacity(outline.items.len()),
            edges: Vec::with_capacity(outline.items.len()),
            of_item: vec![NodeIx(0); outline.items.len()],
            joins: vec![None; outline.blocks.len()],
            of_needs: Vec::new(),
        }
    }

    /// The node of an item: of a question whose words stand on a gate, that gate.
    pub(super) fn node_of(&self, item: usize) -> Option<NodeIx> {
        self.of_item.get(item).copied()
    }

    /// The `need` join of a block.
    pub(super) fn join_of(&self, block: usize) -> Option<NodeIx> {
        self.joins.get(block).copied().flatten()
    }

    /// The node of a step, question or check.
    pub(super) fn step(&mut self, item: usize, made: Made) -> NodeIx {
        let ix = self.node(made);
        self.set_node_of(item, ix);
        ix
    }

    /// A gate and the call behind it; gives the gate.
    pub(super) fn guarded_call(&mut self, item: usize, question: Option<usize>) -> NodeIx {
        let call = NodeIx(self.next().0.saturating_add(1));
        let gate = self.node(Made::Gate { item, call, question });
        self.step(item, Made::Call { item });
        self.edge(gate, call, Reason::Gate, Asks::Yes);
        if let Some(question) = question {
            self.set_node_of(question, gate);
        }
        gate
    }

    /// The join of a block's `need`, which counts these.
    pub(super) fn need_join(&mut self, block: usize, number: usize, k: u32, counted: &[NodeIx]) -> NodeIx {
        let begin = self.of_needs.len();
        self.of_needs.extend(counted);
        let join = self.node(Made::Need { block, number, k, of: (begin, self.of_needs.len()) });
        for step in counted {
            self.edge(*step, join, Reason::Counted, Asks::Ended);
        }
        if let Some(slot) = self.joins.get_mut(block) {
            *slot = Some(join);
        }
        join
    }

    /// A join of all these, in front of whoever waits for many.
    pub(super) fn join_all(&mut self, number: usize, from: &[(NodeIx, Asks)]) -> NodeIx {
        let join = self.node(Made::All { number });
        for (node, asks) in from {
            self.edge(*node, join, Reason::Effect, *asks);
        }
        join
    }

    /// A reason to wait.
    pub(super) fn edge(&mut self, from: NodeIx, to: NodeIx, reason: Reason, asks: Asks) {
        self.edges.push((from, to, reason, asks));
    }

    /// Puts the edges in order; of two with one reason the one that asks more stays.
    pub(super) fn settle(&mut self) {
        self.by_source();
        for of_source in self.edges.chunk_by_mut(|a, b| a.0 == b.0) {
            of_source.sort_unstable();
        }
        self.edges.dedup_by(|later, kept| {
            let same = (later.0, later.1, later.2) == (kept.0, kept.1, kept.2);
            if same {
                kept.3 = later.3;
            }
            same
        });
    }

    /// Puts the edges in the order of their sources, those of one source as they were made: by their targets, mostly.
    fn by_source(&mut self) {
        let mut next = vec![0; self.nodes.len() + 1];
        for (from, ..) in &self.edges {
            if let Some(count) = next.get_mut(from.0 as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for count in &mut next {
            sum += *count;
            *count = sum;
        }
        let mut sorted = self.edges.clone();
        for edge in &self.edges {
            if let Some(at) = next.get_mut(edge.0.0 as usize)
                && let Some(slot) = sorted.get_mut(*at)
            {
                *slot = *edge;
                *at += 1;
            }
        }
        self.edges = sorted;
    }

    /// For each item, whether its node waits for nothing.
    pub(super) fn starts_at_once(&self) -> impl Fn(usize) -> bool + '_ {
        let mut waits = vec![false; self.nodes.len()];
        for (_, to, ..) in &self.edges {
            if let Some(slot) = waits.get_mut(to.0 as usize) {
                *slot = true;
            }
        }
        move |item| self.node_of(item).is_some_and(|node| waits.get(node.0 as usize) == Some(&false))
    }

    fn next(&self) -> NodeIx {
        NodeIx(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX))
    }

    fn node(&mut self, made: Made) -> NodeIx {
        let ix = self.next();
        self.nodes.push(made);
        ix
    }

    fn set_node_of(&mut self, item: usize, ix: NodeIx) {
        if let Some(slot) = self.of_item.get_mut(item) {
            *slot = ix;
        }
    }

    /// The nodes and edges; nothing where a call was not judged.
    pub(super) fn graph(&self, typed: &Typed, judgements: &Judgements) -> Option<DiGraph<Node, Edge>> {
        let mut graph = DiGraph::with_capacity(self.nodes.len(), self.edges.len());
        for made in &self.nodes {
            graph
                .add_node(Node { id: Derived::id(*made, typed).text(), kind: self.kind(*made, judgements)? });
        }
        for of_ends in self.edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let Some((from, to, ..)) = of_ends.first() else { continue };
            let reasons = of_ends.iter().map(|(.., reason, asks)| (*reason, *asks)).collect();
            graph.add_edge((*from).into(), (*to).into(), Edge { reasons });
        }
        Some(graph)
    }

    /// The node of each item, and the `need` join of each block that has one.
    pub(super) fn places(self) -> (Vec<NodeIx>, Vec<Option<NodeIx>>) {
        (self.of_item, self.joins)
    }

    fn kind(&self, made: Made, judgements: &Judgements) -> Option<NodeKind> {
        Some(match made {
            Made::Call { item } => NodeKind::Call { item, judged: judgements.judged(item)? },
            Made::Write { item } => NodeKind::Write { item },
            Made::Need { block, k, of, .. } => {
                NodeKind::Join(Join::Need { block, k, of: self.counted(of).to_vec() })
            }
            Made::All { .. } => NodeKind::Join(Join::All),
            Made::Gate { call, question, .. } => NodeKind::Gate { call, question },
            Made::Ask { item, .. } => NodeKind::Ask { item },
            Made::Check { item, .. } => NodeKind::Check { item },
        })
    }

    fn counted(&self, (begin, end): (usize, usize)) -> &[NodeIx] {
        self.of_needs.get(begin..end).unwrap_or_default()
    }

    fn id(made: Made, typed: &Typed) -> Id<'_> {
        let name = |item: usize| typed.outline.items.get(item).and_then(Item::name).unwrap_or_default();
        match made {
            Made::Call { item } | Made::Write { item } => Id { stem: name(item), number: None, end: "" },
            Made::Gate { item, .. } => Id { stem: name(item), number: None, end: "/gate" },
            Made::Need { number, .. } => Id { stem: "then-", number: Some(number), end: "/join" },
            Made::All { number } => Id { stem: "above-", number: Some(number), end: "/join" },
            Made::Ask { number, .. } => Id { stem: "question-", number: Some(number), end: "/ask" },
            Made::Check { number, .. } => Id { stem: "check-", number: Some(number), end: "/check" },
        }
    }
}

/// Holding nodes and edges of the same outline against what was derived.
impl Derived {
    /// Whether these nodes and edges are drawn, with calls that count as much as these, and no others. Linear.
    pub(crate) fn is(&self, drawn: &Drawn, marks: &Marks) -> bool {
        drawn.of_item() == self.of_item
            && drawn.joins() == self.joins
            && drawn.graph().node_count() == self.nodes.len()
            && self.nodes.iter().zip(drawn.graph().node_weights()).all(|(made, own)| {
                self.is_kind(*made, &own.kind, marks) && Derived::id(*made, drawn.typed()).is(&own.id)
            })
            && self.are_edges(drawn)
    }

    fn is_kind(&self, made: Made, own: &NodeKind, marks: &Marks) -> bool {
        match (made, own) {
            (Made::Call { item }, NodeKind::Call { item: own, judged }) => {
                let says = Mark { effect: judged.effect, asked: judged.asked };
                item == *own && marks.of(item) == Some(says)
            }
            (Made::Write { item }, NodeKind::Write { item: own })
            | (Made::Ask { item, .. }, NodeKind::Ask { item: own })
            | (Made::Check { item, .. }, NodeKind::Check { item: own }) => item == *own,
            (
                Made::Need { block, k, of, .. },
                NodeKind::Join(Join::Need { block: b, k: own, of: counted }),
            ) => block == *b && k == *own && self.counted(of) == counted,
            (Made::All { .. }, NodeKind::Join(Join::All)) => true,
            (Made::Gate { call, question, .. }, NodeKind::Gate { call: own, question: words }) => {
                call == *own && question == *words
            }
            _ => false,
        }
    }

    fn are_edges(&self, drawn: &Drawn) -> bool {
        let mut derived = self.edges.iter();
        let mut last = None;
        for (from, to, edge) in drawn.edges_in_order() {
            // One edge between two nodes, and none without a reason.
            if edge.reasons.is_empty() || last.replace((from, to)) == Some((from, to)) {
                return false;
            }
            for (reason, asks) in &edge.reasons {
                if derived.next() != Some(&(from, to, *reason, *asks)) {
                    return false;
                }
            }
        }
        derived.next().is_none()
    }
}

/// The id of a node, in its parts.
struct Id<'a> {
    stem: &'a str,
    number: Option<usize>,
    end: &'static str,
}

impl Id<'_> {
    fn text(&self) -> String {
        match self.number {
            None => [self.stem, self.end].concat(),
            Some(number) => format!("{}{number}{}", self.stem, self.end),
        }
    }

    /// Whether a text is this id.
    fn is(&self, text: &str) -> bool {
        let rest = text.strip_prefix(self.stem).and_then(|rest| rest.strip_suffix(self.end));
        match self.number {
            None => rest == Some(""),
            Some(number) => rest == Some(&number.to_string()),
        }
    }
}
