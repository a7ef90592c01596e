//! Allowances of the checker where there is no function, or without what they need.
use steadfast::prelude::*;

#[allow_nondeterminism(clock, reason = "only shown")]
struct Watch;

#[allow_nondeterminism(clock)]
fn shown() {}

#[allow_nondeterminism(clocks, reason = "a typo")]
fn mistyped() {}

fn main() {
    drop(Watch);
    shown();
    mistyped();
}
