//! How the task of an instance begins: what is known of the instance, its code, its future. Absent on purpose: what the task
//! does then.

use super::{End, Task};
use crate::driver::code::{States, call};
use crate::driver::engine::Engine;
use crate::driver::instance::Loaded;
use crate::driver::live::Live;
use crate::machine::{Event, decode_into};
use crate::store::{InstanceRecord, Status};
use std::sync::Arc;

/// Runs one instance from waking to its end, its stop or its parking.
pub(in crate::driver) async fn run(engine: Arc<Engine>, live: Arc<Live>, origin: Origin) {
    let _poison = PoisonOnPanic {
        engine: Arc::clone(&engine),
        live: Arc::clone(&live),
    };
    let (loaded, is_fresh) = match origin {
        Origin::Fresh(loaded) => (*loaded, true),
        Origin::Stored => match engine.load(live.number) {
            Ok(Some(loaded)) if engine.still_waits_for_code(&loaded.record) => {
                // A cancellation may have come since the record was read.
                if engine.left(&live, None).cancel.is_some() {
                    engine.wake_stored(live.number, &[]);
                }
                engine.announce_what_is_known(live.number);
                return;
            }
            Ok(Some(loaded)) => (loaded, false),
            Ok(None) => {
                engine.left(&live, None);
                engine.announce_what_is_known(live.number);
                return;
            }
            Err(reason) => {
                engine.left(&live, None);
                engine.unreadable(live.number, reason);
                return;
            }
        },
    };
    let states = Arc::clone(&engine.states);
    drive(engine, live, loaded, is_fresh, &states).await;
}

/// The events of all batches of a journal.
pub(in crate::driver) fn read_journal(batches: Vec<Vec<u8>>) -> Result<Vec<Event>, String> {
    // Few batches have more than one event.
    let mut journal = Vec::with_capacity(batches.len());
    for (place, batch) in batches.into_iter().enumerate() {
        decode_into(&batch, &mut journal).map_err(|reason| format!("journal batch {place}: {reason}"))?;
    }
    Ok(journal)
}

/// User code is caught where it is called, so a panic that unwinds the task is the engine's own: it knows no longer what is
/// true, and stops.
struct PoisonOnPanic {
    engine: Arc<Engine>,
    live: Arc<Live>,
}

impl Drop for PoisonOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.engine.poison("the engine panicked in the task of an instance");
            self.engine.left(&self.live, None);
        }
    }
}

/// Where an instance comes from.
pub(in crate::driver) enum Origin {
    Fresh(Box<Loaded>),
    Stored,
}

async fn drive(engine: Arc<Engine>, live: Arc<Live>, mut loaded: Loaded, is_fresh: bool, states: &States) {
    if loaded.record.status.is_terminal() {
        engine.left(&live, None);
        engine.announce_what_is_known(live.number);
        return;
    }
    let cancel = loaded.record.cancel_requested.clone();
    if let Some(reason) = cancel {
        live.post(|mail| mail.cancel = Some(reason));
    }
    let code = engine.code(&loaded.record.workflow, loaded.record.version);
    let input = loaded.journal.first_mut().and_then(Event::take_input);
    let InstanceRecord { workflow, version, .. } = &loaded.record;
    let code = code.ok_or_else(|| format!("no workflow `{workflow}` of version {version} is registered"));
    let name = code.as_ref().map_or("", |code| code.name());
    let mut task = match Task::new(Arc::clone(&engine), Arc::clone(&live), name, loaded) {
        Ok(task) => task,
        Err(fault) => {
            engine.left(&live, None);
            engine.unreadable(live.number, fault.message);
            return;
        }
    };
    if is_fresh {
        task.is_fresh();
    }
    let mut future = None;
    let input = input.unwrap_or_default();
    match code.map(|code| call(code.as_ref(), &input, states)) {
        Ok(Ok(made)) => future = Some(made),
        Ok(Err(fault)) => task.machine().set_fault(fault),
        Err(trouble) => task.wait_for_code(trouble),
    }
    std::future::poll_fn(|context| task.poll(context, &mut future)).await;
}

impl Task {
    /// There is nothing to poll: the instance waits, at no cost, for a process that has its code.
    fn wait_for_code(&mut self, trouble: String) {
        if self.recorded.status != Status::WaitingForCode {
            self.span
                .in_scope(|| tracing::warn!(trouble, "the instance waits for code"));
        }
        self.end = Some(End::Stopped {
            status: Status::WaitingForCode,
            trouble,
        });
    }
}
