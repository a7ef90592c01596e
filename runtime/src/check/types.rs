//! Types as far as the source shows them: what a value is, and which method a call on it means.
//! Absent on purpose: inference. A type that is not written in sight is not known.

use super::common;
use super::index::{DEPTH_MAX, Index};
use super::outline::{Definition, Id, Owner, Shape, Written};

/// A type as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Ours(Id),
    /// The value implements a trait of ours, and nothing else is known.
    Some(Id),
    /// A type of another crate, with its type arguments.
    Foreign(Written, Vec<Known>),
    Nothing,
}

impl Index {
    /// The functions that a type or trait has under a name.
    pub(super) fn functions_of(&self, kind: Id, name: &str) -> Vec<Id> {
        let own = self.of_kind.get(&kind).and_then(|functions| functions.get(name));
        if let Some(own) = own {
            return own.clone();
        }
        let inherited = self.traits.get(&kind).into_iter().flatten().filter_map(|of| {
            let functions = self.of_trait.get(of)?.get(name)?;
            functions.iter().find(|id| {
                self.function(**id)
                    .is_some_and(|function| function.owner == Owner::Trait(*of))
            })
        });
        let inherited: Vec<Id> = inherited.copied().collect();
        if !inherited.is_empty() {
            return inherited;
        }
        // Of a trait: the one function that can be meant.
        match self
            .of_trait
            .get(&kind)
            .and_then(|functions| functions.get(name))
            .map(Vec::as_slice)
        {
            Some([only]) => vec![*only],
            Some(_) | None => Vec::new(),
        }
    }

    /// The method that a call on a value of this type means, if that can be told. `arguments` are those beside the value.
    pub(super) fn method(&self, of: &Known, name: &str, arguments: usize) -> Vec<Id> {
        let fits = |id: &Id| {
            self.function(*id)
                .is_some_and(|function| function.method_of == Some(arguments))
        };
        match of {
            Known::Ours(kind) | Known::Some(kind) => {
                let found = self.functions_of(*kind, name);
                let is_ambiguous = self
                    .of_trait
                    .get(kind)
                    .is_some_and(|functions| functions.contains_key(name));
                let found = if found.is_empty() && !is_ambiguous {
                    self.only(name, |id| self.is_for_others(id))
                } else {
                    found
                };
                found.into_iter().filter(fits).collect()
            }
            Known::Foreign(..) => self
                .only(name, |id| self.is_for_others(id))
                .into_iter()
                .filter(fits)
                .collect(),
            Known::Nothing if common::is_common(name) => Vec::new(),
            Known::Nothing => self.only(name, |_| true).into_iter().filter(fits).collect(),
        }
    }

    /// The functions that `Type::name` means, for a type that is known.
    pub(super) fn associated(&self, of: &Known, name: &str) -> Vec<Id> {
        match of {
            Known::Ours(kind) | Known::Some(kind) => self.functions_of(*kind, name),
            Known::Foreign(..) | Known::Nothing => Vec::new(),
        }
    }

    /// The method of this name, if exactly one is wanted.
    fn only(&self, name: &str, wanted: impl Fn(Id) -> bool) -> Vec<Id> {
        let all = self.methods.get(name).into_iter().flatten().copied();
        let mut all = all.filter(|id| wanted(*id));
        match (all.next(), all.next()) {
            (Some(only), None) => vec![only],
            _ => Vec::new(),
        }
    }

    /// Whether the method may be called on types of other crates: it is in an `impl Trait for` one, or for any.
    fn is_for_others(&self, id: Id) -> bool {
        match self.function(id).map(|function| function.owner) {
            Some(Owner::Block(at)) => !self.owners.contains_key(&(id.file, at)),
            Some(Owner::Trait(declared)) => self.lent.contains(&declared),
            Some(Owner::Nobody) | None => false,
        }
    }

    /// What a type as it is written in `scope` is.
    pub(super) fn known(&self, scope: Id, shape: &Shape, own: Option<Id>) -> Known {
        match shape {
            Shape::Unknown => Known::Nothing,
            Shape::Trait(path) => self.kind_at(scope, path).map_or(Known::Nothing, Known::Some),
            Shape::Path(path, arguments) => match self.resolve(scope, path, own).as_slice() {
                [Definition::Type(kind)] => Known::Ours(*kind),
                [Definition::Alias(module, target)] => {
                    let (module, target) = (*module, Shape::Path(target.clone(), Vec::new()));
                    self.known_alias(module, &target, DEPTH_MAX)
                }
                // A type parameter of the block around.
                [] if path.len() == 1 && path.iter().all(|name| name.len() == 1) => Known::Nothing,
                [] | [Definition::Foreign(_)] => {
                    let arguments = arguments
                        .iter()
                        .map(|argument| self.known(scope, argument, own))
                        .collect();
                    Known::Foreign(path.clone(), arguments)
                }
                _ => Known::Nothing,
            },
        }
    }

    fn known_alias(&self, module: Id, target: &Shape, depth: usize) -> Known {
        match (target, depth.checked_sub(1)) {
            (Shape::Path(path, _), Some(depth)) => match self.resolve(module, path, None).as_slice() {
                [Definition::Alias(module, next)] => {
                    self.known_alias(*module, &Shape::Path(next.clone(), Vec::new()), depth)
                }
                [Definition::Type(kind)] => Known::Ours(*kind),
                _ => Known::Nothing,
            },
            _ => Known::Nothing,
        }
    }

    /// The type of a field.
    pub(super) fn field(&self, of: &Known, name: &str) -> Known {
        let Known::Ours(kind) = of else { return Known::Nothing };
        let found = self
            .kind(*kind)
            .and_then(|kind| Some((kind.module, kind.fields.get(name)?)));
        found.map_or(Known::Nothing, |(module, shape)| self.known(module, shape, Some(*kind)))
    }

    /// The type of what a function returns.
    pub(super) fn output(&self, id: Id) -> Known {
        let found = self.function(id);
        found.map_or(Known::Nothing, |function| {
            self.known(function.module, &function.output, self.own(id))
        })
    }
}
