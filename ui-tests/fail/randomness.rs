//! Chance that is not recorded.
// Stands in for the real crate.
extern crate steadfast_ui_tests as rand;

use rand::rng;
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    use std::collections::hash_map::{HashMap, RandomState as Hasher};
    let state = Hasher::new();
    let default = std::hash::RandomState::default();
    let _: (HashMap<u8, u8, _>, HashMap<u8, u8, _>) = (HashMap::with_hasher(state), HashMap::with_hasher(default));
    let _: HashMap<u8, u8, _> = HashMap::with_hasher(<Hasher as Default>::default());
    let rng = rng();
    let dice = [rng, rand::random()];
    drop(dice);
    Ok(())
}

fn main() {}
