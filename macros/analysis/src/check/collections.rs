//! Which variables of a function are collections of the standard library for all one can see, so that a method such as
//! `push` is known to change them.
//! Absent on purpose: types. A name that is bound to anything else anywhere in the function is left alone.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{
    Expr, ExprMethodCall, GenericArgument, Ident, Item, ItemFn, Local, Pat, PatIdent, Path, PathArguments, Type,
};

use crate::bare;
use crate::names::{Meaning, Names};

const COLLECTIONS: &[&str] = &[
    "BTreeMap",
    "BTreeSet",
    "BinaryHeap",
    "HashMap",
    "HashSet",
    "String",
    "Vec",
    "VecDeque",
];

const CONSTRUCTORS: &[&str] = &["default", "from", "new", "with_capacity"];

/// What takes `&mut self`, in every one of them that has it.
const CHANGES: &[&str] = &[
    "append",
    "clear",
    "dedup",
    "drain",
    "entry",
    "extend",
    "extend_from_slice",
    "get_mut",
    "insert",
    "insert_str",
    "iter_mut",
    "last_mut",
    "pop",
    "pop_back",
    "pop_front",
    "push",
    "push_back",
    "push_front",
    "push_str",
    "remove",
    "resize",
    "retain",
    "retain_mut",
    "reverse",
    "sort",
    "sort_by",
    "sort_by_key",
    "sort_unstable",
    "sort_unstable_by",
    "sort_unstable_by_key",
    "swap",
    "swap_remove",
    "truncate",
    "values_mut",
];

/// The names of such variables that are `mut`.
#[derive(Default)]
pub struct Collections(BTreeSet<Ident>);

impl Collections {
    pub fn of(function: &ItemFn, names: &Names) -> Self {
        let mut found = Found {
            names,
            evident: BTreeSet::new(),
            others: BTreeSet::new(),
        };
        found.visit_item_fn(function);
        let Found {
            mut evident, others, ..
        } = found;
        evident.retain(|name| !others.contains(name));
        Self(evident)
    }

    /// The collection that this call changes.
    pub fn changed<'e>(&self, call: &'e ExprMethodCall) -> Option<&'e Ident> {
        let Expr::Path(receiver) = &*call.receiver else {
            return None;
        };
        let name = receiver.path.get_ident().filter(|name| self.0.contains(name))?;
        CHANGES.iter().any(|change| call.method == change).then_some(name)
    }
}

struct Found<'n> {
    names: &'n Names,
    evident: BTreeSet<Ident>,
    others: BTreeSet<Ident>,
}

impl Found<'_> {
    fn is_collection(&self, path: &Path) -> bool {
        let last = path.segments.last();
        last.is_some_and(|last| COLLECTIONS.iter().any(|known| last.ident == known))
            && self.names.meaning(path) != Meaning::Own
    }

    fn is_collection_type(&self, kind: &Type) -> bool {
        matches!(bare(kind), Type::Path(path) if self.is_collection(&path.path))
    }

    fn makes_collection(&self, value: &Expr) -> bool {
        match value {
            Expr::Macro(call) => call.mac.path.is_ident("vec") || call.mac.path.is_ident("format"),
            Expr::Call(call) => {
                let Expr::Path(function) = &*call.func else {
                    return false;
                };
                let mut kind = function.path.clone();
                let constructor = kind.segments.pop().map(|last| last.into_value().ident);
                kind.segments.pop_punct();
                constructor.is_some_and(|name| CONSTRUCTORS.iter().any(|known| name == known))
                    && self.is_collection(&kind)
            }
            Expr::MethodCall(call) if call.method == "collect" => {
                let argument = call.turbofish.as_ref().and_then(|given| given.args.first());
                matches!(argument, Some(GenericArgument::Type(kind)) if self.is_collection_type(kind))
            }
            Expr::MethodCall(call) => call.method == "to_string" || call.method == "to_vec",
            _ => false,
        }
    }

    /// `let mut name = Vec::new()`, `let mut name: Vec<…> = …`
    fn evident(&self, local: &Local) -> Option<Ident> {
        let value = local.init.as_ref().map(|init| &*init.expr);
        let (pattern, evident) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, self.is_collection_type(&typed.ty)),
            other => (other, value.is_some_and(|value| self.makes_collection(value))),
        };
        match pattern {
            Pat::Ident(name) if evident && name.mutability.is_some() && name.subpat.is_none() => {
                Some(name.ident.clone())
            }
            _ => None,
        }
    }
}

impl<'ast> Visit<'ast> for Found<'_> {
    fn visit_local(&mut self, local: &'ast Local) {
        match self.evident(local) {
            Some(name) => {
                self.evident.insert(name);
                if let Some(init) = &local.init {
                    visit::visit_local_init(self, init);
                }
            }
            None => visit::visit_local(self, local),
        }
    }

    fn visit_pat_ident(&mut self, name: &'ast PatIdent) {
        self.others.insert(name.ident.clone());
        visit::visit_pat_ident(self, name);
    }

    fn visit_path_arguments(&mut self, _: &'ast PathArguments) {}

    fn visit_item(&mut self, _: &'ast Item) {}
}
