//! Dyn state.
use steadfast::prelude::*;

#[workflow]
async fn workflow(text: &(dyn ToString + Send + Sync)) -> Result<(), BoxError> {
    drop(text);
    Ok(())
}

fn main() {}
