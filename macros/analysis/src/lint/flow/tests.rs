//! What the rules that need types or flow find, and what they must leave alone.

use syn::ItemFn;

use crate::diagnostics::Diagnostics;
use crate::lint::Lints;
use crate::lint::table::RULES;
use crate::names::Names;

fn messages(function: &str) -> Vec<String> {
    let function: ItemFn = syn::parse_str(function).unwrap_or_else(|error| panic!("{error}: {function}"));
    let mut diagnostics = Diagnostics::default();
    Lints::new(&Names::of(&function, None)).check(&function, &mut diagnostics);
    // What the rules on paths say beside them is theirs to test.
    let is_ours = |text: &&String| {
        let mut ours = RULES
            .iter()
            .filter(|rule| rule.paths.is_empty() && rule.macros.is_empty());
        ours.any(|rule| text.contains(rule.message.reason))
    };
    let messages = diagnostics.into_messages();
    messages
        .iter()
        .filter(is_ours)
        .filter_map(|text| text.lines().next().map(str::to_owned))
        .collect()
}

fn body(body: &str) -> Vec<String> {
    messages(&format!("async fn workflow() {{ {body} }}"))
}

/// What stands in the backticks of each message: the code that was found.
fn found(messages: &[String]) -> Vec<&str> {
    messages
        .iter()
        .map(|text| text.split('`').nth(1).unwrap_or(text))
        .collect()
}

#[track_caller]
fn fires(source: &str, code: &str) {
    assert_eq!(found(&body(source)), [code], "{source}");
}

#[track_caller]
fn silent(source: &str) {
    assert_eq!(body(source), Vec::<String>::new(), "{source}");
}

mod hash_order {
    use super::*;

    #[test]
    fn a_map_is_one_however_it_came_about() {
        for source in [
            "let m = HashMap::new(); m.iter();",
            "let m = std::collections::HashMap::<u8, u8>::with_capacity(3); m.iter();",
            "let m = HashSet::from([1, 2]); m.iter();",
            "let m = HashMap::from_iter(pairs); m.iter();",
            "let m = <HashMap<u8, u8>>::default(); m.iter();",
            "let m: HashMap<u8, u8> = load(); m.iter();",
            "let m: HashMap<_, _> = pairs.into_iter().collect(); m.iter();",
            "let m = pairs.collect::<HashSet<_>>(); m.iter();",
            r#"let m: HashMap<_, _> = step!("load", load()).await?; m.iter();"#,
            "use std::collections::HashMap as Index; let m = Index::new(); m.iter();",
            "let m: rustc_hash::FxHashMap<u8, u8> = load(); m.iter();",
            "let m = dashmap::DashMap::new(); m.iter();",
            "let m: &mut hashbrown::HashSet<u8> = load(); m.iter();",
            "let m = Arc::new(HashMap::<u8, u8>::new()); m.iter();",
            "let m: Arc<HashMap<u8, u8>> = load(); m.iter();",
            "let old = HashMap::new(); let m = old.clone(); m.iter();",
            "let old = HashMap::new(); let m = &old; m.iter();",
            "let mut old = HashMap::new(); let m = std::mem::take(&mut old); m.iter();",
            "let (m, n): (HashMap<u8, u8>, u8) = load(); m.iter();",
            "let (n, m) = (1, HashMap::new()); m.iter();",
            "let maps: Vec<HashMap<u8, u8>> = load(); for m in &maps { m.iter(); }",
            "let maps: Vec<HashMap<u8, u8>> = load(); let m = &maps[0]; m.iter();",
            "let by: BTreeMap<u8, HashSet<u8>> = load(); for (key, m) in &by { m.iter(); }",
            "let by: BTreeMap<u8, HashSet<u8>> = load(); if let Some(m) = by.get(&1) { m.iter(); }",
            "let by: BTreeMap<u8, HashSet<u8>> = load(); let m = by.get(&1).unwrap(); m.iter();",
            "let o: Option<HashMap<u8, u8>> = load(); if let Some(m) = &o { m.iter(); }",
            "let o: Option<HashMap<u8, u8>> = load(); let Some(m) = o else { return }; m.iter();",
            "let o: Result<HashMap<u8, u8>, E> = load(); match o { Ok(m) => { m.iter(); } Err(e) => {} }",
            "let f = |m: &HashMap<u8, u8>| m.iter();",
            "let m = HashMap::new(); let f = async move { m.iter(); };",
            "let m = HashMap::new(); join!(async { m.iter(); }, other).await;",
        ] {
            fires(source, "m.iter()");
        }
        for parameter in [
            "m: HashMap<u8, u8>",
            "m: &HashSet<u8>",
            "mut m: std::collections::HashSet<u8>",
            "(m, n): (HashMap<u8, u8>, u8)",
        ] {
            let messages = messages(&format!("async fn workflow({parameter}) {{ m.iter(); }}"));
            assert_eq!(found(&messages), ["m.iter()"], "{parameter}");
        }
    }

