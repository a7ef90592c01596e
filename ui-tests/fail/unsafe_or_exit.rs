//! What goes around the engine.
use std::panic;
use std::process;
use steadfast::prelude::*;

#[workflow]
async fn workflow(order: String) -> Result<usize, BoxError> {
    if order.is_empty() {
        process::exit(1);
    }
    let text = unsafe { std::str::from_utf8_unchecked(order.as_bytes()) };
    let length = panic::catch_unwind(|| 1);
    panic::set_hook(Box::new(|_| {}));
    let end = text.is_ascii().then_some(()).map_or_else(|| 1, |()| process::abort());
    drop(length);
    Ok(end)
}

fn main() {}
