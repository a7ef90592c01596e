//! What fires, and what must not.

use super::*;
use crate::lint::table::RULES;

fn rules(function: &str) -> Vec<String> {
    let function: ItemFn = syn::parse_str(function).expect("a function");
    let mut diagnostics = Diagnostics::default();
    Lints::new(&Names::of(&function, None)).check(&function, &mut diagnostics);
    diagnostics
        .into_messages()
        .iter()
        .map(|text| text.lines().next().unwrap_or_default().to_owned())
        .collect()
}

fn body(body: &str) -> Vec<String> {
    rules(&format!("async fn workflow() {{ {body} }}"))
}

#[test]
fn a_clock_is_found_however_it_is_written() {
    let clock = |path: &str| vec![format!("workflow code cannot read the clock: `{path}`")];
    assert_eq!(
        body("let t = std::time::SystemTime::now();"),
        clock("std::time::SystemTime::now")
    );
    assert_eq!(body("let t = Instant::now();"), clock("Instant::now"));
    assert_eq!(
        body("use std::time::Instant as Clock; let t = Clock::now();"),
        clock("Clock::now")
    );
    assert_eq!(body("let t = x.map(Instant::now);"), clock("Instant::now"));
    assert_eq!(body(r#"format!("{:?}", Utc::now());"#), clock("Utc::now"));
    assert_eq!(
        body("let all = vec![::std::time::Instant::now(); 2];"),
        clock("::std::time::Instant::now")
    );
    assert_eq!(
        body("let f = |x| async move { chrono::Local::now() };"),
        clock("chrono::Local::now")
    );
    assert_eq!(
        rules("async fn w(since: &Instant) { since.elapsed(); }"),
        clock(".elapsed()")
    );
}

#[test]
fn chance_and_ids_are_found_by_their_crate_or_their_type() {
    let chance = |path: &str| vec![format!("workflow code cannot draw its own randomness: `{path}`")];
    assert_eq!(body("let x: u8 = rand::random();"), chance("rand::random"));
    assert_eq!(body("use rand::{rng, Rng as _}; rng().random::<u8>();"), chance("rng"));
    assert_eq!(body("thread_rng().next_u32();"), chance("thread_rng"));
    assert_eq!(body("fastrand::u32(..);"), chance("fastrand::u32"));
    assert_eq!(body("getrandom::fill(&mut bytes)?;"), chance("getrandom::fill"));
    assert_eq!(
        body("HashMap::with_hasher(RandomState::new());"),
        chance("RandomState::new")
    );
    assert!(body("rand::rngs::StdRng::seed_from_u64(seed); fastrand::Rng::with_seed(1);").is_empty());
    let id = |path: &str| vec![format!("workflow code cannot make its own ids: `{path}`")];
    assert_eq!(body("let x = Uuid::new_v4();"), id("Uuid::new_v4"));
    assert_eq!(body("let x = uuid::Uuid::now_v7();"), id("uuid::Uuid::now_v7"));
    assert_eq!(body("let x = nanoid::nanoid!();"), id("nanoid::nanoid!"));
    assert!(body("Uuid::from_u128(1); Uuid::new_v5(&space, name);").is_empty());
}

#[test]
fn look_alikes_are_left_alone() {
    for source in [
        "use crate::Instant; Instant::now();",
        "fn now() {} now();",
        "fn random() -> u32 { 4 } random();",
        "let random = || 4; random();",
        "dice.random(); dice.now(); pool.spawn(); watch.elapsed();",
        r#"let text = "SystemTime::now() rand::random()";"#,
        "let t = crate::rand::random(); let u = self::tokio::spawn();",
        "mod rand { pub fn random() {} } rand::random();",
        "struct Instant; impl Instant { fn now() {} } Instant::now();",
        "let env = 1; let thread_rng = 2; thread_rng + env;",
        "let spawn = 1; let sleep = spawn;",
        r#"step!("read", { Ok(SystemTime::now()) }).await;"#,
        r#"step!("read", async { tokio::join!(a, b) }).await;"#,
        "fn helper() { std::time::Instant::now(); }",
    ] {
        assert_eq!(body(source), Vec::<String>::new(), "{source}");
    }
}

#[test]
fn an_allowance_silences_its_rule_for_a_reason() {
    assert!(body(r#"#[allow_nondeterminism(clock, reason = "only shown")] let t = Instant::now();"#).is_empty());
    assert_eq!(
        body("#[allow_nondeterminism(clock)] let t = Instant::now();"),
        ["an allowance needs a reason"]
    );
    assert_eq!(
        body(r#"#[allow_nondeterminism(randomness, reason = "x")] let t = Instant::now();"#),
        [
            "workflow code cannot read the clock: `Instant::now`",
            "nothing here breaks the rule `randomness`"
        ]
    );
    assert_eq!(
        body(r#"#[allow_nondeterminism(clocks, reason = "x")] f();"#),
        ["there is no rule `clocks`"]
    );
    assert_eq!(
        body(r#"#[allow_nondeterminism(timer, reason = "x")] tokio::time::sleep(d).await;"#),
        Vec::<String>::new()
    );
}

#[test]
fn foreign_macros_are_told_from_ours() {
    assert_eq!(
        body("tokio::join!(a, b);"),
        ["`tokio::join!` does not know durable futures"]
    );
    assert_eq!(
        body("use tokio::select; select! { x = a => {} }"),
        ["`select!` does not know durable futures"]
    );
    assert!(body("steadfast::join!(a, b).await;").is_empty());
    assert_eq!(body("mine!(x.await);"), ["workflow code cannot wait inside `mine!`"]);
    assert_eq!(
        body(r#"mine!(step!("x", y));"#),
        ["workflow code cannot wait inside `mine!`"]
    );
}

#[test]
fn other_peoples_macros_are_searched_for_calls() {
    let clock = ["workflow code cannot read the clock: `Instant::now`"];
    assert_eq!(body("mine!(x => Instant::now());"), clock);
    assert_eq!(body("mine! { a: [Instant::now()] }"), clock);
    assert_eq!(
        body(r#"mine!(println!("x"));"#),
        ["`println!` in workflow code prints again on every replay"]
    );
    assert!(body(r#"mine!("Instant::now()"); stringify!(Instant::now()); mine!(x.now());"#).is_empty());
    assert!(body("macro_rules! println { () => {} } println!();").is_empty());
}

#[test]
fn qualified_forms_and_globs_are_followed() {
    let clock = |path: &str| vec![format!("workflow code cannot read the clock: `{path}`")];
    assert_eq!(body("<Instant>::now();"), clock("<Instant>::now"));
    assert_eq!(
        body("<std::time::SystemTime as Clock>::now();"),
        clock("<std::time::SystemTime as Clock>::now")
    );
    assert_eq!(body("use std::time::*; let t = Instant::now();"), clock("Instant::now"));
    assert_eq!(
        body("use std::{time::{self as t}}; t::Instant::now();"),
        clock("t::Instant::now")
    );
    assert_eq!(
        body("use core::time as c; std::time::UNIX_EPOCH.elapsed();"),
        clock(".elapsed()")
    );
    assert_eq!(
        body("use rand::rng; let mut rng = rng(); rng.next_u32();"),
        ["workflow code cannot draw its own randomness: `rng`"]
    );
}

#[test]
fn methods_count_where_the_type_is_written_down() {
    let lock = |found: &str| vec![format!("workflow code cannot use channels or locks: `{found}`")];
    assert_eq!(
        body("use std::sync::*; let m = Mutex::<u8>::new(0);"),
        lock("Mutex::<u8>::new")
    );
    assert_eq!(
        body("let m = std::sync::nonpoison::Mutex::new(0); m.lock();"),
        lock("std::sync::nonpoison::Mutex::new")
    );
    assert_eq!(
        rules("async fn w(state: &tokio::sync::Mutex<u8>) { *state.lock().await += 1; }"),
        lock(".lock()")
    );
    assert_eq!(
        body("use futures::StreamExt as _; pages.buffer_unordered(3).next();"),
        ["`.buffer_unordered()` does not know durable futures"]
    );
    assert_eq!(
        body("use futures::prelude::*; pages.buffer_unordered(3);"),
        ["`.buffer_unordered()` does not know durable futures"]
    );
    assert!(body("use std::time::Instant; flags.elapsed(); flags.now();").is_empty());
    assert_eq!(
        body("use std::path::Path; if Path::new(name).exists() {}"),
        ["workflow code cannot reach outside: `.exists()`"]
    );
    assert!(body("pages.buffer_unordered(3); path.exists(); state.lock();").is_empty());
    assert!(body("let a: std::path::Path = x; let a = mine(); a.exists();").is_empty());
    assert!(body("if b { let a: std::path::Path = x; } a.exists(); let c = Path::new(d);").is_empty());
    assert!(body("use std::path::Path; let a: crate::Path = x; a.exists(); f(|a: Path| 1); a.exists();").is_empty());
    assert!(body("use tokio::spawn; match x { spawn => spawn(1) }; if let Some(spawn) = x && spawn(1) {}").is_empty());
    assert_eq!(
        rules("async fn w(count: &std::sync::Mutex<u8>) { if let Ok(count) = count.lock() { count.lock(); } }"),
        lock(".lock()")
    );
    assert_eq!(
        rules("async fn w(count: Arc<std::sync::Mutex<u8>>) { count.lock(); }"),
        lock(".lock()")
    );
}

#[test]
fn forms_without_a_path_are_found() {
    let forbidden = |found: &str| vec![format!("workflow code cannot use `{found}`")];
    let address = |found: &str| {
        vec![format!(
            "workflow code cannot use addresses or unspecified hashes: `{found}`"
        )]
    };
    assert_eq!(body("unsafe { f() }"), forbidden("unsafe"));
    assert_eq!(body("let p = &x as *const u8 as usize;"), address("as *const"));
    assert_eq!(body("let p = list.as_ptr() as u64;"), address("as u64"));
    assert_eq!(body("let p = &raw const x;"), address("&raw"));
    assert_eq!(body(r#"let text = format!("{x:p}");"#), address("{:p}"));
    let global = |found: &str| {
        vec![format!(
            "workflow code cannot use what lives outside of the instance and changes: `{found}`"
        )]
    };
    assert_eq!(body("static mut COUNT: u8 = 0;"), global("static COUNT"));
    assert_eq!(
        body("static COUNT: AtomicU8 = AtomicU8::new(0); COUNT;"),
        global("static COUNT")
    );
    assert_eq!(body("thread_local! { static A: u8 = 1; }"), global("thread_local!"));
    assert!(body("static NAMES: &[&str] = &[]; x as u8; size as usize; let a = b as fn(u8);").is_empty());
}

#[test]
fn an_allowance_may_stand_on_any_statement_and_nowhere_else() {
    let allow = r#"#[allow_nondeterminism(clock, reason = "x")]"#;
    for statement in [
        "let t = Instant::now();",
        "Instant::now();",
        "{ Instant::now(); }",
        "loop { Instant::now(); }",
        "while a { Instant::now(); }",
        "for _ in 0..1 { Instant::now(); }",
        "if a { Instant::now(); }",
        "match a { _ => Instant::now() };",
        "return Instant::now();",
        "t = Instant::now();",
        "a.b(Instant::now()).c();",
        "vec![Instant::now()];",
        "mine!(Instant::now());",
        "&Instant::now();",
        "(Instant::now());",
        "|| Instant::now();",
        "Instant::now()",
    ] {
        assert!(body(&format!("{allow} {statement}")).is_empty(), "{statement}");
    }
    assert!(body(&format!("list.map(|x| {{ {allow} Instant::now() }});")).is_empty());
    let both = r#"#[allow_nondeterminism(address_or_hash, reason = "y")]"#;
    assert!(body(&format!("{allow} {both} let p = &Instant::now() as *const _;")).is_empty());
    assert_eq!(
        body(&format!("match a {{ {allow} _ => 1 }};")),
        ["`#[allow_nondeterminism]` belongs on a statement in workflow code"]
    );
    assert_eq!(
        body(&format!("f({allow} 1);")),
        ["`#[allow_nondeterminism]` belongs on a statement in workflow code"]
    );
}

/// The table's own examples: each breaks its rule, and no other.
#[test]
fn every_rule_is_broken_by_its_example_alone() {
    for rule in RULES {
        let function = format!("async fn workflow() {{ {} }}", rule.example);
        let function: ItemFn = syn::parse_str(&function).expect("a function");
        let mut diagnostics = Diagnostics::default();
        Lints::new(&Names::of(&function, None)).check(&function, &mut diagnostics);
        let messages = diagnostics.into_messages();
        let expected = rule.message.reason;
        assert!(
            !messages.is_empty() && messages.iter().all(|message| message.contains(expected)),
            "`{}`: {messages:?}",
            rule.id
        );
    }
}
