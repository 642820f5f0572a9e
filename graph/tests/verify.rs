//! A plan that was written is the plan that is read, and a plan that was edited is refused or as safe as before.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::format_collect,
    reason = "a test may fail"
)]

mod outline;

use outline::{catalog, grown, sealed, sketch};
use plangate_graph::Plan;
use plangate_graph::plan::NodeKind;
use plangate_graph::policy::{Author, Policy};
use proptest::prelude::*;

fn sample() -> Plan {
    sketch()
        .together()
        .call("a", "gmail.list", &[])
        .call("b", "cal.list", &[])
        .call("c", "slack.create_channel", &[])
        .need(2, 3)
        .say("note", &["a", "b", "c"])
        .call("post", "slack.post", &["note"])
        .ask_me()
        .question("file and drop?")
        .under("file", "jira.create", &["note"])
        .under("drop", "db.drop", &[])
        .question("commit?")
        .under("ci", "git.commit", &[])
        .check_block()
        .check("a")
        .under("send", "gmail.send", &["a"])
        .plan()
}

/// What becomes of a text: the refusals, or nothing where it passes.
fn refusal(text: &str) -> Option<String> {
    let plan = match Plan::from_json(text) {
        Ok(plan) => plan,
        Err(error) => return Some(error.to_string()),
    };
    match plan.verify(&catalog(), &Policy::default(), Author::Person) {
        Ok(verified) => {
            assert_gated(verified.plan());
            None
        }
        Err(problems) => Some(problems.iter().map(|p| format!("{}: {}\n", p.code, p.message)).collect()),
    }
}

/// Every call that changes something has one way in, from its own gate.
fn assert_gated(plan: &Plan) {
    let mut gated = 0;
    for (ix, node) in plan.nodes() {
        let NodeKind::Call { judged, .. } = &node.kind else { continue };
        if judged.effect.changes() {
            let [(gate, edge)] = plan.incoming(ix).try_into().unwrap();
            assert!(matches!(plan.node(gate).kind, NodeKind::Gate { call, .. } if call == ix));
            assert_eq!(edge.reasons, [(plangate_graph::plan::Reason::Gate, plangate_graph::plan::Asks::Yes)]);
            gated += 1;
        }
    }
    assert_eq!(gated, plan.nodes().filter(|(_, n)| matches!(n.kind, NodeKind::Gate { .. })).count());
}

#[test]
fn what_is_read_is_what_was_written() {
    let plan = sample();
    let text = plan.to_json();
    let read = Plan::from_json(&text).unwrap();
    assert_eq!(read.outline(), plan.outline());
    assert_eq!(read.nodes().collect::<Vec<_>>(), plan.nodes().collect::<Vec<_>>());
    for (ix, _) in plan.nodes() {
        assert_eq!(read.incoming(ix), plan.incoming(ix));
    }
    assert_eq!(read.notes(), plan.notes());
    assert_eq!(read.to_json(), text);
    assert_eq!(read.digest(), plan.digest());
    assert_eq!(refusal(&text), None);
    assert_eq!(sealed(&text), text);
}

#[test]
fn other_white_space_is_the_same_file() {
    let text = sample().to_json();
    let compact: String = text.lines().map(str::trim).collect();
    assert_eq!(refusal(&compact), None);
}

#[test]
fn words_and_order_of_the_file_are_not_believed() {
    let text = sample().to_json();
    let (head, rest) = text.split_once("\"edges\": [\n").unwrap();
    let (edges, tail) = rest.split_once("\n  ],\n").unwrap();
    let mut backwards: Vec<&str> = edges.lines().map(|line| line.trim_end_matches(',')).rev().collect();
    assert!(backwards.len() > 3 && head.contains("\"says\":\""));
    // Each call says of itself that it only reads, in words alone; the edges stand in another order.
    let soothing = head.replace("\"says\":\"", "\"says\":\"only reads, so never mind: ");
    // The digest goes over what is written when the plan is.
    let in_order = sealed(&format!("{soothing}\"edges\": [\n{edges}\n  ],\n{tail}"));
    let (_, digest) = in_order.split_once("  \"digest\"").unwrap();
    let (tail, _) = tail.split_once("  \"digest\"").unwrap();
    for _ in 0..2 {
        let edges = backwards.join(",\n");
        let edited = format!("{soothing}\"edges\": [\n{edges}\n  ],\n{tail}  \"digest\"{digest}");
        let read = Plan::from_json(&edited).unwrap();
        assert_ne!(read.to_json(), text);
        let verified = read.verify(&catalog(), &Policy::default(), Author::Person).unwrap();
        assert_eq!(verified.plan().to_json(), text);
        backwards.rotate_left(1);
    }
}

