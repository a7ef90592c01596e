//! `guard_across_checkpoint`: a lock, a borrow or a temporary folder that is held while the workflow waits.

use quote::ToTokens;
use syn::{Expr, ExprMethodCall, Ident, Pat, Stmt};

use crate::code::known;
use crate::lint::flow::Scene;
use crate::lint::table::{Level, Rule};
use crate::lint::types::{Family, Types};
use crate::message::Message;
use crate::names::{Meaning, Names};

pub(crate) const RULE: Rule = Rule {
    id: "guard_across_checkpoint",
    level: Level::Error,
    refuses: "the guard of a lock or a `RefCell`, or a temporary file or folder, held across a checkpoint",
    instead: "a block that ends it before the checkpoint",
    example: r#"let stock = std::cell::RefCell::new(1); let held = stock.borrow_mut(); sleep!("a while", delay).await;"#,
    paths: &[],
    macros: &[],
    message: Message {
        text: "`{0}` is held while the workflow waits",
        reason: "a wait may last for days and go on in another process: until then others are locked out, or what it guards is gone",
        remedy: "put it and what needs it into a block that ends before the next checkpoint; or into a step",
    },
};

/// Locks, and how they give their guards.
const LOCKS: Family = Family(&[
    ("std", &["Mutex", "RwLock", "RefCell"]),
    ("tokio", &["Mutex", "RwLock"]),
    ("async_lock", &["Mutex", "RwLock"]),
    ("parking_lot", &["Mutex", "FairMutex", "ReentrantMutex", "RwLock"]),
    ("spin", &["Mutex", "RwLock"]),
]);

const GUARDS: &[&str] = &[
    "lock",
    "read",
    "write",
    "borrow",
    "borrow_mut",
    "try_lock",
    "try_read",
    "try_write",
    "blocking_lock",
    "blocking_read",
    "blocking_write",
];

/// One of these is in the path of every function that gives a guard.
const GUARDED: &[&str] = &["RefCell", "tempfile", "tempdir", "TempDir", "NamedTempFile"];

/// What is gone when its variable is.
const TEMPORARY: &[&[&str]] = &[
    &["tempfile", "tempdir"],
    &["tempfile", "tempfile"],
    &["tempfile", "TempDir", "new"],
    &["tempfile", "NamedTempFile", "new"],
];

/// Whether what the statement binds may be a guard, and a checkpoint follows in its block before it is dropped.
pub(crate) fn is_crossed(statement: &Stmt, following: &[Stmt]) -> bool {
    let Some((name, value)) = bound(statement) else {
        return false;
    };
    if !may_be_guard(value) {
        return false;
    }
    for next in following {
        if ends(next, name) {
            return false;
        }
        if known::waits(next.to_token_stream()) {
            return true;
        }
    }
    false
}

/// For statements that are crossed.
pub(crate) fn statement(statement: &Stmt, scene: &mut Scene<'_>) {
    if let Some((name, value)) = bound(statement)
        && is_guard(value, &scene.types, scene.names)
    {
        scene.report(&RULE, name, &name.to_string());
    }
}

fn bound(statement: &Stmt) -> Option<(&Ident, &Expr)> {
    let Stmt::Local(local) = statement else { return None };
    let pattern = match &local.pat {
        Pat::Type(typed) => &*typed.pat,
        other => other,
    };
    match pattern {
        Pat::Ident(name) => Some((&name.ident, &*local.init.as_ref()?.expr)),
        _ => None,
    }
}

/// By its names alone, so that only few statements are asked what follows them.
fn may_be_guard(value: &Expr) -> bool {
    match unwrapped(value) {
        Expr::MethodCall(call) => GUARDS.contains(&call.method.to_string().as_str()),
        Expr::Call(call) => match &*call.func {
            Expr::Path(called) => called
                .path
                .segments
                .iter()
                .any(|segment| GUARDED.iter().any(|name| segment.ident == name)),
            _ => false,
        },
        _ => false,
    }
}

fn is_guard(value: &Expr, types: &Types, names: &Names) -> bool {
    match unwrapped(value) {
        Expr::MethodCall(call) => is_lock(call, types, names),
        Expr::Call(call) => {
            let Expr::Path(called) = &*call.func else { return false };
            let (Meaning::Foreign(path) | Meaning::Unknown(path)) = names.meaning(&called.path) else {
                return false;
            };
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            let borrows = matches!(
                path.as_slice(),
                ["std", "cell", "RefCell", "borrow" | "borrow_mut"] | ["RefCell", "borrow" | "borrow_mut"]
            );
            borrows || TEMPORARY.contains(&path.as_slice())
        }
        _ => false,
    }
}

fn is_lock(call: &ExprMethodCall, types: &Types, names: &Names) -> bool {
    GUARDS.contains(&call.method.to_string().as_str())
        && types.of(&call.receiver).is_some_and(|kind| LOCKS.has(&kind, names))
}

/// The call in `mutex.lock().await`, `mutex.lock().unwrap()`, `tempdir()?`.
fn unwrapped(value: &Expr) -> &Expr {
    match value {
        Expr::Await(wait) => unwrapped(&wait.base),
        Expr::Try(attempt) => unwrapped(&attempt.expr),
        Expr::MethodCall(call) if call.method == "unwrap" || call.method == "expect" => unwrapped(&call.receiver),
        other => other,
    }
}

/// `drop(guard);`
fn ends(statement: &Stmt, guard: &Ident) -> bool {
    let Stmt::Expr(Expr::Call(call), _) = statement else {
        return false;
    };
    let is = |expression: &Expr, name: &str| matches!(expression, Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name));
    is(&call.func, "drop") && call.args.first().is_some_and(|value| is(value, &guard.to_string()))
}
