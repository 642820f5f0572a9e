//! From [`Recipe`] to [`Outline`]: names are looked up, tools found in the catalog, `need:` counted.

mod calls;
mod names;
mod need;
mod references;

use std::collections::HashMap;

use plangate_graph::outline::{self, BlockKind, Outline};
use plangate_graph::template::{Part, Template};
use plangate_graph::{Catalog, Digest};

use crate::diagnostic::{Finding, Severity, code};
use crate::recipe::{Body, Item, Recipe, Settings};
use crate::source::{Place, Source};
use crate::suggest::Suggester;
use crate::tokens::TestWord;
use names::{Named, Names};

/// A resolved recipe.
#[derive(Debug)]
pub(crate) struct Resolution {
    /// What the author typed. Where something was wrong with a step, a sentence that says nothing stands in for it, so
    /// that the others can be looked at.
    pub(crate) outline: Outline,
    /// Which items are as the author typed them.
    pub(crate) sound: Vec<bool>,
    /// Whether the outline can be looked at further, though something is wrong.
    pub(crate) usable: bool,
    pub(crate) findings: Vec<Finding>,
}

/// Looks everything up. Linear in the recipe, apart from sorting.
pub(crate) fn resolve(recipe: &Recipe, source: &Source<'_>, catalog: &Catalog) -> Resolution {
    let (names, findings) = Names::of(recipe);
    let mut resolver = Resolver {
        recipe,
        source,
        catalog,
        names,
        suggester: Suggester::new(),
        findings,
        unknown: Unknown::default(),
        read: vec![false; recipe.inputs.len()],
        reads: vec![Vec::new(); recipe.blocks.len()],
        first_of: first_items(recipe),
    };
    let mut items = Vec::with_capacity(recipe.items.len());
    let mut sound = Vec::with_capacity(recipe.items.len());
    for (index, item) in recipe.items.iter().enumerate() {
        let body = resolver.item(index, item);
        sound.push(body.is_some());
        items.push(outline::Item {
            block: item.block,
            under: item.under,
            span: (offset(item.line.start), offset(item.line.end)),
            body: body.unwrap_or_else(|| match &item.name {
                Some(name) => stand_in(name.text.clone()),
                None => stand_in(resolver.names.unused(index)),
            }),
        });
    }
    for index in std::mem::take(&mut resolver.names.twice) {
        let name = resolver.names.unused(index);
        if let (Some(sound), Some(item)) = (sound.get_mut(index), items.get_mut(index)) {
            *sound = false;
            item.body = stand_in(name);
        }
    }
    let needs = resolver.needs(&sound);
    resolver.report_unknown();
    let broken = recipe.broken || resolver.findings.iter().any(|f| f.severity == Severity::Error);
    if !broken {
        resolver.warn_unread();
    }
    let usable = recipe.items.iter().zip(&sound).all(|(item, sound)| has_place(recipe, item, *sound))
        && recipe.inputs.iter().all(|input| input.kind.is_some());
    let inputs = recipe.inputs.iter().filter_map(|input| {
        Some(outline::Input {
            name: input.name.text.clone(),
            kind: input.kind?,
            default: input.default.clone(),
        })
    });
    let blocks = recipe.blocks.iter().zip(needs).map(|(block, need)| outline::Block {
        kind: block.kind,
        name: block.name.as_ref().map(|name| name.text.clone()),
        need,
    });
    let outline = Outline {
        recipe: Digest::of(source.text().as_bytes()),
        inputs: inputs.collect(),
        blocks: blocks.collect(),
        items,
    };
    Resolution { outline, sound, usable, findings: resolver.findings }
}

/// What is known while items are looked at in typed order.
struct Resolver<'r> {
    recipe: &'r Recipe,
    source: &'r Source<'r>,
    catalog: &'r Catalog,
    names: Names<'r>,
    suggester: Suggester,
    findings: Vec<Finding>,
    unknown: Unknown,
    /// Which inputs are read.
    read: Vec<bool>,
    /// Of each block, the steps typed above it that its items read.
    reads: Vec<Vec<usize>>,
    /// Of each block, its first item.
    first_of: Vec<usize>,
}

/// Names that nothing has, in the order of their first place.
#[derive(Debug, Default)]
struct Unknown {
    names: Vec<UnknownName>,
    index: HashMap<String, usize>,
}

#[derive(Debug)]
struct UnknownName {
    name: String,
    places: Vec<Place>,
    /// The first place is in braces, not in an `after:`.
    braces: bool,
}

