//! The table against what is written from it: the page in the documentation, and the UI tests.

use std::path::PathBuf;

use super::*;

/// Between these two lines the page is made from the table.
const BEGIN: &str = "<!-- The table is made from the rules: STEADFAST_BLESS=1 cargo test -p steadfast-analysis -->\n\n";
const END: &str = "\n<!-- End of the table. -->\n";

fn file(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

#[test]
fn every_rule_is_found_by_its_own_id() {
    for (index, rule) in RULES.iter().enumerate() {
        assert!(
            RULES.iter().skip(index + 1).all(|other| other.id != rule.id),
            "two rules `{}`",
            rule.id
        );
        assert_eq!(by_id(rule.id).id, rule.id);
    }
}

#[test]
fn the_page_holds_the_table() {
    let page = file("runtime/guide/determinism.md");
    let text = std::fs::read_to_string(&page).expect("the page is there");
    let (before, rest) = text.split_once(BEGIN).expect("the page has a place for the table");
    let (table, after) = rest.split_once(END).expect("the table ends");
    let made = made();
    if std::env::var_os("STEADFAST_BLESS").is_some() {
        std::fs::write(&page, format!("{before}{BEGIN}{made}{END}{after}")).expect("the page is written");
        return;
    }
    assert_eq!(table, made, "STEADFAST_BLESS=1 writes the table anew");
}

fn made() -> String {
    let mut made = String::from("| rule | level | refuses | use instead | for example |\n|---|---|---|---|---|\n");
    for Rule {
        id,
        level,
        refuses,
        instead,
        example,
        ..
    } in RULES
    {
        let level = match level {
            Level::Error => "error",
            Level::Warning => "warning",
        };
        let example = example.replace('|', "\\|");
        made += &format!("| `{id}` | {level} | {refuses} | {instead} | `{example}` |\n");
    }
    made
}

#[test]
fn the_macro_s_documentation_names_every_rule() {
    let documentation = include_str!("../../../../src/lib.rs");
    for rule in RULES {
        assert!(documentation.contains(&format!("`{}`", rule.id)), "{}", rule.id);
    }
}

#[test]
fn every_rule_has_a_ui_test() {
    for rule in RULES {
        // The compiler puts words of its own around a warning.
        let folder = match rule.level {
            Level::Error => "fail",
            Level::Warning => "fail-compiler",
        };
        let case = file(&format!("ui-tests/{folder}/{}.rs", rule.id));
        let golden = std::fs::read_to_string(case.with_extension("stderr"));
        let golden = golden.unwrap_or_else(|error| panic!("{}: {error}", case.display()));
        assert!(
            golden.contains(rule.message.reason),
            "`{}` does not show its message",
            rule.id
        );
    }
}

#[test]
fn every_message_ends_without_a_full_stop_and_shows_what_was_found() {
    for rule in RULES {
        let message = &rule.message;
        assert!(message.text.contains("{0}"), "`{}`", rule.id);
        for part in [message.text, message.reason, message.remedy] {
            assert!(!part.ends_with('.'), "{part}");
        }
    }
}
