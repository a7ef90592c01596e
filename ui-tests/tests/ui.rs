//! Every case in `pass/` compiles without a warning; every case in `fail/` gives exactly the message beside it.
//!
//! `fail-compiler/` holds mistakes that the compiler itself reports, in its own words, which change from release to
//! release: they are checked with the toolchain named in `RUSTC` below and skipped with any other.
//!
//! After a change of wording: `TRYBUILD=overwrite cargo test -p steadfast-ui-tests`, and read the difference as prose.

/// The release whose wording `fail-compiler/` holds.
const RUSTC: &str = "rustc 1.95.0";

#[test]
fn good_workflows_compile_and_mistakes_are_explained() {
    let cases = trybuild::TestCases::new();
    cases.pass("pass/*.rs");
    cases.compile_fail("fail/*.rs");
    if toolchain().starts_with(RUSTC) {
        cases.compile_fail("fail-compiler/*.rs");
    }
}

fn toolchain() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = std::process::Command::new(rustc).arg("--version").output();
    version
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default()
}
