//! A checkpoint inside a step body.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    step!("outer", {
        sleep!("inner", secs(1)).await;
        Ok(())
    })
    .await?;
    Ok(())
}

fn main() {}
