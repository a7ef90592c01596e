//! The bodies of the export's steps: each does its work once, on the right thread, and says so. Absent on purpose:
//! order, limits and retries, which the workflow decides.

use super::error::{ExportError, sentence};
use super::files::WorkFolder;
use super::job::{ExportJob, Exported, Page, Prepared, Rendered};
use super::progress::Progress;
use super::{archive, pages, render, snapshot};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use steadfast::Attempt;
use tokio::sync::watch;
use tracing::{debug, warn};

/// Where the work is done. The workflow borrows it; it is never stored.
#[derive(Clone)]
pub struct Studio {
    data: PathBuf,
    pause: Duration,
    pub(super) progress: Arc<Progress>,
    trouble: watch::Sender<Option<Trouble>>,
}

/// What only a person can repair: an output that cannot be written.
#[derive(Clone, Debug)]
struct Trouble {
    export: String,
    sentence: String,
}

impl Studio {
    /// Work files go below `data`; each page waits for `pause`, so that there is time for a kill.
    pub fn new(data: PathBuf, pause: Duration) -> Self {
        Self {
            data,
            pause,
            progress: Arc::new(Progress::new()),
            trouble: watch::Sender::new(None),
        }
    }

    /// Resolves when the export `id` needs a person.
    pub(super) async fn trouble(&self, id: &str) -> String {
        let mut troubles = self.trouble.subscribe();
        let ours = |trouble: &Option<Trouble>| trouble.as_ref().is_some_and(|trouble| trouble.export == id);
        let trouble = troubles.wait_for(ours).await.ok().and_then(|trouble| trouble.clone());
        trouble
            .expect("this studio holds the sender, and the condition asks for a trouble")
            .sentence
    }

    pub(super) async fn list(&self, job: &ExportJob) -> Result<Vec<Page>, ExportError> {
        let asked = job.clone();
        self.run(job, move || pages::list(&asked)).await
    }

    pub(super) async fn prepare(&self, job: &ExportJob, page: &Page) -> Result<Prepared, ExportError> {
        debug!(page = page.name, "preparing");
        tokio::time::sleep(self.pause).await;
        let (folder, page, work) = (job.pages.clone(), page.clone(), self.work(job));
        let prepared = self.run(job, move || snapshot::prepare(&folder, &page, &work)).await?;
        debug!(page = prepared.page.name, "prepared");
        Ok(prepared)
    }

    pub(super) async fn render(&self, job: &ExportJob, prepared: &Prepared) -> Result<Rendered, ExportError> {
        debug!(page = prepared.page.name, "rendering");
        tokio::time::sleep(self.pause).await;
        let (asked, prepared, work) = (job.clone(), prepared.clone(), self.work(job));
        let rendered = self.run(job, move || render::render(&asked, &prepared, &work)).await?;
        debug!(page = rendered.page.name, "rendered");
        Ok(rendered)
    }

    pub(super) async fn archive(
        &self,
        job: &ExportJob,
        rendered: &[Rendered],
        attempt: Attempt,
    ) -> Result<Exported, ExportError> {
        debug!(pages = rendered.len(), "archiving");
        let temporary = archive::temporary_beside(&job.out, &format!("{:?} {}", self.data, attempt.idempotency_key()));
        let (out, rendered, work) = (job.out.clone(), rendered.to_vec(), self.work(job));
        // A body that is given up is dropped, which stops no thread; this does.
        let cancellation = attempt.cancellation();
        let write = move || {
            let size = archive::archive(&rendered, &work, &out, &temporary, || cancellation.is_cancelled())?;
            Ok(Exported {
                out,
                pages: rendered.len(),
                size,
            })
        };
        let archived = self.run(job, write).await;
        if let Err(error @ ExportError::Unwritable { .. }) = &archived {
            let sentence = sentence(error);
            warn!(export = job.id, "{sentence}");
            self.trouble.send_replace(Some(Trouble {
                export: job.id.clone(),
                sentence,
            }));
        }
        archived
    }

    pub(super) async fn tidy(&self, job: &ExportJob) -> Result<(), ExportError> {
        let work = self.work(job);
        self.run(job, move || work.remove()).await
    }

    /// Removes the work files of an export that ended without its last step. What cannot be removed only takes room.
    pub(super) fn discard(&self, id: &str) {
        let _ = WorkFolder::of(&self.data, id).remove();
    }

    fn work(&self, job: &ExportJob) -> WorkFolder {
        WorkFolder::of(&self.data, &job.id)
    }

    /// Runs `work` where it may block, and counts it if it succeeds.
    async fn run<T: Send + 'static>(
        &self,
        job: &ExportJob,
        work: impl FnOnce() -> Result<T, ExportError> + Send + 'static,
    ) -> Result<T, ExportError> {
        let result = match tokio::task::spawn_blocking(work).await {
            Ok(result) => result,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The process is ending before the work began.
                Err(_) => Err(ExportError::Interrupted),
            },
        };
        result.inspect(|_| self.progress.ran(job))
    }
}
