//! Pages and folds: what they cost, what a crash finds, and what becomes of folders that have none.

use super::*;
use crate::store::sled::rows::{self, Head};
use crate::store::sled::{entry::Entry, keys, seam::Seam};
use crate::store::{ReadError, StoreOpenError, StoredInstance};
use std::fs;
use std::path::Path;

fn claimed(folder: &Path, pages_max: usize) -> (SledStore, Epoch) {
    let seam = Seam {
        pages_max: Some(pages_max),
        ..Seam::default()
    };
    let store = SledStore::options().seam(seam).open(folder).unwrap();
    let epoch = store.claim().unwrap();
    (store, epoch)
}

fn rows(store: &SledStore, prefix: &str) -> usize {
    tree(store).scan_prefix(prefix).count()
}

/// How many tails are in memory.
fn tails(store: &SledStore) -> usize {
    store.opened().as_ref().unwrap().disk.tails().above(None).count()
}

fn head(store: &SledStore) -> Head {
    Head::read(&tree(store).get(keys::HEAD).unwrap().unwrap()).unwrap()
}

fn pages_that_count(store: &SledStore) -> u32 {
    head(store).pages.iter().map(|byte| byte.count_ones()).sum()
}

/// The writes of one group of instances in step with each other: batch `step` of all of them, the last one the end.
fn steps(numbers: &[InstanceNumber], step: u64) -> Vec<Write> {
    let writes = numbers.iter().map(|number| {
        let mut write = turn(*number, step, &[7; 140]);
        if let (5, Write::Turn { change, .. }) = (step, &mut write) {
            *change = Some(RecordChange {
                status: Status::Completed,
                awaited_signals: Vec::new(),
                wake_at: None,
                trouble: None,
            });
        }
        write
    });
    writes.collect()
}

#[test]
fn five_steps_from_start_to_end_cost_at_most_three_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (store, epoch) = claimed(folder.path(), 4_096);
    let count = 1_000;
    // It holds up whoever writes until it is read.
    let changes = tree(&store).watch_prefix(Vec::new());
    let changes = std::thread::spawn(move || changes.count());
    for round in 0..count / 100 {
        let starts: Vec<Write> = (0..100)
            .map(|index| start(&format!("instance {round} {index}")))
            .collect();
        store.commit(epoch, &starts).unwrap();
        let first = round * 100 + 1;
        let numbers: Vec<InstanceNumber> = (first..first + 100).map(InstanceNumber).collect();
        for step in 1..=5 {
            let answers = store.commit(epoch, &steps(&numbers, step)).unwrap();
            assert!(answers.iter().all(|answer| *answer == Written::Turn(true)));
        }
    }
    assert_eq!((tails(&store), pages_that_count(&store)), (0, 0));
    assert!(rows(&store, "p") <= 25, "slots are used again");
    store.close().unwrap();
    let rows = changes.join().unwrap() as u64;
    assert!(
        rows > 2 * count && rows <= 3 * count,
        "{rows} rows for {count} instances"
    );
}

#[test]
fn what_waits_stands_still_or_has_ended_takes_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (store, epoch) = claimed(folder.path(), 4_096);
    let endings = [
        Status::Waiting,
        Status::Paused,
        Status::Quarantined,
        Status::WaitingForCode,
        Status::Completed,
        Status::Failed,
        Status::Cancelled,
        Status::Terminated,
    ];
    for status in endings {
        let number = created(&store, epoch, &status.to_string());
        assert_eq!(tails(&store), 1);
        store.commit(epoch, &[becoming(number, 1, status)]).unwrap();
        assert_eq!((tails(&store), pages_that_count(&store)), (0, 0), "{status}");
    }
    // Writes that are refused or change nothing leave nothing behind, nor does a signal that moves nobody.
    let refused = [
        turn(InstanceNumber(1), 9, b"x"),
        start("Waiting"),
        signal("Completed", "s", Vec::new()),
    ];
    store.commit(epoch, &refused).unwrap();
    let before = head(&store).group;
    store.commit(epoch, &refused).unwrap();
    assert_eq!((tails(&store), head(&store).group), (0, before));
    store.commit(epoch, &[signal("Waiting", "s", vec![1])]).unwrap();
    assert_eq!(tails(&store), 0);
}

#[test]
fn an_instance_that_stands_in_its_body_does_not_keep_pages() {
    let folder = tempfile::tempdir().unwrap();
    let (store, epoch) = claimed(folder.path(), 16);
    let slow = created(&store, epoch, "slow");
    store.commit(epoch, &[turn(slow, 1, b"two")]).unwrap();
    let other = created(&store, epoch, "other");
    for batches in 1..200 {
        store.commit(epoch, &[turn(other, batches, &[9; 100])]).unwrap();
        assert!(pages_that_count(&store) <= 16);
    }
    assert!(tails(&store) <= 1, "the slow one is in its rows");
    assert_eq!(store.ready(None, 10).unwrap(), [slow, other]);
    assert_eq!(
        store.commit(epoch, &[turn(slow, 2, b"three")]).unwrap(),
        [Written::Turn(true)]
    );
    store.close().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    assert_eq!(
        store.load(slow).unwrap().unwrap().batches,
        [b"started".to_vec(), b"two".to_vec(), b"three".to_vec()]
    );
    assert_eq!(store.load(other).unwrap().unwrap().batches.len(), 200);
}