impl Resolver<'_> {
    /// An item's body, unless something is wrong with it.
    fn item(&mut self, index: usize, item: &Item) -> Option<outline::Body> {
        let settings = self.settings(index, &item.settings);
        let body = match &item.body {
            Body::Broken => None,
            Body::Question(text) if text.is_empty() => None,
            Body::Question(text) => {
                self.parts(index, text).map(|text| outline::Body::Question(outline::Question { text }))
            }
            Body::Check(check) => {
                let left = self.reference(index, &check.left);
                let right = check.right.as_ref().map(|right| self.template(index, right));
                Some(outline::Body::Check(outline::Check {
                    left: left?,
                    test: test(check.test, right.flatten())?,
                }))
            }
            Body::Call(call) => {
                let tool = self.tool(call);
                let args = call.args.as_ref().map(|args| self.template(index, args));
                let args = args.flatten();
                let (server, tool) = tool?;
                Some(outline::Body::Call(outline::Call {
                    name: item.name.as_ref()?.text.clone(),
                    server,
                    tool,
                    args: args?,
                    settings: settings.clone()?,
                    without_asking: call.without_asking,
                }))
            }
            Body::Sentence(sentence) => {
                self.warn_call_like(sentence);
                if let Some((_, place)) = item.settings.retry {
                    self.findings.push(
                        Finding::error(code::RETRY_ON_SENTENCE, "`retry:` stands below a sentence")
                            .at(place, "")
                            .help("only calls that read are tried again; take it out"),
                    );
                }
                let text = self.parts(index, &sentence.text);
                Some(outline::Body::Sentence(outline::Sentence {
                    name: item.name.as_ref()?.text.clone(),
                    text: text?,
                    settings: settings.clone()?,
                }))
            }
        };
        if item.is_step() { settings.and(body) } else { body }
    }

    fn settings(&mut self, index: usize, settings: &Settings) -> Option<outline::Settings> {
        let mut after = Vec::with_capacity(settings.after.len());
        for name in &settings.after {
            after.extend(self.wait_for(index, name));
        }
        (after.len() == settings.after.len()).then(|| outline::Settings {
            timeout_ms: settings.timeout_ms,
            retry: settings.retry.map_or(0, |(retry, _)| retry),
            after,
        })
    }

    /// Whether two items stand beside each other: in one `together:`, or under different questions of one `ask me:`.
    fn siblings(&self, a: usize, b: usize) -> Option<BlockKind> {
        let top = |index: usize| Some(self.recipe.items.get(index)?.under.unwrap_or(index));
        let block = self.recipe.items.get(a)?.block;
        if block != self.recipe.items.get(b)?.block {
            return None;
        }
        match self.recipe.blocks.get(block)?.kind {
            BlockKind::Together => Some(BlockKind::Together),
            BlockKind::AskMe if top(a) != top(b) => Some(BlockKind::AskMe),
            _ => None,
        }
    }

    fn warn_unread(&mut self) {
        for (input, _) in self.recipe.inputs.iter().zip(&self.read).filter(|(_, read)| !**read) {
            self.findings.push(
                Finding::warning(
                    code::INPUT_UNREAD,
                    format!("nothing reads the input `{}`", input.name.text),
                )
                .at(input.name.place, "")
                .help(format!("write `{{{}}}` where it belongs, or take it out", input.name.text)),
            );
        }
    }
}

fn test(word: TestWord, right: Option<Template>) -> Option<outline::Test> {
    Some(match word {
        TestWord::IsEmpty => outline::Test::IsEmpty,
        TestWord::IsNotEmpty => outline::Test::IsNotEmpty,
        TestWord::Is => outline::Test::Is(right?),
        TestWord::IsNot => outline::Test::IsNot(right?),
        TestWord::Greater => outline::Test::Greater(right?),
        TestWord::Less => outline::Test::Less(right?),
        TestWord::Contains => outline::Test::Contains(right?),
    })
}

/// Whether the graph has a place for an item: a step that is not sound can be stood in for, a question or check cannot;
/// and a step of an `ask me:` or `check:` stands under one of those.
fn has_place(recipe: &Recipe, item: &Item, sound: bool) -> bool {
    let kind = recipe.blocks.get(item.block).map(|block| block.kind);
    let guards = matches!(kind, Some(BlockKind::AskMe | BlockKind::Check));
    if item.is_step() { item.under.is_some() == guards } else { sound && guards }
}

fn stand_in(name: String) -> outline::Body {
    outline::Body::Sentence(outline::Sentence {
        name,
        text: Vec::<Part>::new(),
        settings: outline::Settings::default(),
    })
}

fn first_items(recipe: &Recipe) -> Vec<usize> {
    let mut first = vec![usize::MAX; recipe.blocks.len()];
    for (index, item) in recipe.items.iter().enumerate() {
        if let Some(slot) = first.get_mut(item.block) {
            *slot = (*slot).min(index);
        }
    }
    first
}

/// An offset as the outline holds it. Recipes beyond 4 GiB do not fit into memory twice.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
