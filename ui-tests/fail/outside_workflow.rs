//! Checkpoints in ordinary functions.
use steadfast::prelude::*;

async fn ordinary() -> u32 {
    let number: u32 = random!();
    let recorded = step!("number", async { Ok(number) }).await;
    sleep!("a while", secs(1)).await;
    recorded
}

fn main() {
    let _ = ordinary();
}
