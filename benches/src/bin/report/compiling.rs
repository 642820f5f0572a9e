//! Compiling beside the grammar alone, and verifying beside a topological sort.

use std::time::Duration;

use plangate_benches::durable::Fallible;
use plangate_benches::{Job, catalog, chain, match_lines, mixed, of_size, rounds, time};
use plangate_compiler::{Options, compile};
use plangate_graph::card::Card;
use plangate_graph::{Author, Plan, Policy};

use crate::table::{Demand, Table, ratio, words};

pub(crate) fn measure(table: &mut Table) -> Fallible<()> {
    let (catalog, policy) = (catalog(), Policy::default());
    let options = Options::new(&catalog, &policy).author(Author::Person);
    let sizes = [1_000, 10_000, 100_000, 1_000_000];
    let recipes: Vec<String> = sizes.iter().map(|size| of_size(*size)).collect();
    let mut jobs: Vec<Job<'_>> = Vec::new();
    for recipe in &recipes {
        jobs.push(Box::new(move || time(|| match_lines(recipe))));
        jobs.push(Box::new(move || time(|| compile(recipe, &options))));
    }
    let took = rounds(15, jobs);
    let mut small = None;
    for (pair, recipe) in took.chunks_exact(2).zip(&recipes) {
        let [grammar, whole] = pair else { continue };
        let demand = if small.is_none() { Demand::AtMost(5.0) } else { Demand::Nothing };
        let of = format!("{} over {}", words(*whole), words(*grammar));
        let what = format!("compiling {} bytes, over the grammar alone", recipe.len());
        table.add(&what, of, ratio(*whole, *grammar), demand);
        let per_byte = whole.as_secs_f64() / f64::from(u32::try_from(recipe.len())?);
        let first = *small.get_or_insert(per_byte);
        if recipe.len() >= 1_000_000 {
            let of = format!("{:.0} ns a byte; of 1 KB: {:.0}", per_byte * 1e9, first * 1e9);
            table.add("compiling 1 MB, a byte over one of 1 KB", of, per_byte / first, Demand::AtMost(1.5));
        }
    }

    for (what, recipe) in
        [("10,000 reads in a chain", chain(10_000)), ("10,000 steps of every sort", mixed(10_000))]
    {
        verifying(table, what, &recipe)?;
    }
    Ok(())
}

/// Verifying a plan that was just made, in each round another: what is found out once, where a plan is made, counts there.
/// So making it and verifying it are measured together too.
fn verifying(table: &mut Table, what: &str, recipe: &str) -> Fallible<()> {
    let (catalog, policy) = (catalog(), Policy::default());
    let options = Options::new(&catalog, &policy).author(Author::Person);
    let verify = |plan: Option<Plan>| plan.map(|plan| plan.verify(&catalog, &policy, Author::Person));
    let compiled = || compile(recipe, &options).plan;
    let plan = compiled().ok_or("the recipe does not compile")?;
    let (bare, text) = (bare(&plan), plan.to_json());
    let read = || Plan::from_json(&text).ok();
    let verified = plan.verify(&catalog, &policy, Author::Person).map_err(|p| format!("{p:?}"))?;
    let jobs: Vec<Job<'_>> = vec![
        Box::new(|| {
            // The graph is there in any case; what is sorted has been touched.
            drop(petgraph::algo::toposort(&bare, None));
            until_made(|| petgraph::algo::toposort(&bare, None))
        }),
        Box::new(|| {
            let plan = compiled();
            until_made(|| verify(plan))
        }),
        Box::new(|| {
            let plan = read();
            until_made(|| verify(plan))
        }),
        Box::new(|| until_made(compiled)),
        Box::new(|| until_made(|| verify(compiled()))),
        Box::new(|| until_made(read)),
        Box::new(|| until_made(|| verify(read()))),
        Box::new(|| until_made(|| Card::of(&verified, None).to_text())),
    ];
    let took = rounds(15, jobs);
    let whats = [
        ("verifying", ", as compiled", Demand::AtMost(5.0)),
        ("verifying", ", as read", Demand::AtMost(5.0)),
        ("compiling", "", Demand::Nothing),
        ("compiling and verifying", "", Demand::Nothing),
        ("reading", "", Demand::Nothing),
        ("reading and verifying", "", Demand::Nothing),
        ("the card of", "", Demand::Nothing),
    ];
    let Some((sort, took)) = took.split_first() else { return Ok(()) };
    for (took, (does, how, demand)) in took.iter().zip(whats) {
        let of = format!("{} over {}", words(*took), words(*sort));
        table.add(&format!("{does} {what}{how}, over toposort"), of, ratio(*took, *sort), demand);
    }
    Ok(())
}

/// How long it takes to make something. What is made goes when the time is taken.
fn until_made<T>(make: impl FnOnce() -> T) -> Duration {
    let mut made = None;
    let took = time(|| made = Some(make()));
    drop(made);
    took
}

/// The same nodes and edges without anything on them.
fn bare(plan: &Plan) -> petgraph::graph::DiGraph<(), ()> {
    let mut graph = petgraph::graph::DiGraph::new();
    let nodes: Vec<_> = plan.nodes().map(|_| graph.add_node(())).collect();
    for (ix, _) in plan.nodes() {
        for (to, _) in plan.outgoing(ix) {
            if let (Some(from), Some(to)) = (nodes.get(ix.0 as usize), nodes.get(to.0 as usize)) {
                graph.add_edge(*from, *to, ());
            }
        }
    }
    graph
}
