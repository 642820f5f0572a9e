//! One call of a tool, from before its first byte to what its end means.

use std::time::{Duration, Instant};

use plangate_approval::Outcome;
use plangate_executor::{Cancel, ReadError};
use plangate_graph::Value;
use rmcp::RoleClient;
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use rmcp::service::{PeerRequestOptions, RequestHandle};
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::answer::{ToolAnswer, tool_answer};
use crate::error::{Fault, McpError, seconds};
use crate::session::Session;
use crate::transport::calls::{Answer, Call, Spend};
use crate::transport::frame::RpcError;
use crate::transport::link::attach;

/// How long a cancelled call may take to answer all the same.
const AFTER_CANCEL: Duration = Duration::from_millis(500);

/// How long the notice that a call is cancelled may take to leave.
const NOTICE: Duration = Duration::from_secs(5);

/// JSON-RPC errors that say that the request was not carried out: it could not be read, or was not accepted.
const NOT_CARRIED_OUT: [i64; 4] = [-32700, -32600, -32601, -32602];

/// How a call ended.
#[derive(Debug)]
pub(crate) enum End {
    /// The server answered.
    Result(Box<RawValue>),
    /// The server answered with an error.
    Error(RpcError),
    /// The server answered, and its answer cannot be read.
    Broken(McpError),
    /// Nothing left this process; why.
    NotSent(String),
    /// The connection was lost, and the call may have left before.
    Lost(McpError),
    /// The deadline passed.
    TimedOut {
        /// Whether a byte of it may have left.
        sent: bool,
        /// The time it had.
        after: Duration,
    },
    /// Nobody waits any more.
    Cancelled {
        /// Whether a byte of it may have left.
        sent: bool,
    },
}

/// When a call ends without an answer.
#[derive(Debug)]
pub(crate) struct Patience {
    started: Instant,
    deadline: Option<Instant>,
    /// The executor's mark, which says why it was made.
    mark: Cancel,
    /// Nothing once it is known that nobody will cancel.
    cancelled: Option<oneshot::Receiver<()>>,
}

impl Patience {
    /// From the executor's mark. Its deadline counts from when the step was dispatched.
    pub(crate) fn of(cancel: &Cancel) -> Patience {
        let (cancelled, on_cancel) = oneshot::channel();
        cancel.on_cancel(move || {
            // The call may be over.
            let _ = cancelled.send(());
        });
        let (mark, deadline) = (cancel.clone(), cancel.deadline());
        Patience { started: Instant::now(), deadline, mark, cancelled: Some(on_cancel) }
    }

    /// Waits until the call is to be given up; on a cancel rather than on a deadline if both are there.
    pub(crate) async fn exhausted(&mut self) -> GiveUp {
        let deadline = self.deadline;
        let passed = async move {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                None => std::future::pending().await,
            }
        };
        let cancelled = async {
            if let Some(cancelled) = &mut self.cancelled {
                if cancelled.await.is_ok() {
                    return;
                }
                // Whoever held the mark let go of it without cancelling.
                self.cancelled = None;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            () = cancelled => GiveUp::Cancelled,
            () = passed => GiveUp::TimedOut(deadline.unwrap_or(self.started) - self.started),
        }
    }

    /// Why a call is given up, for its server. The executor cancels a call at its deadline, too.
    fn why(&self, give_up: GiveUp) -> &'static str {
        match give_up {
            GiveUp::TimedOut(_) => "the deadline passed",
            GiveUp::Cancelled if self.mark.is_past() => "the deadline passed",
            GiveUp::Cancelled if self.mark.is_left() => "the run goes on without this call",
            GiveUp::Cancelled => "the run was cancelled or stopped",
        }
    }
}

/// Why a call is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GiveUp {
    Cancelled,
    TimedOut(Duration),
}

/// Makes a call on a session. `spend` gives the call when everything else is done and the server takes bytes.
pub(crate) async fn call(session: &Session, spend: Spend, mut patience: Patience) -> End {
    let (call, mut answered) = Call::new(Some(spend));
    // Name and arguments come from `spend`; the library's own fields are never written.
    let mut request = CallToolRequest::new(CallToolRequestParams::new(""));
    attach(&mut request.extensions, &call);
    let request = ClientRequest::CallToolRequest(request);
    let handle = tokio::select! {
        // A call that nobody waits for is not even queued.
        biased;
        give_up = patience.exhausted() => return given_up(give_up, !call.withdraw()),
        queued = session.peer().send_request_with_option(request, PeerRequestOptions::no_options()) => queued.ok(),
    };
    if handle.is_none() && call.withdraw() {
        let fault = session.connection.calls.lost().unwrap_or(Fault::ShutDown);
        return End::NotSent(session.connection.error(fault).to_string());
    }
    let answer = tokio::select! {
        biased;
        answer = &mut answered => answer.ok(),
        give_up = patience.exhausted() => {
            if call.withdraw() {
                return given_up(give_up, false);
            }
            if let Some(handle) = handle {
                tell(handle, patience.why(give_up));
            }
            let late = match give_up {
                GiveUp::Cancelled => tokio::time::timeout(AFTER_CANCEL, &mut answered).await.ok().and_then(Result::ok),
                GiveUp::TimedOut(_) => None,
            };
            match late {
                Some(late) => Some(late),
                None => return given_up(give_up, true),
            }
        }
    };
    match answer {
        Some(Answer::Result(raw)) => End::Result(raw),
        Some(Answer::Error(error)) => End::Error(error),
        Some(Answer::Broken(fault)) => End::Broken(session.connection.error(fault)),
        Some(Answer::NotSent(reason)) => End::NotSent(match session.connection.calls.lost() {
            Some(fault) => session.connection.error(fault).to_string(),
            None => reason,
        }),
        Some(Answer::Lost(fault)) => lost(session, &call, fault),
        None => lost(session, &call, session.connection.calls.lost().unwrap_or(Fault::ShutDown)),
    }
}

