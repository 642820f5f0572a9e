//! Requests whose answer we want as the server wrote it, and what is known of each at every moment.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::{oneshot, watch};

use super::frame::{RpcError, ToolCall};
use crate::error::Fault;

/// Gives the call right before its first byte goes out, or says why it may not go out any more.
pub(crate) type Spend = Box<dyn FnOnce() -> Result<ToolCall, String> + Send>;

/// What came back for a request.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The result, as the server wrote it.
    Result(Box<RawValue>),
    /// The server answered with an error.
    Error(RpcError),
    /// The server answered, and its answer cannot be read.
    Broken(Fault),
    /// No byte of the request left this process; why.
    NotSent(String),
    /// The connection is lost; whether the request had left is another question ([`Call::withdraw`]).
    Lost(Fault),
}

/// One request, shared by who waits for its answer, the writer and the reader.
pub(crate) struct Call {
    stage: Mutex<Stage>,
    answer: Mutex<Option<oneshot::Sender<Answer>>>,
}

/// How far a request got. Only [`Call::send`] and [`Call::withdraw`] move it, under one lock, so that a call that was
/// withdrawn cannot leave, and a call that left cannot be withdrawn.
enum Stage {
    /// Nothing has left. A call holds what gives its bytes; a request that the protocol library writes holds nothing.
    Waiting(Option<Spend>),
    /// Its first byte has left.
    Left,
    /// Nothing has left and nothing will.
    Withdrawn,
}

impl Call {
    /// A call, and where its answer will come.
    pub(crate) fn new(spend: Option<Spend>) -> (Arc<Call>, oneshot::Receiver<Answer>) {
        let (answer, answered) = oneshot::channel();
        let stage = Mutex::new(Stage::Waiting(spend));
        (Arc::new(Call { stage, answer: Mutex::new(Some(answer)) }), answered)
    }

    /// Whether nothing has left, and from now on nothing will.
    pub(crate) fn withdraw(&self) -> bool {
        let mut stage = lock(&self.stage);
        if matches!(*stage, Stage::Left) {
            return false;
        }
        *stage = Stage::Withdrawn;
        true
    }

    /// Hands the call to `write`, which puts its first bytes on the way and says how it went. Nothing is done to a call
    /// that was withdrawn. While this runs the call cannot be withdrawn.
    pub(crate) fn send<T>(
        &self,
        write: impl FnOnce(Option<Spend>) -> Result<T, String>,
    ) -> Result<T, String> {
        let mut stage = lock(&self.stage);
        let spend = match std::mem::replace(&mut *stage, Stage::Withdrawn) {
            Stage::Waiting(spend) => spend,
            Stage::Withdrawn => return Err("it was withdrawn".to_owned()),
            Stage::Left => {
                *stage = Stage::Left;
                return Err("it was sent before".to_owned());
            }
        };
        let written = write(spend);
        match &written {
            Ok(_) => *stage = Stage::Left,
            Err(reason) => self.answer(Answer::NotSent(reason.clone())),
        }
        written
    }

    /// Gives the answer to who waits for it. The first one counts.
    pub(crate) fn answer(&self, answer: Answer) {
        if let Some(waiting) = lock(&self.answer).take() {
            // Nobody waits any more: then nobody misses it.
            let _ = waiting.send(answer);
        }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match *lock(&self.stage) {
            Stage::Waiting(_) => "waiting",
            Stage::Left => "left",
            Stage::Withdrawn => "withdrawn",
        };
        f.debug_struct("Call").field("stage", &stage).finish_non_exhaustive()
    }
}

/// The requests of one connection that have no answer yet, by their number, and why the connection is lost, once it is.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    open: Mutex<BTreeMap<i64, Arc<Call>>>,
    lost: watch::Sender<Option<Fault>>,
}

impl Calls {
    /// Notes a request, before it is queued. On a lost connection it is answered at once.
    pub(crate) fn open(&self, id: i64, call: &Arc<Call>) {
        let mut open = lock(&self.open);
        match self.lost() {
            Some(fault) => call.answer(Answer::Lost(fault)),
            None => {
                open.insert(id, Arc::clone(call));
            }
        }
    }

    /// Answers a request. False: no such request is open.
    pub(crate) fn answer(&self, id: i64, answer: Answer) -> bool {
        let call = lock(&self.open).remove(&id);
        call.map(|call| call.answer(answer)).is_some()
    }

    /// The one request that is open, if there is exactly one: what an answer without a number is about.
    pub(crate) fn only(&self) -> Option<i64> {
        match lock(&self.open).keys().take(2).collect::<Vec<_>>().as_slice() {
            [one] => Some(**one),
            _ => None,
        }
    }

