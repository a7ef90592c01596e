//! What a waiting instance waits for, told from its journal alone, without its code.

use super::checkpoint::WaitingFor;
use super::event::{CheckpointKind, Event, EventKind};
use super::path::Path;
use crate::time::Timestamp;
use std::collections::BTreeMap;

/// `awaited_signals` has one entry for each open wait, with or without a deadline. `wake_at` is the earliest instant that
/// something is due at: what would be due before is of checkpoints that the code has no more.
pub(crate) fn waiting_for(
    journal: &[Event],
    awaited_signals: &[String],
    wake_at: Option<Timestamp>,
) -> Vec<WaitingFor> {
    let mut open: BTreeMap<(CheckpointKind, &Path), WaitingFor> = BTreeMap::new();
    for event in journal {
        let Some(checkpoint) = event.kind.checkpoint() else {
            continue;
        };
        match wait_after(&event.kind) {
            After::Waits(wait) => _ = open.insert(checkpoint, wait),
            After::Moves => _ = open.remove(&checkpoint),
            After::AsBefore => {}
        }
    }
    let is_there = |wait: &WaitingFor| wake_at.is_some_and(|wake_at| due(wait).is_none_or(|due| due >= wake_at));
    let mut waiting: Vec<WaitingFor> = open.into_values().filter(is_there).collect();
    let mut with_deadline: Vec<String> = waiting
        .iter()
        .filter_map(|wait| match wait {
            WaitingFor::Signal { name, .. } => Some(name.clone()),
            WaitingFor::Sleep { .. } | WaitingFor::Retry { .. } => None,
        })
        .collect();
    for name in awaited_signals {
        let counted = with_deadline
            .iter()
            .position(|of| of == name)
            .map(|place| with_deadline.swap_remove(place));
        if counted.is_none() {
            waiting.push(WaitingFor::Signal {
                name: name.clone(),
                deadline: None,
            });
        }
    }
    waiting
}

fn due(wait: &WaitingFor) -> Option<Timestamp> {
    match wait {
        WaitingFor::Sleep { until, .. } => Some(*until),
        WaitingFor::Signal { deadline, .. } => *deadline,
        WaitingFor::Retry { at, .. } => Some(*at),
    }
}

/// What an event says about its checkpoint.
enum After {
    Waits(WaitingFor),
    Moves,
    AsBefore,
}

fn wait_after(event: &EventKind) -> After {
    match event {
        EventKind::SleepBegan { sleep, due } => After::Waits(WaitingFor::Sleep {
            sleep: sleep.to_string(),
            until: *due,
        }),
        EventKind::WaitBegan { wait, deadline } => After::Waits(WaitingFor::Signal {
            name: wait.name(),
            deadline: Some(*deadline),
        }),
        EventKind::AttemptFailed {
            step,
            attempt,
            retry_at,
            ..
        } => After::Waits(WaitingFor::Retry {
            step: step.to_string(),
            attempt: attempt.saturating_add(1),
            at: *retry_at,
        }),
        EventKind::SignalSetAside { .. } => After::AsBefore,
        EventKind::Started { .. }
        | EventKind::StepSucceeded { .. }
        | EventKind::StepFailed { .. }
        | EventKind::AttemptStarted { .. }
        | EventKind::AttemptInterrupted { .. }
        | EventKind::Dropped { .. }
        | EventKind::SleepEnded { .. }
        | EventKind::SignalReceived { .. }
        | EventKind::WaitElapsed { .. }
        | EventKind::Drawn { .. }
        | EventKind::CancelRequested { .. }
        | EventKind::Completed { .. }
        | EventKind::Failed { .. }
        | EventKind::Cancelled { .. }
        | EventKind::Patched { .. }
        | EventKind::Kept { .. }
        | EventKind::Behaviour { .. } => After::Moves,
    }
}
