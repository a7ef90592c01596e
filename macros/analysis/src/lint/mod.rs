//! Finds non-determinism that syntax alone gives away.
//!
//! * `table`: the rules; `paths`: what they match; `index`: how that is found
//! * `allowance`: `#[allow_nondeterminism]`
//! * `variables`: variables in scope, and the types of those that say so
//! * `refused`: what was reported
//! * `syntax`: rules that are about no path
//! * `tokens`: calls in macros that nobody can parse
//! * `flow`: the rules that need more than a path, one module each
//! * `types`, `answer`, `format`, `started`: what those rules ask: what a variable is, what a text shows, what a call is
//!
//! Absent on purpose: inference. A foreign future is refused by the compiler (`DurableFuture`), not here.

pub mod allowance;
pub mod index;
pub mod paths;
mod refused;
mod syntax;
pub mod table;
mod tokens;
mod variables;

mod answer;
mod captured_cell;
mod checkpoint_in_body;
mod discarded_result;
mod endless_loop;
mod float_branch;
mod flow;
mod format;
mod guard_across_checkpoint;
mod hash_order;
mod not_awaited;
mod started;
mod stored_usize;
mod types;

use std::cell::RefCell;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Arm, Expr, ExprMethodCall, ExprPath, FnArg, ItemFn, Macro, Pat, Stmt, Type};

use crate::code::checkpoint::Checkpoint;
use crate::code::known::{self, Hidden, Piece};
use crate::code::walk::{Observer, walk};
use crate::diagnostics::Diagnostics;
use crate::message;
use crate::names::{Meaning, Names};
use allowance::Allowance;
use flow::Finding;
use index::{rule_of, rule_of_macro};
use refused::Refused;
use table::{ADDRESS_OR_HASH, Aftermath, GLOBAL_STATE, Rule};
use tokens::Call;
use variables::{Scope, Variables};

/// Traits that bring methods to the types of others: these methods are known by the trait alone.
const EXTENSIONS: &[&str] = &[
    "BuildHasher",
    "FutureExt",
    "Join",
    "Race",
    "StreamExt",
    "ToSocketAddrs",
    "TryStreamExt",
];

/// The rules, and what the names in one function mean.
pub struct Lints<'n> {
    names: &'n Names,
    /// Of the function that was checked.
    refused: RefCell<Refused>,
}

impl<'n> Lints<'n> {
    pub fn new(names: &'n Names) -> Self {
        Self {
            names,
            refused: RefCell::default(),
        }
    }

    /// Reports every rule that the function's workflow code breaks. Gives back the allowances on the function itself: one
    /// of them may be for what only somebody who has read the whole crate sees, so whether it was needed is not said here.
    pub fn check(&self, function: &ItemFn, diagnostics: &mut Diagnostics) -> Vec<Allowance> {
        allowance::misplaced(&function.block, diagnostics);
        let variables = Variables::default();
        let on_function = Around {
            allowances: Allowance::of(&function.attrs, diagnostics),
            scope: variables.enter(),
            aftermath: Aftermath::Harmless,
        };
        let mut linter = Linter {
            lints: self,
            variables,
            shadows: Vec::new(),
            statements: vec![on_function],
            findings: flow::findings(function, self.names).into_iter().peekable(),
            entered: 0,
            diagnostics,
        };
        for parameter in &function.sig.inputs {
            if let FnArg::Typed(typed) = parameter {
                linter.variables.bind(&Pat::Type(typed.clone()), self.names);
            }
        }
        walk(&function.block, self.names, &mut linter);
        linter
            .statements
            .into_iter()
            .flat_map(|around| around.allowances)
            .collect()
    }

    /// What becomes of an expression that was reported, or of what is made from it.
    pub fn aftermath(&self, expression: &Expr) -> Aftermath {
        let rule = match expression {
            Expr::Call(call) => match &*call.func {
                Expr::Path(called) => meaning(called, self.names).and_then(|meaning| rule_of(&meaning, self.names)),
                _ => None,
            },
            _ => None,
        };
        let refused = self.refused.borrow().aftermath(expression);
        rule.map_or(Aftermath::Harmless, Rule::aftermath).max(refused)
    }

    /// Reports what a workflow's own signature stores and should not. `allowances` are those for it, on the function.
    pub fn check_stored(&self, function: &ItemFn, mut allowances: Vec<Allowance>, diagnostics: &mut Diagnostics) {
        let rule = &stored_usize::RULE;
        for found in stored_usize::in_signature(&function.sig) {
            let is_allowed = allowances.iter_mut().any(|allowance| allowance.covers(rule.id));
            if !is_allowed {
                diagnostics.breaks(rule, &found, &[&found.to_string()]);
            }
        }
        for allowance in &allowances {
            allowance.retire(diagnostics);
        }
    }

    /// True for a macro that was reported and would be reported again by the compiler.
    pub fn macro_must_go(&self, mac: &Macro) -> bool {
        let rule = rule_of_macro(&self.names.macro_item(&mac.path), self.names);
        rule.is_some_and(|rule| rule.aftermath() == Aftermath::Replace)
    }

