//! What the variables in scope are, where the function says so: by their declaration or by the constructor they come from.
//! Absent on purpose: inference, and scopes, which the walk over the statements brings.

use std::collections::BTreeMap;

use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Expr, GenericArgument, Local, Pat, PatIdent, PatType, PathArguments, Type, TypePath};

use crate::bare;
use crate::names::{Meaning, Names};

/// Variables in scope, and the paths of their types as far as these are known.
#[derive(Default)]
pub(super) struct Variables {
    types: BTreeMap<String, Option<Meaning>>,
    /// What each binding so far put something in the place of, to leave scopes again.
    hidden: Vec<(String, Option<Option<Meaning>>)>,
}

/// A place that a scope begins at.
#[derive(Clone, Copy)]
pub(super) struct Scope(usize);

impl Variables {
    pub(super) fn enter(&self) -> Scope {
        Scope(self.hidden.len())
    }

    /// Takes back every binding since the scope began.
    pub(super) fn leave(&mut self, Scope(begin): Scope) {
        while self.hidden.len() > begin
            && let Some((name, before)) = self.hidden.pop()
        {
            match before {
                Some(kind) => self.types.insert(name, kind),
                None => self.types.remove(&name),
            };
        }
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.types.contains_key(name)
    }

    /// What a pattern binds, by its type where it has one.
    pub(super) fn bind(&mut self, pattern: &Pat, names: &Names) {
        match pattern {
            Pat::Type(PatType { pat, ty, .. }) => match &**pat {
                Pat::Ident(name) if name.subpat.is_none() => self.set(name, type_of(ty, names)),
                other => Untyped(self).visit_pat(other),
            },
            other => Untyped(self).visit_pat(other),
        }
    }

    /// What a `let` binds.
    pub(super) fn bind_local(&mut self, local: &Local, names: &Names) {
        match (&local.pat, &local.init) {
            (Pat::Ident(name), Some(init)) => self.set(name, constructed(&init.expr, names)),
            (pattern, _) => self.bind(pattern, names),
        }
    }

    fn set(&mut self, name: &PatIdent, kind: Option<Meaning>) {
        let name = name.ident.unraw().to_string();
        let before = self.types.insert(name.clone(), kind);
        self.hidden.push((name, before));
    }

    /// The type of a receiver: a variable's, or what `Type::constructor(…)` makes.
    pub(super) fn type_of(&self, receiver: &Expr, names: &Names) -> Option<Meaning> {
        match receiver {
            Expr::Path(path) if path.qself.is_none() => match path.path.get_ident().map(IdentExt::unraw) {
                Some(name) if self.contains(&name.to_string()) => self.types.get(&name.to_string()).cloned().flatten(),
                _ => epoch(&path.path, names),
            },
            Expr::Reference(reference) => self.type_of(&reference.expr, names),
            Expr::Paren(paren) => self.type_of(&paren.expr, names),
            Expr::Group(group) => self.type_of(&group.expr, names),
            other => constructed(other, names),
        }
    }
}

/// Names bound without a type. A capital begins a constant or a variant.
struct Untyped<'t>(&'t mut Variables);

impl<'ast> Visit<'ast> for Untyped<'_> {
    fn visit_pat_ident(&mut self, name: &'ast PatIdent) {
        if !name.ident.unraw().to_string().starts_with(char::is_uppercase) {
            self.0.set(name, None);
        }
        visit::visit_pat_ident(self, name);
    }
}

fn type_of(kind: &Type, names: &Names) -> Option<Meaning> {
    let kind = match bare(kind) {
        Type::Reference(reference) => bare(&reference.elem),
        other => other,
    };
    match kind {
        Type::Path(path) if path.qself.is_none() => match pointed_to(path) {
            Some(inner) => type_of(inner, names),
            None => Some(names.item(&path.path)),
        },
        _ => None,
    }
}

/// What an `Arc<T>`, `Rc<T>` or `Box<T>` leads to.
fn pointed_to(path: &TypePath) -> Option<&Type> {
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) if ["Arc", "Rc", "Box"].iter().any(|name| last.ident == name) => Some(inner),
        _ => None,
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
        Meaning::Own => Some(Meaning::Own),
    }
}

fn without_last(mut path: Vec<String>) -> Option<Vec<String>> {
    path.pop();
    path.last()
        .is_some_and(|kind| kind.starts_with(char::is_uppercase))
        .then_some(path)
}
