//! What holds of the classifier for every tool, with tools made up.
#![allow(clippy::unwrap_used, reason = "tests")]

use plangate_graph::catalog::Definition;
use plangate_graph::effect::{Classification, Effect, classify};
use plangate_graph::policy::Policy;
use plangate_graph::schema::{InputSchema, Inputs};
use plangate_graph::template::Template;
use plangate_graph::value::{Object, Value};
use proptest::prelude::*;

/// Words of names: verbs of every kind, nouns, small words, and words that nobody knows.
fn word() -> impl Strategy<Value = String> {
    const KNOWN: &[&str] = &[
        "get",
        "list",
        "search",
        "read",
        "view",
        "check",
        "find",
        "query",
        "status",
        "delete",
        "remove",
        "send",
        "create",
        "add",
        "update",
        "set",
        "move",
        "post",
        "message",
        "order",
        "comment",
        "log",
        "tag",
        "run",
        "manage",
        "execute",
        "user",
        "file",
        "page",
        "issue",
        "and",
        "or",
        "by",
        "to",
        "for",
        "all",
        "items",
        "messages",
        "updates",
        "generate",
        "process",
        "open",
        "test",
        "refund",
        "deploy",
        "import",
        "history",
        "job",
        "latest",
        "push",
        "trigger",
        "ledger",
        "campaign",
        "similar",
        "who",
        "results",
        "reports",
        "claim",
        "convert",
        "screenshot",
    ];
    prop_oneof![
        4 => prop::sample::select(KNOWN).prop_map(str::to_owned),
        1 => "[a-z]{3,9}",
    ]
}

fn words() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(word(), 1..6)
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        prop::sample::select(
            &["string", "object", "get", "delete", "#/properties/a", "#", "boolean", "null"][..]
        )
        .prop_map(Value::from),
    ];
    let key = prop_oneof![
        prop::sample::select(
            &[
                "properties",
                "enum",
                "const",
                "anyOf",
                "oneOf",
                "allOf",
                "type",
                "$ref",
                "action",
                "sql",
                "readOnlyHint",
                "destructiveHint",
                "title",
                "required",
                "items",
                "additionalProperties"
            ][..]
        )
        .prop_map(str::to_owned),
        "[a-z]{1,6}",
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::btree_map(key.clone(), inner, 0..5)
                .prop_map(|members| Value::Object(Object::new(members.into_iter().collect()).unwrap())),
        ]
    })
}

fn tool(name: &str, description: &str, input_schema: &Value, annotations: &Value) -> Definition {
    Definition {
        name: name.into(),
        description: description.into(),
        input_schema: input_schema.clone(),
        annotations: annotations.clone(),
    }
}

fn named(server: &str, name: &str) -> Classification {
    classify(server, &tool(name, "", &Value::Null, &Value::Null), None, &Policy::default())
}

/// What is not known counts as destructive.
fn strength(effect: Effect) -> u8 {
    match effect {
        Effect::Read => 0,
        Effect::Write => 1,
        Effect::Destructive | Effect::Unknown => 2,
    }
}

