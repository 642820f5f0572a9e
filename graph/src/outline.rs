//! What the author typed, resolved against the catalog: inputs, blocks and items in typed order.
//!
//! The compiler makes an outline from a recipe; reading `actions.json` makes one from the nodes. From it and nothing
//! else the plan is lowered, so that compiling and verifying are the same function.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::template::{Part, Ref, Template, text_refs};
use crate::value::Value;

/// A whole recipe, resolved. Names are unique over inputs, steps and blocks; places are indices into `items`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// Digest of the recipe's text.
    pub recipe: Digest,
    /// Parameters, in typed order.
    pub inputs: Vec<Input>,
    /// Blocks, in typed order.
    pub blocks: Vec<Block>,
    /// Steps, questions and checks, in typed order.
    pub items: Vec<Item>,
}

/// A parameter. Its value is never part of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub kind: InputKind,
    /// What it is where the run says nothing.
    pub default: Option<Value>,
}

/// What an input takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum InputKind {
    /// `text`
    #[serde(rename = "text")]
    Text,
    /// `number`
    #[serde(rename = "number")]
    Number,
    /// `yes/no`
    #[serde(rename = "yes/no")]
    YesNo,
    /// `list`
    #[serde(rename = "list")]
    List,
}

/// A block of the recipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What sort of block.
    pub kind: BlockKind,
    /// Its name, which labels the card.
    pub name: Option<String>,
    /// `need: k of n`, on a `then:` only.
    pub need: Option<Need>,
}

/// The sort of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub enum BlockKind {
    /// `together:`: steps that do not need each other.
    #[serde(rename = "together")]
    Together,
    /// `then:`: steps after what stands above, as far as they earn it.
    #[serde(rename = "then")]
    Then,
    /// `ask me:`: questions and the steps they guard.
    #[serde(rename = "ask me")]
    AskMe,
    /// `check:`: tests that the machine answers, and the steps they guard.
    #[serde(rename = "check")]
    Check,
}

/// `need: k of n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// How many must end ok.
    pub k: u32,
    /// Of how many.
    pub n: u32,
}

/// One line of the recipe: a step, a question or a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Index of its block.
    pub block: usize,
    /// Index of the question or check it is indented under.
    pub under: Option<usize>,
    /// Where it stands in the recipe, as byte offsets (start, end).
    pub span: (u32, u32),
    /// What it is.
    pub body: Body,
}

/// What an item is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A call of a tool.
    Call(Call),
    /// A sentence for the writer.
    Sentence(Sentence),
    /// A question that a person answers.
    Question(Question),
    /// A test that the machine answers.
    Check(Check),
}

/// A step that calls a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The step's name.
    pub name: String,
    /// The server, by its name in the catalog.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The arguments: an object.
    pub args: Template,
    /// Settings below the step.
    pub settings: Settings,
    /// `without asking` stands at its end: a request, which policy decides.
    pub without_asking: bool,
}

/// A step that the writer executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// The step's name.
    pub name: String,
    /// The instruction. References in it are names of inputs that travel beside it, never spliced in.
    pub text: Vec<Part>,
    /// Settings below the step.
    pub settings: Settings,
}

/// Settings of a step.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Settings {
    /// `timeout: 20s`, in milliseconds from dispatch.
    pub timeout_ms: Option<u64>,
    /// `retry: 2`: how often a read is tried again on a transport error.
    pub retry: u32,
    /// `after: name`: orders that the author wants.
    pub after: Vec<String>,
}

/// A question of an `ask me:` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Its words.
    pub text: Vec<Part>,
}

/// A test of a `check:` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What is tested.
    pub left: Ref,
    /// The test.
    pub test: Test,
}

/// What a check tests its left side for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// `is empty`: null, empty text, list or object.
    IsEmpty,
    /// `is not empty`
    IsNotEmpty,
    /// `is`: the same JSON, numbers compared as numbers.
    Is(Template),
    /// `is not`
    IsNot(Template),
    /// `>`: both numbers.
    Greater(Template),
    /// `<`: both numbers.
    Less(Template),
    /// `contains`: text in text, or an element of a list.
    Contains(Template),
}

impl Outline {
    /// Nothing typed.
    pub(crate) fn empty(recipe: Digest) -> Outline {
        Outline { recipe, inputs: Vec::new(), blocks: Vec::new(), items: Vec::new() }
    }

    /// Places of the steps that start at once although they were typed below others, in typed order. `starts_at_once`:
    /// whether the node of an item waits for nothing.
    pub(crate) fn moved(&self, starts_at_once: impl Fn(usize) -> bool) -> Vec<usize> {
        let first = self.items.first().map_or(0, |item| item.block);
        let items = self.items.iter().enumerate();
        let moved = items
            .filter(|(place, item)| item.block > first && item.name().is_some() && starts_at_once(*place));
        moved.map(|(place, _)| place).collect()
    }

    /// The nearest `together:` above a block.
    pub(crate) fn fan_above(&self, block: usize) -> Option<usize> {
        self.blocks.iter().take(block).rposition(|b| b.kind == BlockKind::Together)
    }
}

impl Item {
    /// The name of a step; questions and checks have none.
    pub fn name(&self) -> Option<&str> {
        match &self.body {
            Body::Call(call) => Some(&call.name),
            Body::Sentence(sentence) => Some(&sentence.name),
            Body::Question(_) | Body::Check(_) => None,
        }
    }

    /// Every reference in it, in order.
    pub fn refs(&self) -> Vec<&Ref> {
        let mut found = Vec::new();
        self.each_ref(&mut |r| found.push(r));
        found
    }

    /// Shows every reference in it, in order.
    pub(crate) fn each_ref<'a>(&'a self, show: &mut impl FnMut(&'a Ref)) {
        match &self.body {
            Body::Call(call) => call.args.each_ref(show),
            Body::Sentence(sentence) => text_refs(&sentence.text).for_each(show),
            Body::Question(question) => text_refs(&question.text).for_each(show),
            Body::Check(check) => {
                show(&check.left);
                if let Some(right) = check.test.right() {
                    right.each_ref(show);
                }
            }
        }
    }

    /// The settings of a step.
    pub fn settings(&self) -> Option<&Settings> {
        match &self.body {
            Body::Call(call) => Some(&call.settings),
            Body::Sentence(sentence) => Some(&sentence.settings),
            Body::Question(_) | Body::Check(_) => None,
        }
    }
}

impl Test {
    /// The right side, where the test has one.
    pub fn right(&self) -> Option<&Template> {
        match self {
            Test::IsEmpty | Test::IsNotEmpty => None,
            Test::Is(right)
            | Test::IsNot(right)
            | Test::Greater(right)
            | Test::Less(right)
            | Test::Contains(right) => Some(right),
        }
    }

    /// Its words in a recipe.
    pub fn words(&self) -> &'static str {
        match self {
            Test::IsEmpty => "is empty",
            Test::IsNotEmpty => "is not empty",
            Test::Is(_) => "is",
            Test::IsNot(_) => "is not",
            Test::Greater(_) => ">",
            Test::Less(_) => "<",
            Test::Contains(_) => "contains",
        }
    }
}

impl Block {
    /// The word that opens it.
    pub fn word(&self) -> &'static str {
        match self.kind {
            BlockKind::Together => "together",
            BlockKind::Then => "then",
            BlockKind::AskMe => "ask me",
            BlockKind::Check => "check",
        }
    }
}
