//! From a verified plan to the lines of its card.

use std::collections::BTreeSet;

use super::files::by_path;
use super::visible::{shortened, visible};
use super::{After, Arg, Card, CardInput, CardNote, Group, Heading, Known, Line, Stop, What};
use crate::outline::{Block, BlockKind, Body, Call, Item, Settings};
use crate::plan::{Asks, Join, NodeIx, NodeKind, Plan, Reason};
use crate::policy::{Asking, AskingOf};
use crate::template::{Ref, Source, Template, source_text};
use crate::value::Value;
use crate::verify::VerifiedPlan;

/// From how many on names are counted instead of listed.
const NAMES: usize = 12;

impl Card {
    /// The card of a plan; `inputs` are the values that this run is to get, where they are known already. Linear.
    pub fn of(verified: &VerifiedPlan, inputs: Option<&Value>) -> Card {
        let plan = verified.plan();
        let outline = plan.outline();
        let moved: BTreeSet<usize> = plan.moved_items().into_iter().collect();
        let mut groups: Vec<Group> = outline.blocks.iter().map(group).collect();
        let (mut stops, mut through) = (0, 0);
        for (place, item) in outline.items.iter().enumerate() {
            let node = plan.node_of(place);
            if matches!(item.body, Body::Question(_)) && matches!(plan.node(node).kind, NodeKind::Gate { .. })
            {
                continue; // Its words stand on the gate of its call.
            }
            let line = Lines { verified, plan }.line(node, item, moved.contains(&place), inputs);
            stops += usize::from(line.stop.is_some() || matches!(line.what, What::Question { .. }));
            let changes = matches!(line.what, What::Call { effect, .. } if effect.changes());
            through += usize::from(changes && line.stop.is_none());
            let shown = if line.moved { plan.fan_above(item.block) } else { None };
            if let Some(group) = groups.get_mut(shown.unwrap_or(item.block)) {
                group.lines.push(line);
            }
        }
        groups.retain(|group| !group.lines.is_empty());
        let given = |name: &str| inputs.and_then(|values| values.member(name)).cloned();
        Card {
            inputs: outline
                .inputs
                .iter()
                .map(|i| CardInput {
                    name: i.name.clone(),
                    kind: i.kind,
                    given: given(&i.name),
                    default: i.default.clone(),
                })
                .collect(),
            groups,
            notes: plan
                .notes()
                .iter()
                .map(|n| CardNote {
                    code: n.code.clone(),
                    severity: n.severity,
                    message: visible(&n.message),
                    help: n.help.as_deref().map(visible),
                })
                .collect(),
            stops,
            through,
            plan: plan.digest().to_string(),
        }
    }
}

fn group(block: &Block) -> Group {
    let heading = match (block.kind, block.need) {
        (BlockKind::Together, _) => Heading::Together,
        (BlockKind::Then, Some(need)) => Heading::Join { k: need.k, n: need.n },
        (BlockKind::Then, None) => Heading::Then,
        (BlockKind::AskMe, _) => Heading::AskMe,
        (BlockKind::Check, _) => Heading::Check,
    };
    Group { heading, name: block.name.clone(), lines: Vec::new() }
}

struct Lines<'a> {
    verified: &'a VerifiedPlan,
    plan: &'a Plan,
}

