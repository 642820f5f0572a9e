//! It makes no difference where a plan comes from, nor what is beside a call: whatever need not be looked at again is what
//! it would be if it were.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]

mod outline;

use outline::{catalog, grown, sealed, sketch};
use plangate_graph::catalog::{Catalog, Definition};
use plangate_graph::lower::lower;
use plangate_graph::outline::{Block, BlockKind, Body, Call, Input, InputKind, Item, Outline, Settings};
use plangate_graph::plan::NodeKind;
use plangate_graph::policy::{Author, Policy};
use plangate_graph::problem::Problem;
use plangate_graph::template::{Part, Ref, Source, Template};
use plangate_graph::{Digest, Plan, Value, VerifiedPlan};
use proptest::prelude::*;

/// Looser and stricter ones, and some under which other edges follow.
const POLICIES: &[&str] = &[
    "",
    "[worlds]\nfiles = [\"fs\"]\ncode = [\"git\", \"ci\"]\n",
    "[worlds]\nall = [\"*\"]\n",
    "[[allow]]\nserver = \"slack\"\ntool = \"*\"\ndefinition = \"any\"\nreason = \"our own\"\n",
    "[[ask]]\nserver = \"gmail\"\ntool = \"list\"\n",
    "[[deny]]\nserver = \"db\"\ntool = \"drop\"\n",
    "allow_reversible_writes = true\n",
];

fn policy(at: usize) -> Policy {
    Policy::from_toml(POLICIES[at]).unwrap()
}

