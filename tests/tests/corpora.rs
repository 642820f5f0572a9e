//! Plans that nobody here wrote, compiled and run on a counted clock, against what was published or recorded of them.
//!
//! The plans lie beside the checkout; where they do not, each test says that it was skipped.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "a test may fail"
)]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use plangate_compiler::{Compiled, Options, Severity, compile};
use plangate_executor::schedule::{Kind, Topology};
use plangate_executor::simulate::{Simulation, simulate};
use plangate_graph::lower::is_name;
use plangate_graph::{Author, NodeIx, Plan, VerifiedPlan};
use plangate_tests::corpora::{Given, GivenStep, Imported, Manner, import, read};

/// All tools only read.
const READS: Manner = Manner { all_read: true, after: true };

/// The plans of a file, or a word that they are not there.
fn corpus(name: &str) -> Option<Vec<Given>> {
    let plans = read(name);
    if plans.is_none() {
        println!("skipped: there is no data/plans/{name}.jsonl beside the checkout");
    }
    plans
}

fn compiled(imported: &Imported) -> Compiled {
    let options = Options::new(&imported.catalog, &imported.policy).author(Author::Person);
    compile(&imported.recipe, &options)
}

/// Compiles, writes, reads back and verifies.
fn whole(plan: &Given, manner: Manner) -> VerifiedPlan {
    let imported = import(plan, manner);
    let compiled = compiled(&imported);
    let made = compiled.plan.unwrap_or_else(|| panic!("{}: {:#?}", plan.id, compiled.diagnostics));
    let read = Plan::from_json(&made.to_json()).unwrap();
    assert_eq!(read.to_json(), made.to_json(), "{}", plan.id);
    read.verify(&imported.catalog, &imported.policy, Author::Person).unwrap()
}

/// A plan on the counted clock.
struct Play<'a> {
    verified: &'a VerifiedPlan,
    shape: Arc<Topology>,
    costs: HashMap<&'a str, u64>,
}

impl<'a> Play<'a> {
    fn of(plan: &'a Given, verified: &'a VerifiedPlan) -> Play<'a> {
        let shape = Arc::new(Topology::of(verified).unwrap());
        Play { verified, shape, costs: plan.steps.iter().map(|s| (s.id.as_str(), s.cost_ms)).collect() }
    }

    fn on(&self, workers: Option<usize>) -> Simulation {
        let cost = |ix: NodeIx| self.costs[self.verified.plan().node(ix).id.as_str()];
        simulate(&self.shape, cost, workers).unwrap()
    }

    fn node(&self, step: &str) -> NodeIx {
        self.verified.plan().find(step).unwrap()
    }

    /// Everything that this node waits for, directly or through others.
    fn above(&self, node: NodeIx) -> BTreeSet<NodeIx> {
        let mut above = BTreeSet::new();
        let mut open = vec![node];
        while let Some(ix) = open.pop() {
            open.extend(self.shape.ins(ix).iter().map(|link| link.node).filter(|from| above.insert(*from)));
        }
        above
    }

    fn only_reads(&self, node: NodeIx) -> bool {
        matches!(self.shape.kind(node), Kind::Read { .. })
    }
}

#[test]
fn asynchow_takes_the_published_best_time() {
    let Some(plans) = corpus("asynchow") else { return };
    let mut equal = 0;
    for plan in &plans {
        let plan = plan.in_order().unwrap();
        let verified = whole(&plan, READS);
        let took = Play::of(&plan, &verified).on(None).makespan;
        assert_eq!(Some(took), plan.best_ms, "{}", plan.id);
        equal += 1;
    }
    println!("| asynchow | {equal} of {} plans take exactly the published best time |", plans.len());
}

