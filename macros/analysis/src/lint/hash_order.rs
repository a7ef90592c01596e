//! `hash_order`: the order of a `HashMap` or a `HashSet` reaches something that replay must find again.
//!
//! Fine is what does not depend on the order: looking up, counting, comparing, `all`, `any`, `min`, `max`, sums of
//! integers that are visibly such, collecting into a map or a set, and sorting at once. Sums of floats do depend on it.

use quote::{ToTokens, quote};
use syn::{Expr, ExprCall, ExprMethodCall, Ident, Macro, Pat, Path, Stmt, Type};

use crate::bare;
use crate::code::known;
use crate::lint::answer::turbofish;
use crate::lint::flow::Scene;
use crate::lint::table::{Level, Rule};
use crate::lint::types::{Family, peel};
use crate::lint::{format, written};
use crate::message::Message;

pub(crate) const RULE: Rule = Rule {
    id: "hash_order",
    level: Level::Error,
    refuses: "iterating over a `HashMap` or `HashSet`, those of other crates too, and `{:?}` of one in a text that is kept",
    instead: "`BTreeMap`, `BTreeSet`, or a `Vec` that is sorted first",
    example: "let stock = std::collections::HashMap::from([(1, 2)]); for line in &stock { pack(line); }",
    paths: &[],
    macros: &[],
    message: Message {
        text: "workflow code cannot use the order of a hash map or hash set: `{0}`",
        reason: "it is another one after a restart, and replay would hand one entry the recorded results of another",
        remedy: "use `BTreeMap` or `BTreeSet`; or collect into a `Vec` and sort it in the next statement",
    },
};

const UNORDERED: Family = Family(&[
    ("std", &["HashMap", "HashSet"]),
    ("hashbrown", &["HashMap", "HashSet", "HashTable"]),
    ("ahash", &["AHashMap", "AHashSet", "HashMap", "HashSet"]),
    ("rustc_hash", &["FxHashMap", "FxHashSet"]),
    ("fxhash", &["FxHashMap", "FxHashSet"]),
    ("fnv", &["FnvHashMap", "FnvHashSet"]),
    ("dashmap", &["DashMap", "DashSet"]),
    ("halfbrown", &["HashMap", "SizedHashMap"]),
    ("scc", &["HashMap", "HashSet", "HashIndex"]),
    ("papaya", &["HashMap", "HashSet"]),
    ("im", &["HashMap", "HashSet"]),
    ("imbl", &["HashMap", "HashSet"]),
]);

/// What has no order of insertion.
const SORTED: Family = Family(&[("std", &["BTreeMap", "BTreeSet"])]);

/// What remembers the order in which it is given things.
const LISTS: Family = Family(&[("std", &["Vec", "VecDeque", "LinkedList", "String"])]);

const ITERATES: &[&str] = &[
    "iter",
    "iter_mut",
    "keys",
    "values",
    "values_mut",
    "into_iter",
    "into_keys",
    "into_values",
    "drain",
    "retain",
    "extract_if",
    "union",
    "intersection",
    "difference",
    "symmetric_difference",
];

/// Between an iterator and what takes its items, these keep all of them.
const LINKS: &[&str] = &[
    "map",
    "filter",
    "filter_map",
    "flat_map",
    "flatten",
    "copied",
    "cloned",
    "chain",
    "into_iter",
    "iter",
];

const ORDERLESS: &[&str] = &[
    "count",
    "len",
    "all",
    "any",
    "contains",
    "min",
    "max",
    "sorted",
    "sorted_by",
    "sorted_by_key",
    "sorted_by_cached_key",
    "sorted_unstable",
    "sorted_unstable_by",
    "sorted_unstable_by_key",
];

const OF_DURABLE_FUTURES: &[&str] = &["map_concurrent", "map_concurrent_all", "join_all", "try_join_all"];

const INTEGERS: &[&str] = &[
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
];

#[derive(Default)]
pub(crate) struct HashOrder {
    /// The next iteration on the way down is one whose order is lost again.
    excused: bool,
}

impl HashOrder {
    pub(crate) fn statement(&mut self, statement: &Stmt, sorted: bool, scene: &Scene<'_>) {
        self.excused = match statement {
            Stmt::Local(local) => {
                let declared = match &local.pat {
                    Pat::Type(typed) => Some(&*typed.ty),
                    _ => None,
                };
                match local.init.as_ref().map(|init| &*init.expr) {
                    Some(Expr::MethodCall(call)) if starts_from_hash(call, scene) => {
                        sorted || declared.is_some_and(|kind| forgets_order(call, kind, scene))
                    }
                    Some(Expr::Call(_)) => sorted,
                    _ => false,
                }
            }
            Stmt::Expr(Expr::MethodCall(_), _) => sorted,
            _ => false,
        };
    }

    pub(crate) fn expression(&mut self, expression: &Expr, scene: &mut Scene<'_>) {
        match expression {
            Expr::MethodCall(call) => self.method(call, scene),
            Expr::ForLoop(rounds) if is_unordered(&rounds.expr, scene) => {
                self.found(&rounds.expr, &format!("for … in {}", shortly(&rounds.expr)), scene);
            }
            Expr::Call(call) => self.call(call, scene),
            _ => {}
        }
    }

