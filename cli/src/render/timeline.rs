//! A run drawn over time: when each step was queued, when it ran, how the run was parked in between.

use std::collections::BTreeMap;

use plangate_approval::StepState;
use plangate_executor::Record;
use plangate_executor::record::Step;

use super::paint::Paint;
use super::put::Put as _;
use super::record::{came_of, label, padded, shown, took, what, width};
use super::state::mark;
use super::time::duration;

/// How many columns the time takes.
const COLUMNS: u64 = 40;
/// The widest column that others are lined up with.
const WIDEST: usize = 28;
/// How many steps are drawn.
const MOST: usize = 200;

/// A bar for each step that ran. The drives of a run stand one behind the other: what lies between them, the time in
/// which it was parked, takes no room.
pub(crate) fn drawn(record: &Record, paint: Paint) -> String {
    let steps = shown(record);
    let axis = Axis::of(record);
    let column = |of: &dyn Fn(&Step) -> usize| steps.iter().map(of).max().unwrap_or(0).min(WIDEST);
    let (ids, tools) = (column(&|s| width(&label(s))), column(&|s| width(&what(s))));
    let mut out = String::new();
    for step in steps.iter().take(MOST) {
        let line = format!(
            "  {} {}   {}   {} {}{}",
            mark(step.state, paint),
            padded(&label(step), ids),
            paint.dim(&padded(&what(step), tools)),
            axis.bar(step, paint),
            took(step, paint),
            came_of(step)
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
    if steps.len() > MOST {
        out.put(format_args!("  … and {} more\n", steps.len() - MOST));
    }
    if let Some(rule) = axis.rule() {
        out.put(format_args!("    {} {}\n", " ".repeat(ids + tools + 5), paint.dim(&rule)));
    }
    out
}

/// Time on a line: each drive from where the one before ended.
struct Axis {
    /// Where each drive begins, in milliseconds of time in which the run was driven.
    begins: BTreeMap<u64, u64>,
    total: u64,
}

impl Axis {
    fn of(record: &Record) -> Axis {
        let mut lengths: BTreeMap<u64, u64> = BTreeMap::new();
        for step in &record.steps {
            if let (Some(drive), Some(last)) = (step.drive, step.ended.or(step.started).or(step.queued)) {
                let length = lengths.entry(drive).or_default();
                *length = (*length).max(last);
            }
        }
        let mut total = 0;
        let begins = lengths
            .into_iter()
            .map(|(drive, length)| {
                let begin = total;
                total += length.max(1);
                (drive, begin)
            })
            .collect();
        Axis { begins, total }
    }

    fn column(&self, at: u64) -> u64 {
        (at.saturating_mul(COLUMNS) / self.total.max(1)).min(COLUMNS)
    }

    fn bar(&self, step: &Step, paint: Paint) -> String {
        let begin = step.drive.and_then(|drive| self.begins.get(&drive)).copied().unwrap_or(0);
        let at = |ms: Option<u64>| ms.map(|ms| self.column(begin + ms));
        let (Some(started), Some(ended)) = (at(step.started), at(step.ended)) else {
            return " ".repeat(usize::try_from(COLUMNS).unwrap_or(0));
        };
        let queued = at(step.queued).unwrap_or(started).min(started);
        // Whatever ran is seen, however short.
        let (started, ended) = if ended > started {
            (started, ended)
        } else {
            (started.min(COLUMNS - 1), started.min(COLUMNS - 1) + 1)
        };
        let repeat = |what: &str, n: u64| what.repeat(usize::try_from(n).unwrap_or(0));
        let colour = match step.state {
            StepState::Done => Paint::good,
            _ => Paint::bad,
        };
        format!(
            "{}{}{}{}",
            repeat(" ", queued.min(started)),
            paint.dim(&repeat("░", started.saturating_sub(queued))),
            colour(paint, &repeat("█", ended - started)),
            repeat(" ", COLUMNS.saturating_sub(ended))
        )
    }

    /// The scale under the bars: 0 at the left, the whole at the right, `╎` where the run was parked.
    fn rule(&self) -> Option<String> {
        let columns = usize::try_from(COLUMNS).ok()?;
        (self.total > 0 && !self.begins.is_empty()).then(|| {
            let mut rule: Vec<char> = vec!['─'; columns];
            for begin in self.begins.values().skip(1) {
                let at = usize::try_from(self.column(*begin)).unwrap_or(0).min(columns - 1);
                if let Some(place) = rule.get_mut(at) {
                    *place = '╎';
                }
            }
            let parked = if self.begins.len() > 1 { "   ╎ parked" } else { "" };
            let total = duration(i64::try_from(self.total).unwrap_or(i64::MAX));
            format!("{} {total}{parked}", rule.into_iter().collect::<String>())
        })
    }
}
