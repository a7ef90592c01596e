//! The guards around sled: files, syncs, value sizes, the watchdog.

use super::*;
use crate::store::sled::seam::{CommitPoint, Seam};
use crate::store::{CommitError, StoreOpenError};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn committed(folder: &Path) -> InstanceNumber {
    let store = SledStore::open(folder).unwrap();
    let epoch = store.claim().unwrap();
    let number = created(&store, epoch, "a");
    assert_eq!(
        store.commit(epoch, &[turn(number, 1, b"two")]).unwrap(),
        [Written::Turn(true)]
    );
    store.close().unwrap();
    number
}

#[test]
fn what_was_committed_is_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let number = committed(folder.path());
    let store = SledStore::open(folder.path()).unwrap();
    let loaded = store.load(number).unwrap().unwrap();
    assert_eq!(loaded.batches, [b"started".to_vec(), b"two".to_vec()]);
    assert_eq!(store.find("a").unwrap().unwrap(), loaded.record);
    assert_eq!(store.last_batch(number).unwrap().unwrap(), b"two");
    assert_eq!(store.ready(None, 10).unwrap(), [number]);
    assert_eq!(store.claim().unwrap(), Epoch(2));
}

#[test]
fn a_second_open_is_refused_until_the_first_is_closed_or_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let first = SledStore::open(folder.path()).unwrap();
    let second = SledStore::open(folder.path());
    assert!(matches!(second, Err(StoreOpenError::InUse { .. })), "{second:?}");
    first.close().unwrap();
    first.close().unwrap();
    let third = SledStore::open(folder.path()).unwrap();
    drop(third);
    SledStore::open(folder.path()).unwrap();
}

#[test]
fn long_values_leave_no_blob_file_and_their_chunks_go_when_consumed() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let epoch = store.claim().unwrap();
    let number = created(&store, epoch, "a");
    let long = vec![5; 30_000];
    let answers = store
        .commit(epoch, &[signal("a", "s", long.clone()), turn(number, 1, &long)])
        .unwrap();
    assert_eq!(buffered(&answers[0]), 0);
    let loaded = store.load(number).unwrap().unwrap();
    assert!(loaded.batches[1] == long && loaded.signals[0].payload == long);
    let consume = Write::Turn {
        instance: number,
        expected_batches: 2,
        batch: None,
        change: None,
        consumed_signals: vec![0],
        at: at(4),
    };
    let chunks = || {
        let opened = store.opened();
        let tree = &opened.as_ref().unwrap().disk.tree;
        (tree.scan_prefix("x").count(), tree.scan_prefix("g").count())
    };
    let (before, _) = chunks();
    assert_eq!(store.commit(epoch, &[consume]).unwrap(), [Written::Turn(true)]);
    assert_eq!(chunks(), (before, 1));
    store.commit(epoch, &[turn(number, 2, b"next")]).unwrap();
    assert_eq!(chunks(), (before / 2, 0));
    assert_eq!(fs::read_dir(folder.path().join("sled/blobs")).unwrap().count(), 0);
}

#[test]
fn values_of_32_kib_are_in_files_which_go_when_all_in_them_is_consumed() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let epoch = store.claim().unwrap();
    let number = created(&store, epoch, "a");
    let (small, huge) = (vec![5; 32 << 10], vec![6; 64 << 20]);
    let names = || -> Vec<String> {
        let files = fs::read_dir(folder.path().join("values")).unwrap();
        let mut names: Vec<String> = files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
            .iter()
            .map(|name| name.trim_start_matches('0').to_owned())
            .collect()
    };
    let sent = [
        signal("a", "s", small.clone()),
        signal("a", "s", huge),
        turn(number, 1, &small),
    ];
    store.commit(epoch, &sent).unwrap();
    assert_eq!(tree(&store).scan_prefix("x").count(), 0);
    assert_eq!(names(), ["1", "2", "3"]);
    let consume = |store: &SledStore, epoch, batches, sequence| {
        let write = Write::Turn {
            instance: number,
            expected_batches: batches,
            batch: Some(b"x".to_vec()),
            change: None,
            consumed_signals: vec![sequence],
            at: at(4),
        };
        assert_eq!(store.commit(epoch, &[write]).unwrap(), [Written::Turn(true)]);
    };
    consume(&store, epoch, 2, 1);
    assert_eq!(names(), ["1", "3"]);
    store.close().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let epoch = store.claim().unwrap();
    consume(&store, epoch, 3, 0);
    assert_eq!(names(), ["3"], "what the journal refers to stays");
    assert!(store.load(number).unwrap().unwrap().batches[1] == small);
    store.commit(epoch, &[folding(number, 4)]).unwrap();
    assert_eq!(tree(&store).scan_prefix("v").count(), 0);
}

#[test]
fn a_commit_that_does_not_come_back_fails_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let armed = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stuck = Arc::clone(&armed);
    let seam = Seam {
        watch: Some(Arc::new(move |point| {
            if point == CommitPoint::Flushed && stuck.load(std::sync::atomic::Ordering::SeqCst) {
                let _ = held.lock().unwrap().recv();
            }
            Ok(())
        })),
        ..Seam::default()
    };
    let options = SledStore::options().watchdog(Duration::from_millis(200)).seam(seam);
    let store = options.open(folder.path()).unwrap();
    let epoch = store.claim().unwrap();
    armed.store(true, std::sync::atomic::Ordering::SeqCst);
    let error = store.commit(epoch, &[start("a")]).unwrap_err();
    assert!(
        matches!(&error, CommitError::Failed { reason } if reason.contains("200ms")),
        "{error}"
    );
    assert!(matches!(store.commit(epoch, &[]), Err(CommitError::Failed { .. })));
    assert!(store.find("a").is_err() && store.load(InstanceNumber(1)).is_err());
    drop(release);
    store.close().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    assert!(
        store.find("a").unwrap().is_some(),
        "the outcome was unknown, and here it was written"
    );
}
