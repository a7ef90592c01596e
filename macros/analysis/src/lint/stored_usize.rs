//! `stored_usize`: a stored type whose width is the machine's. A warning, because it breaks only where a store moves to
//! machines with smaller pointers and holds a number that is too large for them.

use syn::visit::{self, Visit};
use syn::{Expr, FnArg, Ident, Pat, ReturnType, Signature, Stmt, Type, TypePath};

use crate::bare;
use crate::code::checkpoint::Kind;
use crate::lint::flow::Scene;
use crate::lint::started::checkpoint;
use crate::lint::table::{Level, Rule};
use crate::message::Message;
use crate::names::Names;

pub(crate) const RULE: Rule = Rule {
    id: "stored_usize",
    level: Level::Warning,
    refuses: "`usize` and `isize` in a workflow's input and output, and as what a step or a signal gives",
    instead: "`u64`, `u32`, `i64`, `i32`",
    example: r#"let pages: usize = step!("count", count(document)).await?;"#,
    paths: &[],
    macros: &[],
    message: Message {
        text: "`{0}` is stored here",
        reason: "its size depends on the machine: a large value that one wrote cannot be read on another with smaller pointers",
        remedy: "store `u64` or `u32` (`i64`, `i32`), and convert where an index is needed",
    },
};

/// `let pages: usize = step!(…).await?;`
pub(crate) fn statement(statement: &Stmt, scene: &mut Scene<'_>) {
    if let Stmt::Local(local) = statement
        && let Pat::Type(typed) = &local.pat
        && let Some(init) = &local.init
        && is_stored(&init.expr, scene.names)
    {
        for found in of_the_machine(&typed.ty) {
            scene.report(&RULE, &found, &found.to_string());
        }
    }
}

/// What a workflow's signature stores. State is not stored.
pub(crate) fn in_signature(signature: &Signature) -> Vec<Ident> {
    let inputs = signature.inputs.iter().filter_map(|parameter| match parameter {
        FnArg::Typed(typed) if !matches!(bare(&typed.ty), Type::Reference(_)) => Some(&*typed.ty),
        FnArg::Typed(_) | FnArg::Receiver(_) => None,
    });
    let output = match &signature.output {
        ReturnType::Type(_, output) => Some(&**output),
        ReturnType::Default => None,
    };
    inputs.chain(output).flat_map(of_the_machine).collect()
}

/// What a step or a signal gives, as it is or out of its `Result`.
fn is_stored(value: &Expr, names: &Names) -> bool {
    match value {
        Expr::Await(wait) => {
            checkpoint(&wait.base, names).is_some_and(|(kind, _)| matches!(kind, Kind::Step | Kind::Signal))
        }
        Expr::Try(attempt) => is_stored(&attempt.expr, names),
        Expr::Paren(paren) => is_stored(&paren.expr, names),
        Expr::MethodCall(call) => {
            let keeps_the_type = [
                "map_err",
                "unwrap",
                "expect",
                "unwrap_or",
                "unwrap_or_default",
                "unwrap_or_else",
            ];
            keeps_the_type.iter().any(|method| call.method == method) && is_stored(&call.receiver, names)
        }
        _ => false,
    }
}

fn of_the_machine(kind: &Type) -> Vec<Ident> {
    #[derive(Default)]
    struct Search(Vec<Ident>);
    impl<'ast> Visit<'ast> for Search {
        fn visit_type_path(&mut self, path: &'ast TypePath) {
            let name = path.path.get_ident();
            self.0
                .extend(name.filter(|name| *name == "usize" || *name == "isize").cloned());
            visit::visit_type_path(self, path);
        }
        fn visit_type_bare_fn(&mut self, _: &'ast syn::TypeBareFn) {}
    }
    let mut search = Search::default();
    search.visit_type(kind);
    search.0
}
