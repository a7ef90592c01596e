//! Conditions on numbers that are not the same everywhere.
#![deny(warnings)]

use steadfast::prelude::*;

#[workflow]
async fn workflow(load: f64) -> Result<u32, BoxError> {
    if load.exp() > 1.5 {
        return Ok(1);
    }
    let level = load.ln().floor();
    #[allow_nondeterminism(float_branch, reason = "only one kind of machine runs this")]
    if level < 0.0 {
        return Ok(2);
    }
    match level as u32 {
        0 => Ok(3),
        other => Ok(other),
    }
}

fn main() {}
