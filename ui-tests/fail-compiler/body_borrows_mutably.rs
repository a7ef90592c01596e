//! A body borrows a variable mutably.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let mut orders = vec![1];
    step!("push", {
        orders.push(2);
        Ok(())
    })
    .await?;
    Ok(())
}

fn main() {}
