//! `actions.json` as whoever edits it sees it: fields in order, nothing checked, and a digest that fits again.

use std::collections::BTreeMap;

use plangate_graph::{Catalog, Digest};

/// JSON in the order of its text. Leaves are as written, so that nothing need be JSON that anybody would write.
#[derive(Clone, Debug, PartialEq)]
pub enum J {
    Obj(Vec<(String, J)>),
    Arr(Vec<J>),
    Leaf(String),
}

/// A whole file, and what stands in for lists and nodes that an edit took away.
#[derive(Clone, Debug)]
pub struct File(pub J, Vec<J>, J);

impl J {
    pub fn parse(text: &str) -> J {
        let mut rest = text.trim();
        let parsed = read(&mut rest);
        assert!(rest.trim().is_empty(), "{rest}");
        parsed
    }

    pub fn text(&self) -> String {
        match self {
            J::Leaf(text) => text.clone(),
            J::Arr(items) => format!("[{}]", items.iter().map(J::text).collect::<Vec<_>>().join(",")),
            J::Obj(members) => {
                let members = members.iter().map(|(k, v)| format!("\"{k}\":{}", v.text()));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }
        }
    }

    /// A string.
    pub fn of(text: &str) -> J {
        J::Leaf(format!("\"{text}\""))
    }

    /// The characters of a string, as written.
    pub fn str(&self) -> Option<&str> {
        match self {
            J::Leaf(text) => text.strip_prefix('"')?.strip_suffix('"'),
            _ => None,
        }
    }

