//! What changes mean, as a table. That the engine agrees is shown with real journals in the scenario tests `shapes`.

use super::*;

fn full(lines: &[&str]) -> String {
    let mut text = "workflow \"w\" version 1\n  input (Order)\n  output u32\n".to_owned();
    for line in lines {
        // Names are written without quotes here.
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        let mut words: Vec<String> = bare.split(' ').map(str::to_owned).collect();
        let place = match words.first().map(String::as_str) {
            Some("step" | "sleep" | "signal" | "patched" | "retired") => Some(1),
            Some("removed") => Some(2),
            _ => None,
        };
        if let Some(word) = place.and_then(|place| words.get_mut(place)) {
            *word = format!("\"{word}\"");
        }
        text.push_str(&format!("  {}{}\n", " ".repeat(indent), words.join(" ")));
    }
    text
}

fn change(recorded: &[&str], current: &[&str]) -> Change {
    let current = Box::leak(full(current).into_boxed_str());
    shape("w", 1, current)
        .compare(&full(recorded))
        .expect("both are shapes")
}

#[track_caller]
fn compatible(recorded: &[&str], current: &[&str]) {
    match change(recorded, current) {
        Change::Compatible(_) => {}
        other => panic!("{recorded:?} -> {current:?}: {other:?}"),
    }
}

#[track_caller]
fn breaking(recorded: &[&str], current: &[&str], says: &str) {
    match change(recorded, current) {
        Change::Breaking(reason) => assert!(reason.contains(says), "{reason}\n  should say {says}"),
        other => panic!("{recorded:?} -> {current:?}: {other:?}"),
    }
}

#[test]
fn the_same_is_the_same() {
    let lines = [
        "step a",
        "branch",
        "  arm",
        "    return",
        "  arm",
        "loop",
        "  signal s timed",
    ];
    assert_eq!(change(&lines, &lines), Change::Same);
}

#[test]
fn what_comes_after_the_last_checkpoint_is_free() {
    compatible(&["step a"], &["step a", "step b"]);
    compatible(&["step a"], &["step a", "sleep b", "random"]);
    compatible(&[], &["step a"]);
    compatible(
        &["branch", "  arm", "    step a", "  arm"],
        &["branch", "  arm", "    step a", "    sleep b", "  arm"],
    );
    compatible(
        &["branch", "  arm", "    step a", "  arm"],
        &["branch", "  arm", "    step a", "  arm", "    step b"],
    );
    compatible(&["block", "  step a"], &["block", "  step a", "  step b"]);
    // A path that ends by itself.
    let lines = |arm: &[&'static str]| {
        let mut lines = vec!["branch", "  arm"];
        lines.extend(arm);
        lines.extend(["    return", "  arm", "step z"]);
        lines
    };
    compatible(&lines(&["    step a"]), &lines(&["    step a", "    step b"]));
    compatible(&lines(&[]), &lines(&["    step b"]));
    breaking(
        &lines(&["    step a"]),
        &lines(&["    step b", "    step a"]),
        "step `b` is new in a branch, before step `a`",
    );
}

#[test]
fn a_last_wait_without_a_timeout_leaves_no_trace() {
    compatible(&["step a", "signal s"], &["step a", "step b"]);
    compatible(&["step a", "signal s"], &["step a"]);
    compatible(&["step a", "signal s"], &["step a", "step b", "signal s"]);
    compatible(&["step a", "signal s"], &["step a", "signal s timed"]);
    compatible(&["step a", "signal s", "random"], &["step a", "step b"]);
    breaking(
        &["step a", "signal s timed"],
        &["step a"],
        "signal `s` with a timeout is gone",
    );
    breaking(
        &["step a", "signal s", "step b"],
        &["step a", "step b"],
        "signal `s` is gone, before step `b`",
    );
    breaking(
        &["step a", "step b"],
        &["step a"],
        "step `b` is gone, and instances in flight may have recorded it",
    );
    breaking(
        &["step a", "sleep b"],
        &["step a", "step b"],
        "step `b` stands where sleep `b` stood",
    );
}

