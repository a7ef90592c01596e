//! Conditional input.
use steadfast::prelude::*;

#[workflow]
async fn workflow(#[cfg(not(any()))] input: u32) -> Result<(), BoxError> {
    let _ = input;
    Ok(())
}

fn main() {}
