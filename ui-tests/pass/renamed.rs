//! `#[workflow(crate = path)]`, for whoever re-exports Steadfast.
#![deny(warnings)]

mod framework {
    pub use steadfast as durable_execution;
}

use framework::durable_execution as sf;

#[sf::workflow(crate = framework::durable_execution)]
async fn renamed(order: u32) -> Result<u32, sf::BoxError> {
    let one = sf::step!("one", { Ok(order) }).await?;
    sf::sleep!("two", sf::secs(1)).await;
    helper(one).await
}

#[sf::durable(crate = crate::framework::durable_execution)]
async fn helper(order: u32) -> Result<u32, sf::BoxError> {
    let (a, b) = sf::join!(sf::step!("a", { Ok(1) }), async { order }).await;
    Ok(a? + b)
}

fn main() {}
