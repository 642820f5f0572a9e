//! Reads a pipe that a child writes, until the pipe or the child ends.

use std::io::ErrorKind;
use std::os::fd::OwnedFd;

use tokio::net::unix::pipe::Receiver;
use tokio::sync::watch;

use crate::error::Exit;

/// Bytes of one read.
const CHUNK: usize = 64 * 1024;

/// Most bytes that are read after the child has ended: what it left fits into a pipe; more comes from another writer.
const LEFT_BEHIND: usize = 1024 * 1024;

/// A pipe that ends when nobody holds its other end, or when the child has ended and what it wrote is read. A
/// grandchild that inherited the other end keeps the pipe open, not the pump running.
#[derive(Debug)]
pub(crate) struct Pump {
    pipe: Receiver,
    exit: watch::Receiver<Option<Exit>>,
    buffer: Vec<u8>,
    left_behind: usize,
    end: Option<End>,
}

/// Why a pump ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Nobody holds the other end.
    Closed,
    /// The child has ended; somebody else holds the other end.
    StillHeld,
}

impl Pump {
    /// Needs a runtime with I/O.
    pub(crate) fn new(pipe: OwnedFd, exit: watch::Receiver<Option<Exit>>) -> std::io::Result<Pump> {
        let pipe = Receiver::from_owned_fd(pipe)?;
        Ok(Pump { pipe, exit, buffer: vec![0; CHUNK], left_behind: LEFT_BEHIND, end: None })
    }

    /// The next bytes, or nothing at the end. May be dropped while it waits; no byte is lost.
    pub(crate) async fn bytes(&mut self) -> Option<&[u8]> {
        while self.end.is_none() {
            let ended = self.exit.borrow().is_some();
            let read = if ended {
                self.what_is_there()
            } else {
                tokio::select! {
                    ready = self.pipe.readable() => ready.and_then(|()| self.pipe.try_read(&mut self.buffer)),
                    // Only a thread that panicked lets go without a word; then nobody will ever say.
                    exit = self.exit.wait_for(Option::is_some) => match exit {
                        Ok(_) => continue,
                        Err(_) => Ok(0),
                    },
                }
            };
            match read {
                Ok(0) => self.end = Some(End::Closed),
                Ok(n) => return self.buffer.get(..n),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    self.end = ended.then_some(End::StillHeld);
                }
                Err(_) => self.end = Some(End::Closed),
            }
        }
        None
    }

    /// Why it ended; nothing while it has not.
    pub(crate) fn end(&self) -> Option<End> {
        self.end
    }

    /// Reads past the runtime, which may not know yet that there is something: what the child wrote before it ended is
    /// in the pipe by now.
    fn what_is_there(&mut self) -> std::io::Result<usize> {
        if self.left_behind == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        let n = rustix::io::read(&self.pipe, self.buffer.as_mut_slice())?;
        self.left_behind = self.left_behind.saturating_sub(n);
        Ok(n)
    }
}
