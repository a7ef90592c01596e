//! Signals and cancellations are kept from the moment they are answered.

use super::*;
use crate::store::{Cancelled, StoredSignal};

claims![
    signals_keep_their_order_name_payload_and_time,
    a_signal_answers_with_the_record_as_it_found_it,
    a_consumed_signal_is_gone_and_the_others_stay,
    a_deduplication_key_is_accepted_once_per_instance,
    a_signal_to_nobody_is_answered,
    a_signal_to_a_finished_instance_is_answered,
    a_cancellation_is_recorded_once,
    a_cancellation_of_nobody_or_of_a_finished_instance_is_answered,
];

fn signals_keep_their_order_name_payload_and_time(mut bench: Bench) {
    let number = bench.start("a");
    let names = ["b", "a", "b", "c"];
    let answers = bench.commit(&names.map(|name| signal("a", name, name.as_bytes(), None)));
    assert_eq!(answers.iter().map(buffered).collect::<Vec<_>>(), [0, 1, 2, 3]);
    bench.reopen();
    assert_eq!(bench.signal("a", "d"), 4);
    let expected = (0..).zip(names).map(|(sequence, name)| StoredSignal {
        sequence,
        name: name.to_owned(),
        payload: name.as_bytes().to_vec(),
        at: at(3),
    });
    let loaded = bench.load(number);
    assert_eq!(loaded.signals[..4], expected.collect::<Vec<_>>());
    assert_eq!((loaded.record.signals, loaded.record.updated_at), (5, at(3)));
}

fn a_signal_answers_with_the_record_as_it_found_it(bench: Bench) {
    let number = bench.park("a", waiting(&["s"], None));
    let before = bench.load(number).record;
    match bench.one(signal("a", "s", b"", None)) {
        Written::Signal(Signalled::Buffered { sequence: 0, record }) => assert_eq!(*record, before),
        other => panic!("not buffered: {other:?}"),
    }
}

fn a_consumed_signal_is_gone_and_the_others_stay(mut bench: Bench) {
    let number = bench.start("a");
    for _ in 0..4 {
        bench.signal("a", "s");
    }
    assert_eq!(bench.one(consume(number, 1, &[0, 2], None)), Written::Turn(true));
    bench.reopen();
    let left: Vec<_> = bench
        .load(number)
        .signals
        .iter()
        .map(|signal| signal.sequence)
        .collect();
    assert_eq!(left, [1, 3]);
    assert_eq!(bench.signal("a", "s"), 4, "a number is never given twice");
}

fn a_deduplication_key_is_accepted_once_per_instance(mut bench: Bench) {
    let (a, b) = (bench.start("a"), bench.start("b"));
    bench.signal("a", "s");
    assert_eq!(buffered(&bench.one(signal("a", "s", b"x", Some("k")))), 1);
    assert_eq!(buffered(&bench.one(signal("b", "s", b"x", Some("k")))), 0);
    bench.one(consume(a, 1, &[0, 1], None));
    bench.reopen();
    let again = || bench.one(signal("a", "other", b"y", Some("k")));
    assert_eq!(again(), Written::Signal(Signalled::Duplicate { sequence: 1 }));
    assert!(bench.load(a).signals.is_empty());
    assert_eq!(bench.load(b).signals.len(), 1);
    bench.one(turn(a, 2, None, Some(becoming(Status::Completed))));
    let answer = again();
    assert_eq!(
        answer,
        Written::Signal(Signalled::Duplicate { sequence: 1 }),
        "also after the end"
    );
}

fn a_signal_to_nobody_is_answered(bench: Bench) {
    assert_eq!(
        bench.one(signal("a", "s", b"", Some("k"))),
        Written::Signal(Signalled::Unknown)
    );
    let number = bench.start("a");
    assert!(bench.load(number).signals.is_empty());
    assert_eq!(buffered(&bench.one(signal("a", "s", b"", Some("k")))), 0);
}

fn a_signal_to_a_finished_instance_is_answered(bench: Bench) {
    let number = bench.park("a", becoming(Status::Cancelled));
    let before = bench.load(number);
    let answer = bench.one(signal("a", "s", b"", Some("k")));
    assert_eq!(answer, Written::Signal(Signalled::Finished(Status::Cancelled)));
    assert_eq!(bench.one(signal("a", "s", b"", Some("k"))), answer);
    assert_eq!(bench.load(number), before);
}

fn a_cancellation_is_recorded_once(mut bench: Bench) {
    let number = bench.start("a");
    let before = Box::new(bench.load(number).record);
    assert_eq!(
        bench.one(cancel("a", "first")),
        Written::Cancel(Cancelled::Requested(before))
    );
    bench.reopen();
    assert_eq!(
        bench.one(cancel("a", "second")),
        Written::Cancel(Cancelled::AlreadyRequested)
    );
    let record = bench.load(number).record;
    assert_eq!(
        (record.cancel_requested.as_deref(), record.updated_at),
        (Some("first"), at(4))
    );
}

fn a_cancellation_of_nobody_or_of_a_finished_instance_is_answered(bench: Bench) {
    assert_eq!(bench.one(cancel("a", "why")), Written::Cancel(Cancelled::Unknown));
    bench.park("a", becoming(Status::Failed));
    let answer = bench.one(cancel("a", "why"));
    assert_eq!(answer, Written::Cancel(Cancelled::Finished(Status::Failed)));
}
