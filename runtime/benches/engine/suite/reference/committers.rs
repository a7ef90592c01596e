//! Bare committers: tokio tasks that each wait for their own flushed record, and one thread that writes what is queued.
//!
//! - [`store`], [`starts`]: through the `Store` trait, one turn or start a record. The engine without the engine.
//! - [`pages`], [`full_groups`]: over sled itself, with the same guards (a head row, one batch, one flush and one fdatasync
//!   of our own, the side file), and the records of a group packed into values of 4 KiB. It judges nothing and can be read
//!   by nobody: it is what this disk and sled can do with the best layout known.

use crate::suite::Fault;
use crate::suite::arguments::StoreKind;
use crate::suite::bed::{Bed, Counted, folder};
use crate::suite::measured::Measured;
use crate::suite::meter::Meter;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use steadfast::store::{Started, Store, Write, Written};
use steadfast::{Epoch, InstanceNumber, Timestamp};
use tempfile::TempDir;
use tokio::sync::oneshot;

/// How large a record of the bare committers is, in bytes: what a step leaves in the journal.
const RECORD_BYTES: usize = 150;
/// How many records one group takes.
pub(crate) const GROUP_MAX: usize = 1_024;
/// sled keeps larger values in files that it never syncs.
const PAGE_BYTES: usize = 4_000;

/// One record: whose it is, and the how manyth.
#[derive(Clone, Copy)]
struct Ticket {
    task: usize,
    sequence: u64,
}

type Queued = (Ticket, oneshot::Sender<()>);

/// Turns of `in_flight` instances, `n` in all.
pub(crate) async fn store(kind: StoreKind, in_flight: usize, n: u64) -> Result<Measured, Fault> {
    let bed = Bed::new(kind)?;
    let store = bed.open()?;
    let (epoch, instances) = make_instances(&store, in_flight)?;
    let committing = store.clone();
    let commit = move |group: &[Ticket]| -> Result<(), Fault> {
        let writes: Vec<Write> = group.iter().map(|ticket| turn(&instances, *ticket)).collect();
        let answers = committing.commit(epoch, &writes)?;
        let all_written = answers.iter().all(|answer| *answer == Written::Turn(true));
        all_written.then_some(()).ok_or_else(|| "a turn was refused".into())
    };
    let measured = store.measure(drive(in_flight, n, commit)).await;
    store.close()?;
    measured
}

/// Starts of instances.
pub(crate) async fn starts(kind: StoreKind, in_flight: usize, n: u64) -> Result<Measured, Fault> {
    let bed = Bed::new(kind)?;
    let store = bed.open()?;
    let epoch = store.claim()?;
    let committing = store.clone();
    let commit = move |group: &[Ticket]| -> Result<(), Fault> {
        let ids = group
            .iter()
            .map(|ticket| start(format!("{}-{}", ticket.task, ticket.sequence)));
        committing.commit(epoch, &ids.collect::<Vec<_>>())?;
        Ok(())
    };
    let measured = store.measure(drive(in_flight, n, commit)).await;
    store.close()?;
    measured
}

/// Packed records, each waited for by its task.
pub(crate) async fn pages(in_flight: usize, n: u64) -> Result<Measured, Fault> {
    let mut pages = Pages::open()?;
    let flushes = Arc::clone(&pages.flushes);
    let meter = Meter::start();
    let (n, latencies) = drive(in_flight, n, move |group| pages.commit(group)).await?;
    let mut measured = meter.stop(n, latencies);
    measured.flushes = flushes.load(Ordering::Relaxed);
    measured.writes = n;
    Ok(measured)
}

/// Packed records, one group of `size` after another.
pub(crate) async fn full_groups(size: usize, n: u64) -> Result<Measured, Fault> {
    tokio::task::spawn_blocking(move || {
        let mut pages = Pages::open()?;
        let tickets: Vec<Ticket> = (0..n).map(|sequence| Ticket { task: 0, sequence }).collect();
        let mut latencies = Vec::new();
        let meter = Meter::start();
        for group in tickets.chunks(size) {
            let begun = Instant::now();
            pages.commit(group)?;
            latencies.push(begun.elapsed());
        }
        let mut measured = meter.stop(n, latencies);
        measured.flushes = pages.flushes.load(Ordering::Relaxed);
        measured.writes = n;
        Ok(measured)
    })
    .await?
}

/// A guarded sled with records packed into pages.
struct Pages {
    db: sled::Db,
    tree: sled::Tree,
    data: File,
    side: File,
    flushes: Arc<AtomicU64>,
    _folder: TempDir,
}

