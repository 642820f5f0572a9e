//! What durability costs: bare commits of `SQLite`, a durable step, a fan that commits in groups, parking and resuming.
#![allow(clippy::unwrap_used, missing_docs, reason = "a bench may fail")]

use divan::Bencher;
use divan::counter::ItemsCount;
use plangate_benches::durable::{Bare, Disk, Parking};
use plangate_benches::{chain, ended, fan, start, verified};

fn main() {
    divan::main();
}

#[divan::bench]
fn bare_commit(bencher: Bencher<'_, '_>) {
    let mut bare = Bare::new().unwrap();
    bencher.bench_local(|| bare.commit(1).unwrap());
}

#[divan::bench(args = [10, 100])]
fn chain_of_durable_steps(bencher: Bencher<'_, '_>, steps: usize) {
    let (disk, plan) = (Disk::new().unwrap(), verified(&chain(steps)));
    let executor = disk.executor();
    bencher.counter(ItemsCount::new(steps)).bench(|| ended(&executor.run(&plan, start()).unwrap()));
}

#[divan::bench(args = [10, 100, 1_000])]
fn fan_of_durable_steps(bencher: Bencher<'_, '_>, steps: usize) {
    let (disk, plan) = (Disk::new().unwrap(), verified(&fan(steps)));
    let executor = disk.executor();
    bencher.counter(ItemsCount::new(steps)).bench(|| ended(&executor.run(&plan, start()).unwrap()));
}

#[divan::bench]
fn park_approve_resume(bencher: Bencher<'_, '_>) {
    let parking = Parking::new().unwrap();
    bencher.bench(|| parking.there_and_back().unwrap());
}
