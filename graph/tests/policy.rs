//! Policies: read, written, held against catalogs, and what they decide.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use plangate_graph::Digest;
use plangate_graph::catalog::{Catalog, Definition};
use plangate_graph::effect::{Classification, Effect, classify};
use plangate_graph::policy::{Asking, AskingOf, Author, Date, Policy, Repeat, Voters};
use plangate_graph::problem::{Problem, Severity};
use plangate_graph::template::{Ref, Source, Template};
use plangate_graph::value::Value;

fn tool(name: &str, schema: &str) -> Definition {
    Definition {
        name: name.into(),
        description: String::new(),
        input_schema: Value::parse(schema).unwrap(),
        annotations: Value::Null,
    }
}

fn catalog() -> Catalog {
    let mut catalog = Catalog::new();
    let amount =
        r#"{"type":"object","properties":{"amount":{"type":"number"},"currency":{"type":"string"}}}"#;
    let action = r#"{"type":"object","properties":{"action":{"enum":["list","get","delete"]},"key":{}}}"#;
    for (server, name, schema) in [
        ("slack", "post_message", "{}"),
        ("slack", "create_channel", "{}"),
        ("slack", "list_channels", "{}"),
        ("stripe", "refund", amount),
        ("kv", "kv", action),
        ("acme", "frobnicate", "{}"),
    ] {
        catalog.insert(server, tool(name, schema)).unwrap();
    }
    catalog
}

