//! A state that threads cannot share.
use steadfast::prelude::*;

#[workflow]
async fn workflow(state: &std::cell::Cell<u32>) -> Result<(), BoxError> {
    drop(state.get());
    Ok(())
}

fn main() {}
