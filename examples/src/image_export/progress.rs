//! Counts what each export has done and shows the one that the person waits for: as a bar on a terminal, as a few plain
//! lines elsewhere. Absent on purpose: the journal. Replay runs the workflow's code again, which counts recorded results
//! again, so the counts are right after a resume without being stored.

use super::job::ExportJob;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What an export does one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    List,
    Prepare,
    Render,
    Archive,
    Tidy,
}

/// How far an export is.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pages: usize,
    results: BTreeMap<Stage, usize>,
    /// Bodies that succeeded in this process.
    pub(super) ran: usize,
}

impl Tally {
    /// Results that no body of this process made: they came from the journal.
    pub(super) fn recorded_before(&self) -> usize {
        self.results.values().sum::<usize>().saturating_sub(self.ran)
    }

    /// The latest stage that has a result.
    fn stage(&self) -> Option<Stage> {
        self.results.last_key_value().map(|(stage, _)| *stage)
    }

    /// How many pages have passed `stage`.
    pub(super) fn pages_past(&self, stage: Stage) -> usize {
        self.results.get(&stage).copied().unwrap_or_default()
    }

    /// All pages, once they are listed.
    pub(super) fn pages(&self) -> usize {
        self.pages
    }
}

/// The progress of all exports in this process; one of them is shown.
pub(super) struct Progress {
    exports: Mutex<Exports>,
    bar: Option<ProgressBar>,
}

#[derive(Default)]
struct Exports {
    tallies: BTreeMap<String, Tally>,
    shown: Option<String>,
}

impl Progress {
    /// Nothing is shown until [`Progress::show`].
    pub(super) fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{prefix:>10} {wide_bar} {pos}/{len} pages, {elapsed}");
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.with_style(style.expect("the template is fixed and valid"))
        });
        Self {
            exports: Mutex::default(),
            bar,
        }
    }

    /// Shows the export `id` from now on.
    pub(super) fn show(&self, id: &str) {
        let mut exports = self.lock();
        exports.shown = Some(id.to_owned());
        if let Some(bar) = &self.bar {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        // It may have gone on since the runtime was opened.
        if let Some((tally, stage)) = exports.tallies.get(id).and_then(|tally| Some((tally, tally.stage()?))) {
            self.draw(stage, tally);
        }
    }

    /// Takes the bar away, so that the summary stands alone.
    pub(super) fn hide(&self) {
        self.lock().shown = None;
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    pub(super) fn tally(&self, id: &str) -> Tally {
        self.lock().tallies.get(id).cloned().unwrap_or_default()
    }

    /// The workflow starts, or is replayed from its beginning.
    pub(super) fn begin(&self, job: &ExportJob) {
        self.lock().tallies.entry(job.id.clone()).or_default().results.clear();
    }

    /// The workflow has the list of its pages.
    pub(super) fn listed(&self, job: &ExportJob, pages: usize) {
        self.lock().tallies.entry(job.id.clone()).or_default().pages = pages;
        self.passed(job, Stage::List);
    }

    /// The workflow has a result, be it fresh or from the journal.
    pub(super) fn passed(&self, job: &ExportJob, stage: Stage) {
        let mut exports = self.lock();
        let tally = exports.tallies.entry(job.id.clone()).or_default();
        *tally.results.entry(stage).or_default() += 1;
        let tally = tally.clone();
        if exports.shown.as_ref() == Some(&job.id) {
            self.draw(stage, &tally);
        }
    }

    /// A body has succeeded.
    pub(super) fn ran(&self, job: &ExportJob) {
        self.lock().tallies.entry(job.id.clone()).or_default().ran += 1;
    }

    fn draw(&self, stage: Stage, tally: &Tally) {
        let (done, pages) = (tally.pages_past(stage), tally.pages);
        match (&self.bar, stage) {
            (Some(bar), Stage::Prepare | Stage::Render) => {
                bar.set_prefix(if stage == Stage::Prepare {
                    "preparing"
                } else {
                    "rendering"
                });
                bar.set_length(pages as u64);
                bar.set_position(done as u64);
            }
            (None, Stage::List) => eprintln!("listed {}", counted(pages)),
            (None, Stage::Prepare) if worth_a_line(done, pages) => eprintln!("prepared {done} of {pages} pages"),
            (None, Stage::Render) if worth_a_line(done, pages) => eprintln!("rendered {done} of {pages} pages"),
            (None, Stage::Archive) => eprintln!("archived {}", counted(pages)),
            (None, Stage::Prepare | Stage::Render | Stage::Tidy)
            | (Some(_), Stage::List | Stage::Archive | Stage::Tidy) => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, Exports> {
        self.exports.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `1 page`, `2 pages`.
pub(super) fn counted(pages: usize) -> String {
    format!("{pages} page{}", if pages == 1 { "" } else { "s" })
}

/// Four lines for a stage, however many pages there are.
fn worth_a_line(done: usize, pages: usize) -> bool {
    pages != 0 && done * 4 / pages != done.saturating_sub(1) * 4 / pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_gets_four_lines_at_most_and_always_the_last() {
        for pages in [1, 3, 4, 24, 1_000] {
            let lines: Vec<_> = (1..=pages).filter(|done| worth_a_line(*done, pages)).collect();
            assert!(lines.len() <= 4, "{lines:?}");
            assert_eq!(lines.last(), Some(&pages));
        }
    }
}
