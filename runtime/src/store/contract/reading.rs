//! What reads show, of any size and beside commits.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering};

claims![
    records_come_in_order_and_by_pages,
    values_of_sixteen_mebibytes_come_back_whole,
    values_of_every_size_come_back_whole,
    long_texts_in_a_record_come_back_whole,
    a_load_beside_commits_sees_all_of_a_turn_or_nothing,
];

fn records_come_in_order_and_by_pages(bench: Bench) {
    let numbers: Vec<_> = (0..7).map(|index| bench.start(&format!("i{}", 9 - index))).collect();
    bench.one(turn(numbers[3], 1, None, Some(becoming(Status::Completed))));
    let list = |after, limit| -> Vec<_> {
        let records = bench.store.list(after, limit).expect("records can be read");
        records.into_iter().map(|record| record.number).collect()
    };
    assert_eq!(list(None, 100), numbers);
    assert_eq!(list(None, 3), numbers[..3]);
    assert_eq!(list(Some(numbers[2]), 3), numbers[3..6]);
    assert_eq!(list(Some(numbers[6]), 3), []);
}

fn values_of_sixteen_mebibytes_come_back_whole(mut bench: Bench) {
    let long: Vec<u8> = (0..16 << 20)
        .map(|index: u32| (index.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let number = bench.start("a");
    let group = [turn(number, 1, Some(&long), None), signal("a", "s", &long, None)];
    assert_eq!(bench.commit(&group)[0], Written::Turn(true));
    bench.reopen();
    let loaded = bench.load(number);
    assert!(loaded.batches[1] == long && loaded.signals[0].payload == long);
    assert!(bench.store.last_batch(number).expect("journals can be read") == Some(long));
    assert_eq!(bench.one(consume(number, 2, &[0], None)), Written::Turn(true));
    assert!(bench.load(number).signals.is_empty());
}

fn values_of_every_size_come_back_whole(mut bench: Bench) {
    let number = bench.start("a");
    let sizes: Vec<usize> = (0..3)
        .chain(3_900..4_010)
        .chain([7_990, 7_995, 8_000, 100_000])
        .collect();
    let group = sizes.iter().flat_map(|&size| {
        let value = vec![size as u8; size];
        let index = sizes
            .iter()
            .position(|&other| other == size)
            .expect("it is one of them") as u64;
        [
            turn(number, 1 + index, Some(&value), None),
            signal("a", "s", &value, None),
        ]
    });
    bench.commit(&group.collect::<Vec<_>>());
    bench.reopen();
    let loaded = bench.load(number);
    for (index, &size) in sizes.iter().enumerate() {
        let value = vec![size as u8; size];
        assert!(
            loaded.batches[index + 1] == value && loaded.signals[index].payload == value,
            "{size}"
        );
    }
}

fn long_texts_in_a_record_come_back_whole(mut bench: Bench) {
    let long = "why not? ".repeat(5_000);
    let number = bench.start("a");
    for round in 0..3 {
        let change = RecordChange {
            trouble: Some(format!("{round} {long}")),
            ..waiting(&["s", &long], Some(at(60)))
        };
        assert_eq!(bench.one(turn(number, 1, None, Some(change))), Written::Turn(true));
    }
    bench.one(cancel("a", &long));
    bench.reopen();
    let record = bench
        .store
        .find("a")
        .expect("records can be read")
        .expect("the instance exists");
    assert_eq!(record.trouble, Some(format!("2 {long}")));
    assert_eq!(record.cancel_requested.as_ref(), Some(&long));
    assert_eq!(record.awaited_signals, ["s", &long]);
    bench.one(turn(number, 1, None, Some(becoming(Status::Completed))));
    assert_eq!(bench.load(number).record.trouble, None);
}

fn a_load_beside_commits_sees_all_of_a_turn_or_nothing(bench: Bench) {
    let number = bench.start("a");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..100 {
                let sent = bench.signal("a", "s");
                let taken = consume(number, 1 + round, &[sent], Some(waiting(&["s"], None)));
                assert_eq!(bench.one(taken), Written::Turn(true));
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            let loaded = bench.load(number);
            let consumed = loaded.batches.len() as u64 - 1;
            assert_eq!(consumed + loaded.signals.len() as u64, loaded.record.signals);
            let listed = bench.store.list(None, 1).expect("records can be read");
            assert!(listed[0].signals >= loaded.record.signals);
        }
    });
}
