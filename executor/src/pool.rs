//! The threads of one run: the only place that starts any.
//!
//! Threads are reused and their number grows while calls block. One thread at a time is on its way to the queue, woken or
//! started; whoever takes a job and leaves others waiting sends the next. So calls that do nothing are drained by those
//! that are there already, and calls that block have a thread each as fast as threads can be woken. All of them have ended
//! when the pool is [closed](Pool::close), except those still inside a call that did not answer in time.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Something to be done on a thread of the pool, and what that thread does next.
pub(crate) struct Job(Box<dyn FnOnce() -> Option<Job> + Send>);

impl Job {
    pub(crate) fn new(run: impl FnOnce() -> Option<Job> + Send + 'static) -> Job {
        Job(Box::new(run))
    }
}

/// Told the text of a panic that no job caught.
type OnPanic = Arc<dyn Fn(String) + Send + Sync>;

pub(crate) struct Pool(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Rung once for each thread that is called.
    called: Condvar,
    /// Rung when the last thread has gone.
    gone: Condvar,
    /// How many jobs may still come, at most.
    to_come: AtomicUsize,
    on_panic: OnPanic,
}

struct State {
    queue: VecDeque<Job>,
    threads: Vec<JoinHandle<()>>,
    /// Threads that may be.
    most: usize,
    alive: usize,
    abandoned: usize,
    /// Threads that sleep, but for those that were called.
    idle: usize,
    /// Sleepers that were called and have not woken yet.
    calls: usize,
    /// Threads that were called or started and are not yet at the queue.
    coming: usize,
    closed: bool,
}

/// How a job that waits gets a thread.
enum Help {
    /// One comes already, or all are there.
    Nobody,
    /// A sleeper is called.
    Sleeper,
    /// One is started.
    Starter,
}

/// Threads on their way to the queue at the same time. More would only stand in each other's way while short jobs drain
/// it; two, since starting one takes as long as some calls.
const COMING: usize = 2;

impl State {
    /// Whom a waiting job needs. The caller sees to it once it has let go of the lock.
    fn help(&mut self) -> Help {
        if self.queue.is_empty() {
            Help::Nobody
        } else if self.idle > 0 && self.coming == 0 {
            self.idle -= 1;
            self.calls += 1;
            self.coming += 1;
            Help::Sleeper
        } else if self.idle == 0 && self.coming < COMING && self.alive < self.most {
            self.alive += 1;
            self.coming += 1;
            Help::Starter
        } else {
            Help::Nobody
        }
    }
}

impl Pool {
    /// No thread yet, at most so many at once.
    pub(crate) fn new(most: usize, on_panic: impl Fn(String) + Send + Sync + 'static) -> Pool {
        let state = State {
            queue: VecDeque::new(),
            threads: Vec::new(),
            most: most.max(1),
            alive: 0,
            abandoned: 0,
            idle: 0,
            calls: 0,
            coming: 0,
            closed: false,
        };
        Pool(Arc::new(Shared {
            state: Mutex::new(state),
            called: Condvar::new(),
            gone: Condvar::new(),
            to_come: AtomicUsize::new(usize::MAX),
            on_panic: Arc::new(on_panic),
        }))
    }

    /// Runs a job on some thread, soon. The error: there is no thread, and none can be started.
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

    /// A call did not answer in time: its thread no longer counts. The mark is given back when the call returns.
    pub(crate) fn abandon(&self) -> Abandoned {
        let mut state = self.0.state();
        state.most += 1;
        state.abandoned += 1;
        Abandoned(Arc::clone(&self.0))
    }

