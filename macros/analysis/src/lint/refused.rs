//! What was reported, for the macro that then has to emit something that gives no second error.
//! Absent on purpose: what is emitted instead (`body::rewrite`).

use std::collections::{BTreeMap, BTreeSet};

use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Expr, ExprMethodCall, Pat, PatIdent};

use crate::lint::table::Aftermath;

/// Variables and methods that reports were about.
#[derive(Default)]
pub(super) struct Refused {
    variables: BTreeMap<String, Aftermath>,
    /// By the variable at the root of the receiver, and the name.
    methods: BTreeMap<(String, String), Aftermath>,
}

impl Refused {
    /// What a `let` binds to something that was reported. A declared type stays.
    pub(super) fn bind(&mut self, pattern: &Pat, aftermath: Aftermath) {
        let mut names = Names::default();
        if !matches!(pattern, Pat::Type(_)) {
            names.visit_pat(pattern);
        }
        self.variables.extend(names.0.into_iter().map(|name| (name, aftermath)));
    }

    pub(super) fn method(&mut self, call: &ExprMethodCall, aftermath: Aftermath) {
        if let Some(root) = root(&call.receiver) {
            self.methods.insert((root, call.method.unraw().to_string()), aftermath);
        }
    }

    /// What becomes of an expression that was reported, or is made from what was.
    pub(super) fn aftermath(&self, expression: &Expr) -> Aftermath {
        match expression {
            Expr::Path(path) => path
                .path
                .get_ident()
                .and_then(|name| self.variables.get(&name.unraw().to_string()))
                .copied()
                .unwrap_or(Aftermath::Harmless),
            Expr::MethodCall(call) => root(&call.receiver)
                .and_then(|root| self.methods.get(&(root, call.method.unraw().to_string())))
                .copied()
                .unwrap_or(Aftermath::Harmless),
            _ => Aftermath::Harmless,
        }
    }
}

fn root(receiver: &Expr) -> Option<String> {
    match receiver {
        Expr::Path(path) => path.path.get_ident().map(|name| name.unraw().to_string()),
        Expr::MethodCall(call) => root(&call.receiver),
        Expr::Field(field) => root(&field.base),
        Expr::Await(wait) => root(&wait.base),
        Expr::Try(attempt) => root(&attempt.expr),
        Expr::Paren(paren) => root(&paren.expr),
        _ => None,
    }
}

#[derive(Default)]
struct Names(BTreeSet<String>);

impl<'ast> Visit<'ast> for Names {
    fn visit_pat_ident(&mut self, name: &'ast PatIdent) {
        self.0.insert(name.ident.unraw().to_string());
        visit::visit_pat_ident(self, name);
    }
}
