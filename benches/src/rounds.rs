//! Interleaved rounds and their medians.

use std::time::{Duration, Instant};

/// One thing to measure: does its work once and says how long the part took that counts.
pub type Job<'a> = Box<dyn FnMut() -> Duration + 'a>;

/// Runs every job once a round, in turn, so that whatever else the machine does meets all of them; after one round that
/// does not count, gives the median of each.
pub fn rounds(rounds: usize, mut jobs: Vec<Job<'_>>) -> Vec<Duration> {
    let mut seen: Vec<Vec<Duration>> = jobs.iter().map(|_| Vec::new()).collect();
    for round in 0..=rounds.max(1) {
        for (job, seen) in jobs.iter_mut().zip(&mut seen) {
            let took = job();
            if round > 0 {
                seen.push(took);
            }
        }
    }
    seen.into_iter().map(median).collect()
}

/// The middle one; of an even number the lower of the two.
pub fn median(mut of: Vec<Duration>) -> Duration {
    of.sort_unstable();
    of.get(of.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

/// How long this takes.
pub fn time<T>(what: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(what());
    start.elapsed()
}
