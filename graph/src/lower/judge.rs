//! What each call does outside, and whether it is asked.

use std::sync::Arc;

use super::judgements::{Found, Judgements, Mark, Marks};
use super::kinds::Kind;
use super::shape::label;
use super::typed::Typed;
use crate::catalog::{Catalog, Definition};
use crate::effect::{Calls, Classification, Evidence};
use crate::outline::{Body, Call, Item};
use crate::policy::{Asking, AskingOf, Author, Policy};
use crate::problem::Problem;
use crate::schema::{self, InputSchema};

/// The input schemas of the tools that are called, in the order of [`Typed::tools_called`]; nothing where a tool is not in
/// the catalog, and the error is what is broken in one.
pub(crate) type Schemas = Vec<Option<Result<InputSchema, String>>>;

/// Judges every call, never below the floor. What is wrong for certain becomes a problem.
pub(super) fn calls(
    typed: &Typed,
    catalog: &Catalog,
    policy: &Policy,
    author: Author,
    floor: &Marks,
    problems: &mut Vec<Problem>,
) -> (Judgements, Schemas) {
    let outline = &typed.outline;
    let tool = |(server, tool)| Some(Tool::of(server, catalog.definition(server, tool)?, policy));
    let mut judging = Judging {
        author,
        inputs: outline.inputs.iter().map(|i| (i.name.as_str(), i.kind)).collect(),
        tools: typed.tools_called().map(tool).collect(),
        fit: vec![false; typed.calls.shapes],
        found: Vec::new(),
        problems,
    };
    let mut judgements = Judgements::of_items(outline.items.len());
    let mut seen: Vec<Seen> = vec![Seen::default(); typed.calls.kinds.len()];
    for call in &typed.calls.placed {
        let (place, at) = (call.place as usize, call.kind as usize);
        let (Some(kind), Some(seen)) = (typed.calls.kinds.get(at), seen.get_mut(at)) else { continue };
        let least = floor.of(place).unwrap_or(Mark::LEAST);
        // Most calls are of a kind of which there is nothing to say.
        let quiet = seen.quiet.filter(|quiet| quiet.decidable || !quiet.now.or(least).asked);
        let judged = match quiet {
            Some(quiet) => Some((quiet.found, quiet.now)),
            None => outline.items.get(place).and_then(|item| judging.call(place, item, kind, least, seen)),
        };
        if let Some((found, now)) = judged {
            let mark = now.or(least);
            judgements.raised |= mark != least;
            judgements.put(place, found, mark);
        }
    }
    judgements.found = judging.found;
    let schemas = judging.tools.into_iter().map(|tool| Some(tool?.schema)).collect();
    (judgements, schemas)
}

/// What was seen of the calls of one kind.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Nothing is wrong with their arguments.
    fit: bool,
    /// They are all judged like this, and there is nothing to say of any of them.
    quiet: Option<Quiet>,
}

#[derive(Clone, Copy)]
struct Quiet {
    /// An index into what was found.
    found: u32,
    /// What they are, before any floor.
    now: Mark,
    /// Somebody could decide a gate of them; otherwise that was not looked at.
    decidable: bool,
}

struct Judging<'a, 'p> {
    author: Author,
    inputs: schema::Inputs<'a>,
    tools: Vec<Option<Tool<'a>>>,
    /// For each shape of arguments, whether they pass a schema that looks at shapes alone.
    fit: Vec<bool>,
    found: Vec<Found>,
    problems: &'p mut Vec<Problem>,
}