    /// The same for one of ours: a step whose body holds checkpoints.
    pub fn checkpoint_must_go(&self, checkpoint: &Checkpoint) -> bool {
        matches!(checkpoint, Checkpoint::Step { body, .. } if checkpoint_in_body::is_in(body, self.names))
    }

    /// True for a `?` on a checkpoint that is not awaited, which the compiler would report again.
    pub fn lacks_await(&self, attempt: &syn::ExprTry) -> bool {
        not_awaited::lacks_await(attempt, self.names)
    }

    /// Whether a guard was reported that, most likely, keeps the future from being sent too.
    pub fn holds_guards(&self, function: &ItemFn) -> bool {
        let findings = flow::findings(function, self.names);
        findings
            .iter()
            .any(|finding| finding.rule.id == guard_across_checkpoint::RULE.id)
    }

    /// By the receiver's type; or by an extension trait in sight, if nothing tells the type.
    fn rule_of_method(&self, call: &ExprMethodCall, variables: &Variables) -> Option<&'static Rule> {
        let method = call.method.unraw().to_string();
        let of = |mut path: Vec<String>| {
            path.push(method.clone());
            path
        };
        match variables.type_of(&call.receiver, self.names) {
            Some(Meaning::Foreign(path)) => rule_of(&Meaning::Foreign(of(path)), self.names),
            Some(Meaning::Unknown(path)) => rule_of(&Meaning::Unknown(of(path)), self.names),
            Some(Meaning::Own) => None,
            None => self.rule_of_extension(&method, call.args.is_empty()),
        }
    }

    /// By a trait in sight, imported or through a glob.
    fn rule_of_extension(&self, method: &str, bare: bool) -> Option<&'static Rule> {
        // `names.join(", ")` is a list's own.
        let fits = |extension: &str| EXTENSIONS.contains(&extension) && (bare || !matches!(extension, "Join" | "Race"));
        let is_known = |path: &&[String]| path.last().is_some_and(|last| fits(last));
        let mut imported = self.names.imported().filter(is_known);
        let of = |path: &[String]| {
            let path = path.iter().cloned().chain([method.to_owned()]).collect();
            rule_of(&Meaning::Foreign(path), self.names)
        };
        imported.find_map(of).or_else(|| {
            EXTENSIONS
                .iter()
                .filter(|extension| fits(extension))
                .find_map(|extension| {
                    let path = [(*extension).to_owned()];
                    self.names.through_globs(&path).find_map(|path| of(&path))
                })
        })
    }
}

struct Linter<'l, 'n> {
    lints: &'l Lints<'n>,
    /// In scope at the current place.
    variables: Variables,
    /// Bound by the expression around: in scope from its first statement on, and not in what it looks at.
    shadows: Vec<Pat>,
    /// Around the current place, innermost last.
    statements: Vec<Around>,
    /// What is still to be reported, in the order of the statements.
    findings: std::iter::Peekable<std::vec::IntoIter<Finding>>,
    /// Statements so far, counted as `flow` counts them.
    entered: usize,
    diagnostics: &'l mut Diagnostics,
}

/// A statement around the current place.
struct Around {
    allowances: Vec<Allowance>,
    scope: Scope,
    /// The worst of what was reported in it.
    aftermath: Aftermath,
}

impl Linter<'_, '_> {
    /// Whether it was reported, and not allowed.
    fn report(&mut self, rule: &Rule, place: &impl ToTokens, written: &str) -> bool {
        let allowed = self
            .statements
            .iter_mut()
            .rev()
            .flat_map(|around| &mut around.allowances)
            .any(|allowance| allowance.covers(rule.id));
        if allowed {
            return false;
        }
        self.leaves(rule.aftermath());
        self.diagnostics.breaks(rule, place, &[written]);
        true
    }

    fn leaves(&mut self, aftermath: Aftermath) {
        if let Some(around) = self.statements.last_mut() {
            around.aftermath = around.aftermath.max(aftermath);
        }
    }

    fn path(&mut self, path: &ExprPath) {
        let variable = path.path.get_ident().map(|name| name.unraw().to_string());
        if path.qself.is_none() && variable.is_some_and(|name| self.is_variable(&name)) {
            return;
        }
        let names = self.lints.names;
        if path.qself.is_none() && names.changes(&path.path) {
            self.report(GLOBAL_STATE, path, &written(path));
        } else if let Some(rule) = meaning(path, names).and_then(|meaning| rule_of(&meaning, names)) {
            self.report(rule, path, &written(path));
        }
    }

    fn is_variable(&self, name: &str) -> bool {
        let mut soon = Variables::default();
        for shadow in &self.shadows {
            soon.bind(shadow, self.lints.names);
        }
        self.variables.contains(name) || soon.contains(name)
    }