fn policy(text: &str) -> Policy {
    Policy::from_toml(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn refused(text: &str) -> (&'static str, String) {
    let error = Policy::from_toml(text).expect_err(text);
    (error.code, error.message)
}

/// The reason code, and what is decided: `ask`, `through` or `deny`.
fn asked(policy: &Policy, at: &str, args: &str, author: Author, waived: bool) -> (String, &'static str) {
    let (server, name) = at.split_once('.').unwrap();
    let catalog = catalog();
    let definition = catalog.definition(server, name).unwrap();
    let args = Template::Lit(Value::parse(args).unwrap());
    decide(policy, server, definition, &args, author, waived)
}

fn decide(
    policy: &Policy,
    server: &str,
    definition: &Definition,
    args: &Template,
    author: Author,
    waived: bool,
) -> (String, &'static str) {
    let classification = classify(server, definition, Some(args), policy);
    let call = AskingOf {
        server,
        definition,
        classification: &classification,
        args: Some(args),
        final_args: None,
        without_asking: waived,
    };
    match policy.asking(&call, author) {
        Asking::Ask(why) => (why.code, "ask"),
        Asking::Through(why) => (why.code, "through"),
        Asking::Deny(why) => (why.code, "deny"),
    }
}

fn simply(policy: &Policy, at: &str) -> (String, &'static str) {
    asked(policy, at, "{}", Author::Person, false)
}

fn is(code: &str, verdict: &'static str) -> (String, &'static str) {
    (code.to_owned(), verdict)
}

const ANY: &str = "definition = \"any\"\nreason = \"agreed\"\n";

#[test]
fn without_rules_everything_that_changes_is_asked() {
    let policy = Policy::default();
    assert_eq!(simply(&policy, "slack.list_channels"), is("reads", "through"));
    for at in ["slack.post_message", "slack.create_channel", "acme.frobnicate", "kv.kv"] {
        assert_eq!(simply(&policy, at), is("asked-by-default", "ask"), "{at}");
    }
    assert!(policy.check(&catalog()).is_empty());
}

#[test]
fn deny_wins_wherever_it_stands() {
    let policy = policy(&format!(
        "[[allow]]\nserver = \"slack\"\ntool = \"post_message\"\n{ANY}[[deny]]\nserver = \"*\"\ntool = \"post_*\"\n"
    ));
    assert_eq!(simply(&policy, "slack.post_message"), is("policy-deny", "deny"));
}

#[test]
fn the_most_exact_rule_decides_and_ask_wins_among_equals() {
    let wide_ask = "[[ask]]\nserver = \"slack\"\ntool = \"*\"\n";
    let exact_allow = format!("[[allow]]\nserver = \"slack\"\ntool = \"post_message\"\n{ANY}");
    let longer_allow = format!("[[allow]]\nserver = \"slack\"\ntool = \"create_*\"\n{ANY}");
    let rules = policy(&format!("{wide_ask}{exact_allow}{longer_allow}"));
    assert_eq!(simply(&rules, "slack.post_message"), is("policy-allow", "through"));
    assert_eq!(simply(&rules, "slack.create_channel"), is("policy-allow", "through"));
    assert_eq!(simply(&rules, "slack.list_channels"), is("policy-ask", "ask"));
    let equals = policy(&format!("{exact_allow}[[ask]]\nserver = \"slack\"\ntool = \"post_message\"\n"));
    assert_eq!(simply(&equals, "slack.post_message"), is("policy-ask", "ask"));
}

#[test]
fn allow_changes_who_is_asked_and_not_the_effect_and_reads_the_other_way_round() {
    let text = format!(
        "[[allow]]\nserver = \"slack\"\ntool = \"post_message\"\n{ANY}[[reads]]\nserver = \"kv\"\ntool = \"kv\"\n{ANY}"
    );
    let policy = policy(&text);
    let catalog = catalog();
    let effect = |server: &str, name: &str| -> Classification {
        classify(server, catalog.definition(server, name).unwrap(), None, &policy)
    };
    assert_eq!(effect("slack", "post_message").effect, Effect::Destructive);
    let kv = effect("kv", "kv");
    assert_eq!((kv.effect, kv.evidence[0].code.as_str()), (Effect::Read, "policy-reads"));
    assert_eq!(simply(&policy, "kv.kv"), is("reads", "through"));
}

#[test]
fn what_loosens_is_pinned_to_a_definition() {
    let catalog = catalog();
    let digest = catalog.digest("slack", "post_message").unwrap();
    let other = catalog.digest("kv", "kv").unwrap();
    let allow = |definition: &str| {
        policy(&format!(
            "[[allow]]\nserver = \"slack\"\ntool = \"post_message\"\nreason = \"r\"\ndefinition = {definition}\n"
        ))
    };
    let right = allow(&format!("\"{digest}\""));
    assert_eq!(simply(&right, "slack.post_message"), is("policy-allow", "through"));
    assert!(right.check(&catalog).is_empty());
    let wrong = allow(&format!("\"{other}\""));
    assert_eq!(simply(&wrong, "slack.post_message"), is("policy-pin-changed", "ask"));
    let void = wrong.check(&catalog);
    assert_eq!(void.iter().map(|p| (p.code, p.severity)).collect::<Vec<_>>(), [("P0202", Severity::Warning)]);
    let either = allow(&format!("[\"{other}\", \"{digest}\"]"));
    assert_eq!(simply(&either, "slack.post_message"), is("policy-allow", "through"));
    // The digest covers the server's name: a definition of one server is not one of another.
    let elsewhere = tool("post_message", "{}");
    let verdict = decide(&right, "slack2", &elsewhere, &Template::Lit(Value::Null), Author::Person, false);
    assert_eq!(verdict, is("asked-by-default", "ask"));
    // A rule `reads` of another definition leaves the tool what it is, and says so; one whose condition does not hold says nothing.
    let reads = |more: &str| {
        policy(&format!(
            "[[reads]]\nserver = \"kv\"\ntool = \"kv\"\nreason = \"r\"\ndefinition = \"{digest}\"\n{more}"
        ))
    };
    assert_eq!(simply(&reads(""), "kv.kv"), is("policy-pin-changed", "ask"));
    assert_eq!(simply(&reads("when = [\"key = 1\"]\n"), "kv.kv"), is("asked-by-default", "ask"));

    for rule in ["allow", "reads"] {
        let (code, message) = refused(&format!("[[{rule}]]\nserver = \"a\"\ntool = \"b\"\nreason = \"r\"\n"));
        assert_eq!(code, "P0107");
        assert!(message.starts_with(&format!("[[{rule}]] a.b: says no definition")), "{message}");
        let (code, _) = refused(&format!("[[{rule}]]\nserver = \"a\"\ntool = \"b\"\ndefinition = \"any\"\n"));
        assert_eq!(code, "P0103");
        let (code, _) = refused(&format!(
            "[[{rule}]]\nserver = \"a\"\ntool = \"b\"\nreason = \"r\"\ndefinition = \"sha256:1\"\n"
        ));
        assert_eq!(code, "P0107");
    }
}

#[test]
fn an_end_date_counts_the_day_itself_and_needs_a_day_to_hold() {
    let rule = format!("[[allow]]\nserver = \"slack\"\ntool = \"*\"\nuntil = 2027-01-31\n{ANY}");
    let day = |text: &str| policy(&rule).on(text.parse::<Date>().unwrap());
    assert_eq!(simply(&day("2027-01-31"), "slack.post_message").1, "through");
    assert_eq!(simply(&day("2027-02-01"), "slack.post_message").1, "ask");
    assert_eq!(simply(&policy(&rule), "slack.post_message").1, "ask");
    // What tightens stays where nobody says which day it is.
    let deny = policy("[[deny]]\nserver = \"slack\"\ntool = \"*\"\nuntil = \"2027-01-31\"\n");
    assert_eq!(simply(&deny, "slack.post_message").1, "deny");
    assert_eq!(refused("[[deny]]\nserver = \"a\"\ntool = \"b\"\nuntil = 2027-01-31T10:00:00Z\n").0, "P0106");
}

#[test]
fn once_is_said_of_tools_and_asks_nobody() {
    let once = policy("[[once]]\nserver = \"slack\"\ntool = \"list_*\"\nreason = \"it counts who looked\"\n");
    assert!(once.once("slack", "list_channels") && !once.once("slack", "post_message"));
    assert_eq!(simply(&once, "slack.list_channels"), simply(&Policy::default(), "slack.list_channels"));
    assert_eq!(policy(once.to_toml()), once);
    assert_ne!(once.digest(), Policy::default().digest());
    // It tightens: with an end date it holds where nobody says which day it is.
    let ends = policy("[[once]]\nserver = \"slack\"\ntool = \"*\"\nuntil = 2026-12-31\n");
    assert!(ends.once("slack", "list_channels"));
    let after: Date = "2027-01-01".parse().unwrap();
    assert!(!ends.on(after).once("slack", "list_channels"));
    assert_eq!(refused("[[once]]\nserver = \"slack\"\ntool = \"*\"\nwhen = [\"a = 1\"]\n").0, "P0102");
}

#[test]
fn conditions_over_unknown_arguments_never_loosen() {
    let allow = policy(&format!(
        "[[allow]]\nserver = \"stripe\"\ntool = \"refund\"\nwhen = [\"amount <= 100\"]\n{ANY}"
    ));
    let ask = |args: &str| asked(&allow, "stripe.refund", args, Author::Person, false);
    assert_eq!(ask(r#"{"amount":100}"#), is("policy-allow", "through"));
    assert_eq!(ask(r#"{"amount":100.000000000000000001}"#), is("asked-by-default", "ask"));
    assert_eq!(ask("{}"), is("asked-by-default", "ask"));
    let unknown = Template::object(vec![(
        "amount".into(),
        Template::Ref(Ref { source: Source::Input("n".into()), path: vec![] }),
    )])
    .unwrap();
    let definition = catalog().definition("stripe", "refund").unwrap().clone();
    assert_eq!(decide(&allow, "stripe", &definition, &unknown, Author::Person, false).1, "ask");

    // The same rule decides at the gate, with final arguments.
    let classification = classify("stripe", &definition, Some(&unknown), &allow);
    let last = Value::parse(r#"{"amount":5}"#).unwrap();
    let call = AskingOf {
        server: "stripe",
        definition: &definition,
        classification: &classification,
        args: Some(&unknown),
        final_args: Some(&last),
        without_asking: false,
    };
    assert!(matches!(allow.asking(&call, Author::Model), Asking::Through(why) if why.code == "policy-allow"));

    // What tightens holds until it is known not to.
    let ask_over = policy(&format!(
        "[[allow]]\nserver = \"stripe\"\ntool = \"*\"\n{ANY}[[ask]]\nserver = \"stripe\"\ntool = \"refund\"\nwhen = [\"amount > 100\"]\n"
    ));
    assert_eq!(
        decide(&ask_over, "stripe", &definition, &unknown, Author::Person, false),
        is("policy-ask", "ask")
    );
    assert_eq!(asked(&ask_over, "stripe.refund", r#"{"amount":7}"#, Author::Person, false).1, "through");
    let deny_over = policy("[[deny]]\nserver = \"stripe\"\ntool = \"refund\"\nwhen = [\"amount > 100\"]\n");
    assert_eq!(
        decide(&deny_over, "stripe", &definition, &unknown, Author::Person, false),
        is("policy-deny-unclear", "ask")
    );
    assert_eq!(asked(&deny_over, "stripe.refund", r#"{"amount":101}"#, Author::Person, false).1, "deny");
    assert_eq!(asked(&deny_over, "stripe.refund", r#"{"amount":99}"#, Author::Person, false).1, "ask");
}

#[test]
fn without_asking_is_honoured_for_people_and_for_what_can_be_undone() {
    let policy_of = |text: &str| policy(text);
    let create = |p: &Policy, author| asked(p, "slack.create_channel", "{}", author, true);
    let post = |p: &Policy, author| asked(p, "slack.post_message", "{}", author, true);
    let default = Policy::default();
    assert_eq!(create(&default, Author::Person), is("without-asking", "through"));
    assert_eq!(post(&default, Author::Person), is("without-asking-refused", "ask"));
    assert_eq!(create(&default, Author::Model), is("without-asking-void", "ask"));
    assert_eq!(
        asked(&default, "acme.frobnicate", "{}", Author::Person, true),
        is("without-asking-refused", "ask")
    );
    let never = policy_of("[honour_without_asking]\nauthors = []\n");
    assert_eq!(create(&never, Author::Person), is("without-asking-void", "ask"));
    let wide = policy_of(
        "[honour_without_asking]\nauthors = [\"person\", \"model\"]\neffects = [\"write\", \"destructive\"]\n",
    );
    assert_eq!(post(&wide, Author::Model), is("without-asking", "through"));
    // A rule that asks is stronger than the recipe's wish.
    let ask = policy_of("[[ask]]\nserver = \"slack\"\ntool = \"*\"\n");
    assert_eq!(create(&ask, Author::Person), is("policy-ask", "ask"));
    assert_eq!(
        refused("[honour_without_asking]\nauthors = [\"persn\"]\n").1,
        "[honour_without_asking] authors: unknown \"persn\"; did you mean \"person\"?"
    );
}

#[test]
fn reversible_writes_as_a_class() {
    let policy = policy("allow_reversible_writes = true\n");
    assert_eq!(simply(&policy, "slack.create_channel"), is("policy-reversible-writes", "through"));
    for at in ["slack.post_message", "acme.frobnicate", "kv.kv"] {
        assert_eq!(simply(&policy, at).1, "ask", "{at}");
    }
}

#[test]
fn worlds_are_one_unless_said_otherwise() {
    let policy = policy("[worlds]\noffice = [\"slack\", \"g*\"]\nlab = [\"gitlab\"]\n");
    assert_eq!(
        ["slack", "gmail", "gitlab", "stripe"].map(|s| policy.world(s)),
        ["office", "office", "lab", ""]
    );
    assert_eq!(refused("[worlds]\na = [\"x\"]\nb = [\"x\"]\n").0, "P0103");
}

#[test]
fn people_come_line_by_line_from_the_most_exact_rule() {
    let policy = policy(
        r#"
        [[people]]
        deadline = "8h"
        requester_may_decide = false
        [[people]]
        server = "stripe"
        roles = ["finance", "board"]
        may_edit = ["finance"]
        [[ask]]
        server = "stripe"
        tool = "refund"
        when = ["amount > 1000"]
        quorum = 2
        deadline = "90s"
        "#,
    );
    let slack = policy.terms("slack", "post_message");
    assert_eq!((slack.deadline_ms, slack.quorum, slack.requester_may_decide), (28_800_000, 1, false));
    assert!(slack.verified_only && slack.roles.is_empty() && slack.may_edit.is_none());
    let refund = policy.terms("stripe", "refund");
    assert_eq!((refund.deadline_ms, refund.quorum), (90_000, 2));
    assert_eq!(refund.roles, ["board", "finance"]);
    let small = policy.terms_of("stripe", "refund", Some(&Value::parse(r#"{"amount":5}"#).unwrap()));
    assert_eq!((small.deadline_ms, small.quorum), (28_800_000, 1));
    assert!(!Policy::default().terms("slack", "post_message").verified_only);
    // Lines about people do not make a read asked.
    assert_eq!(simply(&policy, "slack.list_channels"), is("reads", "through"));
}

#[test]
fn impossible_people_are_refused() {
    for (lines, part) in [
        ("quorum = 0", "at least one yes"),
        ("roles = []", "names no role"),
        ("deadline = \"0s\"", "deadline"),
        ("deadline = \"soon\"", "deadline"),
        ("deadline = \"99999999999999999999d\"", "deadline"),
        ("quorum = 2\nverified = false", "verified"),
    ] {
        let (code, message) = refused(&format!("[[people]]\nserver = \"a\"\n{lines}\n"));
        assert_eq!(code, "P0108", "{message}");
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_gate_that_nobody_could_decide_is_an_error() {
    let roster = "[roles]\nfinance = [\"os:ann\"]\nboard = [\"os:bob\", \"os:eve\"]\n";
    let check = |rules: &str| policy(&format!("{roster}{rules}")).check(&catalog());
    assert!(check("[[people]]\nserver = \"stripe\"\nroles = [\"board\"]\nquorum = 2\n").is_empty());
    let two = check("[[people]]\nserver = \"stripe\"\nroles = [\"finance\"]\nquorum = 2\n");
    assert_eq!(two[0].code, "P0203");
    assert_eq!(
        two[0].message,
        "nobody could decide a gate of stripe.refund: it needs 2 yes of finance, which is held by one person"
    );
    let typo = check("[[people]]\nserver = \"stripe\"\nroles = [\"finanse\"]\n");
    assert!(
        typo[0].message.ends_with("nobody holds the role \"finanse\"; did you mean \"finance\"?"),
        "{}",
        typo[0].message
    );
    // One person alone, who may not decide about what he starts.
    let alone =
        policy("[roles]\nops = [\"os:ann\"]\n[[people]]\nroles = [\"ops\"]\nrequester_may_decide = false\n");
    assert_eq!(alone.check(&catalog())[0].code, "P0203");
    assert_eq!(policy(roster).roles_of("os:eve"), ["board"]);
    assert!(policy(roster).roles_of("os:mallory").is_empty());
}

#[test]
fn a_rule_that_names_nothing_is_an_error() {
    let check =
        |rules: &str| policy(rules).check(&catalog()).into_iter().map(|e| e.message).collect::<Vec<_>>();
    assert_eq!(
        check("[[deny]]\nserver = \"slack\"\ntool = \"post_mesage\"\n"),
        [
            "[[deny]] slack.post_mesage: no tool of slack is called \"post_mesage\"; did you mean \"post_message\"?"
        ]
    );
    assert_eq!(
        check("[[trust]]\nserver = \"slck\"\n"),
        ["[[trust]] slck.*: no server is called \"slck\"; did you mean \"slack\"?"]
    );
    assert_eq!(
        check("[[ask]]\nserver = \"stripe\"\ntool = \"refund\"\nwhen = [\"amout > 3\"]\n"),
        [
            "[[ask]] stripe.refund: when \"amout > 3\": the tool takes no argument \"amout\"; did you mean \"amount\"?"
        ]
    );
    assert_eq!(check("[[ask]]\nserver = \"s*\"\ntool = \"zap*\"\n").len(), 1);
    assert_eq!(check("[worlds]\na = [\"nobody\"]\n").len(), 1);
}

/// The codes of what is wrong, with what each is about.
fn found(problems: &[Problem]) -> Vec<(&'static str, String)> {
    let about = |message: &str| message.split(':').next().unwrap_or_default().to_owned();
    problems.iter().map(|p| (p.code, about(&p.message))).collect()
}

#[test]
fn of_servers_that_are_known_by_name_only_their_names_are_checked() {
    let rules = policy(&format!(
        "[[deny]]\nserver = \"mail\"\ntool = \"send\"\n[[ask]]\nserver = \"mial\"\ntool = \"*\"\n\
         [[ask]]\nserver = \"ma*\"\ntool = \"zap\"\nwhen = [\"x = 1\"]\n[worlds]\nhome = [\"mail\"]\n\
         [[allow]]\nserver = \"*\"\ntool = \"post_message\"\nreason = \"r\"\ndefinition = \"{}\"\n",
        Digest::of(b"mail's")
    ));
    let mut known = catalog();
    let all = rules.check(&known);
    assert!(all.iter().any(|p| p.message.contains("no server is called \"mail\"")), "{all:?}");
    known.leave_open("mail");
    assert_eq!(found(&rules.check(&known)), [("P0201", "[[ask]] mial.*".to_owned())]);
    // What a server lists of its tools can be said: the name may be another of its tools, the argument is none of this one.
    known.insert("mail", tool("send", r#"{"properties":{"to":{}}}"#)).unwrap();
    assert_eq!(found(&rules.check(&known)).len(), 1);
    let argument = policy("[[ask]]\nserver = \"mail\"\ntool = \"send\"\nwhen = [\"too = 1\"]\n");
    assert_eq!(found(&argument.check(&known)), [("P0204", "[[ask]] mail.send".to_owned())]);
    assert_eq!(Catalog::from_json(&known.to_json()).unwrap(), known);
}

#[test]
fn the_part_of_a_catalog_says_that_it_is_one() {
    let rules = policy(
        "[[deny]]\nserver = \"slack\"\ntool = \"post_message\"\n[[ask]]\nserver = \"kv\"\ntool = \"vk\"\n",
    );
    assert_eq!(found(&rules.check(&catalog())).len(), 1);
    let part = catalog().part([("slack", "list_channels"), ("kv", "kv")]);
    assert!(part.server("slack").unwrap().partial && !part.server("kv").unwrap().partial);
    assert_eq!(found(&rules.check(&part)), [("P0201", "[[ask]] kv.vk".to_owned())]);
    for (text, wanted) in [
        (r#"{"servers":{"a":{"tools":[],"partial":"yes"}}}"#, "servers.a.partial: expected true or false"),
        (r#"{"servers":{"a":{"partial":true}}}"#, "servers.a.tools: expected a list of tool definitions"),
    ] {
        assert_eq!(Catalog::from_json(text).unwrap_err().to_string(), wanted);
    }
}

#[test]
fn who_decides_is_said_by_the_host_where_the_policy_has_no_roles() {
    let rules = policy("[[people]]\nserver = \"stripe\"\nroles = [\"finance\"]\n");
    let check = |voters| rules.clone().decided_by(voters).check(&catalog());
    assert_eq!(check(Voters::Anybody), [], "the host may know who finance is");
    let listed = check(Voters::Listed);
    assert_eq!(found(&listed)[0], ("P0203", "[[people]] stripe.*".to_owned()));
    assert_eq!(
        listed[0].help.as_deref(),
        Some("say who holds it: under [roles], finance = [\"issuer:subject\"]")
    );
    let nobody = check(Voters::Unverified);
    assert_eq!(
        nobody.iter().map(|p| p.message.as_str()).collect::<Vec<_>>(),
        [
            "nobody could decide a gate of stripe.refund: only verified voters count, and nobody can be verified here"
        ]
    );
    assert_eq!(Policy::default().decided_by(Voters::Unverified).check(&catalog()), []);
}

#[test]
fn trust_is_for_the_servers_that_are_named() {
    let mut hinted = tool("frobnicate", "{}");
    hinted.annotations = Value::parse(r#"{"readOnlyHint":true}"#).unwrap();
    let trusting = policy("[[trust]]\nserver = \"acme\"\ntool = \"frob*\"\n");
    assert_eq!(classify("acme", &hinted, None, &trusting).effect, Effect::Read);
    assert_eq!(classify("acme2", &hinted, None, &trusting).effect, Effect::Unknown);
    assert_eq!(classify("acme", &hinted, None, &Policy::default()).effect, Effect::Unknown);
}

#[test]
fn the_line_that_silences_the_default_does() {
    let catalog = catalog();
    for (server, name) in [("acme", "frobnicate"), ("odd \"server\"", "a[b]*\\c")] {
        let definition = catalog.definition(server, name).cloned().unwrap_or_else(|| tool(name, "{}"));
        let line = classify(server, &definition, None, &Policy::default()).silence.unwrap();
        let silenced = policy(&line);
        assert_eq!(classify(server, &definition, None, &silenced).effect, Effect::Read, "{line}");
        let changed = Definition { description: "x".into(), ..definition };
        assert_eq!(classify(server, &changed, None, &silenced).effect, Effect::Unknown);
    }
    let create = tool("create_channel", "{}");
    assert_eq!(classify("slack", &create, None, &Policy::default()).silence, None);
}

#[test]
fn unknown_keys_are_named() {
    for (text, code, message) in [
        ("alow = 1\n", "P0102", "policy: unknown key \"alow\"; did you mean \"allow\"?"),
        (
            "[[ask]]\nsever = \"a\"\ntool = \"b\"\n",
            "P0102",
            "[[ask]]: unknown key \"sever\"; did you mean \"server\"?",
        ),
        (
            "[[deny]]\nserver = \"a\"\ntool = \"b\"\nquorum = 2\n",
            "P0102",
            "[[deny]]: unknown key \"quorum\"; there is server, tool, when, reason, until",
        ),
        (
            "[[ask]]\ntool = \"b\"\n",
            "P0103",
            "[[ask]] *.b: says no server; write server = \"*\" for every one",
        ),
        (
            "[[ask]]\nserver = \"[\"\ntool = \"b\"\n",
            "P0104",
            "[[ask]] [.b: server \"[\": unclosed character class; missing ']'",
        ),
        (
            "[[ask]]\nserver = \"a\"\ntool = \"b\"\nwhen = [\"x is 3\"]\n",
            "P0105",
            "[[ask]] a.b: when \"x is 3\": expected <=, <, >=, >, =, !=, in or not in behind the argument",
        ),
    ] {
        assert_eq!(refused(text), (code, message.to_owned()));
    }
    assert_eq!(refused("[[ask]]\nserver = 3\ntool = \"b\"\n").0, "P0101");
    assert_eq!(refused("allow_reversible_writes = \"yes\"\n").0, "P0101");
    assert_eq!(refused("[[ask]\n").0, "P0101");
}

#[test]
fn the_policy_part_of_a_larger_file() {
    let text = "store = \"x.db\"\nallow_reversible_writes = true\n[caps]\ngmail = 2\n";
    let (policy, others) = Policy::from_config(text).unwrap();
    assert_eq!(others, ["caps", "store"]);
    assert_eq!(policy.to_toml(), "allow_reversible_writes = true\n");
    assert!(Policy::from_toml(text).is_err());
}

#[test]
fn the_normal_form_keeps_the_meaning_and_nothing_else() {
    let written = r#"
        # Who may do what.
        [[ask]]
        server = "stripe" # money
        tool = "refund"
        when = [ "amount>1000" ]
        roles = ["finance", "board", "finance"]
        deadline = "120m"
        until = 2027-01-31
        [honour_without_asking]
        authors = []
        [worlds]
        lab = ["gitlab"]
    "#;
    let other = "worlds = { lab = [\"gitlab\"] }\nhonour_without_asking = { authors = [] }\n[[ask]]\ntool = \"refund\"\nserver = \"stripe\"\nwhen = [\"amount > 1000\"]\nuntil = \"2027-01-31\"\ndeadline = \"2h\"\nroles = [\"board\", \"finance\"]\n";
    let (a, b) = (policy(written), policy(other));
    assert_eq!(a.to_toml(), b.to_toml());
    assert_eq!(a.digest(), b.digest());
    let again = policy(a.to_toml());
    assert_eq!(again, a);
    assert_eq!(again.to_toml(), a.to_toml());
    assert_ne!(a.digest(), Policy::default().digest());
    assert_eq!(Policy::default(), policy(""));
    assert_eq!(policy("# nothing\n").digest(), Policy::default().digest());
    // The day is said by the host and is no part of the digest.
    assert_eq!(a.clone().on("2027-01-01".parse().unwrap()).digest(), a.digest());
}

#[test]
fn the_most_exact_repeat_rule_counts() {
    let policy = policy(
        "[[repeat]]\nserver = \"*\"\ntool = \"*\"\nwithin = \"60m\"\n
         [[repeat]]\nserver = \"stripe\"\ntool = \"refund\"\nwithin = \"24h\"\nrejected = true\nwhen = [\"amount > 5\"]\n
         [[repeat]]\nserver = \"kv\"\ntool = \"kv\"\nwithin = \"0h\"\n",
    );
    let terms = |at: &str, args: Option<&str>| {
        let (server, tool) = at.split_once('.').unwrap();
        policy.terms_of(server, tool, args.map(|args| Value::parse(args).unwrap()).as_ref())
    };
    let hour = Some(Repeat { within_ms: 3_600_000, rejected: false });
    let daily = Repeat { within_ms: 86_400_000, rejected: true };
    let day = Some(daily);
    assert_eq!(terms("slack.post_message", None).repeat, hour);
    assert_eq!(terms("stripe.refund", None).repeat, day, "not known yet: the rule may apply");
    assert_eq!(terms("stripe.refund", Some("{\"amount\":6}")).repeat, day);
    assert_eq!(terms("stripe.refund", Some("{\"amount\":5}")).repeat, hour);
    assert_eq!(terms("kv.kv", None).repeat, None, "excepted");
    assert_eq!(terms("slack.post_message", None).deadline_ms, 3_600_000, "it says nothing about people");
    assert!(!terms("slack.post_message", None).verified_only);
    assert_eq!(daily.words(), "refused if the very same call was made or rejected within 1d before");
    // The normal form reads back to the same policy.
    assert!(policy.to_toml().contains("within = \"1h\""), "{}", policy.to_toml());
    assert_eq!(Policy::from_toml(policy.to_toml()).unwrap(), policy);
}

#[test]
fn a_repeat_rule_says_for_how_long() {
    for (lines, says) in [
        ("", "says no time"),
        ("within = \"soon\"", "expected a time like"),
        ("within = \"0s\"\nrejected = true", "refuses nothing"),
    ] {
        let (code, message) = refused(&format!("[[repeat]]\nserver = \"a\"\ntool = \"b\"\n{lines}\n"));
        assert_eq!(code, "P0109", "{message}");
        assert!(message.contains(says) && message.contains("[[repeat]] a.b"), "{message}");
    }
    assert_eq!(refused("[[repeat]]\nserver = \"a\"\nwithin = \"1h\"\n").0, "P0103");
    assert_eq!(refused("[[people]]\nwithin = \"1h\"\n").0, "P0102", "it is a rule of its own");
    let check = policy("[[repeat]]\nserver = \"slak\"\ntool = \"*\"\nwithin = \"1h\"\n").check(&catalog());
    assert_eq!(check.first().map(|e| e.code), Some("P0201"), "a rule about nothing protects nothing");
}

/// What tightens stays where nobody says which day it is; `both` is what holds under two policies at once.
#[test]
fn a_repeat_rule_tightens() {
    let ends = policy("[[repeat]]\nserver = \"*\"\ntool = \"*\"\nwithin = \"2h\"\nuntil = 2026-01-31\n");
    assert!(ends.terms("kv", "kv").repeat.is_some());
    assert!(ends.on("2026-02-01".parse().unwrap()).terms("kv", "kv").repeat.is_none());
    let (a, b) = (Repeat { within_ms: 1_000, rejected: true }, Repeat { within_ms: 2_000, rejected: false });
    assert_eq!(a.and(b), Repeat { within_ms: 2_000, rejected: true });
}