impl Judging<'_, '_> {
    /// Judges one call, and says what is wrong with it: what was found of it, and what it is before any floor. Nothing where
    /// it may not be made.
    fn call(
        &mut self,
        place: usize,
        item: &Item,
        kind: &Kind,
        least: Mark,
        seen: &mut Seen,
    ) -> Option<(u32, Mark)> {
        let Body::Call(call) = &item.body else { return None };
        let Some(tool) = self.tools.get_mut(kind.tool as usize).and_then(Option::as_mut) else {
            let message = format!("{} calls a tool that is not in the catalog", label(item));
            let help = format!("look at `plangate tools` for what {} offers", call.server);
            self.problems.push(Problem::error("R0501", Some(place), message).help(help));
            return None;
        };
        let before = self.problems.len();
        let shape = self.fit.get_mut(kind.shape as usize).filter(|_| tool.looks_at_shapes);
        if !seen.fit && !shape.as_deref().copied().unwrap_or(false) {
            self.problems.extend(arguments(place, call, &tool.schema, &self.inputs));
            seen.fit = self.problems.len() == before;
            if let Some(shape) = shape {
                *shape = seen.fit;
            }
        }
        let at = match tool.ask(call, self.author, &mut self.found) {
            Ok(at) => at,
            Err(why) => {
                let message = format!("{} is denied by the policy: {}", label(item), why.says);
                self.problems.push(Problem::error("R0502", Some(place), message));
                return None;
            }
        };
        let found = self.found.get(at)?;
        let now = Mark { effect: found.now.effect, asked: found.asked_now };
        let asked = now.asked || least.asked;
        if asked && let Some((why, help)) = tool.undecidable(call) {
            let message = format!("{} is to be asked, and nobody could decide it: {why}", label(item));
            self.problems.push(Problem::error("P0203", Some(place), message).help(help));
        }
        if call.without_asking {
            let waiver = waiver(place, call, &found.now, found.asked_now, self.author, &found.why);
            self.problems.extend(waiver);
        }
        let at = u32::try_from(at).ok()?;
        if self.problems.len() == before && tool.calls.are_alike_in_kind(kind.literal) {
            seen.quiet = Some(Quiet { found: at, now, decidable: asked });
        }
        Some((at, now))
    }
}

/// One tool that is called, and what its calls had in common so far.
struct Tool<'a> {
    policy: &'a Policy,
    server: &'a str,
    definition: &'a Definition,
    schema: Result<InputSchema, String>,
    /// Its schema asks for shapes alone.
    looks_at_shapes: bool,
    calls: Calls<'a>,
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
            looks_at_shapes: schema::looks_at_shapes(&definition.input_schema),
            calls: Calls::of(server, definition, policy),
            found: [None, None],
            decidable: false,
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Effect;
    use crate::outline::{Block, BlockKind, Outline, Settings};
    use crate::template::Template;
    use crate::value::Value;

    /// Of two calls of one kind one has a gate, which nothing but the plan demands: it is looked at whether anybody could
    /// decide it, although nothing was to be said of the other.
    #[test]
    fn a_gate_of_one_call_is_looked_at_whatever_its_kind_is() {
        let call = |name: &str| Item {
            block: 0,
            under: None,
            span: (0, 0),
            body: Body::Call(Call {
                name: name.to_owned(),
                server: "s".to_owned(),
                tool: "list_pages".to_owned(),
                args: Template::Lit(Value::parse("{}").unwrap()),
                settings: Settings::default(),
                without_asking: false,
            }),
        };
        let typed = Typed::of(Outline {
            recipe: crate::Digest::of(b""),
            inputs: Vec::new(),
            blocks: vec![Block { kind: BlockKind::Together, name: None, need: None }],
            items: ["a", "b", "c"].map(call).to_vec(),
        });
        assert_eq!(typed.calls.kinds.len(), 1);
        let catalog =
            r#"{"servers":{"s":{"tools":[{"name":"list_pages","inputSchema":{"type":"object"}}]}}}"#;
        let catalog = Catalog::from_json(catalog).unwrap();
        let policy =
            "[roles]\nops = [\"os:ann\"]\n[[people]]\nserver = \"s\"\nroles = [\"ops\"]\nquorum = 2\n";
        let policy = Policy::from_toml(policy).unwrap();
        let mut floor = Marks::of_items(3);
        floor.put(1, Mark { effect: Effect::Read, asked: true });
        let mut problems = Vec::new();
        let (judgements, _) = calls(&typed, &catalog, &policy, Author::Person, &floor, &mut problems);
        let found: Vec<_> = problems.iter().map(|problem| (problem.code, problem.item)).collect();
        assert_eq!(found, [("P0203", Some(1))]);
        assert_eq!([0, 1, 2].map(|item| judgements.marks.is_asked(item)), [false, true, false]);
        assert!(!judgements.raised);
    }
}
