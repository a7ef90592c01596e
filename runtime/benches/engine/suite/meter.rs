//! What work costs the process: time, memory, allocations. Absent on purpose: what it costs the store, which `bed` counts.
//!
//! Resident memory is read from `/proc`; where there is none, it is 0. Allocations and the heap are counted by the allocator of
//! the program `allocations`; in the program `engine` they are 0, and shown as unknown.

use crate::suite::Fault;
use crate::suite::measured::Measured;
use rustix::time::{ClockId, clock_gettime};
use stats_alloc::{INSTRUMENTED_SYSTEM, Stats};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the size of the heap is looked at: large values stay in it for longer.
const LOOK_AGAIN: Duration = Duration::from_micros(200);

/// Runs while something is measured.
pub(crate) struct Meter {
    begun: Instant,
    allocated: Stats,
}

impl Meter {
    pub(crate) fn start() -> Self {
        forget_peak_memory();
        let allocated = INSTRUMENTED_SYSTEM.stats();
        Self {
            begun: Instant::now(),
            allocated,
        }
    }

    /// `n` units were done, and the single waits took this long.
    pub(crate) fn stop(self, n: u64, latencies: Vec<Duration>) -> Measured {
        let elapsed = self.begun.elapsed();
        let stats = INSTRUMENTED_SYSTEM.stats();
        let bytes = |stats: Stats| stats.bytes_allocated as u64;
        let mut measured = Measured::new(n, elapsed, latencies);
        measured.allocations = calls(stats) - calls(self.allocated);
        measured.allocated_bytes = bytes(stats) - bytes(self.allocated);
        measured.peak_memory_bytes = status("VmHWM:");
        measured
    }
}

/// Does something that has a result once, and measures it.
pub(crate) async fn once<T, F>(work: F) -> Result<(T, Measured), Fault>
where
    F: Future<Output = Result<T, Fault>>,
{
    let meter = Meter::start();
    let begun = Instant::now();
    let made = work.await?;
    let latency = begun.elapsed();
    Ok((made, meter.stop(1, vec![latency])))
}

/// Whether the program's allocator counts.
pub(crate) fn is_counting() -> bool {
    INSTRUMENTED_SYSTEM.stats().allocations > 0
}

/// Calls for memory. A reallocation counts: it may be a copy.
fn calls(stats: Stats) -> u64 {
    (stats.allocations + stats.reallocations) as u64
}

/// Bytes that are allocated and not freed. Not a number, if nobody counts.
pub(crate) fn heap_bytes() -> f64 {
    let stats = INSTRUMENTED_SYSTEM.stats();
    match is_counting() {
        true => stats.bytes_allocated as f64 - stats.bytes_deallocated as f64,
        false => f64::NAN,
    }
}

/// Looks at the heap again and again, from a thread of its own, to tell how large it was at most.
pub(crate) struct HeapPeak {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<f64>,
}

impl HeapPeak {
    pub(crate) fn watch() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            let mut peak = f64::NAN;
            while !over.load(Ordering::Relaxed) {
                // Whatever is not a number gives way.
                peak = heap_bytes().max(peak);
                std::thread::sleep(LOOK_AGAIN);
            }
            peak
        });
        Self { is_over, thread }
    }

    pub(crate) fn bytes(self) -> f64 {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or(f64::NAN)
    }
}

/// Bytes of this process that are in memory.
pub(crate) fn resident_bytes() -> f64 {
    status("VmRSS:") as f64
}

/// What all threads of this process have computed so far, those that have ended included.
pub(crate) fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::from_secs(seconds) + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or_default())
}

/// Where the system does not allow it, the peak stays that of the whole run.
fn forget_peak_memory() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}