    pub fn get(&self, key: &str) -> Option<&J> {
        match self {
            J::Obj(members) => members.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut J> {
        match self {
            J::Obj(members) => members.iter_mut().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// Sets a member; a new one stands in front of `before`.
    pub fn set(&mut self, key: &str, value: J, before: &str) {
        let J::Obj(members) = self else { return };
        if let Some((_, old)) = members.iter_mut().find(|(k, _)| k == key) {
            *old = value;
        } else {
            let at = members.iter().position(|(k, _)| k == before).unwrap_or(members.len());
            members.insert(at, (key.to_owned(), value));
        }
    }

    pub fn remove(&mut self, key: &str) {
        if let J::Obj(members) = self {
            members.retain(|(k, _)| k != key);
        }
    }

    /// Every leaf and object below, in order.
    pub fn walk(&mut self, see: &mut dyn FnMut(&mut J)) {
        see(self);
        match self {
            J::Obj(members) => members.iter_mut().for_each(|(_, v)| v.walk(see)),
            J::Arr(items) => items.iter_mut().for_each(|v| v.walk(see)),
            J::Leaf(_) => {}
        }
    }
}

fn read(rest: &mut &str) -> J {
    match rest.as_bytes()[0] {
        b'{' => J::Obj(list(rest, '}', |rest| {
            let key = token(rest);
            *rest = rest.trim_start().strip_prefix(':').unwrap().trim_start();
            (key[1..key.len() - 1].to_owned(), read(rest))
        })),
        b'[' => J::Arr(list(rest, ']', read)),
        _ => J::Leaf(token(rest)),
    }
}

fn list<T>(rest: &mut &str, end: char, mut item: impl FnMut(&mut &str) -> T) -> Vec<T> {
    let mut items = Vec::new();
    loop {
        *rest = rest[1..].trim_start(); // the bracket or the comma
        if items.is_empty() && rest.starts_with(end) {
            break;
        }
        items.push(item(rest));
        *rest = rest.trim_start();
        if rest.starts_with(end) {
            break;
        }
    }
    *rest = &rest[1..];
    items
}

fn token(rest: &mut &str) -> String {
    let mut escaped = false;
    let end = if rest.starts_with('"') {
        let close = rest.char_indices().skip(1).find(|(_, c)| {
            let closes = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            closes
        });
        close.unwrap().0 + 1
    } else {
        rest.find(|c: char| ",]}".contains(c) || c.is_whitespace()).unwrap_or(rest.len())
    };
    let (token, tail) = rest.split_at(end);
    *rest = tail;
    token.to_owned()
}

impl File {
    pub fn read(text: &str) -> File {
        File(J::parse(text), Vec::new(), J::Arr(vec![]))
    }

    /// A list of the file: `nodes`, `edges`, …; an empty one where an edit took it away.
    pub fn list(&mut self, name: &str) -> &mut Vec<J> {
        self.1.clear();
        match self.0.get_mut(name) {
            Some(J::Arr(items)) => items,
            _ => &mut self.1,
        }
    }

    /// The fields of a node, whatever it is, with what it is.
    pub fn node(&mut self, at: usize) -> (String, &mut J) {
        self.1.clear();
        let nodes = match self.0.get_mut("nodes") {
            Some(J::Arr(items)) => items,
            _ => &mut self.1,
        };
        match nodes.get_mut(at) {
            Some(J::Obj(members)) if !members.is_empty() => {
                let (kind, fields) = &mut members[0];
                (kind.clone(), fields)
            }
            _ => (String::new(), &mut self.2),
        }
    }

    pub fn len(&mut self, name: &str) -> usize {
        self.list(name).len()
    }

    /// Ids of the nodes, in order.
    pub fn ids(&mut self) -> Vec<String> {
        (0..self.len("nodes"))
            .map(|at| self.node(at).1.get("id").and_then(J::str).unwrap_or("").to_owned())
            .collect()
    }

    /// The text, with what else its writer would have written: definitions of what is called, edges in their order, and
    /// a digest over it all.
    pub fn sealed(&self, catalog: &Catalog) -> String {
        let mut file = self.clone();
        file.mend(catalog);
        let J::Obj(members) = &file.0 else { panic!("no object") };
        let mut body = String::from("{\n");
        for (name, value) in members.iter().filter(|(name, _)| name != "digest") {
            match value {
                J::Arr(items) if !items.is_empty() => {
                    let lines: Vec<String> = items.iter().map(|i| format!("    {}", i.text())).collect();
                    body.push_str(&format!("  \"{name}\": [\n{}\n  ],\n", lines.join(",\n")));
                }
                value => body.push_str(&format!("  \"{name}\": {},\n", value.text())),
            }
        }
        format!("{body}  \"digest\": \"{}\"\n}}\n", Digest::of(body.as_bytes()))
    }

    fn mend(&mut self, catalog: &Catalog) {
        let ids = self.ids();
        let place = |edge: &J, end: &str| {
            let id = edge.get(end).and_then(J::str).unwrap_or("").to_owned();
            ids.iter().position(|known| *known == id).unwrap_or(usize::MAX)
        };
        self.list("edges").sort_by_key(|edge| (place(edge, "from"), place(edge, "to")));
        let mut definitions: BTreeMap<(String, String), J> = BTreeMap::new();
        for definition in self.list("definitions") {
            let text = |key| definition.get(key).and_then(J::str).unwrap_or("").to_owned();
            definitions.insert((text("server"), text("tool")), definition.clone());
        }
        let mut used = BTreeMap::new();
        for at in 0..self.len("nodes") {
            let (kind, node) = self.node(at);
            if kind != "call" {
                continue;
            }
            let text = |key| node.get(key).and_then(J::str).unwrap_or("").to_owned();
            let (server, tool) = (text("server"), text("tool"));
            let digest = catalog.digest(&server, &tool).unwrap_or(Digest::of(b"nothing"));
            let made = J::parse(&format!(r#"{{"server":"{server}","tool":"{tool}","digest":"{digest}"}}"#));
            let definition = definitions.get(&(server.clone(), tool.clone())).cloned().unwrap_or(made);
            used.insert((server, tool), definition);
        }
        *self.list("definitions") = used.into_values().collect();
    }
}
