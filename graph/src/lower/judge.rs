//! What each call does outside, and whether it is asked.

use std::collections::HashMap;
use std::sync::Arc;

use super::Floor;
use super::shape::label;
use super::typed::Typed;
use crate::catalog::{Catalog, Definition};
use crate::digest::Digest;
use crate::effect::{Calls, Classification, Effect, Evidence};
use crate::outline::{Body, Call};
use crate::plan::Judged;
use crate::policy::{Asking, AskingOf, Author, Policy};
use crate::problem::Problem;
use crate::schema::{self, InputSchema};
use crate::template::Template;
use crate::value::Value;

/// What each call is, by item.
#[derive(Debug, Default)]
pub(crate) struct Judgements {
    /// Nothing for what is no call, and for calls that may not be made.
    by_item: Vec<Option<Judgement>>,
    /// What was found out, each thing once: most calls of one tool are the same to catalog and policy.
    found: Vec<Found>,
}

/// A call, judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judgement {
    /// Its effect: the stronger of the floor and of now.
    pub(crate) effect: Effect,
    /// Whether it gets a gate.
    pub(crate) asked: bool,
    /// What catalog and policy say of it: an index into `found`.
    found: usize,
}

/// What catalog and policy say now of a call, before any floor.
#[derive(Debug)]
pub(crate) struct Found {
    /// Digest of its tool's definition.
    pub(crate) definition: Digest,
    /// What it does.
    pub(crate) now: Arc<Classification>,
    /// Whether catalog and policy alone would have it asked.
    pub(crate) asked_now: bool,
    /// Why it is asked or not.
    pub(crate) why: Evidence,
    /// Both, as they go into the plan.
    pub(crate) evidence: Arc<[Evidence]>,
}

impl Judgements {
    /// The judgement of an item.
    pub(crate) fn of(&self, item: usize) -> Option<Judgement> {
        self.by_item.get(item).copied().flatten()
    }

    /// What was found out about an item.
    pub(crate) fn found(&self, item: usize) -> Option<&Found> {
        self.found.get(self.of(item)?.found)
    }

    /// What goes into the plan about a call that was judged.
    pub(super) fn judged(&self, item: usize) -> Option<Judged> {
        let (judgement, found) = (self.of(item)?, self.found(item)?);
        Some(Judged {
            definition: found.definition,
            effect: judgement.effect,
            asked: judgement.asked,
            evidence: Arc::clone(&found.evidence),
        })
    }

    /// Whether a plan says the same of a call, but for the words.
    pub(super) fn is(&self, item: usize, own: &Judged) -> bool {
        self.of(item).is_some_and(|now| now.effect == own.effect && now.asked == own.asked)
            && self.found(item).is_some_and(|found| found.definition == own.definition)
    }

    /// Puts the words of now in the place of those that a plan has.
    pub(crate) fn put_words<'p>(&self, judged: impl Iterator<Item = (usize, &'p mut Judged)>) {
        for (item, judged) in judged {
            if let Some(found) = self.found(item) {
                judged.evidence = Arc::clone(&found.evidence);
            }
        }
    }

    /// Whether the words of a plan are those of now.
    pub(crate) fn are_words<'p>(&self, judged: impl Iterator<Item = (usize, &'p Judged)>) -> bool {
        // Most calls share their words with the call before.
        let mut same: Option<(&Arc<[Evidence]>, usize)> = None;
        for (item, own) in judged {
            let Some(at) = self.of(item).map(|judgement| judgement.found) else { return false };
            if same.is_some_and(|(words, found)| found == at && Arc::ptr_eq(words, &own.evidence)) {
                continue;
            }
            if self.found.get(at).is_none_or(|found| found.evidence != own.evidence) {
                return false;
            }
            same = Some((&own.evidence, at));
        }
        true
    }
}

/// The input schemas of the tools that are called, in the order of [`Typed::tools_called`]; nothing where a tool is not in
/// the catalog, and the error is what is broken in one.
pub(crate) type Schemas = Vec<Option<Result<InputSchema, String>>>;

