//! The threads of one run: the only place that starts any.
//!
//! Threads are reused and their number grows while calls block: a thread that takes a job and leaves others waiting,
//! with nobody idle, starts another first. All of them have ended when the pool is [closed](Pool::close), except those
//! still inside a call that did not answer in time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, unbounded};

/// Something to be done on a thread of the pool, and what that thread does next.
pub(crate) struct Job(Box<dyn FnOnce() -> Option<Job> + Send>);

impl Job {
    pub(crate) fn new(run: impl FnOnce() -> Option<Job> + Send + 'static) -> Job {
        Job(Box::new(run))
    }
}

/// Told the text of a panic that no job caught.
type OnPanic = Arc<dyn Fn(String) + Send + Sync>;

pub(crate) struct Pool {
    shared: Arc<Shared>,
    jobs: Mutex<Option<Sender<Job>>>,
    gone: Receiver<()>,
}

struct Shared {
    queue: Receiver<Job>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Threads that may be.
    most: AtomicUsize,
    alive: AtomicUsize,
    abandoned: AtomicUsize,
    idle: AtomicUsize,
    /// Started, and not yet at their first job.
    starting: AtomicUsize,
    farewell: Sender<()>,
    on_panic: OnPanic,
}

/// Threads being started at the same time. More would only stand in each other's way while short jobs drain the queue.
const STARTING: usize = 2;

impl Pool {
    /// No thread yet, at most so many at once.
    pub(crate) fn new(most: usize, on_panic: impl Fn(String) + Send + Sync + 'static) -> Pool {
        let (jobs, queue) = unbounded();
        let (farewell, gone) = unbounded();
        let shared = Shared {
            queue,
            threads: Mutex::default(),
            most: AtomicUsize::new(most.max(1)),
            alive: AtomicUsize::new(0),
            abandoned: AtomicUsize::new(0),
            idle: AtomicUsize::new(0),
            starting: AtomicUsize::new(0),
            farewell,
            on_panic: Arc::new(on_panic),
        };
        Pool { shared: Arc::new(shared), jobs: Mutex::new(Some(jobs)), gone }
    }

    /// Runs a job on some thread, soon. The error: there is no thread, and none can be started.
    pub(crate) fn submit(&self, job: Job) -> Result<(), String> {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
        drop(jobs);
        if !sent {
            return Err("the run is over".to_owned());
        }
        // Sent before looking: a thread that goes from idle to work looks at the queue after it said so.
        Shared::grow(&self.shared)
    }

    /// A call did not answer in time: its thread no longer counts. The mark is given back when the call returns.
    pub(crate) fn abandon(&self) -> Abandoned {
        self.shared.most.fetch_add(1, SeqCst);
        self.shared.abandoned.fetch_add(1, SeqCst);
        Abandoned(Arc::clone(&self.shared))
    }

    /// How many such calls have not returned.
    pub(crate) fn abandoned(&self) -> usize {
        self.shared.abandoned.load(SeqCst)
    }

    /// Takes no more jobs, waits for the threads, and says how many are still inside a call after `grace`.
    pub(crate) fn close(&self, grace: Duration) -> usize {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take();
        let until = Instant::now() + grace;
        while self.shared.alive.load(SeqCst) > 0 {
            match self.gone.recv_deadline(until) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        let threads =
            std::mem::take(&mut *self.shared.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let mut left = 0;
        for thread in threads {
            // Whoever said farewell is at its last instructions.
            if self.shared.alive.load(SeqCst) == 0 || thread.is_finished() {
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
    fn grow(shared: &Arc<Shared>) -> Result<(), String> {
        if shared.queue.is_empty() || shared.idle.load(SeqCst) > 0 {
            return Ok(());
        }
        let starting = shared.starting.fetch_add(1, SeqCst);
        if starting >= STARTING || shared.alive.load(SeqCst) >= shared.most.load(SeqCst) {
            shared.starting.fetch_sub(1, SeqCst);
            return Ok(());
        }
        shared.alive.fetch_add(1, SeqCst);
        let own = Arc::clone(shared);
        #[expect(clippy::disallowed_methods, reason = "this is the pool")]
        let started =
            std::thread::Builder::new().name("plangate".to_owned()).spawn(move || Shared::work(&own));
        match started {
            Ok(thread) => {
                shared.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
                Ok(())
            }
            Err(error) => {
                shared.starting.fetch_sub(1, SeqCst);
                let others = shared.alive.fetch_sub(1, SeqCst) - 1;
                if others > 0 { Ok(()) } else { Err(error.to_string()) }
            }
        }
    }

    fn work(shared: &Arc<Shared>) {
        let mut first = true;
        loop {
            shared.idle.fetch_add(1, SeqCst);
            if std::mem::take(&mut first) {
                shared.starting.fetch_sub(1, SeqCst);
            }
            let job = shared.queue.recv();
            shared.idle.fetch_sub(1, SeqCst);
            let Ok(job) = job else { break };
            // A thread that cannot be started is no fault while this one runs.
            drop(Shared::grow(shared));
            let mut next = Some(job);
            while let Some(Job(run)) = next.take() {
                match catch_unwind(AssertUnwindSafe(run)) {
                    Ok(successor) => next = successor,
                    Err(panic) => (shared.on_panic)(panic_text(&*panic)),
                }
            }
        }
        shared.alive.fetch_sub(1, SeqCst);
        // Nobody hears it who has not waited.
        let _ = shared.farewell.send(());
    }
}

/// A call that did not answer in time and still holds its thread.
pub(crate) struct Abandoned(Arc<Shared>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.most.fetch_sub(1, SeqCst);
        self.0.abandoned.fetch_sub(1, SeqCst);
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

    use crossbeam::channel::bounded;

    use super::*;

    fn job(run: impl FnOnce() + Send + 'static) -> Job {
        Job::new(move || {
            run();
            None
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
            let barrier = Arc::clone(&barrier);
            pool.submit(job(move || {
                barrier.wait();
            }))
            .unwrap();
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
