//! What is found in code of every form, as its shape says it, and that pictures are sound. The pictures themselves are golden
//! files of the UI tests.

use quote::quote;

use super::*;

fn described(body: &str) -> Description {
    let function: ItemFn = syn::parse_str(&format!("async fn f() -> Done {{ {body} }}")).expect("a function");
    describe(&function, Attribute::Workflow, &Args::default(), &Names::default())
}

/// The lines of the shape below the output, without the quotes around names.
fn shape(body: &str) -> String {
    let text = described(body).shape;
    let lines = text.lines().skip(3).map(|line| line.strip_prefix("  ").unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n").replace('"', "")
}

fn same(one: &str, other: &str) {
    assert_eq!(shape(one), shape(other), "\n{one}\n{other}");
}

#[test]
fn a_checkpoint_is_found_wherever_it_stands() {
    let found = "step a";
    for body in [
        r#"step!("a", w()).await?;"#,
        r#"let x = f(1, g(step!("a", w()).retry(r).await?));"#,
        r#"Some(S { a: [step!("a", w()).await?; 1] })"#,
        r#"println!("{}", step!("a", w()).await?);"#,
        r#"let x = (steadfast::step!("a", { w().await })).timeout(secs(1)).await.map_err(E::from)?;"#,
        r#"unsafe { { step!("a", |attempt| w(attempt)).await } }"#,
        r#"let later = step!("a", w()); later.await?;"#,
        r#"let later = step!("a", w()); later.retry(r).await?;"#,
        r#"let unused = step!("a", w());"#,
        r#"x = step!("a", w()).await? + 1;"#,
    ] {
        assert_eq!(shape(body), found, "{body}");
    }
}

#[test]
fn code_without_checkpoints_leaves_nothing() {
    for body in [
        "",
        "let x = 1; f(x).g()?; Ok(x)",
        "for x in y { if x { continue; } while z { break; } }",
        "if a { b() } else if c { d() } else { e() }",
        "match a { 1 => b(), _ => unreachable!() }",
        "async fn inner() { other().await }",
        "let f = |x| x + 1; f(1)",
        "Ok(now!())",
        "if a { return Ok(1); } else { return Ok(2); }",
    ] {
        assert_eq!(shape(body), "", "{body}");
    }
}

#[test]
fn what_does_not_matter_to_instances_in_flight_is_not_in_the_shape() {
    same(
        r#"step!("a", f()).await?;"#,
        r#"let x = step!("a", { g() }).retry(r).timeout(t).at_most_once().await;"#,
    );
    same(r#"sleep!("a", days(1)).await;"#, r#"sleep!("a", hours(2)).await"#);
    same(
        r#"if a { step!("x", f()).await?; } step!("y", f()).await"#,
        r#"if let Some(b) = c() { step!("x", f()).await?; }; return step!("y", f()).await;"#,
    );
    same(
        r#"match a { 1 => {} 2 => { step!("x", f()).await?; } _ => {} }"#,
        r#"if b { step!("x", f()).await?; }"#,
    );
    same(
        r#"for x in y { step!("x", f()).await?; }"#,
        r#"while z { step!("x", f()).await?; }"#,
    );
    same(
        "let a: u8 = random!(); let b = uuid!();",
        "let b = uuid!(); let a: u8 = random!(1..=6);",
    );
    same(
        r#"let Some(x) = y else { return Ok(1) }; step!("x", f()).await"#,
        r#"if y.is_none() { return Ok(2); } step!("x", f()).await"#,
    );
}

#[test]
fn scopes_are_in_the_shape() {
    assert_eq!(shape(r#"async { step!("a", f()).await }.await"#), "block\n  step a");
    assert_eq!(
        shape(r#"join!(step!("a", f()), help(x)).await;"#),
        "join\n  branch\n    step a\n  branch\n    call help"
    );
    assert_eq!(
        shape(r#"let b = async { step!("b", f()).await }; step!("a", f()).await?; race!(b, signal!("s")).await;"#),
        "step a\nrace\n  branch\n    block 0\n      step b\n  branch\n    signal s"
    );
    assert_eq!(
        shape(r#"map_concurrent(xs, 2, |x| async move { step!("a", f(x)).key(x).await }).await?;"#),
        "map_concurrent\n  branch\n    block\n      step a keyed"
    );
    assert_eq!(
        shape(r#"let work = |x| async move { step!("a", f(x)).await }; map_concurrent_all(xs, 2, work).await;"#),
        "map_concurrent_all\n  branch\n    block 0\n      step a"
    );
    assert_eq!(
        shape("map_concurrent(xs, 2, pack).await?;"),
        "map_concurrent\n  branch\n    call pack"
    );
    assert_eq!(
        shape(r#"join_all(xs.iter().filter(|x| f(x)).map(|x| step!("a", g(x)))).await;"#),
        "join_all\n  branch\n    step a"
    );
    assert_eq!(
        shape("join_all(xs.iter().map(|x| x.id()).map(Id::new).map(|x| pack(x))).await;"),
        "join_all\n  branch\n    call pack"
    );
    assert_eq!(
        shape("join_all(xs.iter().map(|x| pack(x))).await;"),
        "join_all\n  branch\n    call pack"
    );
}

#[test]
fn helpers_are_named_by_what_is_called() {
    assert_eq!(shape("ship(&order).await?;"), "call ship");
    assert_eq!(shape("a::b::ship::<u8>(&order).await?;"), "call ship");
    assert_eq!(shape("self.shop.ship(&order).await?;"), "call ship");
    assert_eq!(shape("Box::pin(ship(1)).await;"), "call ship");
    assert_eq!(shape("let later = ship(1); later.await;"), "call ship");
    assert_eq!(shape("for order in orders { order.await; }"), "loop\n  call ?");
}

#[test]
fn types_are_taken_where_the_source_says_them() {
    assert_eq!(
        shape(r#"let x: Vec<u8> = step!("a", f()).await?;"#),
        "step a -> Vec<u8>"
    );
    assert_eq!(
        shape(r#"let x: Result<u8, StepError> = step!("a", f()).await;"#),
        "step a -> u8"
    );
    assert_eq!(shape(r#"let x: Answer = signal!("a").await;"#), "signal a -> Answer");
    assert_eq!(shape(r#"let () = signal!("a").await;"#), "signal a -> ()");
    assert_eq!(
        shape(r#"let x: Answer = signal!("a").timeout(t).await?;"#),
        "signal a timed -> Answer"
    );
    assert_eq!(shape(r#"let x: u8 = step!("a", f()).await.map(|x| x.y)?;"#), "step a");
    assert_eq!(
        shape(r#"let x: u8 = match signal!("a").await { A { x } => x };"#),
        "signal a"
    );
    assert_eq!(shape(r#"let x: u8 = f(step!("a", f()).await?);"#), "step a");
    assert_eq!(shape(r#"let x: _ = step!("a", f()).await?;"#), "step a");
}

#[test]
fn loops_and_exits_are_told_apart() {
    assert_eq!(
        shape(r#"loop { if signal!("a").await { break; } } step!("b", f()).await"#),
        "loop\n  signal a\n  branch\n    arm\n      break\n    arm\nstep b"
    );
    assert_eq!(shape(r#"loop { step!("a", f()).await?; }"#), "forever\n  step a");
    assert_eq!(
        shape(r#"let x = 'found: { if a { break 'found 1; } step!("a", f()).await? };"#),
        "once\n  branch\n    arm\n      break\n    arm\n  step a"
    );
    assert_eq!(
        shape(r#"if a && step!("a", f()).await? { step!("b", f()).await?; }"#),
        "branch\n  arm\n    step a\n  arm\nbranch\n  arm\n    step b\n  arm"
    );
}

#[test]
fn patches_are_recognised_by_name() {
    let patched = "patched p\n  new\n    step a\n  old\n    step b";
    for body in [
        r#"if patched!("p") { step!("a", f()).await?; } else { step!("b", f()).await?; }"#,
        r#"if !steadfast::patched!("p") { step!("b", f()).await?; } else { step!("a", f()).await?; }"#,
        r#"let new = patched!("p"); if new { step!("a", f()).await?; } else { step!("b", f()).await?; }"#,
    ] {
        assert_eq!(shape(body), patched, "{body}");
    }
    assert_eq!(
        shape(r#"removed!("a").await; removed!(sleep "b").await; removed!(signal "c").key(k).await; retired!("p");"#),
        "removed step a\nremoved sleep b\nremoved signal c keyed\nretired p"
    );
    assert_eq!(shape(r#"if patched!("p") { x = 1; }"#), "patched p\n  new\n  old");
    assert_eq!(shape(r#"f(u32::from(patched!("p")))"#), "patched p\n  new\n  old");
}

#[test]
fn names_with_quotes_stay_readable_and_sound() {
    let description = described(
        r#"step!("a \"b\" <c> & \\ ]]>", f()).await?; if x < y && "z" != w { return Err(1); } step!("n", f()).await"#,
    );
    assert!(
        description.shape.contains(r#"step "a \"b\" <c> & \\ ]]>""#),
        "{}",
        description.shape
    );
    let picture = description.svg.expect("it is small");
    assert!(
        picture.contains("a &quot;b&quot; &lt;c&gt; &amp; \\ ]]&gt;"),
        "{picture}"
    );
    assert!(
        !picture.contains("\n\n"),
        "an empty line would end the HTML block in the documentation"
    );
    assert!(
        description.mermaid.contains("#quot;b#quot; #lt;c#gt; #amp;"),
        "{}",
        description.mermaid
    );
}

#[test]
fn a_very_large_workflow_has_no_picture_and_costs_little() {
    let steps = |count: usize| {
        (0..count)
            .map(|step| format!("step!(\"s{step}\", f()).await?;"))
            .collect::<String>()
    };
    assert!(described(&steps(100)).svg.is_some());
    let large = described(&steps(1000));
    assert!(large.svg.is_none() && large.documentation().is_empty());
    assert!(large.mermaid.contains("s999") && large.shape.contains("s999"));
}

#[test]
fn the_documentation_has_the_picture_only_when_it_is_written() {
    let attributes = described(r#"pack().await?; step!("a", f()).await"#).documentation();
    let text = quote!(#(#attributes)*).to_string();
    assert!(
        text.starts_with("# [cfg_attr (doc ,") && text.contains("Durable functions in it: `pack`."),
        "{text}"
    );
    assert!(described("f()").documentation().is_empty());
}
