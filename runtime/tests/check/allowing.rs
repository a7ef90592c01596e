//! `#[allow_nondeterminism]` on plain functions.

use super::{Crate, workflow};

const ALLOW: &str = r#"#[allow_nondeterminism(clock, reason = "only shown")]"#;

#[test]
fn an_allowance_holds_for_its_rule_in_its_function_alone() {
    let items = format!(
        "{ALLOW} fn shown() {{ std::time::Instant::now(); below(); rand::random::<u8>(); }} fn below() {{ std::time::Instant::now(); }}"
    );
    let report = workflow("shown();", &items).check();
    let found: Vec<(&str, &str)> = report
        .findings
        .iter()
        .map(|finding| {
            (
                finding.rule.as_str(),
                finding.chain.last().expect("a way ends").name.as_str(),
            )
        })
        .collect();
    assert_eq!(found, [("randomness", "shown"), ("clock", "below")]);
}

#[test]
fn an_allowance_on_a_method_and_with_a_path_is_the_same() {
    let items = r#"struct Cart; impl Cart { #[steadfast::allow_nondeterminism(clock, reason = "only shown")] fn shown(&self) { std::time::Instant::now(); } }"#;
    assert!(workflow("Cart.shown();", items).check().findings.is_empty());
}

#[test]
fn an_allowance_that_nothing_needs_is_reported() {
    let shop = workflow("shown();", &format!("{ALLOW}\nfn shown() {{}}"));
    let report = shop.check();
    assert_eq!(shop.findings(), ["clock src/lib.rs:5 work → shown"]);
    assert!(
        report
            .to_string()
            .contains("error[clock]: nothing here breaks the rule `clock`"),
        "{report}"
    );
}

#[test]
fn an_allowance_on_a_statement_of_workflow_code_holds() {
    let text = format!("#[workflow] async fn a() {{ {ALLOW} let t = std::time::Instant::now(); }}");
    assert_eq!(Crate::library(&text).findings(), [""; 0]);
}

/// It compiles, on free functions and methods.
mod compiled {
    use std::time::Instant;
    use steadfast::prelude::*;

    #[allow_nondeterminism(clock, reason = "shows that it compiles")]
    fn free() -> Instant {
        Instant::now()
    }

    struct Watch;

    impl Watch {
        #[steadfast::allow_nondeterminism(clock, reason = "shows that it compiles")]
        fn read(&self) -> Instant {
            Instant::now()
        }
    }

    #[test]
    fn an_allowed_function_is_the_same_function() {
        assert!(free() <= Watch.read());
    }
}
