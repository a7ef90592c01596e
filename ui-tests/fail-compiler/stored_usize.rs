//! Numbers as wide as the machine's pointers, stored.
#![deny(warnings)]

use steadfast::prelude::*;

#[workflow]
async fn workflow(pages: usize) -> Result<Vec<isize>, BoxError> {
    let count: usize = step!("count", async { Ok(pages) }).await?;
    let (number, _): (u32, usize) = signal!("number").await;
    #[allow_nondeterminism(stored_usize, reason = "never large")]
    let few: usize = step!("count again", async { Ok(pages) }).await?;
    Ok(vec![1; count + number as usize + few])
}

fn main() {}
