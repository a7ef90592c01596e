//! A body borrows a variable mutably, through a method of the author's that only the compiler knows.
use steadfast::prelude::*;

struct Basket(u32);

impl Basket {
    fn add(&mut self, count: u32) {
        self.0 += count;
    }
}

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let mut basket = Basket(1);
    step!("add", {
        basket.add(2);
        Ok(())
    })
    .await?;
    Ok(())
}

fn main() {}
