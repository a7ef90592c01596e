//! Which item a path in the body means, as far as syntax tells: through `use`, through items declared beside it, or by
//! its own first segment. Absent on purpose: types, and globs out of sight, which the compiler knows, and in part whoever has read the
//! whole crate ([`Crate`]).

mod file;
pub mod statics;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;

use crate::is_named;
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Block, GenericParam, Item, ItemFn, ItemUse, Local, Pat, PatIdent, Path, UseTree, Visibility};

/// What a path means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Something of another crate, in full.
    Foreign(Vec<String>),
    /// Something of the user's own crate or function.
    Own,
    /// As it is written; nothing in sight says more.
    Unknown(Vec<String>),
}

/// What somebody who has read the whole crate knows, seen from one function.
pub trait Crate {
    /// What the path means; `None` if the crate does not tell.
    fn meaning(&self, written: &[String]) -> Option<Meaning>;
}

/// The names in scope.
#[derive(Clone, Default)]
pub struct Names {
    /// Name in scope → the path that `use` gave it.
    imports: BTreeMap<String, Vec<String>>,
    /// Items declared in sight.
    declared: BTreeSet<String>,
    /// Variables, which only a path of one name can mean.
    variables: BTreeSet<String>,
    /// Public `#[durable]` functions declared beside the function, and not inside it.
    durable: BTreeSet<String>,
    /// Workflows declared in sight, which are unit structs.
    workflows: BTreeSet<String>,
    /// Modules whose names all came in through `use …::*`.
    globs: Vec<Vec<String>>,
    /// Macros declared in sight.
    macros: BTreeSet<String>,
    /// Statics around the function whose value can change.
    changing: BTreeSet<String>,
    /// Whether the file around the function was read: what is not in sight then came through a glob, or is not there.
    whole: bool,
    /// Goes before what one file tells.
    index: Option<Rc<dyn Crate>>,
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Names")
            .field("imports", &self.imports)
            .field("declared", &self.declared)
            .field("variables", &self.variables)
            .finish_non_exhaustive()
    }
}

impl Names {
    /// The names in scope in the body of `function`, in a crate that was read as a whole.
    pub fn within(function: &ItemFn, whole: Rc<dyn Crate>) -> Self {
        let around = Self {
            index: Some(whole),
            whole: true,
            ..Self::default()
        };
        around.and_of_body(&function.block)
    }

    /// The names in scope in the body of `function`, which stands in `file` if that is known.
    pub fn of(function: &ItemFn, file: Option<&std::path::Path>) -> Self {
        let mut around = file.map_or_else(Self::default, |file| file::names_around(&function.sig.ident, file));
        for parameter in &function.sig.generics.params {
            if let GenericParam::Type(parameter) = parameter {
                let name = parameter.ident.unraw().to_string();
                around.imports.remove(&name);
                around.declared.insert(name);
            }
        }
        around.and_of_body(&function.block)
    }

    /// Adds what the function's body imports and declares, at any depth: a name means the same in all of a function, or
    /// its reader is lost too. It goes before what the file around it said.
    fn and_of_body(mut self, block: &Block) -> Self {
        let mut inner = Self::default();
        inner.visit_block(block);
        for name in &inner.declared {
            self.imports.remove(name);
            self.durable.remove(name);
        }
        for name in inner.imports.keys() {
            self.declared.remove(name);
        }
        // A static of the function's own is reported where it is declared.
        self.changing
            .retain(|name| !inner.declared.contains(name) && !inner.imports.contains_key(name));
        self.imports.extend(inner.imports);
        self.declared.extend(inner.declared);
        self.variables.extend(inner.variables);
        self.globs.extend(inner.globs);
        self.macros.extend(inner.macros);
        self
    }

