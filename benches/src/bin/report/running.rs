//! Runs on a store in memory: calls that block, and calls that do nothing.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use plangate_approval::MemoryStore;
use plangate_benches::durable::Fallible;
use plangate_benches::{
    Blocking, Host, Job, chain, ended, executor, fan, layers, rounds, start, time, verified,
};
use plangate_executor::schedule::Topology;
use plangate_executor::simulate::simulate;
use plangate_executor::{Ended, Executor, RunError, Tools};
use plangate_graph::VerifiedPlan;

use crate::table::{Demand, Table, each, ratio, words};

const SLOW: Duration = Duration::from_millis(50);

/// A run from start to record, tools and store made before.
fn run<'a, T: Tools + 'static>(plan: &'a VerifiedPlan, tools: impl Fn() -> T + 'a) -> Fallible<Job<'a>> {
    MemoryStore::new()?;
    let small = verified(&chain(10));
    Ok(Box::new(move || {
        let executor = MemoryStore::new().map(|store| executor(&Arc::new(store), tools()));
        #[expect(clippy::unwrap_used, reason = "it could be made just before")]
        let executor = executor.unwrap();
        time_run(&executor, plan, &small)
    }))
}

/// A run of a plan, timed. A small one goes before it: what a large run left to the allocator is not charged to the next.
fn time_run(executor: &Executor<MemoryStore>, plan: &VerifiedPlan, small: &VerifiedPlan) -> Duration {
    #[expect(clippy::unwrap_used, reason = "what failed must not be measured")]
    ended(&executor.run(small, start()).unwrap());
    let mut last: Option<Result<Ended, RunError>> = None;
    let took = time(|| last = Some(executor.run(plan, start())));
    #[expect(clippy::panic, reason = "what failed must not be measured")]
    match last {
        Some(Ok(run)) => ended(&run),
        other => panic!("{other:?}"),
    }
    took
}

/// Wall and slowest call of the round with the median ratio.
fn blocking(plan: &VerifiedPlan) -> Fallible<(Duration, Duration)> {
    let small = verified(&fan(2));
    let mut seen = Vec::new();
    for _ in 0..9 {
        let tools = Blocking::new(SLOW);
        let slowest = tools.slowest();
        let executor = executor(&Arc::new(MemoryStore::new()?), tools);
        // The small run sleeps too; it ends before the wide one begins.
        ended(&executor.run(&small, start())?);
        *slowest.lock().map_err(|e| e.to_string())? = Duration::ZERO;
        let mut last = None;
        let wall = time(|| last = Some(executor.run(plan, start())));
        ended(&last.ok_or("it did not run")??);
        seen.push((wall, *slowest.lock().map_err(|e| e.to_string())?));
    }
    seen.sort_by(|a, b| ratio(a.0, a.1).total_cmp(&ratio(b.0, b.1)));
    Ok(seen.get(seen.len() / 2).copied().unwrap_or_default())
}

pub(crate) fn measure(table: &mut Table) -> Fallible<()> {
    let wide = verified(&fan(32));
    let (wall, slowest) = blocking(&wide)?;
    let of = format!("{} over the slowest, {}", words(wall), words(slowest));
    table.add("fan of 32 that block, default settings", of, ratio(wall, slowest), Demand::AtMost(1.05));
    let of = format!("{} over {}", words(wall), words(SLOW));
    table.add("the same, over what each call sleeps", of, ratio(wall, SLOW), Demand::Nothing);

    let sizes = [10, 100, 1_000, 10_000, 100_000];
    for (shape, make) in [("fan", fan as fn(usize) -> String), ("chain", chain)] {
        let plans: Vec<VerifiedPlan> = sizes.iter().map(|n| verified(&make(*n))).collect();
        let jobs = plans.iter().map(|plan| run(plan, Host::new)).collect::<Fallible<Vec<_>>>()?;
        let took: Vec<Duration> =
            rounds(5, jobs).into_iter().zip(sizes).map(|(took, n)| each(took, n)).collect();
        let thousand = took.get(2).copied().unwrap_or_default();
        for (took, n) in took.iter().zip(sizes) {
            let flat = if n == 100_000 { Demand::AtMost(1.2) } else { Demand::Nothing };
            let of = format!("{} a step; of 1,000: {}", words(*took), words(thousand));
            table.add(&format!("{shape} of {n} calls that do nothing"), of, ratio(*took, thousand), flat);
        }
        let shapes: Vec<Arc<Topology>> =
            plans.iter().map(|plan| Ok(Arc::new(Topology::of(plan)?))).collect::<Fallible<Vec<_>>>()?;
        let jobs = shapes
            .iter()
            .map(|shape| -> Job<'_> { Box::new(move || time(|| simulate(shape, |_| 1, None))) })
            .collect();
        let took: Vec<Duration> =
            rounds(5, jobs).into_iter().zip(sizes).map(|(took, n)| each(took, n)).collect();
        let thousand = took.get(2).copied().unwrap_or_default();
        let most = took.last().copied().unwrap_or_default();
        let of = format!("{} a step of 100,000; of 1,000: {}", words(most), words(thousand));
        table.add(&format!("the schedule alone, {shape}"), of, ratio(most, thousand), Demand::Nothing);
    }
    Ok(())
}

/// One line a shape: name, steps, microseconds a step (or, of calls that block, wall over what each sleeps).
pub(crate) fn for_peers() -> Fallible<()> {
    let mut out = std::io::stdout().lock();
    let wide = verified(&fan(32));
    let (wall, _) = blocking(&wide)?;
    writeln!(out, "blocking-32 {:.4}", ratio(wall, SLOW))?;
    let plans = [
        ("fan-1000", verified(&fan(1_000)), 1_000),
        ("chain-1000", verified(&chain(1_000)), 1_000),
        ("layers-10x10", verified(&layers(10, 10)), 100),
    ];
    let jobs = plans.iter().map(|(_, plan, _)| run(plan, Host::new)).collect::<Fallible<Vec<_>>>()?;
    for (took, (name, _, steps)) in rounds(9, jobs).into_iter().zip(&plans) {
        writeln!(out, "{name} {:.4}", each(took, *steps).as_secs_f64() * 1e6)?;
    }
    Ok(())
}
