//! An order is charged, its lines are packed in parallel, then it is shipped. Things go wrong on purpose, and are tried
//! again.
//!
//!     cargo run --bin order
//!     cargo run --bin order -- --order 43 --card stolen

use clap::Parser;
use serde::{Deserialize, Serialize};
use std::hash::{BuildHasher, RandomState};
use steadfast::prelude::*;

#[derive(Serialize, Deserialize)]
struct Order {
    card: String,
    lines: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Receipt {
    payment: String,
    parcels: Vec<String>,
    tracking: String,
}

#[workflow]
async fn fulfil(order: Order, shop: &Shop) -> Result<Receipt, StepError> {
    let payment = step!("charge", |attempt| shop.charge(&order.card, attempt.idempotency_key()))
        .retry(Retry::exponential(millis(200)).cap(secs(2)).max_attempts(20))
        .timeout(secs(5))
        .await?;

    let parcels = map_concurrent(&order.lines, 2, |line| async move {
        step!("pack", shop.pack(line))
            .key(line)
            .retry(Retry::fixed(millis(300)).max_attempts(20))
            .await
    })
    .await?;

    let tracking = step!("ship", shop.ship(&parcels)).await?;
    Ok(Receipt {
        payment,
        parcels,
        tracking,
    })
}

/// Where the effects happen. Two of its three employees have a bad day.
struct Shop;

impl Shop {
    /// The key lets the bank see that a repeated request is the same payment.
    async fn charge(&self, card: &str, idempotency_key: String) -> Result<String, BoxError> {
        if card == "stolen" {
            return Err(permanent("the bank refuses this card").code("card_refused").into());
        }
        work("charging", card, "the bank does not answer").await?;
        Ok(format!("payment {}", &idempotency_key[..8]))
    }

    async fn pack(&self, line: &str) -> Result<String, BoxError> {
        work("packing", line, "it fell off the table").await?;
        Ok(format!("parcel with {line}"))
    }

    async fn ship(&self, parcels: &[String]) -> Result<String, BoxError> {
        println!("shipping {} parcels", parcels.len());
        Ok("on its way".to_owned())
    }
}

/// Takes half a second and fails one time in three.
async fn work(doing: &str, thing: &str, mishap: &'static str) -> Result<(), BoxError> {
    println!("{doing} {thing}");
    tokio::time::sleep(millis(500)).await;
    if RandomState::new().hash_one(thing).is_multiple_of(3) {
        println!("{doing} {thing}: {mishap}");
        return Err(mishap.into());
    }
    Ok(())
}

/// Fulfils an order, whatever happens.
#[derive(Parser)]
struct Arguments {
    /// The number of the order
    #[arg(long, default_value_t = 42)]
    order: u32,
    /// The card to charge; `stolen` is refused for good
    #[arg(long, default_value = "valid")]
    card: String,
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let Arguments { order, card } = Arguments::parse();
    let lines = ["a lamp", "a rope", "an anchor", "a map"].map(str::to_owned).to_vec();

    let runtime = Runtime::builder()
        .workflow(fulfil)
        .state(Shop)
        .open("target/order")
        .await?;
    let order = runtime
        .start(fulfil, Order { card, lines })
        .id(format!("order-{order}"))
        .await?;
    if !order.created() {
        println!("{} was placed earlier", order.id());
    }
    match order.result().await {
        Ok(receipt) => println!("{receipt:#?}"),
        Err(error) => println!("{error}"),
    }
    Ok(())
}
