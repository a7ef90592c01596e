//! Finds non-determinism that syntax alone gives away.
//!
//! * `table`: the rules; `paths`: what they match; `index`: how that is found
//! * `allowance`: `#[allow_nondeterminism]`
//! * `types`: the types of variables that say so
//! * `syntax`: rules that are about no path
//! * `tokens`: calls in macros that nobody can parse
//!
//! Absent on purpose: inference. A foreign future is refused by the compiler (`DurableFuture`), not here.

pub mod allowance;
pub mod index;
pub mod paths;
mod syntax;
pub mod table;
mod tokens;
mod types;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Expr, ExprMethodCall, ExprPath, FnArg, ItemFn, Local, Macro, Pat, PatIdent, Path, Stmt, Type};

use crate::code::known::{self, Piece};
use crate::code::walk::{Observer, walk};
use crate::diagnostics::Diagnostics;
use crate::message;
use crate::names::{Meaning, Names};
use allowance::Allowance;
use index::{rule_of, rule_of_macro};
use table::{ADDRESS_OR_HASH, Aftermath, GLOBAL_STATE, Level, Rule};
use tokens::Call;
use types::Types;

/// The rules, and what the names in one function mean.
pub struct Lints<'n> {
    names: &'n Names,
    /// Of the function that was checked.
    types: OnceCell<Types>,
    /// Its variables that hold what was reported, and will not be there.
    refused: RefCell<BTreeSet<String>>,
}

impl<'n> Lints<'n> {
    pub fn new(names: &'n Names) -> Self {
        Self {
            names,
            types: OnceCell::new(),
            refused: RefCell::default(),
        }
    }

    /// Reports every rule that the function's workflow code breaks.
    pub fn check(&self, function: &ItemFn, diagnostics: &mut Diagnostics) {
        let types = self.types.get_or_init(|| Types::of(function, self.names));
        allowance::misplaced(&function.block, diagnostics);
        let mut linter = Linter {
            lints: self,
            types,
            bound: BTreeSet::new(),
            statements: Vec::new(),
            replaced: 0,
            diagnostics,
        };
        for parameter in &function.sig.inputs {
            if let FnArg::Typed(typed) = parameter {
                linter.bind(&typed.pat);
            }
        }
        walk(&function.block, self.names, &mut linter);
    }

    /// True for a call that was reported and would be reported again by the compiler.
    pub fn must_go(&self, called: &Path) -> bool {
        let rule = rule_of(&self.names.item(called), self.names);
        rule.is_some_and(|rule| rule.aftermath() == Aftermath::Replace)
    }

    /// The same for a macro.
    pub fn macro_must_go(&self, mac: &Macro) -> bool {
        let rule = rule_of_macro(&self.names.macro_item(&mac.path), self.names);
        rule.is_some_and(|rule| rule.aftermath() == Aftermath::Replace)
    }

    /// The same for a method.
    pub fn method_must_go(&self, call: &ExprMethodCall) -> bool {
        let rule = self.types.get().and_then(|types| self.rule_of_method(call, types));
        rule.is_some_and(|rule| rule.aftermath() == Aftermath::Replace)
    }

    /// True for a variable that holds what was reported and must go.
    pub fn variable_must_go(&self, path: &Path) -> bool {
        path.get_ident()
            .is_some_and(|name| self.refused.borrow().contains(&name.unraw().to_string()))
    }

    /// By the receiver's type; or by an extension trait in sight, if nothing tells the type.
    fn rule_of_method(&self, call: &ExprMethodCall, types: &Types) -> Option<&'static Rule> {
        let method = call.method.unraw().to_string();
        let of = |mut path: Vec<String>| {
            path.push(method.clone());
            path
        };
        match types.of_receiver(&call.receiver, self.names) {
            Some(Meaning::Foreign(path)) => rule_of(&Meaning::Foreign(of(path)), self.names),
            Some(Meaning::Unknown(path)) => rule_of(&Meaning::Unknown(of(path)), self.names),
            Some(Meaning::Own) => None,
            None => self
                .names
                .imported()
                .filter(|path| path.len() > 1)
                .find_map(|path| rule_of(&Meaning::Foreign(of(path.to_vec())), self.names)),
        }
    }
}

