//! Which functions of the crate a function's code may call: by path, as a value, as a method.
//!
//! A method is followed where the type of its value is in sight (`self`, a parameter, a constructor), or where the crate
//! has one method of that name. Absent on purpose: calls that no source shows, as `Drop`, operators and conversions.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use steadfast_analysis::code::checkpoint::{Checkpoint, Kind};
use steadfast_analysis::code::known::{self, Piece};
use steadfast_analysis::names::Names;
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{
    Arm, Block, Expr, ExprClosure, ExprForLoop, ExprIf, ExprLet, ExprMethodCall, ExprPath, ExprWhile, FnArg,
    GenericParam, Item, ItemFn, Local, Macro, Member, Pat, Signature, TypeParamBound, WherePredicate,
};

use super::index::Index;
use super::outline::{Definition, Id, Shape, bound, shape, written};
use super::types::Known;

/// Every function of the crate that the code of `function` names or calls, in the order of the source.
pub(super) fn calls(index: &Index, id: Id, function: &ItemFn, names: &Names) -> Vec<Id> {
    let Some(described) = index.function(id) else {
        return Vec::new();
    };
    let mut calls = Calls {
        index,
        names,
        scope: described.module,
        own: index.own(id),
        parameters: BTreeMap::new(),
        variables: vec![BTreeMap::new()],
        found: Vec::new(),
    };
    calls.signature(&function.sig);
    calls.visit_block(&function.block);
    calls.found
}

struct Calls<'c> {
    index: &'c Index,
    names: &'c Names,
    scope: Id,
    own: Option<Id>,
    /// The type parameters, by what their bounds tell.
    parameters: BTreeMap<String, Known>,
    /// Innermost last.
    variables: Vec<BTreeMap<String, Known>>,
    found: Vec<Id>,
}