impl Lines<'_> {
    fn line(&self, node: NodeIx, item: &Item, moved: bool, inputs: Option<&Value>) -> Line {
        let gate = self.plan.gate_of(node);
        let what = match &item.body {
            Body::Call(call) => self.call(node, call, inputs),
            Body::Sentence(sentence) => What::Written {
                instruction: visible(&source_text(&sentence.text)),
                from: names(item.refs().into_iter()),
            },
            Body::Question(question) => What::Question {
                text: visible(&source_text(&question.text)),
                guards: !self.plan.outgoing(node).is_empty(),
            },
            Body::Check(check) => What::Check { text: visible(&check_words(check)) },
        };
        let stop = match (&item.body, gate) {
            (Body::Call(call), Some(gate)) => Some(self.stop(node, gate, call)),
            _ => None,
        };
        let under = item.under.and_then(|guard| {
            let node = self.plan.node_of(guard);
            (!matches!(self.plan.node(node).kind, NodeKind::Gate { .. }))
                .then(|| self.plan.node(node).id.clone())
        });
        let moved = moved && self.plan.fan_above(item.block).is_some();
        let mut settings = item.settings().map(settings).unwrap_or_default();
        if let Body::Call(call) = &item.body {
            settings.extend(self.repeat(node, call));
        }
        Line {
            id: self.plan.node(node).id.clone(),
            what,
            after: self.after(gate.unwrap_or(node)),
            under,
            stop,
            moved,
            settings,
        }
    }

    fn call(&self, node: NodeIx, call: &Call, inputs: Option<&Value>) -> What {
        let now = self.verified.classification(node);
        What::Call {
            server: visible(&call.server),
            tool: visible(&call.tool),
            effect: self.verified.effect(node).unwrap_or(crate::effect::Effect::Unknown),
            why: now.map(|c| c.evidence.iter().map(|e| visible(&e.says)).collect()).unwrap_or_default(),
            contradiction: now.is_some_and(|c| c.contradiction),
            args: args(&call.args, &self.paths(node, call), &|name| self.at_start(name, inputs)),
        }
    }

    /// Arguments of a call that is asked of which the path alone is approved.
    fn paths(&self, node: NodeIx, call: &Call) -> Vec<String> {
        let asked = self.plan.gate_of(node).is_some();
        let definition = self.verified.catalog().definition(&call.server, &call.tool).filter(|_| asked);
        definition.map(|definition| by_path(definition, &call.args)).unwrap_or_default()
    }

    /// What policy says about making the very same call again.
    fn repeat(&self, node: NodeIx, call: &Call) -> Option<String> {
        let changes = self.verified.effect(node).is_some_and(crate::effect::Effect::changes);
        let terms = self.verified.policy().terms_of(&call.server, &call.tool, call.args.literal());
        terms.repeat.filter(|_| changes).map(crate::policy::Repeat::words)
    }

    /// The value an input will have as far as is known: the one given, else its default.
    fn at_start(&self, name: &str, inputs: Option<&Value>) -> Option<Value> {
        let given = inputs.and_then(|values| values.member(name)).cloned();
        given.or_else(|| self.plan.outline().inputs.iter().find(|i| i.name == name)?.default.clone())
    }

    fn stop(&self, node: NodeIx, gate: NodeIx, call: &Call) -> Stop {
        let question = match &self.plan.node(gate).kind {
            NodeKind::Gate { question: Some(at), .. } => {
                match self.plan.outline().items.get(*at).map(|i| &i.body) {
                    Some(Body::Question(q)) => Some(visible(&source_text(&q.text))),
                    _ => None,
                }
            }
            _ => None,
        };
        let why = self.why_asked(node, call).unwrap_or_else(|| "the plan asks".to_owned());
        Stop { question, why: visible(&why), also_stops: self.also_stops(node) }
    }

    fn why_asked(&self, node: NodeIx, call: &Call) -> Option<String> {
        let classification = self.verified.classification(node)?;
        let definition = self.verified.catalog().definition(&call.server, &call.tool)?;
        let asking = self.verified.policy().asking(
            &AskingOf {
                server: &call.server,
                definition,
                classification,
                args: Some(&call.args),
                final_args: call.args.literal(),
                without_asking: call.without_asking,
            },
            self.verified.author(),
        );
        match asking {
            Asking::Ask(why) | Asking::Deny(why) => Some(why.says),
            Asking::Through(_) => None,
        }
    }

    /// Calls that are asked, and sentences, that wait for this one's success, directly or through a join of all.
    fn also_stops(&self, node: NodeIx) -> Vec<String> {
        let mut stopped = Vec::new();
        for (to, edge) in self.plan.outgoing(node) {
            if edge.asks() < Asks::DoneOrSkipped {
                continue;
            }
            match &self.plan.node(to).kind {
                NodeKind::Join(Join::All) => {
                    stopped.extend(self.plan.outgoing(to).into_iter().map(|(to, _)| to));
                }
                _ => stopped.push(to),
            }
        }
        let mut names: Vec<String> = stopped
            .into_iter()
            .filter_map(|ix| match &self.plan.node(ix).kind {
                NodeKind::Gate { call, .. } => Some(self.plan.node(*call).id.clone()),
                NodeKind::Join(_) => None,
                _ => Some(self.plan.node(ix).id.clone()),
            })
            .collect();
        counted(&mut names);
        names
    }

    /// What it waits for beyond its reads: what its author said, and effects that it must not overtake.
    fn after(&self, entry: NodeIx) -> Vec<After> {
        let reads: BTreeSet<NodeIx> = self
            .plan
            .incoming(entry)
            .into_iter()
            .filter(|(_, edge)| edge.reasons.iter().any(|(reason, _)| *reason == Reason::Data))
            .map(|(from, _)| from)
            .collect();
        let mut after: Vec<After> = Vec::new();
        for (from, edge) in self.plan.incoming(entry) {
            let said = edge.reasons.iter().any(|(reason, _)| *reason == Reason::Said);
            let effect = edge.reasons.iter().any(|(reason, _)| *reason == Reason::Effect);
            if reads.contains(&from) && !said {
                continue;
            }
            let (step, because) = match &self.plan.node(from).kind {
                NodeKind::Join(Join::All) => ("everything above".to_owned(), "effect"),
                NodeKind::Join(Join::Need { .. }) => continue,
                _ if said => (self.plan.node(from).id.clone(), "said"),
                _ if effect => (self.plan.node(from).id.clone(), "effect"),
                _ => continue,
            };
            let found = After { step, because };
            if !after.contains(&found) {
                after.push(found);
            }
        }
        after
    }
}

