//! Changes and removed checkpoints that are not written as they should be.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let _ = patched!();
    retired!("a", "b");
    removed!("c", { Ok(1) }).await;
    removed!(timer "d").await;
    removed!(sleep "e", secs(1)).await;
    removed!().await;
    Ok(())
}

fn main() {}