fn lost(session: &Session, call: &Call, fault: Fault) -> End {
    let error = session.connection.error(fault);
    if call.withdraw() { End::NotSent(error.to_string()) } else { End::Lost(error) }
}

fn given_up(give_up: GiveUp, sent: bool) -> End {
    match give_up {
        GiveUp::Cancelled => End::Cancelled { sent },
        GiveUp::TimedOut(after) => End::TimedOut { sent, after },
    }
}

/// Sends `notifications/cancelled`. Nobody waits for it: the server may not be reading.
fn tell(handle: RequestHandle<RoleClient>, reason: &'static str) {
    tokio::spawn(async move {
        // A server that does not hear it goes on with the call, which is what is assumed anyway.
        let _ = tokio::time::timeout(NOTICE, handle.cancel(Some(reason.to_owned()))).await;
    });
}

/// What the end of a call that changes something means.
pub(crate) fn outcome(end: End) -> Outcome {
    match end {
        End::Result(raw) => match tool_answer(&raw) {
            ToolAnswer::Value(value) => Outcome::Ok(value),
            ToolAnswer::Failed(words) => Outcome::Failed(format!("{words} (it may have done part)")),
            ToolAnswer::WantsInput => Outcome::Failed(WANTS_INPUT.to_owned()),
            ToolAnswer::NotEnded(why) => {
                Outcome::Unknown(format!("the tool did not say how it ended: {why}"))
            }
            ToolAnswer::Unreadable(why) => Outcome::Unknown(format!(
                "the tool answered that it is done, and the rest cannot be read: {why}"
            )),
        },
        End::Error(error) if error.code.is_some_and(|code| NOT_CARRIED_OUT.contains(&code)) => {
            Outcome::Failed(format!("the server answered with {error}"))
        }
        End::Error(error) => Outcome::Unknown(format!("the server answered with {error}")),
        End::Broken(error) | End::Lost(error) => Outcome::Unknown(error.to_string()),
        End::NotSent(reason) => Outcome::NotSent(reason),
        End::TimedOut { sent: true, after } => {
            Outcome::Unknown(format!("no answer within {}; the server was asked to stop", seconds(after)))
        }
        End::TimedOut { sent: false, after } => {
            Outcome::NotSent(format!("the server did not take it within {}", seconds(after)))
        }
        End::Cancelled { sent: true } => {
            Outcome::Unknown("cancelled while it was under way; the server was asked to stop".to_owned())
        }
        End::Cancelled { sent: false } => Outcome::NotSent("cancelled before it was sent".to_owned()),
    }
}

/// What the end of a read means.
pub(crate) fn value(end: End) -> Result<Value, ReadError> {
    let failed = |words: String| Err(ReadError::Failed(words));
    match end {
        End::Result(raw) => match tool_answer(&raw) {
            ToolAnswer::Value(value) => Ok(value),
            ToolAnswer::Failed(words) => failed(words),
            ToolAnswer::WantsInput => failed(WANTS_INPUT.to_owned()),
            ToolAnswer::NotEnded(why) => failed(format!("the tool did not say how it ended: {why}")),
            ToolAnswer::Unreadable(why) => failed(format!("the tool's answer cannot be read: {why}")),
        },
        End::Error(error) => failed(format!("the server answered with {error}")),
        End::Broken(error) => failed(error.to_string()),
        End::NotSent(reason) => Err(ReadError::Transport(reason)),
        End::Lost(error) => Err(ReadError::Transport(error.to_string())),
        End::TimedOut { after, .. } => {
            Err(ReadError::TimedOut(u64::try_from(after.as_millis()).unwrap_or(u64::MAX)))
        }
        End::Cancelled { .. } => Err(ReadError::Cancelled),
    }
}

const WANTS_INPUT: &str = "the tool did nothing yet: it asks for more input, which plangate does not give";
