//! So does one that says `move`.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let order = String::new();
    step!("consume", |_attempt| async move {
        drop(order);
        Ok(())
    })
    .await?;
    Ok(())
}

fn main() {}
