//! Reads what a server writes: answers go to their calls as they stand, everything else to the protocol library.

use std::sync::Arc;

use rmcp::model::{RequestId, ServerJsonRpcMessage, ServerResult};
use tokio::sync::mpsc;

use super::calls::{Answer, Calls};
use super::frame::{Incoming, beginning, incoming, trimmed};
use super::lines::{Line, Lines};
use super::pump::{End, Pump};
use super::tail::Tail;
use crate::error::Fault;

/// The reading side of a connection.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) calls: Arc<Calls>,
    pub(crate) tail: Arc<Tail>,
    pub(crate) limit: usize,
    /// To the protocol library.
    pub(crate) inbound: mpsc::Sender<ServerJsonRpcMessage>,
}

impl Reader {
    /// Reads until the pipe or the child ends. Gives back the way to the protocol library, which takes its closing for
    /// the end of the session: that must not come before the reason is noted.
    pub(crate) async fn read(self, mut stdout: Pump) -> (Option<End>, mpsc::Sender<ServerJsonRpcMessage>) {
        let mut lines = Lines::new(self.limit);
        while let Some(bytes) = stdout.bytes().await {
            for line in lines.push(bytes) {
                self.take(line).await;
            }
        }
        match lines.finish() {
            // Half a message answers nothing: the server ended while it wrote.
            Some(Line::Whole(line)) if matches!(incoming(trimmed(&line)), Incoming::Broken(..)) => {
                self.tail.heard_noise(&line);
            }
            Some(line) => self.take(line).await,
            None => {}
        }
        (stdout.end(), self.inbound)
    }

    async fn take(&self, line: Line) {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong(start) => {
                self.tail.heard_noise(&start);
                let fault = Fault::TooLong(self.limit);
                return self.unreadable(beginning(trimmed(&start)), &fault).await;
            }
        };
        let line = trimmed(&line);
        match incoming(line) {
            Incoming::Blank => {}
            Incoming::Noise => self.tail.heard_noise(line),
            Incoming::Result(Some(id), raw) => {
                if self.calls.answer(id, Answer::Result(raw.to_owned())) {
                    self.closed(id).await;
                } else {
                    self.pass_on(line).await;
                }
            }
            // Without a number an error is about the one request that is open, if it is about one at all.
            Incoming::Error(id, error) => match id.or_else(|| self.calls.only()) {
                Some(id) if self.calls.answer(id, Answer::Error(error)) => self.closed(id).await,
                _ => self.pass_on(line).await,
            },
            Incoming::Result(None, _) | Incoming::Other => self.pass_on(line).await,
            // Without a number it is a stray brace of a log, or an answer spread over lines: the next lines say.
            Incoming::Broken(None, _) => self.tail.heard_noise(line),
            Incoming::Broken(Some(id), reason) => {
                self.tail.heard_noise(line);
                if self.calls.answer(id, Answer::Broken(Fault::Garbled(reason))) {
                    self.closed(id).await;
                }
            }
        }
    }

    /// An answer that cannot be read ends the request that it names; where it names none, every request that it may be
    /// the answer to: none of them can count on another.
    async fn unreadable(&self, id: Option<i64>, fault: &Fault) {
        let broken = || Answer::Broken(fault.clone());
        let ended = match id {
            Some(id) => self.calls.answer(id, broken()).then_some(id).into_iter().collect(),
            None => self.calls.answer_all(broken),
        };
        for id in ended {
            self.closed(id).await;
        }
    }

    /// Tells the protocol library that a request is over; its answer went another way.
    async fn closed(&self, id: i64) {
        self.forward(ServerJsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(id))).await;
    }

    async fn pass_on(&self, line: &[u8]) {
        match serde_json::from_slice(line) {
            Ok(message) => self.forward(message).await,
            Err(_) => self.tail.heard_noise(line),
        }
    }

    async fn forward(&self, message: ServerJsonRpcMessage) {
        // The session may be over; the pipe is read on, so that the server never has to wait for a reader.
        let _ = self.inbound.send(message).await;
    }
}
