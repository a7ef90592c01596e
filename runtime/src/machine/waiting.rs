//! What a waiting instance waits for, told from its journal alone, without its code.

use super::checkpoint::WaitingFor;
use super::event::{CheckpointKind, Event, EventKind};
use super::path::Path;
use std::collections::BTreeMap;

/// `awaited_signals` has one entry for each open wait, with or without a deadline.
pub(crate) fn waiting_for(journal: &[Event], awaited_signals: &[String]) -> Vec<WaitingFor> {
    let mut open: BTreeMap<(CheckpointKind, &Path), WaitingFor> = BTreeMap::new();
    for event in journal {
        let Some(key) = event.kind.checkpoint() else { continue };
        match &event.kind {
            EventKind::SleepBegan { sleep, due } => {
                open.insert(
                    key,
                    WaitingFor::Sleep {
                        sleep: sleep.to_string(),
                        until: *due,
                    },
                );
            }
            EventKind::WaitBegan { wait, deadline } => {
                open.insert(
                    key,
                    WaitingFor::Signal {
                        name: wait.name(),
                        deadline: Some(*deadline),
                    },
                );
            }
            EventKind::AttemptFailed {
                step,
                attempt,
                retry_at,
                ..
            } => {
                let attempt = attempt.saturating_add(1);
                open.insert(
                    key,
                    WaitingFor::Retry {
                        step: step.to_string(),
                        attempt,
                        at: *retry_at,
                    },
                );
            }
            EventKind::SignalSetAside { .. } => {}
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
            | EventKind::Cancelled { .. } => {
                open.remove(&key);
            }
        }
    }
    let mut waiting: Vec<WaitingFor> = open.into_values().collect();
    for name in awaited_signals {
        let has_deadline = |wait: &WaitingFor| matches!(wait, WaitingFor::Signal { name: of, .. } if of == name);
        if !waiting.iter().any(has_deadline) {
            waiting.push(WaitingFor::Signal {
                name: name.clone(),
                deadline: None,
            });
        }
    }
    waiting
}
