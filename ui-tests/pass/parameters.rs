//! Patterns, lifetimes, several states, many inputs, aliases.
#![deny(warnings)]

use std::collections::BTreeMap;
use std::sync::Arc;

use steadfast::Workflow;
use steadfast::prelude::*;
use steadfast_ui_tests::{Line, Shop, ShopError};

type Result<T, E = ShopError> = std::result::Result<T, E>;
type Numbers = (u32, u32);

#[workflow]
async fn patterns((a, b): Numbers, Line { article, mut count }: Line, [c, _]: [u32; 2], mut d: u32, _unused: u8, _: u8) -> Result<u32> {
    count += 1;
    d += a + b + c;
    Ok(step!("add", async { Ok::<_, ShopError>(d + count) }).key(article).await?)
}

#[workflow]
async fn states<'shop>(shop: &'shop Shop, order: String, numbers: &BTreeMap<String, u32>, shared: &'_ Arc<Shop>) -> Result<u32> {
    let line = Line { article: order, count: 1 };
    let _: &'shop Shop = shop;
    step!("one", shop.pack(&line)).await?;
    step!("two", shared.pack(&line)).await?;
    Ok(numbers.values().sum())
}

#[workflow]
async fn paths(input: std::collections::BTreeMap<String, Vec<Option<u8>>>, _text: std::borrow::Cow<'static, str>) -> std::result::Result<u32, Box<dyn std::error::Error + Send + Sync>> {
    Ok(u32::try_from(input.len())?)
}

/// A durable function takes what an async function takes.
#[durable]
async fn generic<'a, T, const N: usize>(items: [&'a T; N], shown: impl Fn(&T) -> String + Sync, (x, _y): (u8, u8)) -> Vec<String>
where
    T: Sync + 'a,
{
    let mut all = Vec::new();
    for item in items {
        let text = shown(item);
        all.push(step!("show", { Ok(text.clone()) }).await.unwrap_or_default());
    }
    all.truncate(usize::from(x));
    all
}

struct Counter<'a, T> {
    start: &'a T,
}

impl<T: Copy + Into<u32> + Sync> Counter<'_, T> {
    #[durable]
    async fn count(&self, by: &u32) -> Result<u32, StepError> {
        let start: u32 = (*self.start).into();
        step!("count", { Ok(start + by) }).await
    }

    #[durable]
    async fn twice(self, by: u32) -> Result<u32, StepError> {
        Ok(self.count(&by).await? + self.count(&by).await?)
    }

    #[durable]
    async fn forget(&mut self) {}
}

#[workflow]
async fn helpers(input: u32) -> Result<Vec<String>> {
    let mut counter = Counter { start: &input };
    counter.forget().await;
    let total = counter.twice(2).await?;
    let (first, second) = (total, total + 1);
    Ok(generic([&first, &second], |number| number.to_string(), (1, 2)).await)
}

/// Recursion needs a box, as in any async function.
#[durable]
async fn count_down(from: u32) -> Result<u32, StepError> {
    if from == 0 {
        return Ok(0);
    }
    let next = Box::pin(count_down(from - 1));
    next.await
}

#[workflow]
async fn counting(from: u32) -> Result<u32> {
    Ok(count_down(from).await?)
}

fn main() {
    assert_eq!(<states as Workflow>::NAME, "states");
}
