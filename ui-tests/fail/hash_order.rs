//! The order of hash maps and sets, in all forms.
use std::collections::hash_map::HashMap as Index;
use std::collections::{BTreeMap, HashMap, HashSet};

use steadfast::prelude::*;

struct Shop;

impl Shop {
    async fn pack(&self, _article: &str) -> Result<u32, BoxError> {
        Ok(1)
    }
}

#[workflow]
async fn parameters(lines: HashMap<String, u32>, shop: &Shop) -> Result<u32, BoxError> {
    for article in lines.keys() {
        step!("pack", shop.pack(article)).key(article).await?;
    }
    for (_, count) in &lines {
        sleep!("a while", secs(u64::from(*count))).await;
    }
    let packed = map_concurrent(lines, 3, |(article, _)| async move { step!("pack later", shop.pack(&article)).await }).await?;
    Ok(packed.len() as u32)
}

#[workflow]
async fn variables() -> Result<String, BoxError> {
    let stock: Index<_, _> = step!("load", async { Ok(vec![(1, 2)].into_iter().collect::<Index<u32, u32>>()) }).await?;
    let mut all: Vec<(u32, u32)> = stock.clone().into_iter().collect();
    all.reverse();
    let mut seen = HashSet::from([1, 2]);
    let first = seen.iter().next().copied();
    let wait = async { seen.drain().map(|number| number + first.unwrap_or(0)).collect::<Vec<u32>>() };
    let numbers = wait.await;
    let names: BTreeMap<u32, HashSet<u32>> = BTreeMap::from([(1, HashSet::new())]);
    for (_, members) in &names {
        for member in members {
            println!("{member}");
        }
    }
    Ok(format!("{stock:?} {numbers:?} {:?}", all))
}

struct Desk;

impl Desk {
    #[durable]
    async fn sum(&self, prices: &HashMap<u32, f64>) -> f64 {
        prices.values().sum()
    }
}

fn main() {}
