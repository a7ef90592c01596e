//! The export from beginning to end. This is all the code there is about surviving a kill.

use super::error::{ExportError, ExportFailed};
use super::job::{ExportJob, Exported};
use super::progress::Stage;
use super::studio::Studio;
use steadfast::prelude::*;

/// Exports the pages of a folder as one ZIP.
///
/// Each page is its own step, named by the page, so after a kill only the pages that were under way are done again.
/// What the steps hand on are small references; the images stay in files.
#[workflow(name = "image-export")]
pub async fn image_export(job: ExportJob, studio: &Studio) -> Result<Exported, ExportFailed> {
    let job = &job;
    studio.progress.begin(job);

    let pages = step!("list", studio.list(job)).retry_if(ExportError::may_pass).await?;
    studio.progress.listed(job, pages.len());

    let prepared = map_concurrent(&pages, usize::from(job.prepare), |page| async move {
        let prepared = step!("prepare", studio.prepare(job, page))
            .key(&page.name)
            .retry_if(ExportError::may_pass)
            .await;
        prepared.inspect(|_| studio.progress.passed(job, Stage::Prepare))
    })
    .await?;

    let rendered = map_concurrent(&prepared, usize::from(job.render), |page| async move {
        let rendered = step!("render", studio.render(job, page))
            .key(&page.page.name)
            .retry_if(ExportError::may_pass)
            .await;
        rendered.inspect(|_| studio.progress.passed(job, Stage::Render))
    })
    .await?;

    // All pages are rendered: an output that cannot be written is no reason to give them up.
    let exported = step!("archive", |attempt| studio.archive(job, &rendered, attempt))
        .retry(Retry::exponential(secs(1)).cap(secs(5)).max_attempts(u32::MAX))
        .retry_if(ExportError::may_pass)
        .await?;
    studio.progress.passed(job, Stage::Archive);

    step!("tidy", studio.tidy(job)).await?;
    studio.progress.passed(job, Stage::Tidy);
    Ok(exported)
}
