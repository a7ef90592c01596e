//! Damage of every kind is found and named, and changes nothing.

use super::*;
use crate::store::sled::files::{encode_side, sled_folder};
use crate::store::sled::keys;
use crate::store::sled::rows::{self, Head};
use crate::store::{CommitError, ReadError, StoreOpenError};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn flip(store: &SledStore, key: &[u8], place: usize) {
    let tree = tree(store);
    let mut value = tree.get(key).unwrap().unwrap().to_vec();
    value[place] ^= 1;
    tree.insert(key, value).unwrap();
}

/// Every file below a folder with its bytes, the lock aside.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(contents(&path));
        } else if path.file_name().unwrap() != "lock" {
            files.insert(path.display().to_string(), fs::read(&path).unwrap());
        }
    }
    files
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn damaged<T: std::fmt::Debug>(answer: Result<T, ReadError>, whose: InstanceNumber, word: &str) {
    match answer {
        Err(ReadError::Damaged { instance, reason }) => {
            assert!(instance == whose && reason.contains(word), "{instance}: {reason}");
        }
        other => panic!("{other:?}"),
    }
}

/// An instance that stands still, so that all of it is in rows: with `long` batches the journal has rows of its own.
fn still(store: &SledStore, epoch: Epoch, id: &str, long: usize) -> InstanceNumber {
    let number = created(store, epoch, id);
    let long = (1..).zip(vec![[1; 1_400]; long]);
    let mut group: Vec<Write> = long.map(|(batches, batch)| turn(number, batches, &batch)).collect();
    let batches = group.len() as u64 + 1;
    group.push(folding(number, batches));
    let answers = store.commit(epoch, &group).unwrap();
    assert!(answers.iter().all(|answer| *answer == Written::Turn(true)));
    number
}

#[test]
fn a_row_that_rotted_names_its_instance_and_spares_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let epoch = store.claim().unwrap();
    let [record, id, sound] = ["r", "i", "s"].map(|id| still(&store, epoch, id, 0));
    let journal = still(&store, epoch, "j", 6);
    let chunk = created(&store, epoch, "x");
    store
        .commit(epoch, &[turn(chunk, 1, &[1; 9_000]), folding(chunk, 2)])
        .unwrap();
    flip(&store, &keys::record(record), 30);
    flip(&store, &keys::batch(journal, 0), 8);
    flip(&store, &keys::id("i"), 5);
    let (first, _) = tree(&store).scan_prefix("x").next().unwrap().unwrap();
    flip(&store, &first, 2_000);

    damaged(store.load(record), record, "checksum");
    damaged(store.find("r"), record, "checksum");
    damaged(store.record(record), record, "record 1");
    damaged(store.list(None, 10), record, "checksum");
    damaged(store.load(journal), journal, "journal batch 4 0");
    damaged(store.find("i"), id, "id row of `i`");
    damaged(store.load(chunk), chunk, "chunk");
    assert_eq!(store.list(Some(record), 10).unwrap().len(), 4);

    let group = [
        turn(record, 1, b"x"),
        start("r"),
        start("i"),
        turn(sound, 1, b"two"),
        start("new"),
    ];
    let answers = store.commit(epoch, &group).unwrap();
    for answer in &answers[..3] {
        assert!(
            matches!(answer, Written::Refused { reason } if reason.contains("checksum")),
            "{answer:?}"
        );
    }
    assert_eq!(answers[3], Written::Turn(true));
    assert!(matches!(answers[4], Written::Start(Started::Created(_))));
    flip(&store, &keys::record(record), 30);
    assert_eq!(
        store.load(record).unwrap().unwrap().batches.len(),
        1,
        "nothing was repaired or dropped"
    );
}

#[test]
fn a_missing_row_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let epoch = store.claim().unwrap();
    let [gap, last] = ["g", "t"].map(|id| still(&store, epoch, id, 6));
    let [record, bare] = ["r", "b"].map(|id| still(&store, epoch, id, 6));
    tree(&store).remove(keys::batch(gap, 0)).unwrap();
    let (key, _) = tree(&store)
        .scan_prefix(keys::journal(last))
        .next_back()
        .unwrap()
        .unwrap();
    tree(&store).remove(key).unwrap();
    tree(&store).remove(keys::record(record)).unwrap();
    tree(&store).remove(keys::id("b")).unwrap();
    damaged(store.load(gap), gap, "journal batch 1 0 is missing");
    damaged(store.load(last), last, "is missing");
    damaged(store.last_batch(last), last, "missing");
    damaged(store.load(record), record, "record 3 is missing");
    damaged(store.find("r"), record, "record 3 is missing");
    assert_eq!(store.load(bare).unwrap().unwrap().record.id, "b");
}