#[test]
fn what_is_read_back_from_pages_is_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, mut epoch) = claimed(folder.path(), 4_096);
    let number = created(&store, epoch, "a");
    let consume = |batches, sequence| Write::Turn {
        instance: number,
        expected_batches: batches,
        batch: Some(vec![batches as u8; 40]),
        change: None,
        consumed_signals: vec![sequence],
        at: at(4),
    };
    let mut before: Option<StoredInstance> = None;
    for round in 0..60 {
        let long = if round % 7 == 0 { 5_000 } else { 10 };
        let group = [
            signal("a", "s", vec![round as u8; long]),
            consume(1 + round, round.saturating_sub(3)),
        ];
        store.commit(epoch, &group).unwrap();
        if round % 5 == 0 {
            before = store.load(number).unwrap();
            store.close().unwrap();
            (store, epoch) = claimed(folder.path(), 4_096);
            assert_eq!(store.load(number).unwrap(), before, "round {round}");
        }
    }
    assert_eq!(before.unwrap().batches.len(), 57);
}

#[test]
fn a_group_that_writes_nothing_leaves_no_mark_on_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let (store, epoch) = claimed(folder.path(), 4_096);
    let [a, b] = ["a", "b"].map(|id| created(&store, epoch, id));
    assert_eq!(
        store.commit(epoch, &[turn(b, 9, b"x")]).unwrap(),
        [Written::Turn(false)]
    );
    let group = [becoming(a, 1, Status::Completed), turn(b, 1, b"two")];
    store.commit(epoch, &group).unwrap();
    store.close().unwrap();
    let (store, _) = claimed(folder.path(), 4_096);
    assert_eq!(store.load(a).unwrap().unwrap().record.status, Status::Completed);
    assert_eq!(
        store.load(b).unwrap().unwrap().batches,
        [b"started".to_vec(), b"two".to_vec()]
    );
}

#[test]
fn a_page_that_rotted_or_is_gone_is_reported_at_opening_and_the_folder_stays_as_it_is() {
    for is_gone in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (store, epoch) = claimed(folder.path(), 4_096);
        created(&store, epoch, "a");
        let key = keys::page(0);
        let mut value = tree(&store).get(&key).unwrap().unwrap().to_vec();
        value[20] ^= 1;
        if is_gone {
            tree(&store).remove(&key).unwrap();
        } else {
            tree(&store).insert(&key, value).unwrap();
        }
        store.close().unwrap();
        for _ in 0..2 {
            let refused = SledStore::open(folder.path());
            assert!(
                matches!(&refused, Err(StoreOpenError::Damaged { reason }) if reason.contains("page of entries 0")),
                "{refused:?}"
            );
        }
    }
}

/// Gives the second entry of an instance another place than it had.
fn misplace(tree: &::sled::Tree, gap: InstanceNumber) {
    for row in tree.scan_prefix("p") {
        let (key, value) = row.unwrap();
        let body = rows::unseal(&key, &value).unwrap();
        let (place, mut left): ((u64, u64), _) = rows::take(&key, body).unwrap();
        let mut body = rows::encode(&place);
        while !left.is_empty() {
            let (mut entry, rest): (Entry<'_>, _) = rows::take(&key, left).unwrap();
            if entry.instance == gap.0 && entry.place == 1 {
                entry.place = 2;
            }
            rows::append(&mut body, &entry);
            left = rest;
        }
        tree.insert(&key, rows::seal(&key, &body)).unwrap();
    }
}

#[test]
fn entries_that_do_not_go_with_the_rows_stop_their_instance_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (store, epoch) = claimed(folder.path(), 4_096);
    let [gap, rotten, sound] = ["g", "r", "s"].map(|id| created(&store, epoch, id));
    store
        .commit(epoch, &[folding(rotten, 1), turn(sound, 1, b"two")])
        .unwrap();
    let group = [
        turn(gap, 1, b"two"),
        becoming(rotten, 1, Status::Running),
        turn(sound, 2, b"three"),
    ];
    store.commit(epoch, &group).unwrap();
    let tree = tree(&store);
    misplace(&tree, gap);
    let key = keys::record(rotten);
    let mut value = tree.get(&key).unwrap().unwrap().to_vec();
    value[12] ^= 1;
    tree.insert(&key, value).unwrap();
    drop(tree);
    store.close().unwrap();
    for _ in 0..2 {
        let (store, epoch) = claimed(folder.path(), 4);
        for (instance, id, word) in [
            (gap, "g", "entry 2 of instance 1 is missing"),
            (rotten, "r", "checksum"),
        ] {
            let damaged = |answer: Option<ReadError>| matches!(&answer, Some(ReadError::Damaged { instance: whose, reason }) if *whose == instance && reason.contains(word));
            assert!(damaged(store.load(instance).err()) && damaged(store.find(id).err()));
            let refused = [turn(instance, 2, b"x"), start(id), signal(id, "s", Vec::new())];
            for answer in store.commit(epoch, &refused).unwrap() {
                assert!(
                    matches!(&answer, Written::Refused { reason } if reason.contains(word)),
                    "{answer:?}"
                );
            }
        }
        assert_eq!(store.load(sound).unwrap().unwrap().batches.len(), 3);
        assert_eq!(store.ready(None, 3).unwrap(), [gap, rotten, sound]);
        for _ in 0..10 {
            created(&store, epoch, &format!("new {}", head(&store).group));
        }
        store.close().unwrap();
    }
}

