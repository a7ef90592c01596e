//! What type a variable has, where the function says so: by its declaration or by the constructor it comes from.
//! Absent on purpose: inference. A name that is bound twice in different ways has no type here.

use std::collections::BTreeMap;

use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Expr, FnArg, ItemFn, Local, Pat, PatIdent, PatType, Type};

use crate::bare;
use crate::names::{Meaning, Names};

/// Variables and the paths of their types.
#[derive(Default)]
pub(super) struct Types {
    /// `None` where two bindings differ, or one says nothing.
    variables: BTreeMap<String, Option<Meaning>>,
}

impl Types {
    pub(super) fn of(function: &ItemFn, names: &Names) -> Self {
        let mut reading = Reading {
            names,
            types: Self::default(),
        };
        for parameter in &function.sig.inputs {
            if let FnArg::Typed(typed) = parameter {
                reading.declared(typed);
            }
        }
        reading.visit_block(&function.block);
        reading.types
    }

    /// The type of a receiver: a variable's, or what `Type::constructor(…)` makes.
    pub(super) fn of_receiver(&self, receiver: &Expr, names: &Names) -> Option<Meaning> {
        match receiver {
            Expr::Path(path) if path.qself.is_none() => match path.path.get_ident() {
                Some(name) if self.variables.contains_key(&name.unraw().to_string()) => {
                    self.variables.get(&name.unraw().to_string()).cloned().flatten()
                }
                _ => epoch(&path.path, names),
            },
            Expr::Reference(reference) => self.of_receiver(&reference.expr, names),
            Expr::Paren(paren) => self.of_receiver(&paren.expr, names),
            Expr::Group(group) => self.of_receiver(&group.expr, names),
            other => constructed(other, names),
        }
    }

    fn bind(&mut self, name: &PatIdent, kind: Option<Meaning>) {
        let name = name.ident.unraw().to_string();
        let known = self.variables.entry(name).or_insert_with(|| kind.clone());
        if *known != kind {
            *known = None;
        }
    }
}

/// `UNIX_EPOCH` and `SystemTime::UNIX_EPOCH`
fn epoch(path: &syn::Path, names: &Names) -> Option<Meaning> {
    let last = path.segments.last()?;
    let foreign = names.item(path) != Meaning::Own;
    let system_time = || ["std", "time", "SystemTime"].map(str::to_owned).to_vec();
    (last.ident == "UNIX_EPOCH" && foreign).then(|| Meaning::Foreign(system_time()))
}

/// `Path::new(…)` gives a `Path`: constructors that are named so give what they stand at.
fn constructed(value: &Expr, names: &Names) -> Option<Meaning> {
    let Expr::Call(call) = value else { return None };
    let Expr::Path(function) = &*call.func else { return None };
    let last = function.path.segments.last()?.ident.unraw().to_string();
    if function.qself.is_some() || !matches!(last.as_str(), "new" | "from" | "default" | "with_capacity") {
        return None;
    }
    match names.item(&function.path) {
        Meaning::Foreign(path) => without_last(path).map(Meaning::Foreign),
        Meaning::Unknown(path) => without_last(path).map(Meaning::Unknown),
        Meaning::Own => None,
    }
}

struct Reading<'n> {
    names: &'n Names,
    types: Types,
}

impl Reading<'_> {
    fn declared(&mut self, PatType { pat, ty, .. }: &PatType) {
        match &**pat {
            Pat::Ident(name) if name.subpat.is_none() => {
                let kind = self.type_of(ty);
                self.types.bind(name, kind);
            }
            other => Bindings(&mut self.types).visit_pat(other),
        }
    }

    fn type_of(&self, kind: &Type) -> Option<Meaning> {
        let kind = match bare(kind) {
            Type::Reference(reference) => bare(&reference.elem),
            other => other,
        };
        match kind {
            Type::Path(path) if path.qself.is_none() => match self.names.item(&path.path) {
                Meaning::Own => None,
                known => Some(known),
            },
            _ => None,
        }
    }
}

fn without_last(mut path: Vec<String>) -> Option<Vec<String>> {
    path.pop();
    path.last()
        .is_some_and(|kind| kind.starts_with(char::is_uppercase))
        .then_some(path)
}

impl<'ast> Visit<'ast> for Reading<'_> {
    fn visit_local(&mut self, local: &'ast Local) {
        match &local.pat {
            Pat::Type(typed) => self.declared(typed),
            Pat::Ident(name) => {
                let kind = local.init.as_ref().and_then(|init| constructed(&init.expr, self.names));
                self.types.bind(name, kind);
            }
            other => Bindings(&mut self.types).visit_pat(other),
        }
        if let Some(init) = &local.init {
            visit::visit_local_init(self, init);
        }
    }

    fn visit_pat(&mut self, pattern: &'ast Pat) {
        match pattern {
            Pat::Type(typed) => self.declared(typed),
            other => Bindings(&mut self.types).visit_pat(other),
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Names bound without a type.
struct Bindings<'t>(&'t mut Types);

impl<'ast> Visit<'ast> for Bindings<'_> {
    fn visit_pat_ident(&mut self, name: &'ast PatIdent) {
        self.0.bind(name, None);
        visit::visit_pat_ident(self, name);
    }
}
