//! Unsized state.
use steadfast::prelude::*;

#[workflow]
async fn workflow(text: &str) -> Result<(), BoxError> {
    drop(text);
    Ok(())
}

fn main() {}
