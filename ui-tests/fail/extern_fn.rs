//! Extern fn.
use steadfast::prelude::*;

#[workflow]
async extern "C" fn workflow() -> Result<(), BoxError> {
    Ok(())
}

fn main() {}
