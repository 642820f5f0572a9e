//! Threads that tell webhooks while something else goes on: one for each, so that none waits for another's receiver.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use plangate_approval::Storage;

use crate::line::{Line, NotifyError, Turn};
use crate::webhook::Webhook;

/// How often a thread looks for what happened.
const LOOK: Duration = Duration::from_millis(250);

/// Threads that tell webhooks what happens in a store. Nothing waits for them but [`Courier::finish`].
#[derive(Debug)]
pub struct Courier {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    bell: Condvar,
}

#[derive(Debug)]
struct State {
    stop: Stop,
    /// How many threads are left.
    left: usize,
    errors: Vec<NotifyError>,
}

/// Whether threads are to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    No,
    /// Once they have told what there is.
    Soon,
    /// After the attempt that they are making.
    Now,
}

impl Courier {
    /// Begins to tell these webhooks, with their files in this folder. What happened before a webhook was first met is not
    /// told; so this comes before whatever is to be told.
    pub fn start<S: Storage + 'static>(
        store: &Arc<S>,
        webhooks: Vec<Webhook>,
        folder: &Path,
    ) -> Result<Courier, NotifyError> {
        let state = State { stop: Stop::No, left: 0, errors: Vec::new() };
        let shared = Arc::new(Shared { state: Mutex::new(state), bell: Condvar::new() });
        let courier = Courier { shared };
        for webhook in webhooks {
            let line = Line::open(&**store, webhook, folder)?;
            courier.shared.lock().left += 1;
            let (store, shared) = (Arc::clone(store), Arc::clone(&courier.shared));
            let name = format!("webhook-{}", line.webhook().address().name());
            let started = thread::Builder::new().name(name).spawn(move || {
                let ended = Ended(&shared);
                tell(&*store, line, &shared);
                drop(ended);
            });
            if let Err(e) = started {
                courier.shared.lock().left -= 1;
                return Err(NotifyError::Thread(e.to_string()));
            }
        }
        Ok(courier)
    }

    /// What kept threads from telling since this was last asked, other than their receivers.
    pub fn errors(&self) -> Vec<NotifyError> {
        std::mem::take(&mut self.shared.lock().errors)
    }

    /// Lets the threads tell what there is, but waits no longer than this. Whatever is left is told by the next process.
    /// Gives what kept a thread from telling, other than its receiver.
    pub fn finish(self, bound: Duration) -> Vec<NotifyError> {
        let until = Instant::now() + bound;
        let mut state = self.shared.lock();
        state.stop = Stop::Soon;
        self.shared.bell.notify_all();
        while state.left > 0 {
            let Some(wait) = until.checked_duration_since(Instant::now()).filter(|wait| !wait.is_zero())
            else {
                break;
            };
            let waited = self.shared.bell.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        std::mem::take(&mut state.errors)
    }
}

impl Drop for Courier {
    fn drop(&mut self) {
        self.shared.lock().stop = Stop::Now;
        self.shared.bell.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a thread as ended, however it ends.
struct Ended<'a>(&'a Shared);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.lock().left -= 1;
        self.0.bell.notify_all();
    }
}

fn tell<S: Storage + ?Sized>(store: &S, mut line: Line, shared: &Shared) {
    loop {
        // Read first: what happened before the threads were asked to end is told.
        let stop = shared.lock().stop;
        if stop == Stop::Now {
            return;
        }
        match line.turn(store, store.now(), chance()) {
            Ok(Turn::Took(_) | Turn::GaveUp(_)) => continue,
            Ok(Turn::Failed(..) | Turn::Waits(_) | Turn::Idle | Turn::Elsewhere) => {}
            Err(error) => {
                let mut state = shared.lock();
                if !state.errors.contains(&error) {
                    state.errors.push(error);
                }
            }
        }
        if stop == Stop::Soon {
            return;
        }
        let state = shared.lock();
        if state.stop == Stop::No {
            let waited = shared.bell.wait_timeout(state, LOOK);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }
}

fn chance() -> u8 {
    let mut byte = [0];
    // Without random bits the waits are not spread, and nothing else.
    if getrandom::fill(&mut byte).is_err() {
        return u8::MAX;
    }
    byte[0]
}
