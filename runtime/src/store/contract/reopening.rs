//! What was acknowledged is there when the store is opened again.

use super::*;

claims![
    everything_is_there_after_reopening,
    epochs_rise_over_openings,
    a_store_can_be_reopened_many_times
];

fn everything_is_there_after_reopening(mut bench: Bench) {
    let running = bench.start("running");
    let parked = bench.park("parked", waiting(&["s"], Some(at(60))));
    let finished = bench.park("finished", becoming(Status::Completed));
    bench.signal("running", "s");
    bench.one(signal("parked", "other", b"v", Some("k")));
    bench.one(turn(running, 1, Some(b"two"), None));
    bench.one(cancel("running", "why"));
    let all = [running, parked, finished];
    let before: Vec<_> = all.iter().map(|number| bench.load(*number)).collect();
    let ready = bench.store.ready(None, 10).expect("ready instances can be read");
    let due = bench.due();
    bench.reopen();
    let after: Vec<_> = all.iter().map(|number| bench.load(*number)).collect();
    assert_eq!(after, before);
    assert_eq!(bench.store.ready(None, 10).expect("ready instances can be read"), ready);
    assert_eq!(bench.due(), due);
    assert_eq!((ready, due), (vec![running], vec![(at(60), parked)]));
}

fn epochs_rise_over_openings(mut bench: Bench) {
    let mut last = bench.epoch;
    for _ in 0..3 {
        bench.reopen();
        assert!(bench.epoch > last);
        assert!(bench.store.commit(last, &[start("a")]).is_err());
        last = bench.epoch;
    }
}

fn a_store_can_be_reopened_many_times(mut bench: Bench) {
    let number = bench.start("a");
    for index in 1..20 {
        bench.reopen();
        assert_eq!(bench.one(turn(number, index, Some(b"next"), None)), Written::Turn(true));
    }
    bench.reopen();
    assert_eq!(bench.load(number).batches.len(), 20);
}
