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
    let paid: u32 = step!("pay", async { Ok(1) }).timeout(secs(1))?;
    let booked = step!("book", async { Ok(paid) })? + 1;
    drop(booked);
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
