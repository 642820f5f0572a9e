//! `plangate runs`: runs, newest first.

use std::collections::BTreeMap;

use plangate_approval::{RowState, Run, RunId, RunState, Storage as _};
use plangate_graph::card::visible::visible;
use serde::Serialize;

use crate::args::{RunStateArg, RunsArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::render::put::Put as _;
use crate::render::record::{padded, width};
use crate::render::state::of_run;
use crate::render::time::moment;
use crate::store::{self, short};
use crate::view::RunView;

/// The widest title that others are lined up with.
const WIDEST: usize = 40;

/// Lists runs.
pub(crate) fn runs(args: &RunsArgs, context: &Context) -> Result<Exit, Fault> {
    #[derive(Serialize)]
    struct Whole {
        runs: Vec<RunView>,
    }
    let project = context.project()?;
    let store = store::open(&project)?;
    let mut runs = store::runs(&store)?;
    runs.retain(|run| is_wanted(run, args));
    if context.output.is_json() {
        context.output.say_json(&Whole { runs: runs.iter().map(RunView::of).collect() })?;
        return Ok(Exit::Done);
    }
    let mut waiting: BTreeMap<RunId, usize> = BTreeMap::new();
    for row in store.waiting().map_err(|e| store::fault(&e))? {
        if matches!(row.state, RowState::Pending | RowState::Uncertain) {
            *waiting.entry(row.run).or_default() += 1;
        }
    }
    let paint = context.output.paint();
    let now = store.now();
    let titles = runs.iter().map(|r| width(&visible(&r.title))).max().unwrap_or(0).min(WIDEST);
    let states = runs.iter().map(|r| width(&of_run(r.state, paint))).max().unwrap_or(0);
    let mut out = String::new();
    for run in &runs {
        let waits = match waiting.get(&run.id) {
            Some(n) => format!("   {}", paint.wait(&format!("{n} waiting"))),
            None => String::new(),
        };
        let reason = run
            .reason
            .as_ref()
            .map(|r| format!("   {}", visible(r.lines().next().unwrap_or_default())))
            .unwrap_or_default();
        let abandoned = if run.state == RunState::Running && !run.driven {
            format!("   {}", paint.bad("nobody drives it: resume it"))
        } else {
            String::new()
        };
        out.put(format_args!(
            "{}  {}  {}  {}{waits}{abandoned}{reason}\n",
            padded(&of_run(run.state, paint), states),
            paint.typed(short(&run.id.0)),
            padded(&visible(&run.title), titles),
            paint.dim(&moment(run.created, now))
        ));
    }
    if runs.is_empty() {
        out.push_str("No runs.\n");
    }
    context.output.say(&out);
    Ok(Exit::Done)
}

fn is_wanted(run: &Run, args: &RunsArgs) -> bool {
    let state = args.state.is_none_or(|state| run.state == RunState::from(state));
    let text = args.text.as_ref().is_none_or(|text| {
        run.title.to_lowercase().contains(&text.to_lowercase()) || run.id.0.contains(text.as_str())
    });
    let since = args.since.is_none_or(|since| run.created >= since);
    let until = args.until.is_none_or(|until| run.created < until);
    state && text && since && until
}

impl From<RunStateArg> for RunState {
    fn from(state: RunStateArg) -> RunState {
        match state {
            RunStateArg::Running => RunState::Running,
            RunStateArg::Parked => RunState::Parked,
            RunStateArg::Attention => RunState::Attention,
            RunStateArg::Done => RunState::Done,
            RunStateArg::Failed => RunState::Failed,
            RunStateArg::Cancelled => RunState::Cancelled,
        }
    }
}