struct Linter<'l, 'n> {
    lints: &'l Lints<'n>,
    types: &'l Types,
    /// Variables so far. A name means no variable before it is bound: `let rng = rng();`
    bound: BTreeSet<String>,
    /// Around the current place, innermost last.
    statements: Vec<Around>,
    /// How many reports so far take away what they are about.
    replaced: usize,
    diagnostics: &'l mut Diagnostics,
}

/// A statement around the current place.
struct Around {
    allowances: Vec<Allowance>,
    /// `Linter::replaced` when it began.
    replaced: usize,
}

impl Linter<'_, '_> {
    fn report(&mut self, rule: &Rule, place: &impl ToTokens, written: &str) {
        let allowed = self
            .statements
            .iter_mut()
            .rev()
            .flat_map(|around| &mut around.allowances)
            .any(|allowance| allowance.covers(rule.id));
        if allowed {
            return;
        }
        self.replaced += usize::from(rule.aftermath() == Aftermath::Replace);
        match rule.level {
            Level::Error => self.diagnostics.at(place, &rule.message, &[written]),
            Level::Warning => self.diagnostics.warn_at(place, &rule.message, &[written]),
        }
    }

    fn bind(&mut self, pattern: &Pat) {
        Bind(&mut self.bound).visit_pat(pattern);
    }

    fn path(&mut self, path: &ExprPath) {
        let variable = path.path.get_ident().map(|name| name.unraw().to_string());
        if path.qself.is_none() && variable.is_some_and(|name| self.bound.contains(&name)) {
            return;
        }
        let names = self.lints.names;
        if path.qself.is_none() && names.changes(&path.path) {
            self.report(GLOBAL_STATE, path, &written(path));
        } else if let Some(rule) = meaning(path, names).and_then(|meaning| rule_of(&meaning, names)) {
            self.report(rule, path, &written(path));
        }
    }

    fn method(&mut self, call: &ExprMethodCall) {
        let is_constructed_by_mistake = match &*call.receiver {
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => {
                    meaning(path, self.lints.names).is_some_and(|meaning| rule_of(&meaning, self.lints.names).is_some())
                }
                _ => false,
            },
            Expr::Path(path) => self.lints.variable_must_go(&path.path),
            _ => false,
        };
        if is_constructed_by_mistake {
            return;
        }
        if let Some(rule) = self.lints.rule_of_method(call, self.types) {
            self.report(rule, &call.method, &format!(".{}()", call.method.unraw()));
        }
    }

    /// What the tokens of a macro that nobody can parse plainly contain.
    fn tokens(&mut self, tokens: proc_macro2::TokenStream) {
        let names = self.lints.names;
        for call in tokens::calls(tokens) {
            let (found, path, mark) = match &call {
                Call::Function(path) => (rule_of(&names.item(path), names), path, ""),
                Call::Macro(path) => (rule_of_macro(&names.macro_item(path), names), path, "!"),
            };
            if let Some(rule) = found {
                self.report(rule, path, &format!("{}{mark}", written(path)));
            }
        }
    }
}

impl Observer for Linter<'_, '_> {
    fn enter_statement(&mut self, statement: &Stmt) {
        let around = Around {
            allowances: Allowance::on(statement, self.diagnostics),
            replaced: self.replaced,
        };
        self.statements.push(around);
        if let Some((place, written)) = syntax::changing_static(statement, self.lints.names) {
            self.report(GLOBAL_STATE, &place, &written);
        }
    }

    fn leave_statement(&mut self, statement: &Stmt) {
        let Some(around) = self.statements.pop() else { return };
        for allowance in &around.allowances {
            allowance.retire(self.diagnostics);
        }
        if let Stmt::Local(Local { pat, .. }) = statement {
            self.bind(pat);
            if self.replaced > around.replaced && !matches!(pat, Pat::Type(_)) {
                Bind(&mut self.lints.refused.borrow_mut()).visit_pat(pat);
            }
        }
    }

