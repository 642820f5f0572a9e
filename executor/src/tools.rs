//! What a host gives: its tools and its writer.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use plangate_approval::{Outcome, Permit, Reconciled};
use plangate_graph::{Digest, ReadCall, Value};

/// The tools of a host. There is no other way to hand a call over: a read needs a [`ReadCall`], which only a verified
/// plan makes and never for an effect; everything else needs a [`Permit`], which only a claim makes.
pub trait Tools: Send + Sync {
    /// The digest of a tool's definition as it is now; looked at before each call. Nothing: the tool is not there.
    fn definition(&self, server: &str, tool: &str) -> Option<Digest>;
    /// Makes a read. Blocks its thread until the answer, the deadline or the cancel.
    fn read(&self, call: ReadCall<'_>, cancel: &Cancel) -> Result<Value, ReadError>;
    /// Makes a call that changes something. The permit holds the call; spend it right before the first byte.
    fn effect(&self, permit: Permit, cancel: &Cancel) -> Outcome;
    /// Makes the connection to a server ready, so that a claim is the last thing before the call.
    fn connect(&self, server: &str, cancel: &Cancel) -> Result<(), ReadError> {
        let _ = (server, cancel);
        Ok(())
    }
    /// What became of a call whose outcome nobody recorded, by its idempotency key. Asked once for a claim, after its
    /// deadline, when nothing else of the run is under way; [`Options::reconcile`](crate::Options::reconcile) bounds it.
    /// Nothing: this host cannot look calls up. [`Reconciled::DidNot`] says that it did not happen *and will not*: only
    /// then an approved call is made once more, with the same key.
    fn reconcile(&self, call: &Uncertain<'_>, cancel: &Cancel) -> Option<Reconciled> {
        let _ = (call, cancel);
        None
    }
}

/// A call that was claimed and whose outcome nobody recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncertain<'a> {
    /// The server.
    pub server: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The canonical argument bytes that were claimed.
    pub args: &'a [u8],
    /// The idempotency key that went with them.
    pub key: &'a str,
}

/// Who executes sentences. Configuration of the host, never part of a recipe or plan; it has no tools.
pub trait Writer: Send + Sync {
    /// Writes what the instruction says from the inputs. The instruction is constant text of the recipe; inputs are data.
    fn write(&self, sentence: &Sentence<'_>, cancel: &Cancel) -> Result<Value, ReadError>;
}

/// A sentence, about to be executed.
#[derive(Clone, Debug)]
pub struct Sentence<'a> {
    /// The instruction as written, with references in braces.
    pub instruction: &'a str,
    /// Named inputs, in the order of the text.
    pub inputs: &'a [SentenceInput],
}

/// One named input of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentenceInput {
    /// The reference as written, for instance `mail.messages`.
    pub name: String,
    /// The value, or why it is missing.
    pub value: Result<Value, String>,
}

/// Why a read or a sentence gave no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The tool said so. Not tried again.
    #[error("{0}")]
    Failed(String),
    /// The connection failed, for instance the server died. Tried again if the step has `retry:`.
    #[error("{0}")]
    Transport(String),
    /// No answer before the deadline.
    #[error("no answer within {0} ms")]
    TimedOut(u64),
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// The deadline of one call, and whether anyone still waits for it. Cheap to clone; clones share the mark.
#[derive(Clone)]
pub struct Cancel {
    deadline: Option<Instant>,
    mark: Arc<Mark>,
}

#[derive(Default)]
struct Mark {
    cancelled: AtomicBool,
    left: AtomicBool,
    then: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
}

impl Cancel {
    /// A call that ends at the deadline at the latest.
    pub fn new(deadline: Option<Instant>) -> Cancel {
        Cancel { deadline, mark: Arc::default() }
    }

    /// When the call must have ended.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Nobody waits any more: cancelled, or past the deadline.
    pub fn is_cancelled(&self) -> bool {
        self.mark.cancelled.load(Ordering::Acquire) || self.is_past()
    }

    /// The deadline passed.
    pub fn is_past(&self) -> bool {
        self.deadline.is_some_and(|d| Instant::now() >= d)
    }

    /// The run goes on without the call: what it still brings counts, and nobody is there to wait for it.
    pub fn is_left(&self) -> bool {
        self.mark.left.load(Ordering::Acquire)
    }

    /// Says that the run goes on without the call, and asks it to stop.
    pub fn leave(&self) {
        self.mark.left.store(true, Ordering::Release);
        self.cancel();
    }

    /// Asks the call to stop, and runs what [`on_cancel`](Cancel::on_cancel) left.
    pub fn cancel(&self) {
        self.mark.cancelled.store(true, Ordering::Release);
        let then = std::mem::take(&mut *self.mark.then.lock().unwrap_or_else(PoisonError::into_inner));
        for run in then {
            run();
        }
    }

    /// Runs this once [`cancel`](Cancel::cancel) is called, at once if it already was. It must not block. The deadline does not trigger it.
    pub fn on_cancel(&self, run: impl FnOnce() + Send + 'static) {
        let mut then = self.mark.then.lock().unwrap_or_else(PoisonError::into_inner);
        if self.mark.cancelled.load(Ordering::Acquire) {
            drop(then);
            run();
        } else {
            then.push(Box::new(run));
        }
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancel")
            .field("deadline", &self.deadline)
            .field("cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}