#[test]
fn a_segment_is_a_field_or_an_index() {
    let text = sketch().then().call("a", "gmail.list", &[]).say("b", &["a"]).plan().to_json();
    let with = |segment: &str| text.replace("[\"a\"]", &format!("[\"a\",{segment}]"));
    assert_ne!(with("0"), text);
    for good in ["0", "4294967295", "\"x\"", "\"Full Name\""] {
        Plan::from_json(&sealed(&with(good))).unwrap();
    }
    // However it is escaped.
    let plain = sealed(&with("\"A\""));
    assert_eq!(Plan::from_json(&plain.replace("\"A\"", "\"\\u0041\"")).unwrap().to_json(), plain);
    for bad in ["4294967296", "-1", "1.5", "null", "true", "[]", "{}"] {
        let refused = Plan::from_json(&with(bad)).unwrap_err();
        assert_eq!(refused.code, "V0103", "{bad}");
        assert!(refused.message.contains("untagged enum Segment"), "{bad}: {refused}");
    }
}

#[test]
fn a_dropped_gate_is_refused_by_the_name_of_its_call() {
    let text = sample().to_json();
    let without: String =
        text.lines().filter(|line| !line.contains("\"post/gate\"")).map(|line| format!("{line}\n")).collect();
    let refused = refusal(&sealed(&without)).unwrap();
    assert!(refused.contains("`post`"), "{refused}");
    assert!(refused.contains("V0304") && refused.contains("V0401"), "{refused}");
    // The same without a new digest is refused before anything else is looked at.
    assert!(refusal(&without).unwrap().starts_with("V0107"));
}

/// What an edit becomes, in words: however a plan is verified, people read the same of it.
#[test]
fn an_edited_file_is_refused_in_these_words() {
    let text = sample().to_json();
    let without = |words: &str| -> String {
        text.lines().filter(|line| !line.contains(words)).map(|line| format!("{line}\n")).collect()
    };
    let with = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };
    let edge = "\"edges\": [\n";
    let added = "\"edges\": [\n    {\"from\":\"a\",\"to\":\"b\",\"because\":[{\"reason\":\"said\",\"asks\":\"done\"}]},\n";
    let edits = [
        ("a gate dropped", without("\"post/gate\"")),
        ("an edge dropped", without("{\"from\":\"note\",\"to\":\"post/gate\"")),
        ("an edge added", with(edge, added)),
        ("an edge that asks less", with("\"asks\":\"done or skipped\"", "\"asks\":\"ended\"")),
        ("a need that counts less", with("\"need\":{\"block\":1,\"k\":2", "\"need\":{\"block\":1,\"k\":1")),
        ("a call that is not asked", with("\"asked\":true", "\"asked\":false")),
        (
            "a call that only reads",
            with("\"effect\":\"destructive\",\"asked\":true", "\"effect\":\"read\",\"asked\":false"),
        ),
        (
            "a call that changes more",
            with("\"effect\":\"read\",\"asked\":false", "\"effect\":\"destructive\",\"asked\":true"),
        ),
        ("another call behind the gate", with("\"call\":\"post\"", "\"call\":\"file\"")),
        (
            "tried again",
            with(",\"effect\":\"destructive\"", ",\"settings\":{\"retry\":3},\"effect\":\"destructive\""),
        ),
    ];
    let mut said = String::new();
    for (what, edited) in edits {
        said += &format!("{what}\n{}\n", refusal(&sealed(&edited)).unwrap());
    }
    insta::assert_snapshot!(said);
}

#[test]
fn every_line_is_needed() {
    let text = sample().to_json();
    let lines: Vec<&str> = text.lines().collect();
    let mut tried = 0;
    for (at, line) in lines.iter().enumerate() {
        if !line.starts_with("    {") || line.contains("\"code\"") && line.contains("\"severity\"") {
            continue; // Notes are words; they are made again.
        }
        let mut kept: Vec<String> = lines.iter().map(|l| (*l).to_owned()).collect();
        kept.remove(at);
        // Mend the commas, as an editor would.
        if kept[at].trim() == "]," && kept[at - 1].ends_with(',') {
            kept[at - 1].pop();
        }
        let edited = sealed(&(kept.join("\n") + "\n"));
        let refused = refusal(&edited);
        assert!(refused.is_some(), "passes without: {line}");
        tried += 1;
    }
    assert!(tried > 40, "only {tried} lines were tried");
}

