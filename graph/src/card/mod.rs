//! The card: what is shown of a plan before it runs.
//!
//! One structure, made from the verified plan and nothing else, and rendered as terminal text, Markdown, Mermaid, DOT or JSON.
//! It names every call, says of each argument whether it is fixed, set when the run starts or known when asked, and says
//! where the run will stop and why.

mod dot;
pub mod files;
mod html;
mod lines;
mod markdown;
mod mermaid;
mod reason;
mod text;
pub mod visible;

pub use dot::dot;
pub use mermaid::mermaid;
use serde::Serialize;

use crate::effect::Effect;
use crate::outline::InputKind;
use crate::problem::Severity;
use crate::value::Value;

/// A card. Its JSON is this structure, field by field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Card {
    /// What the run is given when it starts.
    pub inputs: Vec<CardInput>,
    /// Groups in the order in which they are shown.
    pub groups: Vec<Group>,
    /// Notes and warnings.
    pub notes: Vec<CardNote>,
    /// How many answers are asked for at most.
    pub stops: usize,
    /// How many calls change something without being asked about.
    pub through: usize,
    /// Digest of the plan.
    pub plan: String,
}

/// A parameter of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CardInput {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub kind: InputKind,
    /// The value given for this run.
    pub given: Option<Value>,
    /// What it is where the run says nothing.
    pub default: Option<Value>,
}

/// Lines that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// What they have in common.
    pub heading: Heading,
    /// The name of the block.
    pub name: Option<String>,
    /// Its steps, questions and checks.
    pub lines: Vec<Line>,
}

/// What the lines of a group have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Heading {
    /// They run at once.
    Together,
    /// They come after what stands above, as far as they must.
    Then,
    /// They come once k of n earlier steps are ok.
    Join {
        /// How many must be ok.
        k: u32,
        /// Of how many.
        n: u32,
    },
    /// A person answers first.
    AskMe,
    /// The machine answers first.
    Check,
}

/// One step, question or check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Id of its node.
    pub id: String,
    /// What it is.
    pub what: What,
    /// What it waits for beyond what it reads and what its group says: names of steps, with the reason.
    pub after: Vec<After>,
    /// Names of what guards it, as shown on the card.
    pub under: Option<String>,
    /// The stop in front of it.
    pub stop: Option<Stop>,
    /// It was typed in a later block, and starts here.
    pub moved: bool,
    /// Settings, in words.
    pub settings: Vec<String>,
}

/// What a line is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A call of a tool.
    Call {
        /// Server.
        server: String,
        /// Tool.
        tool: String,
        /// What it does outside.
        effect: Effect,
        /// Why we think so.
        why: Vec<String>,
        /// Two sources contradict each other.
        contradiction: bool,
        /// Its arguments.
        args: Vec<Arg>,
    },
    /// A sentence for the writer.
    Written {
        /// The instruction.
        instruction: String,
        /// What it is written from.
        from: Vec<String>,
    },
    /// A question that a person answers.
    Question {
        /// Its words.
        text: String,
        /// Whether anything depends on the answer.
        guards: bool,
    },
    /// A test that the machine answers.
    Check {
        /// The test, in words.
        text: String,
    },
}

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Arg {
    /// Its name.
    pub name: String,
    /// When it is known.
    pub known: Known,
    /// Its value where it is fixed, else the template as written.
    pub value: String,
    /// What it is made from: inputs and steps.
    pub from: Vec<String>,
    /// It names a file whose content the tool takes, and the call is asked: the path is approved, and not what the file
    /// holds. Not written where it is not so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub path_only: bool,
}

/// When an argument is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Known {
    /// It stands in the recipe.
    Fixed,
    /// It is made of inputs.
    AtStart,
    /// It is made of what earlier steps give.
    Later,
}

/// A step that is waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct After {
    /// Its name.
    pub step: String,
    /// Why: `said` by the author, or an `effect` that must not be overtaken.
    pub because: &'static str,
}

/// The stop in front of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stop {
    /// The question whose words are put.
    pub question: Option<String>,
    /// Why it is asked.
    pub why: String,
    /// What else stops where the answer is no.
    pub also_stops: Vec<String>,
}

/// A note or warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CardNote {
    /// Code.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}
