//! Calls that are followed, one kind each.

use super::{Crate, ways};

const NOW: &str = "fn now_ms() -> u64 { std::time::SystemTime::now(); 1 }";

#[test]
fn a_chain_goes_through_files_and_folders_and_inline_modules() {
    let files = [
        (
            "src/lib.rs",
            "mod orders;\nmod util { pub mod inner; }\n#[path = \"odd/name.rs\"] mod named;",
        ),
        (
            "src/orders/mod.rs",
            "mod price;\nuse steadfast::workflow;\n#[workflow]\nasync fn fulfil() -> Result<(), BoxError> { price::total(); Ok(()) }",
        ),
        ("src/orders/price.rs", "pub mod tax;\npub fn total() { tax::rate() }"),
        (
            "src/orders/price/tax.rs",
            "pub fn rate() {\n  super::super::super::util::inner::stamp() }",
        ),
        ("src/util/inner.rs", "pub fn stamp() { crate::named::now_ms() }"),
        (
            "src/odd/name.rs",
            "mod beside;\npub fn now_ms() {\n  self::beside::clock() }",
        ),
        (
            "src/odd/beside.rs",
            "pub fn clock() {\n\n  std::time::SystemTime::now(); }",
        ),
    ];
    assert_eq!(
        Crate::of(&files).findings(),
        ["clock src/odd/beside.rs:3 fulfil → total → rate → stamp → now_ms → clock"]
    );
}

#[test]
fn imports_are_followed_through_renames_globs_and_re_exports() {
    for (import, call) in [
        ("use crate::util::now_ms;", "now_ms()"),
        ("use crate::util::now_ms as stamp;", "stamp()"),
        ("use util::{self as tools};", "tools::now_ms()"),
        ("use crate::util::*;", "now_ms()"),
        ("use crate::api::*;", "now_ms()"),
        ("use crate::api::stamp;", "stamp()"),
        ("use api::inner as inside;", "inside::now_ms()"),
        ("", "self::util::now_ms()"),
        ("", "crate::api::inner::now_ms()"),
        ("extern crate self as shop;", "shop::util::now_ms()"),
        ("", "{ use crate::util as own; own::now_ms() }"),
        ("", "{ fn inner() { util::now_ms() } inner() }"),
    ] {
        let items = format!(
            "{import}\nmod util {{ pub {NOW} }}\nmod api {{ pub use crate::util::*; pub use super::util::now_ms as stamp; pub mod inner {{ pub use crate::api::now_ms; }} }}"
        );
        let found = ways(&format!("{call};"), &items);
        assert_eq!(found.len(), 1, "{import} {call}: {found:?}");
        assert!(
            found.iter().all(|way| way.ends_with("→ now_ms")),
            "{import} {call}: {found:?}"
        );
    }
}

#[test]
fn what_the_compiler_cannot_see_from_one_file_is_found_in_the_workflow_itself() {
    let items =
        "mod clock { pub use std::time::Instant as Watch; pub type Wall = std::time::SystemTime; } use clock::*;";
    assert_eq!(ways("Watch::now();", items), ["work"]);
    assert_eq!(ways("clock::Watch::now();", items), ["work"]);
    assert_eq!(ways("crate::clock::Wall::now();", items), ["work"]);
}

#[test]
fn methods_are_followed_where_the_type_is_in_sight() {
    let items = format!(
        "{NOW}
        struct Cart {{ till: Till }} struct Till; struct Other;
        impl Cart {{ fn open() -> Self {{ todo!() }} fn load() -> Result<Cart, ()> {{ todo!() }} fn total(&self) {{ self.inner() }} fn inner(&self) {{ now_ms(); }} }}
        impl Till {{ fn total(&self) {{ now_ms(); }} }}
        impl Other {{ fn total(&self) {{}} }}
        fn given(cart: &mut Cart) {{ cart.total() }}
        fn boxed(cart: Box<Cart>) {{ cart.total() }}
        fn bounded<T: Price>(value: &T) {{ value.price() }}
        fn dynamic(value: &dyn Price) {{ value.price() }}
        trait Price {{ fn price(&self) {{ now_ms(); }} }}
        impl Price for Cart {{}}"
    );
    let cart = "work → Cart::total → Cart::inner → now_ms";
    let price = "work → Price::price → now_ms";
    for (call, way) in [
        ("let cart = Cart::open(); cart.total();", cart),
        ("let cart: Cart = make(); cart.total();", cart),
        ("let cart = Cart { till: Till }; cart.total();", cart),
        ("Cart::open().total();", cart),
        ("let cart = Cart::load()?; cart.total();", cart),
        ("if let Ok(cart) = Cart::load() { cart.total(); }", cart),
        (
            "let Ok(cart) = Cart::load() else { return Ok(()) }; cart.total();",
            cart,
        ),
        ("carts.iter().for_each(Cart::total);", cart),
        ("<Cart>::total(&cart);", cart),
        (
            "let cart = Cart::open(); cart.till.total();",
            "work → Till::total → now_ms",
        ),
        ("Till.total();", "work → Till::total → now_ms"),
        ("let cart = Cart::open(); cart.price();", price),
        ("Cart::price(&cart);", price),
        ("<Cart as Price>::price(&cart);", price),
        ("Price::price(&cart);", price),
        ("given(c);", "work → given → Cart::total → Cart::inner → now_ms"),
        ("boxed(c);", "work → boxed → Cart::total → Cart::inner → now_ms"),
        ("bounded(c);", "work → bounded → Price::price → now_ms"),
        ("dynamic(c);", "work → dynamic → Price::price → now_ms"),
        // Of unknown type, but there is only one such method.
        ("unknown().inner();", "work → Cart::inner → now_ms"),
    ] {
        assert_eq!(ways(call, &items), [way], "{call}");
    }
}

