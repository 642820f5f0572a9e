//! The threads of one run: the only place that starts any.
//!
//! Threads are reused, and their number grows while calls block. As long as jobs are short, the threads that are there
//! drain the queue: another would only stand in their way. Whether they do is [watched](Pool::watch) by somebody who has
//! nothing else to do; where jobs wait too long, it sends threads, woken or started, as fast as it can. So calls that block
//! have a thread each a moment after they were handed in. All threads have ended when the pool is [closed](Pool::close),
//! except those still inside a call that did not answer in time.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Something to be done on a thread of the pool, and what that thread does next.
pub(crate) struct Job(Box<dyn FnOnce() -> Option<Job> + Send>);

impl Job {
    pub(crate) fn new(run: impl FnOnce() -> Option<Job> + Send + 'static) -> Job {
        Job(Box::new(run))
    }
}

/// Whom the pool tells.
pub(crate) trait Told: Send + Sync {
    /// The text of a panic that no job caught.
    fn panicked(&self, text: String);

    /// Jobs wait: somebody is to [watch](Pool::watch) from now on.
    fn waiting(&self);
}

pub(crate) struct Pool(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Rung once for each thread that is called.
    called: Condvar,
    /// Rung when the last thread has gone.
    gone: Condvar,
    /// How many jobs may still come, at most.
    to_come: AtomicUsize,
    /// Calls that did not answer in time and still hold their thread.
    abandoned: AtomicUsize,
    told: Box<dyn Told>,
}

struct State {
    queue: VecDeque<Job>,
    threads: Vec<JoinHandle<()>>,
    /// Threads that may be.
    most: usize,
    alive: usize,
    /// Threads that sleep, but for those that were called.
    idle: usize,
    /// Sleepers that were called and have not woken yet.
    calls: usize,
    /// Threads that were called or started and are not yet at the queue.
    coming: usize,
    /// Jobs that were taken.
    taken: u64,
    /// Threads that could not be started.
    failed: u64,
    watch: Watch,
    closed: bool,
}

/// Who looks at how long jobs wait.
enum Watch {
    /// Nobody can.
    Away,
    /// Nobody has to.
    Nobody,
    /// Somebody was told to.
    Asked,
    /// Somebody does: when it looked last, and how many jobs were taken by then.
    Since(Instant, u64),
}

/// How a job that waits gets a thread.
enum Help {
    /// One comes already, or all are there, or somebody watches.
    Nobody,
    /// Somebody is to watch whether those that are there get to it soon.
    Watcher,
    /// A sleeper is called.
    Sleeper,
    /// One is started.
    Starter,
}

/// A job that takes longer than this is worth a thread of its own: about what it costs to send one.
const SHORT: Duration = Duration::from_micros(20);

/// How many threads can run at once. Asking the system takes longer than a short run.
static CORES: LazyLock<usize> = LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));

/// How often to look at how long jobs wait.
pub(crate) const TICK: Duration = Duration::from_micros(50);

/// How soon to try again where a thread could not be started.
const RETRY: Duration = Duration::from_millis(10);

impl State {
    /// Whom a waiting job needs. The caller sees to it once it has let go of the lock.
    fn help(&mut self) -> Help {
        if self.queue.is_empty() || self.coming > 0 || !self.has_room() {
            Help::Nobody
        } else if self.at_work() == 0 || matches!(self.watch, Watch::Away) {
            self.send()
        } else {
            self.ask()
        }
    }

    /// Somebody is to watch, if nobody does and somebody can.
    fn ask(&mut self) -> Help {
        if !matches!(self.watch, Watch::Nobody) {
            return Help::Nobody;
        }
        self.watch = Watch::Asked;
        Help::Watcher
    }

    /// Whether another thread can be sent.
    fn has_room(&self) -> bool {
        self.idle > 0 || self.alive < self.most
    }

    /// Another thread, if there may be one more.
    fn send(&mut self) -> Help {
        if self.idle > 0 {
            self.idle -= 1;
            self.calls += 1;
            self.coming += 1;
            Help::Sleeper
        } else if self.alive < self.most {
            self.alive += 1;
            self.coming += 1;
            Help::Starter
        } else {
            Help::Nobody
        }
    }