    /// What a list of items imports and declares; `outer` is the module around them.
    fn of_items(items: &[Item], outer: Option<&Self>) -> Self {
        let mut names = Self {
            whole: true,
            ..Self::default()
        };
        items.iter().for_each(|item| names.visit_item(item));
        if let Some(outer) = outer {
            names.inherit(outer);
        }
        names.changing.extend(statics::changing(items, &names));
        let functions = items.iter().filter_map(|item| match item {
            Item::Fn(function) => Some(function),
            _ => None,
        });
        let has = |function: &ItemFn, name: &str| function.attrs.iter().any(|attribute| is_named(attribute, name));
        let public = |function: &ItemFn| matches!(function.vis, Visibility::Public(_));
        let durable =
            functions.filter(|function| public(function) && has(function, "durable") && !has(function, "cfg"));
        names.durable = durable.map(|function| function.sig.ident.to_string()).collect();
        names
    }

    /// Whether this is the name of a public `#[durable]` function of the same module: so documentation can link to it.
    pub fn is_durable_beside(&self, name: &str) -> bool {
        self.durable.contains(name) && !self.variables.contains(name)
    }

    /// The names of workflows declared in the same module.
    pub fn workflows(&self) -> impl Iterator<Item = &str> {
        self.workflows.iter().map(String::as_str)
    }

    /// Follows `use super::…` into the module around.
    fn inherit(&mut self, outer: &Self) {
        for path in self.imports.values_mut() {
            if let [first, name, rest @ ..] = path.as_slice()
                && first == "super"
                && let Some(there) = outer.imports.get(name)
            {
                *path = there.iter().chain(rest).cloned().collect();
            }
        }
        let before = self.globs.len();
        self.globs.retain(|glob| glob.as_slice() != ["super"]);
        if self.globs.len() == before {
            return;
        }
        for (name, path) in &outer.imports {
            if !self.declared.contains(name) {
                self.imports.entry(name.clone()).or_insert_with(|| path.clone());
            }
        }
        for name in &outer.declared {
            if !self.imports.contains_key(name) {
                self.declared.insert(name.clone());
            }
        }
        self.globs.extend(outer.globs.iter().cloned());
        self.macros.extend(outer.macros.iter().cloned());
        let hidden = |name: &&String| !self.declared.contains(*name) || outer.declared.contains(*name);
        self.changing.extend(outer.changing.iter().filter(hidden).cloned());
    }

    pub fn meaning(&self, path: &Path) -> Meaning {
        match path.get_ident() {
            Some(only) if self.variables.contains(&only.unraw().to_string()) => Meaning::Own,
            _ => self.item(path),
        }
    }

    /// What the path means if no variable is in the way.
    pub fn item(&self, path: &Path) -> Meaning {
        let written: Vec<String> = path
            .segments
            .iter()
            .map(|segment| segment.ident.unraw().to_string())
            .collect();
        if path.leading_colon.is_some() {
            return Meaning::Foreign(canonical(written));
        }
        self.known(&written).unwrap_or_else(|| self.follow(written, 0))
    }

    /// Whether the file or the function declares a macro of this name.
    pub fn declares_macro(&self, path: &Path) -> bool {
        path.get_ident()
            .is_some_and(|only| self.macros.contains(&only.unraw().to_string()))
    }

    /// What the path of a macro means.
    pub fn macro_item(&self, path: &Path) -> Meaning {
        match path.get_ident() {
            Some(_) if self.declares_macro(path) => Meaning::Own,
            // An item of that name is in another namespace.
            Some(only) if !self.imports.contains_key(&only.unraw().to_string()) => {
                Meaning::Unknown(vec![only.unraw().to_string()])
            }
            _ => self.item(path),
        }
    }

    fn known(&self, written: &[String]) -> Option<Meaning> {
        match self.index.as_ref()?.meaning(written)? {
            Meaning::Foreign(path) => Some(Meaning::Foreign(canonical(path))),
            known => Some(known),
        }
    }

