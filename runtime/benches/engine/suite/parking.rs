//! Parked instances by the thousand without running each of them: one is run, and its rows are written again and again
//! under other ids, through the store alone. So there is also a store that holds the same and never saw an engine.

use crate::suite::Fault;
use crate::suite::arguments::StoreKind;
use crate::suite::bed::{Bed, Counted};
use crate::suite::cases::open;
use crate::suite::watch::Watch;
use crate::suite::workflows::instant;
use std::time::Duration;
use steadfast::store::{RecordChange, Started, Store, StoredInstance, Write, Written};
use steadfast::{InstanceNumber, Runtime, Workflow};

/// How many instances are written at a time, and how many turns go into one commit.
const GROUP: u64 = 1_000;

/// An instance that waits and is not in memory.
pub(crate) struct Template(StoredInstance);

impl Template {
    /// Runs an instance until it is parked.
    pub(crate) async fn of<W: Workflow<Input = u64> + Copy>(workflow: W, input: u64) -> Result<Self, Fault> {
        let (watch, _marks) = Watch::new(false);
        let bed = Bed::new(StoreKind::Memory)?;
        let store = bed.open()?;
        let runtime = open(&store, &watch, Duration::ZERO).await?;
        runtime.start(workflow, input).id("template").await?;
        watch.all_left(1).await?;
        let record = store.find("template")?.ok_or("the template is not there")?;
        let stored = store.load(record.number)?.ok_or("the template is not there")?;
        runtime.shutdown(Duration::ZERO).await;
        Ok(Self(stored))
    }

    /// The id of a copy.
    pub(crate) fn id(copy: u64) -> String {
        format!("instance-{copy}")
    }

    fn start(&self, copy: u64) -> Write {
        let record = &self.0.record;
        Write::Start {
            id: Self::id(copy),
            workflow: record.workflow.clone(),
            version: record.version,
            input_digest: record.input_digest,
            batch: self.0.batches[0].clone(),
            at: record.created_at,
        }
    }

    /// Everything that led a copy to where it waits; the last turn says for what.
    fn turns(&self, instance: InstanceNumber) -> Vec<Write> {
        let record = &self.0.record;
        let change = RecordChange {
            status: record.status,
            awaited_signals: record.awaited_signals.clone(),
            wake_at: record.wake_at,
            trouble: record.trouble.clone(),
        };
        let turn = |expected_batches, batch, change| Write::Turn {
            instance,
            expected_batches,
            batch,
            change,
            consumed_signals: Vec::new(),
            at: record.updated_at,
        };
        let batches = &self.0.batches[1..];
        if batches.is_empty() {
            return vec![turn(1, None, Some(change))];
        }
        let turns = (1..).zip(batches).map(|(before, batch)| {
            let is_last = before == batches.len() as u64;
            turn(before, Some(batch.clone()), is_last.then(|| change.clone()))
        });
        turns.collect()
    }
}

/// Opens an engine over an empty store once, so that the store knows the workflows: otherwise the next engine that is
/// opened over it would look whether they changed, which means to replay everything in flight.
pub(crate) async fn introduce(bed: &Bed) -> Result<(), Fault> {
    let (watch, _marks) = Watch::new(false);
    let runtime: Runtime = open(&bed.open()?, &watch, Duration::ZERO).await?;
    let handle = runtime.start(instant, 0).id("introduction").await?;
    handle.result().await?;
    runtime.shutdown(Duration::ZERO).await;
    Ok(())
}

/// Writes `n` copies, of each template in turn.
pub(crate) fn fill(store: &Counted, templates: &[&Template], n: u64) -> Result<(), Fault> {
    let epoch = store.claim()?;
    for first in (0..n).step_by(GROUP as usize) {
        let copies = (first..n.min(first + GROUP)).zip(templates.iter().cycle());
        let starts: Vec<Write> = copies.clone().map(|(copy, template)| template.start(copy)).collect();
        let mut turns = Vec::new();
        for (answer, (_, template)) in store.commit(epoch, &starts)?.into_iter().zip(copies) {
            match answer {
                Written::Start(Started::Created(number)) => turns.extend(template.turns(number)),
                other => return Err(format!("a start was answered {other:?}").into()),
            }
        }
        for group in turns.chunks(GROUP as usize) {
            let answers = store.commit(epoch, group)?;
            if answers.iter().any(|answer| *answer != Written::Turn(true)) {
                return Err("a turn was refused".into());
            }
        }
    }
    Ok(())
}
