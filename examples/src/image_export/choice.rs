//! Decides which export the arguments mean: a new one, one that is under way, or one that is over.
//!
//! A given id means that export, whatever became of it. Without an id, the exports to one file are numbered, and the
//! last one counts: it goes on if it is unfinished, it is done if its ZIP is there, and otherwise another follows.

use super::job::ExportJob;
use super::program::Stop;
use super::workflow::image_export;
use super::{Arguments, Studio};
use steadfast::prelude::*;
use steadfast::{RuntimeError, StartError};

/// The export to run, or to report about.
pub(super) enum Choice {
    /// Nothing is recorded of it.
    New(ExportJob),
    /// It was started with the same arguments.
    Unfinished(ExportJob, Handle<image_export>),
    /// It was started with the same arguments, and has ended.
    Over(ExportJob, Handle<image_export>),
}

/// An export that exists.
struct Known {
    job: ExportJob,
    status: Status,
    /// None if it was started with other arguments.
    handle: Option<Handle<image_export>>,
}

pub(super) async fn choose(
    arguments: &Arguments,
    job: ExportJob,
    studio: &Studio,
    runtime: &Runtime,
) -> Result<Choice, Stop> {
    if arguments.id.is_some() {
        return Ok(match look(runtime, &job).await? {
            None => Choice::New(job),
            Some(Known { handle: None, .. }) => {
                let reason = format!(
                    "{} was started with other arguments; give those, or another --id",
                    job.id
                );
                return Err(Stop::failed(reason));
            }
            Some(Known {
                job,
                status,
                handle: Some(handle),
            }) if status.is_terminal() => Choice::Over(job, handle),
            Some(Known {
                job,
                handle: Some(handle),
                ..
            }) => Choice::Unfinished(job, handle),
        });
    }
    let (last, next) = last_to_this_file(runtime, job).await?;
    Ok(match last {
        Some(Known {
            job,
            status: Status::Completed,
            handle: Some(handle),
        }) if job.out.exists() => Choice::Over(job, handle),
        Some(Known { job, status, handle }) if !status.is_terminal() => match handle {
            Some(handle) => Choice::Unfinished(job, handle),
            None => {
                give_up(&job.id, studio, runtime).await?;
                Choice::New(next)
            }
        },
        Some(_) | None => Choice::New(next),
    })
}

/// The last export to the job's file, and the job of the one that would follow it.
async fn last_to_this_file(runtime: &Runtime, mut job: ExportJob) -> Result<(Option<Known>, ExportJob), Stop> {
    let id = job.id.clone();
    let mut last = None;
    let mut number = 1;
    while let Some(known) = look(runtime, &job).await? {
        last = Some(known);
        number += 1;
        job.id = format!("{id}-{number}");
    }
    Ok((last, job))
}

async fn look(runtime: &Runtime, job: &ExportJob) -> Result<Option<Known>, Stop> {
    let status = match runtime.status(&job.id).await {
        Ok(instance) => instance.status,
        Err(RuntimeError::UnknownInstance { .. }) => return Ok(None),
        Err(error) => return Err(Stop::of(error)),
    };
    // It exists, so this starts nothing: it compares the arguments.
    let handle = match runtime.start(image_export, job.clone()).id(&job.id).await {
        Ok(handle) => Some(handle),
        Err(StartError::Conflict { .. }) => None,
        Err(error) => return Err(Stop::of(error)),
    };
    Ok(Some(Known {
        job: job.clone(),
        status,
        handle,
    }))
}

/// Ends an export that would write the same file from other arguments, maybe after the new one.
async fn give_up(id: &str, studio: &Studio, runtime: &Runtime) -> Result<(), Stop> {
    eprintln!("giving up {id}, which was to write the same file from other arguments");
    runtime
        .cancel(id, "another export writes the same file")
        .await
        .map_err(Stop::of)?;
    let ended = runtime.handle(image_export, id).await.map_err(Stop::of)?.result().await;
    if ended.is_err() {
        studio.discard(id);
    }
    Ok(())
}
