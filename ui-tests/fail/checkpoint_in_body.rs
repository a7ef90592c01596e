//! Checkpoints inside step bodies.
use steadfast::prelude::*;

#[workflow]
async fn workflow(list: Vec<u32>) -> Result<(), BoxError> {
    step!("outer", {
        sleep!("inner", secs(1)).await;
        Ok(())
    })
    .await?;
    step!("stamp", {
        let stamp: Timestamp = now!();
        Ok(stamp)
    })
    .await?;
    step!("ship", |_attempt| async move { step!("again", async { Ok(1) }).await })
        .await
        .map(|_: u32| ())?;
    step!("pack", {
        map_concurrent(&list, 3, |number| async move { *number }).await;
        Ok(())
    })
    .await?;
    Ok(())
}

fn main() {}
