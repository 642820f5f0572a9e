//! A recipe as parsed: what stands where. Names are not looked up yet.

use plangate_graph::outline::{BlockKind, InputKind};
use plangate_graph::template::Segment;
use plangate_graph::value::Value;

use crate::source::Place;
use crate::tokens::TestWord;

/// A parsed recipe. Parsing never fails: what could not be read is marked and was reported.
#[derive(Debug, Default)]
pub struct Recipe {
    pub(crate) inputs: Vec<Input>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) items: Vec<Item>,
    /// Something was wrong with it; a plan cannot come of it.
    pub(crate) broken: bool,
}

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    /// Composed (NFC), without hidden characters.
    pub(crate) text: String,
    pub(crate) place: Place,
}

#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) name: Name,
    /// Nothing where it could not be read.
    pub(crate) kind: Option<InputKind>,
    pub(crate) default: Option<Value>,
}

#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) kind: BlockKind,
    /// Its header.
    pub(crate) place: Place,
    pub(crate) name: Option<Name>,
    pub(crate) need: Option<NeedLine>,
    /// A line of it could not be read, so that counting its reads would mislead.
    pub(crate) broken: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct NeedLine {
    pub(crate) place: Place,
    pub(crate) k: u32,
    pub(crate) n: u32,
}

/// A step, question or check.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) block: usize,
    /// The question or check it is indented under.
    pub(crate) under: Option<usize>,
    /// Its first line, without the indentation.
    pub(crate) line: Place,
    /// Nothing for questions and checks, and where a name could not be read.
    pub(crate) name: Option<Name>,
    pub(crate) body: Body,
    pub(crate) settings: Settings,
}

#[derive(Debug)]
pub(crate) enum Body {
    Call(Call),
    Sentence(Sentence),
    Question(Vec<TextPart>),
    Check(Check),
    /// It could not be read, which was reported. A step keeps its name.
    Broken,
}

#[derive(Debug)]
pub(crate) struct Call {
    /// `server.tool`
    pub(crate) tool: Place,
    /// Nothing where they could not be read.
    pub(crate) args: Option<Arg>,
    pub(crate) without_asking: bool,
}

#[derive(Debug)]
pub(crate) struct Sentence {
    pub(crate) text: Vec<TextPart>,
    /// Its first word.
    pub(crate) word: Option<Place>,
    /// Where it consists of that word alone.
    pub(crate) single: bool,
}

#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) left: Reference,
    pub(crate) test: TestWord,
    pub(crate) right: Option<Arg>,
}

#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) retry: Option<(u32, Place)>,
    pub(crate) after: Vec<Name>,
}

/// An argument, or a part of one.
#[derive(Debug)]
pub(crate) enum Arg {
    /// Without references.
    Lit(Value),
    /// A string with something in braces.
    Text(Vec<TextPart>),
    List(Vec<Arg>),
    /// No key twice.
    Object(Vec<(String, Arg)>),
}

/// A part of a sentence, question or JSON string.
#[derive(Debug)]
pub(crate) enum TextPart {
    Lit(String),
    Ref(Reference),
    /// `{a, b}` where it may not stand.
    Group(Place, Vec<Reference>),
    /// Literal braces that may have been meant as a reference.
    Doubtful(Doubtful),
}

/// A reference, not looked up.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) name: String,
    pub(crate) path: Vec<Segment>,
    /// Without the braces.
    pub(crate) place: Place,
}

/// Literal braces around something that begins like a reference.
#[derive(Debug)]
pub(crate) struct Doubtful {
    /// What it is, taken literally.
    pub(crate) literal: String,
    /// The name it begins with.
    pub(crate) name: String,
    /// With the braces.
    pub(crate) place: Place,
    pub(crate) doubt: Doubt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// `{{mail}}`
    Doubled,
    /// `{mail.}`, `{mail[x]}`, `{mail,}`: begins as only a reference does.
    Path,
    /// `{ mail }`, `{mail|upper}`
    Spaced,
}

impl Recipe {
    /// How many steps, questions and checks it has, as far as they could be read.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether it has no step, question or check.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl Item {
    pub(crate) fn is_step(&self) -> bool {
        !matches!(self.body, Body::Question(_) | Body::Check(_))
    }
}
