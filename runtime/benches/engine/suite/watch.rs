//! How a case sees what workflows do: who is in memory, and when somebody got somewhere.

use crate::suite::Fault;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How often is looked whether everybody has left memory.
const LOOK_AGAIN: Duration = Duration::from_millis(2);
/// Nothing that is waited for here takes as long.
const PATIENCE: Duration = Duration::from_secs(600);

/// The state that watched workflows borrow.
pub(crate) struct Watch {
    entered: AtomicU64,
    left: AtomicU64,
    marks: UnboundedSender<Mark>,
    holds: bool,
}

/// Somebody got to the place that the workflow marks.
pub(crate) struct Mark {
    pub(crate) instance: u64,
    pub(crate) at: Instant,
}

pub(crate) struct Marks(UnboundedReceiver<Mark>);

/// Is dropped together with the workflow's future.
pub(crate) struct Here<'a>(&'a AtomicU64);

impl Drop for Here<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

impl Watch {
    /// `holds`: whether [`Watch::hold`] never ends.
    pub(crate) fn new(holds: bool) -> (Arc<Self>, Marks) {
        let (marks, receiver) = unbounded_channel();
        let watch = Self {
            entered: AtomicU64::new(0),
            left: AtomicU64::new(0),
            marks,
            holds,
        };
        (Arc::new(watch), Marks(receiver))
    }

    /// A workflow's code begins: for the first time or for a replay.
    pub(crate) fn enter(&self) -> Here<'_> {
        self.entered.fetch_add(1, Ordering::AcqRel);
        Here(&self.left)
    }

    pub(crate) fn mark(&self, instance: u64) {
        let at = Instant::now();
        // The case may have seen enough.
        let _ = self.marks.send(Mark { instance, at });
    }

    pub(crate) async fn hold(&self) {
        if self.holds {
            std::future::pending::<()>().await;
        }
    }

    /// How often workflow code began.
    pub(crate) fn entered(&self) -> u64 {
        self.entered.load(Ordering::Acquire)
    }

    /// Waits until workflow code has left memory this often.
    pub(crate) async fn until_left(&self, often: u64) -> Result<(), Fault> {
        let begun = Instant::now();
        while self.left.load(Ordering::Acquire) < often {
            if begun.elapsed() > PATIENCE {
                return Err("instances that wait are still in memory".into());
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(())
    }

    /// Waits until workflow code began this often and nobody is in memory any more.
    pub(crate) async fn all_left(&self, entered: u64) -> Result<(), Fault> {
        self.until_left(entered).await?;
        match self.entered() {
            now if now == entered => Ok(()),
            now => Err(format!("workflow code began {now} times rather than {entered}").into()),
        }
    }
}

impl Marks {
    pub(crate) async fn next(&mut self) -> Result<Mark, Fault> {
        let mark = tokio::time::timeout(PATIENCE, self.0.recv()).await;
        mark.ok().flatten().ok_or_else(|| "nobody got there".into())
    }
}
