//! Some work, how long it took and what it cost.

use std::time::Duration;

#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// Units of work, whatever they are in the case at hand.
    pub(crate) n: u64,
    pub(crate) elapsed: Duration,
    /// How long the single waits took, in ascending order.
    latencies: Vec<Duration>,
    /// How often the store was flushed.
    pub(crate) flushes: u64,
    /// How many writes these flushes held.
    pub(crate) writes: u64,
    pub(crate) allocations: u64,
    pub(crate) allocated_bytes: u64,
    pub(crate) peak_memory_bytes: u64,
}

impl Measured {
    pub(crate) fn new(n: u64, elapsed: Duration, mut latencies: Vec<Duration>) -> Self {
        latencies.sort_unstable();
        Self {
            n,
            elapsed,
            latencies,
            flushes: 0,
            writes: 0,
            allocations: 0,
            allocated_bytes: 0,
            peak_memory_bytes: 0,
        }
    }

    /// Several measurements of the same thing as one.
    pub(crate) fn together(all: Vec<Self>) -> Self {
        let mut together = Self::new(0, Duration::ZERO, Vec::new());
        for one in all {
            together.n += one.n;
            together.elapsed += one.elapsed;
            together.latencies.extend(one.latencies);
            together.flushes += one.flushes;
            together.writes += one.writes;
            together.allocations += one.allocations;
            together.allocated_bytes += one.allocated_bytes;
            together.peak_memory_bytes = together.peak_memory_bytes.max(one.peak_memory_bytes);
        }
        together.latencies.sort_unstable();
        together
    }

    /// Units per second.
    pub(crate) fn rate(&self) -> f64 {
        self.n as f64 / self.elapsed.as_secs_f64()
    }

    /// Seconds per unit.
    pub(crate) fn each(&self) -> f64 {
        self.elapsed.as_secs_f64() / self.n as f64
    }

    /// The wait that this share of all waits does not exceed, in microseconds.
    pub(crate) fn percentile(&self, share: f64) -> f64 {
        let last = self.latencies.len().saturating_sub(1);
        let place = (last as f64 * share).round() as usize;
        self.latencies.get(place).map_or(0.0, |wait| wait.as_secs_f64() * 1e6)
    }

    /// The work between the single waits does not count.
    pub(crate) fn of_waits_only(mut self) -> Self {
        self.elapsed = self.latencies.iter().sum();
        self
    }

    pub(crate) fn p50(&self) -> f64 {
        self.percentile(0.5)
    }

    pub(crate) fn p99(&self) -> f64 {
        self.percentile(0.99)
    }
}