    /// Answers every request that is open, and says which they were.
    pub(crate) fn answer_all(&self, answer: impl Fn() -> Answer) -> Vec<i64> {
        let calls = std::mem::take(&mut *lock(&self.open));
        calls.into_iter().map(|(id, call)| (call.answer(answer()), id).1).collect()
    }

    /// Ends every open request, and every later one, because of this. The first reason counts.
    pub(crate) fn lose(&self, fault: &Fault) {
        {
            // Under the lock of `open`, so that no request slips in between.
            let _open = lock(&self.open);
            self.lost.send_if_modified(|lost| {
                let first = lost.is_none();
                lost.get_or_insert_with(|| fault.clone());
                first
            });
        }
        self.answer_all(|| Answer::Lost(fault.clone()));
    }

    /// Why the connection is lost, if it is.
    pub(crate) fn lost(&self) -> Option<Fault> {
        self.lost.borrow().clone()
    }

    /// Waits until the connection is lost, at most this long, and says why.
    pub(crate) async fn lost_within(&self, limit: Duration) -> Option<Fault> {
        let mut lost = self.lost.subscribe();
        let waited = tokio::time::timeout(limit, lost.wait_for(Option::is_some)).await;
        waited.ok()?.ok()?.clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
    use super::*;

    fn waiting() -> (Arc<Call>, oneshot::Receiver<Answer>) {
        Call::new(Some(Box::new(|| Ok(ToolCall { tool: "t".into(), args: b"{}".to_vec(), key: None }))))
    }

    #[test]
    fn what_was_withdrawn_never_leaves() {
        let (call, _) = waiting();
        assert!(call.withdraw());
        let mut ran = false;
        assert!(call.send(|_| (ran = true, Ok::<(), String>(())).1).is_err());
        assert!(!ran && call.withdraw());
    }

    #[test]
    fn what_left_cannot_be_withdrawn_or_leave_again() {
        let (call, _) = waiting();
        assert_eq!(call.send(|spend| spend.unwrap()().map(|c| c.tool)), Ok("t".to_owned()));
        assert!(!call.withdraw());
        assert!(call.send(|_| Ok::<(), String>(())).is_err());
        assert!(!call.withdraw());
    }

    #[test]
    fn a_refusal_before_the_first_byte_is_the_answer() {
        let (call, mut answered) = waiting();
        assert!(call.send(|_| Err::<(), _>("lapsed".to_owned())).is_err());
        assert!(matches!(answered.try_recv(), Ok(Answer::NotSent(why)) if why == "lapsed"));
        assert!(call.withdraw());
    }

    #[test]
    fn sending_and_withdrawing_race_to_one_result() {
        for _ in 0..500 {
            let (call, _) = waiting();
            let barrier = std::sync::Barrier::new(2);
            let (sent, withdrawn) = std::thread::scope(|scope| {
                let sender = scope.spawn(|| (barrier.wait(), call.send(|_| Ok::<(), String>(()))).1.is_ok());
                let withdrawer = scope.spawn(|| (barrier.wait(), call.withdraw()).1);
                (sender.join().unwrap(), withdrawer.join().unwrap())
            });
            assert_ne!(sent, withdrawn);
        }
    }

    #[test]
    fn answers_find_their_request_once() {
        let calls = Calls::default();
        let (one, mut first) = Call::new(None);
        let (two, mut second) = Call::new(None);
        calls.open(1, &one);
        assert_eq!(calls.only(), Some(1));
        calls.open(2, &two);
        assert_eq!(calls.only(), None);
        let error = || Answer::Error(RpcError { code: Some(1), message: String::new() });
        assert!(calls.answer(2, error()) && !calls.answer(2, error()) && !calls.answer(9, error()));
        assert!(matches!(second.try_recv(), Ok(Answer::Error(_))));
        assert!(first.try_recv().is_err());
    }

    #[test]
    fn a_lost_connection_ends_what_is_open_and_what_comes_later() {
        let calls = Calls::default();
        let (one, mut first) = Call::new(None);
        calls.open(1, &one);
        calls.lose(&Fault::StdoutClosed);
        calls.lose(&Fault::ShutDown);
        let (two, mut second) = Call::new(None);
        calls.open(2, &two);
        for answered in [&mut first, &mut second] {
            assert!(matches!(answered.try_recv(), Ok(Answer::Lost(Fault::StdoutClosed))));
        }
        assert_eq!(calls.lost(), Some(Fault::StdoutClosed));
    }
}