impl Pages {
    fn open() -> Result<Self, Fault> {
        let folder = folder()?;
        let config = sled::Config::new().path(folder.path()).flush_every_ms(None);
        let db = config.open()?;
        let tree = db.open_tree("pages")?;
        Ok(Self {
            data: OpenOptions::new().write(true).open(folder.path().join("db"))?,
            side: File::create(folder.path().join("acknowledged"))?,
            db,
            tree,
            flushes: Arc::default(),
            _folder: folder,
        })
    }

    fn commit(&mut self, group: &[Ticket]) -> Result<(), Fault> {
        let number = self.flushes.fetch_add(1, Ordering::Relaxed) + 1;
        let mut batch = sled::Batch::default();
        let mut checksum = number as u32;
        for (page, tickets) in (0_u64..).zip(group.chunks(PAGE_BYTES / RECORD_BYTES)) {
            let mut value = Vec::with_capacity(PAGE_BYTES);
            for ticket in tickets {
                value.extend_from_slice(&record(*ticket));
            }
            checksum ^= crc32fast::hash(&value);
            batch.insert([number.to_be_bytes(), page.to_be_bytes()].concat(), value);
        }
        let mut head = [0; 16];
        head[..8].copy_from_slice(&number.to_be_bytes());
        head[8..12].copy_from_slice(&checksum.to_be_bytes());
        batch.insert(b"head", &head);
        self.tree.apply_batch(batch)?;
        self.db.flush()?;
        self.data.sync_data()?;
        self.side.write_all_at(&head, 0)?;
        Ok(())
    }
}

/// Lets `in_flight` tasks wait for their own records, one after another, until there are `n` in all.
async fn drive(
    in_flight: usize,
    n: u64,
    commit: impl FnMut(&[Ticket]) -> Result<(), Fault> + Send + 'static,
) -> Result<(u64, Vec<Duration>), Fault> {
    let (queue, queued) = channel();
    let committer = std::thread::spawn(move || serve(&queued, commit));
    let each = n.div_ceil(in_flight as u64);
    let tasks: Vec<_> = (0..in_flight)
        .map(|task| tokio::spawn(wait_in_turn(queue.clone(), task, each)))
        .collect();
    drop(queue);
    let mut latencies = Vec::new();
    for task in tasks {
        latencies.extend(task.await??);
    }
    committer.join().map_err(|_| "the committer panicked")??;
    Ok((latencies.len() as u64, latencies))
}

async fn wait_in_turn(queue: Sender<Queued>, task: usize, n: u64) -> Result<Vec<Duration>, Fault> {
    let mut latencies = Vec::with_capacity(n as usize);
    for sequence in 0..n {
        let begun = Instant::now();
        let (done, receipt) = oneshot::channel();
        queue.send((Ticket { task, sequence }, done))?;
        receipt.await?;
        latencies.push(begun.elapsed());
    }
    Ok(latencies)
}

/// The bare committer: takes what is queued, writes it as one group, and releases all of it.
fn serve(queued: &Receiver<Queued>, mut commit: impl FnMut(&[Ticket]) -> Result<(), Fault>) -> Result<(), Fault> {
    while let Ok(first) = queued.recv() {
        let (mut tickets, mut waiting) = (Vec::new(), Vec::new());
        let more = std::iter::from_fn(|| queued.try_recv().ok());
        for (ticket, done) in std::iter::once(first).chain(more).take(GROUP_MAX) {
            tickets.push(ticket);
            waiting.push(done);
        }
        commit(&tickets)?;
        for done in waiting {
            // Whoever waited may be gone.
            let _ = done.send(());
        }
    }
    Ok(())
}

fn make_instances(store: &Counted, n: usize) -> Result<(Epoch, Vec<InstanceNumber>), Fault> {
    let epoch = store.claim()?;
    let mut instances = Vec::new();
    let starts: Vec<Write> = (0..n).map(|task| start(task.to_string())).collect();
    for group in starts.chunks(GROUP_MAX) {
        for answer in store.commit(epoch, group)? {
            match answer {
                Written::Start(Started::Created(number)) => instances.push(number),
                other => return Err(format!("a start was answered {other:?}").into()),
            }
        }
    }
    Ok((epoch, instances))
}

fn start(id: String) -> Write {
    Write::Start {
        id,
        workflow: "reference".to_owned(),
        version: 1,
        input_digest: [0; 32],
        batch: vec![0; 32],
        at: Timestamp::from_micros(0),
    }
}

fn turn(instances: &[InstanceNumber], ticket: Ticket) -> Write {
    Write::Turn {
        instance: instances[ticket.task],
        expected_batches: ticket.sequence + 1,
        batch: Some(record(ticket).to_vec()),
        change: None,
        consumed_signals: Vec::new(),
        at: Timestamp::from_micros(0),
    }
}

fn record(ticket: Ticket) -> [u8; RECORD_BYTES] {
    let mut record = [7; RECORD_BYTES];
    record[..8].copy_from_slice(&ticket.sequence.to_be_bytes());
    record
}