#[test]
fn relabelling_is_refused() {
    let text = sample().to_json();
    for (from, to) in [
        ("\"effect\":\"unknown\",\"asked\":true", "\"effect\":\"read\",\"asked\":false"),
        ("\"effect\":\"destructive\",\"asked\":true", "\"effect\":\"read\",\"asked\":false"),
        ("\"effect\":\"write\",\"asked\":true", "\"effect\":\"read\",\"asked\":true"),
        ("\"asked\":true", "\"asked\":false"),
        ("\"server\":\"slack\",\"tool\":\"post\"", "\"server\":\"gmail\",\"tool\":\"list\""),
        ("\"call\":\"post\"", "\"call\":\"file\""),
        ("\"reason\":\"gate\"", "\"reason\":\"data\""),
        ("\"asks\":\"yes\"", "\"asks\":\"ended\""),
        ("\"asks\":\"done or skipped\"", "\"asks\":\"ended\""),
        ("\"need\":{\"block\":1,\"k\":2", "\"need\":{\"block\":1,\"k\":1"),
        ("\"k\":2", "\"k\":0"),
        ("\"format\": \"actions/1\"", "\"format\": \"actions/2\""),
        ("\"format\": \"actions/1\"", "\"format\": \"actions/1\",\n  \"extra\": 1"),
        ("\"id\":\"post\"", "\"id\":\"post\",\"id\":\"post\""),
        ("\"id\":\"post/gate\"", "\"id\":\"post\""),
        ("\"id\":\"post\",", "\"id\":\"post\",\"settings\":{\"retry\":3},"),
        ("\"id\":\"post\",", "\"id\":\"post\",\"without_asking\":\"yes\","),
    ] {
        if !text.contains(from) {
            continue;
        }
        let edited = text.replace(from, to);
        assert_ne!(edited, text);
        assert!(refusal(&sealed(&edited)).is_some(), "passes with {from} made {to}");
    }
}

#[test]
fn a_changed_definition_is_named() {
    let plan = sample();
    let mut catalog = plangate_graph::Catalog::new();
    for (server, definition) in outline::catalog().tools() {
        let mut definition = definition.clone();
        if definition.name == "post" {
            definition.description = "now with reactions".into();
        }
        catalog.insert(server, definition).unwrap();
    }
    let problems = plan.verify(&catalog, &Policy::default(), Author::Person).unwrap_err();
    let found: Vec<&str> = problems.iter().map(|p| p.code).collect();
    assert!(found.contains(&"V0301"), "{problems:?}");
    assert!(problems.iter().any(|p| p.message.contains("slack.post")), "{problems:?}");
}

/// Everything that a recipe could not have said, and a file can.
#[test]
fn what_no_recipe_can_say_is_refused() {
    use plangate_graph::outline::{Body, Input, InputKind, Settings};
    use plangate_graph::{Outline, Value, lower::lower};
    let plain = || sketch().then().call("a", "gmail.list", &[]).say("b", &["a"]).outline();
    let set = |at: usize, settings: Settings| {
        let mut outline = plain();
        match &mut outline.items[at].body {
            Body::Call(call) => call.settings = settings,
            Body::Sentence(sentence) => sentence.settings = settings,
            _ => panic!("no step"),
        }
        outline
    };
    let timeout = |ms| Settings { timeout_ms: Some(ms), ..Settings::default() };
    let retry = |retry| Settings { retry, ..Settings::default() };
    let block = |name: &str| {
        let mut outline = plain();
        outline.blocks[0].name = Some(name.to_owned());
        outline
    };
    let input = |name: &str, kind, default: &str| {
        let mut outline = plain();
        let default = Some(Value::parse(default).unwrap());
        outline.inputs.push(Input { name: name.to_owned(), kind, default });
        outline
    };
    let cases: Vec<(Option<&str>, Outline)> = vec![
        (None, plain()),
        (None, set(0, timeout(1))),
        (None, set(1, timeout(86_400_000))),
        (Some("V0215"), set(0, timeout(0))),
        (Some("V0215"), set(0, timeout(u64::MAX))),
        (None, set(0, retry(100))),
        (Some("V0215"), set(0, retry(101))),
        (Some("V0215"), set(1, retry(1))),
        (None, block("sources")),
        (Some("V0203"), block("sources\n  approved by everybody")),
        (Some("V0204"), block("a")),
        // The same to the eye, and another name: composed and decomposed.
        (None, block("\u{e9}")),
        (Some("V0203"), block("e\u{301}")),
        (Some("V0203"), input("e\u{301}", InputKind::Text, "\"x\"")),
        (Some("V0204"), input("b", InputKind::Text, "\"x\"")),
        (None, input("n", InputKind::Number, "1e999")),
        (Some("V0216"), input("n", InputKind::Number, "\"1\"")),
        (Some("V0216"), input("n", InputKind::YesNo, "null")),
    ];
    for (at, (wanted, outline)) in cases.into_iter().enumerate() {
        let (plan, problems) = lower(outline, &catalog(), &Policy::default(), Author::Person);
        let found: Vec<&str> = problems.iter().filter(|p| p.code.starts_with('V')).map(|p| p.code).collect();
        assert_eq!(found, Vec::from_iter(wanted), "case {at}: {problems:?}");
        assert_eq!(plan.is_none(), wanted.is_some(), "case {at}");
    }
}

