//! Watches over a server's process and sees it to its end.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ServerJsonRpcMessage;
use rustix::process::Signal;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use super::calls::Calls;
use super::process::Process;
use super::pump::End;
use crate::error::Fault;

/// How long to wait for the exit and the last words of a server that is ending, so that the error can hold them.
const A_MOMENT: Duration = Duration::from_millis(500);

/// How long processes that outlive the server have between SIGTERM and SIGKILL.
const LEFTOVERS: Duration = Duration::from_millis(200);

/// Who watches over the process and sees it to its end.
pub(super) struct Supervisor {
    pub(super) process: Process,
    pub(super) reader: JoinHandle<(Option<End>, mpsc::Sender<ServerJsonRpcMessage>)>,
    pub(super) writer: JoinHandle<Option<Fault>>,
    pub(super) stderr: JoinHandle<Option<End>>,
    pub(super) calls: Arc<Calls>,
    pub(super) grace: Duration,
}

impl Supervisor {
    /// Waits until the server ends, or is to end, and sees to it that nothing of it is left.
    pub(super) async fn run(mut self, stop: &Notify) {
        let mut read = None;
        let fault = tokio::select! {
            // The end of the reader comes first: it says most.
            biased;
            end = &mut self.reader => {
                read = end.ok();
                self.how_it_ended(Fault::StdoutClosed).await
            }
            broken = &mut self.writer => match broken.ok().flatten() {
                Some(fault) => self.how_it_ended(fault).await,
                None => Fault::ShutDown,
            },
            () = stop.notified() => Fault::ShutDown,
        };
        let mut heard = None;
        if read.is_some() {
            // No answer can come any more. What it said last is worth a moment.
            heard = within_a_moment(&mut self.stderr).await.flatten();
            self.calls.lose(&fault);
        }
        // Closes standard input, which is how a server is told to end. Until it has, calls may still be answered.
        if !self.writer.is_finished() {
            self.writer.abort();
            // The error says that it was aborted.
            let _ = (&mut self.writer).await;
        }
        for signal in [Signal::TERM, Signal::KILL] {
            if self.process.exited_within(self.grace).await.is_none() {
                self.process.signal(signal);
            }
        }
        self.process.exited_within(self.grace).await;
        // Both pumps come to what the child wrote last, and end.
        if read.is_none() {
            read = within_a_moment(&mut self.reader).await;
        }
        if heard.is_none() && !self.stderr.is_finished() {
            heard = within_a_moment(&mut self.stderr).await.flatten();
        }
        self.calls.lose(&fault);
        if [read.and_then(|(end, _)| end), heard].contains(&Some(End::StillHeld)) {
            // Somebody whom the server started holds its pipes.
            self.process.signal(Signal::TERM);
            tokio::time::sleep(LEFTOVERS).await;
        }
        self.process.finish().await;
    }

    /// The exit, if the process is ending by itself; else this fault.
    async fn how_it_ended(&mut self, otherwise: Fault) -> Fault {
        self.process.exited_within(A_MOMENT).await.map_or(otherwise, Fault::Exited)
    }
}

/// What a task gives, if it ends within a moment. Not to be asked again after it gave it.
async fn within_a_moment<T>(task: &mut JoinHandle<T>) -> Option<T> {
    tokio::time::timeout(A_MOMENT, task).await.ok()?.ok()
}
