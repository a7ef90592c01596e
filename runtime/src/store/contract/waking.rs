//! Who must be looked at now, and who later.

use super::*;

claims![
    an_instance_is_ready_until_it_waits_or_ends,
    a_waiting_instance_is_due_at_its_instant,
    an_awaited_signal_makes_a_waiting_instance_ready,
    another_signal_leaves_it_waiting,
    a_cancellation_makes_a_waiting_instance_ready,
    waiting_for_a_signal_that_is_already_there_is_ready,
    a_signal_consumed_by_the_turn_that_parks_does_not_wake,
    waiting_after_a_cancellation_is_ready,
    consuming_the_awaited_signal_without_a_change_goes_back_to_waiting,
    parking_again_moves_the_instant,
    due_instances_come_in_order_and_by_pages,
    ready_instances_come_in_order_and_by_pages,
];

fn an_instance_is_ready_until_it_waits_or_ends(bench: Bench) {
    let number = bench.start("a");
    let ready = [
        Status::Running,
        Status::Paused,
        Status::Quarantined,
        Status::WaitingForCode,
        Status::Queued,
    ];
    for status in ready {
        bench.one(turn(number, 1, None, Some(becoming(status))));
        assert!(bench.is_ready(number), "{status}");
        bench.one(turn(number, 1, None, Some(becoming(Status::Waiting))));
        assert!(!bench.is_ready(number), "waiting after {status}");
    }
    bench.one(turn(number, 1, None, Some(becoming(Status::Running))));
    assert!(bench.is_ready(number));
    bench.one(turn(number, 1, None, Some(becoming(Status::Completed))));
    assert!(!bench.is_ready(number));
}

fn a_waiting_instance_is_due_at_its_instant(mut bench: Bench) {
    let number = bench.park("a", waiting(&[], Some(at(60))));
    bench.reopen();
    assert!(!bench.is_ready(number));
    let due = |until| bench.store.due(until, None, 10).expect("due instances can be read");
    assert_eq!(due(Timestamp::from_micros(59_999_999)), []);
    assert_eq!(due(at(60)), [(at(60), number)]);
    bench.one(turn(number, 1, None, Some(becoming(Status::Running))));
    assert_eq!(bench.due(), []);
}

fn an_awaited_signal_makes_a_waiting_instance_ready(mut bench: Bench) {
    let number = bench.park("a", waiting(&["r", "s"], Some(at(60))));
    bench.signal("a", "s");
    bench.reopen();
    assert!(bench.is_ready(number) && bench.due().is_empty());
    let record = bench.load(number).record;
    assert_eq!((record.status, record.wake_at), (Status::Waiting, Some(at(60))));
}

fn another_signal_leaves_it_waiting(bench: Bench) {
    let number = bench.park("a", waiting(&["s"], Some(at(60))));
    bench.signal("a", "ss");
    assert!(!bench.is_ready(number));
    assert_eq!(bench.due(), [(at(60), number)]);
}

fn a_cancellation_makes_a_waiting_instance_ready(bench: Bench) {
    let number = bench.park("a", waiting(&[], Some(at(60))));
    bench.one(cancel("a", "why"));
    assert!(bench.is_ready(number) && bench.due().is_empty());
}

fn waiting_for_a_signal_that_is_already_there_is_ready(bench: Bench) {
    let number = bench.start("a");
    bench.signal("a", "other");
    bench.signal("a", "s");
    bench.one(turn(number, 1, Some(b"x"), Some(waiting(&["s"], Some(at(60))))));
    assert!(bench.is_ready(number) && bench.due().is_empty());
}

fn a_signal_consumed_by_the_turn_that_parks_does_not_wake(bench: Bench) {
    let number = bench.start("a");
    bench.signal("a", "s");
    bench.one(consume(number, 1, &[0], Some(waiting(&["s"], Some(at(60))))));
    assert!(!bench.is_ready(number));
    assert_eq!(bench.due(), [(at(60), number)]);
}

fn waiting_after_a_cancellation_is_ready(bench: Bench) {
    let number = bench.start("a");
    bench.one(cancel("a", "why"));
    bench.one(turn(number, 1, None, Some(waiting(&["s"], Some(at(60))))));
    assert!(bench.is_ready(number) && bench.due().is_empty());
}

fn consuming_the_awaited_signal_without_a_change_goes_back_to_waiting(bench: Bench) {
    let number = bench.park("a", waiting(&["s"], Some(at(60))));
    bench.signal("a", "s");
    assert!(bench.is_ready(number));
    bench.one(consume(number, 1, &[0], None));
    assert!(!bench.is_ready(number));
    assert_eq!(bench.due(), [(at(60), number)]);
}

fn parking_again_moves_the_instant(bench: Bench) {
    let number = bench.park("a", waiting(&[], Some(at(60))));
    bench.one(turn(number, 1, None, Some(waiting(&[], Some(at(90))))));
    assert_eq!(bench.due(), [(at(90), number)]);
    bench.one(turn(number, 1, None, Some(waiting(&[], Some(at(90))))));
    assert_eq!(bench.due(), [(at(90), number)]);
    bench.one(turn(number, 1, None, Some(waiting(&[], None))));
    assert_eq!(bench.due(), []);
    bench.one(turn(number, 1, None, Some(waiting(&[], Some(Timestamp::MAX)))));
    assert_eq!(bench.due(), [(Timestamp::MAX, number)]);
}

fn due_instances_come_in_order_and_by_pages(bench: Bench) {
    let instants = [70, 50, 60, 50, 1_000, 60, 0];
    let mut expected: Vec<_> = (0..)
        .zip(instants)
        .map(|(index, second)| {
            (
                at(second),
                bench.park(&format!("i{index}"), waiting(&[], Some(at(second)))),
            )
        })
        .collect();
    expected.sort();
    assert_eq!(bench.due(), expected);
    let mut paged = Vec::new();
    loop {
        let page = bench
            .store
            .due(at(70), paged.last().copied(), 2)
            .expect("due instances can be read");
        assert!(page.len() <= 2);
        if page.is_empty() {
            break;
        }
        paged.extend(page);
    }
    assert_eq!(paged, expected[..6]);
}

fn ready_instances_come_in_order_and_by_pages(bench: Bench) {
    let numbers: Vec<_> = (0..7).map(|index| bench.start(&format!("i{index}"))).collect();
    bench.one(turn(numbers[2], 1, None, Some(waiting(&[], None))));
    let expected: Vec<_> = numbers.iter().copied().filter(|number| *number != numbers[2]).collect();
    let ready = |after, limit| bench.store.ready(after, limit).expect("ready instances can be read");
    assert_eq!(ready(None, 100), expected);
    assert_eq!(ready(None, 2), expected[..2]);
    assert_eq!(ready(Some(numbers[1]), 2), expected[2..4]);
    assert_eq!(ready(Some(numbers[6]), 2), []);
    assert_eq!(ready(None, 0), []);
}
