//! What readers may see of a commit that is under way.

use super::*;
use crate::store::sled::seam::{CommitPoint, Seam};
use crate::store::{CommitError, StoreOpenError};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Watch = dyn Fn(CommitPoint) -> io::Result<()> + Send + Sync;

/// A claimed store that asks `watch` at every point of the commits after the claim.
fn watched(folder: &Path, watch: Arc<Watch>) -> (SledStore, Epoch) {
    let armed = Arc::new(AtomicBool::new(false));
    let arm = Arc::clone(&armed);
    let seam = Seam {
        watch: Some(Arc::new(move |point| {
            if armed.load(Ordering::SeqCst) {
                watch(point)
            } else {
                Ok(())
            }
        })),
        ..Seam::default()
    };
    let store = SledStore::options().seam(seam).open(folder).unwrap();
    let epoch = store.claim().unwrap();
    arm.store(true, Ordering::SeqCst);
    (store, epoch)
}

#[test]
fn a_read_that_users_see_waits_for_the_disk_and_a_load_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let (reached, commit_reached) = channel();
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let watch = move |point| {
        if point == CommitPoint::Flushed {
            reached.send(()).unwrap();
            let _ = released.lock().unwrap().recv();
        }
        Ok(())
    };
    let (store, epoch) = watched(folder.path(), Arc::new(watch));
    std::thread::scope(|scope| {
        let commit = scope.spawn(|| created(&store, epoch, "a"));
        commit_reached.recv().unwrap();
        let number = InstanceNumber(1);
        assert!(store.load(number).unwrap().is_some());
        assert_eq!(store.ready(None, 1).unwrap(), [number]);
        let (found, answer) = channel();
        let store = &store;
        scope.spawn(move || found.send(store.find("a").unwrap()).unwrap());
        assert!(
            answer.recv_timeout(Duration::from_millis(30)).is_err(),
            "it is not on disk yet"
        );
        drop(release);
        assert_eq!(answer.recv().unwrap().unwrap().number, number);
        assert_eq!(commit.join().unwrap(), number);
    });
}

#[test]
fn a_commit_syncs_once_and_a_huge_one_piece_by_piece() {
    let folder = tempfile::tempdir().unwrap();
    let syncs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&syncs);
    let watch = move |point| {
        counted.fetch_add(usize::from(point == CommitPoint::Synced), Ordering::SeqCst);
        Ok(())
    };
    let (store, epoch) = watched(folder.path(), Arc::new(watch));
    let group: Vec<_> = (0..200).map(|index| start(&index.to_string())).collect();
    store.commit(epoch, &group).unwrap();
    assert_eq!(syncs.swap(0, Ordering::SeqCst), 1);
    store.commit(epoch, &[start("0")]).unwrap();
    assert_eq!(syncs.swap(0, Ordering::SeqCst), 0, "nothing to write");
    let huge: Vec<_> = (0..300).map(|_| signal("0", "s", vec![0; 30_000])).collect();
    store.commit(epoch, &huge).unwrap();
    assert_eq!(
        syncs.swap(0, Ordering::SeqCst),
        4,
        "2,400 chunk rows, a thousand at a time"
    );
}

#[test]
fn an_error_or_a_panic_anywhere_in_a_commit_fails_the_store_until_it_is_reopened() {
    let points = [CommitPoint::Applied, CommitPoint::Flushed, CommitPoint::Synced];
    for (bad, panics) in points.into_iter().flat_map(|point| [(point, false), (point, true)]) {
        let folder = tempfile::tempdir().unwrap();
        let watch = move |point| {
            assert!(!(panics && point == bad), "a panic of the disk");
            if point == bad {
                Err(io::Error::other("the disk is full"))
            } else {
                Ok(())
            }
        };
        let (store, epoch) = watched(folder.path(), Arc::new(watch));
        let word = if panics { "panicked" } else { "full" };
        for _ in 0..2 {
            let failed = store.commit(epoch, &[start("a")]);
            assert!(
                matches!(&failed, Err(CommitError::Failed { reason }) if reason.contains(word)),
                "{failed:?}"
            );
        }
        assert!(store.find("a").is_err() && store.load(InstanceNumber(1)).is_err() && store.claim().is_err());
        let second = SledStore::open(folder.path());
        assert!(
            matches!(second, Err(StoreOpenError::InUse { .. })),
            "a failed store holds its folder"
        );
        assert!(store.close().is_err() && store.close().is_ok());
        let store = SledStore::open(folder.path()).unwrap();
        assert!(store.claim().unwrap() > epoch);
    }
}
