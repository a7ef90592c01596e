//! The example of the design, and everything a workflow has in one.
#![deny(warnings)]

use steadfast::prelude::*;
use steadfast::{Uuid, Workflow};
use steadfast_ui_tests::{Approval, Order, Shop, ShopError};

/// Charges, packs, ships.
#[workflow]
pub async fn fulfil(order: Order, shop: &Shop) -> Result<u32, ShopError> {
    let payment = step!("charge", |attempt| shop.charge(&order, &attempt.idempotency_key()))
        .retry(Retry::exponential(secs(1)).max_attempts(5))
        .timeout(secs(30))
        .await?;

    let parcels = map_concurrent(&order.lines, 3, |line| async move {
        step!("pack", shop.pack(line)).key(&line.article).await
    })
    .await?;

    match signal!("approval").timeout(hours(48)).await {
        Ok(Approval { approved: true }) => {}
        Ok(_) | Err(Elapsed) => return Err(ShopError::Rejected),
    }

    sleep!("cooling off", days(7)).await;
    tracing::info!("paid with {}", payment.id);
    step!("ship", shop.ship(&parcels)).await.map_err(ShopError::from)
}

/// Everything else.
#[workflow(name = "the rest", version = 3)]
pub async fn rest(orders: Vec<Order>, limit: u32, shop: &Shop) -> Result<(u32, Uuid), ShopError> {
    let started = now!();
    let dice: u32 = random!(1..=6);
    let lucky: bool = random!();
    let id = uuid!();
    sleep!("until", started).await;

    let (first, second) = join!(
        async { step!("first", { Ok(limit) }).await },
        steadfast::sleep!("second", minutes(dice.into())),
    )
    .await;
    let () = second;
    let (a, b) = try_join!(step!("a", { Ok(1u32) }), count(&orders, shop)).await?;
    let winner = match race!(signal!("stop"), sleep!("patience", hours(1))).await {
        Race2::First(reason) => reason,
        Race2::Second(()) => String::from("nobody"),
    };
    join!().await;
    if lucky && winner.is_empty() {
        return Err(ShopError::Rejected);
    }
    Ok((first? + a + b, id))
}

/// A helper with checkpoints of its own.
#[durable]
async fn count(orders: &[Order], shop: &Shop) -> Result<u32, StepError> {
    let mut parcels = 0;
    for order in orders {
        for line in &order.lines {
            step!("pack", shop.pack(line)).await?;
            parcels += 1;
        }
    }
    Ok(parcels)
}

/// Nothing in, nothing out.
#[workflow]
async fn nothing() -> Result<(), BoxError> {
    Ok(())
}

fn input_of<W: Workflow>(_: W) -> std::marker::PhantomData<W::Input> {
    std::marker::PhantomData
}

fn main() {
    assert_eq!((fulfil::NAME, fulfil::VERSION), ("fulfil", 1));
    assert_eq!((rest::NAME, rest::VERSION), ("the rest", 3));
    let _: std::marker::PhantomData<Order> = input_of(fulfil);
    let _: std::marker::PhantomData<(Vec<Order>, u32)> = input_of(rest);
    let _: std::marker::PhantomData<()> = input_of(nothing);
    let _ = format!("{:?}{:?}", fulfil.clone(), nothing);
}
