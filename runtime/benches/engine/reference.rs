//! What the cases are compared with: the same disk, without an engine.
//!
//! - [`raw`]: one write and one fdatasync after another, to a file that has its full length.
//! - [`store`]: tokio tasks that each wait for their own record through a committer thread over the same store.
//! - [`pages`]: the same over sled itself, with the records of a group packed into values of 4 KiB: what a better layout
//!   could reach on this engine.

use crate::Fault;
use crate::arguments::StoreKind;
use crate::bed::{Bed, Counted, Measured, folder};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use steadfast::store::{Started, Store, Write, Written};
use steadfast::{Epoch, InstanceNumber, Timestamp};
use tokio::sync::oneshot;

/// How large a record of the bare committers is, in bytes: what a step leaves in the journal.
const RECORD_BYTES: usize = 150;
/// How many records one group takes.
const GROUP_MAX: usize = 1_024;
/// sled keeps larger values in files that it never syncs.
const PAGE_BYTES: usize = 4_000;

/// Writes and syncs `bytes` at a time, `n` times.
pub(crate) async fn raw(bytes: usize, n: u64) -> Result<Measured, Fault> {
    tokio::task::spawn_blocking(move || raw_blocking(bytes, n)).await?
}

fn raw_blocking(bytes: usize, n: u64) -> Result<Measured, Fault> {
    let folder = folder()?;
    let file = File::create(folder.path().join("raw"))?;
    let block = vec![7; bytes];
    let places = (4_usize << 20).div_ceil(bytes).min(64) as u64;
    for place in 0..places {
        file.write_all_at(&block, place * bytes as u64)?;
    }
    file.sync_all()?;
    let mut latencies = Vec::new();
    let begun = Instant::now();
    for round in 0..n {
        let written = Instant::now();
        file.write_all_at(&block, round % places * bytes as u64)?;
        file.sync_data()?;
        latencies.push(written.elapsed());
    }
    Ok(Measured::new(n, begun.elapsed(), latencies))
}

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
    let (epoch, instances) = make_instances(&bed.store, in_flight)?;
    let store = bed.store.clone();
    let commit = move |group: &[Ticket]| -> Result<(), Fault> {
        let writes: Vec<Write> = group.iter().map(|ticket| turn(&instances, *ticket)).collect();
        let answers = store.commit(epoch, &writes)?;
        let all_written = answers.iter().all(|answer| *answer == Written::Turn(true));
        all_written.then_some(()).ok_or_else(|| "a turn was refused".into())
    };
    bed.measure(drive(in_flight, n, commit)).await
}

/// Starts of instances.
pub(crate) async fn starts(kind: StoreKind, in_flight: usize, n: u64) -> Result<Measured, Fault> {
    let bed = Bed::new(kind)?;
    let epoch = bed.store.claim()?;
    let store = bed.store.clone();
    let commit = move |group: &[Ticket]| -> Result<(), Fault> {
        let ids = group
            .iter()
            .map(|ticket| start(format!("{}-{}", ticket.task, ticket.sequence)));
        store.commit(epoch, &ids.collect::<Vec<_>>())?;
        Ok(())
    };
    bed.measure(drive(in_flight, n, commit)).await
}

/// Packed records over sled itself.
pub(crate) async fn pages(in_flight: usize, n: u64) -> Result<Measured, Fault> {
    let folder = folder()?;
    let config = sled::Config::new().path(folder.path()).flush_every_ms(None);
    let db = config.open()?;
    let tree = db.open_tree("pages")?;
    let data = OpenOptions::new().write(true).open(folder.path().join("db"))?;
    let mut groups = 0_u64;
    let commit = move |group: &[Ticket]| -> Result<(), Fault> {
        groups += 1;
        let mut batch = sled::Batch::default();
        for (page, tickets) in (0_u64..).zip(group.chunks(PAGE_BYTES / RECORD_BYTES)) {
            let mut value = Vec::with_capacity(PAGE_BYTES);
            for ticket in tickets {
                value.extend_from_slice(&record(*ticket));
            }
            let key = [groups.to_be_bytes(), page.to_be_bytes()].concat();
            batch.insert(key, value);
        }
        tree.apply_batch(batch)?;
        db.flush()?;
        data.sync_data()?;
        Ok(())
    };
    let begun = Instant::now();
    let (n, latencies) = drive(in_flight, n, commit).await?;
    Ok(Measured::new(n, begun.elapsed(), latencies))
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
