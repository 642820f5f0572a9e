//! Writes frames to a server, one after the other, without ever blocking a thread.

use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rmcp::model::JsonObject;
use rustix::event::{PollFd, PollFlags, Timespec};
use tokio::io::Interest;
use tokio::net::unix::pipe::Sender;
use tokio::sync::{mpsc, oneshot};

use super::calls::Call;
use super::frame::call_frame;
use crate::error::Fault;

/// A frame in the queue, and who wants to know when it has left.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) frame: Frame,
    pub(crate) sent: oneshot::Sender<Result<(), SendError>>,
}

/// What is to be written.
#[derive(Debug)]
pub(crate) enum Frame {
    /// Bytes that the protocol library wrote, and the request that they are, if we wait for its raw answer.
    Ready(Vec<u8>, Option<Arc<Call>>),
    /// A tool call, whose bytes are made at the last moment.
    Call { id: i64, meta: JsonObject, call: Arc<Call> },
}

/// A frame was not written, or not to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct SendError(pub(crate) String);

impl Frame {
    /// Says to who waits for the answer that nothing has left and nothing will.
    pub(crate) fn refuse(&self, reason: &str) {
        if let Frame::Ready(_, Some(call)) | Frame::Call { call, .. } = self {
            // The error is the call's answer; there is nobody else to tell.
            let _ = call.send(|_| Err::<(), _>(reason.to_owned()));
        }
    }
}

/// Writes what is queued until the queue ends (nothing) or the pipe does (why). Closes the pipe.
pub(crate) async fn write(stdin: OwnedFd, mut queue: mpsc::UnboundedReceiver<Outgoing>) -> Option<Fault> {
    let pipe = match Sender::from_owned_fd(stdin) {
        Ok(pipe) => pipe,
        Err(e) => return Some(Fault::StdinClosed(e.to_string())),
    };
    loop {
        let Outgoing { frame, sent } = tokio::select! {
            next = queue.recv() => match next {
                Some(next) => next,
                None => return None,
            },
            // Nobody holds the reading end any more: what waits for an answer need not wait for its deadline.
            gone = pipe.ready(Interest::ERROR) => {
                let reason = gone.err().unwrap_or_else(|| ErrorKind::BrokenPipe.into()).to_string();
                return Some(Fault::StdinClosed(reason));
            }
        };
        let written = write_one(&pipe, frame).await;
        let broken = match &written {
            Err(Unwritten::Pipe(reason)) => Some(Fault::StdinClosed(reason.clone())),
            _ => None,
        };
        // Who queued the frame may have gone.
        let _ = sent.send(
            written.map_err(|(Unwritten::Pipe(reason) | Unwritten::Refused(reason))| SendError(reason)),
        );
        if broken.is_some() {
            return broken;
        }
    }
}

/// Why a frame was not written.
enum Unwritten {
    /// The pipe is of no use any more.
    Pipe(String),
    /// The frame itself may not go out; the pipe is as it was.
    Refused(String),
}

/// The beginning of a frame is written under the lock of its call, so that a call is either withdrawn before its first
/// byte or not at all; the rest follows as the server reads. A frame that was begun is written to its end.
async fn write_one(pipe: &Sender, frame: Frame) -> Result<(), Unwritten> {
    if let Err(e) = takes_bytes(pipe).await {
        frame.refuse(&no_byte(&e));
        return Err(Unwritten::Pipe(e.to_string()));
    }
    let begin = |bytes: Vec<u8>| match pipe.try_write(&bytes) {
        Ok(n) => Ok((bytes, n)),
        Err(e) => Err(no_byte(&e)),
    };
    let (bytes, sent) = match frame {
        Frame::Ready(bytes, None) => begin(bytes),
        Frame::Ready(bytes, Some(call)) => call.send(|_| begin(bytes)),
        Frame::Call { id, meta, call } => call.send(|spend| {
            let spend = spend.ok_or("it holds no call")?;
            begin(call_frame(id, meta, &spend()?)?)
        }),
    }
    .map_err(Unwritten::Refused)?;
    let mut rest = bytes.get(sent..).unwrap_or_default();
    while !rest.is_empty() {
        let wrote = match pipe.writable().await {
            Ok(()) => pipe.try_write(rest),
            Err(e) => Err(e),
        };
        match wrote {
            Ok(n) => rest = rest.get(n..).unwrap_or_default(),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(e) => return Err(Unwritten::Pipe(e.to_string())),
        }
    }
    Ok(())
}

fn no_byte(e: &std::io::Error) -> String {
    format!("the server takes nothing: {e}")
}

/// Waits until the pipe takes at least one byte. The runtime's own memory of that may be old, so the system is asked:
/// after this returns, the next write takes something, because nobody else writes.
async fn takes_bytes(pipe: &Sender) -> std::io::Result<()> {
    loop {
        pipe.writable().await?;
        let asked = pipe.try_io(|| {
            let mut fds = [PollFd::new(pipe, PollFlags::OUT)];
            rustix::event::poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
            let [fd] = &fds;
            let seen = fd.revents();
            if seen.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL) {
                Err(ErrorKind::BrokenPipe.into())
            } else if seen.contains(PollFlags::OUT) {
                Ok(())
            } else {
                // Makes the runtime forget, and wait for the system's word.
                Err(ErrorKind::WouldBlock.into())
            }
        });
        match asked {
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            other => return other,
        }
    }
}