    #[test]
    fn every_use_of_the_order_is_found() {
        for (source, code) in [
            ("for x in m {}", "for … in m"),
            ("for (k, v) in &m {}", "for … in &m"),
            ("for (k, v) in &mut m {}", "for … in &mut m"),
            ("for x in m.clone() {}", "for … in m.clone()"),
            ("for x in m.keys() {}", "m.keys()"),
            ("for (place, x) in m.iter().enumerate() {}", "m.iter()"),
            ("m.values().cloned().collect::<Vec<_>>();", "m.values()"),
            ("let v: Vec<_> = m.into_iter().collect(); use_it(v);", "m.into_iter()"),
            (
                "let v: Vec<_> = m.into_iter().collect(); for x in v {}",
                "m.into_iter()",
            ),
            ("let first = m.iter().next();", "m.iter()"),
            ("let some = m.keys().take(3).count();", "m.keys()"),
            ("let best = m.values().max_by_key(|v| v.price);", "m.values()"),
            ("let total = m.values().sum::<f64>();", "m.values()"),
            ("let total: f64 = m.values().sum();", "m.values()"),
            ("m.drain();", "m.drain()"),
            ("m.retain(|k, v| f(k));", "m.retain()"),
            ("let x = m.into_values().collect::<Vec<_>>();", "m.into_values()"),
            ("m.iter().for_each(|x| f(x));", "m.iter()"),
            ("let f = m.iter().map(|x| step!(\"x\", f(x))).count();", "m.iter()"),
            ("join_all(m.values().map(|v| pack(v))).await;", "m.values()"),
            ("map_concurrent(m, 3, |x| pack(x)).await?;", "map_concurrent(m)"),
            ("map_concurrent(&m, 3, |x| pack(x)).await?;", "map_concurrent(&m)"),
            ("steadfast::try_join_all(m).await?;", "steadfast::try_join_all(m)"),
            ("let v = Vec::from_iter(m); f(v);", "Vec::from_iter(m)"),
            ("let mut v = Vec::new(); v.extend(&m); f(v);", "extend(&m)"),
            ("let mut v = vec![1]; v.extend(m.keys()); f(v);", "m.keys()"),
            ("let text = format!(\"{:?}\", m);", "{m:?}"),
            ("let text = format!(\"{} {m:#?}\", 1);", "{m:?}"),
            ("let text = format!(\"{one} {all:?}\", one = 1, all = &m);", "{&m:?}"),
            ("bail!(\"{0} {1:?}\", 1, m);", "{m:?}"),
            ("if m.iter().any(|x| f(x)) && m.iter().next().is_some() {}", "m.iter()"),
        ] {
            fires(&format!("let mut m: HashMap<u8, u8> = load(); {source}"), code);
        }
        fires(
            "let a = HashSet::from([1]); let b = HashSet::from([2]); for x in a.union(&b) {}",
            "a.union()",
        );
        fires(
            "let a = HashSet::from([1]); let b = HashSet::from([2]); for x in &a | &b {}",
            "for … in &a | &b",
        );
    }

