//! Finds non-determinism that syntax alone gives away.
//!
//! * `table`: the rules
//! * `allowance`: `#[allow_nondeterminism]`
//!
//! Absent on purpose: types. A foreign future is refused by the compiler (`DurableFuture`), not here.

pub mod allowance;
pub mod table;

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprMethodCall, FnArg, Ident, ItemFn, Local, Macro, Pat, PatType, Path, Signature, Stmt, Type};

use crate::bare;
use crate::code::known::{self, Hidden};
use crate::code::walk::{Observer, walk};
use crate::diagnostics::Diagnostics;
use crate::message;
use crate::names::{Meaning, Names};
use allowance::Allowance;
use table::{Aftermath, CLOCK, Level, RULES, Rule};

/// The rules, and what the names in one function mean.
pub struct Lints<'n> {
    names: &'n Names,
}

impl<'n> Lints<'n> {
    pub fn new(names: &'n Names) -> Self {
        Self { names }
    }

    /// Reports every rule that the function's workflow code breaks.
    pub fn check(&self, function: &ItemFn, diagnostics: &mut Diagnostics) {
        let instants = Instants::of(&function.sig, &function.block);
        let mut linter = Linter {
            lints: self,
            instants,
            allowances: Vec::new(),
            diagnostics,
        };
        walk(&function.block, self.names, &mut linter);
    }

    /// True for a call that was reported and would be reported again by the compiler.
    pub fn must_go(&self, called: &Path) -> bool {
        self.rule_for(called, |rule| rule.paths)
            .is_some_and(|rule| rule.aftermath() == Aftermath::Replace)
    }

    /// The same for a macro.
    pub fn macro_must_go(&self, mac: &Macro) -> bool {
        self.rule_for(&mac.path, |rule| rule.macros)
            .is_some_and(|rule| rule.aftermath() == Aftermath::Replace)
    }

    fn rule_for(&self, path: &Path, entries: impl Fn(&Rule) -> &'static [&'static str]) -> Option<&'static Rule> {
        let meaning = self.names.meaning(path);
        RULES
            .iter()
            .find(|rule| entries(rule).iter().any(|entry| matches(entry, &meaning)))
    }
}

/// Whether an entry of the table is what the path means.
fn matches(entry: &str, meaning: &Meaning) -> bool {
    let entry: Vec<&str> = entry.split("::").collect();
    let same = |entry: &[&str], path: &[String]| {
        entry.len() == path.len()
            && entry
                .iter()
                .zip(path)
                .all(|(entry, name)| *entry == "*" || entry == name)
    };
    match meaning {
        Meaning::Own => false,
        Meaning::Foreign(path) => same(&entry, path),
        // In full; or from a well-known type or module on, as after a `use` that is out of sight.
        Meaning::Unknown(path) => {
            let told_by_its_head = path.len() > 1
                && path
                    .first()
                    .is_some_and(|first| first == "thread" || first.starts_with(char::is_uppercase));
            let tail = entry
                .len()
                .checked_sub(path.len())
                .and_then(|skipped| entry.get(skipped..));
            same(&entry, path)
                || (told_by_its_head && tail.is_some_and(|tail| same(tail, path)))
                || is_thread_rng(&entry, path)
        }
    }
}

/// The one function that everybody calls without a path.
fn is_thread_rng(entry: &[&str], path: &[String]) -> bool {
    entry == ["rand", "thread_rng"] && path.len() == 1 && path.first().is_some_and(|name| name == "thread_rng")
}

struct Linter<'l> {
    lints: &'l Lints<'l>,
    instants: Instants,
    /// Innermost last, one list for each statement around the current place.
    allowances: Vec<Vec<Allowance>>,
    diagnostics: &'l mut Diagnostics,
}

impl Linter<'_> {
    fn report(&mut self, rule: &Rule, place: &impl ToTokens, written: &str) {
        let allowed = self
            .allowances
            .iter_mut()
            .rev()
            .flatten()
            .any(|allowance| allowance.covers(rule.id));
        if !allowed {
            match rule.level {
                Level::Error => self.diagnostics.at(place, &rule.message, &[written]),
                Level::Warning => self.diagnostics.warn_at(place, &rule.message, &[written]),
            }
        }
    }
}

impl Observer for Linter<'_> {
    fn enter_statement(&mut self, statement: &Stmt) {
        self.allowances.push(Allowance::on(statement, self.diagnostics));
    }

    fn leave_statement(&mut self, _: &Stmt) {
        for allowance in self.allowances.pop().unwrap_or_default() {
            allowance.retire(self.diagnostics);
        }
    }

    fn expression(&mut self, expression: &Expr) {
        match expression {
            Expr::Path(path) if path.qself.is_none() => {
                if let Some(rule) = self.lints.rule_for(&path.path, |rule| rule.paths) {
                    self.report(rule, path, &written(&path.path));
                }
            }
            Expr::MethodCall(call) if call.method == "elapsed" && self.instants.hold(call) => {
                self.report(CLOCK, &call.method, ".elapsed()");
            }
            _ => {}
        }
    }

    fn macro_call(&mut self, mac: &Macro) {
        if let Some(rule) = self.lints.rule_for(&mac.path, |rule| rule.macros) {
            self.report(rule, &mac.path, &format!("{}!", written(&mac.path)));
        } else if let Some(hidden) = known::hides(mac) {
            let last = mac.path.segments.last().map(|last| last.ident.unraw().to_string());
            let message = match hidden {
                Hidden::FromUs => &message::HIDDEN_CHECKPOINT,
                Hidden::FromReplay => &message::LAZY_CHECKPOINT,
            };
            self.diagnostics.at(&mac.path, message, &[&last.unwrap_or_default()]);
        }
    }
}

/// A path without the spaces that tokens are printed with.
fn written(path: &Path) -> String {
    path.to_token_stream().to_string().replace(' ', "")
}

/// Variables that hold a reading of the clock, told by their declared type: `.elapsed()` on them reads it again.
#[derive(Default)]
struct Instants {
    names: BTreeSet<Ident>,
}

impl Instants {
    fn of(signature: &Signature, block: &Block) -> Self {
        let mut instants = Self::default();
        for parameter in &signature.inputs {
            if let FnArg::Typed(typed) = parameter {
                instants.declared(typed);
            }
        }
        instants.visit_block(block);
        instants
    }

    fn declared(&mut self, PatType { pat, ty, .. }: &PatType) {
        let Pat::Ident(name) = &**pat else { return };
        let kind = match bare(ty) {
            Type::Reference(reference) => bare(&reference.elem),
            other => other,
        };
        let Type::Path(path) = kind else { return };
        let instant = path
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "Instant" || last.ident == "SystemTime");
        if instant {
            self.names.insert(name.ident.clone());
        }
    }

    /// `UNIX_EPOCH.elapsed()` too.
    fn hold(&self, call: &ExprMethodCall) -> bool {
        let Expr::Path(receiver) = &*call.receiver else {
            return false;
        };
        let Some(last) = receiver.path.segments.last() else {
            return false;
        };
        call.args.is_empty() && (self.names.contains(&last.ident) || last.ident == "UNIX_EPOCH")
    }
}

impl<'ast> Visit<'ast> for Instants {
    fn visit_local(&mut self, local: &'ast Local) {
        if let Pat::Type(typed) = &local.pat {
            self.declared(typed);
        }
        visit::visit_local(self, local);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Removes every allowance, which only this crate understands.
pub fn strip(attributes: &mut Vec<syn::Attribute>) {
    attributes.retain(|attribute| !allowance::is_allowance(attribute));
}

#[cfg(test)]
mod tests;
