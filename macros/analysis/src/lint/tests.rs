//! What fires, and what must not.

use super::*;

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
    assert_eq!(body(r#"println!("{:?}", Utc::now());"#), clock("Utc::now"));
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

/// The table's own examples: each breaks its rule, and no other.
#[test]
fn every_rule_is_broken_by_its_example_alone() {
    for rule in table::RULES {
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
