//! What only the sled store promises: its files, its guards and its answers to damage.

mod damage;
mod golden;
mod guards;
mod pages;
mod reviewed;
mod values;
mod visibility;

use crate::ids::{Epoch, InstanceNumber};
use crate::store::{RecordChange, Signalled, SledStore, Started, Status, Store, Write, Written};
use crate::time::Timestamp;

pub(super) fn at(second: u64) -> Timestamp {
    Timestamp::from_micros(second * 1_000_000)
}

pub(super) fn start(id: &str) -> Write {
    Write::Start {
        id: id.to_owned(),
        workflow: "order".to_owned(),
        version: 1,
        input_digest: [7; 32],
        batch: b"started".to_vec(),
        at: at(1),
    }
}

pub(super) fn turn(instance: InstanceNumber, expected_batches: u64, batch: &[u8]) -> Write {
    Write::Turn {
        instance,
        expected_batches,
        batch: Some(batch.to_vec()),
        change: None,
        consumed_signals: Vec::new(),
        at: at(2),
    }
}

/// A turn that leaves the instance standing still, and so puts all of it into rows.
pub(super) fn folding(instance: InstanceNumber, expected_batches: u64) -> Write {
    becoming(instance, expected_batches, Status::Paused)
}

pub(super) fn becoming(instance: InstanceNumber, expected_batches: u64, status: Status) -> Write {
    Write::Turn {
        instance,
        expected_batches,
        batch: None,
        change: Some(RecordChange {
            status,
            awaited_signals: Vec::new(),
            wake_at: None,
            trouble: None,
        }),
        consumed_signals: Vec::new(),
        at: at(2),
    }
}

/// The store's tree, to look at rows and to do what only a broken disk does.
pub(super) fn tree(store: &SledStore) -> ::sled::Tree {
    store.opened().as_ref().unwrap().disk.tree.clone()
}

pub(super) fn signal(id: &str, name: &str, payload: Vec<u8>) -> Write {
    Write::Signal {
        id: id.to_owned(),
        name: name.to_owned(),
        payload,
        dedup_key: None,
        at: at(3),
    }
}

pub(super) fn created(store: &SledStore, epoch: Epoch, id: &str) -> InstanceNumber {
    match store.commit(epoch, &[start(id)]).unwrap().remove(0) {
        Written::Start(Started::Created(number)) => number,
        other => panic!("{other:?}"),
    }
}

pub(super) fn buffered(answer: &Written) -> u64 {
    match answer {
        Written::Signal(Signalled::Buffered { sequence, .. }) => *sequence,
        other => panic!("{other:?}"),
    }
}
