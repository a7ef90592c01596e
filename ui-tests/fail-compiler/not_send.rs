//! A value that cannot move between threads is held across a checkpoint.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let shared = std::rc::Rc::new(1);
    sleep!("a while", secs(1)).await;
    drop(shared);
    Ok(())
}

fn main() {}
