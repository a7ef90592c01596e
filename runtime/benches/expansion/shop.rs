//! What the measured function works with: the beginning of both throw-away crates. It is text to the benchmark.
#![allow(missing_docs)]

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    pub customer: String,
    pub lines: Vec<Line>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    pub article: String,
    pub count: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Payment {
    pub id: String,
    pub cents: u32,
}

/// What one call fails with.
#[derive(Debug)]
pub struct CallError(pub String);

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CallError {}

/// What the whole fails with.
#[derive(Debug)]
pub enum ShopError {
    Nothing,
    TooMuch(u32),
    Call(String),
}

impl fmt::Display for ShopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for ShopError {}

impl From<CallError> for ShopError {
    fn from(error: CallError) -> Self {
        Self::Call(error.0)
    }
}

pub struct Shop;

impl Shop {
    pub async fn quote(&self, order: &Order, part: u32) -> Result<Payment, CallError> {
        Ok(Payment {
            id: order.customer.clone(),
            cents: part,
        })
    }

    pub async fn reserve(&self, order: &Order, units: u32) -> Result<u32, CallError> {
        order
            .lines
            .first()
            .map(|line| line.count.min(units))
            .ok_or_else(|| CallError(order.customer.clone()))
    }

    pub async fn pack(&self, line: &Line) -> Result<u32, CallError> {
        Ok(line.count)
    }

    pub async fn charge(&self, order: &Order, key: &str, cents: u32) -> Result<Payment, CallError> {
        Ok(Payment {
            id: format!("{} {key}", order.customer),
            cents,
        })
    }

    pub async fn mail(&self, letter: &str) -> Result<(), CallError> {
        if letter.is_empty() {
            return Err(CallError(String::new()));
        }
        Ok(())
    }
}
