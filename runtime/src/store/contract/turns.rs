//! A turn appends to the journal of an instance that moves, and to no other.

use super::*;

claims![
    a_turn_appends_and_changes_the_record,
    a_turn_without_change_leaves_the_record,
    a_turn_without_batch_leaves_the_journal,
    a_turn_with_other_batches_is_refused,
    a_turn_of_an_unknown_instance_is_refused,
    a_turn_of_a_finished_instance_is_refused,
    finishing_keeps_signals_that_were_not_consumed,
    a_journal_is_returned_in_order_without_a_gap,
];

fn a_turn_appends_and_changes_the_record(bench: Bench) {
    let number = bench.start("a");
    let change = RecordChange {
        trouble: Some("journal and code disagree".to_owned()),
        ..becoming(Status::Quarantined)
    };
    assert_eq!(
        bench.one(turn(number, 1, Some(b"two"), Some(change))),
        Written::Turn(true)
    );
    let loaded = bench.load(number);
    assert_eq!(loaded.batches, [&b"started"[..], b"two"]);
    assert_eq!(loaded.record.status, Status::Quarantined);
    assert_eq!(loaded.record.trouble.as_deref(), Some("journal and code disagree"));
    assert_eq!((loaded.record.batches, loaded.record.updated_at), (2, at(2)));
    assert_eq!(
        bench.store.record(number).expect("records can be read"),
        Some(loaded.record)
    );
    assert!(
        bench.is_ready(number),
        "only waiting and terminal instances are not ready"
    );
}

fn a_turn_without_change_leaves_the_record(bench: Bench) {
    let number = bench.start("a");
    let before = bench.load(number).record;
    assert_eq!(bench.one(turn(number, 1, Some(b"two"), None)), Written::Turn(true));
    let after = bench.load(number);
    assert_eq!(after.batches.len(), 2);
    assert_eq!(
        (after.record.status, after.record.updated_at),
        (before.status, before.updated_at)
    );
    assert!(after.record.batches <= 2);
    assert_eq!(bench.one(turn(number, 1, Some(b"again"), None)), Written::Turn(false));
    assert_eq!(bench.one(turn(number, 2, Some(b"three"), None)), Written::Turn(true));
}

fn a_turn_without_batch_leaves_the_journal(bench: Bench) {
    let number = bench.start("a");
    for _ in 0..2 {
        assert_eq!(
            bench.one(turn(number, 1, None, Some(becoming(Status::Running)))),
            Written::Turn(true)
        );
    }
    assert_eq!(bench.one(turn(number, 1, None, None)), Written::Turn(true));
    let loaded = bench.load(number);
    assert_eq!((loaded.record.status, loaded.batches.len()), (Status::Running, 1));
}

fn a_turn_with_other_batches_is_refused(bench: Bench) {
    let number = bench.start("a");
    bench.one(turn(number, 1, Some(b"two"), None));
    bench.signal("a", "s");
    let before = bench.load(number);
    for expected in [0, 1, 3, u64::MAX] {
        let write = consume(number, expected, &[0], Some(becoming(Status::Failed)));
        assert_eq!(bench.one(write), Written::Turn(false), "{expected}");
    }
    assert_eq!(bench.load(number), before);
}

fn a_turn_of_an_unknown_instance_is_refused(bench: Bench) {
    for number in [0, 1, u64::MAX] {
        let number = InstanceNumber(number);
        assert_eq!(bench.one(turn(number, 1, Some(b"x"), None)), Written::Turn(false));
        assert_eq!(bench.store.load(number).expect("the store answers"), None);
        assert_eq!(bench.store.record(number).expect("the store answers"), None);
        assert_eq!(bench.store.last_batch(number).expect("the store answers"), None);
    }
}

fn a_turn_of_a_finished_instance_is_refused(bench: Bench) {
    let endings = [Status::Completed, Status::Failed, Status::Cancelled, Status::Terminated];
    for status in endings {
        let number = bench.park(&status.to_string(), waiting(&["s"], Some(at(60))));
        assert_eq!(
            bench.one(turn(number, 1, Some(b"end"), Some(becoming(status)))),
            Written::Turn(true)
        );
        let before = bench.load(number);
        assert_eq!(
            bench.one(turn(number, 2, Some(b"x"), Some(becoming(Status::Running)))),
            Written::Turn(false)
        );
        assert_eq!(bench.one(turn(number, 2, None, None)), Written::Turn(false));
        assert_eq!(bench.load(number), before);
        assert_eq!(
            bench.store.last_batch(number).expect("journals can be read"),
            Some(b"end".to_vec())
        );
        assert!(!bench.is_ready(number) && bench.due().is_empty());
    }
}

fn finishing_keeps_signals_that_were_not_consumed(bench: Bench) {
    let number = bench.start("a");
    bench.signal("a", "s");
    bench.signal("a", "s");
    let end = consume(number, 1, &[0], Some(becoming(Status::Completed)));
    assert_eq!(bench.one(end), Written::Turn(true));
    let signals = bench.load(number).signals;
    assert_eq!(signals.iter().map(|signal| signal.sequence).collect::<Vec<_>>(), [1]);
    assert!(!bench.is_ready(number));
}

fn a_journal_is_returned_in_order_without_a_gap(mut bench: Bench) {
    let (a, b) = (bench.start("a"), bench.start("b"));
    let batch = |index: u64| format!("batch {index}").into_bytes();
    for index in 1..300 {
        let group = [
            turn(a, index, Some(&batch(index)), None),
            turn(b, index, Some(b"b"), None),
        ];
        assert_eq!(bench.commit(&group), [Written::Turn(true), Written::Turn(true)]);
    }
    bench.reopen();
    let batches = bench.load(a).batches;
    assert_eq!(batches.len(), 300);
    assert!((1..).zip(&batches[1..]).all(|(index, stored)| *stored == batch(index)));
    assert_eq!(
        bench.store.last_batch(a).expect("journals can be read"),
        Some(batch(299))
    );
}