fn trusting() -> Policy {
    Policy::from_toml("[[trust]]\nserver = \"*\"\n").unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn five_styles_are_one_name(words in words()) {
        let pascal: String = words.iter().map(|word| capital(word)).collect();
        let camel: String = words.iter().take(1).cloned().chain(words.iter().skip(1).map(|w| capital(w))).collect();
        let snake = named("acme", &words.join("_"));
        for name in [words.join("-"), words.join("."), words.join("_").to_uppercase(), pascal, camel] {
            let found = named("acme", &name);
            prop_assert_eq!(found.effect, snake.effect, "{} and {}", name, words.join("_"));
        }
    }

    #[test]
    fn a_prefix_never_weakens(prefix in "[a-z]{2,8}", words in words()) {
        // A prefix that is a verb of reading is none; names of servers that are, are looked at in their own test.
        prop_assume!(named("acme", &format!("{prefix}_zqx")).effect == Effect::Unknown);
        prop_assume!(!named("acme", &format!("zqx_{prefix}")).effect.eq(&Effect::Read));
        let plain = named("acme", &words.join("_")).effect;
        let prefixed = named("acme", &format!("{prefix}_{}", words.join("_"))).effect;
        prop_assert!(!plain.changes() || prefixed.changes(), "{} is {plain}, {prefix}_ makes it {prefixed}", words.join("_"));
    }

    #[test]
    fn a_server_called_like_a_verb_hides_nothing(server in word(), words in words()) {
        let plain = named("acme", &words.join("_"));
        let prefixed = named(&server, &format!("{server}_{}", words.join("_"))).effect;
        let certain = plain.evidence.iter().any(|e| e.code.starts_with("name-") && e.effect.changes());
        prop_assert!(!certain || prefixed.changes(), "{server}_{} is {prefixed}", words.join("_"));
    }

    #[test]
    fn and_delete_deletes(words in words()) {
        let found = named("acme", &format!("{}_and_delete", words.join("_"))).effect;
        prop_assert_eq!(strength(found), 2, "{}", found);
    }

    #[test]
    fn hints_never_clear_untrusted(words in words(), annotations in json(), reads in any::<bool>()) {
        let name = words.join("_");
        let bare = named("acme", &name).effect;
        let hint = Value::parse(&format!(r#"{{"readOnlyHint":{reads}}}"#)).unwrap();
        for annotations in [&annotations, &hint] {
            let hinted = classify("acme", &tool(&name, "", &Value::Null, annotations), None, &Policy::default());
            prop_assert!(strength(hinted.effect) >= strength(bare), "{name} with {annotations}");
        }
        let trusted = classify("acme", &tool(&name, "", &Value::Null, &hint), None, &trusting());
        let says_so = named("acme", &name).evidence[0].code != "default";
        prop_assert!(!(bare.changes() && says_so) || trusted.effect.changes(), "{name} trusted");
    }

    #[test]
    fn a_description_never_clears(words in words(), sentence in prop::collection::vec(word(), 0..8)) {
        let name = words.join("_");
        let described = tool(&name, &sentence.join(" "), &Value::Null, &Value::Null);
        let found = classify("acme", &described, None, &Policy::default()).effect;
        prop_assert!(strength(found) >= strength(named("acme", &name).effect), "{name}: {}", sentence.join(" "));
    }

    #[test]
    fn nothing_panics_and_evidence_is_never_empty(
        server in "\\PC{0,20}",
        name in "\\PC{0,30}",
        description in "\\PC{0,200}",
        schema in json(),
        annotations in json(),
        args in json(),
    ) {
        let definition = tool(&name, &description, &schema, &annotations);
        for policy in [&Policy::default(), &trusting()] {
            let found = classify(&server, &definition, Some(&Template::Lit(args.clone())), policy);
            prop_assert!(!found.evidence.is_empty());
            prop_assert!(found.evidence.iter().all(|e| !e.code.is_empty() && !e.says.is_empty()));
            prop_assert_eq!(found.evidence[0].effect, found.effect);
            prop_assert!(found.silence.is_none() || found.evidence[0].code == "default");
        }
        if let Ok(schema) = InputSchema::new(&schema) {
            schema.check(&Template::Lit(args), &Inputs::new());
        }
    }

    #[test]
    fn no_policy_text_panics(text in "\\PC{0,80}", key in prop::sample::select(Policy::KEYS), value in json()) {
        let _ = Policy::from_toml(&text).map_err(|e| e.to_string());
        let _ = Policy::from_toml(&format!("{key} = {}", value.to_string().replace("null", "1"))).map_err(|e| e.to_string());
        let _ = Policy::from_toml(&format!("[[{key}]]\nserver = \"a\"\ntool = \"b\"\nwhen = [{text:?}]\n")).map_err(|e| e.to_string());
    }
}