    fn at_work(&self) -> usize {
        self.alive - self.idle - self.coming
    }

    /// How many more threads the waiting jobs are worth, after so many were taken in this time: as many as jobs wait if
    /// none was, since then all threads are inside calls that block; one, as long as there is a core for it, if those
    /// that were taken were not short.
    fn worth(&self, taken: u64, time: Duration, cores: usize) -> usize {
        if taken == 0 {
            return self.queue.len();
        }
        let many = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let (at_work, jobs) = (self.at_work(), usize::try_from(taken).unwrap_or(usize::MAX));
        let long = time.saturating_mul(many(at_work)) > SHORT.saturating_mul(many(jobs));
        usize::from(long && at_work < cores)
    }
}

impl Pool {
    /// No thread yet, at most so many at once.
    pub(crate) fn new(most: usize, told: impl Told + 'static) -> Pool {
        let state = State {
            queue: VecDeque::new(),
            threads: Vec::new(),
            most: most.max(1),
            alive: 0,
            idle: 0,
            calls: 0,
            coming: 0,
            taken: 0,
            failed: 0,
            watch: Watch::Nobody,
            closed: false,
        };
        Pool(Arc::new(Shared {
            state: Mutex::new(state),
            called: Condvar::new(),
            gone: Condvar::new(),
            to_come: AtomicUsize::new(usize::MAX),
            abandoned: AtomicUsize::new(0),
            told: Box::new(told),
        }))
    }

    /// Runs a job on some thread, soon. The error: there is no thread, and none can be started; no job that waits is run.
    pub(crate) fn submit(&self, job: Job) -> Result<(), String> {
        let mut state = self.0.state();
        if state.closed {
            return Err("the run is over".to_owned());
        }
        state.queue.push_back(job);
        let help = state.help();
        drop(state);
        Shared::see_to(&self.0, &help)
    }

    /// So many jobs may still come, at most: a thread that has nothing to do and is one too many ends.
    pub(crate) fn expect(&self, jobs: usize) {
        self.0.to_come.store(jobs, Relaxed);
    }

    /// Looks at how long jobs wait, and sends threads where that is too long. To be called again after the time that it
    /// says, and once [jobs wait](Told::waiting).
    pub(crate) fn watch(&self) -> Option<Duration> {
        let mut state = self.0.state();
        // Who makes room for another thread asks again.
        if state.queue.is_empty() || state.closed || !(state.has_room() || state.coming > 0) {
            state.watch = Watch::Nobody;
            return None;
        }
        let now = Instant::now();
        let (since, seen) = match state.watch {
            Watch::Since(since, taken) if state.coming == 0 => (since, taken),
            // Who is on its way looks for itself.
            _ => (now, state.taken),
        };
        let time = now.duration_since(since);
        if time < TICK {
            state.watch = Watch::Since(since, seen);
            return Some(TICK);
        }
        let most = state.worth(state.taken - seen, time, *CORES);
        let begun = state.taken;
        let mut sent = 0;
        // Those that were sent take one each. Whoever takes more comes back for it: then they are enough.
        while sent < most && state.coming < state.queue.len() && state.taken - begun <= sent as u64 {
            let help = state.send();
            if matches!(help, Help::Nobody) {
                break;
            }
            sent += 1;
            let failed = state.failed;
            drop(state);
            // A thread that cannot be started is no fault while another runs.
            drop(Shared::see_to(&self.0, &help));
            state = self.0.state();
            if state.failed > failed {
                state.watch = Watch::Since(Instant::now(), state.taken);
                return Some(RETRY);
            }
        }
        state.watch = Watch::Since(Instant::now(), state.taken);
        Some(TICK)
    }

    /// Nobody can watch until the next [`watch`](Pool::watch): threads are sent as long as jobs wait.
    pub(crate) fn unwatched(&self) {
        let mut state = self.0.state();
        state.watch = Watch::Away;
        self.help(state);
    }

    /// Whoever watches may be held up from here on: the same, if jobs wait by now.
    pub(crate) fn held_up(&self) {
        let mut state = self.0.state();
        if !state.queue.is_empty() {
            state.watch = Watch::Away;
            self.help(state);
        }
    }

