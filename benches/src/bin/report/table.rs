//! What was measured, beside what is demanded.

use std::io::Write as _;
use std::time::Duration;

use plangate_benches::durable::Fallible;

#[derive(Default)]
pub(crate) struct Table {
    lines: Vec<[String; 5]>,
}

/// What is demanded of a number.
#[derive(Clone, Copy)]
pub(crate) enum Demand {
    /// At most this.
    AtMost(f64),
    /// Nothing: it is for orientation.
    Nothing,
}

impl Table {
    /// A line: what it is, how it came about, the number.
    pub(crate) fn add(&mut self, what: &str, of: String, number: f64, demand: Demand) {
        let (demanded, verdict) = match demand {
            Demand::AtMost(most) if number <= most => (format!("<= {most}"), "ok"),
            Demand::AtMost(most) => (format!("<= {most}"), "SHORT"),
            Demand::Nothing => (String::new(), ""),
        };
        self.lines.push([what.to_owned(), of, format!("{number:.3}"), demanded, verdict.to_owned()]);
    }

    pub(crate) fn print(&self) -> Fallible<()> {
        let mut out = std::io::stdout().lock();
        writeln!(out, "| what | measured | number | demanded | |\n|---|---|---:|---:|---|")?;
        for line in &self.lines {
            writeln!(out, "| {} |", line.join(" | "))?;
        }
        Ok(())
    }
}

/// In words, with three digits that count.
pub(crate) fn words(time: Duration) -> String {
    let nanos = time.as_secs_f64() * 1e9;
    let (unit, by) = match nanos {
        n if n < 1e3 => ("ns", 1.0),
        n if n < 1e6 => ("us", 1e3),
        n if n < 1e9 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    let value = nanos / by;
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

/// One over the other.
pub(crate) fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

/// Of so many, each.
pub(crate) fn each(total: Duration, of: usize) -> Duration {
    total / u32::try_from(of.max(1)).unwrap_or(u32::MAX)
}
