//! What single lines are made of: the answers of the grammar.

use crate::source::Place;

/// What a line looks like, apart from where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// `together sources:`; only at the margin.
    Header(Header),
    /// `- …`
    Question {
        /// What follows the `-`.
        rest: Place,
    },
    /// `name: …`
    Step {
        /// The name, hidden characters and all.
        name: Place,
        /// What follows the colon.
        rest: Place,
    },
    /// `not a name: …`
    Misnamed {
        /// What stands where a name should.
        label: Place,
        /// What follows the colon.
        rest: Place,
    },
    /// Anything else.
    Other,
}

/// A line that begins with the word of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    /// `inputs`, `together`, `then`, `ask me` or `check`, in any case.
    pub(crate) word: Place,
    /// What stands between the word and the colon.
    pub(crate) label: Option<Place>,
    /// Whether there is a colon.
    pub(crate) colon: bool,
    /// What follows the colon.
    pub(crate) rest: Place,
}

/// The unit of a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Milliseconds,
    Seconds,
    Minutes,
    Hours,
}

/// The words of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestWord {
    IsEmpty,
    IsNotEmpty,
    Is,
    IsNot,
    Greater,
    Less,
    Contains,
}

/// A check: what is tested, the test if it is a known one, and what follows.
#[derive(Debug)]
pub(crate) struct CheckLine {
    pub(crate) left: RawRef,
    pub(crate) test: Option<TestWord>,
    pub(crate) rest: Place,
}

/// A reference as it stands.
#[derive(Clone, Debug)]
pub(crate) struct RawRef {
    /// Name and path, without the braces.
    pub(crate) place: Place,
    pub(crate) name: Place,
    pub(crate) path: Vec<RawSegment>,
}

/// One turn of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RawSegment {
    Field(Place),
    Index(Place),
}

/// A piece of a sentence, a question or a JSON string.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// Characters that stand for themselves.
    Plain(Place),
    /// A JSON escape.
    Escape(Place),
    /// A backslash that begins no JSON escape.
    BadEscape(Place),
    /// `{mail.from}`; the place includes the braces.
    Ref(Place, RawRef),
    /// `{a, b}`
    Group(Place, Vec<RawRef>),
    /// `{sheet["Full Name"]}` in a JSON string, which the first quote would end.
    QuoteInside(Place),
    /// `{{mail}}`: literal, with the name in it.
    Doubled(Place, RawRef),
    /// `{ mail }`, `{mail|upper}`: literal, with the name in it.
    Almost {
        place: Place,
        name: Place,
        /// Between the name and the closing brace.
        tail: Place,
        /// No blank between the brace and the name.
        tight: bool,
    },
    /// `{{`
    OpenTwice(Place),
    /// `{`
    Open(Place),
    /// `}`
    Close(Place),
}

/// A token of JSON.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) place: Place,
    pub(crate) kind: TokenKind,
}

/// What a token of JSON is.
#[derive(Clone, Debug)]
pub(crate) enum TokenKind {
    /// One of `{ } [ ] : ,`.
    Punct(u8),
    /// A string, without its quotes.
    Text(Vec<Piece>),
    /// A string that does not end on its line.
    BrokenText,
    /// `'…'`
    SingleQuoted,
    /// Something that begins like a number.
    Number,
    /// `true`, `null`, or some other word.
    Word,
    /// `{mail}` where a value could stand.
    BareRef,
    /// Some other character.
    Stray,
}