#[test]
fn wfcommons_takes_the_longest_path_and_never_more_than_graham_says() {
    let Some(plans) = corpus("wfcommons") else { return };
    let (mut steps, mut beats, mut closest, mut runs) = (0, 0, 0.0_f64, 0);
    for plan in &plans {
        let plan = plan.in_order().unwrap();
        let verified = whole(&plan, READS);
        let play = Play::of(&plan, &verified);
        let longest = plan.earliest_ends().into_iter().max().unwrap();
        let took = play.on(None).makespan;
        assert_eq!(took, longest, "{}", plan.id);
        let barrier = plan.level_barrier();
        assert!(took <= barrier, "{}", plan.id);
        if longest < barrier {
            assert!(took < barrier, "{}", plan.id);
            beats += 1;
        }
        for workers in [1, 2, 3, 4, 8, 16, 64] {
            let took = play.on(Some(workers)).makespan;
            // Graham: at most sum/m + (1 - 1/m) times the longest path.
            let most = (plan.sum() + (workers as u64 - 1) * longest) as f64 / workers as f64;
            assert!(took as f64 <= most, "{} on {workers}: {took} > {most}", plan.id);
            assert!(took >= longest && took * workers as u64 >= plan.sum(), "{} on {workers}", plan.id);
            closest = closest.max(took as f64 / most);
            runs += 1;
        }
        steps += plan.steps.len();
    }
    println!(
        "| wfcommons | {n} of {n} ({steps} steps) take the longest path; {beats} beat the level barrier, none is behind \
         it; {runs} runs with 1 to 64 workers within Graham's bound, the closest at {closest:.3} of it |",
        n = plans.len()
    );
}

#[test]
fn bfcl_neighbours_keep_their_order_unless_both_only_read() {
    let Some(plans) = corpus("bfcl_multi_turn") else { return };
    let (mut kept, mut free, mut twice) = (0, 0, 0);
    for plan in &plans {
        let manner = Manner { all_read: false, after: false };
        let first = compiled(&import(plan, manner));
        if first.plan.is_none() {
            // The same change with the same arguments twice is refused, by name.
            let errors: Vec<_> = first.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
            assert!(errors.iter().all(|d| d.code == "R0506"), "{}: {errors:#?}", plan.id);
            let mut seen = BTreeSet::new();
            let again = plan.steps.iter().filter(|s| !seen.insert((&s.tool, s.args.to_string()))).count();
            assert_eq!(errors.len(), again, "{}", plan.id);
            twice += 1;
            continue;
        }
        let verified = whole(plan, manner);
        let play = Play::of(plan, &verified);
        let run = play.on(None);
        for pair in plan.steps.windows(2) {
            let (a, b) = (play.node(&pair[0].id), play.node(&pair[1].id));
            if play.only_reads(a) && play.only_reads(b) && !pair[1].reads.contains(&pair[0].id) {
                assert!(!play.shape.ins(b).iter().any(|link| link.node == a), "{}", plan.id);
                free += 1;
            } else {
                assert!(play.above(b).contains(&a), "{}: {} overtakes {}", plan.id, pair[1].id, pair[0].id);
                assert!(run.starts[b] >= run.ends[a], "{}", plan.id);
                kept += 1;
            }
        }
    }
    println!(
        "| bfcl_multi_turn | {} plans: {kept} neighbours keep their order, {free} only read and are free; {twice} refused \
         because it changes the same twice |",
        plans.len()
    );
}

#[test]
fn nestful_references_are_edges() {
    let Some(plans) = corpus("nestful") else { return };
    let manner = Manner { all_read: true, after: false };
    let (mut whole_ones, mut edges, mut flawed) = (0, 0, BTreeMap::new());
    for plan in &plans {
        let flaws = flaws(plan, false);
        if !flaws.is_empty() {
            refused(plan, manner, &flaws, &mut flawed);
            continue;
        }
        let verified = whole(plan, manner);
        let play = Play::of(plan, &verified);
        for step in &plan.steps {
            let ins: BTreeSet<NodeIx> =
                play.shape.ins(play.node(&step.id)).iter().filter(|l| l.data).map(|l| l.node).collect();
            let reads: BTreeSet<NodeIx> = step.reads.iter().map(|read| play.node(read)).collect();
            assert_eq!(ins, reads, "{}: {}", plan.id, step.id);
            edges += reads.len();
        }
        let longest = Given {
            steps: plan.steps.iter().map(|s| GivenStep { after: vec![], ..s.clone() }).collect(),
            ..plan.clone()
        };
        assert_eq!(play.on(None).makespan, longest.earliest_ends().into_iter().max().unwrap());
        whole_ones += 1;
    }
    println!(
        "| nestful | {whole_ones} of {} compile, their {edges} references are their edges; {} |",
        plans.len(),
        words(&flawed)
    );
}

