//! What the source file around the function imports and declares, so that `use std::time::Instant as Clock` is followed
//! and `use crate::Instant` is left alone at the top of the file too.
//!
//! An attribute macro sees only its item; the file is read again for its `use`s. Whatever goes wrong (no file, an
//! editor's buffer, two functions of one name in one file) only means that less is known.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use proc_macro2::Ident;
use syn::{Attribute, ImplItem, Item, ItemMod, Signature};

use crate::is_ours;
use crate::names::Names;

thread_local! {
    /// One reading of a file serves all its workflows.
    static READ: RefCell<BTreeMap<PathBuf, Reading>> = const { RefCell::new(BTreeMap::new()) };
}

/// The names around each of our functions in one file; `None` where two of one name leave it open which is meant.
type Functions = BTreeMap<String, Option<Rc<Names>>>;

struct Reading {
    /// An editor keeps this process while the file changes.
    modified: Option<SystemTime>,
    functions: Functions,
}

/// The names in the module that declares `function`.
pub(super) fn names_around(function: &Ident, file: &Path) -> Names {
    let modified = std::fs::metadata(file).and_then(|file| file.modified()).ok();
    READ.with_borrow_mut(|files| {
        let fresh = |path: &PathBuf| Reading {
            modified,
            functions: read(path).unwrap_or_default(),
        };
        let reading = files.entry(file.to_owned()).or_insert_with_key(fresh);
        if reading.modified != modified {
            *reading = fresh(&file.to_owned());
        }
        reading
            .functions
            .get(&function.to_string())
            .cloned()
            .flatten()
            .map_or_else(Names::default, Rc::unwrap_or_clone)
    })
}

fn read(path: &Path) -> Option<Functions> {
    let file = syn::parse_file(&std::fs::read_to_string(path).ok()?).ok()?;
    let mut functions = Functions::new();
    collect(&file.items, None, &mut functions);
    Some(functions)
}

fn collect(items: &[Item], outer: Option<&Names>, functions: &mut Functions) {
    let names = Rc::new(Names::of_items(items, outer));
    let mut found = |function: &Signature, attributes: &[Attribute]| {
        if attributes.iter().any(is_ours) {
            // Two in one module (methods, `#[cfg]`) see the same names.
            functions
                .entry(function.ident.to_string())
                .and_modify(|known| *known = known.take().filter(|known| Rc::ptr_eq(known, &names)))
                .or_insert_with(|| Some(Rc::clone(&names)));
        }
    };
    for item in items {
        match item {
            Item::Fn(function) => found(&function.sig, &function.attrs),
            Item::Impl(block) => {
                for item in &block.items {
                    if let ImplItem::Fn(function) = item {
                        found(&function.sig, &function.attrs);
                    }
                }
            }
            _ => {}
        }
    }
    for item in items {
        if let Item::Mod(ItemMod {
            content: Some((_, items)),
            ..
        }) = item
        {
            collect(items, Some(&names), functions);
        }
    }
}