    /// Every item that a name of unknown origin can be, because of a `use …::*` in sight.
    pub fn through_globs<'n>(&'n self, written: &'n [String]) -> impl Iterator<Item = Vec<String>> + 'n {
        let paths = self.globs.iter().map(|glob| self.follow(glob.clone(), 0));
        paths.filter_map(move |module| match module {
            Meaning::Foreign(path) | Meaning::Unknown(path) => Some(path.iter().chain(written).cloned().collect()),
            Meaning::Own => None,
        })
    }

    /// The paths of everything that a `use` in sight names.
    pub fn imported(&self) -> impl Iterator<Item = &[String]> {
        self.imports.values().map(Vec::as_slice)
    }

    /// Whether whatever the file around the function says is known.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// True for a static around the function whose value can change, and which nothing in the function hides.
    pub fn changes(&self, path: &Path) -> bool {
        let mut segments = path.segments.iter().map(|segment| segment.ident.unraw().to_string());
        let name = match (segments.next(), segments.next(), segments.next()) {
            (Some(name), None, None) => name,
            (Some(here), Some(name), None) if here == "self" => name,
            _ => return false,
        };
        path.leading_colon.is_none() && self.changing.contains(&name)
    }

    fn follow(&self, mut written: Vec<String>, depth: usize) -> Meaning {
        let Some(first) = written.first().cloned() else {
            return Meaning::Own;
        };
        if matches!(first.as_str(), "crate" | "self" | "super" | "Self") || self.declared.contains(&first) {
            return Meaning::Own;
        }
        match self.imports.get(&first) {
            // `use rand::{self, Rng}` gives a name that is its own path.
            Some(path) if path.len() == 1 && path.first() == Some(&first) => Meaning::Foreign(canonical(written)),
            // A chain of `use`s is short; a circle is the compiler's to report.
            Some(path) if depth < 8 => {
                written.splice(0..1, path.iter().cloned());
                match self.follow(written, depth + 1) {
                    Meaning::Unknown(path) => Meaning::Foreign(canonical(path)),
                    known => known,
                }
            }
            _ => Meaning::Unknown(canonical(written)),
        }
    }

    fn import(&mut self, tree: &UseTree, mut path: Vec<String>) {
        match tree {
            UseTree::Path(step) => {
                path.push(step.ident.unraw().to_string());
                self.import(&step.tree, path);
            }
            UseTree::Name(name) if name.ident == "self" => {
                if let Some(last) = path.last().cloned() {
                    self.imports.insert(last, path);
                }
            }
            UseTree::Name(name) => {
                let name = name.ident.unraw().to_string();
                path.push(name.clone());
                self.imports.insert(name, path);
            }
            UseTree::Rename(rename) => {
                if rename.ident != "self" {
                    path.push(rename.ident.unraw().to_string());
                }
                let name = match rename.rename.unraw().to_string() {
                    // Each is another trait, and none has a name.
                    nameless if nameless == "_" => path.join("::"),
                    name => name,
                };
                self.imports.insert(name, path);
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, path.clone())),
            UseTree::Glob(_) => self.globs.push(path),
        }
    }
}

/// `core` and `alloc` under the name that everybody knows.
fn canonical(mut path: Vec<String>) -> Vec<String> {
    if let Some(first) = path.first_mut()
        && (first == "core" || first == "alloc")
    {
        "std".clone_into(first);
    }
    path
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        // `use ::rand` and `use rand` mean the same crate, unless a module of that name is in sight.
        self.import(&item.tree, Vec::new());
    }

    fn visit_item(&mut self, item: &'ast Item) {
        let name = match item {
            Item::Use(item) => return self.visit_item_use(item),
            Item::Const(item) => &item.ident,
            Item::Enum(item) => &item.ident,
            Item::Fn(item) => {
                if item.attrs.iter().any(|attribute| is_named(attribute, "workflow")) {
                    self.workflows.insert(item.sig.ident.unraw().to_string());
                }
                &item.sig.ident
            }
            Item::Mod(item) => &item.ident,
            Item::Static(item) => &item.ident,
            Item::Struct(item) => &item.ident,
            Item::Trait(item) => &item.ident,
            Item::Type(item) => &item.ident,
            Item::Union(item) => &item.ident,
            Item::Macro(item) => {
                if let Some(name) = &item.ident {
                    self.macros.insert(name.unraw().to_string());
                }
                return;
            }
            Item::ExternCrate(_)
            | Item::ForeignMod(_)
            | Item::Impl(_)
            | Item::TraitAlias(_)
            | Item::Verbatim(_)
            | _ => return,
        };
        // What an item holds inside is another scope.
        self.declared.insert(name.unraw().to_string());
    }

    fn visit_local(&mut self, local: &'ast Local) {
        // Only `let` can bind a closure that is then called like a function.
        Bindings(self).visit_pat(&local.pat);
        visit::visit_local(self, local);
    }
}

