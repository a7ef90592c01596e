//! Which bodies ran, how often and in which order: the outside effects that a test counts.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use steadfast::BoxError;

/// Clones are one and the same ledger.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Arc<Mutex<Vec<String>>>);

impl Ledger {
    /// Writes down that a body ran; gives how often it has run now.
    pub fn note(&self, body: impl Display) -> u32 {
        let body = body.to_string();
        let mut entries = self.lock();
        let before = entries.iter().filter(|entry| **entry == body).count();
        entries.push(body);
        before as u32 + 1
    }

    /// A body that is noted, lets others run, and gives `value`.
    pub async fn work<T>(&self, body: impl Display, value: T) -> Result<T, BoxError> {
        self.note(body);
        tokio::task::yield_now().await;
        Ok(value)
    }

    /// A body that is noted and fails until it has run `failures` times.
    pub async fn fail_first<T>(&self, body: impl Display, failures: u32, value: T) -> Result<T, BoxError> {
        let run = self.note(body);
        tokio::task::yield_now().await;
        if run <= failures {
            Err(format!("failure {run}").into())
        } else {
            Ok(value)
        }
    }

    /// How often a body ran.
    pub fn count(&self, body: &str) -> u32 {
        self.lock().iter().filter(|entry| *entry == body).count() as u32
    }

    /// How often each body ran.
    pub fn counts(&self) -> BTreeMap<String, u32> {
        let mut counts = BTreeMap::new();
        for entry in self.lock().iter() {
            *counts.entry(entry.clone()).or_default() += 1;
        }
        counts
    }

    /// All bodies in the order they began.
    pub fn entries(&self) -> Vec<String> {
        self.lock().clone()
    }

    /// How many bodies ran.
    pub fn total(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
