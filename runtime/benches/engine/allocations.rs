//! The suite with an allocator that counts: allocations a unit, bytes on the heap. Absent on purpose: times to be believed.

mod suite;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> std::process::ExitCode {
    suite::main()
}
