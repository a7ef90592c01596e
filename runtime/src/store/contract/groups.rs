//! A group is one commit: judged in order, all or nothing, and only from the present owner.

use super::*;
use crate::store::{CommitError, Signalled};
use std::collections::BTreeSet;

claims![
    an_empty_group_is_committed,
    a_group_is_answered_by_position,
    each_write_sees_the_writes_before_it,
    a_refused_write_changes_nothing_and_the_rest_is_written,
    a_large_group_is_one_commit,
    an_older_epoch_is_refused_whole,
    an_epoch_never_claimed_is_refused,
    names_that_are_empty_or_too_long_are_refused,
    a_hundred_threads_get_or_create_one_instance,
    a_closed_store_answers_nothing,
];

fn an_empty_group_is_committed(bench: Bench) {
    assert_eq!(bench.commit(&[]), []);
}

fn a_group_is_answered_by_position(bench: Bench) {
    let answers = bench.commit(&[
        cancel("none", "why"),
        start("a"),
        signal("none", "s", b"", None),
        start("b"),
    ]);
    assert_eq!(answers[0], Written::Cancel(crate::store::Cancelled::Unknown));
    assert!(created(&answers[1]) < created(&answers[3]));
    assert_eq!(answers[2], Written::Signal(Signalled::Unknown));
}

fn each_write_sees_the_writes_before_it(bench: Bench) {
    let first = bench.start("first");
    let next = InstanceNumber(first.0 + 1);
    let answers = bench.commit(&[
        start("a"),
        start("a"),
        signal("a", "s", b"1", Some("k")),
        signal("a", "s", b"2", Some("k")),
        consume(next, 1, &[0], Some(waiting(&["s"], Some(at(60))))),
        turn(next, 1, Some(b"late"), None),
        turn(next, 2, Some(b"third"), Some(becoming(Status::Completed))),
        signal("a", "s", b"3", None),
        cancel("a", "why"),
    ]);
    assert_eq!(created(&answers[0]), next);
    assert!(matches!(&answers[1], Written::Start(Started::Existing(record)) if record.number == next));
    assert_eq!(buffered(&answers[2]), 0);
    assert_eq!(answers[3], Written::Signal(Signalled::Duplicate { sequence: 0 }));
    assert_eq!(
        answers[4..7],
        [Written::Turn(true), Written::Turn(false), Written::Turn(true)]
    );
    assert_eq!(answers[7], Written::Signal(Signalled::Finished(Status::Completed)));
    assert_eq!(
        answers[8],
        Written::Cancel(crate::store::Cancelled::Finished(Status::Completed))
    );
    let loaded = bench.load(next);
    assert_eq!(loaded.batches, [&b"started"[..], b"consumed", b"third"]);
    assert!(loaded.signals.is_empty() && !bench.is_ready(next) && bench.due().is_empty());
}

fn a_refused_write_changes_nothing_and_the_rest_is_written(bench: Bench) {
    let a = bench.start("a");
    let before = bench.load(a);
    let group = [
        turn(a, 7, Some(b"lost"), Some(becoming(Status::Failed))),
        start("b"),
        turn(InstanceNumber(4_000), 1, Some(b"lost"), None),
        start("c"),
    ];
    let answers = bench.commit(&group);
    assert_eq!(
        (&answers[0], &answers[2]),
        (&Written::Turn(false), &Written::Turn(false))
    );
    assert_eq!(bench.load(a), before);
    let b = created(&answers[1]);
    let c = created(&answers[3]);
    assert_eq!(bench.load(b).batches.len() + bench.load(c).batches.len(), 2);
}

fn a_large_group_is_one_commit(mut bench: Bench) {
    let long = vec![3; 100_000];
    let mut group: Vec<Write> = (0..300).map(|number| start(&format!("i{number}"))).collect();
    group.extend((0..60).map(|number| signal(&format!("i{number}"), "s", &long, None)));
    let answers = bench.commit(&group);
    let numbers: BTreeSet<_> = answers[..300].iter().map(created).collect();
    assert_eq!(numbers.len(), 300);
    assert!(answers[300..].iter().all(|answer| buffered(answer) == 0));
    bench.reopen();
    assert_eq!(
        bench.store.list(None, usize::MAX).expect("records can be read").len(),
        300
    );
    for number in numbers.iter().take(60) {
        assert!(bench.load(*number).signals[0].payload == long);
    }
}

fn an_older_epoch_is_refused_whole(bench: Bench) {
    let old = bench.epoch;
    let new = bench.store.claim().expect("a second owner can claim");
    assert!(new > old);
    let refused = bench.store.commit(old, &[start("a")]);
    assert!(
        matches!(refused, Err(CommitError::Fenced { ours, current }) if ours == old && current == new),
        "{refused:?}"
    );
    assert_eq!(bench.store.find("a").expect("the store still answers"), None);
    assert!(bench.store.commit(new, &[start("a")]).is_ok());
}

fn an_epoch_never_claimed_is_refused(bench: Bench) {
    let refused = bench.store.commit(Epoch(bench.epoch.0 + 1), &[start("a")]);
    assert!(matches!(refused, Err(CommitError::Fenced { .. })), "{refused:?}");
}

fn names_that_are_empty_or_too_long_are_refused(bench: Bench) {
    let (long, limit) = ("n".repeat(257), "n".repeat(256));
    bench.start(&limit);
    let bad = [
        start(""),
        start(&long),
        cancel(&long, "why"),
        signal(&limit, "", b"", None),
        signal(&limit, &long, b"", None),
        signal(&limit, "s", b"", Some("")),
        signal(&limit, "s", b"", Some(&long)),
    ];
    let mut group = bad.to_vec();
    group.push(start("good"));
    let answers = bench.commit(&group);
    for answer in &answers[..bad.len()] {
        assert!(matches!(answer, Written::Refused { .. }), "{answer:?}");
    }
    created(&answers[bad.len()]);
    assert_eq!(buffered(&bench.one(signal(&limit, &limit, b"", Some(&limit)))), 0);
}

fn a_hundred_threads_get_or_create_one_instance(bench: Bench) {
    let answers: Vec<Written> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..100).map(|_| scope.spawn(|| bench.one(start("one")))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no thread panics"))
            .collect()
    });
    let (new, old): (Vec<_>, Vec<_>) = answers
        .iter()
        .partition(|answer| matches!(answer, Written::Start(Started::Created(_))));
    assert_eq!((new.len(), old.len()), (1, 99));
    let number = created(new[0]);
    assert!(
        old.iter()
            .all(|answer| matches!(answer, Written::Start(Started::Existing(record)) if record.number == number))
    );
}

fn a_closed_store_answers_nothing(bench: Bench) {
    let number = bench.start("a");
    let store = &bench.store;
    store.close().expect("a store that works can be closed");
    store.close().expect("a second close is harmless");
    assert!(store.commit(bench.epoch, &[start("b")]).is_err());
    assert!(store.load(number).is_err() && store.record(number).is_err() && store.last_batch(number).is_err());
    assert!(store.find("a").is_err() && store.list(None, 1).is_err());
    assert!(store.ready(None, 1).is_err() && store.due(Timestamp::MAX, None, 1).is_err());
}
