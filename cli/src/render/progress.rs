//! A run as it goes on: a line for each step that ends; on a terminal also one for each that is under way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use plangate_approval::{RunId, StepState};
use plangate_executor::{Change, Observer};
use plangate_graph::Plan;
use plangate_graph::card::visible::visible;
use plangate_graph::outline::Body;

use super::paint::Paint;
use super::state::{mark, words};
use super::time::duration;
use crate::output::Output;

/// How often the spinners turn.
const TURN: Duration = Duration::from_millis(80);
/// The widest name that others are lined up with.
const WIDEST: usize = 24;

/// Shows steps as they start and end, on standard error.
pub(crate) struct Progress {
    labels: HashMap<String, String>,
    width: usize,
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
    under_way: HashMap<String, (u64, ProgressBar)>,
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
        let width = labels.keys().map(|id| id.chars().count()).max().unwrap_or(0).min(WIDEST);
        let lines = if output.is_watched() {
            Lines::Live(MultiProgress::new())
        } else {
            Lines::Plain(Arc::clone(output))
        };
        Progress { labels, width, paint: output.remark_paint(), lines, state: Mutex::default() }
    }

    /// The run that was started, once it is stored.
    pub(crate) fn run(&self) -> Option<RunId> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).run.clone()
    }

    /// Takes away what is under way.
    pub(crate) fn finish(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.under_way.drain().for_each(|(_, (_, bar))| bar.finish_and_clear());
        if let Lines::Live(bars) = &self.lines {
            // What cannot be cleared stays on the screen; nothing depends on it.
            drop(bars.clear());
        }
    }

    fn spinner(&self, node: &str, label: &str) -> ProgressBar {
        let Lines::Live(bars) = &self.lines else { return ProgressBar::hidden() };
        let bar = bars.add(ProgressBar::new_spinner());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}   {msg}   {elapsed}") {
            bar.set_style(style);
        }
        bar.set_prefix(format!("{:width$}", visible(node), width = self.width));
        bar.set_message(label.to_owned());
        bar.enable_steady_tick(TURN);
        bar
    }

    fn say(&self, line: &str) {
        match &self.lines {
            // A terminal that went away shows nothing; the run goes on.
            Lines::Live(bars) => drop(bars.println(line)),
            Lines::Plain(output) => output.remark(&format!("{line}\n")),
        }
    }
}

impl Observer for Progress {
    fn started(&self, run: &RunId) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).run = Some(run.clone());
    }

    fn changed(&self, change: &Change<'_>) {
        let Some(label) = self.labels.get(change.node) else { return };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if change.state == StepState::Running {
            let bar = self.spinner(change.node, label);
            state.under_way.insert(change.node.to_owned(), (change.at_ms, bar));
            return;
        }
        let took = state.under_way.remove(change.node).map(|(since, bar)| {
            bar.finish_and_clear();
            change.at_ms.saturating_sub(since)
        });
        drop(state);
        if matches!(change.state, StepState::Waiting | StepState::Ready) {
            return;
        }
        let took = took
            .and_then(|ms| i64::try_from(ms).ok())
            .map(|ms| format!("   {}", duration(ms)))
            .unwrap_or_default();
        let why = change.why.map(|why| format!("   {}", visible(why))).unwrap_or_default();
        let state = if change.state == StepState::Done {
            String::new()
        } else {
            format!("   {}", words(change.state))
        };
        self.say(&format!(
            "{} {:width$}   {}{state}{}{why}",
            mark(change.state, self.paint),
            visible(change.node),
            self.paint.dim(label),
            self.paint.dim(&took),
            width = self.width
        ));
    }
}
