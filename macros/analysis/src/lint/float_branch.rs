//! `float_branch`: a condition on what `sin`, `exp` and their like gave. Arithmetic and `sqrt` are exact everywhere;
//! those are not. A warning, because one kind of machine gives one answer. What a step computed is recorded, and fine.

use syn::visit::{self, Visit};
use syn::{Expr, ExprAsync, ExprAwait, ExprClosure, ExprMethodCall, Item, Path, Type};

use crate::lint::flow::Scene;
use crate::lint::table::{Level, Rule};
use crate::lint::types::{Types, peel};
use crate::message::Message;
use quote::ToTokens;

pub(crate) const RULE: Rule = Rule {
    id: "float_branch",
    level: Level::Warning,
    refuses: "`if`, `while` and `match` on what `sin`, `exp`, `ln`, `powf` and their like gave",
    instead: "a step that computes it",
    example: "let load: f64 = 0.5; if load.exp() > 1.5 { pack(1); }",
    paths: &[],
    macros: &[],
    message: Message {
        text: "this condition depends on the last digits of `{0}`",
        reason: "functions like `sin`, `exp` and `ln` differ between platforms and compilers, and replay elsewhere could take another path",
        remedy: "compute it in a step, whose result is recorded; or decide on whole numbers",
    },
};

/// The functions of floats whose precision is not specified.
const INEXACT: &[&str] = &[
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sin_cos", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "exp", "exp2", "exp_m1", "ln", "ln_1p", "log", "log2", "log10", "powf", "powi", "cbrt", "hypot", "gamma",
    "ln_gamma",
];

const EXACT: &[&str] = &[
    "abs",
    "ceil",
    "clamp",
    "copysign",
    "floor",
    "fract",
    "max",
    "min",
    "mul_add",
    "recip",
    "round",
    "signum",
    "sqrt",
    "to_degrees",
    "to_radians",
    "trunc",
];

pub(crate) fn expression(expression: &Expr, scene: &mut Scene<'_>) {
    let conditions: Vec<&Expr> = match expression {
        Expr::If(choice) => vec![&choice.cond],
        Expr::While(rounds) => vec![&rounds.cond],
        Expr::Match(choice) => vec![&choice.expr],
        _ => return,
    };
    for condition in conditions {
        if let Some((place, written)) = culprit(condition, &scene.types) {
            scene.report(&RULE, &place, &written);
        }
    }
}

/// A method that a float answers with a float.
pub(crate) fn gives_a_float(method: &str) -> bool {
    INEXACT.contains(&method) || EXACT.contains(&method)
}

pub(crate) fn is_float(kind: &Type) -> bool {
    matches!(peel(kind), Type::Path(path) if path.path.is_ident("f64") || path.path.is_ident("f32"))
}

/// The first part of an expression whose value may differ, and how it is written.
pub(crate) fn culprit(expression: &Expr, types: &Types) -> Option<(proc_macro2::TokenStream, String)> {
    let mut search = Search { types, found: None };
    search.visit_expr(expression);
    search.found
}

struct Search<'t> {
    types: &'t Types,
    found: Option<(proc_macro2::TokenStream, String)>,
}

impl Search<'_> {
    fn is_inexact(&self, call: &ExprMethodCall) -> bool {
        INEXACT.contains(&call.method.to_string().as_str())
            && self.types.of(&call.receiver).is_some_and(|kind| is_float(&kind))
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_expr(&mut self, expression: &'ast Expr) {
        if self.found.is_some() {
            return;
        }
        match expression {
            Expr::MethodCall(call) if self.is_inexact(call) => {
                let method = &call.method;
                self.found = Some((method.to_token_stream(), format!(".{method}()")));
            }
            Expr::Path(path) if is_function_of_floats(&path.path) => {
                let written = crate::lint::written(&path.path);
                self.found = Some((path.to_token_stream(), written));
            }
            Expr::Path(path) => {
                let variable = path.path.get_ident().and_then(|name| self.types.variable(name));
                if variable.is_some_and(|variable| variable.inexact) {
                    self.found = Some((path.to_token_stream(), path.to_token_stream().to_string()));
                }
            }
            other => visit::visit_expr(self, other),
        }
    }

    // What was waited for is recorded; what is in a block or a closure has a condition of its own.
    fn visit_expr_await(&mut self, _: &'ast ExprAwait) {}
    fn visit_expr_async(&mut self, _: &'ast ExprAsync) {}
    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}
    fn visit_block(&mut self, _: &'ast syn::Block) {}
    fn visit_item(&mut self, _: &'ast Item) {}
}

/// `f64::sin`
fn is_function_of_floats(path: &Path) -> bool {
    let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    match names.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["f64" | "f32", function] => INEXACT.contains(function),
        _ => false,
    }
}
