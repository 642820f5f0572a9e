//! A policy that cannot be meant makes no plan, as far as the servers at hand show it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]

mod outline;

use outline::{catalog, sketch};
use plangate_graph::lower::lower;
use plangate_graph::policy::{Author, Policy, Voters};
use plangate_graph::problem::Problem;
use plangate_graph::{Catalog, Plan};

fn policy(text: &str) -> Policy {
    Policy::from_toml(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn plan() -> Plan {
    sketch().then().call("list", "gmail.list", &[]).call("post", "slack.post", &["list"]).plan()
}

/// What becomes of the plan under a policy: code and item of each refusal, from compiling, verifying and holding alike.
fn refused(policy: &Policy, catalog: &Catalog) -> Vec<(&'static str, Option<usize>)> {
    let said = |problems: Vec<Problem>| problems.iter().map(|p| (p.code, p.item)).collect::<Vec<_>>();
    let verified = plan().verify(catalog, policy, Author::Model).err().map(said).unwrap_or_default();
    let (lowered, problems) = lower(plan().outline().clone(), catalog, policy, Author::Model);
    let compiled = if lowered.is_none() { said(problems) } else { Vec::new() };
    let before = plan().verify(&outline::catalog(), &Policy::default(), Author::Model).unwrap();
    let held = before.hold(catalog, policy).err().map(said).unwrap_or_default();
    assert_eq!((&compiled, &held), (&verified, &verified), "every way to a plan says the same");
    verified
}

fn used() -> Catalog {
    catalog().part([("gmail", "list"), ("slack", "post")])
}

#[test]
fn a_rule_that_names_no_tool_of_a_server_at_hand_is_refused() {
    for rule in [
        "[[deny]]\nserver = \"slack\"\ntool = \"pots\"\n",
        "[[ask]]\nserver = \"cal\"\ntool = \"drop_*\"\n",
        "[[people]]\nserver = \"slack\"\ntool = \"pots\"\nquorum = 2\n",
    ] {
        assert_eq!(refused(&policy(rule), &catalog()), [("P0201", None)], "{rule}");
    }
}

#[test]
fn rules_about_other_servers_and_tools_that_are_not_at_hand_are_left() {
    for rule in [
        "[[deny]]\nserver = \"elsewhere\"\ntool = \"pots\"\n",
        "[[deny]]\nserver = \"*\"\ntool = \"purge_*\"\n",
        "[[ask]]\nserver = \"s[a-z]*\"\ntool = \"pots\"\n",
        "[worlds]\nlab = [\"elsewhere\"]\n",
    ] {
        assert_eq!(refused(&policy(rule), &catalog()), [], "{rule}");
    }
    // Of the tools that a plan uses, its catalog cannot say what others there are: the run goes on under the same policy.
    let others = policy("[[deny]]\nserver = \"slack\"\ntool = \"create_channel\"\n");
    assert_eq!(refused(&others, &catalog()), []);
    assert_eq!(refused(&others, &used()), []);
}

#[test]
fn a_gate_of_the_plan_that_nobody_could_decide_is_refused_at_its_step() {
    let roster = "[roles]\nops = [\"os:ann\"]\nall = [\"os:ann\", \"os:bob\"]\n";
    let two = "[[people]]\nserver = \"slack\"\nroles = [\"ops\"]\nquorum = 2\n";
    assert_eq!(refused(&policy(&format!("{roster}{two}")), &catalog()), [("P0203", Some(1))]);
    // Another server's gates are no matter of this plan, and a read has none.
    for other in ["server = \"jira\"", "server = \"gmail\"\ntool = \"list\""] {
        let rule = format!("{roster}[[people]]\n{other}\nroles = [\"ops\"]\nquorum = 2\n");
        assert_eq!(refused(&policy(&rule), &catalog()), [], "{other}");
    }
    // A role that nobody holds is a slip wherever it stands.
    let slip = policy(&format!("{roster}[[people]]\nserver = \"jira\"\nroles = [\"opps\"]\n"));
    assert_eq!(refused(&slip, &catalog()), [("P0203", None)]);
}

#[test]
fn conditions_count_as_far_as_the_arguments_are_known() {
    let text = |amount: &str| {
        format!(
            "[roles]\nops = [\"os:ann\"]\n[[ask]]\nserver = \"slack\"\ntool = \"post\"\nwhen = ['for = \"{amount}\"']\n\
             roles = [\"ops\"]\nquorum = 2\n"
        )
    };
    let literal = sketch().then().call("post", "slack.post", &[]).plan();
    let under = |text: &str| literal.clone().verify(&catalog(), &policy(text), Author::Model);
    assert!(under(&text("another")).is_ok());
    assert_eq!(under(&text("post")).unwrap_err()[0].code, "P0203");
}

#[test]
fn where_nobody_can_be_verified_a_plan_that_needs_it_is_refused() {
    let rule = policy("[[people]]\nserver = \"slack\"\nverified = true\n");
    assert_eq!(refused(&rule, &catalog()), []);
    let problems =
        plan().verify(&catalog(), &rule.decided_by(Voters::Unverified), Author::Model).unwrap_err();
    assert_eq!(
        problems[0].message,
        "`post` (slack.post) is to be asked, and nobody could decide it: only verified voters count, and nobody can be \
         verified here"
    );
    assert_eq!(refused(&Policy::default().decided_by(Voters::Unverified), &catalog()), []);
}
