//! Writes groups in order and keeps the watch on the disk: the work runs on a thread of the store's own, and a commit that
//! does not come back in time is a failed store, not a caller that hangs. Absent on purpose: what a group means.

use super::disk::{Disk, io, let_go};
use super::draft::{Draft, Group};
use super::garbage::Garbage;
use super::judge;
use super::rows::{Head, RowFault};
use super::values::Values;
use super::view::guarded;
use crate::store::{Write, Written};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

type Outcome = Result<(), RowFault>;

enum Job {
    Write(Group),
    /// The last job. It carries the caller's share of the disk, so that the thread lets go of the whole of it.
    Close(Arc<Disk>),
}

/// The only writer of a store.
pub(super) struct Committer {
    pub(super) head: Head,
    garbage: Garbage,
    jobs: Sender<Job>,
    written: Receiver<Outcome>,
    /// Apart from `written`, where the answer to a write that came too late may still arrive.
    closed: Receiver<Outcome>,
    patience: Duration,
}

impl Committer {
    pub(super) fn start(
        disk: &Arc<Disk>,
        head: Head,
        garbage: Garbage,
        values: Values,
        patience: Duration,
    ) -> std::io::Result<Self> {
        let (jobs, next_job) = channel();
        let (report_written, written) = channel();
        let (report_closed, closed) = channel();
        let disk = Arc::clone(disk);
        thread::Builder::new()
            .name("steadfast-store".to_owned())
            .spawn(move || work(disk, values, &next_job, &report_written, &report_closed))?;
        Ok(Self {
            head,
            garbage,
            jobs,
            written,
            closed,
            patience,
        })
    }

    /// Judges the writes of a group and writes what they leave. On `Err` the store has failed and says so from then on: the
    /// tails may hold what the disk does not.
    pub(super) fn commit(&mut self, disk: &Disk, writes: &[Write]) -> Result<Vec<Written>, String> {
        disk.progress.begin();
        let mut draft = Draft::after(&disk.tree, self.head.clone());
        let judged = judge::group(&disk.tree, &mut disk.tails_mut(), &mut draft, writes);
        let answers = judged.inspect_err(|reason| disk.progress.fail(reason))?;
        if !draft.is_empty() {
            self.write(disk, draft)?;
        }
        disk.tails_mut().leave();
        disk.progress.finish();
        Ok(answers)
    }

    /// Writes a draft. On `Err` the store has failed and says so from then on.
    pub(super) fn write(&mut self, disk: &Disk, draft: Draft<'_>) -> Result<(), String> {
        let written = self.write_draft(draft);
        written.inspect_err(|reason| disk.progress.fail(reason))
    }

    fn write_draft(&mut self, mut draft: Draft<'_>) -> Result<(), String> {
        let swept = self.garbage.sweep(&mut draft).map_err(RowFault::reason)?;
        let mut group = draft.finish();
        group.removed_files.clone_from(&swept.files);
        let head = group.head.clone();
        self.run(Job::Write(group), &self.written)?;
        self.head = head;
        self.garbage.swept(swept);
        Ok(())
    }

    /// Syncs once more and lets go of everything. The committer writes nothing after this.
    pub(super) fn close(&self, disk: Arc<Disk>) -> Result<(), String> {
        self.run(Job::Close(disk), &self.closed)
    }

    fn run(&self, job: Job, outcome: &Receiver<Outcome>) -> Result<(), String> {
        if self.jobs.send(job).is_err() {
            return Err("its thread has ended".to_owned());
        }
        match outcome.recv_timeout(self.patience) {
            Ok(outcome) => outcome.map_err(RowFault::reason),
            Err(RecvTimeoutError::Timeout) => Err(format!("the disk gave no answer within {:?}", self.patience)),
            Err(RecvTimeoutError::Disconnected) => Err("its thread has ended".to_owned()),
        }
    }
}

fn work(
    disk: Arc<Disk>,
    mut values: Values,
    jobs: &Receiver<Job>,
    written: &Sender<Outcome>,
    closed: &Sender<Outcome>,
) {
    while let Ok(job) = jobs.recv() {
        match job {
            // Nobody may be waiting any more, here and below.
            Job::Write(group) => {
                let _ = written.send(guarded(|| disk.write(&mut values, group)));
            }
            Job::Close(share) => {
                drop(share);
                let synced = guarded(|| {
                    disk.sync()?;
                    disk.side.sync().map_err(io)
                });
                let gone = let_go(disk);
                let _ = closed.send(synced.and(gone));
                return;
            }
        }
    }
    let _ = let_go(disk);
}
