//! Tools with their effects and reasons.

use plangate_graph::Catalog;
use plangate_graph::card::visible::visible;
use plangate_graph::effect::{Effect, Evidence};
use plangate_graph::policy::Asking;
use plangate_mcp_client::RefusedTool;
use serde::Serialize;

use super::paint::Paint;
use super::put::Put as _;
use crate::toolbox::Tool;

/// Names longer than this push their line out instead of widening all others.
const WIDEST: usize = 36;
/// The widest effect: `destructive`.
const EFFECT: usize = 11;

/// All evidence about a tool: of its effect first, then the rule of the policy where one decides whether it is asked.
pub(crate) fn evidence<'a>(tool: &'a Tool<'_>) -> impl Iterator<Item = &'a Evidence> {
    let rule = Some(tool.why()).filter(|why| why.code.starts_with("policy-"));
    tool.classification.evidence.iter().chain(rule)
}

/// A table for each server; then the tools that cannot be called.
pub(crate) fn listing(
    tools: &[Tool<'_>],
    catalog: &Catalog,
    refused: &[RefusedTool],
    paint: Paint,
) -> String {
    let mut out = String::new();
    let width = tools.iter().map(|t| t.definition.name.chars().count()).max().unwrap_or(0).min(WIDEST);
    for (name, server) in catalog.servers() {
        if !out.is_empty() {
            out.push('\n');
        }
        let origin = server.origin.as_deref().map(|o| format!("   {}", visible(o))).unwrap_or_default();
        out.put(format_args!("{}{}\n", paint.strong(&visible(name)), paint.dim(&origin)));
        if server.tools().len() == 0 {
            out.push_str("  no tools\n");
        }
        for tool in tools.iter().filter(|t| t.server == name) {
            out.push_str(&line(tool, width, paint));
        }
    }
    for tool in refused {
        let words = format!("{}.{} cannot be called: {}", tool.server, tool.tool, tool.reason);
        out.put(format_args!("\n{} {}\n", paint.bad("✗"), visible(&words)));
    }
    out.put(format_args!("\n{}\n", sum(tools, paint)));
    out
}

fn line(tool: &Tool<'_>, width: usize, paint: Paint) -> String {
    let mark = match tool.asking {
        _ if tool.broken.is_some() => paint.bad("✗"),
        Asking::Ask(_) => paint.wait("⏸"),
        Asking::Through(_) => " ".to_owned(),
        Asking::Deny(_) => paint.bad("✗"),
    };
    let name = format!("{:width$}", visible(&tool.definition.name));
    let effect = format!("{:EFFECT$}", tool.classification.effect.to_string());
    let effect = match tool.classification.effect {
        Effect::Read => paint.dim(&effect),
        Effect::Write => effect,
        Effect::Destructive | Effect::Unknown => paint.wait(&effect),
    };
    let mut says: Vec<String> = deciding(tool).map(|e| visible(&e.says)).collect();
    match &tool.asking {
        Asking::Deny(why) => says.push(format!("denied: {}", visible(&why.says))),
        Asking::Through(why) if tool.classification.effect.changes() => {
            says.push(format!("not asked: {}", visible(&why.says)));
        }
        _ => {}
    }
    let mut out = format!("{mark} {name}  {effect}  {}\n", says.join("; "));
    let indent = " ".repeat(width + EFFECT + 6);
    if let Some(broken) = &tool.broken {
        out.put(format_args!("{indent}{}\n", paint.bad(&cannot_be_called(broken))));
    }
    if tool.classification.contradiction {
        out.put(format_args!("{indent}{}\n", paint.bad(&contradiction(tool))));
    }
    out
}

/// Why no call of a tool passes, in words.
fn cannot_be_called(broken: &str) -> String {
    format!("cannot be called: its input schema is broken: {}", visible(broken))
}

/// What speaks for the verdict first of all.
fn deciding<'a>(tool: &'a Tool<'_>) -> impl Iterator<Item = &'a Evidence> {
    let effect = tool.classification.effect;
    tool.classification.evidence.iter().filter(move |e| e.effect == effect).take(1)
}

/// What contradicts the verdict, in words.
fn contradiction(tool: &Tool<'_>) -> String {
    let effect = tool.classification.effect;
    let other: Vec<String> = tool
        .classification
        .evidence
        .iter()
        .filter(|e| e.effect.changes() != effect.changes())
        .map(|e| visible(&e.says))
        .collect();
    format!("contradicted, not believed: {}", other.join("; "))
}

fn sum(tools: &[Tool<'_>], paint: Paint) -> String {
    let callable = || tools.iter().filter(|t| t.broken.is_none());
    let asked = callable().filter(|t| matches!(t.asking, Asking::Ask(_))).count();
    let denied = callable().filter(|t| matches!(t.asking, Asking::Deny(_))).count();
    let denied = if denied > 0 { format!(", {denied} denied") } else { String::new() };
    let broken = tools.iter().filter(|t| t.broken.is_some()).count();
    let broken = if broken > 0 { format!(", {broken} that cannot be called") } else { String::new() };
    let all = tools.len();
    format!("{all} tools, {} somebody is asked about{denied}{broken}", paint.wait(&format!("{asked} that")))
}

/// Everything that is known about one tool, as JSON.
#[derive(Serialize)]
pub(crate) struct Why<'a> {
    server: &'a str,
    tool: &'a str,
    effect: Effect,
    gated: bool,
    denied: bool,
    contradiction: bool,
    evidence: Vec<&'a Evidence>,
    asked_because: &'a Evidence,
    silence: Option<&'a str>,
    /// What is broken in its input schema: then it cannot be called.
    #[serde(skip_serializing_if = "Option::is_none")]
    broken: Option<&'a str>,
    definition: String,
}

impl<'a> Why<'a> {
    /// Of a tool.
    pub(crate) fn of(tool: &'a Tool<'a>) -> Why<'a> {
        Why {
            server: tool.server,
            tool: &tool.definition.name,
            effect: tool.classification.effect,
            gated: tool.gated(),
            denied: matches!(tool.asking, Asking::Deny(_)),
            contradiction: tool.classification.contradiction,
            evidence: tool.classification.evidence.iter().collect(),
            asked_because: tool.why(),
            silence: tool.classification.silence.as_deref(),
            broken: tool.broken.as_deref(),
            definition: tool.definition.digest(tool.server).to_string(),
        }
    }
}