fn counted(names: &mut Vec<String>) {
    if names.len() > NAMES {
        let more = names.len() - NAMES;
        names.truncate(NAMES);
        names.push(format!("and {more} more"));
    }
}

fn names<'a>(refs: impl Iterator<Item = &'a Ref>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    for r in refs {
        let name = r.to_string();
        if seen.insert(name.clone()) {
            names.push(visible(&name));
        }
    }
    names
}

fn args(template: &Template, paths: &[String], at_start: &dyn Fn(&str) -> Option<Value>) -> Vec<Arg> {
    let members: Vec<(String, Template)> = match template {
        Template::Object(members) => members.clone(),
        Template::Lit(Value::Object(o)) => {
            o.iter().map(|(k, v)| (k.to_owned(), Template::Lit(v.clone()))).collect()
        }
        _ => Vec::new(),
    };
    let arg = |(name, template): (String, Template)| {
        let path_only = paths.contains(&name);
        Arg { path_only, ..arg(&name, &template, at_start) }
    };
    members.into_iter().map(arg).collect()
}

fn arg(name: &str, template: &Template, at_start: &dyn Fn(&str) -> Option<Value>) -> Arg {
    let refs = template.refs();
    let from = names(refs.iter().copied());
    let known = if refs.is_empty() {
        Known::Fixed
    } else if refs.iter().all(|r| matches!(r.source, Source::Input(_))) {
        Known::AtStart
    } else {
        Known::Later
    };
    let filled = (known == Known::AtStart)
        .then(|| {
            template.fill(&mut |r: &Ref| {
                let value = at_start(r.name()).ok_or(())?;
                r.follow(&value).cloned().map_err(|_| ())
            })
        })
        .and_then(Result::ok);
    let value = match (template, filled) {
        (Template::Lit(value), _) => value.to_string(),
        (_, Some(value)) => value.to_string(),
        (template, None) => written(template),
    };
    Arg { name: visible(name), known, value: shortened(&value), from, path_only: false }
}

/// A template as its author wrote it.
fn written(template: &Template) -> String {
    match template {
        Template::Lit(value) => value.to_string(),
        Template::Ref(r) => format!("{{{r}}}"),
        Template::Text(parts) => format!("\"{}\"", source_text(parts)),
        Template::List(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(",")),
        Template::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(k, t)| format!("{}:{}", Value::from(k.as_str()), written(t))).collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

fn check_words(check: &crate::outline::Check) -> String {
    match check.test.right() {
        None => format!("{{{}}} {}", check.left, check.test.words()),
        Some(right) => format!("{{{}}} {} {}", check.left, check.test.words(), written(right)),
    }
}

fn settings(settings: &Settings) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(ms) = settings.timeout_ms {
        words.push(if ms % 1000 == 0 {
            format!("timeout {} s", ms / 1000)
        } else {
            format!("timeout {ms} ms")
        });
    }
    if settings.retry > 0 {
        words.push(format!("tried again up to {} times", settings.retry));
    }
    words
}
