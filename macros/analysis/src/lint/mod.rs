//! Finds non-determinism that syntax alone gives away.
//!
//! * `table`: the rules
//! * `allowance`: `#[allow_nondeterminism]`
//! * `flow`: the rules that need more than a path, one module each
//! * `types`, `answer`, `format`, `started`: what those rules ask: what a variable is, what a text shows, what a call is
//!
//! Absent on purpose: types that are not in sight. A foreign future is refused by the compiler (`DurableFuture`), not here.

pub mod allowance;
pub mod table;

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

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprMethodCall, FnArg, Ident, ItemFn, Local, Macro, Pat, PatType, Path, Signature, Stmt, Type};

use crate::bare;
use crate::code::checkpoint::Checkpoint;
use crate::code::known;
use crate::code::walk::{Observer, walk};
use crate::diagnostics::Diagnostics;
use crate::message;
use crate::names::{Meaning, Names};
use allowance::Allowance;
use flow::Finding;
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
            findings: flow::findings(function, self.names).into_iter().peekable(),
            entered: 0,
            allowances: Vec::new(),
            diagnostics,
        };
        walk(&function.block, self.names, &mut linter);
    }

    /// Reports what a workflow's own signature stores and should not.
    pub fn check_stored(&self, function: &ItemFn, diagnostics: &mut Diagnostics) {
        for found in stored_usize::in_signature(&function.sig) {
            let Rule { id, message, .. } = &stored_usize::RULE;
            diagnostics.warn_at(id, &found, message, &[&found.to_string()]);
        }
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

    /// The same for one of ours: a step whose body holds checkpoints.
    pub fn checkpoint_must_go(&self, checkpoint: &Checkpoint) -> bool {
        matches!(checkpoint, Checkpoint::Step { body, .. } if checkpoint_in_body::is_in(body, self.names))
    }

    /// Whether a guard was reported that, most likely, keeps the future from being sent too.
    pub fn holds_guards(&self, function: &ItemFn) -> bool {
        let findings = flow::findings(function, self.names);
        findings
            .iter()
            .any(|finding| finding.rule.id == guard_across_checkpoint::RULE.id)
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
    /// What is still to be reported, in the order of the statements.
    findings: std::iter::Peekable<std::vec::IntoIter<Finding>>,
    /// Statements so far, counted as `flow` counts them.
    entered: usize,
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
                Level::Warning => self.diagnostics.warn_at(rule.id, place, &rule.message, &[written]),
            }
        }
    }
}

impl Observer for Linter<'_> {
    fn enter_statement(&mut self, statement: &Stmt) {
        self.allowances.push(Allowance::on(statement, self.diagnostics));
        let here = self.entered;
        self.entered += 1;
        while let Some(finding) = self.findings.next_if(|finding| finding.statement == here) {
            self.report(finding.rule, &finding.place, &finding.written);
        }
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
        } else if !known::is_known(mac) && known::waits(mac.tokens.clone()) {
            let name = mac
                .path
                .segments
                .last()
                .map(|last| last.ident.unraw().to_string())
                .unwrap_or_default();
            self.diagnostics.at(&mac.path, &message::HIDDEN_CHECKPOINT, &[&name]);
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
