//! The outlines of all files as one: what a path means.
//!
//! Absent on purpose: the compiler's own answer. Macros are not expanded, types are not inferred, and a name that two
//! `#[cfg]`s declare means both.

use std::collections::{BTreeMap, BTreeSet};

use super::outline::{Block, Definition, Function, Id, Kind, Module, Outline, Owner, Shape, Written};
use super::types::Known;

/// Longer chains of `use` are circles.
pub(super) const DEPTH_MAX: usize = 64;

/// All outlines, with what connects them.
#[derive(Debug, Default)]
pub(super) struct Index {
    outlines: Vec<Outline>,
    /// The libraries among the crates, by name.
    libraries: BTreeMap<String, Id>,
    /// What `impl` blocks and traits give to a type of ours: its own functions by name.
    pub(super) of_kind: BTreeMap<Id, BTreeMap<String, Vec<Id>>>,
    /// The traits of ours that a type of ours implements.
    pub(super) traits: BTreeMap<Id, BTreeSet<Id>>,
    /// The functions of all implementations of a trait of ours, by name, default ones included.
    pub(super) of_trait: BTreeMap<Id, BTreeMap<String, Vec<Id>>>,
    /// Every method by its name.
    pub(super) methods: BTreeMap<String, Vec<Id>>,
    /// The type of ours that a block is for.
    pub(super) owners: BTreeMap<(u32, u32), Id>,
    /// The traits of ours that types of other crates implement.
    pub(super) lent: BTreeSet<Id>,
}

impl Index {
    /// `libraries` are the first modules of the crates that others can name.
    pub(super) fn new(outlines: Vec<Outline>, libraries: BTreeMap<String, Id>) -> Self {
        let mut index = Self {
            outlines,
            libraries,
            ..Self::default()
        };
        index.connect();
        index
    }

    pub(super) fn function(&self, id: Id) -> Option<&Function> {
        self.outline(id)?.functions.get(usize::try_from(id.at).ok()?)
    }

    pub(super) fn functions(&self) -> impl Iterator<Item = (Id, &Function)> {
        let files = (0..).zip(&self.outlines);
        files.flat_map(|(file, outline)| {
            (0..)
                .zip(&outline.functions)
                .map(move |(at, function)| (Id { file, at }, function))
        })
    }

    pub(super) fn lines(&self) -> usize {
        self.outlines.iter().map(|outline| outline.lines).sum()
    }

    fn outline(&self, id: Id) -> Option<&Outline> {
        self.outlines.get(usize::try_from(id.file).ok()?)
    }

    fn module(&self, id: Id) -> Option<&Module> {
        self.outline(id)?.modules.get(usize::try_from(id.at).ok()?)
    }

    pub(super) fn kind(&self, id: Id) -> Option<&Kind> {
        self.outline(id)?.kinds.get(usize::try_from(id.at).ok()?)
    }

    fn block(&self, file: u32, at: u32) -> Option<&Block> {
        self.outline(Id { file, at })?.blocks.get(usize::try_from(at).ok()?)
    }

    fn connect(&mut self) {
        let blocks = (0..).zip(&self.outlines).flat_map(|(file, outline)| {
            let blocks = (0..).zip(&outline.blocks);
            blocks.map(move |(at, block)| (file, at, block))
        });
        let found: Vec<(u32, u32, Known, Option<Id>)> = blocks
            .map(|(file, at, block)| {
                let implemented = block
                    .implemented
                    .as_ref()
                    .and_then(|path| self.kind_at(block.module, path));
                (file, at, self.known(block.module, &block.of, None), implemented)
            })
            .collect();
        for (file, at, of, implemented) in found {
            if let Known::Ours(kind) | Known::Some(kind) = of {
                self.owners.insert((file, at), kind);
                self.traits.entry(kind).or_default().extend(implemented);
            } else {
                self.lent.extend(implemented);
            }
        }
        let functions: Vec<(Id, String, Owner, bool)> = self
            .functions()
            .map(|(id, function)| (id, function.name.clone(), function.owner, function.method_of.is_some()))
            .collect();
        for (id, name, owner, is_method) in functions {
            self.attach(id, name, owner, is_method);
        }
    }

