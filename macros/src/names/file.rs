//! What the source file around the function imports and declares, so that `use std::time::Instant as Clock` is followed
//! and `use crate::Instant` is left alone at the top of the file too.
//!
//! An attribute macro sees only its item; the file is read again for its `use`s. Whatever goes wrong (no file, an
//! editor's buffer, two functions of one name in one file) only means that less is known.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proc_macro2::Ident;
use syn::{Item, ItemFn};

use crate::names::Names;

thread_local! {
    /// One reading of a file serves all its workflows.
    static READ: RefCell<BTreeMap<PathBuf, BTreeMap<String, Option<Names>>>> = const { RefCell::new(BTreeMap::new()) };
}

/// The names in the module that declares `function`.
pub(super) fn names_around(function: &Ident) -> Names {
    if !proc_macro::is_available() {
        return Names::default();
    }
    let Some(path) = function.span().unwrap().local_file() else {
        return Names::default();
    };
    READ.with_borrow_mut(|files| {
        let functions = files
            .entry(path)
            .or_insert_with_key(|path| read(path).unwrap_or_default());
        functions
            .get(&function.to_string())
            .cloned()
            .flatten()
            .unwrap_or_default()
    })
}

/// The names around each of our functions in the file; `None` where two of one name leave it open which is meant.
fn read(path: &Path) -> Option<BTreeMap<String, Option<Names>>> {
    let file = syn::parse_file(&std::fs::read_to_string(path).ok()?).ok()?;
    let mut functions = BTreeMap::new();
    collect(&file.items, &mut functions);
    Some(functions)
}

fn collect(items: &[Item], functions: &mut BTreeMap<String, Option<Names>>) {
    let names = Names::of_items(items);
    for item in items {
        match item {
            Item::Fn(function) if is_ours(function) => {
                let names = Some(names.clone());
                functions
                    .entry(function.sig.ident.to_string())
                    .and_modify(|known| *known = None)
                    .or_insert(names);
            }
            Item::Mod(module) => {
                if let Some((_, items)) = &module.content {
                    collect(items, functions);
                }
            }
            _ => {}
        }
    }
}

fn is_ours(function: &ItemFn) -> bool {
    function.attrs.iter().any(|attribute| {
        attribute
            .path()
            .segments
            .last()
            .is_some_and(|last| last.ident == "workflow" || last.ident == "durable")
    })
}
