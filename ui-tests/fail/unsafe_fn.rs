//! Unsafe fn.
use steadfast::prelude::*;

#[workflow]
async unsafe fn workflow() -> Result<(), BoxError> {
    Ok(())
}

fn main() {}