/// Judges every call. What is wrong for certain becomes a problem.
pub(super) fn calls(
    typed: &Typed,
    catalog: &Catalog,
    policy: &Policy,
    author: Author,
    floor: &Floor,
    problems: &mut Vec<Problem>,
) -> (Judgements, Schemas) {
    let outline = &typed.outline;
    let tool = |(server, tool)| Some(Tool::of(server, catalog.definition(server, tool)?, policy));
    let mut tools: Vec<Option<Tool<'_>>> = typed.tools_called().map(tool).collect();
    let mut judgements = Judgements { by_item: vec![None; outline.items.len()], found: Vec::new() };
    let mut written: HashMap<(usize, &Value), &str> = HashMap::new();
    let inputs: schema::Inputs<'_> = outline.inputs.iter().map(|i| (i.name.as_str(), i.kind)).collect();
    for (place, item) in outline.items.iter().enumerate() {
        let Body::Call(call) = &item.body else { continue };
        let Some(at) = typed.tool_of(place) else { continue };
        let Some(tool) = tools.get_mut(at).and_then(Option::as_mut) else {
            let message = format!("{} calls a tool that is not in the catalog", label(item));
            let help = format!("look at `plangate tools` for what {} offers", call.server);
            problems.push(Problem::error("R0501", Some(place), message).help(help));
            continue;
        };
        problems.extend(tool.hold(place, call, &inputs));
        let asking = match tool.ask(call, author, &mut judgements.found) {
            Ok(found) => judgements.found.get(found).map(|is| (found, is)),
            Err(why) => {
                problems.push(Problem::error(
                    "R0502",
                    Some(place),
                    format!("{} is denied by the policy: {}", label(item), why.says),
                ));
                continue;
            }
        };
        let Some((found, Found { now, asked_now, why, .. })) = asking else { continue };
        let (least, gated) = floor.get(place).copied().unwrap_or((Effect::Read, false));
        let effect = now.effect.max(least);
        let asked = *asked_now || gated;
        if asked && let Some((why, help)) = tool.undecidable(call) {
            let message = format!("{} is to be asked, and nobody could decide it: {why}", label(item));
            problems.push(Problem::error("P0203", Some(place), message).help(help));
        }
        if call.without_asking {
            problems.extend(waiver(place, call, now, *asked_now, author, why));
        }
        if call.settings.retry > 0 && effect.changes() {
            let message = format!("{} changes something outside and is never tried again", label(item));
            let help = "take `retry:` out: what was not done can be asked again, what may have been done must not be repeated";
            problems.push(Problem::error("R0504", Some(place), message).help(help));
        }
        if effect.changes()
            && let Some(literal) = call.args.literal()
            && let Some(first) = written.insert((at, literal), &call.name)
        {
            let message = format!("{} is the same call with the same arguments as `{first}`", label(item));
            let help = format!(
                "a plan that changes something twice by mistake is refused: take one out, or let `{}` differ",
                call.name
            );
            problems.push(Problem::error("R0506", Some(place), message).help(help));
        }
        if let Some(slot) = judgements.by_item.get_mut(place) {
            *slot = Some(Judgement { effect, asked, found });
        }
    }
    let schemas = tools.into_iter().map(|tool| Some(tool?.schema)).collect();
    (judgements, schemas)
}

/// One tool that is called, and what its calls had in common so far.
struct Tool<'a> {
    policy: &'a Policy,
    server: &'a str,
    definition: &'a Definition,
    schema: Result<InputSchema, String>,
    calls: Calls<'a>,
    /// The last arguments that nothing was wrong with.
    passed: Option<&'a Template>,
    /// What was found out of calls that say `without asking`, and of those that do not, where arguments have no say in it.
    found: [Option<Result<usize, Evidence>>; 2],
    /// Somebody could decide a gate of it, and arguments have no say in that.
    decidable: bool,
}

