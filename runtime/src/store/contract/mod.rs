//! The contract of a store as checks that any implementation can run.
//!
//! ```
//! use std::sync::Arc;
//! use steadfast::store::{MemoryStore, contract};
//!
//! contract::check(|| {
//!     let data = MemoryStore::new();
//!     Box::new(move || Arc::new(data.clone()))
//! });
//! ```
//!
//! A check speaks of one clause. Absent on purpose: power cuts, kills, damage and hanging disks, which each store has to
//! show in its own way.

mod groups;
mod notes;
mod random;
mod reading;
mod reopening;
mod signals;
mod starts;
mod turns;
mod waking;

use super::{RecordChange, Signalled, Started, Status, Store, StoredInstance, Write, Written};
use crate::ids::{Epoch, InstanceNumber};
use crate::time::Timestamp;
use std::sync::Arc;

/// Opens a store over data of its own: empty at first, and then what the store before it, which was closed, left.
pub type Opener = Box<dyn FnMut() -> Arc<dyn Store> + Send + Sync>;

/// One clause of the contract.
#[derive(Clone, Copy)]
pub struct Check {
    name: &'static str,
    run: fn(Bench),
}

impl Check {
    /// The claim that it checks.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Checks it on a store that is empty at first.
    ///
    /// # Panics
    ///
    /// If the store does not keep it.
    pub fn run(&self, open: Opener) {
        (self.run)(Bench::new(open));
    }
}

/// Every clause.
pub fn checks() -> Vec<Check> {
    [
        groups::CHECKS,
        starts::CHECKS,
        turns::CHECKS,
        signals::CHECKS,
        waking::CHECKS,
        reading::CHECKS,
        notes::CHECKS,
        reopening::CHECKS,
        random::CHECKS,
    ]
    .concat()
}

/// Runs every check, each with an empty store.
///
/// # Panics
///
/// If the store does not keep a clause. The last line printed names it.
pub fn check(mut make: impl FnMut() -> Opener) {
    for check in checks() {
        println!("store contract: {}", check.name);
        check.run(make());
    }
}

/// Names the checks of a file after their functions.
macro_rules! claims {
    ($($check:ident),+ $(,)?) => {
        pub(super) const CHECKS: &[super::Check] =
            &[$(super::Check { name: stringify!($check), run: $check }),+];
    };
}
use claims;

/// A store and its present owner.
struct Bench {
    open: Opener,
    store: Arc<dyn Store>,
    epoch: Epoch,
}

impl Bench {
    fn new(mut open: Opener) -> Self {
        let store = open();
        let epoch = store.claim().expect("a store that was just opened can be claimed");
        Self { open, store, epoch }
    }

    fn reopen(&mut self) {
        self.store.close().expect("a store that works can be closed");
        self.store = (self.open)();
        self.epoch = self.store.claim().expect("a store that was just opened can be claimed");
    }

    fn commit(&self, group: &[Write]) -> Vec<Written> {
        let answers = self.store.commit(self.epoch, group).expect("the owner can commit");
        assert_eq!(answers.len(), group.len(), "one answer for each write");
        answers
    }

    fn one(&self, write: Write) -> Written {
        self.commit(&[write]).remove(0)
    }

    fn start(&self, id: &str) -> InstanceNumber {
        created(&self.one(start(id)))
    }

    /// Starts an instance and parks it.
    fn park(&self, id: &str, change: RecordChange) -> InstanceNumber {
        let number = self.start(id);
        assert_eq!(self.one(turn(number, 1, None, Some(change))), Written::Turn(true));
        number
    }

    fn signal(&self, id: &str, name: &str) -> u64 {
        buffered(&self.one(signal(id, name, b"value", None)))
    }

    fn load(&self, number: InstanceNumber) -> StoredInstance {
        let loaded = self.store.load(number).expect("an undamaged instance can be read");
        loaded.expect("the instance exists")
    }

    fn is_ready(&self, number: InstanceNumber) -> bool {
        let ready = self.store.ready(None, usize::MAX).expect("ready instances can be read");
        ready.contains(&number)
    }

    fn due(&self) -> Vec<(Timestamp, InstanceNumber)> {
        let due = self.store.due(Timestamp::MAX, None, usize::MAX);
        due.expect("due instances can be read")
    }
}

fn at(second: u64) -> Timestamp {
    Timestamp::from_micros(second * 1_000_000)
}

fn start(id: &str) -> Write {
    Write::Start {
        id: id.to_owned(),
        workflow: "order".to_owned(),
        version: 3,
        input_digest: [9; 32],
        batch: b"started".to_vec(),
        at: at(1),
    }
}

fn turn(instance: InstanceNumber, expected_batches: u64, batch: Option<&[u8]>, change: Option<RecordChange>) -> Write {
    Write::Turn {
        instance,
        expected_batches,
        batch: batch.map(<[u8]>::to_vec),
        change,
        consumed_signals: Vec::new(),
        at: at(2),
    }
}

fn consume(instance: InstanceNumber, expected_batches: u64, sequences: &[u64], change: Option<RecordChange>) -> Write {
    Write::Turn {
        instance,
        expected_batches,
        batch: Some(b"consumed".to_vec()),
        change,
        consumed_signals: sequences.to_vec(),
        at: at(2),
    }
}

fn signal(id: &str, name: &str, payload: &[u8], dedup_key: Option<&str>) -> Write {
    Write::Signal {
        id: id.to_owned(),
        name: name.to_owned(),
        payload: payload.to_vec(),
        dedup_key: dedup_key.map(str::to_owned),
        at: at(3),
    }
}

fn cancel(id: &str, reason: &str) -> Write {
    Write::Cancel {
        id: id.to_owned(),
        reason: reason.to_owned(),
        at: at(4),
    }
}

fn becoming(status: Status) -> RecordChange {
    RecordChange {
        status,
        awaited_signals: Vec::new(),
        wake_at: None,
        trouble: None,
    }
}

fn waiting(names: &[&str], wake_at: Option<Timestamp>) -> RecordChange {
    RecordChange {
        awaited_signals: names.iter().map(|&name| name.to_owned()).collect(),
        wake_at,
        ..becoming(Status::Waiting)
    }
}

fn created(answer: &Written) -> InstanceNumber {
    match answer {
        Written::Start(Started::Created(number)) => *number,
        other => panic!("not created: {other:?}"),
    }
}

fn buffered(answer: &Written) -> u64 {
    match answer {
        Written::Signal(Signalled::Buffered { sequence, .. }) => *sequence,
        other => panic!("not buffered: {other:?}"),
    }
}
