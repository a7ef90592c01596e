//! An allowance that is no part of what the attribute below it sees.
use steadfast::prelude::*;

#[steadfast::allow_nondeterminism(clock, reason = "on a whole function, above")]
#[workflow]
async fn above() -> Result<(), BoxError> {
    Ok(())
}

fn main() {}
