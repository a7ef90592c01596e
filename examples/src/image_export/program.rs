//! One export as a person sees it: starts or resumes it, waits, and says in a sentence how it ended. Absent on purpose:
//! the work, and whatever survives a kill; all that is in the journal.

use super::choice::{Choice, choose};
use super::error::sentence;
use super::job::{ExportJob, Exported};
use super::progress::{Stage, Tally, counted};
use super::workflow::image_export;
use super::{Arguments, Studio, archive, pages, samples};
use indicatif::HumanBytes;
use std::fmt::Display;
use std::path::Path;
use std::time::{Duration, Instant};
use steadfast::prelude::*;
use steadfast::store::StoreOpenError;
use steadfast::{OpenError, WorkflowError};

/// How long bodies that are under way get to finish when the program is told to stop.
const GRACE: Duration = Duration::from_secs(10);

/// Why there is no ZIP, in a sentence, and the exit code that goes with it.
#[derive(Debug)]
pub struct Stop {
    /// For the person.
    pub sentence: String,
    /// 1: it failed. 130: it was told to stop.
    pub exit_code: u8,
}

impl Stop {
    pub(super) fn failed(reason: impl Display) -> Self {
        Self {
            sentence: format!("error: {reason}"),
            exit_code: 1,
        }
    }

    pub(super) fn of(error: impl std::error::Error) -> Self {
        Self::failed(sentence(&error))
    }
}

/// Exports as `arguments` say; the answer is the summary.
pub async fn run(arguments: &Arguments) -> Result<String, Stop> {
    let job = arguments.job().map_err(Stop::failed)?;
    if let Some(folder) = arguments.samples() {
        samples::draw_into(&folder).map_err(Stop::of)?;
    }
    let studio = Studio::new(arguments.data.clone(), Duration::from_millis(arguments.slow));
    let builder = Runtime::builder().workflow(image_export).state(studio.clone());
    let runtime = builder
        .open(arguments.data.join("journal"))
        .await
        .map_err(|error| cannot_open(&arguments.data, error))?;

    let ended = to_the_end(arguments, job, &studio, &runtime).await;
    studio.progress.hide();
    tokio::select! {
        _ = runtime.shutdown(GRACE) => {}
        () = told_to_stop() => {}
    }
    ended
}

async fn to_the_end(arguments: &Arguments, job: ExportJob, studio: &Studio, runtime: &Runtime) -> Result<String, Stop> {
    let (job, handle) = match choose(arguments, job, studio, runtime).await? {
        Choice::Over(job, handle) => {
            return finished_earlier(&Run {
                arguments,
                job,
                studio,
                handle,
            })
            .await;
        }
        Choice::Unfinished(job, handle) => {
            archive::check_writable(&job.out).map_err(Stop::of)?;
            eprintln!("going on with {}", job.id);
            (job, handle)
        }
        Choice::New(job) => {
            // Nothing is recorded for a folder that is not there.
            pages::list(&job).map_err(Stop::of)?;
            archive::check_writable(&job.out).map_err(Stop::of)?;
            let handle = runtime
                .start(image_export, job.clone())
                .id(&job.id)
                .await
                .map_err(Stop::of)?;
            (job, handle)
        }
    };
    wait(&Run {
        arguments,
        job,
        studio,
        handle,
    })
    .await
}

/// An export that exists, and those who care.
struct Run<'a> {
    arguments: &'a Arguments,
    job: ExportJob,
    studio: &'a Studio,
    handle: Handle<image_export>,
}

async fn wait(run: &Run<'_>) -> Result<String, Stop> {
    let started = Instant::now();
    let id = &run.job.id;
    run.studio.progress.show(id);
    tokio::select! {
        result = run.handle.result() => {
            let exported = result.map_err(|error| failed(run, error))?;
            Ok(summary(&run.studio.progress.tally(id), &exported, started.elapsed()))
        }
        sentence = run.studio.trouble(id) => Err(Stop::failed(format!(
            "{sentence}; no page is lost: repair that and go on with\n    {}",
            command_line()
        ))),
        () = told_to_stop() => Err(stopped(run)),
    }
}

async fn finished_earlier(run: &Run<'_>) -> Result<String, Stop> {
    let Exported { out, pages, size } = run.handle.result().await.map_err(|error| failed(run, error))?;
    let (id, shown, size) = (&run.job.id, shown(&out), HumanBytes(size));
    if !out.exists() {
        let reason = format!("{id} was finished earlier, but {shown} is gone; export again with another --id");
        return Err(Stop::failed(reason));
    }
    Ok(format!(
        "{id} was finished earlier: {} in {shown} ({size})\n\
         To export again, remove that file or give another --id",
        counted(pages)
    ))
}

fn summary(tally: &Tally, exported: &Exported, took: Duration) -> String {
    let Exported { out, pages, size } = exported;
    format!(
        "exported {} to {} ({}) in {:.1} s\n{} bodies ran, {} results came from the journal",
        counted(*pages),
        shown(out),
        HumanBytes(*size),
        took.as_secs_f64(),
        tally.ran,
        tally.recorded_before(),
    )
}

fn stopped(run: &Run<'_>) -> Stop {
    run.studio.progress.hide();
    eprintln!("stopping; once more stops at once");
    let tally = run.studio.progress.tally(&run.job.id);
    let (done, pages) = (tally.pages_past(Stage::Render), tally.pages());
    let sentence = format!(
        "stopped: {done} of {pages} pages are rendered and stay so; go on with\n    {}",
        command_line()
    );
    Stop {
        sentence,
        exit_code: 130,
    }
}

fn failed(run: &Run<'_>, error: WorkflowError) -> Stop {
    let id = &run.job.id;
    let WorkflowError::Failed(failure) = error else {
        return Stop::of(error);
    };
    run.studio.discard(id);
    let remedy = if run.arguments.id.is_some() {
        "export with another --id"
    } else {
        "export again"
    };
    Stop::failed(format!("{id} failed: {}; repair that and {remedy}", failure.message()))
}

fn cannot_open(data: &Path, error: OpenError) -> Stop {
    match error {
        OpenError::Store(StoreOpenError::InUse { .. }) => {
            Stop::failed(format!("{} is in use by another image-export", data.display()))
        }
        other => Stop::of(other),
    }
}

/// Ctrl-C, or what a service manager sends.
async fn told_to_stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

/// What was typed, ready to be typed again.
fn command_line() -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=".contains(c);
    let quote = |word: String| match word.chars().all(plain) && !word.is_empty() {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    std::env::args().map(quote).collect::<Vec<_>>().join(" ")
}

/// As a person would type it.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}
