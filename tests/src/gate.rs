//! A gate that holds bodies until the test lets them through, and counts how many it holds at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// Clones are one and the same gate.
#[derive(Clone, Debug)]
pub struct Gate(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    permits: Semaphore,
    inside: AtomicUsize,
    most: AtomicUsize,
    passed: Mutex<Vec<String>>,
}

/// A body is inside; dropped when it ends or is dropped.
struct Inside<'a>(&'a Shared);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Default for Gate {
    fn default() -> Self {
        Gate(Arc::new(Shared {
            permits: Semaphore::new(0),
            inside: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            passed: Mutex::default(),
        }))
    }
}

impl Gate {
    /// Waits to be let through.
    pub async fn pass(&self, body: impl std::fmt::Display) {
        let inside = self.0.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.most.fetch_max(inside, Ordering::SeqCst);
        let _inside = Inside(&self.0);
        // The gate is never closed for good.
        if let Ok(permit) = self.0.permits.acquire().await {
            permit.forget();
        }
        let mut passed = self.0.passed.lock().unwrap_or_else(PoisonError::into_inner);
        passed.push(body.to_string());
    }

    /// Lets this many bodies through, those that come later included.
    pub fn open(&self, bodies: usize) {
        self.0.permits.add_permits(bodies);
    }

    /// How many bodies are held now.
    pub fn held(&self) -> usize {
        self.0.inside.load(Ordering::SeqCst)
    }

    /// The most that were ever held at once since this was asked last.
    pub fn take_most(&self) -> usize {
        self.0.most.swap(self.held(), Ordering::SeqCst)
    }

    /// The bodies that went through, in order.
    pub fn passed(&self) -> Vec<String> {
        self.0.passed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
