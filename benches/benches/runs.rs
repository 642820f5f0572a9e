//! What a step costs beside its call: fans, chains and layers of calls that do nothing, on a store in memory.
#![allow(clippy::unwrap_used, missing_docs, reason = "a bench may fail")]

use std::sync::Arc;
use std::time::Duration;

use divan::Bencher;
use divan::counter::ItemsCount;
use plangate_approval::MemoryStore;
use plangate_benches::{Blocking, Host, chain, ended, executor, fan, layers, start, verified};
use plangate_executor::schedule::Topology;
use plangate_executor::simulate::simulate;
use plangate_graph::VerifiedPlan;

const STEPS: [usize; 4] = [10, 100, 1_000, 10_000];

fn main() {
    divan::main();
}

fn bench(bencher: Bencher<'_, '_>, steps: usize, plan: &VerifiedPlan) {
    bencher
        .counter(ItemsCount::new(steps))
        .with_inputs(|| executor(&Arc::new(MemoryStore::new().unwrap()), Host::new()))
        .bench_values(|executor| ended(&executor.run(plan, start()).unwrap()));
}

#[divan::bench(args = STEPS)]
fn fan_of_nothing(bencher: Bencher<'_, '_>, steps: usize) {
    bench(bencher, steps, &verified(&fan(steps)));
}

#[divan::bench(args = STEPS)]
fn chain_of_nothing(bencher: Bencher<'_, '_>, steps: usize) {
    bench(bencher, steps, &verified(&chain(steps)));
}

#[divan::bench]
fn ten_layers_of_ten(bencher: Bencher<'_, '_>) {
    bench(bencher, 100, &verified(&layers(10, 10)));
}

#[divan::bench(args = STEPS)]
fn schedule_alone_fan(bencher: Bencher<'_, '_>, steps: usize) {
    let shape = Arc::new(Topology::of(&verified(&fan(steps))).unwrap());
    bencher.counter(ItemsCount::new(steps)).bench(|| simulate(&shape, |_| 1, None).unwrap());
}

#[divan::bench(args = STEPS)]
fn schedule_alone_chain(bencher: Bencher<'_, '_>, steps: usize) {
    let shape = Arc::new(Topology::of(&verified(&chain(steps))).unwrap());
    bencher.counter(ItemsCount::new(steps)).bench(|| simulate(&shape, |_| 1, None).unwrap());
}

/// Default settings: nobody sized a pool.
#[divan::bench(sample_count = 10)]
fn fan_of_32_that_block_for_50_ms(bencher: Bencher<'_, '_>) {
    let plan = verified(&fan(32));
    bencher
        .with_inputs(|| {
            executor(&Arc::new(MemoryStore::new().unwrap()), Blocking::new(Duration::from_millis(50)))
        })
        .bench_values(|executor| ended(&executor.run(&plan, start()).unwrap()));
}
