//! The answer about a change is not used, and what stands for a checkpoint is not awaited.
#![deny(warnings)]

use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    patched!("check");
    removed!("pack");
    Ok(())
}

fn main() {}
