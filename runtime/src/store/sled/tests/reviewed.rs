//! What reviewers broke: reads beside commits of long values, one damaged instance beside others, files of values that
//! are still being filled, and what restarts leave in memory.

use super::*;
use crate::store::ReadError;
use crate::store::sled::rows::{self, Head};
use std::sync::atomic::{AtomicBool, Ordering};

fn bytes(seed: u8, length: usize) -> Vec<u8> {
    (0..length).map(|index| (index % 251) as u8 ^ seed).collect()
}

fn consume(instance: InstanceNumber, expected: u64, sequences: Vec<u64>) -> Write {
    Write::Turn {
        instance,
        expected_batches: expected,
        batch: Some(b"turn".to_vec()),
        change: None,
        consumed_signals: sequences,
        at: at(4),
    }
}

fn tails(store: &SledStore) -> usize {
    store.opened().as_ref().unwrap().disk.tails().above(None).count()
}

/// A load (or a last_batch) beside a commit that puts a long value of the same instance: the tail has it, the disk does not.
#[test]
fn a_load_beside_a_commit_of_a_long_value_is_no_damage() {
    for length in [20_000, 40_000] {
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(folder.path()).unwrap();
        let epoch = store.claim().unwrap();
        let a = created(&store, epoch, "a");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut bad = None;
                while !done.load(Ordering::SeqCst) && bad.is_none() {
                    bad = store.load(a).err().or(store.last_batch(a).err());
                }
                bad
            });
            for index in 0..100 {
                store
                    .commit(
                        epoch,
                        &[
                            signal("a", "s", bytes(1, length)),
                            turn(a, 1 + index, &bytes(2, length)),
                        ],
                    )
                    .unwrap();
            }
            done.store(true, Ordering::SeqCst);
            assert!(reader.join().unwrap().is_none_or(|error| panic!("{length}: {error}")));
        });
    }
}

/// Entries that do not go on stop their instance alone: the due times of others are still told.
#[test]
fn one_damaged_instance_hides_no_due_time_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let epoch = store.claim().unwrap();
    let (a, b) = (created(&store, epoch, "a"), created(&store, epoch, "b"));
    let waiting = |instance, wake| Write::Turn {
        instance,
        expected_batches: 1,
        batch: None,
        change: Some(RecordChange {
            status: Status::Waiting,
            awaited_signals: vec!["s".to_owned()],
            wake_at: Some(at(wake)),
            trouble: None,
        }),
        consumed_signals: Vec::new(),
        at: at(2),
    };
    store.commit(epoch, &[waiting(a, 10), waiting(b, 20)]).unwrap();
    store.commit(epoch, &[signal("a", "s", b"x".to_vec())]).unwrap();
    store.commit(epoch, &[signal("a", "s", b"y".to_vec())]).unwrap();
    // The page with the first signal counts no more.
    let tree = tree(&store);
    let mut head = Head::read(&tree.get(b"c").unwrap().unwrap()).unwrap();
    assert_eq!(head.pages, [0b11]);
    head.pages[0] = 0b10;
    tree.insert(b"c", rows::seal(b"c", &rows::encode(&head))).unwrap();
    tree.flush().unwrap();
    drop(tree);
    store.close().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    assert!(store.find("a").is_err() && store.load(a).is_err() && store.find("b").is_ok());
    assert_eq!(store.ready(None, 10).unwrap(), [a]);
    let listed = store.list(None, 10);
    assert!(
        matches!(&listed, Err(ReadError::Damaged { instance, .. }) if *instance == a),
        "{listed:?}"
    );
    assert_eq!(store.list(Some(a), 10).unwrap().len(), 1);
    assert_eq!(store.due(at(100), None, 10).unwrap(), [(at(20), b)]);
}

/// The last values of a segment and the first of the next in one group, everything before consumed.
#[test]
fn a_file_of_values_that_this_group_still_fills_is_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let epoch = store.claim().unwrap();
    let a = created(&store, epoch, "a");
    let b = created(&store, epoch, "b");
    // 63 MiB of the first segment are used, and consumed.
    for index in 0..63 {
        let answers = store.commit(epoch, &[signal("a", "s", bytes(1, 1 << 20))]).unwrap();
        let sequence = buffered(&answers[0]);
        store.commit(epoch, &[consume(a, 1 + index, vec![sequence])]).unwrap();
    }
    // One group within the driver's limit of 1 MiB: 600 KiB for this segment, 440 KiB for the next.
    let answers = store.commit(epoch, &[signal("a", "s", bytes(1, 512 << 10))]).unwrap();
    let sequence = buffered(&answers[0]);
    store.commit(epoch, &[consume(a, 64, vec![sequence])]).unwrap();
    let group = [
        signal("b", "s", bytes(2, 400 << 10)),
        signal("b", "s", bytes(3, 420 << 10)),
    ];
    for answer in store.commit(epoch, &group).unwrap() {
        buffered(&answer);
    }
    let loaded = store.load(b).unwrap().unwrap();
    assert_eq!(loaded.signals.len(), 2);
}

/// What has ended takes no memory after a restart either.
#[test]
fn opening_keeps_no_tail_of_what_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let epoch = store.claim().unwrap();
    let group: Vec<_> = (0..500).map(|index| start(&index.to_string())).collect();
    store.commit(epoch, &group).unwrap();
    // All but one in each few end.
    let ends: Vec<_> = (1..500)
        .map(|number| becoming(InstanceNumber(number), 1, Status::Completed))
        .collect();
    store.commit(epoch, &ends).unwrap();
    assert_eq!(tails(&store), 1);
    store.close().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    assert_eq!(tails(&store), 1);
}

/// A tail is folded at its length however often the store was opened meanwhile.
#[test]
fn a_tail_is_as_long_as_it_may_be_over_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let mut batches = 1;
    let mut longest = 0;
    for _ in 0..50 {
        let store = SledStore::open(folder.path()).unwrap();
        let epoch = store.claim().unwrap();
        if batches == 1 {
            created(&store, epoch, "a");
        }
        for _ in 0..3 {
            store
                .commit(epoch, &[turn(InstanceNumber(1), batches, &[9; 1_000])])
                .unwrap();
            batches += 1;
        }
        let opened = store.opened();
        let tails = opened.as_ref().unwrap().disk.tails();
        longest = longest.max(tails.above(None).map(|tail| tail.journal.len()).max().unwrap_or(0));
        drop(tails);
        drop(opened);
        store.close().unwrap();
    }
    assert!(longest < 8_000, "{longest}");
}

/// A thousand instances in step: sled must not get all of their rows at once.
#[test]
fn tails_that_are_long_at_the_same_time_are_folded_bit_by_bit() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let epoch = store.claim().unwrap();
    let group: Vec<_> = (0..500).map(|index| start(&index.to_string())).collect();
    store.commit(epoch, &group).unwrap();
    let mut rows = tree(&store).len();
    for key in 0..25 {
        let signals = (0..500).map(|index| Write::Signal {
            id: index.to_string(),
            name: "s".to_owned(),
            payload: vec![1],
            dedup_key: Some(format!("k{key}")),
            at: at(3),
        });
        store.commit(epoch, &signals.collect::<Vec<_>>()).unwrap();
        let now = tree(&store).len();
        assert!(now - rows < 1_500, "{} rows by one commit", now - rows);
        rows = now;
    }
    assert!(rows > 10_000, "many were folded: {rows}");
    store.close().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    for number in 1..=500 {
        assert_eq!(store.load(InstanceNumber(number)).unwrap().unwrap().signals.len(), 25);
    }
}
