//! Generated code is silent under the strictest lints that a user may turn on: clippy compiles this file too.
#![deny(
    warnings,
    clippy::all,
    clippy::pedantic,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub
)]
#![deny(
    unused,
    let_underscore_drop,
    single_use_lifetimes,
    trivial_casts,
    unused_qualifications,
    unused_results
)]
#![deny(
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    redundant_lifetimes,
    unit_bindings
)]
#![deny(
    unused_lifetimes,
    missing_copy_implementations,
    non_ascii_idents,
    absolute_paths_not_starting_with_crate
)]

use steadfast::Workflow as _;
use steadfast::prelude::*;
use steadfast_ui_tests::{Approval, Line, Order, Shop, ShopError};

/// Everything that a workflow can contain.
#[workflow]
pub async fn fulfil(mut order: Order, shop: &Shop, (low, high): (u32, u32)) -> Result<u32, ShopError> {
    let payment = step!("charge", |attempt| shop.charge(&order, &attempt.idempotency_key()))
        .retry(Retry::exponential(secs(1)).max_attempts(5))
        .timeout(secs(30))
        .await?;
    let parsed = step!("parse", {
        let number: u32 = payment.id.parse()?;
        Ok(number + 1)
    })
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
    let (first, ()) = join!(pack(shop, &order.lines[0]), sleep!("a while", now!())).await;
    tracing::info!("{first:?} {}", uuid!());
    if let Race2::First(text) = race!(signal!("text"), async { String::new() }).await {
        order.customer = text;
    }
    let dice: u32 = random!(1..=6);
    if dice > parsed {
        return Ok(low);
    }
    step!("ship", shop.ship(&parcels))
        .await
        .map(|count| count + high)
        .map_err(ShopError::from)
}

/// A helper.
#[durable]
pub async fn pack(shop: &Shop, line: &Line) -> Result<u32, StepError> {
    let _parcel = step!("pack", shop.pack(line)).await?;
    Ok(line.count)
}

/// A helper that owns what it does not consume, and one that has nothing to wait for.
#[durable]
pub async fn owned(line: Line, _unused: String, (a, mut b): (u8, u8)) -> u32 {
    b += a;
    line.count + u32::from(b) + idle().await
}

/// Waits for nothing.
#[durable]
async fn idle() -> u32 {
    1
}

/// Ends at once.
#[workflow(name = "nothing to do", version = 2)]
pub async fn nothing() -> Result<(), BoxError> {
    let number = owned(
        Line {
            article: String::new(),
            count: 1,
        },
        String::new(),
        (1, 2),
    )
    .await;
    if number == 0 {
        return Err("nothing".into());
    }
    Ok(())
}

#[test]
fn the_workflows_are_there() {
    assert_eq!(
        (fulfil::NAME, nothing::NAME, nothing::VERSION),
        ("fulfil", "nothing to do", 2)
    );
}
