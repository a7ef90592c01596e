//! Which statics in a file can change while the program runs.
//! Absent on purpose: statics of other files, which nothing here sees, and types behind an alias.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Item, ItemMacro, ItemStatic, StaticMutability, Type, TypePath};

use crate::names::{Meaning, Names};

/// Types that change behind a shared reference, or are filled in later.
const CHANGING: &[&str] = &[
    "ArcSwap",
    "AtomicBool",
    "AtomicI16",
    "AtomicI32",
    "AtomicI64",
    "AtomicI8",
    "AtomicIsize",
    "AtomicPtr",
    "AtomicU16",
    "AtomicU32",
    "AtomicU64",
    "AtomicU8",
    "AtomicUsize",
    "Cell",
    "DashMap",
    "Lazy",
    "LazyCell",
    "LazyLock",
    "LocalKey",
    "Mutex",
    "OnceCell",
    "OnceLock",
    "RefCell",
    "RwLock",
    "SyncUnsafeCell",
    "UnsafeCell",
];

/// Whether a static can change: it is `mut`, or its type says so.
pub fn is_changing(item: &ItemStatic, names: &Names) -> bool {
    matches!(item.mutability, StaticMutability::Mut(_)) || is_changing_type(&item.ty, names)
}

/// The statics among `items` that can change.
pub(super) fn changing(items: &[Item], names: &Names) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for item in items {
        match item {
            Item::Static(item) if is_changing(item, names) => {
                found.insert(item.ident.unraw().to_string());
            }
            Item::Macro(item) => found.extend(declared_by(item)),
            _ => {}
        }
    }
    found
}

/// `thread_local! { static NAME: … }`, `lazy_static! { static ref NAME: … }`
fn declared_by(item: &ItemMacro) -> Vec<String> {
    let known = item
        .mac
        .path
        .segments
        .last()
        .is_some_and(|last| last.ident == "thread_local" || last.ident == "lazy_static");
    if known {
        after_static(item.mac.tokens.clone())
    } else {
        Vec::new()
    }
}

fn after_static(tokens: TokenStream) -> Vec<String> {
    let names: Vec<Option<Ident>> = tokens
        .into_iter()
        .map(|tree| match tree {
            TokenTree::Ident(name) => Some(name),
            _ => None,
        })
        .collect();
    let follow = |at: usize| names.get(at).and_then(Option::as_ref);
    let statics = (0..names.len()).filter(|at| follow(*at).is_some_and(|name| name == "static"));
    statics
        .filter_map(|at| match follow(at + 1) {
            Some(name) if name == "ref" => follow(at + 2),
            name => name,
        })
        .map(|name| name.unraw().to_string())
        .collect()
}

fn is_changing_type(kind: &Type, names: &Names) -> bool {
    let mut found = Changing { names, found: false };
    found.visit_type(kind);
    found.found
}

struct Changing<'n> {
    names: &'n Names,
    found: bool,
}

impl<'ast> Visit<'ast> for Changing<'_> {
    fn visit_type_path(&mut self, path: &'ast TypePath) {
        let name = path.path.segments.last().map(|last| last.ident.unraw().to_string());
        let known = name.is_some_and(|name| CHANGING.contains(&name.as_str()));
        self.found |= known && self.names.item(&path.path) != Meaning::Own;
        visit::visit_type_path(self, path);
    }

    fn visit_type_bare_fn(&mut self, _: &'ast syn::TypeBareFn) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statics_that_change_are_told_from_those_that_do_not() {
        let file = "use std::sync::Mutex; use crate::RefCell; static A: Mutex<u8> = m(); static mut B: u8 = 0;
            static C: &str = s(); static D: RefCell = r(); static E: [std::sync::atomic::AtomicU8; 2] = a();
            thread_local! { static F: u8 = const { 1 }; pub static G: u8 = 2; }
            lazy_static! { static ref H: u8 = 1; } static I: fn(&Mutex<u8>) = f;";
        let file: syn::File = syn::parse_str(file).expect("a file");
        let found = changing(&file.items, &Names::of_items(&file.items, None));
        assert_eq!(Vec::from_iter(found), ["A", "B", "E", "F", "G", "H"]);
    }
}