    fn attach(&mut self, id: Id, name: String, owner: Owner, is_method: bool) {
        let implemented = match owner {
            Owner::Nobody => return,
            Owner::Trait(declared) => Some(declared),
            Owner::Block(at) => {
                if let Some(kind) = self.owners.get(&(id.file, at)) {
                    self.of_kind
                        .entry(*kind)
                        .or_default()
                        .entry(name.clone())
                        .or_default()
                        .push(id);
                }
                let block = self.block(id.file, at);
                block.and_then(|block| self.kind_at(block.module, block.implemented.as_ref()?))
            }
        };
        if let Some(implemented) = implemented {
            let functions = self.of_trait.entry(implemented).or_default();
            functions.entry(name.clone()).or_default().push(id);
        }
        if is_method {
            self.methods.entry(name).or_default().push(id);
        }
    }

    /// What a path means that is written in `scope`, inside a block or trait of `own`. Empty if nothing in the crate tells.
    pub(super) fn resolve(&self, scope: Id, path: &[String], own: Option<Id>) -> Vec<Definition> {
        match path.split_first() {
            Some((first, rest)) if first == "Self" => match own {
                Some(kind) => self.descend(vec![Definition::Type(kind)], rest, DEPTH_MAX),
                None => Vec::new(),
            },
            Some(_) | None => self.resolve_within(scope, path, DEPTH_MAX),
        }
    }

    fn resolve_within(&self, scope: Id, path: &[String], depth: usize) -> Vec<Definition> {
        let (Some((first, rest)), Some(depth)) = (path.split_first(), depth.checked_sub(1)) else {
            return Vec::new();
        };
        let start = match first.as_str() {
            "" => return self.in_other_crate(rest, depth),
            "crate" => vec![Definition::Module(self.root(scope))],
            "self" => vec![Definition::Module(self.real(scope))],
            "super" => {
                let above = self.module(self.real(scope)).and_then(|module| module.parent);
                above.map(Definition::Module).into_iter().collect()
            }
            name => {
                let found = self.in_sight(scope, name, depth);
                if found.is_empty() {
                    return self.in_library(path, depth);
                }
                found
            }
        };
        self.descend(start, rest, depth)
    }

    /// The name in a scope or in the function scopes around it.
    fn in_sight(&self, scope: Id, name: &str, depth: usize) -> Vec<Definition> {
        let mut scope = Some(scope);
        while let Some(id) = scope {
            let found = self.lookup(id, name, depth);
            if !found.is_empty() {
                return found;
            }
            let module = self.module(id);
            scope = module
                .filter(|module| module.is_inside_function)
                .and_then(|module| module.parent);
        }
        Vec::new()
    }

    fn in_library(&self, path: &[String], depth: usize) -> Vec<Definition> {
        match path.split_first() {
            Some((first, rest)) => match self.libraries.get(first) {
                Some(root) => self.descend(vec![Definition::Module(*root)], rest, depth),
                None => Vec::new(),
            },
            None => Vec::new(),
        }
    }

    fn in_other_crate(&self, path: &[String], depth: usize) -> Vec<Definition> {
        let ours = self.in_library(path, depth);
        if ours.is_empty() {
            vec![Definition::Foreign(path.to_vec())]
        } else {
            ours
        }
    }

    /// A name in one module: declared, imported, or from a glob.
    fn lookup(&self, module: Id, name: &str, depth: usize) -> Vec<Definition> {
        let (Some(module_), Some(depth)) = (self.module(module), depth.checked_sub(1)) else {
            return Vec::new();
        };
        let mut found = module_.names.get(name).cloned().unwrap_or_default();
        for path in module_.imports.get(name).into_iter().flatten() {
            // `use rand::{self, Rng}` and `use rand;` give a name that is its own path.
            let is_itself = path.first().is_some_and(|first| first == name);
            let imported = if is_itself {
                self.without(module, path, depth)
            } else {
                self.resolve_within(module, path, depth)
            };
            if imported.is_empty() {
                let outside = path
                    .first()
                    .is_some_and(|first| !matches!(first.as_str(), "crate" | "self" | "super"));
                found.extend(outside.then(|| Definition::Foreign(path.clone())));
            }
            found.extend(imported);
        }
        if found.is_empty() {
            for path in &module_.globs {
                // A glob may lead back to its own module.
                let depth = depth / 2;
                for definition in self.resolve_within(module, path, depth) {
                    if let Definition::Module(other) = definition
                        && other != module
                    {
                        found.extend(self.lookup(other, name, depth));
                    }
                }
            }
        }
        found.dedup();
        found
    }

