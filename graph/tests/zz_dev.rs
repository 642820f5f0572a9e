#![allow(warnings)]
use plangate_graph::effect::*;
use plangate_graph::value::*;
use plangate_graph::*;
fn definition(row: &serde_json::Value, schema: bool) -> Definition {
    let mut props = serde_json::Map::new();
    if schema {
        for p in row["params"].as_array().unwrap() {
            let p = p.as_str().unwrap();
            match p.split_once('=') {
                Some((n, v)) => {
                    props.insert(
                        n.into(),
                        serde_json::json!({"type":"string","enum": v.split('|').collect::<Vec<_>>()}),
                    );
                }
                None => {
                    props.insert(p.into(), serde_json::json!({}));
                }
            }
        }
    }
    Definition {
        name: row["tool"].as_str().unwrap().into(),
        description: row["description"].as_str().unwrap().into(),
        input_schema: Value::from(serde_json::json!({"type":"object","properties":props})),
        annotations: Value::from(row["annotations"].clone()),
    }
}
#[test]
fn dev() {
    let file = std::env::var("DEV_FILE").unwrap();
    let quiet = std::env::var("QUIET").is_ok();
    for schema in [true, false] {
        for trust in [false, true] {
            let policy = if trust {
                Policy::from_toml("[[trust]]\nserver = \"*\"\n")
                    .unwrap_or_else(|_| Policy::from_toml("trust").unwrap())
            } else {
                Policy::default()
            };
            let mut n = std::collections::BTreeMap::<(String, String, String), usize>::new();
            for line in std::fs::read_to_string(&file).unwrap().lines() {
                let row: serde_json::Value = serde_json::from_str(line).unwrap();
                let d = definition(&row, schema);
                let c = classify(row["server"].as_str().unwrap(), &d, None, &policy);
                let label = row["label"].as_str().unwrap();
                *n.entry((row["sample"].as_str().unwrap().into(), label.into(), c.effect.to_string()))
                    .or_default() += 1;
                let bad = (label == "read") == c.effect.changes()
                    || (label == "destructive" && c.effect == Effect::Write);
                if bad && !quiet && schema && trust == std::env::var("TRUST").is_ok() {
                    println!(
                        "{} {} -> {} | {} | {} | {:?} | {} | {}",
                        &row["sample"].as_str().unwrap()[..1],
                        label,
                        c.effect,
                        row["server"].as_str().unwrap(),
                        d.name,
                        c.evidence.iter().map(|e| e.says.clone()).collect::<Vec<_>>(),
                        row["annotations"],
                        d.description.chars().take(100).collect::<String>()
                    );
                }
            }
            println!("schema={schema} trust={trust}");
            for s in ["random", "targeted"] {
                for l in ["read", "write", "destructive", "ambiguous"] {
                    let get = |e: &str| n.get(&(s.into(), l.into(), e.into())).copied().unwrap_or(0);
                    let total = get("read") + get("write") + get("destructive") + get("unknown");
                    println!(
                        "  {s} {l}: {total}  read {} write {} destructive {} unknown {}   gated {:.1}%",
                        get("read"),
                        get("write"),
                        get("destructive"),
                        get("unknown"),
                        100.0 * (total - get("read")) as f64 / (total.max(1)) as f64
                    );
                }
            }
        }
    }
}
#[test]
fn flip() {
    let file = std::env::var("DEV_FILE").unwrap();
    let policy = Policy::from_toml("[[trust]]\nserver = \"*\"\n").unwrap();
    for line in std::fs::read_to_string(&file).unwrap().lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let mut d = definition(&row, true);
        d.annotations = Value::from(serde_json::json!({"readOnlyHint": true}));
        let c = classify(row["server"].as_str().unwrap(), &d, None, &policy);
        if row["label"] != "read" && !c.effect.changes() {
            println!(
                "LOST {} | {} | {} | {} | {}",
                row["label"],
                row["server"],
                d.name,
                c.evidence[0].says,
                d.description.chars().take(90).collect::<String>()
            );
        }
    }
}
