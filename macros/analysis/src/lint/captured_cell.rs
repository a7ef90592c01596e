//! `captured_cell`: a step body uses a variable of the workflow that it can change through a shared borrow. A warning,
//! because it may only read. State is fine: it belongs to the runtime, and lives on when the body does not run again.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{ExprPath, Ident, Item};

use crate::code::checkpoint::Body;
use crate::lint::flow::Scene;
use crate::lint::table::{Level, Rule};
use crate::lint::types::{AllNames, Family};
use crate::message::Message;

pub(crate) const RULE: Rule = Rule {
    id: "captured_cell",
    level: Level::Warning,
    refuses: "a step body that uses a `Cell`, a lock, an atomic or a channel's sender of the workflow",
    instead: "the step's result; state",
    example: r#"let count = std::cell::Cell::new(0); step!("count", { count.set(1); Ok(()) }).await?;"#,
    paths: &[],
    macros: &[],
    message: Message {
        text: "this step body can change `{0}`, a variable of the workflow",
        reason: "on replay the body does not run again, and the change would be missing",
        remedy: "let the body end in the new value, and assign what the step gives; what outlives the workflow belongs into its state",
    },
};

const ATOMICS: &[&str] = &[
    "Cell",
    "RefCell",
    "OnceCell",
    "UnsafeCell",
    "Mutex",
    "RwLock",
    "OnceLock",
    "Sender",
    "SyncSender",
    "AtomicBool",
    "AtomicI8",
    "AtomicI16",
    "AtomicI32",
    "AtomicI64",
    "AtomicIsize",
    "AtomicU8",
    "AtomicU16",
    "AtomicU32",
    "AtomicU64",
    "AtomicUsize",
    "AtomicPtr",
];

const CELLS: Family = Family(&[
    ("std", ATOMICS),
    ("portable_atomic", ATOMICS),
    ("once_cell", &["OnceCell"]),
    ("tokio", &["Mutex", "RwLock", "OnceCell", "Sender", "UnboundedSender"]),
    ("async_lock", &["Mutex", "RwLock", "OnceCell"]),
    ("futures", &["Mutex", "Sender", "UnboundedSender"]),
    ("futures_channel", &["Sender", "UnboundedSender"]),
    ("parking_lot", &["Mutex", "FairMutex", "ReentrantMutex", "RwLock"]),
    ("crossbeam", &["AtomicCell", "Sender"]),
    ("crossbeam_channel", &["Sender"]),
    ("async_channel", &["Sender"]),
    ("flume", &["Sender"]),
    ("kanal", &["Sender", "AsyncSender"]),
]);

pub(crate) fn body(body: &Body, scene: &mut Scene<'_>) {
    let mut own = BTreeSet::new();
    body.visit(&mut AllNames(&mut |name| {
        own.insert(name.clone());
    }));
    let mut captured = Captured {
        scene,
        told: own,
        found: Vec::new(),
    };
    body.visit(&mut captured);
    let found = captured.found;
    for name in found {
        scene.report(&RULE, &name, &name.to_string());
    }
}

struct Captured<'s, 'n> {
    scene: &'s Scene<'n>,
    /// The body's own names, and those that are reported already.
    told: BTreeSet<Ident>,
    found: Vec<Ident>,
}

impl<'ast> Visit<'ast> for Captured<'_, '_> {
    fn visit_expr_path(&mut self, path: &'ast ExprPath) {
        let Some(name) = path.path.get_ident() else { return };
        let is_cell = |name: &Ident| {
            let variable = self.scene.types.variable(name).filter(|variable| !variable.borrowed);
            let kind = variable.and_then(|variable| variable.kind.as_ref());
            kind.is_some_and(|kind| CELLS.has(kind, self.scene.names))
        };
        if is_cell(name) && self.told.insert(name.clone()) {
            self.found.push(name.clone());
        }
        visit::visit_expr_path(self, path);
    }

    fn visit_item(&mut self, _: &'ast Item) {}
}