    /// A `use` whose first name is also the name it gives: that name is a module declared here, or another crate.
    fn without(&self, module: Id, path: &[String], depth: usize) -> Vec<Definition> {
        let Some((first, rest)) = path.split_first() else {
            return Vec::new();
        };
        let declared = self
            .module(module)
            .and_then(|module| module.names.get(first))
            .cloned()
            .unwrap_or_default();
        if declared.is_empty() {
            self.in_library(path, depth)
        } else if rest.is_empty() {
            Vec::new()
        } else {
            self.descend(declared, rest, depth)
        }
    }

    fn descend(&self, start: Vec<Definition>, rest: &[String], depth: usize) -> Vec<Definition> {
        let Some(depth) = depth.checked_sub(1) else {
            return Vec::new();
        };
        let mut found = start;
        for name in rest {
            found = found
                .into_iter()
                .flat_map(|definition| self.member(definition, name, depth))
                .collect();
        }
        found
    }

    fn member(&self, of: Definition, name: &str, depth: usize) -> Vec<Definition> {
        match of {
            Definition::Module(module) if name == "super" => {
                let above = self.module(module).and_then(|module| module.parent);
                above.map(Definition::Module).into_iter().collect()
            }
            Definition::Module(module) if name == "self" => vec![Definition::Module(module)],
            Definition::Module(module) => self.lookup(module, name, depth),
            Definition::Type(kind) => {
                let functions = self.functions_of(kind, name);
                if functions.is_empty() {
                    vec![Definition::Other]
                } else {
                    functions.into_iter().map(Definition::Function).collect()
                }
            }
            Definition::Alias(module, target) => {
                let path: Written = target.into_iter().chain([name.to_owned()]).collect();
                let found = self.resolve_within(module, &path, depth);
                // `type Clock = SystemTime;` after a `use` of another crate's.
                if found.is_empty() {
                    vec![Definition::Foreign(path)]
                } else {
                    found
                }
            }
            Definition::Foreign(mut path) => {
                path.push(name.to_owned());
                vec![Definition::Foreign(path)]
            }
            Definition::Function(_) | Definition::Other => vec![Definition::Other],
        }
    }

    /// The type or trait around a function.
    pub(super) fn own(&self, id: Id) -> Option<Id> {
        match self.function(id)?.owner {
            Owner::Nobody => None,
            Owner::Trait(declared) => Some(declared),
            Owner::Block(at) => self.owners.get(&(id.file, at)).copied(),
        }
    }

    pub(super) fn kind_at(&self, scope: Id, path: &[String]) -> Option<Id> {
        match self.resolve(scope, path, None).as_slice() {
            [Definition::Type(kind)] => Some(*kind),
            _ => None,
        }
    }

    /// A function's name as people say it: `total`, `Cart::total`.
    pub(super) fn title(&self, id: Id) -> String {
        let Some(function) = self.function(id) else {
            return String::new();
        };
        let around = match function.owner {
            Owner::Nobody => None,
            Owner::Trait(declared) => self.kind(declared).map(|kind| kind.name.clone()),
            Owner::Block(at) => self.block(id.file, at).and_then(|block| match &block.of {
                Shape::Path(path, _) | Shape::Trait(path) => path.last().cloned(),
                Shape::Unknown => block.implemented.as_ref()?.last().cloned(),
            }),
        };
        around.map_or_else(
            || function.name.clone(),
            |around| format!("{around}::{}", function.name),
        )
    }

    /// The module around the function scopes.
    fn real(&self, scope: Id) -> Id {
        match self.module(scope) {
            Some(module) if module.is_inside_function => module.parent.map_or(scope, |parent| self.real(parent)),
            Some(_) | None => scope,
        }
    }

    fn root(&self, scope: Id) -> Id {
        self.module(scope)
            .and_then(|module| module.parent)
            .map_or(scope, |parent| self.root(parent))
    }
}
