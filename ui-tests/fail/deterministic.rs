//! Plain helpers under the rules of workflow code.
use std::time::Instant;
use steadfast::prelude::*;

#[deterministic]
fn late(started: Instant) -> bool {
    let waited = Instant::now() - started;
    waited > secs(1)
}

struct Orders;

impl Orders {
    #[deterministic]
    fn id(&self) -> String {
        let host = std::env::var("HOSTNAME");
        host.unwrap_or_default()
    }

    #[deterministic]
    fn charge(&self, amount: u32) -> u32 {
        let paid = step!("charge", async { Ok(amount) });
        let at = now!();
        drop((paid, at));
        amount
    }
}

#[deterministic]
async fn waits() -> u32 {
    1
}

#[deterministic(strict)]
fn strict() -> u32 {
    #[allow_nondeterminism(clock, reason = "not needed")]
    let one = 1;
    one
}

#[deterministic]
struct NoFunction;

fn main() {
    // What is outside goes on as if all were well.
    let orders = Orders;
    let _ = (late(Instant::now()), orders.id(), orders.charge(1), strict(), NoFunction);
    drop(waits());
}