#[test]
fn a_byte_that_flips_in_the_file_is_never_believed() {
    let folder = tempfile::tempdir().unwrap();
    let original = folder.path().join("original");
    let store = SledStore::open(&original).unwrap();
    let epoch = store.claim().unwrap();
    for index in 0..60 {
        let number = created(&store, epoch, &format!("i{index}"));
        store.commit(epoch, &[turn(number, 1, &[index; 300])]).unwrap();
    }
    store.close().unwrap();
    let truth: Vec<_> = {
        let store = SledStore::open(&original).unwrap();
        (1..=60)
            .map(|number| store.load(InstanceNumber(number)).unwrap().unwrap())
            .collect()
    };
    let bytes = fs::read(sled_folder(&original).join("db")).unwrap();
    let used = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    let (mut refused, mut noticed) = (0, 0);
    for round in 0..24 {
        let broken = folder.path().join(format!("broken {round}"));
        copy(&original, &broken);
        let mut bytes = bytes.clone();
        bytes[used * (2 * round + 1) / 48] ^= 0x10;
        fs::write(sled_folder(&broken).join("db"), &bytes).unwrap();
        match SledStore::open(&broken) {
            Err(StoreOpenError::Damaged { .. } | StoreOpenError::TailLost { .. }) => refused += 1,
            Err(other) => panic!("{other:?}"),
            Ok(store) => {
                for (number, expected) in (1..).zip(&truth) {
                    match store.load(InstanceNumber(number)) {
                        Ok(loaded) => assert_eq!(loaded.as_ref(), Some(expected), "round {round}"),
                        Err(ReadError::Damaged { instance, .. }) => {
                            assert_eq!(instance.0, number);
                            noticed += 1;
                        }
                        Err(other) => panic!("{other:?}"),
                    }
                }
            }
        }
        let length = fs::metadata(sled_folder(&broken).join("db")).unwrap().len();
        assert!(length >= bytes.len() as u64, "round {round}: nothing is cut off");
    }
    assert!(refused + noticed > 0, "some flip must have hit something that counts");
}

#[test]
fn a_newer_format_is_refused_and_nothing_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    SledStore::open(folder.path()).unwrap().claim().unwrap();
    fs::write(folder.path().join("format"), "steadfast 3\n").unwrap();
    let before = contents(folder.path());
    for _ in 0..2 {
        let refused = SledStore::open(folder.path());
        let expected = matches!(refused, Err(StoreOpenError::NewerFormat { found: 3, supported: 2 }));
        assert!(expected, "{refused:?}");
    }
    assert!(contents(folder.path()) == before);
}

#[test]
fn a_head_of_a_newer_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    store.claim().unwrap();
    let mut newer = vec![3];
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(b"c\x03from the future");
    newer.extend(hasher.finalize().to_le_bytes());
    newer.extend(b"from the future");
    tree(&store).insert(keys::HEAD, newer).unwrap();
    store.close().unwrap();
    let refused = SledStore::open(folder.path());
    assert!(
        matches!(refused, Err(StoreOpenError::NewerFormat { found: 3, .. })),
        "{refused:?}"
    );
}

#[test]
fn a_folder_without_its_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    SledStore::open(folder.path()).unwrap();
    fs::remove_file(folder.path().join("format")).unwrap();
    let refused = SledStore::open(folder.path());
    assert!(matches!(refused, Err(StoreOpenError::Damaged { .. })), "{refused:?}");
    assert!(sled_folder(folder.path()).join("db").exists());
}

#[test]
fn a_creation_that_was_cut_off_is_begun_anew_and_what_it_left_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    SledStore::open(folder.path()).unwrap().close().unwrap();
    let opened = SledStore::open(folder.path()).unwrap();
    opened.close().unwrap();
    // As if the power had failed before the first open ended: no side file, and sled's files half written.
    fs::remove_file(folder.path().join("acknowledged")).unwrap();
    let conf = sled_folder(folder.path()).join("conf");
    fs::write(&conf, vec![0; fs::read(&conf).unwrap().len()]).unwrap();
    SledStore::open(folder.path()).unwrap().close().unwrap();
    assert!(folder.path().join("sled.unfinished-0").join("conf").exists());
    // With the side file there, the same is damage, and stays as it is.
    fs::write(&conf, vec![0; fs::read(&conf).unwrap().len()]).unwrap();
    assert!(matches!(
        SledStore::open(folder.path()),
        Err(StoreOpenError::Damaged { .. })
    ));
    assert!(!folder.path().join("sled.unfinished-1").exists());
}

