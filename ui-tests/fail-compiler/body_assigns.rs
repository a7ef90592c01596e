//! A body changes a variable of the workflow.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let mut total = 0;
    step!("add", {
        total += 1;
        Ok(())
    })
    .await?;
    drop(total);
    Ok(())
}

fn main() {}