#[test]
fn what_is_recorded_must_be_there_again() {
    let was = ["step a", "step b", "sleep c", "step d"];
    breaking(
        &was,
        &["step a", "step x", "step b", "sleep c", "step d"],
        "step `x` is new, before step `b`",
    );
    breaking(
        &was,
        &["step a", "sleep c", "step d"],
        "step `b` is gone, before sleep `c`",
    );
    breaking(
        &was,
        &["step b", "step a", "sleep c", "step d"],
        "step `b` stands before step `a` now",
    );
    breaking(
        &was,
        &["step a", "step x", "sleep c", "step d"],
        "step `x` stands where step `b` stood",
    );
    breaking(
        &was,
        &["step a", "step b keyed", "sleep c", "step d"],
        "step `b` with a key stands where step `b` stood",
    );
    breaking(
        &was,
        &["step a", "step b", "step c", "step d"],
        "step `c` stands where sleep `c` stood",
    );
}

#[test]
fn what_is_recorded_must_be_in_the_same_scope() {
    let was = ["step a", "step b", "sleep c", "step d"];
    breaking(
        &was,
        &["step a", "random", "step b", "sleep c", "step d"],
        "`random!` is new, before step `b`",
    );
    breaking(
        &was,
        &["step a", "block", "  step b", "sleep c", "step d"],
        "step `b` stands in an `async` block now",
    );
    breaking(
        &was,
        &["step a", "call b", "sleep c", "step d"],
        "the call of `b` stands where step `b` stood",
    );
    breaking(
        &was,
        &["step a", "loop", "  step b", "sleep c", "step d"],
        "step `b` stands in a loop now",
    );
    breaking(
        &was,
        &["step a", "branch", "  arm", "    step b", "  arm", "sleep c", "step d"],
        "step `b` stands in a branch now",
    );
    breaking(
        &was,
        &[
            "step a",
            "branch",
            "  arm",
            "    return",
            "  arm",
            "step b",
            "sleep c",
            "step d",
        ],
        "a branch is new, before step `b`",
    );
    breaking(
        &["block", "  step a", "step b"],
        &["step a", "step b"],
        "step `a` stands outside of an `async` block now",
    );
    breaking(
        &["signal s", "step a"],
        &["signal s timed", "step a"],
        "signal `s` with a timeout stands where signal `s` stood",
    );
}

#[test]
fn types_must_stay_where_both_say_them() {
    breaking(
        &["step a -> u8"],
        &["step a -> String"],
        "step `a` gives String where it gave u8",
    );
    compatible(&["step a -> u8"], &["step a"]);
    compatible(&["step a"], &["step a -> u8"]);
    let text = full(&["step a"]);
    let with = |text: &str| shape("w", 1, Box::leak(text.to_owned().into_boxed_str())).compare(&full(&["step a"]));
    assert!(
        matches!(with(&text.replace("(Order)", "(Order, u8)")), Ok(Change::Breaking(reason)) if reason.contains("the input is (Order, u8) where it was (Order)"))
    );
    assert!(matches!(
        with(&text.replace("output u32", "output u64")),
        Ok(Change::Compatible(_))
    ));
}

