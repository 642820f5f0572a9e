//! One policy with everything in it: what the card says is asked is what parks, and what it says goes through goes.

use std::collections::BTreeSet;

use proptest::prelude::*;

use plangate_executor::Ended;
use plangate_graph::card::{Card, What};
use plangate_graph::policy::Date;
use plangate_graph::{Author, Plan, Policy, VerifiedPlan};

use super::generated::grown;
use super::stage::{Stage, catalog, plan, policy, states, verified};

/// A `plangate.toml` as a team would have it.
fn of_a_team() -> Policy {
    let policy = policy(concat!(
        "[[deny]]\nserver = \"prod\"\ntool = \"*\"\n",
        "[[ask]]\nserver = \"git\"\ntool = \"status\"\nquorum = 2\n",
        "[[ask]]\nserver = \"fs\"\ntool = \"*\"\nwhen = [\"path = \\\"secret\\\"\"]\n",
        "[[allow]]\nserver = \"fs\"\ntool = \"write_file\"\ndefinition = \"DIGEST fs.write_file\"\nreason = \"scratch space\"\nuntil = \"2027-01-31\"\nwhen = [\"path in [\\\"p\\\", \\\"x\\\"]\"]\n",
        "[[allow]]\nserver = \"jira\"\ntool = \"create\"\ndefinition = \"DIGEST jira.create\"\nreason = \"anybody may\"\nuntil = \"2026-01-31\"\n",
        "[[reads]]\nserver = \"kv\"\ntool = \"kv\"\ndefinition = \"DIGEST kv.kv\"\nreason = \"a replica\"\nwhen = [\"action = \\\"get\\\"\"]\n",
        "[[trust]]\nserver = \"gmail\"\n",
        "[worlds]\nchat = [\"slack\", \"gmail\"]\n",
        "[roles]\nops = [\"test:bob\"]\n",
        "[[people]]\nserver = \"db\"\ndeadline = \"10m\"\nroles = [\"ops\"]\n",
    ));
    policy.on("2026-11-30".parse::<Date>().unwrap())
}

/// Ids of the calls that the card says it stops in front of, and how many it says go through.
fn said(plan: &VerifiedPlan) -> (BTreeSet<String>, usize) {
    let card = Card::of(plan, None);
    let lines = card.groups.iter().flat_map(|group| &group.lines);
    let calls = lines.filter(|line| matches!(line.what, What::Call { .. }) && line.stop.is_some());
    (calls.map(|line| line.id.clone()).collect(), card.through)
}

/// Runs a plan with everybody saying yes: the calls that were put to people, and those that went through unasked.
fn seen(plan: &VerifiedPlan) -> (BTreeSet<String>, BTreeSet<String>, Ended) {
    let stage = Stage::new();
    let parked = stage.run(plan);
    let (rows, ended) = stage.approve_all(parked);
    let asked: BTreeSet<String> =
        rows.iter().filter_map(|row| row.call.as_ref()).map(|call| call.node.clone()).collect();
    let rows = plangate_approval::Storage::rows(&*stage.store, None).unwrap();
    let unasked = rows.iter().filter(|row| row.votes.is_empty()).filter_map(|row| row.call.as_ref());
    let unasked = unasked.map(|call| call.node.clone()).collect();
    stage.tools.assert_reads_only(&states(&ended));
    (asked, unasked, ended)
}

