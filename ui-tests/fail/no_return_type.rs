//! No return type.
use steadfast::prelude::*;

#[workflow]
async fn workflow() {
    sleep!("a while", secs(1)).await;
}

fn main() {}