    #[test]
    fn what_does_not_depend_on_the_order_is_left_alone() {
        for source in [
            "m.get(&1); m.insert(1, 2); m.remove(&1); m.contains_key(&1); m.len(); m.is_empty(); m.entry(1).or_insert(2);",
            "m == other; m[&1]; helper(&m); m.clear();",
            "m.values().count(); m.keys().all(|k| *k > 1); m.iter().any(|(k, v)| k == v);",
            "m.keys().copied().max(); m.values().map(|v| v + 1).min();",
            "let total: u64 = m.values().sum(); let total = m.values().map(|v| v.price).sum::<u32>();",
            "let s: BTreeSet<_> = m.keys().cloned().collect(); let t: HashSet<u8> = m.into_keys().collect();",
            "helper(m.iter().filter(|x| f(x)).collect::<BTreeMap<_, _>>());",
            "let mut v: Vec<_> = m.into_iter().collect(); v.sort(); for x in v {}",
            "let mut v = m.keys().cloned().collect::<Vec<_>>(); v.sort_unstable_by_key(|k| *k);",
            "let mut v = Vec::from_iter(m); let other = 1; v.sort();",
            "let mut v = Vec::new(); v.extend(m.keys()); v.sort();",
            "for x in m.iter().sorted() {} let v = m.keys().sorted_by(|a, b| a.cmp(b)).collect::<Vec<_>>();",
            "let m: BTreeMap<u8, u8> = load(); for x in &m {} m.iter();",
            "let m = vec![1]; for x in m {}",
            "if let Some(m) = lists { m.iter(); } for m in lists { m.iter(); } let f = |m| m.iter();",
            "match lists { Some(m) => m.iter(), None => {} }",
            r#"step!("all", { for x in &m { f(x); } Ok(m.keys().collect::<Vec<_>>()) }).await?;"#,
            "println!(\"{m:?}\"); tracing::info!(?m); let text = format!(\"{:?} {{m:?}}\", m.len());",
            "fn nested(m: HashMap<u8, u8>) { for x in m {} }",
            "let b: BTreeMap<u8, u8> = load(); let n = BTreeMap::from_iter(m);",
            "let mut all = BTreeSet::new(); all.extend(m); unknown.extend(m);",
        ] {
            silent(&format!("let mut m: HashMap<u8, u8> = load(); {source}"));
        }
        for source in [
            "use crate::HashMap; let m = HashMap::new(); m.iter();",
            "struct HashMap; let m = HashMap::new(); m.iter();",
            "let m: crate::HashMap = load(); m.iter();",
            "let m: indexmap::IndexMap<u8, u8> = load(); m.iter(); for x in m {}",
            "let m: im::OrdMap<u8, u8> = load(); m.iter();",
            "let o: Option<HashMap<u8, u8>> = load(); o.iter().count(); for m in o.as_slice() {}",
            "let maps: Vec<HashMap<u8, u8>> = load(); for m in &maps[1..] { m.len(); } maps.iter();",
            "order.lines.iter(); lines.keys(); self.map.drain();",
            "let text = \"HashMap::new().iter()\"; /* HashMap::new().iter() */",
            "{ let m = HashMap::new(); m.len(); } m.iter();",
        ] {
            silent(source);
        }
    }

    #[test]
    fn an_allowance_covers_it() {
        silent(
            r#"let m = HashMap::new(); #[allow_nondeterminism(hash_order, reason = "all are told the same")] for x in &m {}"#,
        );
    }
}

mod waiting {
    use super::*;

