//! A start creates an instance once.

use super::*;
use crate::store::InstanceRecord;

claims![
    a_start_creates_a_queued_instance_with_its_first_batch,
    a_second_start_answers_with_the_record_and_changes_nothing,
    numbers_rise_and_are_never_given_twice,
    ids_are_compared_byte_by_byte,
];

fn a_start_creates_a_queued_instance_with_its_first_batch(bench: Bench) {
    let number = bench.start("a");
    let expected = InstanceRecord {
        number,
        id: "a".to_owned(),
        workflow: "order".to_owned(),
        version: 3,
        input_digest: [9; 32],
        status: Status::Queued,
        created_at: at(1),
        updated_at: at(1),
        awaited_signals: Vec::new(),
        wake_at: None,
        cancel_requested: None,
        trouble: None,
        batches: 1,
        signals: 0,
    };
    let loaded = bench.load(number);
    assert_eq!(loaded.record, expected);
    assert_eq!(
        (loaded.batches, loaded.signals),
        (vec![b"started".to_vec()], Vec::new())
    );
    assert!(bench.is_ready(number) && bench.due().is_empty());
}

fn a_second_start_answers_with_the_record_and_changes_nothing(bench: Bench) {
    let number = bench.park("a", waiting(&["s"], Some(at(60))));
    let before = bench.load(number);
    let mut second = start("a");
    if let Write::Start {
        input_digest,
        batch,
        at: now,
        ..
    } = &mut second
    {
        *input_digest = [1; 32];
        *batch = b"other".to_vec();
        *now = at(50);
    }
    assert_eq!(
        bench.one(second),
        Written::Start(Started::Existing(Box::new(before.record.clone())))
    );
    assert_eq!(bench.load(number), before);
    assert!(!bench.is_ready(number));
}

fn numbers_rise_and_are_never_given_twice(mut bench: Bench) {
    let a = bench.start("a");
    let b = bench.start("b");
    bench.one(turn(b, 1, None, Some(becoming(Status::Completed))));
    bench.reopen();
    let c = bench.start("c");
    assert!(a < b && b < c);
}

fn ids_are_compared_byte_by_byte(bench: Bench) {
    let ids = ["a", "A", "ab", "a\0", "ä", " a"];
    let numbers: Vec<_> = ids.iter().map(|id| bench.start(id)).collect();
    for (id, number) in ids.iter().zip(numbers) {
        let found = bench.store.find(id).expect("records can be read");
        assert_eq!(
            found.map(|record| (record.number, record.id)),
            Some((number, (*id).to_owned()))
        );
    }
    assert_eq!(bench.store.find("b").expect("records can be read"), None);
}