    /// How many such calls have not returned.
    pub(crate) fn abandoned(&self) -> usize {
        self.0.state().abandoned
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
            Help::Sleeper => {
                shared.called.notify_one();
                Ok(())
            }
            Help::Starter => Shared::start(shared),
        }
    }

    fn start(shared: &Arc<Shared>) -> Result<(), String> {
        let own = Arc::clone(shared);
        #[expect(clippy::disallowed_methods, reason = "this is the pool")]
        let started =
            std::thread::Builder::new().name("plangate".to_owned()).spawn(move || Shared::work(&own));
        let mut state = shared.state();
        match started {
            Ok(thread) => {
                state.threads.push(thread);
                Ok(())
            }
            Err(error) => {
                state.coming -= 1;
                state.alive -= 1;
                if state.alive > 0 { Ok(()) } else { Err(error.to_string()) }
            }
        }
    }

    fn work(shared: &Arc<Shared>) {
        let mut state = shared.state();
        state.coming -= 1;
        loop {
            if let Some(job) = state.queue.pop_front() {
                let help = state.help();
                drop(state);
                // A thread that cannot be started is no fault while this one runs.
                drop(Shared::see_to(shared, &help));
                let mut next = Some(job);
                while let Some(Job(run)) = next.take() {
                    match catch_unwind(AssertUnwindSafe(run)) {
                        Ok(successor) => next = successor,
                        Err(panic) => (shared.on_panic)(panic_text(&*panic)),
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

/// A call that did not answer in time and still holds its thread.
pub(crate) struct Abandoned(Arc<Shared>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.most -= 1;
        state.abandoned -= 1;
    }
}

/// What a panic says.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use crossbeam::channel::{Sender, bounded};

    use super::*;

    fn job(run: impl FnOnce() + Send + 'static) -> Job {
        Job::new(move || {
            run();
            None
        })
    }

    /// Blocks until as many are there as the barrier is for.
    fn waits_at(barrier: &Arc<Barrier>) -> Job {
        let barrier = Arc::clone(barrier);
        job(move || {
            barrier.wait();
        })
    }

    fn quiet(most: usize) -> Pool {
        Pool::new(most, |text| panic!("{text}"))
    }

    #[test]
    fn grows_to_as_many_as_block() {
        let pool = quiet(40);
        let barrier = Arc::new(Barrier::new(33));
        for _ in 0..32 {
            pool.submit(waits_at(&barrier)).unwrap();
        }
        barrier.wait();
        assert_eq!(pool.close(Duration::from_secs(60)), 0);
    }

    #[test]
    fn reuses_threads_and_keeps_to_its_most() {
        let pool = quiet(1);
        let (send, receive) = bounded(100);
        for _ in 0..100 {
            let send = send.clone();
            pool.submit(job(move || send.send(std::thread::current().id()).unwrap())).unwrap();
        }
        let ids: std::collections::HashSet<_> = (0..100).map(|_| receive.recv().unwrap()).collect();
        assert_eq!(ids.len(), 1);
        assert_eq!(pool.close(Duration::from_secs(60)), 0);
    }

    #[test]
    fn who_has_nothing_to_wait_for_goes() {
        let pool = quiet(8);
        pool.expect(0);
        let barrier = Arc::new(Barrier::new(8));
        for _ in 0..8 {
            pool.submit(waits_at(&barrier)).unwrap();
        }
        let all_gone = |state: &mut State| state.alive > 0 || !state.queue.is_empty();
        let gone = pool.0.gone.wait_timeout_while(pool.0.state(), Duration::from_secs(60), all_gone).unwrap();
        assert!(!gone.1.timed_out());
        drop(gone);
        // Whoever comes all the same gets a thread again.
        let (send, receive) = bounded(1);
        pool.submit(job(move || send.send(()).unwrap())).unwrap();
        receive.recv().unwrap();
        assert_eq!(pool.close(Duration::from_secs(60)), 0);
    }

    #[test]
    fn sleepers_are_called_as_long_as_jobs_wait() {
        let pool = quiet(16);
        for _ in 0..200 {
            // All of them at once, or none goes on.
            let barrier = Arc::new(Barrier::new(17));
            for _ in 0..16 {
                pool.submit(waits_at(&barrier)).unwrap();
            }
            barrier.wait();
        }
        assert_eq!(pool.close(Duration::from_secs(60)), 0);
    }

    #[test]
    fn an_abandoned_call_makes_room_and_is_counted() {
        let pool = quiet(1);
        let (stuck, release) = bounded::<()>(0);
        pool.submit(job(move || assert!(release.recv().is_err()))).unwrap();
        let mark = pool.abandon();
        let (send, receive) = bounded(1);
        pool.submit(job(move || send.send(()).unwrap())).unwrap();
        receive.recv().unwrap();
        assert_eq!(pool.close(Duration::from_millis(10)), 1);
        drop((stuck, mark));
    }

    #[test]
    fn a_long_line_of_successors_needs_no_stack() {
        fn line(left: u32, done: Sender<()>) -> Job {
            Job::new(move || {
                if left == 0 {
                    done.send(()).unwrap();
                    return None;
                }
                Some(line(left - 1, done))
            })
        }
        let pool = quiet(1);
        let (send, receive) = bounded(1);
        pool.submit(line(200_000, send)).unwrap();
        receive.recv().unwrap();
        assert_eq!(pool.close(Duration::from_secs(60)), 0);
    }

    #[test]
    fn a_panic_is_told_and_the_thread_goes_on() {
        let (send, receive) = bounded(1);
        let pool = Pool::new(1, move |text| send.send(text).unwrap());
        pool.submit(job(|| panic!("as expected"))).unwrap();
        assert_eq!(receive.recv().unwrap(), "as expected");
        let (send, receive) = bounded(1);
        pool.submit(job(move || send.send(()).unwrap())).unwrap();
        receive.recv().unwrap();
        assert_eq!(pool.close(Duration::from_secs(60)), 0);
        assert!(pool.submit(job(|| ())).is_err());
    }
}
