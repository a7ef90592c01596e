//! What a variable visibly is: declared, annotated, constructed, or taken from such a one, in the scope where it holds.
//!
//! Types stay as they are written; `Family` says which of them are meant. Absent on purpose: inference. What comes out
//! of a function, a field or a type alias is unknown, and no rule fires for it.

use std::collections::BTreeMap;

use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{
    Expr, ExprCall, ExprLit, FnArg, GenericArgument, Ident, Lit, Member, Pat, PatIdent, Path, PathArguments, Signature,
    Type, UnOp, parse_quote,
};

use crate::bare;
use crate::code::walk::Source;
use crate::lint::answer;
use crate::names::{Meaning, Names};

/// What is known of one variable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variable {
    pub kind: Option<Type>,
    /// A parameter taken by reference: somebody else's.
    pub borrowed: bool,
    /// Its value came out of a function that platforms compute differently.
    pub inexact: bool,
}

/// The variables in scope.
#[derive(Default)]
pub(crate) struct Types {
    /// Innermost last.
    scopes: Vec<BTreeMap<String, Variable>>,
}

impl Types {
    /// The parameters of a function.
    pub(crate) fn of_parameters(signature: &Signature) -> Self {
        let mut types = Self::default();
        types.enter();
        for parameter in &signature.inputs {
            if let FnArg::Typed(typed) = parameter {
                let variable = Variable {
                    kind: Some((*typed.ty).clone()),
                    borrowed: matches!(bare(&typed.ty), Type::Reference(_)),
                    inexact: false,
                };
                types.bind(&typed.pat, &variable);
            }
        }
        types
    }

    pub(crate) fn enter(&mut self) {
        self.scopes.push(BTreeMap::new());
    }

    pub(crate) fn leave(&mut self) {
        self.scopes.pop();
    }

    pub(crate) fn variable(&self, name: &Ident) -> Option<&Variable> {
        let name = name.unraw().to_string();
        self.scopes.iter().rev().find_map(|scope| scope.get(&name))
    }

    /// The variable that a value is taken from: `map` in `&map`, `map.clone()`, `Arc::clone(&map)`.
    pub(crate) fn root(&self, value: &Expr) -> Option<&Variable> {
        match value {
            Expr::Path(path) => self.variable(path.path.get_ident()?),
            Expr::Reference(reference) => self.root(&reference.expr),
            Expr::Paren(paren) => self.root(&paren.expr),
            Expr::Unary(unary) => self.root(&unary.expr),
            Expr::Field(field) => self.root(&field.base),
            Expr::MethodCall(call) => self.root(&call.receiver),
            Expr::Call(call) => self.root(call.args.first()?),
            _ => None,
        }
    }

    /// What a pattern's source is, as one value of it.
    pub(crate) fn of_source(&self, source: Source<'_>) -> Option<Type> {
        match source {
            Source::Unknown => None,
            Source::Value(value) => self.of(value),
            Source::Each(values) => self.element(values),
        }
    }

    /// Gives the pattern's names what is known of `value`; names that nothing is known of hide those before.
    pub(crate) fn bind(&mut self, pattern: &Pat, value: &Variable) {
        match (pattern, value.kind.as_ref().map(peel)) {
            (Pat::Ident(name), _) => self.name(&name.ident, value.clone()),
            (Pat::Paren(pattern), _) => self.bind(&pattern.pat, value),
            (Pat::Reference(pattern), _) => self.bind(&pattern.pat, value),
            (Pat::Type(typed), kind) => {
                let declared = Variable {
                    kind: match bare(&typed.ty) {
                        Type::Infer(_) => kind.cloned(),
                        declared => Some(declared.clone()),
                    },
                    ..value.clone()
                };
                self.bind(&typed.pat, &declared);
            }
            (Pat::Tuple(tuple), Some(Type::Tuple(kinds))) if tuple.elems.len() == kinds.elems.len() => {
                for (pattern, kind) in tuple.elems.iter().zip(kinds.elems.clone()) {
                    self.bind(pattern, &value.with(Some(kind)));
                }
            }
            (Pat::TupleStruct(variant), Some(kind)) if is_success(&variant.path) && variant.elems.len() == 1 => {
                let inside = inside(kind);
                for pattern in &variant.elems {
                    self.bind(pattern, &value.with(inside.clone()));
                }
            }
            (other, _) => {
                let unknown = value.with(None);
                AllNames(&mut |name| self.name(name, unknown.clone())).visit_pat(other);
            }
        }
    }

