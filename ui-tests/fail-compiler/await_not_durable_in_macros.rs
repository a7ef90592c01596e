//! Ordinary futures in macros whose arguments are expressions, behind generic arguments, in a guard.
use std::fmt::Write as _;

use steadfast::prelude::*;

async fn pair<A, B>(first: A, _: B) -> A {
    first
}

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let list = vec![pair::<u32, u8>(1, 2).await, 3];
    let same = matches!(list.len(), length if length == pair::<usize, u8>(1, 2).await);
    let mut text = String::new();
    write!(text, "{}", pair(same, 1).await)?;
    assert!(pair(true, 1).await, "{text}");
    Ok(())
}

fn main() {}
