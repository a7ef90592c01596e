//! What the engine costs, always beside what the disk costs in the same run: times, rates, flushes, memory.
//!
//! `allocations.rs` beside this runs the same suite with an allocator that counts. Counting takes a few hundredths of the
//! time, and more of the engine's than of what it is compared with; so times are taken here, where nothing counts.

mod suite;

fn main() -> std::process::ExitCode {
    suite::main()
}
