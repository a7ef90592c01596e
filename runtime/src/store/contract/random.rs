//! Random groups, answered and read back like the memory store does. The seeds are fixed; a failure names its seed.

use super::*;
use crate::store::MemoryStore;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

claims![random_groups_are_answered_like_the_memory_store];

const GROUPS: usize = 120;

fn random_groups_are_answered_like_the_memory_store(mut bench: Bench) {
    for seed in 1..=4 {
        let run = catch_unwind(AssertUnwindSafe(|| compare(&mut bench, seed)));
        if let Err(panic) = run {
            println!("seed {seed}");
            resume_unwind(panic);
        }
    }
}

/// A small generator, so that the same seed is the same run with every version of every dependency.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

const NAMES: [&str; 3] = ["x", "y", "z"];

/// Runs one seed over instances of its own, whose numbers begin at `base` in the store that is checked.
fn compare(bench: &mut Bench, seed: u64) {
    let model = MemoryStore::new();
    let epoch = model.claim().expect("the model can be claimed");
    let listed = bench.store.list(None, usize::MAX).expect("records can be read");
    // The model starts where the store is: with as many instances.
    let fillers: Vec<_> = listed.iter().map(|record| start(&record.id)).collect();
    model.commit(epoch, &fillers).expect("the model can commit");
    let base = listed.len() as u64;
    let mut chance = Chance(seed);
    for round in 0..GROUPS {
        let size = 1 + chance.below(8);
        let group: Vec<Write> = (0..size).map(|_| write(&mut chance, &model, seed, base)).collect();
        let expected = model.commit(epoch, &group).expect("the model can commit");
        assert_eq!(bench.commit(&group), expected, "round {round}: {group:?}");
        if chance.below(40) == 0 {
            bench.reopen();
        }
        let number = InstanceNumber(base + 1 + chance.below(10));
        let loaded = bench.store.load(number);
        assert!(loaded.is_ok(), "round {round}: {loaded:?}");
        assert_eq!(loaded.ok(), model.load(number).ok(), "round {round}");
    }
    let key = format!("seed {seed}");
    assert_eq!(bench.store.note(&key).ok(), model.note(&key).ok());
    let after = Some(InstanceNumber(base));
    assert_eq!(bench.store.list(after, 100).ok(), model.list(after, 100).ok());
    assert_eq!(bench.store.ready(after, 100).ok(), model.ready(after, 100).ok());
    let own = |due: Vec<(Timestamp, InstanceNumber)>| -> Vec<_> {
        due.into_iter().filter(|(_, number)| number.0 > base).collect()
    };
    let expected = model.due(Timestamp::MAX, None, 1_000).expect("the model can be read");
    assert_eq!(own(bench.due()), own(expected));
}

fn write(chance: &mut Chance, model: &MemoryStore, seed: u64, base: u64) -> Write {
    let id = format!("seed {seed} {}", chance.below(10));
    let now = at(100 + chance.below(1_000));
    match chance.below(9) {
        8 => Write::Note {
            key: format!("seed {seed}"),
            value: vec![2; chance.of(&[0, 10, 5_000])],
        },
        0 => start(&id),
        1 => cancel(&id, "chance"),
        2 | 3 => Write::Signal {
            id,
            name: chance.of(&NAMES).to_owned(),
            payload: vec![1; chance.of(&[0, 10, 5_000])],
            dedup_key: chance.of(&[None, Some("k"), Some("l")]).map(str::to_owned),
            at: now,
        },
        _ => {
            let instance = InstanceNumber(base + 1 + chance.below(10));
            let batches = model
                .load(instance)
                .ok()
                .flatten()
                .map_or(0, |loaded| loaded.batches.len() as u64);
            let batch = vec![2; chance.of(&[0, 10, 5_000])];
            Write::Turn {
                instance,
                expected_batches: batches + u64::from(chance.below(6) == 0),
                batch: (chance.below(4) > 0).then_some(batch),
                change: (chance.below(2) == 0).then(|| change(chance)),
                consumed_signals: (0..chance.below(3)).map(|_| chance.below(12)).collect(),
                at: now,
            }
        }
    }
}

fn change(chance: &mut Chance) -> RecordChange {
    let statuses = [Status::Running, Status::Waiting, Status::Waiting, Status::Paused];
    let status = if chance.below(25) == 0 {
        Status::Completed
    } else {
        chance.of(&statuses)
    };
    RecordChange {
        status,
        awaited_signals: NAMES[..chance.below(3) as usize]
            .iter()
            .map(|&name| name.to_owned())
            .collect(),
        wake_at: chance.of(&[None, Some(at(200)), Some(at(300))]),
        trouble: None,
    }
}