impl Calls<'_> {
    fn signature(&mut self, signature: &Signature) {
        for parameter in &signature.generics.params {
            if let GenericParam::Type(parameter) = parameter {
                self.parameter(parameter.ident.to_string(), parameter.bounds.iter());
            }
        }
        let conditions = signature
            .generics
            .where_clause
            .iter()
            .flat_map(|clause| &clause.predicates);
        for condition in conditions {
            if let WherePredicate::Type(condition) = condition
                && let Shape::Path(path, _) = shape(&condition.bounded_ty)
                && let [name] = path.as_slice()
            {
                self.parameter(name.clone(), condition.bounds.iter());
            }
        }
        for input in &signature.inputs {
            match input {
                FnArg::Receiver(_) => {
                    let own = self.own.map_or(Known::Nothing, Known::Ours);
                    self.remember("self".to_owned(), own);
                }
                FnArg::Typed(typed) => {
                    let known = self.of_type(&shape(&typed.ty));
                    self.bind(&typed.pat, known);
                }
            }
        }
    }

    fn parameter<'b>(&mut self, name: String, bounds: impl Iterator<Item = &'b TypeParamBound>) {
        // Of several bounds, the one that is a trait of this crate.
        let known = bounds.map(|one| self.index.known(self.scope, &bound([one].into_iter()), self.own));
        let known = known
            .reduce(|first, next| if first == Known::Nothing { next } else { first })
            .unwrap_or(Known::Nothing);
        let before = self.parameters.entry(name).or_insert(Known::Nothing);
        if *before == Known::Nothing {
            *before = known;
        }
    }

    fn of_type(&self, shape: &Shape) -> Known {
        match shape {
            Shape::Path(path, _) if path.len() == 1 => {
                let parameter = path.first().and_then(|name| self.parameters.get(name));
                parameter
                    .cloned()
                    .unwrap_or_else(|| self.index.known(self.scope, shape, self.own))
            }
            other => self.index.known(self.scope, other, self.own),
        }
    }

    fn remember(&mut self, name: String, known: Known) {
        if let Some(innermost) = self.variables.last_mut() {
            innermost.insert(name, known);
        }
    }

    fn variable(&self, name: &str) -> Option<&Known> {
        self.variables.iter().rev().find_map(|scope| scope.get(name))
    }

    fn bind(&mut self, pattern: &Pat, known: Known) {
        match pattern {
            Pat::Ident(name) => {
                let text = name.ident.unraw().to_string();
                // A capital is a constant or a variant.
                if !text.starts_with(char::is_uppercase) {
                    self.remember(text, known);
                }
            }
            Pat::Type(typed) => {
                let known = self.of_type(&shape(&typed.ty));
                self.bind(&typed.pat, known);
            }
            Pat::Reference(reference) => self.bind(&reference.pat, known),
            Pat::Paren(paren) => self.bind(&paren.pat, known),
            Pat::TupleStruct(tuple) => {
                let inner = if tuple.elems.len() == 1 {
                    first_argument(known)
                } else {
                    Known::Nothing
                };
                tuple.elems.iter().for_each(|part| self.bind(part, inner.clone()));
            }
            Pat::Struct(record) => {
                let of = self.of_type(&Shape::Path(written(&record.path), Vec::new()));
                for field in &record.fields {
                    let known = match &field.member {
                        Member::Named(name) => self.index.field(&of, &name.unraw().to_string()),
                        Member::Unnamed(_) => Known::Nothing,
                    };
                    self.bind(&field.pat, known);
                }
            }
            Pat::Tuple(tuple) => tuple.elems.iter().for_each(|part| self.bind(part, Known::Nothing)),
            Pat::Slice(slice) => slice.elems.iter().for_each(|part| self.bind(part, Known::Nothing)),
            Pat::Or(either) => either.cases.iter().for_each(|case| self.bind(case, known.clone())),
            _ => {}
        }
    }

    fn within(&mut self, inside: impl FnOnce(&mut Self)) {
        self.variables.push(BTreeMap::new());
        inside(self);
        self.variables.pop();
    }

    /// The type of an expression, where its source shows it.
    fn of_expression(&self, expression: &Expr) -> Known {
        match expression {
            Expr::Reference(reference) => self.of_expression(&reference.expr),
            Expr::Paren(paren) => self.of_expression(&paren.expr),
            Expr::Group(group) => self.of_expression(&group.expr),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => self.of_expression(&unary.expr),
            Expr::Await(wait) => self.of_expression(&wait.base),
            Expr::Cast(cast) => self.of_type(&shape(&cast.ty)),
            Expr::Try(tried) => first_argument(self.of_expression(&tried.expr)),
            Expr::Struct(literal) => self.of_type(&Shape::Path(written(&literal.path), Vec::new())),
            Expr::Field(field) => {
                let of = self.of_expression(&field.base);
                match &field.member {
                    Member::Named(name) => self.index.field(&of, &name.unraw().to_string()),
                    Member::Unnamed(index) => self.index.field(&of, &index.index.to_string()),
                }
            }
            Expr::Path(path) => self.of_path(path),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => self.of_call(path),
                _ => Known::Nothing,
            },
            Expr::MethodCall(call) => self.of_method(call),
            Expr::Lit(_) | Expr::Array(_) | Expr::Tuple(_) | Expr::Range(_) => foreign(&["std"]),
            Expr::Macro(call) if known::is_known(&call.mac) => foreign(&["std"]),
            _ => Known::Nothing,
        }
    }

    fn of_path(&self, path: &ExprPath) -> Known {
        let path = written(&path.path);
        if let [name] = path.as_slice()
            && let Some(known) = self.variable(name)
        {
            return known.clone();
        }
        match self.index.resolve(self.scope, &path, self.own).as_slice() {
            [Definition::Type(kind)] => Known::Ours(*kind),
            _ => Known::Nothing,
        }
    }

    fn of_call(&self, path: &ExprPath) -> Known {
        let called = self.functions(path);
        if let Some(function) = called.first() {
            return self.index.output(*function);
        }
        let path = written(&path.path);
        match self.index.resolve(self.scope, &path, self.own).as_slice() {
            [Definition::Type(kind)] => Known::Ours(*kind),
            // `String::from`, `Vec::new`: what a type's function returns is most often that type.
            [] | [Definition::Foreign(_)] => match path.split_last() {
                Some((_, kind)) if kind.last().is_some_and(|last| last.starts_with(char::is_uppercase)) => {
                    Known::Foreign(kind.to_vec(), Vec::new())
                }
                _ => Known::Nothing,
            },
            _ => Known::Nothing,
        }
    }

    fn of_method(&self, call: &ExprMethodCall) -> Known {
        let of = self.of_expression(&call.receiver);
        let name = call.method.unraw().to_string();
        if let Some(function) = self.index.method(&of, &name, call.args.len()).first() {
            return self.index.output(*function);
        }
        match name.as_str() {
            "clone" | "to_owned" | "as_ref" | "as_mut" | "borrow" | "borrow_mut" => of,
            "unwrap" | "expect" | "unwrap_or" | "unwrap_or_else" | "unwrap_or_default" => first_argument(of),
            _ => Known::Nothing,
        }
    }

    /// The functions that a path means.
    fn functions(&self, path: &ExprPath) -> Vec<Id> {
        let names = written(&path.path);
        if let Some(qualified) = &path.qself {
            let of = self.of_type(&shape(&qualified.ty));
            let own = names
                .last()
                .map_or_else(Vec::new, |name| self.index.associated(&of, name));
            return if own.is_empty() { self.at(&names) } else { own };
        }
        match names.as_slice() {
            [only] if self.variable(only).is_some() => Vec::new(),
            [first, name] if self.parameters.contains_key(first) => {
                let of = self.parameters.get(first).unwrap_or(&Known::Nothing);
                self.index.associated(of, name)
            }
            _ => self.at(&names),
        }
    }

    fn at(&self, names: &[String]) -> Vec<Id> {
        let found = self.index.resolve(self.scope, names, self.own).into_iter();
        let functions = found.filter_map(|definition| match definition {
            Definition::Function(id) => Some(id),
            _ => None,
        });
        functions.collect()
    }

    fn call(&mut self, mac: &Macro) {
        if let Some(kind) = Kind::of(&mac.path, self.names) {
            // What stands in a step's body does not run on replay.
            if let Ok(checkpoint) = Checkpoint::parse(kind, mac.tokens.clone()) {
                checkpoint
                    .workflow_parts()
                    .into_iter()
                    .for_each(|part| self.visit_expr(part));
            }
        } else if known::is_known(mac) {
            for piece in known::pieces(mac) {
                if let Piece::Expression { expression, .. } = piece {
                    self.visit_expr(&expression);
                }
            }
        } else {
            self.search(mac.tokens.clone());
        }
    }

    /// Finds `path(…)` among the tokens of a macro that nobody here understands.
    fn search(&mut self, tokens: TokenStream) {
        let mut path = Vec::new();
        let mut before = None;
        for tree in tokens {
            match &tree {
                TokenTree::Ident(name) if before == Some(':') && !path.is_empty() => {
                    path.push(name.unraw().to_string())
                }
                TokenTree::Ident(name) => {
                    path.clear();
                    if before != Some('.') {
                        path.push(name.unraw().to_string());
                    }
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => {}
                TokenTree::Group(group) => {
                    if group.delimiter() == Delimiter::Parenthesis && !path.is_empty() {
                        let is_variable =
                            path.len() == 1 && path.first().is_some_and(|name| self.variable(name).is_some());
                        let called = if is_variable { Vec::new() } else { self.at(&path) };
                        self.found.extend(called);
                    }
                    path.clear();
                    self.search(group.stream());
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => path.clear(),
            }
            before = match &tree {
                TokenTree::Punct(punct) => Some(punct.as_char()),
                _ => None,
            };
        }
    }
}

fn foreign(path: &[&str]) -> Known {
    Known::Foreign(path.iter().map(|name| (*name).to_owned()).collect(), Vec::new())
}

/// What is in a `Result`, an `Option` or the like.
fn first_argument(known: Known) -> Known {
    match known {
        Known::Foreign(_, arguments) => arguments.into_iter().next().unwrap_or(Known::Nothing),
        Known::Ours(_) | Known::Some(_) | Known::Nothing => Known::Nothing,
    }
}

impl<'ast> Visit<'ast> for Calls<'_> {
    fn visit_block(&mut self, block: &'ast Block) {
        self.within(|calls| visit::visit_block(calls, block));
    }

    fn visit_local(&mut self, local: &'ast Local) {
        let mut known = Known::Nothing;
        if let Some(value) = &local.init {
            self.visit_expr(&value.expr);
            known = self.of_expression(&value.expr);
            if let Some((_, otherwise)) = &value.diverge {
                self.visit_expr(otherwise);
            }
        }
        self.bind(&local.pat, known);
    }

    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        self.within(|calls| {
            closure
                .inputs
                .iter()
                .for_each(|input| calls.bind(input, Known::Nothing));
            calls.visit_expr(&closure.body);
        });
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        self.within(|calls| {
            calls.bind(&arm.pat, Known::Nothing);
            visit::visit_arm(calls, arm);
        });
    }

    fn visit_expr_if(&mut self, choice: &'ast ExprIf) {
        self.within(|calls| {
            calls.visit_expr(&choice.cond);
            calls.visit_block(&choice.then_branch);
        });
        if let Some((_, otherwise)) = &choice.else_branch {
            self.visit_expr(otherwise);
        }
    }

    fn visit_expr_while(&mut self, round: &'ast ExprWhile) {
        self.within(|calls| visit::visit_expr_while(calls, round));
    }

    fn visit_expr_for_loop(&mut self, round: &'ast ExprForLoop) {
        self.visit_expr(&round.expr);
        self.within(|calls| {
            calls.bind(&round.pat, Known::Nothing);
            calls.visit_block(&round.body);
        });
    }

    fn visit_expr_let(&mut self, condition: &'ast ExprLet) {
        self.visit_expr(&condition.expr);
        let known = self.of_expression(&condition.expr);
        self.bind(&condition.pat, known);
    }

    fn visit_expr_path(&mut self, path: &'ast ExprPath) {
        let functions = self.functions(path);
        self.found.extend(functions);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        visit::visit_expr_method_call(self, call);
        let of = self.of_expression(&call.receiver);
        let methods = self
            .index
            .method(&of, &call.method.unraw().to_string(), call.args.len());
        self.found.extend(methods);
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.call(mac);
    }

    fn visit_item(&mut self, _: &'ast Item) {}
}