    #[test]
    fn a_checkpoint_that_is_thrown_away_is_found() {
        for (source, code) in [
            (r#"step!("x", f());"#, "step!"),
            (r#"step!("x", f()).retry(r).timeout(t);"#, "step!"),
            (r#"let _ = sleep!("x", d);"#, "sleep!"),
            (r#"_ = signal!("x");"#, "signal!"),
            (r#"join!(a, b);"#, "join!"),
            (r#"drop(step!("x", f()));"#, "step!"),
            (r#"std::mem::drop(race!(a, b));"#, "race!"),
            (r#"let f = |x| { step!("x", f(x)); };"#, "step!"),
            (r#"if x { sleep!("x", d); }"#, "sleep!"),
            (r#"let n: u8 = step!("x", f()).retry(r)?;"#, "step!"),
            (r#"g(try_join!(a, b)?);"#, "try_join!"),
        ] {
            fires(source, code);
        }
        for source in [
            r#"step!("x", f()).await?; sleep!("x", d).await; let s = sleep!("y", d); s.await;"#,
            r#"let _: u8 = random!(); let _ = now!(); uuid!();"#,
            r#"let all = list.iter().map(|x| step!("x", f(x))); join_all(all).await;"#,
            r#"let _s = sleep!("x", d); tokio::task::yield_now(); drop(now!());"#,
            r#"fn drop(x: u8) {} drop(step!("x", f()));"#,
            r#"map_concurrent(list, 3, |x| step!("x", f(x))).await;"#,
        ] {
            silent(source);
        }
    }

    #[test]
    fn an_outcome_that_is_thrown_away_is_found() {
        for (source, code) in [
            (r#"let _ = step!("x", f()).await;"#, "step!"),
            (r#"let _ = step!("x", f()).retry(r).await.ok();"#, "step!"),
            (r#"_ = step!("x", f()).await;"#, "step!"),
            (r#"step!("x", f()).await.ok();"#, "step!"),
            (r#"drop(step!("x", f()).await);"#, "step!"),
            (r#"let _ = try_join!(a, b).await;"#, "try_join!"),
        ] {
            fires(source, code);
        }
        for source in [
            r#"let _ = step!("x", f()).await?; let _told = step!("y", f()).await;"#,
            r#"let _ = signal!("x").timeout(t).await; let () = signal!("y").await;"#,
            r#"let known = step!("x", f()).await.ok(); let Ok(_) = step!("y", f()).await else { return };"#,
            r#"#[allow_nondeterminism(discarded_result, reason = "best effort")] let _ = step!("x", f()).await;"#,
        ] {
            silent(source);
        }
    }

    #[test]
    fn a_loop_without_a_way_out_is_found() {
        for (source, code) in [
            (r#"loop { sleep!("x", d).await; }"#, "loop"),
            (r#"while true { let x = helper().await; }"#, "while true"),
            (r#"loop { for x in y { if x { break; } } signal!("x").await; }"#, "loop"),
            (r#"'a: loop { 'b: loop { break 'b; } helper().await; }"#, "loop"),
            (r#"'a: loop { race!(b, c).await; loop { f(); continue 'a; } }"#, "loop"),
            (r#"loop { let f = async { f()?; return 1; }; helper().await; }"#, "loop"),
            (
                r#"loop { step!("x", { f()?; return Ok(1); }).await.ok(); println!("{}", 1); }"#,
                "loop",
            ),
        ] {
            let messages = body(source);
            assert!(
                messages
                    .iter()
                    .any(|text| text == &format!("this `{code}` with checkpoints has no way out")),
                "{messages:?}"
            );
        }
        for source in [
            r#"loop { if done { break; } sleep!("x", d).await; }"#,
            r#"loop { step!("x", f()).await?; }"#,
            r#"loop { if done { return; } sleep!("x", d).await; }"#,
            r#"'a: loop { loop { break 'a; } } loop { step!("x", f(1)).await?; }"#,
            r#"'a: while x { loop { sleep!("x", d).await; break 'a; } }"#,
            r#"loop { match signal!("x").await { 1 => break, _ => {} } }"#,
            r#"loop { sleep!("x", d).await; if x { bail!("no"); } }"#,
            r#"loop { sleep!("x", d).await; mine!(); }"#,
            "loop { count += 1; }",
            r#"'a: while x { loop { sleep!("x", d).await; continue 'a; } }"#,
            r#"race!(signal!("stop"), async { loop { sleep!("x", d).await; } }).await;"#,
            r#"while more { sleep!("x", d).await; }"#,
            r#"for x in 0.. { sleep!("x", d).await; }"#,
            r#"step!("x", { loop { tick().await; } }).await?;"#,
        ] {
            silent(source);
        }
    }

    #[test]
    fn a_guard_that_is_held_over_a_wait_is_found() {
        for (source, code) in [
            (r#"let g = m.lock().unwrap(); sleep!("x", d).await;"#, "g"),
            (
                r#"let g = m.lock().unwrap(); f(&g); let y = step!("x", f()).await?; drop(g);"#,
                "g",
            ),
            (
                r#"let r = RefCell::new(1); let mut g = r.borrow_mut(); sleep!("x", d).await;"#,
                "g",
            ),
            (r#"let g = tempfile::tempdir()?; sleep!("x", d).await;"#, "g"),
            (
                r#"let w: parking_lot::RwLock<u8> = f(); let g = w.read(); if x { sleep!("x", d).await; }"#,
                "g",
            ),
        ] {
            let messages = messages(&format!("async fn workflow(m: &std::sync::Mutex<u8>) {{ {source} }}"));
            assert_eq!(found(&messages), [code], "{source}");
        }
        for source in [
            r#"let g = m.lock().unwrap(); drop(g); sleep!("x", d).await;"#,
            r#"{ let g = m.lock().unwrap(); } sleep!("x", d).await;"#,
            r#"let n = *m.lock().unwrap(); sleep!("x", d).await;"#,
            r#"let n = m.lock().unwrap().clone(); sleep!("x", d).await;"#,
            r#"let g = door.lock().unwrap(); let h = file.read(); let b = cow.borrow(); sleep!("x", d).await;"#,
            r#"let g = m.lock().unwrap();"#,
            r#"step!("x", { let g = m.lock().await; work().await; Ok(()) }).await?;"#,
        ] {
            let messages = messages(&format!("async fn workflow(m: &std::sync::Mutex<u8>) {{ {source} }}"));
            assert_eq!(messages, Vec::<String>::new(), "{source}");
        }
    }
}

mod bodies {
    use super::*;

    #[test]
    fn a_cell_in_a_body_is_found_once() {
        for source in [
            r#"let c = Cell::new(0); step!("x", { c.set(1); c.set(2); Ok(()) }).await?;"#,
            r#"let c: std::sync::atomic::AtomicU8 = f(); step!("x", async { c.store(1, O); Ok(()) }).await?;"#,
            r#"let c = Arc::new(Mutex::<u8>::default()); step!("x", g(&c)).await?;"#,
            r#"let (c, rx) = std::sync::mpsc::channel(); step!("x", |attempt| g(&c)).await?;"#,
            r#"use tokio::sync::mpsc; let (c, rx) = mpsc::unbounded_channel(); step!("x", { c.send(1)?; Ok(()) }).await?;"#,
        ] {
            fires(source, "c");
        }
        for source in [
            r#"step!("x", { let c = Cell::new(0); c.set(1); Ok(()) }).await?;"#,
            r#"let c = Cell::new(0); c.set(1); let n = c.get(); step!("x", g(n)).await?;"#,
            r#"let c = Cell::new(0); step!("x", |c| g(c)).await?;"#,
            r#"use crate::Cell; let c = Cell::new(0); step!("x", g(&c)).await?;"#,
            r#"let c = Sender::new(0); step!("x", g(&c)).await?;"#,
            r#"let c = shop.clone(); step!("x", g(&c)).await?;"#,
        ] {
            silent(source);
        }
        let state = r#"let mine = Arc::clone(m); step!("x", { m.lock(); mine.lock(); Ok(()) }).await?;"#;
        assert!(messages(&format!("async fn workflow(m: &Arc<Mutex<u8>>) {{ {state} }}")).is_empty());
    }

    #[test]
    fn a_checkpoint_in_a_body_is_found() {
        for (source, code) in [
            (r#"step!("x", { sleep!("y", d).await; Ok(()) }).await?;"#, "sleep!"),
            (r#"step!("x", { let t = now!(); Ok(t) }).await?;"#, "now!"),
            (
                r#"step!("x", |a| async move { steadfast::step!("y", f(a)).await }).await?;"#,
                "steadfast::step!",
            ),
            (
                r#"step!("x", { map_concurrent(list, 3, f).await }).await?;"#,
                "map_concurrent",
            ),
            (
                r#"step!("x", { steadfast::join_all(list).await; Ok(()) }).await?;"#,
                "steadfast::join_all",
            ),
        ] {
            fires(source, code);
        }
        for source in [
            r#"step!("x", { tokio::join!(a, b); join!(a, b); Ok(()) }).await?;"#,
            r#"step!("x", { join_all(list).await; futures::future::join_all(list).await; Ok(()) }).await?;"#,
            r#"use uuid::uuid; step!("x", { let id = uuid!("67e5"); Ok(id) }).await?;"#,
            r#"step!("x", { let id = uuid!("67e5"); Ok(sleep(d).await) }).await?;"#,
            r#"step!("x", { fn inner() { sleep!("y", d); } Ok(()) }).await?;"#,
        ] {
            silent(source);
        }
    }
}

mod numbers {
    use super::*;

    #[test]
    fn a_condition_on_an_inexact_number_is_found() {
        for (source, code) in [
            ("let x: f64 = f(); if x.sin() > 0.5 {}", ".sin()"),
            ("let x: f32 = f(); let y = x.ln(); while y < 1.0 {}", "y"),
            (
                "let x: f64 = f(); let n = x.powf(2.0).round() as u32; match n { 1 => {} _ => {} }",
                "n",
            ),
            ("let big = 2.0_f64.exp() > 1.0; if big {}", "big"),
            ("if f64::cos(y) > 0.0 {}", "f64::cos"),
            ("if (y as f64).tan() > 0.0 {}", ".tan()"),
        ] {
            fires(source, code);
        }
        for source in [
            "let x: f64 = f(); if x.sqrt() > 0.5 && x * 2.0 > x.abs() {}",
            "if token.exp() > now { } if file.log() {}",
            "let x: f64 = f(); let y = x.sin(); println!(\"{y}\");",
            r#"let x: f64 = f(); let y = step!("x", { Ok(x.sin()) }).await?; if y > 1.0 {}"#,
            "let x: f64 = f(); let y = x.sin(); { let y = 1.0; if y > 1.0 {} }",
        ] {
            silent(source);
        }
    }

    #[test]
    fn a_stored_machine_word_is_found() {
        fires(r#"let n: usize = step!("x", f()).await?;"#, "usize");
        fires(
            r#"let n: Vec<(u8, isize)> = step!("x", f()).retry(r).await.map_err(E::from)?;"#,
            "isize",
        );
        fires(r#"let n: usize = signal!("x").await;"#, "usize");
        silent(
            r#"let n: usize = step!("x", f()).await?.len(); let m: usize = 1; let k: u64 = step!("y", f()).await?;"#,
        );
        let stored = |signature: &str| {
            let function: ItemFn = syn::parse_str(&format!("{signature} {{}}")).expect("a function");
            let mut diagnostics = Diagnostics::default();
            Lints::new(&Names::default()).check_stored(&function, Vec::new(), &mut diagnostics);
            diagnostics.into_messages().len()
        };
        assert_eq!(
            stored("async fn w(n: usize, (a, b): (u8, isize)) -> Result<Vec<usize>, E>"),
            3
        );
        assert_eq!(stored("async fn w(n: &usize, f: u64, a: [u8; 4]) -> Result<(), E>"), 0);
    }
}