/// The rows of a folder of format 1: what that version wrote for the writes of the golden test.
const FORMAT_1: &str = "
63 0193e04c9b03c4dcf187020103
6400000000000000016b 01fde3a4b500
6800000000000000010000000000000000 011aaf19600073746172746564
6800000000000000010000000000000001 01f36e03d60074776f
6800000000000000020000000000000000 0178729f8a0073746172746564
6961 0155c7634001
6962 01b6282cdb02
6e6b 01e8560b820076616c7565
720000000000000001 019f23ab4000010161056f7264657201070707070707070707070707070707070707070707070707070707070707070702c0843dc08db7010108617070726f76616c01808ece1c0001046e6f6e650201
720000000000000002 01d9236dc700020162056f7264657201070707070707070707070707070707070707070707070707070707070707070700c0843dc08db70100000103776879000102
7300000000000000010000000000000000 0178b29927056f74686572c08db7010076616c7565
7400000000039387000000000000000001 01ea919633
790000000000000002 013094e7ac
";

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect()
}

#[test]
fn a_folder_of_format_1_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    SledStore::open(folder.path()).unwrap().close().unwrap();
    let db = ::sled::open(folder.path().join("sled")).unwrap();
    let tree = db.open_tree("steadfast").unwrap();
    for row in FORMAT_1.trim().lines() {
        let (key, value) = row.split_once(' ').unwrap();
        tree.insert(bytes(key), bytes(value)).unwrap();
    }
    tree.flush().unwrap();
    drop((tree, db));
    fs::write(folder.path().join("acknowledged"), "").unwrap();
    fs::write(folder.path().join("format"), "steadfast 1\n").unwrap();

    let (store, epoch) = claimed(folder.path(), 4_096);
    assert_eq!(epoch, Epoch(2));
    assert_eq!(
        fs::read_to_string(folder.path().join("format")).unwrap(),
        "steadfast 2\n"
    );
    let [a, b] = [InstanceNumber(1), InstanceNumber(2)];
    let old = store.load(a).unwrap().unwrap();
    assert_eq!(old.batches, [b"started".to_vec(), b"two".to_vec()]);
    assert_eq!(
        (old.record.status, old.signals[0].payload.as_slice()),
        (Status::Waiting, &b"value"[..])
    );
    assert_eq!(store.due(Timestamp::MAX, None, 10).unwrap(), [(at(60), a)]);
    assert_eq!(store.ready(None, 10).unwrap(), [b]);
    assert_eq!(store.note("k").unwrap().unwrap(), b"value");
    assert_eq!(store.last_batch(b).unwrap().unwrap(), b"started");

    let awaited = signal("a", "approval", b"yes".to_vec());
    let group = [
        awaited,
        becoming(a, 2, Status::Running),
        turn(a, 2, b"three"),
        folding(a, 3),
        folding(b, 1),
    ];
    let answers = store.commit(epoch, &group).unwrap();
    assert_eq!(buffered(&answers[0]), 1);
    assert!(answers[1..].iter().all(|answer| *answer == Written::Turn(true)));
    store.close().unwrap();
    let (store, epoch) = claimed(folder.path(), 4_096);
    assert_eq!(created(&store, epoch, "c"), InstanceNumber(3));
    let loaded = store.load(a).unwrap().unwrap();
    assert_eq!(
        loaded.batches,
        [b"started".to_vec(), b"two".to_vec(), b"three".to_vec()]
    );
    assert_eq!(loaded.signals.len(), 2);
    assert_eq!(store.due(Timestamp::MAX, None, 10).unwrap(), []);
    assert_eq!(store.find("b").unwrap().unwrap().status, Status::Paused);
}
