//! An import that is not used, and one that is, by a macro.
#![deny(unused_imports)]

use steadfast::{BoxError, sleep, step, workflow};

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    sleep!("a while", steadfast::secs(1)).await;
    Ok(())
}

fn main() {}
