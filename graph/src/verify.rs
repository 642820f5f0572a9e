//! A plan held against a catalog and a policy. The executor takes nothing else.
//!
//! Verifying believes nothing in the plan but what its author typed: it judges every call of that again, against the tools
//! and the policy of now. Where the plan says just that of its calls, and was found where it was made to have the nodes and
//! edges that follow from what it says, nothing is left to look at. Everywhere else nodes and edges are derived again, and
//! compared one by one. What the plan adds (a gate that policy no longer demands, an effect that is no longer thought so
//! strong) stays; what it lacks is refused.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use crate::catalog::Catalog;
use crate::digest::{Digest, Document};
use crate::effect::{Classification, Effect};
use crate::lower::{Judgements, Lowered, Schemas, Worlds, judge};
use crate::outline::{Body, Call};
use crate::plan::{Edge, Join, Node, NodeIx, NodeKind, Plan};
use crate::policy::{Author, Policy};
use crate::problem::Problem;
use crate::value::Value;

/// A plan that passed: effects, asking, edges and gates were recomputed from catalog and policy and found in it.
///
/// A clone shares everything.
#[derive(Clone, Debug)]
pub struct VerifiedPlan(Arc<Held>);

#[derive(Debug)]
struct Held {
    plan: Plan,
    catalog: Catalog,
    policy: Policy,
    author: Author,
    judgements: Judgements,
    schemas: Schemas,
    documents: OnceLock<Documents>,
}

/// A verified plan and what it was held against, as they are stored.
#[derive(Clone, Debug)]
pub struct Documents {
    /// `actions.json`.
    pub plan: Document,
    /// The part of the catalog that it uses.
    pub catalog: Document,
    /// The policy, as TOML.
    pub policy: Document,
}

/// A read, about to be made. Only a [`VerifiedPlan`] makes one, and never for a call that changes something or is asked.
#[derive(Clone, Debug)]
pub struct ReadCall<'a> {
    server: &'a str,
    tool: &'a str,
    args: Vec<u8>,
}

impl Plan {
    /// Holds the plan against tools and policy, believing nothing in it. All refusals at once, each naming its step.
    ///
    /// Linear in nodes and edges.
    pub fn verify(
        self,
        catalog: &Catalog,
        policy: &Policy,
        author: Author,
    ) -> Result<VerifiedPlan, Vec<Problem>> {
        let mut lowered = self.judge(catalog, policy, author);
        let worlds = Worlds::of(self.drawn().typed(), policy);
        let stands = self.drawn().notes_if(&lowered, &worlds).map(|said| lowered.notes(said));
        // Either way what follows from what was typed: the same nodes and edges, and words that nobody can have written
        // into the file.
        let plan = if let Some(notes) = stands {
            self.with_notes(notes)
        } else {
            lowered.derive(worlds);
            self.made_again(&mut lowered, catalog)?
        };
        let catalog = catalog.part(plan.drawn().typed().tools_called());
        Ok(VerifiedPlan(Arc::new(Held {
            plan,
            catalog,
            policy: policy.clone(),
            author,
            judgements: lowered.judgements,
            schemas: lowered.schemas,
            documents: OnceLock::new(),
        })))
    }

    /// What each call is to catalog and policy; what the plan says of it is the floor.
    fn judge(&self, catalog: &Catalog, policy: &Policy, author: Author) -> Lowered {
        let drawn = self.drawn();
        judge(Arc::clone(drawn.typed()), catalog, policy, author, drawn.marks())
    }

    /// What this plan's outline lowers to: all that is wrong with the plan, or the plan that was made again where nothing is.
    fn made_again(&self, lowered: &mut Lowered, catalog: &Catalog) -> Result<Plan, Vec<Problem>> {
        let same = lowered.is(self.drawn());
        let again = lowered.plan(self.policy());
        let mut refusals = lowered.errors();
        refusals.extend(self.changed_definitions(catalog));
        refusals.extend(self.relabelled(&lowered.judgements));
        if let Some(again) = again.as_ref().filter(|_| !same) {
            refusals.extend(compare(self, again));
        }
        match again {
            Some(again) if refusals.is_empty() => Ok(again),
            None if refusals.is_empty() => {
                let message = "the plan could not be made again from what it says";
                Err(vec![Problem::error("V0400", None, message)])
            }
            _ => Err(refusals),
        }
    }

    /// The plan of the same recipe against other tools and another policy, as strict as this one at least. For a person
    /// to accept in its place.
    pub fn again(
        &self,
        catalog: &Catalog,
        policy: &Policy,
        author: Author,
    ) -> Result<VerifiedPlan, Vec<Problem>> {
        let mut lowered = self.judge(catalog, policy, author);
        lowered.derive(Worlds::of(self.drawn().typed(), policy));
        match lowered.plan(policy.digest()) {
            Some(plan) => plan.verify(catalog, policy, author),
            None => Err(lowered.errors()),
        }
    }