    fn name(&mut self, name: &Ident, variable: Variable) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.unraw().to_string(), variable);
        }
    }

    /// What an expression visibly is.
    pub(crate) fn of(&self, expression: &Expr) -> Option<Type> {
        match expression {
            Expr::Path(path) => self.variable(path.path.get_ident()?)?.kind.clone(),
            Expr::Reference(reference) => self.of(&reference.expr),
            Expr::Paren(paren) => self.of(&paren.expr),
            Expr::Group(group) => self.of(&group.expr),
            Expr::Unary(unary) if !matches!(unary.op, UnOp::Not(_)) => self.of(&unary.expr),
            Expr::Binary(binary) if !is_comparison(&binary.op) => {
                self.of(&binary.left).or_else(|| self.of(&binary.right))
            }
            Expr::Cast(cast) => Some((*cast.ty).clone()),
            Expr::Lit(ExprLit {
                lit: Lit::Float(number),
                ..
            }) => Some(match number.suffix() {
                "f32" => parse_quote!(f32),
                _ => parse_quote!(f64),
            }),
            Expr::Call(call) => self.constructed(call),
            Expr::MethodCall(call) => answer::of(call, self),
            Expr::Try(attempt) => inside(peel(&self.of(&attempt.expr)?)),
            Expr::Index(index) if matches!(*index.index, Expr::Range(_)) => self.of(&index.expr),
            Expr::Index(index) => last_argument(peel(&self.of(&index.expr)?)),
            Expr::Field(field) => match (peel(&self.of(&field.base)?), &field.member) {
                (Type::Tuple(tuple), Member::Unnamed(index)) => tuple.elems.iter().nth(index.index as usize).cloned(),
                _ => None,
            },
            Expr::Tuple(tuple) => {
                let kinds = tuple.elems.iter().map(|part| self.of(part));
                let kinds = kinds.map(|kind| kind.unwrap_or_else(|| parse_quote!(_)));
                Some(parse_quote!((#(#kinds,)*)))
            }
            _ => None,
        }
    }

    /// What a loop over this value is given.
    pub(crate) fn element(&self, values: &Expr) -> Option<Type> {
        match values {
            Expr::MethodCall(call) => {
                let receiver = self.of(&call.receiver)?;
                match call.method.to_string().as_str() {
                    "iter" | "iter_mut" | "into_iter" | "drain" => element_of(&receiver),
                    "values" | "values_mut" | "into_values" => last_argument(peel(&receiver)),
                    "keys" | "into_keys" => arguments(peel(&receiver)).into_iter().next(),
                    _ => self.of(values).as_ref().and_then(element_of),
                }
            }
            _ => self.of(values).as_ref().and_then(element_of),
        }
    }

    /// `HashMap::new()`, `<HashMap<_, _>>::default()`, `Some(map)`, `Arc::new(map)`, `mpsc::channel()`.
    fn constructed(&self, call: &ExprCall) -> Option<Type> {
        let Expr::Path(called) = &*call.func else { return None };
        let names: Vec<String> = called
            .path
            .segments
            .iter()
            .map(|s| s.ident.unraw().to_string())
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let first = || call.args.first();
        match names.as_slice() {
            ["Some" | "Ok"] => {
                let kind = self.of(first()?)?;
                Some(parse_quote!(Option<#kind>))
            }
            [.., "Arc" | "Rc" | "Box", "new" | "clone"]
            | [.., "Clone", "clone"]
            | [.., "mem", "take" | "replace"]
            | [.., "HashMap" | "HashSet", "clone"] => self.of(first()?),
            [
                ..,
                "channel" | "unbounded_channel" | "sync_channel" | "unbounded" | "bounded",
            ] => {
                let (sender, receiver) = match names.last() {
                    Some(&"unbounded_channel") => ("UnboundedSender", "UnboundedReceiver"),
                    Some(&"sync_channel") => ("SyncSender", "Receiver"),
                    _ => ("Sender", "Receiver"),
                };
                let beside = |name: &str| {
                    let mut path = called.path.clone();
                    if let Some(last) = path.segments.last_mut() {
                        *last = Ident::new(name, last.ident.span()).into();
                    }
                    path
                };
                let (sender, receiver) = (beside(sender), beside(receiver));
                Some(parse_quote!((#sender, #receiver)))
            }
            [] => None,
            [.., constructor] if CONSTRUCTORS.contains(constructor) => match &called.qself {
                Some(qualified) if qualified.position == 0 => Some((*qualified.ty).clone()),
                Some(_) => None,
                None => parent(&called.path),
            },
            _ => None,
        }
    }
}

impl Variable {
    fn with(&self, kind: Option<Type>) -> Self {
        Self { kind, ..self.clone() }
    }
}

const CONSTRUCTORS: &[&str] = &[
    "new",
    "default",
    "from",
    "from_iter",
    "from_elem",
    "with_capacity",
    "with_capacity_and_hasher",
    "with_hasher",
];

/// Types by their crate and their name, wherever in the crate they are.
pub(crate) struct Family(pub &'static [(&'static str, &'static [&'static str])]);

impl Family {
    /// Whether the type, or what it points to, is one of these. A bare name that no `use` in sight explains is the
    /// standard library's.
    pub(crate) fn has(&self, kind: &Type, names: &Names) -> bool {
        let Type::Path(path) = peel(kind) else { return false };
        if path.qself.is_some() {
            return false;
        }
        let (known, path) = match names.meaning(&path.path) {
            Meaning::Own => return false,
            Meaning::Foreign(path) => (true, path),
            // In a file that was read, what no `use` names came through a glob: one of the user's own, or of these.
            Meaning::Unknown(path) if path.len() == 1 && names.is_whole() => {
                let through = |home: &str| {
                    names
                        .through_globs(&path)
                        .any(|from| from.first().is_some_and(|first| first == home))
                };
                let last = path.last().map_or("", String::as_str);
                return self
                    .0
                    .iter()
                    .any(|(home, members)| members.contains(&last) && through(home));
            }
            Meaning::Unknown(path) => (path.len() > 1, path),
        };
        let (Some(first), Some(last)) = (path.first(), path.last()) else {
            return false;
        };
        self.0.iter().any(|(home, members)| {
            members.contains(&last.as_str())
                && if known {
                    home == first
                } else {
                    *home == "std" && last != "Sender"
                }
        })
    }
}

/// The type behind references and owning pointers.
pub(crate) fn peel(kind: &Type) -> &Type {
    match bare(kind) {
        Type::Reference(reference) => peel(&reference.elem),
        Type::Path(path) => match path.path.segments.last() {
            Some(last) if last.ident == "Arc" || last.ident == "Rc" || last.ident == "Box" => {
                match argument(&last.arguments) {
                    Some(inner) => peel(inner),
                    None => kind,
                }
            }
            _ => bare(kind),
        },
        other => other,
    }
}

fn argument(arguments: &PathArguments) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(kind) => Some(kind),
        _ => None,
    })
}

/// The type arguments of `HashMap<K, V>`.
pub(crate) fn arguments(kind: &Type) -> Vec<Type> {
    let Type::Path(path) = kind else { return Vec::new() };
    let Some(PathArguments::AngleBracketed(arguments)) = path.path.segments.last().map(|last| &last.arguments) else {
        return Vec::new();
    };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(kind) => Some(kind.clone()),
        _ => None,
    });
    types.collect()
}

