//! What cannot be read: it is said where, and everything else is checked all the same.

use super::{Crate, workflow};
use steadfast::check::crate_at;

fn unread(shop: &Crate) -> Vec<String> {
    shop.check().unread.iter().map(ToString::to_string).collect()
}

#[test]
fn a_file_that_does_not_parse_is_named_with_its_line_and_the_others_are_checked() {
    let shop = Crate::of(&[
        ("src/lib.rs", "mod broken; mod good;"),
        ("src/broken.rs", "fn fine() {}\nfn broken( {}\n"),
        ("src/good.rs", "#[workflow] async fn a() { rand::random::<u8>(); }"),
    ]);
    let report = shop.check();
    let [unread] = report.unread.as_slice() else {
        panic!("{report}")
    };
    assert_eq!(
        (unread.file.as_str(), unread.at.map(|(line, _)| line)),
        ("src/broken.rs", Some(2))
    );
    assert_eq!(report.findings.len(), 1);
    assert!(!report.is_clean());
}

#[test]
fn a_module_without_a_file_is_named_where_it_is_declared() {
    let shop = Crate::library("\nmod missing;\n#[cfg(windows)] mod elsewhere;");
    assert_eq!(
        unread(&shop),
        ["not read: src/lib.rs:2:5: the module `missing` has no file"]
    );
}

#[test]
fn a_module_that_is_a_file_around_it_is_refused() {
    let shop = Crate::of(&[
        ("src/lib.rs", "mod a;"),
        ("src/a.rs", "#[path = \"lib.rs\"] mod again;"),
    ]);
    assert_eq!(
        unread(&shop),
        ["not read: src/a.rs:1:24: the module `again` is a file that leads here"]
    );
}

#[test]
fn a_manifest_that_is_missing_or_broken_is_named() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let report = crate_at(folder.path());
    assert!(!report.is_clean());
    assert!(report.to_string().starts_with("not read: Cargo.toml: "), "{report}");
    let shop = Crate::of(&[("Cargo.toml", "[package\nname = 1")]);
    assert_eq!(shop.check().unread.len(), 1);
    let shop = Crate::of(&[(
        "Cargo.toml",
        "[package]\nname = \"shop\"\n[lib]\npath = \"src/gone.rs\"",
    )]);
    assert_eq!(unread(&shop), ["not read: src/gone.rs: no such file"]);
}

#[test]
fn deep_code_is_read_to_its_end() {
    let deep = format!("fn deep() -> u64 {{ {}1{} }}", "(".repeat(300), ")".repeat(300));
    assert!(workflow("deep();", &deep).check().is_clean());
}