#[test]
fn lost_commits_are_reported_until_the_loss_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, old) = (folder.path().join("whole"), folder.path().join("old"));
    let store = SledStore::open(&whole).unwrap();
    let epoch = store.claim().unwrap();
    created(&store, epoch, "a");
    store.close().unwrap();
    copy(&whole, &old);
    let store = SledStore::open(&whole).unwrap();
    let epoch = store.claim().unwrap();
    created(&store, epoch, "b");
    store.close().unwrap();
    fs::copy(whole.join("acknowledged"), old.join("acknowledged")).unwrap();
    for _ in 0..2 {
        let refused = SledStore::open(&old);
        let expected = matches!(
            refused,
            Err(StoreOpenError::TailLost {
                found: 2,
                acknowledged: 4
            })
        );
        assert!(expected, "{refused:?}");
    }
    let store = SledStore::options().accept_lost_tail(true).open(&old).unwrap();
    assert!(store.find("a").unwrap().is_some() && store.find("b").unwrap().is_none());
    store.close().unwrap();
    SledStore::open(&old).unwrap();
}

#[test]
fn a_store_that_sled_finds_empty_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    SledStore::open(folder.path()).unwrap().claim().unwrap();
    fs::remove_dir_all(sled_folder(folder.path())).unwrap();
    let refused = SledStore::open(folder.path());
    assert!(
        matches!(
            refused,
            Err(StoreOpenError::TailLost {
                found: 0,
                acknowledged: 1
            })
        ),
        "{refused:?}"
    );
}

#[test]
fn files_of_two_histories_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    SledStore::open(folder.path()).unwrap().claim().unwrap();
    let other = Head {
        group: 1,
        chain: 77,
        ..Head::NEW
    };
    fs::write(folder.path().join("acknowledged"), encode_side(&other)).unwrap();
    let refused = SledStore::open(folder.path());
    assert!(matches!(refused, Err(StoreOpenError::Damaged { .. })), "{refused:?}");
}

#[test]
fn chunks_of_a_commit_that_never_counted_are_removed_at_opening() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let epoch = store.claim().unwrap();
    let number = created(&store, epoch, "a");
    store.commit(epoch, &[turn(number, 1, &[1; 9_000])]).unwrap();
    let head = store.opened().as_ref().unwrap().committer().unwrap().head.clone();
    for piece in 0..2_500 {
        let key = keys::chunk(head.group + 1, 0, piece);
        let value = rows::seal(&key, b"left over");
        tree(&store).insert(key, value).unwrap();
    }
    store.close().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    assert_eq!(tree(&store).scan_prefix("x").count(), 3);
    assert_eq!(store.load(number).unwrap().unwrap().batches[1], [1; 9_000]);
}

#[test]
fn a_half_removed_value_is_removed_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let epoch = store.claim().unwrap();
    let number = created(&store, epoch, "a");
    let sent: Vec<Write> = (0..60).map(|_| signal("a", "s", vec![1; 30_000])).collect();
    store.commit(epoch, &sent).unwrap();
    let consume = Write::Turn {
        instance: number,
        expected_batches: 1,
        batch: None,
        change: None,
        consumed_signals: (0..60).collect(),
        at: at(4),
    };
    store.commit(epoch, &[consume]).unwrap();
    store.commit(epoch, &[turn(number, 1, b"x")]).unwrap();
    store.close().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let rows_left = tree(&store).scan_prefix("g").map(|row| {
        let (key, value) = row.unwrap();
        let length: u64 = rows::decode(&key, rows::unseal(&key, &value).unwrap()).unwrap();
        length.div_ceil(rows::CHUNK_BYTES as u64)
    });
    let left: u64 = rows_left.sum();
    assert!(0 < left && left < 60 * 8, "{left}");
    assert_eq!(tree(&store).scan_prefix("x").count() as u64, left);
    let epoch = store.claim().unwrap();
    for batches in 2..5 {
        store.commit(epoch, &[turn(number, batches, b"x")]).unwrap();
    }
    assert_eq!(
        tree(&store).scan_prefix("x").count() + tree(&store).scan_prefix("g").count(),
        0
    );
}

#[test]
fn a_snapshot_that_was_being_written_is_removed_before_sled_sees_it() {
    let folder = tempfile::tempdir().unwrap();
    SledStore::open(folder.path()).unwrap().claim().unwrap();
    let rubbish = sled_folder(folder.path()).join("snap.00000000000FFFFF.generating");
    fs::write(&rubbish, b"rubbish").unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    assert!(!rubbish.exists());
    assert!(store.commit(Epoch(1), &[start("a")]).is_ok());
    assert!(matches!(
        store.commit(Epoch(9), &[start("a")]),
        Err(CommitError::Fenced { .. })
    ));
}
