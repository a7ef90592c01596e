//! What looks like a mistake to the rules that need types or flow, and is none. None of them may fire here.
#![deny(warnings)]
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Mutex;

use look::{Cell, HashMap, Sender, tempdir};
use steadfast::prelude::*;

mod look {
    /// Keeps the order in which it is filled.
    #[derive(Clone, Debug, Default)]
    pub struct HashMap(Vec<(u32, u32)>);
    impl HashMap {
        pub fn new() -> Self {
            Self::default()
        }
        pub fn iter(&self) -> impl Iterator<Item = &(u32, u32)> {
            self.0.iter()
        }
        pub fn drain(&mut self) -> Vec<(u32, u32)> {
            std::mem::take(&mut self.0)
        }
    }
    impl IntoIterator for HashMap {
        type Item = (u32, u32);
        type IntoIter = std::vec::IntoIter<(u32, u32)>;
        fn into_iter(self) -> Self::IntoIter {
            self.0.into_iter()
        }
    }
    #[derive(Clone, Copy)]
    pub struct Cell;
    impl Cell {
        pub fn new() -> Self {
            Self
        }
        pub fn get(self) -> u32 {
            1
        }
    }
    pub struct Sender;
    impl Sender {
        pub fn send(&self) -> u32 {
            1
        }
    }
    pub fn tempdir() -> u32 {
        1
    }
}

/// Methods like those of maps, locks and floats.
struct Drawer;

impl Drawer {
    fn keys(&self) -> Vec<u32> {
        vec![1]
    }
    fn values(&self) -> Vec<u32> {
        vec![1]
    }
    fn lock(&self) -> Result<u32, BoxError> {
        Ok(1)
    }
    fn borrow_mut(&self) -> u32 {
        1
    }
    fn read(&self) -> u32 {
        1
    }
    fn exp(&self) -> u32 {
        1
    }
    fn retain(&self, _: fn(u32) -> bool) {}
}

struct Shop {
    stock: Mutex<u32>,
    seen: HashSet<u32>,
}

async fn count(number: u32) -> Result<u32, BoxError> {
    Ok(number)
}

#[workflow]
async fn own_types(start: u32) -> Result<u32, BoxError> {
    let mut map = HashMap::new();
    let text = format!("{map:?}");
    for (key, value) in map.clone() {
        step!("own map", count(key + value)).key(key).await?;
    }
    let all = map.iter().count() + map.drain().len() + text.len();
    let drawer = Drawer;
    for key in drawer.keys() {
        sleep!("own keys", secs(u64::from(key))).await;
    }
    drawer.retain(|_| true);
    let (held, borrowed, read, folder) = (drawer.lock()?, drawer.borrow_mut(), drawer.read(), tempdir());
    let held_too = drawer.lock()?;
    let (cell, sender) = (Cell::new(), Sender);
    let sent = step!("own cell", async { Ok(cell.get() + sender.send()) }).await?;
    if drawer.exp() > 1 {
        return Ok(0);
    }
    let values = drawer.values().into_iter().sum::<u32>();
    Ok(start + held + held_too + borrowed + read + folder + sent + values + u32::try_from(all)?)
}

#[workflow]
async fn no_order(names: std::collections::HashMap<String, u32>, shop: &Shop) -> Result<Vec<String>, BoxError> {
    let mut known = names.clone();
    known.insert("one".to_owned(), 1);
    *known.entry("two".to_owned()).or_default() += 1;
    if known == names || known.get("one").is_none() || !known.contains_key("two") || known.is_empty() {
        return Ok(Vec::new());
    }
    let total: u32 = known.values().sum();
    let most = known.values().copied().max();
    let big = known.values().filter(|count| **count > total / 2).count() + known.len();
    let sorted: BTreeMap<_, _> = known.iter().collect();
    for (name, count) in sorted {
        step!("in order", async { Ok(name.len() as u64 + u64::from(*count)) }).key(name).await?;
    }
    let mut list: Vec<String> = names.into_keys().collect();
    list.sort();
    let numbers = known.into_values().collect::<BTreeSet<u32>>();
    tracing::info!("{most:?} {big} {numbers:?} {}", shop.seen.len());
    let known = vec![1, 2];
    for number in known.iter().chain(&known) {
        step!("another variable of that name", count(*number)).key(number).await?;
    }
    // for x in std::collections::HashMap::new() {}
    let text = "HashMap::new().iter() RefCell::new(1).borrow_mut()";
    list.push(text.to_owned());
    Ok(step!("in a body everything is allowed", {
        let map: std::collections::HashMap<u32, u32> = std::collections::HashMap::from([(1, 2)]);
        let counter = std::sync::atomic::AtomicU32::new(1);
        for (key, value) in &map {
            counter.fetch_add(key + value, std::sync::atomic::Ordering::Relaxed);
        }
        *shop.stock.lock().expect("not poisoned") += counter.into_inner();
        let _ = count(1).await;
        Ok(list.clone())
    })
    .await?)
}

#[workflow]
async fn waits(stock: &Mutex<u32>, load: f64) -> Result<u32, BoxError> {
    #[allow_nondeterminism(sync_primitive, reason = "another rule is looked at here")]
    let left = *stock.lock().expect("not poisoned");
    {
        #[allow_nondeterminism(sync_primitive, reason = "another rule is looked at here")]
        let mut held = stock.lock().expect("not poisoned");
        *held += 1;
    }
    let more = {
        #[allow_nondeterminism(sync_primitive, reason = "another rule is looked at here")]
        let held = stock.lock().expect("not poisoned");
        *held > 1
    };
    let later = sleep!("later", secs(1));
    let all: Vec<_> = (0..3)
        .map(|number| async move { step!("many", count(number)).key(number).await })
        .collect();
    let counts = try_join_all(all).await?;
    later.await;
    let _ = step!("checked", count(1)).await?;
    let _tried = step!("tried", count(2)).await;
    let _ = signal!("either way").timeout(secs(1)).await.unwrap_or(0u32);
    let mut rounds = 0;
    loop {
        rounds += step!("round", count(1)).key(rounds).await?;
        if rounds > 3 || more {
            break;
        }
    }
    let angle = load.sin();
    let exact = load.sqrt() * 2.0;
    if exact > 1.0 && load < 2.0 {
        tracing::info!("{angle}");
    }
    let sine = step!("sine", async { Ok(load.sin()) }).await?;
    if sine > 0.5 {
        rounds += 1;
    }
    let places: usize = counts.len();
    Ok(left + rounds + u32::try_from(places)?)
}

/// A signature has no statement, so its allowance stands on the function; of two steps of one name only one is compiled.
#[workflow]
#[allow_nondeterminism(stored_usize, reason = "counts at most a few thousand")]
async fn counts(names: Vec<String>) -> Result<usize, BoxError> {
    #[cfg(unix)]
    let count = step!("count", count(1)).await?;
    #[cfg(not(unix))]
    let count = step!("count", count(2)).await?;
    Ok(names.join(", ").len() + usize::try_from(count)?)
}

fn main() {}
