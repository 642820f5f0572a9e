//! Outlines in a few words, and plans as lines of text.
#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    missing_debug_implementations,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::format_push_string,
    clippy::must_use_candidate,
    clippy::missing_panics_doc,
    reason = "shared between test binaries, each of which uses its part"
)]

use plangate_graph::catalog::{Catalog, Definition};
use plangate_graph::lower::lower;
use plangate_graph::outline::{
    Block, BlockKind, Body, Call, Check, Item, Need, Outline, Question, Sentence, Settings, Test,
};
use plangate_graph::policy::{Author, Policy};
use plangate_graph::problem::Problem;
use plangate_graph::template::{Part, Ref, Source, Template};
use plangate_graph::{Digest, Plan, Value};

/// The tools of the worked cases: R reads, W writes, D is destructive.
pub const TOOLS: &[&str] = &[
    "fs.read_file",
    "fs.write_file",
    "git.status",
    "git.commit",
    "gmail.list",
    "gmail.send",
    "cal.list",
    "slack.search",
    "slack.create_channel",
    "slack.post",
    "ci.run_tests",
    "prod.deploy",
    "s3.put",
    "db.drop",
    "jira.create",
];

pub fn catalog() -> Catalog {
    let mut catalog = Catalog::new();
    for tool in TOOLS {
        let (server, tool) = tool.split_once('.').unwrap();
        let definition = Definition {
            name: tool.to_owned(),
            description: String::new(),
            input_schema: Value::parse(r#"{"type":"object"}"#).unwrap(),
            annotations: Value::Null,
        };
        catalog.insert(server, definition).unwrap();
    }
    catalog
}

/// An outline as it grows.
pub struct Sketch(Outline);

pub fn sketch() -> Sketch {
    Sketch(Outline { recipe: Digest::of(b"sketch"), inputs: vec![], blocks: vec![], items: vec![] })
}

fn reference(name: &str) -> Ref {
    Ref { source: Source::Step(name.to_owned()), path: vec![] }
}

impl Sketch {
    fn block(mut self, kind: BlockKind, need: Option<Need>) -> Sketch {
        self.0.blocks.push(Block { kind, name: None, need });
        self
    }

    pub fn together(self) -> Sketch {
        self.block(BlockKind::Together, None)
    }

    pub fn then(self) -> Sketch {
        self.block(BlockKind::Then, None)
    }

    pub fn need(self, k: u32, n: u32) -> Sketch {
        self.block(BlockKind::Then, Some(Need { k, n }))
    }

    pub fn ask_me(self) -> Sketch {
        self.block(BlockKind::AskMe, None)
    }

    pub fn check_block(self) -> Sketch {
        self.block(BlockKind::Check, None)
    }

    fn item(mut self, body: Body, under: Option<usize>) -> Sketch {
        let block = self.0.blocks.len() - 1;
        self.0.items.push(Item { block, under, span: (0, 0), body });
        self
    }

    /// The last question or check of the block.
    fn guard(&self) -> Option<usize> {
        let block = self.0.blocks.len() - 1;
        self.0.items.iter().rposition(|i| i.block == block && i.name().is_none())
    }

    fn make(name: &str, tool: &str, reads: &[&str]) -> Body {
        let (server, tool) = tool.split_once('.').unwrap();
        let members = reads.iter().map(|r| ((*r).to_owned(), Template::Ref(reference(r))));
        Body::Call(Call {
            name: name.to_owned(),
            server: server.to_owned(),
            tool: tool.to_owned(),
            args: Template::object(members.chain([("for".to_owned(), Template::Lit(name.into()))]).collect())
                .unwrap(),
            settings: Settings::default(),
            without_asking: false,
        })
    }

    pub fn call(self, name: &str, tool: &str, reads: &[&str]) -> Sketch {
        self.item(Sketch::make(name, tool, reads), None)
    }

    /// A call under the last question or check.
    pub fn under(self, name: &str, tool: &str, reads: &[&str]) -> Sketch {
        let guard = self.guard();
        self.item(Sketch::make(name, tool, reads), guard)
    }

    pub fn say(self, name: &str, reads: &[&str]) -> Sketch {
        let text = reads.iter().map(|r| Part::Ref(reference(r))).collect();
        self.item(
            Body::Sentence(Sentence { name: name.to_owned(), text, settings: Settings::default() }),
            None,
        )
    }

    pub fn question(self, words: &str) -> Sketch {
        self.item(Body::Question(Question { text: vec![Part::Lit(words.to_owned())] }), None)
    }

    pub fn check(self, reads: &str) -> Sketch {
        self.item(Body::Check(Check { left: reference(reads), test: Test::IsNotEmpty }), None)
    }

    /// `after:` below the last step.
    pub fn after(mut self, name: &str) -> Sketch {
        match &mut self.0.items.last_mut().unwrap().body {
            Body::Call(call) => call.settings.after.push(name.to_owned()),
            Body::Sentence(sentence) => sentence.settings.after.push(name.to_owned()),
            _ => panic!("only steps have settings"),
        }
        self
    }

    pub fn outline(self) -> Outline {
        self.0
    }

    pub fn lower(self) -> (Option<Plan>, Vec<Problem>) {
        lower(self.0, &catalog(), &Policy::default(), Author::Person)
    }

    pub fn plan(self) -> Plan {
        let (plan, problems) = self.lower();
        plan.unwrap_or_else(|| panic!("no plan: {problems:#?}"))
    }
}

/// One line a node that waits: `node <- source (reasons), …`.
pub fn waits(plan: &Plan) -> String {
    let mut text = String::new();
    for (ix, node) in plan.nodes() {
        let sources: Vec<String> = plan
            .incoming(ix)
            .into_iter()
            .map(|(from, edge)| {
                let reasons: Vec<String> = edge
                    .reasons
                    .iter()
                    .map(|(reason, asks)| format!("{reason:?}:{asks:?}").to_lowercase())
                    .collect();
                format!("{} ({})", plan.node(from).id, reasons.join(" "))
            })
            .collect();
        if !sources.is_empty() {
            text.push_str(&format!("{} <- {}\n", node.id, sources.join(", ")));
        }
    }
    text
}

/// Compares texts line by line, without the indentation of the source.
#[track_caller]
pub fn same(found: &str, wanted: &str) {
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|l| l.trim().to_owned()).filter(|l| !l.is_empty()).collect()
    };
    assert_eq!(lines(found), lines(wanted), "\nfound:\n{found}");
}

