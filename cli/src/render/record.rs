//! The record of a run: its steps with their states, what it gave, and how long it took.

use std::collections::HashMap;

use plangate_approval::{RowState, StepState, Time};
use plangate_executor::Record;
use plangate_executor::record::{Decided, Step, Word};
use plangate_graph::card::visible::visible;
use plangate_graph::plan::{Join, NodeKind, Reason};
use plangate_graph::{Plan, Value};

use super::paint::Paint;
use super::put::Put as _;
use super::state::{mark, of_run, words};
use super::time::{duration, moment};
use crate::store::short;

/// The widest column that others are lined up with.
const WIDEST: usize = 28;
/// From how many steps on those that went well are counted instead of listed.
const MANY: usize = 100;
/// How many characters of a result are shown.
const SOME: usize = 4_000;

/// One line: the state of the run, what it is of, its id.
pub(crate) fn head(record: &Record, now: Time, paint: Paint) -> String {
    let title = paint.strong(&visible(&record.title));
    let reason = record.reason.as_ref().map(|r| format!("   {}", visible(r))).unwrap_or_default();
    let began = moment(record.started, now);
    format!(
        "{}   {title}   run {}   {}{reason}\n",
        of_run(record.state, paint),
        paint.typed(short(&record.run.0)),
        paint.dim(&format!("started {began}"))
    )
}

