//! A long series of groups for a store, decided by a seed: the same seed is the same series in every process. A memory store
//! beside it says what each group is answered and what is stored after it.

use std::sync::Arc;
use steadfast::store::{InstanceRecord, MemoryStore, RecordChange, Status, Store, Write, Written};
use steadfast::{Epoch, InstanceNumber, Timestamp};

/// A small generator that no dependency can change.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// Everything that follows is decided by the seed.
    pub fn new(seed: u64) -> Self {
        let mut chance = Self(seed);
        chance.below(1);
        chance
    }

    /// A number from 0 to below `limit`, which is at least 1.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// One of these.
    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

const NAMES: [&str; 3] = ["x", "y", "z"];
const INSTANCES: u64 = 30;
/// One group in this many has a value that is too long for one batch of a store on disk.
const HUGE_EVERY: u64 = 90;

/// The series.
pub struct Groups {
    chance: Chance,
    model: Arc<MemoryStore>,
    epoch: Epoch,
    count: u64,
}

impl Groups {
    /// The series of this seed from its beginning.
    pub fn new(seed: u64) -> Self {
        let model = Arc::new(MemoryStore::new());
        let epoch = model.claim().expect("a memory store can be claimed");
        Self {
            chance: Chance::new(seed),
            model,
            epoch,
            count: 0,
        }
    }

    /// What is stored after the groups so far.
    pub fn model(&self) -> &MemoryStore {
        &self.model
    }

    /// The next group and its answers. The model stores it.
    pub fn advance(&mut self) -> (Vec<Write>, Vec<Written>) {
        self.count += 1;
        let size = 1 + self.chance.below(6);
        let mut group: Vec<Write> = (0..size).map(|_| self.write()).collect();
        if self.count % HUGE_EVERY == HUGE_EVERY / 2 {
            group.push(Write::Start {
                id: format!("huge {}", self.count),
                workflow: "huge".to_owned(),
                version: 1,
                input_digest: [1; 32],
                batch: vec![self.count as u8; 5 << 20],
                at: Timestamp::from_micros(self.count),
            });
        }
        let answers = self.model.commit(self.epoch, &group).expect("the model can commit");
        (group, answers)
    }

    fn payload(&mut self) -> Vec<u8> {
        let size = match self.chance.below(24) {
            0 | 1 => 4_000 + self.chance.below(16_000),
            2 => 30_000 + self.chance.below(100_000),
            3 => 0,
            _ => self.chance.below(300),
        };
        let first = self.chance.below(256);
        (0..size).map(|index| (first + index) as u8).collect()
    }

    fn write(&mut self) -> Write {
        let id = format!("instance {}", self.chance.below(INSTANCES));
        let at = Timestamp::from_micros(1_000_000 + self.chance.below(1_000_000));
        match self.chance.below(11) {
            10 => Write::Note {
                key: self.chance.of(&NAMES).to_owned(),
                value: self.payload(),
            },
            0 | 1 => Write::Start {
                id,
                workflow: "order".to_owned(),
                version: 1,
                input_digest: [3; 32],
                batch: self.payload(),
                at,
            },
            2 => Write::Cancel {
                id,
                reason: "chance".to_owned(),
                at,
            },
            3 | 4 => Write::Signal {
                id,
                name: self.chance.of(&NAMES).to_owned(),
                payload: self.payload(),
                dedup_key: self.chance.of(&[None, Some("k"), Some("l")]).map(str::to_owned),
                at,
            },
            _ => self.turn(at),
        }
    }

    fn turn(&mut self, at: Timestamp) -> Write {
        let instance = InstanceNumber(1 + self.chance.below(INSTANCES));
        let loaded = self.model.load(instance).expect("the model can be read");
        let (batches, signals) = loaded.map_or((0, Vec::new()), |loaded| (loaded.batches.len() as u64, loaded.signals));
        let consumed = signals
            .iter()
            .take(self.chance.below(3) as usize)
            .map(|signal| signal.sequence);
        let consumed_signals = consumed.collect();
        Write::Turn {
            instance,
            expected_batches: batches,
            batch: (self.chance.below(5) > 0).then(|| self.payload()),
            change: (self.chance.below(2) == 0).then(|| self.change()),
            consumed_signals,
            at,
        }
    }

    fn change(&mut self) -> RecordChange {
        let status = match self.chance.below(60) {
            0 => Status::Completed,
            1..20 => Status::Running,
            _ => Status::Waiting,
        };
        let names = &NAMES[..self.chance.below(3) as usize];
        RecordChange {
            status,
            awaited_signals: names.iter().map(|&name| name.to_owned()).collect(),
            wake_at: self.chance.of(&[None, Some(1), Some(2)]).map(Timestamp::from_micros),
            trouble: None,
        }
    }
}

/// Says where a store differs from the model, if it does.
pub fn difference(store: &dyn Store, model: &MemoryStore) -> Option<String> {
    let all = usize::MAX;
    let expected = model.list(None, all).expect("the model can be read");
    let found = match store.list(None, all) {
        Ok(found) => found,
        Err(error) => return Some(error.to_string()),
    };
    if found != expected {
        let ids = |records: &[InstanceRecord]| records.len();
        return Some(format!("{} records, of {}, or other ones", ids(&found), ids(&expected)));
    }
    for record in expected {
        let expected = model.load(record.number).expect("the model can be read");
        match store.load(record.number) {
            Ok(found) if found == expected => {}
            Ok(_) => return Some(format!("instance {} is another", record.number)),
            Err(error) => return Some(error.to_string()),
        }
        if store.find(&record.id).ok().flatten() != Some(record.clone()) {
            return Some(format!("instance `{}` is not found by its id", record.id));
        }
    }
    if store.ready(None, all).ok() != model.ready(None, all).ok() {
        return Some("other instances are ready".to_owned());
    }
    if store.due(Timestamp::MAX, None, all).ok() != model.due(Timestamp::MAX, None, all).ok() {
        return Some("other instances are due".to_owned());
    }
    None
}
