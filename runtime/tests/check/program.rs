//! The program `steadfast` and the one-line test.

use super::{Crate, workflow};
use std::process::{Command, Output};

fn steadfast(arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_steadfast"))
        .args(arguments)
        .output()
        .expect("the program runs");
    let text = [stdout, stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .concat();
    (status.code(), text)
}

fn check(shop: &Crate, arguments: &[&str]) -> (Option<i32>, String) {
    let folder = shop.path().to_str().expect("the folder's name is text");
    steadfast(&[&["check", folder], arguments].concat())
}

#[test]
fn the_exit_code_tells_clean_found_and_not_read() {
    let clean = workflow("", "");
    assert_eq!(check(&clean, &[]).0, Some(0));
    let found = workflow("roll();", "fn roll() { rand::random::<u8>(); }");
    assert_eq!(check(&found, &[]).0, Some(1));
    let both = workflow("roll();", "mod missing; fn roll() { rand::random::<u8>(); }");
    let (code, text) = check(&both, &[]);
    assert_eq!(code, Some(2));
    assert!(
        text.contains("the module `missing` has no file") && text.contains("error[randomness]"),
        "{text}"
    );
}

#[test]
fn what_is_found_reads_well() {
    let shop = workflow("roll();", "\nfn roll() { rand::random::<u8>(); }");
    let expected = "\
error[randomness]: workflow code cannot draw its own randomness: `rand::random::<u8>`
  at:  src/lib.rs:6:13
  way: workflow work (src/lib.rs:2) → roll (src/lib.rs:6)
  why: replay would draw another value, and could take another path
  fix: use `random!()` or `random!(low..high)`, which draw the same on replay; or draw in a step

1 found, 0 warned of, 0 not read; 2 functions looked into from 1 workflow, in 1 file of 6 lines
";
    assert_eq!(check(&shop, &[]).1, expected);
}

#[test]
fn json_is_one_object_with_everything() {
    let shop = workflow("roll();", "fn roll() { fastrand::u8(..); }");
    let (code, text) = check(&shop, &["--json"]);
    assert_eq!(code, Some(1));
    assert!(
        text.starts_with(r#"{"findings":[{"rule":"randomness","is_warning":false,"message":"workflow code"#),
        "{text}"
    );
    let rest = r#""place":{"file":"src/lib.rs","line":5,"column":13},"chain":[{"kind":"workflow","name":"work","place":{"file":"src/lib.rs","line":2,"column":0}},{"kind":"fn","name":"roll","place":{"file":"src/lib.rs","line":5,"column":0}}],"other_workflows":0}],"unread":[],"workflows":1,"functions":2,"files":1,"lines":5}"#;
    assert!(text.trim_end().ends_with(rest), "{text}");
}

#[test]
fn a_command_line_that_makes_no_sense_says_how_it_is_written() {
    for arguments in [&[][..], &["chek"], &["check", "--jsn"], &["check", "a", "b"]] {
        let (code, text) = steadfast(arguments);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("usage: steadfast check [FOLDER] [--json]"), "{text}");
    }
    assert_eq!(steadfast(&["--help"]).0, Some(0));
}

#[test]
fn this_package_is_deterministic() {
    steadfast::check::assert_deterministic!();
}

#[test]
fn the_test_fails_with_all_that_was_found() {
    let shop = workflow(
        "roll(); stamp();",
        "fn roll() { fastrand::u8(..); } fn stamp() { std::time::Instant::now(); }",
    );
    let folder = shop.path().to_owned();
    let failed = std::panic::catch_unwind(|| steadfast::check::assert_deterministic!(&folder)).expect_err("it fails");
    let text = failed.downcast_ref::<String>().expect("a test fails with text");
    assert!(
        text.contains("error[randomness]") && text.contains("error[clock]"),
        "{text}"
    );
}