/// A line for each step.
pub(crate) fn steps(record: &Record, paint: Paint) -> String {
    let steps = shown(record);
    let shown: Vec<&Step> = steps.iter().collect();
    let column = |of: &dyn Fn(&Step) -> usize| shown.iter().map(|s| of(s)).max().unwrap_or(0).min(WIDEST);
    let (ids, tools) = (column(&|s| width(&label(s))), column(&|s| width(&what(s))));
    let mut out = String::new();
    let many = shown.len() > MANY;
    let mut well = 0;
    for step in &shown {
        if many && step.state == StepState::Done {
            well += 1;
            continue;
        }
        let line = format!(
            "  {} {}   {}   {}{}",
            mark(step.state, paint),
            padded(&label(step), ids),
            paint.dim(&padded(&what(step), tools)),
            took(step, paint),
            came_of(step)
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
    if well > 0 {
        out.put(format_args!("  {} {well} others done\n", mark(StepState::Done, paint)));
    }
    out
}

/// `wall · sum · critical path · waited for people`
pub(crate) fn times(record: &Record, paint: Paint) -> String {
    let ms = |ms: u64| duration(i64::try_from(ms).unwrap_or(i64::MAX));
    let path = record.critical_path.steps.join(" → ");
    let path = if path.is_empty() { String::new() } else { paint.dim(&format!(" ({})", visible(&path))) };
    let waited = match record.waited_for_people {
        0 => String::new(),
        waited => format!(" · waited for people {}", ms(waited)),
    };
    format!(
        "wall {} · sum {} · critical path {}{path}{waited}\n",
        paint.strong(&ms(record.wall)),
        ms(record.sum),
        ms(record.critical_path.ms)
    )
}

/// What the run gave: the results that no step reads.
pub(crate) fn results(record: &Record, plan: &Plan, paint: Paint) -> String {
    let mut out = String::new();
    for step in &record.steps {
        let Some(result) =
            step.result.as_ref().filter(|_| step.state == StepState::Done && is_unread(plan, &step.id))
        else {
            continue;
        };
        out.put(format_args!("\n{}\n{}", paint.strong(&visible(&step.id)), result_lines(result)));
    }
    out
}

/// A text as its lines, anything else as JSON; what is cut is counted.
fn result_lines(result: &Value) -> String {
    let text = result.text().map_or_else(|| result.to_string(), str::to_owned);
    let total = text.chars().count();
    let shown: String = text.chars().take(SOME).collect();
    let mut out = String::new();
    shown.lines().for_each(|line| out.put(format_args!("  {}\n", visible(line))));
    if total > SOME {
        out.put(format_args!(
            "  … [{SOME} of {total} characters shown; `plangate show RUN --json` has all]\n"
        ));
    }
    out
}

/// Whether no other step reads it, directly or through a join that counts it.
fn is_unread(plan: &Plan, id: &str) -> bool {
    let Some(ix) = plan.find(id) else { return false };
    let reads =
        |reasons: &[(Reason, _)]| reasons.iter().any(|(r, _)| matches!(r, Reason::Data | Reason::Counted));
    let counted = plan.nodes().any(|(_, node)| match &node.kind {
        NodeKind::Join(Join::Need { of, .. }) => of.contains(&ix),
        _ => false,
    });
    !counted && plan.outgoing(ix).iter().all(|(_, edge)| !reads(&edge.reasons))
}

/// Steps, questions and checks, in typed order; a join only where it failed. What waits at a gate, and who decided there,
/// is shown on the line of its call.
pub(crate) fn shown(record: &Record) -> Vec<Step> {
    let gates: HashMap<&str, &Step> = record
        .steps
        .iter()
        .filter(|step| step.kind == Word::Gate)
        .filter_map(|gate| Some((gate.id.strip_suffix("/gate")?, gate)))
        .collect();
    let shown = |step: &Step| match step.kind {
        Word::Call | Word::Sentence | Word::Question | Word::Check => true,
        Word::Join => step.state == StepState::Failed,
        Word::Gate => false,
    };
    let mut steps: Vec<Step> = record.steps.iter().filter(|step| shown(step)).cloned().collect();
    for step in &mut steps {
        if let Some(gate) = gates.get(step.id.as_str()) {
            if gate.state == StepState::Pending {
                step.state = StepState::Pending;
            }
            if step.decisions.is_empty() {
                step.decisions.clone_from(&gate.decisions);
            }
        }
    }
    steps
}

/// What a step is called.
pub(crate) fn label(step: &Step) -> String {
    visible(step.id.strip_suffix("/ask").unwrap_or(&step.id))
}

pub(crate) fn what(step: &Step) -> String {
    match (&step.tool, step.kind) {
        (Some(tool), _) => visible(&tool.replacen('.', "·", 1)),
        (None, Word::Sentence) => "written".to_owned(),
        (None, Word::Question) => {
            step.words.as_ref().map_or_else(String::new, |w| clipped(&format!("\"{}\"", visible(w)), WIDEST))
        }
        (None, Word::Check) => "a check".to_owned(),
        (None, _) => "needs more than there is".to_owned(),
    }
}

pub(crate) fn took(step: &Step, paint: Paint) -> String {
    match (step.started, step.ended, step.state) {
        (Some(started), Some(ended), StepState::Done) => {
            let ms = i64::try_from(ended.saturating_sub(started)).unwrap_or(i64::MAX);
            format!("{:>8}", duration(ms))
        }
        (_, _, StepState::Done) if step.kind == Word::Check => {
            format!("{:>8}", if step.answer == Some(true) { "yes" } else { "no" })
        }
        (_, _, StepState::Done) => String::new(),
        (_, _, StepState::Pending | StepState::Uncertain) => paint.wait(words(step.state)),
        (_, _, state) => words(state).to_owned(),
    }
}

/// Why it ended as it did, who decided, what it missed.
pub(crate) fn came_of(step: &Step) -> String {
    let mut parts: Vec<String> = Vec::new();
    if let Some(error) = step.error.as_ref().filter(|_| step.state != StepState::Done) {
        parts.push(visible(error));
    }
    if let Some(cause) = step.cause.as_ref().filter(|cause| cause.node != step.id) {
        let why = cause.error.as_ref().map(|e| format!(": {}", visible(e))).unwrap_or_default();
        parts.push(format!(
            "because {} {}{why}",
            visible(cause.node.trim_end_matches("/gate")),
            words_of(cause.state)
        ));
    }
    if step.attempts > 1 {
        parts.push(format!("{} attempts", step.attempts));
    }
    if let Some(decided) = step.decisions.last()
        && let Some(by) = &decided.by
    {
        let reason = decided.reason.as_ref().map(|r| format!(": {}", visible(r))).unwrap_or_default();
        parts.push(format!("{} {}{reason}", verdict(decided), visible(by)));
    }
    if let Some(settled) = step.decisions.last().and_then(|d| d.settled.as_ref()) {
        let word = if settled.happened { "it happened" } else { "it did not happen" };
        parts.push(format!("{word}, says {}", visible(&settled.by.to_string())));
    }
    parts.extend((!step.late.is_empty()).then(|| format!("late: {}", visible(&step.late.join(", ")))));
    if parts.is_empty() { String::new() } else { format!("   {}", parts.join("; ")) }
}

/// What somebody, or a rule of the policy, decided.
fn verdict(decided: &Decided) -> &'static str {
    match decided.state {
        RowState::Rejected => "rejected by",
        RowState::Answered => "yes from",
        RowState::Cancelled => "cancelled by",
        _ if decided.votes.is_empty() => "not asked:",
        _ => "approved by",
    }
}

/// A state as the end of "because `x` …".
fn words_of(state: StepState) -> &'static str {
    match state {
        StepState::Failed => "failed",
        StepState::TimedOut => "timed out",
        StepState::Rejected => "was rejected",
        StepState::Expired => "expired",
        StepState::Blocked => "was blocked",
        StepState::Skipped => "was skipped",
        StepState::Cancelled => "was cancelled",
        _ => "did not end as it must",
    }
}

/// A text with spaces up to a width.
pub(crate) fn padded(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}

/// A text that is no wider than this; what is cut is marked.
fn clipped(text: &str, to: usize) -> String {
    if width(text) <= to {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        if width(&short) + 2 > to {
            break;
        }
        short.push(c);
    }
    short.push('…');
    short
}

/// How many columns a text takes.
pub(crate) fn width(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}