    fn method(&mut self, call: &ExprMethodCall) {
        // What was made by mistake was reported where it was made.
        if self.lints.aftermath(&call.receiver) != Aftermath::Harmless || self.is_broken(&call.receiver) {
            return;
        }
        if let Some(rule) = self.lints.rule_of_method(call, &self.variables)
            && self.report(rule, &call.method, &format!(".{}()", call.method.unraw()))
        {
            self.lints.refused.borrow_mut().method(call, rule.aftermath());
        }
    }

    /// A call of a function that breaks a rule.
    fn is_broken(&self, receiver: &Expr) -> bool {
        let Expr::Call(call) = receiver else { return false };
        let Expr::Path(path) = &*call.func else { return false };
        meaning(path, self.lints.names).is_some_and(|meaning| rule_of(&meaning, self.lints.names).is_some())
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
        for shadow in std::mem::take(&mut self.shadows) {
            self.variables.bind(&shadow, self.lints.names);
        }
        let around = Around {
            allowances: Allowance::on(statement, self.diagnostics),
            scope: self.variables.enter(),
            aftermath: Aftermath::Harmless,
        };
        self.statements.push(around);
        if let Some((place, written)) = syntax::changing_static(statement, self.lints.names) {
            self.report(GLOBAL_STATE, &place, &written);
        }
        let here = self.entered;
        self.entered += 1;
        while let Some(finding) = self.findings.next_if(|finding| finding.statement == here) {
            self.report(finding.rule, &finding.place, &finding.written);
        }
    }

    fn leave_statement(&mut self, statement: &Stmt) {
        let Some(around) = self.statements.pop() else { return };
        for allowance in &around.allowances {
            allowance.retire(self.diagnostics);
        }
        self.shadows.clear();
        self.variables.leave(around.scope);
        if let Stmt::Local(local) = statement {
            self.variables.bind_local(local, self.lints.names);
            if around.aftermath != Aftermath::Harmless {
                self.lints.refused.borrow_mut().bind(&local.pat, around.aftermath);
            }
        }
    }

    fn expression(&mut self, expression: &Expr) {
        match expression {
            Expr::Path(path) => {
                self.leaves(self.lints.aftermath(expression));
                self.path(path);
            }
            Expr::MethodCall(call) => self.method(call),
            Expr::Closure(closure) => {
                for input in &closure.inputs {
                    self.variables.bind(input, self.lints.names);
                }
            }
            Expr::ForLoop(round) => self.shadows.push((*round.pat).clone()),
            Expr::Let(condition) => self.shadows.push((*condition.pat).clone()),
            _ => {}
        }
        if let Some((rule, place, written)) = syntax::broken(expression) {
            self.report(rule, &place, &written);
        }
    }

    fn arm(&mut self, arm: &Arm) {
        self.variables.bind(&arm.pat, self.lints.names);
    }

    fn macro_call(&mut self, mac: &Macro) {
        let names = self.lints.names;
        let meaning = names.macro_item(&mac.path);
        if let Some(rule) = rule_of_macro(&meaning, names) {
            self.report(rule, &mac.path, &format!("{}!", written(&mac.path)));
        } else if let Some(hidden) = known::hides(mac) {
            let last = mac.path.segments.last().map(|last| last.ident.unraw().to_string());
            let message = match hidden {
                Hidden::FromUs => &message::HIDDEN_CHECKPOINT,
                Hidden::FromReplay => &message::LAZY_CHECKPOINT,
            };
            self.diagnostics.at(&mac.path, message, &[&last.unwrap_or_default()]);
            return;
        }
        if known::is_known(mac) {
            if let Some(text) = syntax::formats_address(mac) {
                self.report(ADDRESS_OR_HASH, &text, "{:p}");
            }
            let others = known::pieces(mac).into_iter().filter_map(|piece| match piece {
                Piece::Other(tokens) => Some(tokens),
                Piece::Expression { .. } => None,
            });
            if mac.path.segments.last().is_none_or(|last| last.ident != "matches") {
                others.for_each(|tokens| self.tokens(tokens));
            }
        } else if rule_of_macro(&meaning, names).is_some() {
            // One mistake, one message.
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

/// Removes every allowance, which only this crate understands.
pub fn strip(attributes: &mut Vec<syn::Attribute>) {
    attributes.retain(|attribute| !allowance::is_allowance(attribute));
}

/// Takes the allowances off a function that are about its signature, which has no statement to put them on.
pub fn for_signature(attributes: &mut Vec<syn::Attribute>, diagnostics: &mut Diagnostics) -> Vec<Allowance> {
    let is_for_it = |attribute: &syn::Attribute| {
        let rule = attribute.meta.require_list().ok().and_then(|list| {
            let first = list.tokens.clone().into_iter().next();
            first.map(|first| first.to_string())
        });
        allowance::is_allowance(attribute) && rule.is_some_and(|rule| rule == stored_usize::RULE.id)
    };
    let (taken, left) = std::mem::take(attributes).into_iter().partition(is_for_it);
    *attributes = left;
    let taken: Vec<syn::Attribute> = taken;
    Allowance::of(&taken, diagnostics)
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
