//! What must be true of a store and a ledger whenever no process is there, whatever killed the last one.

use crate::journal;
use crate::ledger::Line;
use crate::workload::STUCK;
use std::collections::{BTreeMap, BTreeSet};
use steadfast::store::Store;

/// Looks at a store and its ledger between processes, and remembers what it saw.
#[derive(Default)]
pub struct Inspector {
    seen_lines: usize,
    ended: BTreeMap<String, BTreeSet<String>>,
}

impl Inspector {
    /// Gives what is wrong now: an acknowledged start without an instance, a body that began before its cause was durable
    /// or after its end was, an end without a body that returned, a journal that contradicts itself or lost something.
    pub fn look(&mut self, store: &dyn Store, ledger: &[Line]) -> Vec<String> {
        let mut wrong = Vec::new();
        for line in ledger.iter().skip(self.seen_lines) {
            if let Line::Began { id, step, .. } = line
                && self.ended.get(id).is_some_and(|ended| ended.contains(step))
            {
                wrong.push(format!("began although its end was recorded: {line:?}"));
            }
        }
        self.seen_lines = ledger.len();
        for id in ids(ledger) {
            let lines = journal::lines(store, &id);
            if lines.is_empty() {
                wrong.push(format!("{id} was acknowledged or has run, and does not exist"));
            }
            wrong.extend(journal::defects(&lines));
            let ended = journal::ended_steps(&lines);
            wrong.extend(contradictions(&id, &ended, ledger));
            let before = self.ended.insert(id.clone(), ended.clone()).unwrap_or_default();
            wrong.extend(
                before
                    .difference(&ended)
                    .map(|step| format!("the journal of {id} lost {step}")),
            );
        }
        wrong
    }
}

fn ids(ledger: &[Line]) -> BTreeSet<String> {
    let id = |line: &Line| match line {
        Line::Began { id, .. } | Line::Ended { id, .. } => Some(id.clone()),
        Line::Acknowledged(what) => what.strip_prefix("start ").map(str::to_owned),
    };
    ledger.iter().filter_map(id).collect()
}

fn contradictions(of: &str, ended: &BTreeSet<String>, ledger: &[Line]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut returned = BTreeSet::new();
    for line in ledger {
        match line {
            Line::Began { id, after, .. } if id == of => {
                for cause in after.iter().filter(|cause| !ended.contains(*cause)) {
                    wrong.push(format!("{cause} is not recorded, and after it {line:?}"));
                }
            }
            Line::Ended { id, step } if id == of => {
                returned.insert(step.clone());
            }
            Line::Began { .. } | Line::Ended { .. } | Line::Acknowledged(_) => {}
        }
    }
    for step in ended.difference(&returned) {
        let name = step.rsplit('/').next().unwrap_or_default();
        // A timeout or an interruption ends these without a body that returns.
        if !STUCK.contains(&name) && name != "once" {
            wrong.push(format!("{step} of {of} is recorded, and no body of it returned"));
        }
    }
    wrong
}
