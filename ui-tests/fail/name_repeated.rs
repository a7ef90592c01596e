//! Name repeated.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    step!("charge", { Ok(1) }).await?;
    step!("charge", { Ok(2) }).await?;
    sleep!("charge", secs(1)).await;
    sleep!("charge", secs(1)).await;
    let _: u32 = signal!("charge").await;
    let _: u32 = signal!("charge").await;
    Ok(())
}

fn main() {}
