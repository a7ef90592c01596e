//! What the code of a workflow uses is reported there, and only there.
#![deny(deprecated)]

use steadfast::prelude::*;

#[deprecated = "use something else"]
fn old() {}

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    old();
    Ok(())
}

#[deprecated = "use `workflow`"]
#[workflow]
async fn old_workflow(number: u32) -> Result<u32, BoxError> {
    Ok(number)
}

fn main() {
    let _ = (workflow, old_workflow);
}