    /// All calls with their nodes.
    pub fn calls(&self) -> impl Iterator<Item = (NodeIx, &Call)> {
        self.nodes().filter_map(|(ix, node)| match &node.kind {
            NodeKind::Call { item, .. } => match &self.outline().items.get(*item)?.body {
                Body::Call(call) => Some((ix, call)),
                _ => None,
            },
            _ => None,
        })
    }

    fn changed_definitions(&self, catalog: &Catalog) -> Vec<Problem> {
        let mut seen: HashMap<(&str, &str), Option<Digest>> = HashMap::new();
        let mut told = HashSet::new();
        let mut problems = Vec::new();
        for (ix, call) in self.calls() {
            let NodeKind::Call { item, judged } = &self.node(ix).kind else { continue };
            let tool = (call.server.as_str(), call.tool.as_str());
            let Some(now) = *seen.entry(tool).or_insert_with(|| catalog.digest(tool.0, tool.1)) else {
                continue;
            };
            if now != judged.definition && told.insert(tool) {
                let message = format!(
                    "the tool {}.{} is not the one that `{}` was planned with: its definition was {} and is {}",
                    call.server,
                    call.tool,
                    call.name,
                    judged.definition.short(),
                    now.short()
                );
                let problem = Problem::error("V0301", Some(*item), message);
                problems.push(problem.help("look at what changed, then compile the recipe again"));
            }
        }
        problems
    }

    /// Calls that the plan says are weaker than they are, or not asked although they are.
    fn relabelled(&self, judgements: &Judgements) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (ix, call) in self.calls() {
            let NodeKind::Call { item, judged } = &self.node(ix).kind else { continue };
            let Some(found) = judgements.found(*item) else { continue };
            let place = Some(*item);
            let name = || format!("`{}` ({}.{})", call.name, call.server, call.tool);
            if found.now.effect > judged.effect {
                let message = format!(
                    "the plan says that {} is `{}`; it is `{}`",
                    name(),
                    judged.effect,
                    found.now.effect
                );
                problems.push(Problem::error("V0302", place, message).help(AGAIN));
            }
            if found.asked_now && !judged.asked {
                let message =
                    format!("the plan says that {} is not asked; it is: {}", name(), found.why.says);
                problems.push(Problem::error("V0303", place, message).help(AGAIN));
            }
            if (found.asked_now || judged.asked) && self.gate_of(ix).is_none() {
                let message = format!("{} is to be asked, and has no gate", name());
                problems.push(Problem::error("V0304", place, message).help(AGAIN));
            }
        }
        problems
    }
}

/// Help for a plan that is not what its recipe compiles to.
const AGAIN: &str = "compile the recipe again; a plan is not edited by hand";

/// Where a plan differs from what its outline lowers to.
fn compare(plan: &Plan, again: &Plan) -> Vec<Problem> {
    let mut problems = Vec::new();
    let ids =
        |plan: &Plan| -> HashMap<String, NodeIx> { plan.nodes().map(|(ix, n)| (n.id.clone(), ix)).collect() };
    let (have, want) = (ids(plan), ids(again));
    for (ix, node) in again.nodes() {
        let item = again.item_of(ix).map(|(item, _)| item);
        match have.get(&node.id) {
            None => {
                let (code, message) = match &node.kind {
                    NodeKind::Gate { call, .. } => {
                        ("V0401", format!("the gate in front of `{}` is missing", again.node(*call).id))
                    }
                    _ => ("V0402", format!("the node {:?} is missing", node.id)),
                };
                problems.push(Problem::error(code, item, message).help(AGAIN));
            }
            Some(own) if !same(plan, plan.node(*own), again, node) => {
                let message = format!("the node {:?} is not what its recipe makes it", node.id);
                problems.push(Problem::error("V0403", item, message).help(AGAIN));
            }
            Some(_) => {}
        }
    }
    for (_, node) in plan.nodes().filter(|(_, n)| !want.contains_key(&n.id)) {
        let message = format!("the node {:?} follows from nothing that was typed", node.id);
        problems.push(Problem::error("V0404", None, message).help(AGAIN));
    }
    let (had, wanted) = (edges(plan), edges(again));
    for (ends, wait) in &wanted {
        match had.get(ends) {
            None => problems.push(missing(again, *ends, *wait)),
            Some(own) if own.edge.reasons != wait.edge.reasons => {
                problems.push(changed(again, *ends, own.edge, *wait));
            }
            Some(_) => {}
        }
    }
    for ((from, to), wait) in had.iter().filter(|(ends, _)| !wanted.contains_key(*ends)) {
        let message = format!("`{to}` waits for `{from}` ({}), for no reason", reasons(wait.edge));
        problems.push(Problem::error("V0407", None, message).help(AGAIN));
    }
    if problems.is_empty() && plan.nodes().zip(again.nodes()).any(|((_, a), (_, b))| a.id != b.id) {
        problems
            .push(Problem::error("V0408", None, "the nodes are not in the order of the recipe").help(AGAIN));
    }
    problems
}

