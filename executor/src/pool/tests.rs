use std::sync::Barrier;

use crossbeam::channel::{Sender, bounded, unbounded};

use super::*;

fn job(run: impl FnOnce() + Send + 'static) -> Job {
    Job::new(move || {
        run();
        None
    })
}

thread_local! {
    static REFUSES: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// What the system says to a thread that may start no other.
pub(super) fn refusal() -> std::io::Result<()> {
    if REFUSES.get() { Err(std::io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
}

/// Blocks until as many are there as the barrier is for.
fn waits_at(barrier: &Arc<Barrier>) -> Job {
    let barrier = Arc::clone(barrier);
    job(move || {
        barrier.wait();
    })
}

/// Nobody is told of a panic, and who is to watch is told.
struct Watcher(Sender<()>);

impl Told for Watcher {
    fn panicked(&self, text: String) {
        panic!("{text}");
    }

    fn waiting(&self) {
        // Who has gone need not be told.
        let _ = self.0.send(());
    }
}

struct Panics(Sender<String>);

impl Told for Panics {
    fn panicked(&self, text: String) {
        self.0.send(text).unwrap();
    }

    fn waiting(&self) {}
}

/// A thread of the pool is inside a job until this is dropped.
fn holds_a_thread(pool: &Pool) -> Sender<()> {
    let (stuck, release) = bounded::<()>(0);
    let (begun, begins) = bounded(1);
    pool.submit(job(move || {
        begun.send(()).unwrap();
        assert!(release.recv().is_err());
    }))
    .unwrap();
    begins.recv().unwrap();
    stuck
}

/// A pool that somebody watches, as the steward of a run does, for as long as it is there.
fn watched(most: usize) -> Arc<Pool> {
    let (told, tells) = unbounded();
    let pool = Arc::new(Pool::new(most, Watcher(told)));
    let of = Arc::downgrade(&pool);
    #[expect(clippy::disallowed_methods, reason = "it ends with the pool")]
    std::thread::spawn(move || {
        while tells.recv().is_ok() {
            while let Some(soon) = of.upgrade().and_then(|pool| pool.watch()) {
                std::thread::park_timeout(soon);
            }
        }
    });
    pool
}

#[test]
fn grows_to_as_many_as_block() {
    let pool = watched(40);
    let barrier = Arc::new(Barrier::new(33));
    for _ in 0..32 {
        pool.submit(waits_at(&barrier)).unwrap();
    }
    barrier.wait();
    assert_eq!(pool.close(Duration::from_secs(60)), 0);
}

#[test]
fn reuses_threads_and_keeps_to_its_most() {
    let pool = watched(1);
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
    let pool = watched(8);
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
    let pool = watched(16);
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
    let pool = watched(1);
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
    let pool = watched(1);
    let (send, receive) = bounded(1);
    pool.submit(line(200_000, send)).unwrap();
    receive.recv().unwrap();
    assert_eq!(pool.close(Duration::from_secs(60)), 0);
}

#[test]
fn a_panic_is_told_and_the_thread_goes_on() {
    let (send, receive) = bounded(1);
    let pool = Pool::new(1, Panics(send));
    pool.submit(job(|| panic!("as expected"))).unwrap();
    assert_eq!(receive.recv().unwrap(), "as expected");
    let (send, receive) = bounded(1);
    pool.submit(job(move || send.send(()).unwrap())).unwrap();
    receive.recv().unwrap();
    assert_eq!(pool.close(Duration::from_secs(60)), 0);
    assert!(pool.submit(job(|| ())).is_err());
}

#[test]
fn short_jobs_are_left_to_the_thread_that_is_there() {
    let (told, tells) = unbounded();
    let pool = Pool::new(8, Watcher(told));
    let (go, wait) = bounded::<()>(0);
    let (send, receive) = bounded(100);
    // The first holds the thread until all others wait.
    pool.submit(job(move || wait.recv().unwrap())).unwrap();
    for _ in 0..100 {
        let send = send.clone();
        pool.submit(job(move || send.send(std::thread::current().id()).unwrap())).unwrap();
    }
    go.send(()).unwrap();
    let ids: std::collections::HashSet<_> = (0..100).map(|_| receive.recv().unwrap()).collect();
    assert_eq!(ids.len(), 1);
    // One is told, and once.
    assert_eq!(tells.try_iter().count(), 1);
    assert!(pool.watch().is_none(), "nothing waits any more");
    assert_eq!(pool.close(Duration::from_secs(60)), 0);
}

#[test]
fn who_watches_sends_threads_once_jobs_wait_too_long() {
    let (told, tells) = unbounded();
    let pool = Pool::new(8, Watcher(told));
    let barrier = Arc::new(Barrier::new(8));
    for _ in 0..8 {
        pool.submit(waits_at(&barrier)).unwrap();
    }
    tells.recv().unwrap();
    // All of them, once it was seen that one is not enough.
    while pool.watch().is_some() {
        std::thread::yield_now();
    }
    assert!(pool.0.state().queue.is_empty());
    assert_eq!(pool.close(Duration::from_secs(60)), 0);
}

#[test]
fn threads_are_sent_where_nobody_can_watch() {
    let pool = Pool::new(40, Watcher(unbounded().0));
    let barrier = Arc::new(Barrier::new(33));
    for _ in 0..16 {
        pool.submit(waits_at(&barrier)).unwrap();
    }
    pool.unwatched();
    for _ in 0..16 {
        pool.submit(waits_at(&barrier)).unwrap();
    }
    barrier.wait();
    assert_eq!(pool.close(Duration::from_secs(60)), 0);
}

#[test]
fn what_waiting_jobs_are_worth() {
    let pool = Pool::new(64, Watcher(unbounded().0));
    let mut state = pool.0.state();
    state.alive = 2;
    state.queue.extend((0..10).map(|_| job(|| ())));
    let tick = 5 * SHORT;
    assert_eq!(state.worth(0, tick, 4), 10, "all threads are inside calls that block");
    assert_eq!(state.worth(3, tick, 4), 1, "two threads take 33 us a job each");
    assert_eq!(state.worth(3, tick, 2), 0, "more than cores cannot run");
    assert_eq!(state.worth(10, tick, 4), 0, "short jobs are left to who is there");
    state.queue.clear();
    state.alive = 0;
}

#[test]
fn a_line_of_successors_keeps_nobody_waiting() {
    fn line(stop: Arc<std::sync::atomic::AtomicBool>) -> Job {
        Job::new(move || (!stop.load(Relaxed)).then(|| line(stop)))
    }
    let pool = watched(2);
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    pool.submit(line(Arc::clone(&stop))).unwrap();
    let (send, receive) = bounded(1);
    pool.submit(job(move || send.send(()).unwrap())).unwrap();
    receive.recv().unwrap();
    stop.store(true, Relaxed);
    assert_eq!(pool.close(Duration::from_secs(60)), 0);
}

#[test]
fn who_watches_is_left_alone_once_no_more_threads_may_be() {
    let (told, tells) = unbounded();
    let pool = Pool::new(1, Watcher(told));
    let stuck = holds_a_thread(&pool);
    let (send, receive) = bounded(100);
    for _ in 0..100 {
        let send = send.clone();
        pool.submit(job(move || send.send(()).unwrap())).unwrap();
    }
    assert!(tells.is_empty(), "nobody can help");
    assert!(pool.watch().is_none(), "nothing is to be seen until a thread may come");
    // Then it is looked at again.
    let mark = pool.abandon();
    tells.try_recv().unwrap();
    while receive.is_empty() {
        pool.watch();
        std::thread::yield_now();
    }
    assert_eq!((0..100).map(|_| receive.recv().unwrap()).count(), 100);
    drop((stuck, mark));
    assert_eq!(pool.close(Duration::from_secs(60)), 0);
}

#[test]
fn a_job_that_relied_on_a_thread_that_never_came_is_seen_to() {
    let (told, tells) = unbounded();
    let pool = Pool::new(8, Watcher(told));
    let stuck = holds_a_thread(&pool);
    pool.unwatched();
    // Whoever could watch is back by the time that the thread turns out not to come.
    let (send, receive) = bounded(2);
    let help = {
        let mut state = pool.0.state();
        let first = send.clone();
        state.queue.push_back(job(move || first.send(()).unwrap()));
        state.help()
    };
    assert!(matches!(help, Help::Starter));
    pool.submit(job(move || send.send(()).unwrap())).unwrap();
    assert_eq!(pool.watch(), Some(TICK));
    pool.0.state().watch = Watch::Nobody;
    REFUSES.set(true);
    Shared::see_to(&pool.0, &help).unwrap();
    tells.try_recv().unwrap();
    // As long as none can be started it is tried now and then.
    let next = std::iter::repeat_with(|| pool.watch()).find(|next| *next != Some(TICK));
    assert_eq!((next, pool.0.state().failed), (Some(Some(RETRY)), 2));
    REFUSES.set(false);
    while receive.len() < 2 {
        pool.watch();
        std::thread::yield_now();
    }
    drop(stuck);
    assert_eq!(pool.close(Duration::from_secs(60)), 0);
}

#[test]
fn a_sleeper_is_called_where_a_thread_cannot_be_started() {
    let pool = Pool::new(8, Watcher(unbounded().0));
    pool.submit(job(|| ())).unwrap();
    // Its thread sleeps, and another is on its way.
    while pool.0.state().idle == 0 {
        std::thread::yield_now();
    }
    {
        let mut state = pool.0.state();
        state.alive += 1;
        state.coming += 1;
    }
    let (send, receive) = bounded(1);
    pool.submit(job(move || send.send(()).unwrap())).unwrap();
    REFUSES.set(true);
    Shared::see_to(&pool.0, &Help::Starter).unwrap();
    receive.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(pool.close(Duration::from_secs(60)), 0);
}

#[test]
fn what_found_no_thread_is_not_run_later() {
    let pool = watched(1);
    let (send, receive) = unbounded();
    let say = |word: &'static str| {
        let send = send.clone();
        job(move || send.send(word).unwrap())
    };
    REFUSES.set(true);
    assert!(pool.submit(say("refused")).is_err());
    REFUSES.set(false);
    pool.submit(say("taken")).unwrap();
    assert_eq!(receive.recv().unwrap(), "taken");
    assert_eq!(pool.close(Duration::from_secs(60)), 0);
}
