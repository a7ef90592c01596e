//! A checkpoint and the place of one that is gone have the same name, or the name is no good.
use steadfast::prelude::*;

const NAME: &str = "pack";

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    step!("charge", { Ok(1) }).await?;
    removed!("charge").await;
    removed!(sleep "nap").await;
    sleep!("nap", secs(1)).await;
    removed!(signal "go").await;
    let () = signal!("go").await;
    removed!(NAME).await;
    removed!(sleep "").await;
    Ok(())
}

fn main() {}