    fn method(&mut self, call: &ExprMethodCall, scene: &mut Scene<'_>) {
        if iterates(call, scene) {
            let (receiver, dot, method) = (&call.receiver, &call.dot_token, &call.method);
            let code = format!("{}.{method}()", shortly(receiver));
            self.found(&quote!(#receiver #dot #method), &code, scene);
        } else if is_orderless(call, scene) && starts_from_hash(call, scene) {
            self.excused = true;
        } else if call.method == "extend"
            && let Some(items) = call.args.first()
            && is_unordered(items, scene)
            && scene
                .types
                .of(&call.receiver)
                .is_some_and(|kind| LISTS.has(&kind, scene.names))
        {
            self.found(items, &format!("extend({})", shortly(items)), scene);
        }
    }

    /// `join_all(map)`, `Vec::from_iter(map)`.
    fn call(&mut self, call: &ExprCall, scene: &mut Scene<'_>) {
        let (Expr::Path(called), Some(items)) = (&*call.func, call.args.first()) else {
            return;
        };
        let Some(last) = called.path.segments.last().map(|last| last.ident.to_string()) else {
            return;
        };
        let takes_in_order = OF_DURABLE_FUTURES.contains(&last.as_str())
            || (last == "from_iter"
                && scene
                    .types
                    .of(&Expr::Call(call.clone()))
                    .is_some_and(|kind| LISTS.has(&kind, scene.names)));
        if takes_in_order && is_unordered(items, scene) {
            self.found(items, &format!("{}({})", written(&called.path), shortly(items)), scene);
        }
    }

    fn found(&mut self, place: &impl ToTokens, code: &str, scene: &mut Scene<'_>) {
        if !std::mem::take(&mut self.excused) {
            scene.report(&RULE, place, code);
        }
    }
}

fn is_unordered(value: &Expr, scene: &Scene<'_>) -> bool {
    scene
        .types
        .of(value)
        .is_some_and(|kind| UNORDERED.has(&kind, scene.names))
}

fn iterates(call: &ExprMethodCall, scene: &Scene<'_>) -> bool {
    ITERATES.contains(&call.method.to_string().as_str()) && is_unordered(&call.receiver, scene)
}

/// Whether this ends a chain that begins with an iteration and drops, adds and waits for nothing on the way.
fn starts_from_hash(call: &ExprMethodCall, scene: &Scene<'_>) -> bool {
    let mut link = call;
    loop {
        let Expr::MethodCall(before) = &*link.receiver else {
            return false;
        };
        if iterates(before, scene) {
            return !known::waits(call.to_token_stream());
        }
        if !LINKS.contains(&before.method.to_string().as_str()) {
            return false;
        }
        link = before;
    }
}

fn is_orderless(call: &ExprMethodCall, scene: &Scene<'_>) -> bool {
    ORDERLESS.contains(&call.method.to_string().as_str())
        || turbofish(call).is_some_and(|kind| forgets_order(call, &kind, scene))
}

/// Whether `.collect()` or `.sum()` into such a type gives the same in every order.
fn forgets_order(call: &ExprMethodCall, kind: &Type, scene: &Scene<'_>) -> bool {
    if call.method == "collect" {
        UNORDERED.has(kind, scene.names) || SORTED.has(kind, scene.names)
    } else {
        let integer = |path: &Path| {
            path.get_ident()
                .is_some_and(|name| INTEGERS.iter().any(|known| name == known))
        };
        (call.method == "sum" || call.method == "product")
            && matches!(peel(bare(kind)), Type::Path(path) if integer(&path.path))
    }
}

/// `let mut list = … .collect();` or `list.extend(…);`, and the next that happens to the list is `list.sort();`
pub(crate) fn is_sorted_next(statement: &Stmt, following: &[Stmt]) -> bool {
    let Some(list) = filled(statement) else { return false };
    let next = following
        .iter()
        .find(|next| format::mentions(next.to_token_stream(), list));
    matches!(next, Some(Stmt::Expr(Expr::MethodCall(sort), Some(_)))
        if sort.method.to_string().starts_with("sort") && matches!(&*sort.receiver, Expr::Path(path) if path.path.is_ident(list)))
}

/// The variable that a statement fills with what an iterator gives.
fn filled(statement: &Stmt) -> Option<&Ident> {
    match statement {
        Stmt::Local(local) => {
            let fills = match &*local.init.as_ref()?.expr {
                Expr::MethodCall(call) => call.method == "collect",
                Expr::Call(call) => {
                    matches!(&*call.func, Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "from_iter"))
                }
                _ => false,
            };
            let pattern = match &local.pat {
                Pat::Type(typed) => &*typed.pat,
                other => other,
            };
            match pattern {
                Pat::Ident(name) if fills => Some(&name.ident),
                _ => None,
            }
        }
        Stmt::Expr(Expr::MethodCall(call), Some(_)) if call.method == "extend" => match &*call.receiver {
            Expr::Path(path) => path.path.get_ident(),
            _ => None,
        },
        _ => None,
    }
}

/// `format!("{map:?}")`: the text differs. What is only printed or logged is no concern of this rule.
pub(crate) fn shown(mac: &Macro, scene: &mut Scene<'_>) {
    for shown in format::debug_arguments(mac) {
        if is_unordered(&shown.value, scene) {
            scene.report(&RULE, &shown.place, &format!("{{{}:?}}", shortly(&shown.value)));
        }
    }
}

/// The code on one line, if it is short.
fn shortly(expression: &Expr) -> String {
    const MOST: usize = 40;
    let code = expression.to_token_stream().to_string();
    let code = ["& ", "* "]
        .iter()
        .fold(code, |code, sign| code.replace(sign, sign.trim()));
    let code = [" . ", " :: ", " (", " )", "( ", " ?"]
        .iter()
        .fold(code, |code, spaced| code.replace(spaced, spaced.trim()));
    if code.chars().count() > MOST {
        "…".to_owned()
    } else {
        code
    }
}
