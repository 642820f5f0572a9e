//! What goes in and what comes out.

use plangate_approval::StepState;
use plangate_graph::NodeIx;

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A read, a sentence, a check or a call ended.
    Ended(NodeIx, How),
    /// A call started and what came of it is not known.
    Unknown(NodeIx),
    /// The row of a gate or question is stored, or that of a call that has no gate and must be asked all the same.
    Asked(NodeIx),
    /// A gate or question was answered yes, or policy lets a gate's call through with its final arguments.
    Yes(NodeIx),
    /// It was answered no.
    No(NodeIx),
    /// Nobody answered in time.
    Expired(NodeIx),
    /// A gate or question could not be put: what it reads is not there, the arguments do not fit, or policy denies them.
    Unaskable(NodeIx),
    /// A person said that an uncertain call did not happen: it is asked again.
    Again(NodeIx),
    /// The host knows that an uncertain call did not happen and will not: it may be claimed once more.
    Cleared(NodeIx),
    /// A call was not claimed, because the run holds its calls while a row is pending. It has its turn later.
    Held(NodeIx),
    /// The run was cancelled.
    Cancel,
    /// The time for this drive is over: nothing more starts. What waits for people goes on waiting.
    TimeUp,
}

/// How a node ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// As it should. Without a value if a person settled it and gave none.
    Done {
        /// There is a value that others may read.
        value: bool,
    },
    /// A check's answer.
    Answered(bool),
    /// It failed.
    Failed,
    /// A read that did not answer in time, or anything that the run's deadline overtook before it was sent.
    TimedOut,
    /// An approval that lapsed before it was used.
    Expired,
    /// A person said no to a call that has no gate of its own.
    Rejected,
    /// The run was cancelled.
    Cancelled,
}

/// Something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Make a read; it has a worker.
    Read(NodeIx),
    /// Have the writer execute a sentence; it has a worker.
    Write(NodeIx),
    /// Claim a call and make it; it has a worker.
    Call(NodeIx),
    /// Evaluate a check.
    Check(NodeIx),
    /// Put a gate or a question.
    Ask(NodeIx),
    /// A join fired: freeze its list. It is done.
    Fired(NodeIx),
    /// A node ended without a worker: an all-join passed, or the node was blocked, skipped, rejected, expired, cancelled, failed.
    Ended(NodeIx, StepState),
    /// A node ended after this join had fired; it changes nothing there.
    Late {
        /// The join.
        join: NodeIx,
        /// What came late.
        node: NodeIx,
    },
    /// Ask a running node to stop. It still ends by an event.
    Stop(NodeIx),
}

/// An event that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{event:?} does not fit a node that is {state:?}")]
pub struct Illegal {
    /// The event.
    pub event: Event,
    /// The state of its node.
    pub state: StepState,
}

impl How {
    pub(crate) fn state(self) -> StepState {
        match self {
            How::Done { .. } | How::Answered(_) => StepState::Done,
            How::Failed => StepState::Failed,
            How::TimedOut => StepState::TimedOut,
            How::Expired => StepState::Expired,
            How::Rejected => StepState::Rejected,
            How::Cancelled => StepState::Cancelled,
        }
    }
}
