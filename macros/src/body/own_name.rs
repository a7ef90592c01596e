//! A variable or parameter that is called like a workflow: `async fn order(order: Order)`. The compiler would take it for
//! the unit struct of that name; so the name is given to a function first, which a variable may shadow.
//! Absent on purpose: a way to name the workflow itself in such a function. No scope has room for both.

use std::collections::BTreeSet;

use quote::quote;
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Attribute, FnArg, Ident, Item, ItemFn, Macro, Pat, PatIdent, Stmt, parse_quote};

use crate::args;
use crate::model::argument;
use steadfast_analysis::code::checkpoint::{Checkpoint, Kind};
use steadfast_analysis::code::known::{self, Piece};
use steadfast_analysis::names::Names;

/// Frees the names of workflows that are variables in this function: its own, and those of its module. Before the body is
/// rewritten.
pub(crate) fn free(function: &mut ItemFn, attribute: args::Attribute, names: &Names) {
    let mut taken: BTreeSet<String> = names.workflows().map(str::to_owned).collect();
    if attribute == args::Attribute::Workflow {
        taken.insert(function.sig.ident.unraw().to_string());
    }
    let mut bound = bound(&taken, |search| search.visit_block(&function.block));
    let mut moved: Vec<Stmt> = Vec::new();
    for (index, input) in function.sig.inputs.iter_mut().enumerate() {
        let FnArg::Typed(typed) = input else { continue };
        let in_pattern = self::bound(&taken, |search| search.visit_pat(&typed.pat));
        if !in_pattern.is_empty() {
            bound.extend(in_pattern);
            let is_condition = |attribute: &&Attribute| attribute.path().is_ident("cfg");
            let conditions: Vec<&Attribute> = typed.attrs.iter().filter(is_condition).collect();
            let (pattern, argument) = (&typed.pat, argument(index));
            moved.push(parse_quote!(#(#conditions)* let #pattern = #argument;));
            *typed.pat = Pat::Verbatim(quote!(#argument));
        }
    }
    let freed = bound
        .into_iter()
        .map(|name| -> Stmt { parse_quote!(#[allow(dead_code, non_snake_case)] fn #name() {}) });
    let first: Vec<Stmt> = freed.chain(moved).collect();
    function.block.stmts.splice(0..0, first);
}

/// Those of the names that are bound in what `look` visits, as they are written there.
fn bound(taken: &BTreeSet<String>, look: impl FnOnce(&mut Search<'_>)) -> BTreeSet<Ident> {
    let mut search = Search {
        taken,
        found: BTreeSet::new(),
    };
    look(&mut search);
    search.found
}

struct Search<'n> {
    taken: &'n BTreeSet<String>,
    found: BTreeSet<Ident>,
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_pat_ident(&mut self, name: &'ast PatIdent) {
        if self.taken.contains(&name.ident.unraw().to_string()) {
            self.found.insert(name.ident.clone());
        }
        visit::visit_pat_ident(self, name);
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        let kind = mac.path.segments.last().and_then(|last| Kind::named(&last.ident));
        let found = bound(self.taken, |search| match kind {
            Some(kind) => {
                if let Ok(checkpoint) = Checkpoint::parse(kind, mac.tokens.clone()) {
                    let parts = checkpoint.workflow_parts();
                    parts.into_iter().for_each(|part| search.visit_expr(part));
                    if let Checkpoint::Step { body, .. } = &checkpoint {
                        body.visit(search);
                    }
                }
            }
            None if known::is_known(mac) => {
                for piece in known::pieces(mac) {
                    if let Piece::Expression { expression, .. } = piece {
                        search.visit_expr(&expression);
                    }
                }
            }
            None => {}
        });
        self.found.extend(found);
    }

    fn visit_item(&mut self, _: &'ast Item) {}
}
