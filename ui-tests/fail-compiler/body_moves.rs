//! A body moves a variable out of the workflow.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let order = String::new();
    step!("consume", {
        drop(order);
        Ok(())
    })
    .await?;
    Ok(())
}

fn main() {}