/// Where a plan waits for less than `again` does. Waiting for more is no fault.
fn weaker(plan: &Plan, again: &Plan) -> Vec<Problem> {
    let had = edges(plan);
    let mut problems = Vec::new();
    for (ends, wait) in edges(again) {
        match had.get(&ends) {
            None => problems.push(missing(again, ends, wait)),
            Some(own) if own.edge.asks() < wait.edge.asks() => {
                problems.push(changed(again, ends, own.edge, wait));
            }
            Some(_) => {}
        }
    }
    problems
}

/// An edge with the node that waits.
#[derive(Clone, Copy)]
struct Wait<'a> {
    edge: &'a Edge,
    by: NodeIx,
}

/// The ids at the ends of an edge: its source, and what waits for it.
type Ends<'a> = (&'a str, &'a str);

fn edges(plan: &Plan) -> BTreeMap<Ends<'_>, Wait<'_>> {
    plan.nodes()
        .flat_map(|(from, node)| plan.outgoing(from).into_iter().map(move |(to, edge)| (node, to, edge)))
        .map(|(node, by, edge)| ((node.id.as_str(), plan.node(by).id.as_str()), Wait { edge, by }))
        .collect()
}

fn missing(of: &Plan, (from, to): Ends<'_>, wait: Wait<'_>) -> Problem {
    let message = format!("`{to}` must wait for `{from}` ({}); the edge is missing", reasons(wait.edge));
    Problem::error("V0405", wait.item(of), message).help(AGAIN)
}

fn changed(of: &Plan, (from, to): Ends<'_>, own: &Edge, wait: Wait<'_>) -> Problem {
    let message =
        format!("`{to}` waits for `{from}` ({}); it must be ({})", reasons(own), reasons(wait.edge));
    Problem::error("V0406", wait.item(of), message).help(AGAIN)
}

impl Wait<'_> {
    /// The item that waits: behind a gate, its call.
    fn item(self, plan: &Plan) -> Option<usize> {
        let step = match plan.node(self.by).kind {
            NodeKind::Gate { call, .. } => call,
            _ => self.by,
        };
        plan.item_of(step).map(|(item, _)| item)
    }
}

fn reasons(edge: &Edge) -> String {
    let words: Vec<String> = edge
        .reasons
        .iter()
        .map(|(reason, asks)| format!("{reason:?}, asks {asks:?}").to_lowercase())
        .collect();
    words.join("; ")
}

/// Whether two nodes are the same but for the evidence, which is words, and for indices, which are compared as ids.
fn same(plan: &Plan, own: &Node, again: &Plan, made: &Node) -> bool {
    let ids = |of: &[NodeIx], of_made: &[NodeIx]| {
        of.len() == of_made.len()
            && of.iter().zip(of_made).all(|(a, b)| plan.node(*a).id == again.node(*b).id)
    };
    match (&own.kind, &made.kind) {
        (NodeKind::Call { item, judged }, NodeKind::Call { item: item_made, judged: judged_made }) => {
            item == item_made && judged.effect == judged_made.effect && judged.asked == judged_made.asked
        }
        (NodeKind::Gate { call, question }, NodeKind::Gate { call: call_made, question: question_made }) => {
            plan.node(*call).id == again.node(*call_made).id && question == question_made
        }
        (
            NodeKind::Join(Join::Need { block, k, of }),
            NodeKind::Join(Join::Need { block: block_made, k: k_made, of: of_made }),
        ) => block == block_made && k == k_made && ids(of, of_made),
        (own, made) => own == made,
    }
}