#[test]
fn in_a_loop_the_next_round_follows() {
    breaking(
        &["loop", "  step a"],
        &["loop", "  step a", "  step b"],
        "step `b` is new in a loop, before the next round",
    );
    compatible(&["loop", "  step a"], &["loop", "  step a", "step b"]);
    let lines = |arm: &[&'static str]| {
        let mut lines = vec!["loop", "  step a", "  branch", "    arm"];
        lines.extend(arm);
        lines.extend(["      break", "    arm"]);
        lines
    };
    compatible(&lines(&[]), &lines(&["      step b"]));
    let followed = |arm: &[&'static str]| [lines(arm), vec!["step z"]].concat();
    breaking(
        &followed(&[]),
        &followed(&["      step b"]),
        "step `b` is new in a branch, before something that",
    );
}

#[test]
fn branches_may_gain_what_was_no_way_before_only_at_the_end() {
    let two = ["branch", "  arm", "    step a", "  arm", "    step b"];
    let three = [
        "branch",
        "  arm",
        "    step c",
        "  arm",
        "    step b",
        "  arm",
        "    step a",
    ];
    compatible(&two, &three);
    let then = |lines: &[&'static str]| [lines, &["step z"]].concat();
    breaking(
        &then(&two),
        &then(&three),
        "an arm with step `c` in it is new, before step `z`",
    );
    breaking(&then(&three), &then(&two), "an arm with step `c` in it is gone");
    // Without conditions the order of arms is nothing.
    assert!(matches!(
        change(
            &then(&two),
            &then(&["branch", "  arm", "    step b", "  arm", "    step a"])
        ),
        Change::Compatible(_)
    ));
    // An early return that is gone had only instances that have ended.
    compatible(&["branch", "  arm", "    return", "  arm", "step a"], &["step a"]);
}

#[test]
fn beside_other_branches_only_what_leaves_no_trace_is_new() {
    let join = |word: &'static str, first: &[&'static str]| {
        let mut lines = vec![word, "  branch", "    step a"];
        lines.extend(first);
        lines.extend(["  branch", "    step b"]);
        lines
    };
    for word in ["join", "try_join", "race", "join_all", "try_join_all"] {
        compatible(&join(word, &[]), &join(word, &["    step c"]));
        breaking(
            &join(word, &[]),
            &join(word, &["    sleep c"]),
            "leaves a record where those of the branches beside it",
        );
        breaking(&join(word, &[]), &join(word, &["    call c"]), "leaves a record");
    }
    breaking(
        &join("map_concurrent", &[]),
        &join("map_concurrent", &["    step c"]),
        "lets the next item begin later",
    );
    let then = |lines: Vec<&'static str>| [lines, vec!["step z"]].concat();
    breaking(
        &then(join("join", &[])),
        &then(join("join", &["    step c"])),
        "step `c` is new in `join`, before step `z`",
    );
    breaking(
        &join("join", &[]),
        &join("try_join", &[]),
        "`try_join` stands where `join` stood",
    );
    // A wait leaves a trace when another branch goes on after it.
    breaking(
        &["join", "  branch", "    signal s", "  branch", "    step b"],
        &["join", "  branch", "  branch", "    step b"],
        "signal `s` is gone",
    );
}

/// A join of these branches.
fn joined(word: &'static str, branches: &[&[&'static str]]) -> Vec<&'static str> {
    let mut lines = vec![word];
    for branch in branches {
        lines.push("  branch");
        lines.extend(*branch);
    }
    lines
}

#[test]
fn branches_are_told_apart_by_what_is_in_them_and_blocks_by_their_order() {
    let (a, b, c): (&[_], &[_], &[_]) = (&["    step a"], &["    step b"], &["    step c"]);
    let two = joined("join", &[a, b]);
    compatible(&two, &joined("join", &[a, b, c]));
    compatible(&two, &joined("join", &[c, b, a]));
    breaking(
        &joined("join", &[a, b, c]),
        &two,
        "`join` has 2 branches where it had 3",
    );
    let then = |lines: Vec<&'static str>| [lines, vec!["step z"]].concat();
    breaking(
        &then(two.clone()),
        &then(joined("join", &[a, b, c])),
        "`join` has 3 branches where it had 2",
    );
    breaking(
        &two,
        &joined("join", &[a, b, &["    sleep c"]]),
        "`join` has 3 branches where it had 2",
    );
    breaking(
        &joined("race", &[a, b]),
        &joined("race", &[a, b, &[]]),
        "`race` has 3 branches where it had 2",
    );
    compatible(&joined("race", &[a, b]), &joined("race", &[a, b, c]));

    let (x, y, z): (&[_], &[_], &[_]) = (
        &["    block", "      step x"],
        &["    block", "      step y"],
        &["    block", "      step z"],
    );
    let two = joined("join", &[a, x, y]);
    compatible(&two, &joined("join", &[x, a, y]));
    compatible(&two, &joined("join", &[a, x, y, z]));
    breaking(&two, &joined("join", &[a, y, x]), "stand in another order");
    breaking(
        &two,
        &joined("join", &[a, z, x, y]),
        "`join` has 4 branches where it had 3",
    );
    // The items of a list have scopes by their places.
    breaking(
        &joined("join_all", &[a, b]),
        &joined("join_all", &[b, a]),
        "step `b` stands in `join_all` where step `a` stood",
    );
}

