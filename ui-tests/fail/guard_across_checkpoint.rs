//! A lock that is held while the workflow waits.
use std::sync::{Mutex, RwLock};

use steadfast::prelude::*;

#[workflow]
async fn workflow(stock: &Mutex<u32>, prices: &RwLock<Vec<u32>>) -> Result<u32, BoxError> {
    let held = stock.lock().expect("not poisoned");
    step!("ship", async { Ok(()) }).await?;
    let price = prices.read().expect("not poisoned");
    if *held > 1 {
        sleep!("a while", secs(1)).await;
    }
    Ok(*held + price[0])
}

fn main() {}
