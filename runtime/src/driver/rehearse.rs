//! Before anything moves: would the instances in flight repeat their journals with the code that is registered now?
//!
//! The store notes the shape of every workflow that ran over it. Where that is the same as before, nothing is looked at, so
//! opening costs nothing then. Where it changed, every instance of that workflow which has not ended is replayed to the
//! end of its journal, exactly as it will be when it goes on, except that nothing follows from it: no body begins, nothing
//! is written. Absent on purpose: what is done about it, which the builder was told.

use super::code::{Code, States, call, panicked};
use super::engine::Codes;
use super::instance::{read_journal, restored};
use super::silence::silenced;
use super::turn::Turn;
use crate::ids::InstanceNumber;
use crate::machine::{Event, Next};
use crate::store::{InstanceRecord, ReadError, Store, StoredInstance, Write};
use crate::time::Timestamp;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll, Waker};

/// Under which note the shapes are kept.
const SHAPES: &str = "shapes";
/// How many records are read at once.
const PAGE: usize = 1_000;

/// An instance that cannot go on with the code that is registered.
///
/// It is not lost: it becomes `Quarantined` when it is run, and goes on with code that matches its journal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Divergence {
    /// The instance.
    pub id: String,
    /// Its workflow.
    pub workflow: String,
    /// The version it was started with.
    pub version: u32,
    /// Where code and journal part, for people.
    pub reason: String,
}

impl std::fmt::Display for Divergence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            id,
            workflow,
            version,
            reason,
        } = self;
        write!(f, "instance `{id}` of `{workflow}` version {version}: {reason}")
    }
}

/// Which workflows' instances are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// Those whose shape is not the one that ran last.
    Changed,
    All,
}

/// What was found, and what is to be noted if the runtime starts all the same.
#[derive(Default)]
pub(crate) struct Rehearsal {
    pub(crate) divergences: Vec<Divergence>,
    pub(crate) note: Option<Write>,
}

/// Workflow and version, and the shape they had.
type Shapes = BTreeMap<(String, u32), String>;

/// Replays what may diverge. Blocks; may take as long as the journals are many.
pub(crate) fn rehearse(
    store: &dyn Store,
    codes: &Codes,
    states: &States,
    which: Which,
) -> Result<Rehearsal, ReadError> {
    let noted = noted(store)?;
    let changed: Codes = codes
        .iter()
        .filter(|(key, code)| which == Which::All || noted.get(&owned(key)) != Some(&code.shape()))
        .map(|(key, code)| (*key, std::sync::Arc::clone(code)))
        .collect();
    if changed.is_empty() {
        return Ok(Rehearsal::default());
    }
    let mut rehearsal = Rehearsal::default();
    let mut after: Option<InstanceNumber> = None;
    loop {
        let page = store.list(after, PAGE)?;
        let Some(last) = page.last() else { break };
        after = Some(last.number);
        for record in page
            .iter()
            .filter(|record| !record.status.is_terminal() && record.cancel_requested.is_none())
        {
            let Some(code) = changed.get(&(record.workflow.as_str(), record.version)) else {
                continue;
            };
            if let Err(reason) = instance(store, record, code.as_ref(), states)? {
                rehearsal.divergences.push(Divergence {
                    id: record.id.clone(),
                    workflow: record.workflow.clone(),
                    version: record.version,
                    reason,
                });
            }
        }
    }
    if !rehearsal.divergences.is_empty() {
        // Looked at again next time: what diverges now and only sleeps would not be told then otherwise.
        return Ok(rehearsal);
    }
    let mut shapes = noted;
    shapes.extend(changed.iter().map(|(key, code)| (owned(key), code.shape())));
    // Without the note everything is looked at again next time, and that is all.
    rehearsal.note = postcard::to_stdvec(&shapes).ok().map(|value| Write::Note {
        key: SHAPES.to_owned(),
        value,
    });
    Ok(rehearsal)
}

/// A workflow and its version, as they are noted.
fn owned((workflow, version): &(&'static str, u32)) -> (String, u32) {
    ((*workflow).to_owned(), *version)
}

fn noted(store: &dyn Store) -> Result<Shapes, ReadError> {
    let note = store.note(SHAPES)?.unwrap_or_default();
    // One that another version of Steadfast wrote otherwise is as good as none.
    Ok(postcard::from_bytes(&note).unwrap_or_default())
}

/// Replays one instance. `Ok(Err(…))` says why it would not go on.
fn instance(
    store: &dyn Store,
    record: &InstanceRecord,
    code: &dyn Code,
    states: &States,
) -> Result<Result<(), String>, ReadError> {
    let stored = match store.load(record.number) {
        Ok(Some(stored)) => stored,
        Ok(None) => return Ok(Ok(())),
        Err(ReadError::Damaged { reason, .. }) => return Ok(Err(format!("its journal cannot be read: {reason}"))),
        Err(error) => return Err(error),
    };
    Ok(replay(stored, code, states))
}

fn replay(stored: StoredInstance, code: &dyn Code, states: &States) -> Result<(), String> {
    let batches = stored.batches.len() as u64;
    let mut journal = read_journal(stored.batches)?;
    let input = journal.first_mut().and_then(Event::take_input).unwrap_or_default();
    let machine = restored(&stored.record, journal, stored.signals, batches).map_err(|fault| fault.message)?;
    let future = call(code, &input, states).map_err(|fault| fault.message)?;
    let mut turn = Turn::new(machine, Box::new(|_, _, _| {}));
    let mut future = Some(future);
    loop {
        let poll = || {
            catch_unwind(AssertUnwindSafe(|| match future.as_mut() {
                Some(future) => future.as_mut().poll(&mut Context::from_waker(Waker::noop())),
                None => Poll::Pending,
            }))
        };
        let polled;
        (turn, polled) = turn.enter(|| silenced(poll));
        match polled {
            Ok(Poll::Pending) => {}
            Ok(Poll::Ready(ended)) => {
                future = None;
                turn.machine.finish(turn.machine.now(), &ended.into_event());
            }
            Err(panic) => turn.machine.set_fault(panicked(panic.as_ref())),
        }
        if !advance(&mut turn) {
            break;
        }
    }
    // Dropping is dropping bodies that never began; one that panics there has nothing to say about the journal.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(future)));
    turn.machine.fault().map_or(Ok(()), |fault| Err(fault.message.clone()))
}

/// Delivers recorded events up to the next one that the code sees. `false` when there is none.
fn advance(turn: &mut Turn) -> bool {
    while turn.machine.fault().is_none() && !turn.machine.is_replayed() {
        match turn.machine.next(Timestamp::EPOCH, 0) {
            Next::Deliver(open) => {
                turn.wake(open);
                return true;
            }
            Next::Notify(open) => turn.wake(open),
            Next::Quiet => {}
            Next::Idle => break,
        }
    }
    false
}
