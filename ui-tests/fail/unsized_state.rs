//! Borrowed text and lists are neither input nor state.
use steadfast::prelude::*;

#[workflow]
async fn workflow(text: &str, lines: &[Option<u32>]) -> Result<(), BoxError> {
    let _ = (text, lines);
    Ok(())
}

fn main() {}
