//! What a step body may know about itself.

use crate::machine::Path;
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// One try of a step, seen from its body: `step!("charge", |attempt| shop.charge(&order, attempt.idempotency_key()))`.
#[derive(Clone, Debug)]
pub struct Attempt {
    number: u32,
    seed: [u8; 16],
    path: Path,
    cancellation: Cancellation,
}

impl Attempt {
    pub(crate) fn new(number: u32, seed: [u8; 16], path: Path) -> Self {
        Self {
            number,
            seed,
            path,
            cancellation: Cancellation::default(),
        }
    }

    /// 1 for the first try. Counts tries, not failures: one whose process died was a try, and its effects may exist.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// 32 hexadecimal digits that name this step of this instance: the same on every attempt and after a restart, and
    /// different for every other step and instance.
    ///
    /// Give it to the service that has the effect, and the effect happens once however often the body runs.
    pub fn idempotency_key(&self) -> String {
        let digest = Sha256::new()
            .chain_update(self.seed)
            .chain_update(self.path.as_str())
            .finalize();
        digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Fires when the attempt is given up: timeout, lost race, cancellation or shutdown. An asynchronous body is dropped
    /// at its next await anyway; one that has handed work to a thread should watch this.
    pub fn cancellation(&self) -> Cancellation {
        self.cancellation.clone()
    }
}

/// Tells a body, and whatever it started, that its attempt was given up. Clones are one and the same.
#[derive(Clone, Default)]
pub struct Cancellation(Arc<Shared>);

#[derive(Default)]
struct Shared {
    fired: AtomicBool,
    notify: Notify,
}

impl Cancellation {
    /// Whether the attempt was given up.
    pub fn is_cancelled(&self) -> bool {
        self.0.fired.load(Ordering::Acquire)
    }

    /// Completes when the attempt is given up; at once if it was.
    pub async fn cancelled(&self) {
        let notified = self.0.notify.notified();
        tokio::pin!(notified);
        notified.as_mut().enable();
        if !self.is_cancelled() {
            notified.await;
        }
    }

    pub(crate) fn fire(&self) {
        self.0.fired.store(true, Ordering::Release);
        self.0.notify.notify_waiters();
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancellation").field(&self.is_cancelled()).finish()
    }
}
