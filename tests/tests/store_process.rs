//! Two processes and one folder: one at a time, and what a killed one had acknowledged is there for the next.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use steadfast::store::{SledStore, StoreOpenError};
use steadfast_tests::groups::{Chance, Groups, difference};

const SEED: u64 = 5;

/// A process that commits groups of the series from this one on, until it is killed, and the lines that it prints.
fn writer(folder: &Path, from: u64) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_store_writer"))
        .arg(folder)
        .args([SEED, from, u64::MAX].map(|number| number.to_string()))
        .args(["close", "sync"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    (child, lines)
}

#[test]
fn a_killed_process_leaves_every_acknowledged_commit_and_the_folder_to_the_next() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = folder.path().join("store");
    let mut groups = Groups::new(SEED);
    let mut stored = 0;
    let mut chance = Chance::new(SEED);
    for round in 0..8 {
        let (mut child, mut lines) = writer(folder.path(), stored);
        let mut line = String::new();
        for _ in 0..=chance.below(25) {
            line.clear();
            lines.read_line(&mut line).unwrap();
        }
        let refused = SledStore::open(&store);
        assert!(
            matches!(refused, Err(StoreOpenError::InUse { .. })),
            "round {round}: {refused:?}"
        );
        child.kill().unwrap();
        child.wait().unwrap();
        let acknowledged = lines.lines().map(|line| line.unwrap()).last().unwrap_or(line);
        let acknowledged: u64 = acknowledged.trim().parse().unwrap();

        while stored < acknowledged {
            groups.advance();
            stored += 1;
        }
        let opened = SledStore::open(&store).unwrap();
        if difference(&opened, groups.model()).is_some() {
            groups.advance();
            stored += 1;
            assert_eq!(
                difference(&opened, groups.model()),
                None,
                "round {round}, {acknowledged} acknowledged"
            );
        }
    }
    assert_eq!(fs::read_dir(store.join("sled/blobs")).unwrap().count(), 0);
}