impl VerifiedPlan {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.0.plan
    }

    /// The definitions of the tools that it uses, and no others.
    pub fn catalog(&self) -> &Catalog {
        &self.0.catalog
    }

    /// The policy it was held against.
    pub fn policy(&self) -> &Policy {
        &self.0.policy
    }

    /// Who the host says wrote it.
    pub fn author(&self) -> Author {
        self.0.author
    }

    /// Plan, catalog and policy as they are stored. Written once, on first use, and kept with the plan.
    pub fn documents(&self) -> &Documents {
        self.0.documents.get_or_init(|| Documents {
            plan: self.0.plan.to_json().into_bytes().into(),
            catalog: self.0.catalog.to_json().into_bytes().into(),
            policy: self.0.policy.to_toml().as_bytes().into(),
        })
    }

    /// What a call is, as classified against the catalog and policy of now. Nothing for other nodes.
    pub fn classification(&self, call: NodeIx) -> Option<&Classification> {
        let (item, _) = self.0.plan.item_of(call)?;
        self.0.judgements.found(item).map(|found| found.now.as_ref())
    }

    /// What a call counts as: the stronger of the plan's word and of the catalog and policy of now. Nothing for other nodes.
    pub fn effect(&self, call: NodeIx) -> Option<Effect> {
        let NodeKind::Call { judged, .. } = &self.0.plan.node(call).kind else { return None };
        Some(judged.effect.max(self.classification(call)?.effect))
    }

    /// Holds the plan against other documents too, for instance those of now when a run is resumed: what became stricter
    /// is refused, what became looser changes nothing. All refusals at once, each naming its step.
    pub fn hold(&self, catalog: &Catalog, policy: &Policy) -> Result<(), Vec<Problem>> {
        let mut lowered = self.0.plan.judge(catalog, policy, self.0.author);
        let merged = self.worlds_merged(policy);
        if merged {
            lowered.derive(Worlds::of(self.0.plan.drawn().typed(), policy));
        } else {
            lowered.find_faults();
        }
        let mut refusals = lowered.errors();
        refusals.extend(self.0.plan.changed_definitions(catalog));
        refusals.extend(self.0.plan.relabelled(&lowered.judgements));
        refusals.extend(self.moved_servers(catalog));
        if merged && let Some(again) = lowered.plan(self.0.plan.policy()) {
            refusals.extend(weaker(&self.0.plan, &again));
        }
        if refusals.is_empty() { Ok(()) } else { Err(refusals) }
    }

    /// Servers that are another program or address than they were.
    fn moved_servers(&self, catalog: &Catalog) -> Vec<Problem> {
        let origin = |of: &Catalog, name: &str| of.server(name).and_then(|s| s.origin.clone());
        let mut problems = Vec::new();
        let mut seen = HashSet::new();
        for (ix, call) in self.0.plan.calls() {
            let (Some(was), Some(is)) =
                (origin(&self.0.catalog, &call.server), origin(catalog, &call.server))
            else {
                continue;
            };
            if was != is && seen.insert(&call.server) {
                let item = self.0.plan.item_of(ix).map(|(item, _)| item);
                let message = format!(
                    "the server `{}`, which `{}` calls, was {was:?} and is {is:?}",
                    call.server, call.name
                );
                problems.push(
                    Problem::error("V0305", item, message)
                        .help("a person must look at it before the run goes on"),
                );
            }
        }
        problems
    }

    /// Whether two servers of the plan see each other's effects now and did not when it was made.
    fn worlds_merged(&self, policy: &Policy) -> bool {
        let mut was: HashMap<&str, &str> = HashMap::new();
        self.0.plan.calls().any(|(_, call)| {
            let before = self.0.policy.world(&call.server);
            *was.entry(policy.world(&call.server)).or_insert(before) != before
        })
    }

    /// A read of this call's tool with final arguments. Nothing if the node is no call, is asked, or
    /// changes something, or if what was typed as a literal does not stand in the arguments: it may be why it only reads.
    pub fn read_call(&self, call: NodeIx, args: &Value) -> Option<ReadCall<'_>> {
        let NodeKind::Call { item, judged } = &self.0.plan.node(call).kind else { return None };
        let Body::Call(step) = &self.0.plan.outline().items.get(*item)?.body else { return None };
        if judged.asked || self.effect(call)?.changes() {
            return None;
        }
        let args = step.args.admits(args).then(|| args.canonical())?;
        Some(ReadCall { server: &step.server, tool: &step.tool, args })
    }

    /// Holds final arguments against the tool's input schema. The error says all that is wrong, in sentences.
    pub fn validate(&self, call: NodeIx, args: &Value) -> Result<(), String> {
        let Some((item, Body::Call(step))) = self.0.plan.item_of(call).map(|(i, item)| (i, &item.body))
        else {
            return Err(format!("{:?} is no call", self.0.plan.node(call).id));
        };
        let tool = (&step.server, &step.tool);
        let schema =
            self.0.plan.drawn().typed().tool_of(item).and_then(|tool| self.0.schemas.get(tool)?.as_ref());
        match schema {
            Some(Ok(schema)) => schema.validate(args).map_err(|faults| faults.join("; ")),
            Some(Err(broken)) => {
                Err(format!("the input schema of {}.{} is broken: {broken}", tool.0, tool.1))
            }
            None => Err(format!("{}.{} is not in the catalog", tool.0, tool.1)),
        }
    }
}

impl ReadCall<'_> {
    /// The server.
    pub fn server(&self) -> &str {
        self.server
    }

    /// The tool.
    pub fn tool(&self) -> &str {
        self.tool
    }

    /// The arguments: canonical JSON bytes, to be sent as they are.
    pub fn args(&self) -> &[u8] {
        &self.args
    }
}
