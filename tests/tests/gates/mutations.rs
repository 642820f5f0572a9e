//! What can be done to a plan by somebody who edits its file and knows the format well.

use plangate_graph::Catalog;

use super::file::{File, J};

/// Where and with what: three numbers, taken modulo whatever there is to choose from.
#[derive(Clone, Copy, Debug)]
pub struct Pick(pub usize, pub usize, pub usize);

type Mutation = fn(&mut File, Pick, &Catalog);

/// Every kind of edit, by name. One that does not fit what it is pointed at leaves the file as it is.
pub const MUTATIONS: &[(&str, Mutation)] = &[
    ("drop a node", |file, Pick(a, ..), _| drop(take(file.list("nodes"), a))),
    ("drop a node and its edges", |file, Pick(a, ..), _| {
        let Some(id) = file.ids().get(a % file.ids().len().max(1)).cloned() else { return };
        take(file.list("nodes"), a);
        file.list("edges").retain(|edge| !touches(edge, &id));
    }),
    ("drop an edge", |file, Pick(a, ..), _| drop(take(file.list("edges"), a))),
    ("drop every edge into a node", |file, Pick(a, ..), _| {
        let id = some_id(file, a);
        file.list("edges").retain(|edge| end(edge, "to") != id);
    }),
    ("double a node", |file, Pick(a, b, _), _| double(file.list("nodes"), a, b)),
    ("double an edge", |file, Pick(a, b, _), _| double(file.list("edges"), a, b)),
    ("swap two nodes", |file, Pick(a, b, _), _| swap(file.list("nodes"), a, b)),
    ("swap two ids", |file, Pick(a, b, _), _| {
        let (one, other) = (some_id(file, a), some_id(file, b));
        set_id(file, a, &other);
        set_id(file, b, &one);
    }),
    ("an edge from elsewhere", |file, Pick(a, b, _), _| {
        let id = some_id(file, b);
        with(file.list("edges"), a, |edge| edge.set("from", J::of(&id), ""));
    }),
    ("an edge to elsewhere", |file, Pick(a, b, _), _| {
        let id = some_id(file, b);
        with(file.list("edges"), a, |edge| edge.set("to", J::of(&id), ""));
    }),
    ("a new edge", |file, Pick(a, b, c), _| {
        let (from, to) = (some_id(file, a), some_id(file, b));
        let reason = ["data", "said", "effect", "gate", "counted"][c % 5];
        let edge =
            format!(r#"{{"from":"{from}","to":"{to}","because":[{{"reason":"{reason}","asks":"done"}}]}}"#);
        file.list("edges").push(J::parse(&edge));
    }),
    ("around the gate", |file, Pick(a, ..), _| {
        let gates: Vec<(String, String)> = gates(file);
        if gates.is_empty() {
            return;
        }
        let (gate, call) = gates[a % gates.len()].clone();
        for edge in file.list("edges") {
            if end(edge, "to") == gate {
                edge.set("to", J::of(&call), "");
            }
        }
    }),
    ("another reason", |file, Pick(a, b, _), _| {
        because(file, a, b, |why, b| {
            why.set("reason", J::of(["data", "said", "effect", "gate", "counted"][b % 5]), "");
        });
    }),
    ("asks for less", |file, Pick(a, b, _), _| {
        because(file, a, b, |why, b| {
            why.set("asks", J::of(["ended", "done or skipped", "done", "yes"][b % 4]), "");
        });
    }),
    ("no reasons", |file, Pick(a, ..), _| {
        with(file.list("edges"), a, |edge| edge.set("because", J::Arr(vec![]), ""));
    }),
    ("relabel", |file, Pick(a, b, _), _| {
        call(file, a, |call| {
            call.set("effect", J::of(["read", "write", "destructive", "unknown"][b % 4]), "");
        });
    }),
    ("not asked", |file, Pick(a, b, _), _| {
        call(file, a, |call| {
            call.set("asked", J::Leaf((b % 2 == 1).to_string()), "");
        });
    }),
    ("a read that nobody asks about", |file, Pick(a, ..), _| call(file, a, relabelled)),
    ("no gate at all", |file, Pick(a, ..), _| ungate(file, a, relabelled)),
    ("no gate and a waiver", |file, Pick(a, ..), _| {
        ungate(file, a, |call| {
            call.set("asked", J::Leaf("false".into()), "");
            call.set("without_asking", J::Leaf("true".into()), "effect");
        });
    }),
    ("a waiver", |file, Pick(a, ..), _| {
        call(file, a, |call| {
            call.set("without_asking", J::Leaf("true".into()), "effect");
        });
    }),
    ("the gate of another", |file, Pick(a, b, _), _| {
        let id = some_id(file, b);
        node_of(file, a, "gate", |gate| gate.set("call", J::of(&id), ""));
    }),
    ("no words on the gate", |file, Pick(a, ..), _| node_of(file, a, "gate", |gate| gate.remove("question"))),
    ("rename a node", |file, Pick(a, ..), _| set_id(file, a, "other")),
    ("rename a step everywhere", |file, Pick(a, b, _), _| {
        let id = some_id(file, a);
        let new = ["other", "a b", "x/gate", "e\u{301}", "", "Post", "n\u{200b}ote"][b % 7];
        for (old, new) in [(id.clone(), new.to_owned()), (format!("{id}/gate"), format!("{new}/gate"))] {
            file.0.walk(&mut |j| {
                if j.str() == Some(&old) {
                    *j = J::of(&new);
                }
            });
        }
    }),
    ("another tool", |file, Pick(a, b, _), catalog| {
        let (server, tool) = some_tool(catalog, b);
        call(file, a, |call| {
            call.set("server", J::of(&server), "");
            call.set("tool", J::of(&tool), "");
        });
    }),
    ("the same tool of another server", |file, Pick(a, b, _), catalog| {
        let (server, _) = some_tool(catalog, b);
        call(file, a, |call| call.set("server", J::of(&server), ""));
    }),
    ("a tool of nowhere", |file, Pick(a, ..), _| call(file, a, |call| call.set("tool", J::of("list2"), ""))),
    ("another tool under the old definition", |file, Pick(a, b, _), catalog| {
        let (server, tool) = some_tool(catalog, b);
        with(file.list("definitions"), a, |definition| {
            definition.set("server", J::of(&server), "");
            definition.set("tool", J::of(&tool), "");
        });
        call(file, a, |call| {
            call.set("server", J::of(&server), "");
            call.set("tool", J::of(&tool), "");
        });
    }),
    ("another definition", |file, Pick(a, ..), _| {
        let digest = plangate_graph::Digest::of(b"another").to_string();
        with(file.list("definitions"), a, |definition| definition.set("digest", J::of(&digest), ""));
    }),
    ("other arguments", |file, Pick(a, b, _), _| {
        call(file, a, |call| {
            let args = [
                r#"{"lit":{}}"#,
                r#"{"lit":{"action":"delete","key":"all"}}"#,
                r#"{"lit":{"action":"list","ACTION":"delete"}}"#,
                r#"{"lit":{"action":"list","action":"delete"}}"#,
                r#"{"obj":{"action":{"lit":"list"},"action":{"lit":"delete"}}}"#,
                r#"{"lit":"text"}"#,
                r#"{"arr":[]}"#,
                r#"{"text":[{"lit":"x"}]}"#,
                r#"{"lit":{"text":"\ud800"}}"#,
                r#"{"lit":{"text":"\u0000\u202e"}}"#,
                r#"{"lit":{"n":1e999999}}"#,
                r#"{"lit":{"n":NaN}}"#,
                r#"{"lit":{"n":-Infinity}}"#,
                r#"{"lit":{"n":01}}"#,
                r#"{"lit":{"path":"/etc/passwd"}}"#,
                r#"{"lit":null}"#,
                r#"{"eval":"1"}"#,
            ];
            call.set("args", J::parse(args[b % args.len()]), "");
        });
    }),
    ("arguments that read another step", |file, Pick(a, b, c), _| {
        let id = some_id(file, b);
        let args = [format!(r#"{{"ref":["{id}"]}}"#), format!(r#"{{"obj":{{"path":{{"ref":["{id}"]}}}}}}"#)];
        call(file, a, |call| call.set("args", J::parse(&args[c % 2]), ""));
    }),
    ("a reference to elsewhere", |file, Pick(a, b, _), _| {
        let id = some_id(file, b);
        let mut left = a % 8;
        file.0.walk(&mut |j| {
            if let Some(J::Arr(path)) = j.get_mut("ref") {
                if left == 0 && !path.is_empty() {
                    path[0] = J::of(&id);
                }
                left = left.wrapping_sub(1);
            }
        });
    }),
    ("a path that goes nowhere", |file, Pick(a, b, _), _| {
        let more = [J::Leaf("4294967296".into()), J::Leaf("-1".into()), J::of("x"), J::Arr(vec![])];
        let mut left = a % 8;
        file.0.walk(&mut |j| {
            if let Some(J::Arr(path)) = j.get_mut("ref") {
                if left == 0 {
                    path.push(more[b % more.len()].clone());
                }
                left = left.wrapping_sub(1);
            }
        });
    }),
    ("deep arguments", |file, Pick(a, b, _), _| {
        let depth = [40, 60, 130, 5_000][b % 4];
        let lit = format!(r#"{{"lit":{}{}}}"#, r#"{"a":"#.repeat(depth) + "1", "}".repeat(depth));
        let arr = format!(r#"{}{{"lit":1}}{}"#, r#"{"arr":["#.repeat(depth), "]}".repeat(depth));
        call(file, a, |call| call.set("args", J::Leaf(if b % 8 < 4 { lit } else { arr }), ""));
    }),
    ("settings", |file, Pick(a, b, _), _| {
        let id = some_id(file, a.wrapping_add(b));
        let settings = [
            r#"{"retry":3}"#.to_owned(),
            r#"{"retry":4294967295}"#.to_owned(),
            r#"{"timeout_ms":0}"#.to_owned(),
            r#"{"timeout_ms":18446744073709551615}"#.to_owned(),
            r#"{"timeout_ms":-1}"#.to_owned(),
            format!(r#"{{"after":["{id}"]}}"#),
            r#"{"after":["nowhere"]}"#.to_owned(),
            r#"{"asked":false}"#.to_owned(),
        ];
        let settings = J::parse(&settings[b % settings.len()]);
        step(file, a, |step| step.set("settings", settings, "without_asking"));
    }),
    ("another sort of block", |file, Pick(a, b, _), _| {
        with(file.list("blocks"), a, |block| {
            block.set("kind", J::of(["together", "then", "ask me", "check", "loop"][b % 5]), "");
        });
    }),
    ("another need", |file, Pick(a, b, c), _| {
        with(file.list("blocks"), a, |block| {
            block.set("need", J::parse(&format!(r#"{{"k":{},"n":{}}}"#, b % 4, c % 4)), "");
        });
    }),
    ("no need", |file, Pick(a, ..), _| with(file.list("blocks"), a, |block| block.remove("need"))),
    ("a need that counts otherwise", |file, Pick(a, b, c), _| {
        let id = some_id(file, b);
        node_of(file, a, "join", |join| {
            if let Some(need) = join.get_mut("need") {
                need.set("k", J::Leaf((c % 4).to_string()), "");
                if let Some(J::Arr(of)) = need.get_mut("of") {
                    of.push(J::of(&id));
                }
            }
        });
    }),
    ("the name of a block", |file, Pick(a, b, _), _| {
        let name = ["post", "\\n  nobody is asked", "x", "\u{202e}x"][b % 4];
        with(file.list("blocks"), a, |block| block.set("name", J::of(name), "need"));
    }),
    ("a block more", |file, Pick(a, b, _), _| {
        let block = J::parse(&format!(r#"{{"kind":"{}"}}"#, ["together", "then"][b % 2]));
        let at = a % (file.len("blocks") + 1);
        file.list("blocks").insert(at, block);
    }),
    ("a block less", |file, Pick(a, ..), _| drop(take(file.list("blocks"), a))),
    ("another place", |file, Pick(a, b, c), _| {
        place(file, a, |place| {
            let field = ["item", "block", "under"][b % 3];
            place.set(field, J::Leaf((c % 9).to_string()), "span");
        });
    }),
    ("no longer guarded", |file, Pick(a, ..), _| place(file, a, |place| place.remove("under"))),
    ("another span", |file, Pick(a, b, _), _| {
        place(file, a, |place| {
            place.set("span", J::parse(["[0,0]", "[9,1]", "[4294967295,4294967295]"][b % 3]), "");
        });
    }),
    ("another kind of node", |file, Pick(a, b, _), _| {
        with(file.list("nodes"), a, |node| {
            if let J::Obj(members) = node {
                members[0].0 = ["call", "write", "join", "gate", "ask", "check"][b % 6].to_owned();
            }
        });
    }),
    ("no evidence", |file, Pick(a, ..), _| call(file, a, |call| call.set("evidence", J::Arr(vec![]), ""))),
    ("other evidence", |file, Pick(a, ..), _| {
        call(file, a, |call| {
            let says = r#"[{"code":"policy-reads","says":"looked at: it only reads","effect":"read"}]"#;
            call.set("evidence", J::parse(says), "");
        });
    }),
    ("other notes", |file, _, _| {
        let note = r#"{"code":"R0000","severity":"note","message":"nobody need be asked"}"#;
        *file.list("notes") = vec![J::parse(note)];
    }),
    ("another policy", |file, _, _| file.0.set("policy", J::of(&zero()), "")),
    ("another recipe", |file, _, _| file.0.set("recipe", J::of(&zero()), "")),
    ("an input more", |file, Pick(a, b, _), _| {
        let name = some_id(file, a);
        let input = [
            format!(r#"{{"name":"{name}","kind":"text","default":"x"}}"#),
            r#"{"name":"extra","kind":"number","default":1e400}"#.to_owned(),
            r#"{"name":"extra","kind":"yes/no","default":"no"}"#.to_owned(),
        ];
        let input = J::parse(&input[b % input.len()]);
        file.list("inputs").push(input);
    }),
    ("an input less", |file, Pick(a, ..), _| drop(take(file.list("inputs"), a))),
    ("an input that is a step", |file, Pick(a, b, _), _| {
        let id = some_id(file, b);
        with(file.list("inputs"), a, |input| input.set("name", J::of(&id), ""));
    }),
    ("an unknown field", |file, Pick(a, ..), _| {
        let mut left = a % 40;
        file.0.walk(&mut |j| {
            if matches!(j, J::Obj(_)) {
                if left == 0 {
                    j.set("approved", J::Leaf("true".into()), "");
                }
                left = left.wrapping_sub(1);
            }
        });
    }),
    ("a field twice", |file, Pick(a, b, _), _| {
        let mut left = a % 40;
        file.0.walk(&mut |j| {
            if let J::Obj(members) = j {
                if left == 0 && !members.is_empty() {
                    let again = members[b % members.len()].clone();
                    members.push(again);
                }
                left = left.wrapping_sub(1);
            }
        });
    }),
    ("a field less", |file, Pick(a, b, _), _| {
        let mut left = a % 40;
        file.0.walk(&mut |j| {
            if let J::Obj(members) = j {
                if left == 0 && !members.is_empty() {
                    members.remove(b % members.len());
                }
                left = left.wrapping_sub(1);
            }
        });
    }),
    ("another format", |file, Pick(a, ..), _| {
        file.0.set("format", J::of(["actions/2", "actions/1.1", "", "ACTIONS/1"][a % 4]), "");
    }),
];

fn zero() -> String {
    plangate_graph::Digest::of(b"").to_string()
}

fn take(list: &mut Vec<J>, at: usize) -> Option<J> {
    if list.is_empty() { None } else { Some(list.remove(at % list.len())) }
}

fn with(list: &mut [J], at: usize, change: impl FnOnce(&mut J)) {
    if !list.is_empty() {
        let at = at % list.len();
        change(&mut list[at]);
    }
}

fn double(list: &mut Vec<J>, at: usize, to: usize) {
    if !list.is_empty() {
        let again = list[at % list.len()].clone();
        list.insert(to % (list.len() + 1), again);
    }
}

fn swap(list: &mut [J], a: usize, b: usize) {
    if !list.is_empty() {
        list.swap(a % list.len(), b % list.len());
    }
}

fn end<'j>(edge: &'j J, which: &str) -> &'j str {
    edge.get(which).and_then(J::str).unwrap_or("")
}

fn touches(edge: &J, id: &str) -> bool {
    end(edge, "from") == id || end(edge, "to") == id
}

fn some_id(file: &mut File, at: usize) -> String {
    let ids = file.ids();
    if ids.is_empty() { String::new() } else { ids[at % ids.len()].clone() }
}

fn set_id(file: &mut File, at: usize, id: &str) {
    let nodes = file.len("nodes");
    if nodes > 0 {
        file.node(at % nodes).1.set("id", J::of(id), "");
    }
}

fn some_tool(catalog: &Catalog, at: usize) -> (String, String) {
    let tools: Vec<_> = catalog.tools().map(|(server, d)| (server.to_owned(), d.name.clone())).collect();
    tools[at % tools.len()].clone()
}

/// Changes the n-th node of a kind.
fn node_of(file: &mut File, at: usize, kind: &str, change: impl FnOnce(&mut J)) {
    let of_kind: Vec<usize> = (0..file.len("nodes")).filter(|n| file.node(*n).0 == kind).collect();
    if !of_kind.is_empty() {
        change(file.node(of_kind[at % of_kind.len()]).1);
    }
}

fn call(file: &mut File, at: usize, change: impl FnOnce(&mut J)) {
    node_of(file, at, "call", change);
}

fn step(file: &mut File, at: usize, change: impl FnOnce(&mut J)) {
    let steps = ["call", "write"];
    let of_kind: Vec<usize> =
        (0..file.len("nodes")).filter(|n| steps.contains(&file.node(*n).0.as_str())).collect();
    if !of_kind.is_empty() {
        change(file.node(of_kind[at % of_kind.len()]).1);
    }
}

fn place(file: &mut File, at: usize, change: impl FnOnce(&mut J)) {
    let nodes = file.len("nodes");
    if nodes == 0 {
        return;
    }
    let (_, node) = file.node(at % nodes);
    let question = node.get("question").is_some();
    let node = if question { node.get_mut("question").unwrap() } else { node };
    if let Some(place) = node.get_mut("place") {
        change(place);
    }
}

fn because(file: &mut File, at: usize, with_what: usize, change: impl FnOnce(&mut J, usize)) {
    with(file.list("edges"), at, |edge| {
        if let Some(J::Arr(reasons)) = edge.get_mut("because")
            && !reasons.is_empty()
        {
            let at = with_what / 5 % reasons.len();
            change(&mut reasons[at], with_what);
        }
    });
}

/// Gates with their calls.
fn gates(file: &mut File) -> Vec<(String, String)> {
    let mut gates = Vec::new();
    for at in 0..file.len("nodes") {
        if let ("gate", gate) = (file.node(at).0.as_str(), file.node(at).1.clone()) {
            let text = |key| gate.get(key).and_then(J::str).unwrap_or("").to_owned();
            gates.push((text("id"), text("call")));
        }
    }
    gates
}

fn relabelled(call: &mut J) {
    call.set("effect", J::of("read"), "");
    call.set("asked", J::Leaf("false".into()), "");
}

/// Takes a gate out as whoever wrote it would: its edges lead to the call, and the call says what it must say.
fn ungate(file: &mut File, at: usize, then: impl FnOnce(&mut J)) {
    let gates = gates(file);
    if gates.is_empty() {
        return;
    }
    let (gate, call) = gates[at % gates.len()].clone();
    let ids = file.ids();
    let Some(of_gate) = ids.iter().position(|id| *id == gate) else { return };
    let question = file.node(of_gate).1.get("question").is_some();
    if question {
        return; // Its words would have to go somewhere.
    }
    file.list("edges").retain(|edge| end(edge, "from") != gate);
    for edge in file.list("edges") {
        if end(edge, "to") == gate {
            edge.set("to", J::of(&call), "");
        }
    }
    file.list("nodes").remove(of_gate);
    if let Some(of_call) = file.ids().iter().position(|id| *id == call) {
        then(file.node(of_call).1);
    }
}
