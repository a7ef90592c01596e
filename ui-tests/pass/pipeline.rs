//! A nightly data pipeline: generic helpers, methods with checkpoints, nested modules, aliases, `#[cfg]`.
#![deny(warnings)]

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use steadfast::prelude::*;

type Result<T, E = BoxError> = std::result::Result<T, E>;

mod sources {
    use serde::{Deserialize, Serialize};
    use steadfast::prelude::*;

    #[derive(Clone, Debug, Default, Serialize, Deserialize)]
    pub struct Batch<T> {
        pub rows: Vec<T>,
        pub next: Option<u64>,
    }

    pub trait Source: Send + Sync {
        type Row: Clone + Send + Sync;
        fn page(&self, cursor: u64) -> impl Future<Output = Result<Batch<Self::Row>, std::io::Error>> + Send;
    }

    pub struct Paged<'s, S> {
        pub source: &'s S,
        pub name: &'static str,
    }

    impl<S: Source<Row: super::Stored>> Paged<'_, S> {
        /// All pages, one after the other.
        #[durable]
        pub async fn all(&self) -> Result<Vec<S::Row>, StepError> {
            let mut rows = Vec::new();
            let mut cursor = Some(0);
            while let Some(at) = cursor {
                let Batch { rows: more, next } = step!("page", self.source.page(at)).key(format!("{}/{at}", self.name)).await?;
                rows.extend(more);
                cursor = next;
            }
            Ok(rows)
        }
    }
}

use sources::{Batch, Paged, Source};

pub trait Stored: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {}
impl<T: Serialize + DeserializeOwned + Clone + Send + Sync + 'static> Stored for T {}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Sale {
    shop: u32,
    cents: i64,
}

struct Sales;

impl Source for Sales {
    type Row = Sale;
    async fn page(&self, cursor: u64) -> std::io::Result<Batch<Sale>> {
        Ok(Batch { rows: vec![Sale { shop: 1, cents: 2 }], next: (cursor < 3).then_some(cursor + 1) })
    }
}

async fn first_page(sales: &Sales, cursor: u32) -> Result<Vec<Sale>> {
    Ok(sales.page(u64::from(cursor)).await?.rows)
}

/// Tries until it works, with a growing pause that is not a retry of the same step.
#[durable]
async fn patiently<T, F, A>(what: &str, attempt: F) -> Result<T, StepError>
where
    T: Stored,
    F: Fn(u32) -> A + Sync,
    A: Future<Output = Result<T>> + Send,
{
    let mut round = 0;
    loop {
        let result = step!("attempt", { attempt(round).await }).key(format!("{what}{round}")).await;
        match result {
            Err(_) if round < 5 => round += 1,
            done => return done,
        }
        sleep!("pause", minutes(1 << round)).await;
    }
}

#[workflow]
async fn nightly(shops: Vec<u32>, sales: &Sales) -> Result<i64> {
    let source = Paged { source: sales, name: "sales" };
    let rows = source.all().await?;
    let first = patiently("first page", |round| first_page(sales, round)).await?;
    let mut sums = std::collections::BTreeMap::<u32, i64>::new();
    for Sale { shop, cents } in rows.iter().chain(&first) {
        *sums.entry(*shop).or_default() += cents;
    }
    #[cfg(any())]
    step!("only elsewhere", missing()).await?;
    let checked = try_join_all(shops.iter().copied().map(|shop| {
        let sum = sums.get(&shop).copied().unwrap_or_default();
        async move {
            if sum == 0 {
                return Ok::<_, StepError>((shop, 0));
            }
            let sum = step!("check", async move { Ok::<_, std::num::TryFromIntError>(i64::from(i32::try_from(sum)?)) })
                .key(shop)
                .await?;
            Ok((shop, sum))
        }
    }))
    .await?;
    let total = checked.iter().map(|(_, sum)| sum).sum::<i64>();
    let published = match total {
        #[cfg(any())]
        missing => 1,
        0 => Ok(0),
        _ if total < 0 => step!("publish loss", async { Ok::<_, BoxError>(total) }).await,
        _ => step!("publish", { Ok(total) }).await,
    };
    Ok(published?)
}

fn main() {}
