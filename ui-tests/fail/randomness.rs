//! Chance that is not recorded.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    use std::collections::hash_map::{HashMap, RandomState as Hasher};
    let state = Hasher::new();
    let default = std::hash::RandomState::default();
    let _: (HashMap<u8, u8, _>, HashMap<u8, u8, _>) = (HashMap::with_hasher(state), HashMap::with_hasher(default));
    Ok(())
}

fn main() {}