    fn help(&self, mut state: MutexGuard<'_, State>) {
        let help = state.help();
        drop(state);
        // A thread that cannot be started is no fault while another runs.
        drop(Shared::see_to(&self.0, &help));
    }

    /// A call did not answer in time: its thread no longer counts. The mark is given back when the call returns.
    pub(crate) fn abandon(&self) -> Abandoned {
        let mut state = self.0.state();
        state.most += 1;
        self.0.abandoned.fetch_add(1, Relaxed);
        // There may be room for a job that waits.
        self.help(state);
        Abandoned(Arc::clone(&self.0))
    }

    /// How many such calls have not returned.
    pub(crate) fn abandoned(&self) -> usize {
        self.0.abandoned.load(Relaxed)
    }

    /// Takes no more jobs, waits for the threads, and says how many are still inside a call after `grace`.
    pub(crate) fn close(&self, grace: Duration) -> usize {
        let until = Instant::now() + grace;
        let mut state = self.0.state();
        state.closed = true;
        self.0.called.notify_all();
        while state.alive > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.0.gone.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let (none, threads) = (state.alive == 0, std::mem::take(&mut state.threads));
        drop(state);
        let mut left = 0;
        for thread in threads {
            // Whoever is no longer alive is at its last instructions.
            if none || thread.is_finished() {
                // A panic of a job was told already.
                drop(thread.join());
            } else {
                left += 1;
            }
        }
        left
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn see_to(shared: &Arc<Shared>, help: &Help) -> Result<(), String> {
        match help {
            Help::Nobody => Ok(()),
            Help::Watcher => {
                shared.told.waiting();
                Ok(())
            }
            Help::Sleeper => {
                shared.called.notify_one();
                Ok(())
            }
            Help::Starter => Shared::start(shared),
        }
    }

    fn start(shared: &Arc<Shared>) -> Result<(), String> {
        let own = Arc::clone(shared);
        let started = spawn(move || Shared::work(&own));
        let mut state = shared.state();
        match started {
            Ok(thread) => {
                state.threads.push(thread);
                Ok(())
            }
            Err(error) => {
                state.coming -= 1;
                state.alive -= 1;
                state.failed += 1;
                if state.alive == 0 {
                    // They are given up with the error; what they hold may come back to this lock.
                    let given_up = std::mem::take(&mut state.queue);
                    drop(state);
                    drop(given_up);
                    return Err(error.to_string());
                }
                // Whoever came meanwhile relied on this thread.
                let help = match (state.queue.is_empty(), state.idle) {
                    (true, _) => Help::Nobody,
                    (false, 0) => state.ask(),
                    (false, _) => state.send(),
                };
                drop(state);
                Shared::see_to(shared, &help)
            }
        }
    }

    fn work(shared: &Arc<Shared>) {
        let mut state = shared.state();
        state.coming -= 1;
        loop {
            if let Some(job) = state.queue.pop_front() {
                state.taken += 1;
                let help = state.help();
                drop(state);
                // A thread that cannot be started is no fault while this one runs.
                drop(Shared::see_to(shared, &help));
                let mut next = Some(job);
                while let Some(Job(run)) = next.take() {
                    match catch_unwind(AssertUnwindSafe(run)) {
                        Ok(successor) => next = successor,
                        Err(panic) => shared.told.panicked(panic_text(&*panic)),
                    }
                }
                state = shared.state();
                continue;
            }
            if state.closed || state.idle >= shared.to_come.load(Relaxed) {
                break;
            }
            state.idle += 1;
            while state.calls == 0 && !state.closed {
                state = shared.called.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.calls > 0 {
                state.calls -= 1;
                state.coming -= 1;
            } else {
                state.idle -= 1;
            }
        }
        state.alive -= 1;
        if state.alive == 0 {
            shared.gone.notify_all();
        }
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    #[cfg(test)]
    tests::refusal()?;
    #[expect(clippy::disallowed_methods, reason = "this is the pool")]
    std::thread::Builder::new().name("plangate".to_owned()).spawn(work)
}

/// A call that did not answer in time and still holds its thread.
pub(crate) struct Abandoned(Arc<Shared>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.state().most -= 1;
        self.0.abandoned.fetch_sub(1, Relaxed);
    }
}

/// What a panic says.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned())
}

#[cfg(test)]
mod tests;