/// All that a plan which passed shows, or why it did not pass.
fn shown(verified: &Result<VerifiedPlan, Vec<Problem>>) -> String {
    match verified {
        Err(problems) => format!("{problems:#?}"),
        Ok(verified) => {
            let plan = verified.plan();
            let calls: Vec<_> =
                plan.nodes().map(|(ix, _)| (verified.effect(ix), verified.classification(ix))).collect();
            let edges: Vec<_> = plan.nodes().map(|(ix, _)| (plan.incoming(ix), plan.gate_of(ix))).collect();
            let items: Vec<_> = (0..plan.outline().items.len()).map(|item| plan.node_of(item)).collect();
            format!("{}\n{calls:?}\n{edges:?}\n{items:?}\n{:?}", plan.to_json(), plan.notes())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    /// As compiled, as read, and as read with words that are not those of now, so that all of it is derived again.
    #[test]
    fn a_plan_is_held_alike_wherever_it_comes_from(
        seed in prop::collection::vec(any::<(u8, u8, u8)>(), 1..8),
        made_under in 0..POLICIES.len(),
        held_under in 0..POLICIES.len(),
        model in any::<bool>(),
    ) {
        let author = if model { Author::Model } else { Author::Person };
        let (made_under, held_under) = (policy(made_under), policy(held_under));
        let Some(compiled) = lower(grown(&seed).outline(), &catalog(), &made_under, author).0 else {
            return Ok(());
        };
        let text = compiled.to_json();
        let other_words = sealed(&text.replace("\"says\":\"", "\"says\":\"so it is said: "));
        prop_assert!(other_words != text || !text.contains("\"kind\":\"call\""));
        let read = Plan::from_json(&text).unwrap();
        let derived_again = Plan::from_json(&other_words).unwrap();
        let held = |plan: Plan| plan.verify(&catalog(), &held_under, author);
        let expected = shown(&held(derived_again));
        prop_assert_eq!(&shown(&held(compiled)), &expected);
        prop_assert_eq!(&shown(&held(read.clone())), &expected);
        // What came of it passes again, as the same.
        if let Ok(verified) = held(read) {
            prop_assert_eq!(shown(&held(verified.plan().clone())), expected);
        }
    }
}

/// Edges that follow in one policy are none in another.
#[test]
fn edges_of_another_world_are_not_taken_for_those_of_this_one() {
    let apart = Policy::from_toml(POLICIES[1]).unwrap();
    let outline = || sketch().then().call("w", "fs.write_file", &[]).call("c", "git.commit", &[]).outline();
    let made = |policy: &Policy| lower(outline(), &catalog(), policy, Author::Person).0.unwrap();
    for (own, other, code) in [(&apart, &Policy::default(), "V0405"), (&Policy::default(), &apart, "V0407")] {
        let plan = made(own);
        let read = Plan::from_json(&plan.to_json()).unwrap();
        for plan in [plan, read] {
            plan.clone().verify(&catalog(), own, Author::Person).unwrap();
            let refused = plan.verify(&catalog(), other, Author::Person).unwrap_err();
            assert_eq!(refused.iter().map(|p| p.code).collect::<Vec<_>>(), [code], "{refused:#?}");
        }
    }
}

/// A file in which everything fits but for what the calls are: compiled under a looser policy, with the words of this one.
#[test]
fn what_fits_in_itself_is_refused_all_the_same() {
    let any = "server = \"slack\"\ntool = \"post\"\ndefinition = \"any\"\nreason = \"it is our own\"\n";
    let outline = || sketch().then().call("a", "gmail.list", &[]).call("b", "slack.post", &["a"]).outline();
    let text = |policy: &Policy| lower(outline(), &catalog(), policy, Author::Person).0.unwrap().to_json();
    let strict = text(&Policy::default());
    let evidence = |line: &str| line.split_once(",\"evidence\":").map(|(_, evidence)| evidence.to_owned());
    let of_call = |text: &str| -> String {
        text.lines().find(|line| line.contains("{\"id\":\"b\"")).and_then(evidence).unwrap()
    };
    for (rule, codes) in [("allow", vec!["V0303", "V0304"]), ("reads", vec!["V0302", "V0303", "V0304"])] {
        let loose = text(&Policy::from_toml(&format!("[[{rule}]]\n{any}")).unwrap());
        assert_ne!(of_call(&loose), of_call(&strict));
        let forged = sealed(&loose.replace(&of_call(&loose), &of_call(&strict)));
        let forged = Plan::from_json(&forged).unwrap();
        let refused = forged.verify(&catalog(), &Policy::default(), Author::Person).unwrap_err();
        let found: Vec<&str> = refused.iter().map(|p| p.code).take(codes.len()).collect();
        assert_eq!(found, codes, "{refused:#?}");
    }
}

/// Tools whose arguments matter: to what they do, to their schema, to the policy.
fn tools() -> Catalog {
    let mut tools = Catalog::new();
    for (name, schema) in [
        ("kv", r#"{"type":"object","properties":{"action":{"enum":["list","get","delete"]}}}"#),
        ("list_pages", r#"{"type":"object","properties":{"key":{"type":"string"},"n":{"type":"integer"}}}"#),
        ("list_notes", r#"{"type":"object","properties":{"n":{"maximum":9}},"required":["n"]}"#),
        (
            "send",
            r#"{"type":"object","additionalProperties":false,"properties":{"key":{"type":"string"},"n":{}}}"#,
        ),
        ("broken", r#"{"type":"nothing"}"#),
    ] {
        let definition = Definition {
            name: name.to_owned(),
            description: String::new(),
            input_schema: Value::parse(schema).unwrap(),
            annotations: Value::Null,
        };
        tools.insert("s", definition).unwrap();
    }
    tools
}

const RULES: &[&str] = &[
    "",
    "[[ask]]\nserver = \"s\"\ntool = \"list_pages\"\nwhen = [\"key = \\\"a\\\"\"]\n",
    "[[allow]]\nserver = \"s\"\ntool = \"send\"\ndefinition = \"any\"\nreason = \"small\"\nwhen = [\"n < 5\"]\n",
    "[[deny]]\nserver = \"s\"\ntool = \"kv\"\nwhen = [\"action = \\\"delete\\\"\"]\n",
];

#[derive(Clone, Debug)]
struct Typed {
    tool: &'static str,
    args: Vec<(&'static str, Template)>,
    without_asking: bool,
    retry: u32,
}

fn typed() -> impl Strategy<Value = Typed> {
    let literal =
        prop::sample::select(vec!["1", "2", "7.5", "10", "\"a\"", "\"delete\"", "\"list\"", "null"])
            .prop_map(|text| Template::Lit(Value::parse(text).unwrap()));
    let reference = prop::sample::select(vec!["words", "number"])
        .prop_map(|input| Template::Ref(Ref { source: Source::Input(input.to_owned()), path: Vec::new() }));
    let text = Just(Template::text(vec![
        Part::Lit("to ".to_owned()),
        Part::Ref(Ref { source: Source::Input("words".to_owned()), path: Vec::new() }),
    ]));
    let value = prop_oneof![4 => literal, 1 => reference, 1 => text];
    let args = prop::collection::btree_map(prop::sample::select(vec!["action", "key", "n"]), value, 0..3);
    let tool = prop::sample::select(vec!["kv", "list_pages", "list_notes", "send", "broken", "nowhere"]);
    (tool, args, prop::bool::weighted(0.2), prop::sample::select(vec![0, 0, 0, 1])).prop_map(
        |(tool, args, without_asking, retry)| Typed {
            tool,
            args: args.into_iter().collect(),
            without_asking,
            retry,
        },
    )
}

/// Calls beside each other; of each its place.
fn together(calls: &[(usize, &Typed)]) -> Outline {
    let input = |name: &str, kind| Input { name: name.to_owned(), kind, default: None };
    let item = |(at, call): &(usize, &Typed)| Item {
        block: 0,
        under: None,
        span: (0, 0),
        body: Body::Call(Call {
            name: format!("c{at}"),
            server: "s".to_owned(),
            tool: call.tool.to_owned(),
            args: Template::object(call.args.iter().map(|(k, t)| ((*k).to_owned(), t.clone())).collect())
                .unwrap(),
            settings: Settings { retry: call.retry, ..Settings::default() },
            without_asking: call.without_asking,
        }),
    };
    Outline {
        recipe: Digest::of(b"together"),
        inputs: vec![input("words", InputKind::Text), input("number", InputKind::Number)],
        blocks: vec![Block { kind: BlockKind::Together, name: None, need: None }],
        items: calls.iter().map(item).collect(),
    }
}

/// What is said of one call, but for what is about several.
fn of_call(lowered: &(Option<Plan>, Vec<Problem>), item: usize) -> Vec<String> {
    let (_, problems) = lowered;
    let own = |p: &&Problem| p.item == Some(item) && !matches!(p.code, "R0506" | "R0508");
    problems.iter().filter(own).map(|p| format!("{} {} {:?}", p.code, p.message, p.help)).collect()
}

fn judged(plan: &Plan, item: usize) -> String {
    match &plan.node(plan.node_of(item)).kind {
        NodeKind::Call { judged, .. } => format!("{judged:?}"),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn a_call_is_judged_as_if_it_were_alone(
        calls in prop::collection::vec(typed(), 1..24),
        rules in 0..RULES.len(),
        model in any::<bool>(),
    ) {
        let (tools, policy) = (tools(), Policy::from_toml(RULES[rules]).unwrap());
        let author = if model { Author::Model } else { Author::Person };
        let numbered: Vec<(usize, &Typed)> = calls.iter().enumerate().collect();
        let beside = lower(together(&numbered), &tools, &policy, author);
        let mut sound = Vec::new();
        for call in &numbered {
            let alone = lower(together(&[*call]), &tools, &policy, author);
            prop_assert_eq!(of_call(&beside, call.0), of_call(&alone, 0), "{:?}", call);
            if let Some(plan) = alone.0 {
                sound.push((*call, judged(&plan, 0)));
            }
        }
        // Those that nothing is wrong with, without the same call twice.
        let mut seen: Vec<String> = Vec::new();
        sound.retain(|((_, call), _)| {
            let text = format!("{} {:?}", call.tool, call.args);
            let first = !seen.contains(&text);
            seen.push(text);
            first
        });
        let numbered: Vec<(usize, &Typed)> = sound.iter().map(|(call, _)| *call).collect();
        if !numbered.is_empty() {
            let (plan, problems) = lower(together(&numbered), &tools, &policy, author);
            let plan = plan.unwrap_or_else(|| panic!("{problems:#?}"));
            for (item, (call, alone)) in sound.iter().enumerate() {
                prop_assert_eq!(&judged(&plan, item), alone, "{:?}", call);
            }
        }
    }
}
