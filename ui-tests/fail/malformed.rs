//! Checkpoints that are not written as they should be.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    step!().await?;
    step!("a").await?;
    step!("b", { Ok(1) }, secs(1)).await?;
    step!("c", || async { Ok(()) }).await?;
    sleep!(secs(1)).await;
    let _: u32 = signal!("d", secs(1)).await;
    let _ = now!(1);
    let _ = uuid!("e").to_string();
    let _: u32 = random!(1, 2);
    race!(sleep!("f", secs(1))).await;
    Ok(())
}

fn main() {}