#[test]
fn card_plan_and_run_agree_under_a_full_policy() {
    let team = of_a_team();
    let recipe = concat!(
        "together:\n  m: gmail.list {}\n  g: kv.kv {\"action\":\"get\",\"key\":\"k\"}\n  st: git.status {}\n",
        "then:\n  w: fs.write_file {\"path\":\"p\",\"content\":\"x\"}\n  v: fs.write_file {\"path\":\"q\",\"content\":\"x\"}\n",
        "  j: jira.create {\"project\":\"P\",\"summary\":\"s\"}\n  d: kv.kv {\"action\":\"delete\",\"key\":\"k\"}\n",
        "  post: slack.post {\"text\":\"{m.n}\"}\n",
    );
    let options = verified(recipe, &team);
    let (stops, through) = said(&options);
    let wanted: BTreeSet<String> = ["st", "v", "j", "d", "post"].map(str::to_owned).into();
    assert_eq!((stops, through), (wanted.clone(), 1));
    // The plan has a gate in front of each of them and of no other.
    let gated: BTreeSet<String> = options
        .plan()
        .calls()
        .filter(|(ix, _)| options.plan().gate_of(*ix).is_some())
        .map(|(_, call)| call.name.clone())
        .collect();
    assert_eq!(gated, wanted);
}

#[test]
fn a_denied_tool_has_no_plan() {
    let team = of_a_team();
    let catalog = catalog();
    let options = plangate_compiler::Options::new(&catalog, &team).author(Author::Person);
    let compiled = plangate_compiler::compile("then:\n  a: prod.deploy {\"version\":\"1\"}\n", &options);
    assert!(compiled.plan.is_none());
    // Nor has a plan that was made before the rule.
    let before = plan("then:\n  a: prod.deploy {\"version\":\"1\"}\n", &Policy::default(), Author::Person);
    let codes: Vec<_> =
        before.verify(&catalog, &team, Author::Person).unwrap_err().iter().map(|p| p.code).collect();
    assert_eq!(codes, ["R0502"]);
}

#[test]
fn a_rule_about_people_is_kept_with_the_row_and_holds() {
    let team = of_a_team();
    let stage = Stage::new();
    let parked = stage.run(&verified("then:\n  a: db.drop {\"table\":\"t\"}\n", &team));
    let Ended::Parked { waiting, .. } = &parked else { panic!("not parked") };
    let row = waiting.first().unwrap();
    assert_eq!((row.terms.roles.as_slice(), row.terms.deadline_ms), (["ops".to_owned()].as_slice(), 600_000));
    // Bob votes here without the role that his host would have given him.
    assert!(matches!(stage.vote(row, true), Err(plangate_approval::StoreError::NotAllowed(_))));
    assert_eq!(stage.tools.effects(), []);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Every call that people are asked about has a stop on the card; where every argument is known, every stop is met.
    #[test]
    fn what_the_card_says_is_asked_is_what_parks(seed in prop::collection::vec(any::<(u8, u8, u8)>(), 1..5), team: bool) {
        let policy = if team { without_quorum() } else { Policy::default() };
        let text = plan(&grown(&seed), &policy, Author::Person).to_json();
        let verified = Plan::from_json(&text).unwrap().verify(&catalog(), &policy, Author::Person).unwrap();
        let (stops, through) = said(&verified);
        let (asked, unasked, ended) = seen(&verified);
        let Ended::Done(record) = &ended else { return Err(TestCaseError::fail(format!("{ended:?}"))) };
        prop_assert!(asked.is_subset(&stops), "asked {asked:?}, card {stops:?}");
        let reached = |id: &str| {
            !matches!(record.step(id).unwrap().state.to_string().as_str(), "blocked" | "skipped" | "rejected" | "failed")
        };
        let met: BTreeSet<String> = stops.iter().filter(|id| reached(id)).cloned().collect();
        let open: BTreeSet<String> = met.difference(&asked).cloned().collect();
        // A rule may let a call through at its gate, once its arguments are known.
        prop_assert!(open.is_subset(&unasked), "never asked: {open:?}");
        prop_assert!(unasked.len() <= through + open.len(), "{unasked:?} went through, the card says {through}");
        if !team {
            prop_assert_eq!(asked, met);
        }
    }
}

/// As the team's, but one yes is enough and nobody needs a role.
fn without_quorum() -> Policy {
    let text = of_a_team().to_toml().replace("quorum = 2", "quorum = 1");
    let text = text.replace("roles = [\"ops\"]\n", "");
    Policy::from_toml(&text).unwrap().on("2026-11-30".parse::<Date>().unwrap())
}
