//! Which item a path in the body means, as far as syntax tells: through `use`, through items declared beside it, or by
//! its own first segment. Absent on purpose: globs and types, which only the compiler knows.

mod file;

use std::collections::{BTreeMap, BTreeSet};

use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Item, ItemFn, ItemUse, Local, Pat, PatIdent, Path, UseTree, Visibility};

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

/// The names in scope.
#[derive(Clone, Debug, Default)]
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
}

impl Names {
    /// The names in scope in the body of `function`, which stands in `file` if that is known.
    pub fn of(function: &ItemFn, file: Option<&std::path::Path>) -> Self {
        let around = file.map_or_else(Self::default, |file| file::names_around(&function.sig.ident, file));
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
        self.imports.extend(inner.imports);
        self.declared.extend(inner.declared);
        self.variables.extend(inner.variables);
        self
    }

    /// What a list of items imports and declares.
    fn of_items(items: &[Item]) -> Self {
        let mut names = Self::default();
        items.iter().for_each(|item| names.visit_item(item));
        let functions = items.iter().filter_map(|item| match item {
            Item::Fn(function) => Some(function),
            _ => None,
        });
        let has = |function: &ItemFn, name: &str| {
            let mut attributes = function
                .attrs
                .iter()
                .filter_map(|attribute| attribute.path().segments.last());
            attributes.any(|last| last.ident == name)
        };
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

    pub fn meaning(&self, path: &Path) -> Meaning {
        let written: Vec<String> = path
            .segments
            .iter()
            .map(|segment| segment.ident.unraw().to_string())
            .collect();
        if path.leading_colon.is_some() {
            return Meaning::Foreign(canonical(written));
        }
        match written.as_slice() {
            [only] if self.variables.contains(only) => Meaning::Own,
            _ => self.follow(written, 0),
        }
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
                self.imports.insert(rename.rename.unraw().to_string(), path);
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, path.clone())),
            UseTree::Glob(_) => {}
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
                let is_workflow = |attribute: &Attribute| {
                    let last = attribute.path().segments.last();
                    last.is_some_and(|last| last.ident == "workflow")
                };
                if item.attrs.iter().any(is_workflow) {
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
            Item::ExternCrate(_)
            | Item::ForeignMod(_)
            | Item::Impl(_)
            | Item::Macro(_)
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
}
