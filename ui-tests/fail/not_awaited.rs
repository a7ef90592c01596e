//! Checkpoints that nobody awaits.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    step!("charge", async { Ok(()) }).timeout(secs(1));
    sleep!("a while", secs(1));
    let _ = sleep!("another while", secs(1));
    _ = step!("ship", async { Ok(()) });
    drop(step!("tell", async { Ok(()) }));
    join!(async {}, async {});
    Ok(())
}

struct Desk;

impl Desk {
    #[durable]
    async fn rest(&self) {
        sleep!("a while", secs(1));
    }
}

fn main() {}
