//! Outcomes of steps that nobody looks at.
#![deny(warnings)]

use steadfast::prelude::*;

async fn mail(_text: &str) -> Result<u32, BoxError> {
    Ok(1)
}

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let _ = step!("tell", mail("done")).await;
    step!("tell again", mail("done")).retry(Retry::none()).await.ok();
    drop(step!("tell them all", mail("done")).await);
    let _told = step!("try to tell", mail("done")).await;
    #[allow_nondeterminism(discarded_result, reason = "nobody minds")]
    let _ = step!("whisper", mail("done")).await;
    Ok(())
}

struct Desk;

impl Desk {
    #[durable]
    async fn tell(&self) {
        _ = step!("tell", mail("done")).await;
    }
}

fn main() {}
