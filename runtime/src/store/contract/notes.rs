//! What an engine keeps for itself, beside all instances.

use super::*;

claims![
    a_note_is_kept_until_another_of_its_key_takes_its_place,
    a_note_without_a_key_or_with_too_long_a_one_is_refused,
    a_note_of_an_owner_that_was_replaced_is_not_kept,
];

fn note(key: &str, value: &[u8]) -> Write {
    Write::Note {
        key: key.to_owned(),
        value: value.to_vec(),
    }
}

fn noted(bench: &Bench, key: &str) -> Option<Vec<u8>> {
    bench.store.note(key).expect("notes can be read")
}

fn a_note_is_kept_until_another_of_its_key_takes_its_place(mut bench: Bench) {
    assert_eq!(noted(&bench, "k"), None);
    let long = vec![7; 100_000];
    let group = [note("k", b"one"), note("other", &long), note("k", b"two")];
    assert_eq!(bench.commit(&group), vec![Written::Noted; 3]);
    bench.reopen();
    assert_eq!(noted(&bench, "k"), Some(b"two".to_vec()));
    assert_eq!(noted(&bench, "other"), Some(long));
    bench.one(note("other", b""));
    bench.reopen();
    assert_eq!(noted(&bench, "other"), Some(Vec::new()));
    assert!(bench.store.list(None, 10).expect("records can be read").is_empty());
}

fn a_note_without_a_key_or_with_too_long_a_one_is_refused(bench: Bench) {
    for key in [String::new(), "k".repeat(257)] {
        assert!(matches!(bench.one(note(&key, b"v")), Written::Refused { .. }));
        assert_eq!(bench.store.note(&key).ok().flatten(), None);
    }
    let longest = "k".repeat(256);
    assert_eq!(bench.one(note(&longest, b"v")), Written::Noted);
    assert_eq!(noted(&bench, &longest), Some(b"v".to_vec()));
}

fn a_note_of_an_owner_that_was_replaced_is_not_kept(bench: Bench) {
    let successor = bench.store.claim().expect("a store can be claimed");
    let refused = bench.store.commit(bench.epoch, &[note("k", b"old")]);
    assert!(
        matches!(refused, Err(crate::store::CommitError::Fenced { .. })),
        "{refused:?}"
    );
    assert_eq!(noted(&bench, "k"), None);
    bench
        .store
        .commit(successor, &[note("k", b"new")])
        .expect("the owner can commit");
    assert_eq!(noted(&bench, "k"), Some(b"new".to_vec()));
}
