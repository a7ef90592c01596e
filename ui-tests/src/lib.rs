//! What the UI tests share: an imaginary shop, so that each case shows nothing but its point.

use std::fmt;

use serde::{Deserialize, Serialize};
use steadfast::StepError;

/// Input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// Who ordered it.
    pub customer: String,
    /// What was ordered.
    pub lines: Vec<Line>,
}

/// One line of an order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    /// What.
    pub article: String,
    /// How many.
    pub count: u32,
}

/// A step's result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Payment {
    /// Names the payment.
    pub id: String,
}

/// Another one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parcel {
    /// Names the parcel.
    pub id: String,
}

/// A signal's value.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Approval {
    /// The answer.
    pub approved: bool,
}

/// State.
#[derive(Debug, Default)]
pub struct Shop;

impl Shop {
    /// Takes the money.
    pub async fn charge(&self, order: &Order, key: &str) -> Result<Payment, ShopError> {
        Ok(Payment {
            id: format!("{}-{key}", order.customer),
        })
    }

    /// Packs one line.
    pub async fn pack(&self, line: &Line) -> Result<Parcel, ShopError> {
        Ok(Parcel {
            id: line.article.clone(),
        })
    }

    /// Sends everything off.
    pub async fn ship(&self, parcels: &[Parcel]) -> Result<u32, ShopError> {
        Ok(u32::try_from(parcels.len()).unwrap_or(u32::MAX))
    }
}

/// What the shop and its workflows fail with.
#[derive(Debug)]
pub enum ShopError {
    /// Nobody approved.
    Rejected,
    /// A step failed for good.
    Step(StepError),
}

impl fmt::Display for ShopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for ShopError {}

impl From<StepError> for ShopError {
    fn from(error: StepError) -> Self {
        Self::Step(error)
    }
}

/// Any future that is not durable.
pub async fn fetch(page: &str) -> Result<String, std::io::Error> {
    Ok(page.to_owned())
}

/// Stands in for `uuid::Uuid`, under an `extern crate` of that name.
#[derive(Clone, Copy, Debug)]
pub struct Uuid;

impl Uuid {
    /// A random one.
    pub fn new_v4() -> Self {
        Self
    }

    /// One of this instant.
    pub fn now_v7() -> Self {
        Self
    }
}

/// Stands in for `rand::rng`.
pub fn rng() -> u32 {
    4
}

/// Stands in for `rand::random`.
pub fn random() -> u32 {
    4
}

/// Stands in for `log::info!`.
#[macro_export]
macro_rules! info {
    ($text:literal) => {};
}

/// Stands in for `log::warn!`.
#[macro_export]
macro_rules! warn {
    ($text:literal) => {};
}

/// Stands in for `futures::future`.
pub mod future {
    /// Gives back what it is given.
    pub async fn join_all<T>(futures: Vec<T>) -> Vec<T> {
        futures
    }

    /// Gives back the first.
    pub async fn select<T>(first: T, _: T) -> T {
        first
    }
}

/// Stands in for `futures::stream`.
pub mod stream {
    /// Holds nothing.
    #[derive(Clone, Copy, Debug)]
    pub struct FuturesUnordered;

    impl FuturesUnordered {
        /// An empty one.
        #[allow(clippy::new_without_default)]
        pub fn new() -> Self {
            Self
        }
    }
}
