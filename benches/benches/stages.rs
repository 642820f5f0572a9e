//! One bench a stage, each for recipes of 10 to 10,000 steps of every sort.
#![allow(clippy::unwrap_used, missing_docs, reason = "a bench may fail")]

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use plangate_benches::{catalog, match_lines, mixed, plan_of, verified};
use plangate_compiler::{Options, compile, outline, parse};
use plangate_graph::card::Card;
use plangate_graph::{Author, Plan, Policy};

const STEPS: [usize; 4] = [10, 100, 1_000, 10_000];

fn main() {
    divan::main();
}

#[divan::bench(args = STEPS)]
fn grammar_alone(bencher: Bencher<'_, '_>, steps: usize) {
    let recipe = mixed(steps);
    bencher.counter(ItemsCount::new(steps)).bench(|| match_lines(black_box(&recipe)));
}

#[divan::bench(args = STEPS)]
fn parse_recipe(bencher: Bencher<'_, '_>, steps: usize) {
    let (recipe, catalog) = (mixed(steps), catalog());
    bencher.counter(ItemsCount::new(steps)).bench(|| parse(black_box(&recipe), &catalog));
}

#[divan::bench(args = STEPS)]
fn resolve_names(bencher: Bencher<'_, '_>, steps: usize) {
    let (recipe, catalog) = (mixed(steps), catalog());
    bencher.counter(ItemsCount::new(steps)).bench(|| outline(black_box(&recipe), &catalog));
}

#[divan::bench(args = STEPS)]
fn compile_whole(bencher: Bencher<'_, '_>, steps: usize) {
    let (recipe, catalog, policy) = (mixed(steps), catalog(), Policy::default());
    let options = Options::new(&catalog, &policy).author(Author::Person);
    bencher.counter(ItemsCount::new(steps)).bench(|| compile(black_box(&recipe), &options));
}

#[divan::bench(args = STEPS)]
fn write_actions(bencher: Bencher<'_, '_>, steps: usize) {
    let plan = plan_of(&mixed(steps));
    bencher.counter(ItemsCount::new(steps)).bench(|| black_box(&plan).to_json());
}

#[divan::bench(args = STEPS)]
fn read_actions(bencher: Bencher<'_, '_>, steps: usize) {
    let text = plan_of(&mixed(steps)).to_json();
    bencher.counter(ItemsCount::new(steps)).bench(|| Plan::from_json(black_box(&text)).unwrap());
}

#[divan::bench(args = STEPS)]
fn verify_plan(bencher: Bencher<'_, '_>, steps: usize) {
    let (plan, catalog, policy) = (plan_of(&mixed(steps)), catalog(), Policy::default());
    bencher
        .counter(ItemsCount::new(steps))
        .with_inputs(|| plan.clone())
        .bench_values(|plan| plan.verify(&catalog, &policy, Author::Person).unwrap());
}

#[divan::bench(args = STEPS)]
fn card_as_text(bencher: Bencher<'_, '_>, steps: usize) {
    let plan = verified(&mixed(steps));
    bencher.counter(ItemsCount::new(steps)).bench(|| Card::of(black_box(&plan), None).to_text());
}
