//! Every way to write what stands for changes: in conditions, in macros, more than once, by path, with keys.
#![deny(warnings)]

use steadfast::prelude::*;
use steadfast_ui_tests::{Order, Shop, ShopError};

#[durable]
async fn helper(shop: &Shop, order: &Order) -> Result<u32, ShopError> {
    if steadfast::patched!("ship twice") && !order.lines.is_empty() {
        step!("ship again", shop.ship(&[])).await?;
    }
    Ok(step!("ship", shop.ship(&[])).await?)
}

#[workflow]
async fn fulfil(order: Order, shop: &Shop) -> Result<u32, ShopError> {
    retired!("reserve first");
    step!("reserve", |attempt| shop.charge(&order, &attempt.idempotency_key())).await?;
    let twice = patched!("ship twice",);
    for line in &order.lines {
        removed!("weigh").key(&line.article).await;
        if patched!("ship twice") {
            tell(format!("{} {}", line.article, patched!("ship twice")));
        }
    }
    removed!(sleep "cooling off").await;
    removed!(signal "approval").await;
    let (_, shipped) = join!(removed!(signal "approval"), helper(shop, &order)).await;
    match race!(removed!("inspect"), sleep!("patience", secs(1))).await {
        Race2::First(()) | Race2::Second(()) => {}
    }
    Ok(shipped? + u32::from(twice))
}

fn tell(_: String) {}

fn main() {
    let _ = fulfil;
}