#[test]
fn functions_are_followed_as_values_in_closures_and_in_macros() {
    for call in [
        "list.into_iter().map(now_ms);",
        "let f = now_ms; f();",
        "let f = || now_ms(); f();",
        "list.map(|item| { if item { now_ms() } else { 0 } });",
        r#"format!("{}", now_ms());"#,
        "assert!(now_ms() > 1);",
        "vec![now_ms(); 2];",
        r#"tracing::info!(at = now_ms(), "begun");"#,
        "mine! { something: [now_ms(), 1] }",
        "mine!(self::now_ms());",
        r#"sleep!("until", now_ms()).await;"#,
        r#"step!("charge", pay()).key(now_ms()).await?;"#,
        "join!(async { now_ms(); }, other).await;",
        "match now_ms() { 1 => {} _ => {} }",
        "let total = if now_ms() > 1 { 1 } else { 2 };",
        "let now_ms = now_ms();",
    ] {
        assert_eq!(ways(call, NOW), ["work → now_ms"], "{call}");
    }
}

#[test]
fn durable_and_deterministic_functions_are_on_the_way_and_begin_one_if_no_workflow_calls_them() {
    let items = format!(
        "{NOW} #[durable] async fn pack() {{ weigh() }} #[steadfast::deterministic] fn weigh() {{ now_ms(); }} #[durable] async fn alone() {{ lonely() }} fn lonely() {{ rand::random::<u8>(); }}"
    );
    assert_eq!(
        ways("pack().await;", &items),
        ["work → pack → weigh → now_ms", "alone → lonely"]
    );
}

#[test]
fn a_place_is_told_once_by_the_shortest_way_and_says_how_many_other_workflows_come_there() {
    let text = format!(
        "{NOW} fn far() {{ near() }} fn near() {{ now_ms(); }}
        #[workflow] async fn a() {{ far() }}
        #[workflow] async fn b() {{ near() }}
        #[workflow] async fn c() {{ far(); near() }}
        #[workflow] async fn d() {{}}"
    );
    let shop = Crate::library(&text);
    assert_eq!(shop.findings(), ["clock src/lib.rs:1 b → near → now_ms"]);
    let text = shop.check().to_string();
    assert!(
        text.contains(
            "way: workflow b (src/lib.rs:3) → near (src/lib.rs:1) → now_ms (src/lib.rs:1), and from 2 other workflows"
        ),
        "{text}"
    );
}

#[test]
fn circles_of_calls_and_of_modules_end() {
    let found = ways(
        "even(1);",
        &format!("{NOW} fn even(n: u8) {{ odd(n) }} fn odd(n: u8) {{ even(n); now_ms(); }}"),
    );
    assert_eq!(found, ["work → even → odd → now_ms"]);
    let items =
        "mod a { pub use super::b::*; pub use self::c as d; pub use self::d as c; } mod b { pub use super::a::*; }";
    assert_eq!(ways("a::missing(); b::missing(); a::c();", items), [""; 0]);
}

#[test]
fn every_target_of_a_package_is_read_and_programs_see_the_library() {
    let manifest = "[package]\nname = \"my-shop\"\n[lib]\npath = \"src/shop.rs\"\n[[bin]]\nname = \"odd\"\npath = \"programs/odd.rs\"\n[dependencies]\nsf = { package = \"steadfast\", version = \"1\" }";
    let run = "#[sf::workflow] async fn run() { my_shop::total() }";
    let files = [
        ("Cargo.toml", manifest),
        ("src/shop.rs", "pub fn total() { fastrand::u8(..); }"),
        ("src/main.rs", run),
        ("src/bin/first.rs", run),
        ("src/bin/second/main.rs", "mod part;"),
        ("src/bin/second/part.rs", run),
        ("examples/third.rs", run),
        ("programs/odd.rs", run),
    ];
    let shop = Crate::of(&files);
    assert_eq!(shop.findings(), ["randomness src/shop.rs:1 run → total"]);
    assert_eq!(
        shop.check().findings.first().map(|finding| finding.other_workflows),
        Some(4)
    );
}

#[test]
fn all_members_of_a_workspace_are_checked_and_follow_into_each_other() {
    let member = |name: &str| format!("[package]\nname = \"{name}\"");
    let files = [
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"crates/*\", \"tool\"]\nexclude = [\"crates/old\"]",
        ),
        ("crates/first/Cargo.toml", &member("first")),
        ("crates/first/src/lib.rs", "pub fn roll() { fastrand::u8(..); }"),
        ("crates/old/Cargo.toml", &member("old")),
        ("crates/old/src/lib.rs", "not Rust"),
        ("tool/Cargo.toml", &member("tool")),
        ("tool/src/main.rs", "#[workflow] async fn run() { first::roll() }"),
    ];
    assert_eq!(
        Crate::of(&files).findings(),
        ["randomness crates/first/src/lib.rs:1 run → roll"]
    );
}
