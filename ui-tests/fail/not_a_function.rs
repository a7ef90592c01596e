//! On a struct, and on a method without a body.
use steadfast::prelude::*;

#[workflow]
struct Order {
    id: u32,
}

trait Shop {
    #[durable]
    async fn charge(&self) -> u32;
}

fn main() {
    let _ = Order { id: 1 }.id;
}