#[test]
fn llmcompiler_takes_the_longest_path() {
    let Some(plans) = corpus("llmcompiler") else { return };
    for plan in &plans {
        let verified = whole(plan, READS);
        let took = Play::of(plan, &verified).on(None).makespan;
        assert_eq!(took, plan.earliest_ends().into_iter().max().unwrap(), "{}", plan.id);
    }
    println!("| llmcompiler | {n} of {n} take the longest path |", n = plans.len());
}

#[test]
fn flawed_plans_of_small_models_are_refused_by_name() {
    let Some(plans) = corpus("taskbench_llm") else { return };
    let (mut good, mut flawed) = (0, BTreeMap::new());
    for plan in &plans {
        let flaws = flaws(plan, true);
        if flaws.is_empty() {
            let verified = whole(plan, READS);
            let took = Play::of(plan, &verified).on(None).makespan;
            assert_eq!(took, plan.earliest_ends().into_iter().max().unwrap(), "{}", plan.id);
            good += 1;
        } else {
            refused(plan, READS, &flaws, &mut flawed);
        }
    }
    println!(
        "| taskbench_llm | {good} of {} compile and take the longest path; {} |",
        plans.len(),
        words(&flawed)
    );
}

/// What is wrong with a plan: for each flawed step the code that must name it.
fn flaws(plan: &Given, after: bool) -> BTreeSet<(String, &'static str)> {
    let mut flaws = BTreeSet::new();
    let mut above = BTreeSet::new();
    let all: BTreeSet<&str> = plan.steps.iter().map(|s| s.id.as_str()).collect();
    for step in &plan.steps {
        if above.contains(step.id.as_str()) {
            flaws.insert((step.id.clone(), "R0202"));
        }
        for name in step.reads.iter().chain(step.after.iter().filter(|_| after)) {
            let code = match name.as_str() {
                known if above.contains(known) => continue,
                own if own == step.id => "R0204",
                // Whatever a model put there instead of a step.
                unknown if !all.contains(unknown) && !is_name(unknown) => "R0108",
                unknown if !all.contains(unknown) => "R0201",
                _ => "R0203",
            };
            flaws.insert((name.clone(), code));
        }
        flaws.extend(step.strange_references().into_iter().map(|reference| (reference, "R0207")));
        above.insert(step.id.as_str());
    }
    flaws
}

/// A flawed plan gives no plan, and a diagnostic for each flaw that says the name.
fn refused(
    plan: &Given,
    manner: Manner,
    flaws: &BTreeSet<(String, &'static str)>,
    counted: &mut BTreeMap<&'static str, usize>,
) {
    let imported = import(plan, manner);
    let compiled = compiled(&imported);
    assert!(compiled.plan.is_none(), "{}: {flaws:?}\n{}", plan.id, imported.recipe);
    for (name, code) in flaws {
        let named =
            compiled.diagnostics.iter().any(|d| d.code == *code && d.message.contains(&format!("`{name}`")));
        assert!(named, "{}: {code} {name}\n{}\n{:#?}", plan.id, imported.recipe, compiled.diagnostics);
    }
    for code in flaws.iter().map(|(_, code)| *code).collect::<BTreeSet<_>>() {
        *counted.entry(code).or_default() += 1;
    }
    *counted.entry("refused").or_default() += 1;
}

fn words(flawed: &BTreeMap<&'static str, usize>) -> String {
    let of = |code: &str| flawed.get(code).copied().unwrap_or(0);
    format!(
        "{} refused, each flaw by its name ({} with a name given twice, {} unknown, {} later, {} reading themselves, {} \
         with what is no name, {} with a path that is none)",
        of("refused"),
        of("R0202"),
        of("R0201"),
        of("R0203"),
        of("R0204"),
        of("R0108"),
        of("R0207")
    )
}