    fn expression(&mut self, expression: &Expr) {
        match expression {
            Expr::Path(path) => {
                self.replaced += usize::from(self.lints.variable_must_go(&path.path));
                self.path(path);
            }
            Expr::MethodCall(call) => self.method(call),
            Expr::Closure(closure) => closure.inputs.iter().for_each(|input| self.bind(input)),
            Expr::Match(choice) => choice.arms.iter().for_each(|arm| self.bind(&arm.pat)),
            Expr::ForLoop(round) => self.bind(&round.pat),
            Expr::Let(condition) => self.bind(&condition.pat),
            _ => {}
        }
        if let Some((rule, place, written)) = syntax::broken(expression) {
            self.report(rule, &place, &written);
        }
    }

    fn macro_call(&mut self, mac: &Macro) {
        let names = self.lints.names;
        let meaning = names.macro_item(&mac.path);
        if let Some(rule) = rule_of_macro(&meaning, names) {
            self.report(rule, &mac.path, &format!("{}!", written(&mac.path)));
        }
        if known::is_known(mac) {
            if let Some(text) = syntax::formats_address(mac) {
                self.report(ADDRESS_OR_HASH, &text, "{:p}");
            }
            let others = known::pieces(mac).into_iter().filter_map(|piece| match piece {
                Piece::Other(tokens) => Some(tokens),
                Piece::Expression { .. } => None,
            });
            if !mac.path.segments.last().is_some_and(|last| last.ident == "matches") {
                others.for_each(|tokens| self.tokens(tokens));
            }
        } else if rule_of_macro(&meaning, names).is_some() {
            // One mistake, one message.
        } else if known::waits(mac.tokens.clone()) {
            let name = mac
                .path
                .segments
                .last()
                .map(|last| last.ident.unraw().to_string())
                .unwrap_or_default();
            self.diagnostics.at(&mac.path, &message::HIDDEN_CHECKPOINT, &[&name]);
        } else if !tokens::quotes(&mac.path) {
            self.tokens(mac.tokens.clone());
        }
    }
}

/// What a path means, `<Type>::name` and `<Type as Trait>::name` too.
fn meaning(path: &ExprPath, names: &Names) -> Option<Meaning> {
    let Some(qself) = &path.qself else {
        return Some(names.item(&path.path));
    };
    let Type::Path(kind) = crate::bare(&qself.ty) else {
        return None;
    };
    let after = path.path.segments.iter().skip(qself.position);
    let mut whole = kind.path.clone();
    whole.segments.extend(after.cloned());
    kind.qself.is_none().then(|| names.item(&whole))
}

/// As it is written, without the spaces that tokens are printed with.
fn written(path: &impl ToTokens) -> String {
    let text = path.to_token_stream().to_string();
    let parts: Vec<String> = text.split(" as ").map(|part| part.replace(' ', "")).collect();
    parts.join(" as ")
}

/// The names of variables in a pattern. A capital begins a constant or a variant.
struct Bind<'b>(&'b mut BTreeSet<String>);

impl<'ast> Visit<'ast> for Bind<'_> {
    fn visit_pat_ident(&mut self, name: &'ast PatIdent) {
        let text = name.ident.unraw().to_string();
        if !text.starts_with(char::is_uppercase) {
            self.0.insert(text);
        }
        visit::visit_pat_ident(self, name);
    }
}

/// Removes every allowance, which only this crate understands.
pub fn strip(attributes: &mut Vec<syn::Attribute>) {
    attributes.retain(|attribute| !allowance::is_allowance(attribute));
}

/// Takes allowances off a whole function, where they would silence nothing, and reports them.
pub fn not_on_functions(attributes: &mut Vec<syn::Attribute>, diagnostics: &mut Diagnostics) {
    for attribute in attributes.iter().filter(|attribute| allowance::is_allowance(attribute)) {
        diagnostics.at(&attribute.meta, &message::ALLOW_MISPLACED, &[]);
    }
    strip(attributes);
}

#[cfg(test)]
mod tests;