/// Why a call only reads may be a literal: a read is made with that literal or not at all.
#[test]
fn a_read_is_made_with_what_was_typed() {
    let plan = sketch().then().call("a", "gmail.list", &[]).call("b", "gmail.list", &["a"]).plan();
    let verified = plan.verify(&catalog(), &Policy::default(), Author::Person).unwrap();
    let made = |step: &str, args: &str| {
        let args = plangate_graph::Value::parse(args).unwrap();
        verified.read_call(verified.plan().find(step).unwrap(), &args).is_some()
    };
    assert!(made("a", r#"{"for":"a"}"#));
    assert!(made("b", r#"{"a":[1,2],"for":"b"}"#) && made("b", r#"{"a":null,"for":"b"}"#));
    for (step, args) in [
        ("a", r#"{"for":"b"}"#),
        ("a", r#"{"for":"a","more":1}"#),
        ("a", "{}"),
        ("a", "null"),
        ("b", r#"{"a":1}"#),
        ("b", r#"{"a":1,"for":"a"}"#),
        ("b", r#"{"a":1,"for":"b","action":"delete"}"#),
        ("b", "[]"),
    ] {
        assert!(!made(step, args), "{step} {args}");
    }
}

#[test]
fn a_cycle_is_named() {
    let text = sample().to_json();
    let edge = "    {\"from\":\"post\",\"to\":\"post/gate\",\"because\":[{\"reason\":\"said\",\"asks\":\"done\"}]},\n";
    let edited = text.replace("  \"edges\": [\n", &format!("  \"edges\": [\n{edge}"));
    assert!(refusal(&sealed(&edited)).unwrap().starts_with("V0106"));
}

#[test]
fn hostile_files_are_refused_without_a_crash() {
    for text in ["", "{", "null", "[]", "{\"format\":1}", "{\"format\":\"actions/1\"}", "\u{feff}{}"] {
        assert!(refusal(text).is_some());
    }
    let deep = format!("{{\"format\":\"actions/1\",\"recipe\":{}", "[".repeat(200_000));
    assert!(refusal(&deep).is_some());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn generated_plans_pass_and_come_back(seed in prop::collection::vec(any::<(u8, u8, u8)>(), 1..8)) {
        let (plan, problems) = grown(&seed).lower();
        let plan = plan.unwrap_or_else(|| panic!("{problems:?}"));
        let text = plan.to_json();
        prop_assert_eq!(refusal(&text), None);
        prop_assert_eq!(Plan::from_json(&text).unwrap().to_json(), text);
        assert_gated(&plan);
    }

    /// Lines are dropped, doubled, swapped, and words replaced; digests are made to fit. Whatever passes is gated:
    /// `refusal` looks at that.
    #[test]
    fn whatever_passes_is_gated(
        seed in prop::collection::vec(any::<(u8, u8, u8)>(), 1..6),
        edits in prop::collection::vec((0_u8..5, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4),
    ) {
        let text = grown(&seed).plan().to_json();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (kind, a, b) in edits {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            match kind {
                0 => drop(lines.remove(a)),
                1 => { let line = lines[a].clone(); lines.insert(b, line); }
                2 => lines.swap(a, b),
                3 => lines[a] = lines[a].replace("\"asked\":true", "\"asked\":false").replace("unknown", "read"),
                _ => lines[a] = lines[a].replace("yes", "ended").replace("done or skipped", "ended").replace("effect", "data"),
            }
            if lines.is_empty() { return Ok(()); }
        }
        let _ = refusal(&sealed(&(lines.join("\n") + "\n")));
    }
}
