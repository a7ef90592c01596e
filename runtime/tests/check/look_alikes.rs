//! What must not be reported: code that replay does not run, and names that mean something else.

use super::{Crate, ways};

const NOW: &str = "fn now_ms() -> u64 { std::time::SystemTime::now(); 1 }";

#[test]
fn code_that_replay_does_not_run_is_left_alone() {
    for body in [
        r#"step!("read", { Ok(now_ms()) }).await?;"#,
        r#"step!("read", later()).await?;"#,
        r#"step!("read", |attempt| async move { Ok(now_ms()) }).await?;"#,
        r#"let future = later(); step!("read", future).await?;"#,
        r#"let future = made(); step!("read", future).await?;"#,
    ] {
        let items = format!(
            "{NOW} async fn later() -> Result<u64, BoxError> {{ Ok(now_ms()) }}
            fn made() -> impl Future {{ async {{ now_ms(); std::time::SystemTime::now() }} }}
            fn not_called() {{ now_ms(); }}"
        );
        assert_eq!(ways(body, &items), [""; 0], "{body}");
    }
}

#[test]
fn a_function_of_the_same_name_elsewhere_is_another_one() {
    let items = format!(
        "mod real {{ pub {NOW} }} mod other {{ pub fn now_ms() {{}} }} mod empty {{}} use other::now_ms;
        struct Stamp; impl Stamp {{ fn now_ms() {{}} }}"
    );
    for body in [
        "now_ms();",
        "other::now_ms();",
        "empty::now_ms();",
        "Stamp::now_ms();",
        "foreign::now_ms();",
        "let now_ms = || 1; now_ms();",
        "list.map(|now_ms| now_ms());",
        "for now_ms in list { now_ms(); }",
        "if let Some(now_ms) = f { now_ms(); }",
        "match f { Some(now_ms) => now_ms(), None => {} }",
        "fn now_ms() {} now_ms();",
        r#"let text = "real::now_ms()"; // real::now_ms()"#,
        "mine!(other::now_ms(), x.now_ms(), now_ms);",
    ] {
        assert_eq!(ways(body, &items), [""; 0], "{body}");
    }
}

#[test]
fn a_method_is_not_guessed_where_several_could_be_meant() {
    let items = format!(
        "{NOW} struct A; struct B;
        impl A {{ fn total(&self) {{ now_ms(); }} fn send(&self) {{ now_ms(); }} fn wide(&self, x: u8) {{ now_ms(); }} fn only(&self) {{ now_ms(); }} }}
        impl B {{ fn total(&self) {{}} }}
        trait Price {{ fn price(&self); }}
        impl Price for A {{ fn price(&self) {{ now_ms(); }} }}
        impl Price for B {{ fn price(&self) {{}} }}
        fn dynamic(value: &dyn Price) {{ value.price() }}
        fn known(list: Vec<u8>) {{ list.only() }}"
    );
    for body in [
        "unknown.total();",
        "B.total();",
        "channel.send();",
        "unknown.wide();",
        "dynamic(value);",
        "known(list);",
        "let text = String::new(); text.only();",
        "let list = vec![1]; list.only();",
    ] {
        assert_eq!(ways(body, &items), [""; 0], "{body}");
    }
}

#[test]
fn code_for_tests_is_not_part_of_the_crate() {
    let items = format!(
        "#[cfg(test)] mod tests {{ use super::*; #[workflow] async fn work() {{ super::now_ms(); }} }}
        #[cfg(all(test, unix))] mod missing;
        #[cfg(not(test))] mod real {{ pub fn quiet() {{}} }}
        #[cfg(test)] fn helper() {{ now_ms(); }}
        #[cfg(any(test, feature = \"kit\"))] mod kit {{ pub fn quiet() {{}} }}
        {NOW}"
    );
    assert_eq!(ways("helper(); real::quiet(); kit::quiet();", &items), [""; 0]);
}

#[test]
fn the_rules_look_alikes_hold_across_the_crate() {
    let items =
        "mod rand { pub fn random() -> u8 { 4 } } mod clock { pub struct Instant; impl Instant { pub fn now() {} } }
        mod shared { pub use crate::clock::Instant; }
        use shared::*;
        fn plain() { Instant::now(); rand::random(); rand::made_by_a_macro(); shared::Instant::now(); }";
    assert_eq!(
        ways("plain(); Instant::now(); crate::shared::Instant::now();", items),
        [""; 0]
    );
}

#[test]
fn somebody_elses_workflow_attribute_makes_no_workflow() {
    let text = format!(
        "{NOW} #[other::workflow] async fn a() {{ now_ms(); }} use other::workflow; #[workflow] async fn b() {{ now_ms(); }}"
    );
    let report = Crate::library(&text).check();
    assert_eq!((report.workflows, report.findings.len()), (0, 0), "{report}");
    let text = format!("{NOW} use steadfast::workflow as flow; #[flow] async fn a() {{ now_ms(); }}");
    let report = Crate::library(&text).check();
    assert_eq!((report.workflows, report.findings.len()), (1, 1), "{report}");
}