struct Bindings<'n>(&'n mut Names);

impl<'ast> Visit<'ast> for Bindings<'_> {
    fn visit_pat_ident(&mut self, name: &'ast PatIdent) {
        self.0.variables.insert(name.ident.unraw().to_string());
    }

    fn visit_pat(&mut self, pattern: &'ast Pat) {
        visit::visit_pat(self, pattern);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(body: &str, path: &str) -> Meaning {
        let block: Block = syn::parse_str(body).expect("a block");
        Names::default()
            .and_of_body(&block)
            .meaning(&syn::parse_str(path).expect("a path"))
    }

    fn foreign(path: &str) -> Meaning {
        Meaning::Foreign(path.split("::").map(str::to_owned).collect())
    }

    #[test]
    fn renames_are_followed_to_the_end() {
        let body = "{ use std::time::{self as t, Instant as Clock}; use t::SystemTime as Wall; }";
        assert_eq!(meaning(body, "Clock::now"), foreign("std::time::Instant::now"));
        assert_eq!(
            meaning(body, "t::SystemTime::now"),
            foreign("std::time::SystemTime::now")
        );
        assert_eq!(meaning(body, "Wall::now"), foreign("std::time::SystemTime::now"));
        assert_eq!(
            meaning("{ use rand::{self, Rng}; }", "rand::random"),
            foreign("rand::random")
        );
    }

    #[test]
    fn what_the_author_owns_is_nobody_elses() {
        assert_eq!(meaning("{ use crate::Instant; }", "Instant::now"), Meaning::Own);
        assert_eq!(meaning("{ fn random() {} }", "random"), Meaning::Own);
        assert_eq!(meaning("{ let now = || 1; }", "now"), Meaning::Own);
        assert_eq!(meaning("{ struct Instant; }", "Instant::now"), Meaning::Own);
        assert_eq!(meaning("{}", "self::rand::random"), Meaning::Own);
    }

    #[test]
    fn globs_say_what_a_name_can_be() {
        let block: Block = syn::parse_str("{ use std::sync::*; use crate::own::*; }").expect("a block");
        let names = Names::default().and_of_body(&block);
        let written = ["Mutex".to_owned(), "new".to_owned()];
        let all: Vec<String> = names.through_globs(&written).map(|path| path.join("::")).collect();
        assert_eq!(all, ["std::sync::Mutex::new"]);
    }

    #[test]
    fn a_module_inside_the_file_sees_what_the_one_around_it_imports() {
        let file =
            "use std::time::Instant; static mut COUNT: u8 = 0; mod inner { use super::*; use super::Instant as I; }";
        let file: syn::File = syn::parse_str(file).expect("a file");
        let outer = Names::of_items(&file.items, None);
        let Some(Item::Mod(inner)) = file.items.last() else {
            unreachable!("the last item is the module")
        };
        let (_, items) = inner.content.as_ref().expect("it is inline");
        let inner = Names::of_items(items, Some(&outer));
        for path in ["Instant::now", "I::now"] {
            let path = syn::parse_str(path).expect("a path");
            assert_eq!(inner.item(&path), foreign("std::time::Instant::now"));
        }
        assert!(inner.changes(&syn::parse_str("COUNT").expect("a path")));
    }
}
