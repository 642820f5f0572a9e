//! What each call does outside, and whether it is asked.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::Floor;
use super::shape::label;
use crate::catalog::{Catalog, Definition};
use crate::effect::{Calls, Classification, Effect, Evidence};
use crate::outline::{Body, Call, Outline};
use crate::plan::Judged;
use crate::policy::{Asking, AskingOf, Author, Policy};
use crate::problem::Problem;
use crate::schema::{self, InputSchema};

/// A call, judged.
#[derive(Clone, Debug)]
pub(crate) struct Judgement {
    /// What goes into the plan.
    pub(crate) judged: Judged,
    /// What catalog and policy say now, before any floor.
    pub(crate) now: Arc<Classification>,
    /// Whether catalog and policy alone would have it asked.
    pub(crate) asked_now: bool,
    /// Why it is asked or not.
    pub(crate) why: Evidence,
}

/// The input schemas of the tools that were looked at, by server and tool; the error is what is broken in one.
pub(crate) type Schemas = BTreeMap<String, BTreeMap<String, Result<InputSchema, String>>>;

/// Judges every call. What is wrong for certain becomes a problem.
pub(super) fn calls(
    outline: &Outline,
    catalog: &Catalog,
    policy: &Policy,
    author: Author,
    floor: &Floor,
    problems: &mut Vec<Problem>,
) -> (BTreeMap<usize, Judgement>, Schemas) {
    let mut judgements = BTreeMap::new();
    let mut schemas = Schemas::new();
    let mut classified = Calls::new(policy);
    let mut written: HashMap<(&str, &str, String), &str> = HashMap::new();
    let inputs: schema::Inputs<'_> = outline.inputs.iter().map(|i| (i.name.as_str(), i.kind)).collect();
    for (place, item) in outline.items.iter().enumerate() {
        let Body::Call(call) = &item.body else { continue };
        let Some(definition) = catalog.definition(&call.server, &call.tool) else {
            let message = format!("{} calls a tool that is not in the catalog", label(item));
            let help = format!("look at `plangate tools` for what {} offers", call.server);
            problems.push(Problem::error("R0501", Some(place), message).help(help));
            continue;
        };
        problems.extend(arguments(place, call, schema_of(&mut schemas, call, definition), &inputs));
        let (digest, now) = classified.classify(&call.server, definition, &call.args);
        let asking = policy.asking(
            &AskingOf {
                server: &call.server,
                definition,
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
            Asking::Deny(why) => {
                problems.push(Problem::error(
                    "R0502",
                    Some(place),
                    format!("{} is denied by the policy: {}", label(item), why.says),
                ));
                continue;
            }
        };
        let (least, gated) = floor.get(place).copied().unwrap_or((Effect::Read, false));
        let effect = now.effect.max(least);
        let asked = asked_now || gated;
        if asked && let Some((why, help)) = policy.undecidable(&call.server, &call.tool, call.args.literal())
        {
            let message = format!("{} is to be asked, and nobody could decide it: {why}", label(item));
            problems.push(Problem::error("P0203", Some(place), message).help(help));
        }
        if call.without_asking {
            problems.extend(waiver(place, call, &now, asked_now, author, &why));
        }
        if call.settings.retry > 0 && effect.changes() {
            let message = format!("{} changes something outside and is never tried again", label(item));
            let help = "take `retry:` out: what was not done can be asked again, what may have been done must not be repeated";
            problems.push(Problem::error("R0504", Some(place), message).help(help));
        }
        if effect.changes()
            && let Some(literal) = call.args.literal()
            && let Some(first) = written.insert((&call.server, &call.tool, literal.to_string()), &call.name)
        {
            let message = format!("{} is the same call with the same arguments as `{first}`", label(item));
            let help = format!(
                "a plan that changes something twice by mistake is refused: take one out, or let `{}` differ",
                call.name
            );
            problems.push(Problem::error("R0506", Some(place), message).help(help));
        }
        let asks = (asked_now || why.effect.changes()).then(|| why.clone());
        let evidence = match asks {
            None => Arc::clone(&now.evidence),
            Some(why) => now.evidence.iter().cloned().chain([why]).collect(),
        };
        let judged = Judged { definition: digest, effect, asked, evidence };
        judgements.insert(place, Judgement { judged, now, asked_now, why });
    }
    (judgements, schemas)
}

/// The schema of a call's tool, read when it is met first.
fn schema_of<'s>(
    schemas: &'s mut Schemas,
    call: &Call,
    definition: &Definition,
) -> &'s Result<InputSchema, String> {
    if !schemas.get(&call.server).is_some_and(|tools| tools.contains_key(&call.tool)) {
        let tools = schemas.entry(call.server.clone()).or_default();
        tools.insert(call.tool.clone(), InputSchema::new(&definition.input_schema));
    }
    #[expect(clippy::indexing_slicing, reason = "found or inserted just above")]
    &schemas[&call.server][&call.tool]
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
