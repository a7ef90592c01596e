//! Warnings about the user's own code stay, at their place.
#![deny(unused_variables)]

use steadfast::prelude::*;

#[workflow]
async fn workflow(not_used: u32) -> Result<(), BoxError> {
    let unused = 1;
    step!("body", {
        let also_unused = 2;
        Ok(())
    })
    .await?;
    Ok(())
}

fn main() {}