/// What a list or a map holds under an index or a key.
pub(crate) fn last_argument(kind: &Type) -> Option<Type> {
    match kind {
        Type::Slice(slice) => Some((*slice.elem).clone()),
        Type::Array(array) => Some((*array.elem).clone()),
        // Behind the key and the value stands, maybe, a hasher.
        _ => arguments(kind).into_iter().take(2).last(),
    }
}

fn element_of(kind: &Type) -> Option<Type> {
    match peel(kind) {
        list @ (Type::Slice(_) | Type::Array(_)) => last_argument(list),
        map @ Type::Path(path)
            if path
                .path
                .segments
                .last()
                .is_some_and(|last| last.ident.to_string().ends_with("Map")) =>
        {
            match arguments(map).as_slice() {
                [key, value, ..] => Some(parse_quote!((#key, #value))),
                _ => None,
            }
        }
        list => arguments(list).into_iter().next(),
    }
}

/// What an `Option` or a `Result` holds.
pub(crate) fn inside(kind: &Type) -> Option<Type> {
    let Type::Path(path) = kind else { return None };
    let last = path.path.segments.last()?;
    (last.ident == "Option" || last.ident == "Result")
        .then(|| argument(&last.arguments).cloned())
        .flatten()
}

fn is_success(path: &Path) -> bool {
    path.segments
        .last()
        .is_some_and(|last| last.ident == "Some" || last.ident == "Ok")
}

/// The type whose function this is.
fn parent(path: &Path) -> Option<Type> {
    let mut path = path.clone();
    path.segments.pop();
    // Without the `::` that is left at its end.
    let last = path.segments.pop()?.into_value();
    path.segments.push_value(last);
    Some(Type::Path(syn::TypePath { qself: None, path }))
}

pub(crate) fn is_comparison(operator: &syn::BinOp) -> bool {
    use syn::BinOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    matches!(operator, Eq(_) | Ne(_) | Lt(_) | Le(_) | Gt(_) | Ge(_) | And(_) | Or(_))
}

/// Every name that a pattern, or all patterns in some code, bind.
pub(crate) struct AllNames<'f>(pub &'f mut dyn FnMut(&Ident));

impl<'ast> Visit<'ast> for AllNames<'_> {
    fn visit_pat_ident(&mut self, name: &'ast PatIdent) {
        (self.0)(&name.ident);
        visit::visit_pat_ident(self, name);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