/// The same for people.
pub(crate) fn why(tool: &Tool<'_>, paint: Paint) -> String {
    let mut out =
        format!("{}\n", paint.strong(&format!("{}·{}", tool.server, visible(&tool.definition.name))));
    for line in tool.definition.description.lines().filter(|l| !l.trim().is_empty()) {
        out.put(format_args!("  {}\n", paint.dim(&visible(line.trim_end()))));
    }
    let effect = tool.classification.effect;
    let asked = match &tool.asking {
        Asking::Ask(why) => format!("{} — {}", paint.wait("asked"), visible(&why.says)),
        Asking::Through(why) => format!("not asked — {}", visible(&why.says)),
        Asking::Deny(why) => format!("{} — {}", paint.bad("denied"), visible(&why.says)),
    };
    out.put(format_args!("\n{}, {asked}\n\n", paint.strong(&effect.to_string())));
    if let Some(broken) = &tool.broken {
        out.put(format_args!("{}\n\n", paint.bad(&cannot_be_called(broken))));
    }
    let width = tool.classification.evidence.iter().map(|e| e.code.len()).max().unwrap_or(0);
    for e in tool.classification.evidence.iter() {
        let side = if e.effect.changes() == effect.changes() { " " } else { "≠" };
        let (code, effect) = (&e.code, e.effect.to_string());
        out.put(format_args!("{side} {code:width$}  {effect:EFFECT$}  {}\n", visible(&e.says)));
    }
    if tool.classification.contradiction {
        out.put(format_args!("\n{}: the stronger side counts\n", paint.bad("these contradict each other")));
    }
    if let Some(silence) = &tool.classification.silence {
        out.push_str("\nIf it only reads, say so in plangate.toml:\n\n");
        out.extend(silence.lines().map(|l| format!("    {}\n", paint.typed(l))));
    }
    out.put(format_args!("\ndefinition {}\n", tool.definition.digest(tool.server)));
    out
}