/// The text with a digest that fits, as whoever edits the file can write it.
pub fn sealed(text: &str) -> String {
    let body = text.split("  \"digest\"").next().unwrap();
    format!("{body}  \"digest\": \"{}\"\n}}\n", Digest::of(body.as_bytes()))
}

/// A recipe made of a few numbers.
pub fn grown(seed: &[(u8, u8, u8)]) -> Sketch {
    let tools = TOOLS;
    let mut made = sketch();
    let mut names: Vec<String> = Vec::new();
    let mut number = 0;
    for (block, steps, pick) in seed {
        let before = names.clone();
        let read = |n: usize| -> Vec<&str> {
            if before.is_empty() || n.is_multiple_of(2) {
                vec![]
            } else {
                vec![before[n % before.len()].as_str()]
            }
        };
        let tool = |n: usize| tools[(usize::from(*pick) + n * 7) % tools.len()];
        let size = usize::from(*steps % 4) + 1;
        made = match block % 5 {
            0 | 1 => made.together(),
            2 => made.then(),
            3 => made.ask_me(),
            _ if before.is_empty() => made.then(),
            _ => made.check_block(),
        };
        match block % 5 {
            3 => {
                for q in 0..=usize::from(*pick % 2) {
                    made = made.question(&format!("go {q}?"));
                    for n in 0..size {
                        number += 1;
                        let name = format!("s{number}");
                        made = made.under(&name, tool(n), &read(n));
                        names.push(name);
                    }
                }
            }
            4 if !before.is_empty() => {
                made = made.check(&before[usize::from(*pick) % before.len()]);
                for n in 0..size - 1 {
                    number += 1;
                    let name = format!("s{number}");
                    made = made.under(&name, tool(n), &read(n));
                    names.push(name);
                }
            }
            _ => {
                for n in 0..size {
                    number += 1;
                    let name = format!("s{number}");
                    made = made.call(&name, tool(n), &read(n));
                    names.push(name);
                }
            }
        }
    }
    made
}