impl<'a> Tool<'a> {
    fn of(server: &'a str, definition: &'a Definition, policy: &'a Policy) -> Tool<'a> {
        Tool {
            policy,
            server,
            definition,
            schema: InputSchema::new(&definition.input_schema),
            calls: Calls::of(server, definition, policy),
            passed: None,
            found: [None, None],
            decidable: false,
        }
    }

    /// Holds the arguments of a call against the schema.
    fn hold(&mut self, place: usize, call: &'a Call, inputs: &schema::Inputs<'_>) -> Vec<Problem> {
        if self.passed.is_some_and(|passed| schema::alike(passed, &call.args, inputs)) {
            return Vec::new();
        }
        let problems = arguments(place, call, &self.schema, inputs);
        if problems.is_empty() {
            self.passed = Some(&call.args);
        }
        problems
    }

    /// What catalog and policy say of a call: an index into what was found. The error is why it may not be made at all.
    fn ask(&mut self, call: &Call, author: Author, found: &mut Vec<Found>) -> Result<usize, Evidence> {
        if !self.calls.are_alike() {
            return self.judge(call, author, found);
        }
        if let Some(Some(known)) = self.found.get(usize::from(call.without_asking)) {
            return known.clone();
        }
        let known = self.judge(call, author, found);
        if let Some(slot) = self.found.get_mut(usize::from(call.without_asking)) {
            *slot = Some(known.clone());
        }
        known
    }

    fn judge(&mut self, call: &Call, author: Author, found: &mut Vec<Found>) -> Result<usize, Evidence> {
        let now = self.calls.classify(&call.args);
        let asking = self.policy.asking(
            &AskingOf {
                server: self.server,
                definition: self.definition,
                classification: &now,
                args: Some(&call.args),
                final_args: call.args.literal(),
                without_asking: call.without_asking,
            },
            author,
        );
        let (asked_now, why) = match asking {
            Asking::Ask(why) => (true, why),
            Asking::Through(why) => (false, why),
            Asking::Deny(why) => return Err(why),
        };
        let same = |is: &Found| Arc::ptr_eq(&is.now, &now) && is.asked_now == asked_now && is.why == why;
        if found.last().is_some_and(same) {
            return Ok(found.len() - 1);
        }
        let evidence = if asked_now || why.effect.changes() {
            now.evidence.iter().chain([&why]).cloned().collect()
        } else {
            Arc::clone(&now.evidence)
        };
        found.push(Found { definition: self.calls.digest(), now, asked_now, why, evidence });
        Ok(found.len() - 1)
    }

    /// Why nobody could ever decide a gate of this call and what to do about it, if that is so.
    fn undecidable(&mut self, call: &Call) -> Option<(String, &'static str)> {
        if self.decidable {
            return None;
        }
        let why = self.policy.undecidable(self.server, &self.definition.name, call.args.literal());
        self.decidable = why.is_none() && self.calls.are_alike();
        why
    }
}

fn waiver(
    place: usize,
    call: &Call,
    now: &Classification,
    asked: bool,
    author: Author,
    why: &Evidence,
) -> Option<Problem> {
    let name = &call.name;
    if !asked {
        return (!now.effect.changes()).then(|| {
            let message = format!("`{name}` only reads: nobody would be asked");
            Problem::warning("R0505", Some(place), message).help("take `without asking` out")
        });
    }
    Some(match author {
        Author::Model => {
            let message =
                format!("`{name}` says `without asking`; that is void in a recipe that a model wrote");
            Problem::warning("R0503", Some(place), message).help("it stays asked; a policy rule can allow it")
        }
        Author::Person => {
            let message = format!("`{name}` cannot go without asking: {}", why.says);
            let help = "take `without asking` out, or allow the tool in the policy";
            Problem::error("R0503", Some(place), message).help(help)
        }
    })
}

fn arguments(
    place: usize,
    call: &Call,
    schema: &Result<InputSchema, String>,
    inputs: &schema::Inputs<'_>,
) -> Vec<Problem> {
    let name = &call.name;
    match schema {
        Ok(schema) => schema
            .check(&call.args, inputs)
            .into_iter()
            .map(|fault| {
                let problem = Problem::error("R0510", Some(place), format!("`{name}`: {}", fault.message));
                match fault.help {
                    Some(help) => problem.help(help),
                    None => problem,
                }
            })
            .collect(),
        Err(broken) => {
            let message = format!(
                "{}.{} cannot be called: its input schema is broken: {broken}",
                call.server, call.tool
            );
            vec![Problem::error("R0511", Some(place), message).help("the server must mend its schema")]
        }
    }
}