#[test]
fn behind_a_patch_everything_is_free() {
    let was = ["step a", "step b", "step c"];
    compatible(
        &was,
        &[
            "step a",
            "patched p",
            "  new",
            "    sleep x",
            "  old",
            "step b",
            "step c",
        ],
    );
    compatible(
        &was,
        &[
            "step a",
            "patched p",
            "  new",
            "    sleep x",
            "    step c",
            "  old",
            "    step b",
            "    step c",
        ],
    );
    compatible(
        &was,
        &[
            "patched p",
            "  new",
            "  old",
            "    step a",
            "step b",
            "patched q",
            "  new",
            "  old",
            "step c",
        ],
    );
    breaking(
        &was,
        &["step a", "patched p", "  new", "    step b", "  old", "step c"],
        "step `b` is gone, before step `c`",
    );
}

#[test]
fn a_patch_stays_until_nothing_needs_it() {
    let was = ["step a", "step b", "step c"];
    let patched = [
        "step a",
        "patched p",
        "  new",
        "    sleep x",
        "  old",
        "    step b",
        "step c",
    ];
    breaking(&patched, &was, "`patched!(\"p\")` is gone, and");
    breaking(
        &patched,
        &[
            "step a",
            "patched q",
            "  new",
            "    sleep x",
            "  old",
            "    step b",
            "step c",
        ],
        "`patched!(\"p\")` is gone, and",
    );
    breaking(
        &patched,
        &["step a", "retired p", "sleep x", "step c"],
        "instances from before that change can only run its old side",
    );
    breaking(
        &patched,
        &[
            "step a",
            "patched p",
            "  new",
            "    sleep y",
            "  old",
            "    step b",
            "step c",
        ],
        "sleep `y` stands in `patched!(\"p\")` where sleep `x` stood",
    );
    breaking(
        &["step a", "retired p", "step b"],
        &["step a", "step b"],
        "`retired!(\"p\")` is gone, before step `b`",
    );
}

#[test]
fn in_the_place_of_a_removed_checkpoint_something_stands() {
    let was = ["step a", "step b keyed", "sleep c", "signal d timed", "step e"];
    compatible(
        &was,
        &["step a", "removed step b keyed", "sleep c", "signal d timed", "step e"],
    );
    compatible(
        &was,
        &[
            "step a",
            "step b keyed",
            "removed sleep c",
            "removed signal d",
            "step e",
        ],
    );
    compatible(
        &was,
        &[
            "step a",
            "removed step b keyed",
            "sleep c",
            "signal d timed",
            "removed step e",
        ],
    );
    breaking(
        &was,
        &["step a", "removed step b", "sleep c", "signal d timed", "step e"],
        "step `b` with a key is gone, before sleep `c`",
    );
    breaking(
        &was,
        &["step a", "removed sleep b", "sleep c", "signal d timed", "step e"],
        "is gone",
    );
    breaking(
        &["step a", "removed step b", "step c"],
        &["step a", "step c"],
        "`removed!` of step `b` is gone, before step `c`",
    );
    breaking(
        &["race", "  branch", "    step a", "  branch", "    step b"],
        &["race", "  branch", "    removed step a", "  branch", "    step b"],
        "step `a` is removed from a race",
    );
}

#[test]
fn the_fingerprint_is_that_of_the_text() {
    let one = shape("w", 1, "a");
    assert_eq!(one.fingerprint(), 0xca97_8112_ca1b_bdca);
    assert_ne!(one.fingerprint(), shape("w", 1, "b").fingerprint());
    assert_eq!(one.to_string(), "w 1 ca978112ca1bbdca");
}
