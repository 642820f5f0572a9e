//! A run as it goes on. On a terminal a line for each step that is under way or has ended, which all go when the record
//! is printed; elsewhere a line for each step that ends, one after the other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use plangate_approval::{RunId, StepState};
use plangate_executor::{Change, Observer};
use plangate_graph::Plan;
use plangate_graph::card::visible::visible;
use plangate_graph::outline::Body;

use super::paint::Paint;
use super::record::{padded, width};
use super::state::{mark, words};
use super::time::duration;
use crate::output::Output;

/// How often the spinners turn.
const TURN: Duration = Duration::from_millis(80);
/// The widest column that others are lined up with.
const WIDEST: usize = 28;
/// How many lines of steps that ended stay on a terminal.
const KEPT: usize = 24;

/// Shows steps as they start and end, on standard error.
pub(crate) struct Progress {
    labels: HashMap<String, String>,
    ids: usize,
    tools: usize,
    paint: Paint,
    lines: Lines,
    state: Mutex<State>,
}

/// Where lines go.
enum Lines {
    /// A terminal: finished steps above, those under way below.
    Live(MultiProgress),
    /// Anything else: one line after the other.
    Plain(Arc<Output>),
}

#[derive(Default)]
struct State {
    run: Option<RunId>,
    /// When each step that is under way started, and its line.
    under_way: HashMap<String, (u64, ProgressBar)>,
    /// Lines of steps that ended and are still seen.
    ended: Vec<ProgressBar>,
    /// Something was said.
    spoke: bool,
}

impl Progress {
    /// For the steps of a plan.
    pub(crate) fn new(plan: &Plan, output: &Arc<Output>) -> Progress {
        let labels: HashMap<String, String> = plan
            .nodes()
            .filter_map(|(ix, node)| {
                let label = match &plan.item_of(ix)?.1.body {
                    Body::Call(call) => format!("{}·{}", call.server, call.tool),
                    Body::Sentence(_) => "written".to_owned(),
                    Body::Question(_) => "a question".to_owned(),
                    Body::Check(_) => "a check".to_owned(),
                };
                Some((node.id.clone(), visible(&label)))
            })
            .collect();
        let ids = labels.keys().map(|id| width(id)).max().unwrap_or(0).min(WIDEST);
        let tools = labels.values().map(|tool| width(tool)).max().unwrap_or(0).min(WIDEST);
        let lines = if output.is_watched() {
            Lines::Live(MultiProgress::new())
        } else {
            Lines::Plain(Arc::clone(output))
        };
        Progress { labels, ids, tools, paint: output.remark_paint(), lines, state: Mutex::default() }
    }

    /// The run that was started, once it is stored.
    pub(crate) fn run(&self) -> Option<RunId> {
        self.state().run.clone()
    }

    /// Takes its lines away.
    pub(crate) fn finish(&self) {
        let mut state = self.state();
        state.under_way.drain().for_each(|(_, (_, bar))| bar.finish_and_clear());
        state.ended.drain(..).for_each(|bar| bar.finish_and_clear());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spinner(&self, node: &str, label: &str) -> ProgressBar {
        let Lines::Live(bars) = &self.lines else { return ProgressBar::hidden() };
        let bar = bars.add(ProgressBar::new_spinner());
        let step = padded(&visible(node), self.ids);
        if let Ok(style) = ProgressStyle::with_template("  {spinner:.yellow} {prefix}   {elapsed:.dim}") {
            bar.set_style(style);
        }
        bar.set_prefix(format!("{step}   {}", self.paint.dim(&padded(label, self.tools))));
        bar.enable_steady_tick(TURN);
        bar
    }

    /// A step that will not change any more.
    fn say(&self, state: &mut State, bar: Option<ProgressBar>, line: String) {
        match &self.lines {
            Lines::Plain(output) => {
                let first = if std::mem::replace(&mut state.spoke, true) { "" } else { "\n" };
                output.remark(&format!("{first}{line}\n"));
            }
            Lines::Live(bars) => {
                let bar = bar.unwrap_or_else(|| bars.add(ProgressBar::new_spinner()));
                if let Ok(style) = ProgressStyle::with_template("{msg}") {
                    bar.set_style(style);
                }
                bar.finish_with_message(line);
                state.ended.push(bar);
                if state.ended.len() > KEPT {
                    state.ended.remove(0).finish_and_clear();
                }
            }
        }
    }
}

impl Observer for Progress {
    fn started(&self, run: &RunId) {
        self.state().run = Some(run.clone());
    }

    fn changed(&self, change: &Change<'_>) {
        // What waits at a gate is its call's to tell.
        let node = change.node.strip_suffix("/gate").unwrap_or(change.node);
        if node != change.node && change.state != StepState::Pending {
            return;
        }
        let Some(label) = self.labels.get(node) else { return };
        let mut state = self.state();
        match change.state {
            StepState::Waiting | StepState::Ready => return,
            StepState::Running => {
                let bar = self.spinner(node, label);
                state.under_way.insert(node.to_owned(), (change.at_ms, bar));
                return;
            }
            _ => {}
        }
        let (since, bar) = state.under_way.remove(node).unzip();
        let took = since
            .map(|since| duration(i64::try_from(change.at_ms.saturating_sub(since)).unwrap_or(i64::MAX)));
        let came_of = match change.state {
            StepState::Done => format!("{:>8}", took.unwrap_or_default()),
            other => words(other).to_owned(),
        };
        let why = change.why.map(|why| format!("   {}", visible(why))).unwrap_or_default();
        let line = format!(
            "  {} {}   {}   {came_of}{why}",
            mark(change.state, self.paint),
            padded(&visible(node), self.ids),
            self.paint.dim(&padded(label, self.tools)),
        );
        self.say(&mut state, bar, line.trim_end().to_owned());
    }
}
