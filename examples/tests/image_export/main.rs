//! The real program, started, killed with SIGKILL and started again. No test sleeps: each waits for a line of the log.
#![cfg(unix)]

mod rig;

use rig::{Ended, Rig};

const PAGES: usize = 12;

/// The small numbers of a linear congruential generator, so that a failing seed can be run again.
fn chances(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

#[test]
fn killed_at_random_moments_it_makes_the_same_zip_and_repeats_no_recorded_page() {
    let undisturbed = Rig::new(PAGES);
    undisturbed.export(&["--render", "2"]).expect_success();
    for seed in 1..=3 {
        let mut chance = chances(seed);
        let rig = Rig::new(PAGES);
        let mut kills = 0;
        let mut log = Vec::new();
        loop {
            let mut program = rig.start(&["--render", "2", "--slow", "2"]);
            // The last kills would come after the end, which is a moment too.
            let killed = program.read_lines(1 + chance(40));
            log.extend(program.kill());
            kills += 1;
            if !killed || kills == 8 {
                break;
            }
        }
        let ended = rig.export(&["--render", "2"]);
        ended.expect_success();
        log.extend(ended.log);
        assert_eq!(rig.zip(), undisturbed.zip(), "seed {seed}");
        // A page that was done but not yet recorded may be done again: at most those under way at each kill.
        let rendered = rig::count(&log, "rendered");
        assert!(
            rendered >= PAGES && rendered <= PAGES + kills * 2,
            "seed {seed}: {rendered} renderings, {kills} kills"
        );
        assert_eq!(rig.leftovers(), Vec::<String>::new(), "seed {seed}");
    }
}

#[test]
fn pages_that_were_recorded_before_a_kill_come_from_the_journal() {
    let rig = Rig::new(PAGES);
    let mut program = rig.start(&["--render", "1", "--slow", "1"]);
    // With one at a time, a rendering begins only when the one before it is on disk.
    for _ in 0..7 {
        program.wait_for("rendering");
    }
    let before = program.kill();
    let recorded = rig::count(&before, "rendering") - 1;
    let ended = rig.export(&["--render", "1"]);
    ended.expect_success();
    assert_eq!(rig::count(&ended.log, "rendered"), PAGES - recorded);
    assert_eq!(rig::count(&ended.log, "prepared"), 0);
    // The list, the archive and the tidying are steps too.
    let (ran, journal) = (PAGES - recorded + 2, 1 + PAGES + recorded);
    assert!(
        ended
            .summary
            .contains(&format!("{ran} bodies ran, {journal} results came from the journal")),
        "{}",
        ended.summary
    );
}

#[test]
fn the_limits_hold_before_and_after_a_kill() {
    let rig = Rig::new(PAGES);
    let words = ["--prepare", "5", "--render", "3", "--slow", "20"];
    let mut program = rig.start(&words);
    program.wait_for("prepared");
    let first = program.kill();
    let mut program = rig.start(&words);
    program.wait_for("rendered");
    let second = program.kill();
    let third = rig.export(&words).expect_success().log.clone();
    for log in [&first, &second, &third] {
        assert!(rig::most_at_once(log, "preparing", "prepared") <= 5);
        assert!(rig::most_at_once(log, "rendering", "rendered") <= 3);
    }
    assert_eq!(rig::most_at_once(&first, "preparing", "prepared"), 5);
    assert_eq!(rig::most_at_once(&third, "rendering", "rendered"), 3);
}

#[test]
fn ctrl_c_stops_cleanly_and_names_the_command_that_goes_on() {
    let rig = Rig::new(PAGES);
    let mut program = rig.start(&["--slow", "20"]);
    program.wait_for("rendered");
    program.interrupt();
    let stopped = program.finish();
    assert_eq!(stopped.code, Some(130));
    let command = stopped.log.last().unwrap().trim();
    assert!(
        command.contains("image-export --pages pages --out out.zip --data data --slow 20"),
        "{command}"
    );
    rig.export(&[]).expect_success();
    assert_eq!(rig.pages_in_zip(), PAGES);
}

#[test]
fn a_page_that_is_no_image_fails_the_export_by_name_until_it_is_repaired() {
    let rig = Rig::new(3);
    let whole = rig.replace_page("page-2.png", b"plain text");
    let ended = rig.export(&["--id", "first"]);
    let sentence = ended.expect_failure();
    assert!(sentence.contains("page page-2.png is not an image"), "{sentence}");
    assert_eq!(
        ended
            .log
            .iter()
            .filter(|line| line.contains("preparing") && line.contains("page-2"))
            .count(),
        1
    );

    rig.replace_page("page-2.png", &whole);
    let sentence = rig.export(&["--id", "first"]).expect_failure();
    assert!(
        sentence.contains("page-2.png") && sentence.contains("--id"),
        "{sentence}"
    );
    rig.export(&["--id", "second"]).expect_success();
    assert_eq!(rig.pages_in_zip(), 3);
}

#[test]
fn without_an_id_a_failed_export_is_simply_tried_again() {
    let rig = Rig::new(3);
    let whole = rig.replace_page("page-2.png", b"plain text");
    rig.export(&[]).expect_failure();
    rig.replace_page("page-2.png", &whole);
    rig.export(&[]).expect_success();
}

#[test]
fn a_finished_export_is_not_done_again_unless_its_zip_is_gone() {
    let rig = Rig::new(3);
    rig.export(&[]).expect_success();
    let zip = rig.zip();
    let again = rig.export(&[]);
    assert!(again.expect_success().summary.contains("earlier"), "{}", again.summary);
    assert_eq!(rig::count(&again.log, "rendering"), 0);
    rig.remove("out.zip");
    rig.export(&[]).expect_success();
    assert_eq!(rig.zip(), zip);
}

#[test]
fn an_unfinished_export_never_overwrites_a_later_one_to_the_same_file() {
    let rig = Rig::new(PAGES);
    let mut program = rig.start(&["--slow", "20"]);
    program.wait_for("rendered");
    program.kill();
    let narrow = rig.export(&["--width", "20"]);
    narrow.expect_success();
    assert!(
        narrow.log.iter().any(|line| line.starts_with("giving up export-")),
        "{:#?}",
        narrow.log
    );
    let zip = rig.zip();
    assert!(
        rig.export(&["--width", "20"])
            .expect_success()
            .summary
            .contains("earlier")
    );
    assert_eq!(rig.zip(), zip);
    // The first arguments again: what lies there is not what they ask for.
    rig.export(&[]).expect_success();
    assert_ne!(rig.zip(), zip);
    assert_eq!(rig.leftovers(), Vec::<String>::new());
}

#[test]
fn an_id_stands_for_its_arguments() {
    let rig = Rig::new(3);
    rig.export(&["--id", "mine"]).expect_success();
    let sentence = rig.export(&["--id", "mine", "--width", "20"]).expect_failure();
    assert!(
        sentence.contains("mine") && sentence.contains("other arguments"),
        "{sentence}"
    );
}

#[test]
fn a_second_program_on_the_same_data_is_sent_away_and_disturbs_nothing() {
    let rig = Rig::new(3);
    let mut first = rig.start(&["--slow", "300"]);
    first.wait_for("preparing");
    let sentence = rig.export(&["--id", "other"]).expect_failure();
    assert!(sentence.contains("in use"), "{sentence}");
    first.finish().expect_success();
}

#[test]
fn an_empty_or_missing_folder_is_one_sentence() {
    let rig = Rig::new(0);
    let sentence = rig.export(&[]).expect_failure();
    assert!(sentence.contains("holds no pages"), "{sentence}");
    rig.remove("pages");
    let sentence = rig.export(&[]).expect_failure();
    assert!(sentence.contains("pages cannot be read"), "{sentence}");
}

#[test]
fn an_output_that_cannot_be_written_is_one_sentence() {
    let rig = Rig::new(1);
    let sentence = rig.export(&["--out", "pages"]).expect_failure();
    assert!(sentence.contains("pages cannot be written"), "{sentence}");
    let sentence = rig.export(&["--out", "pages/page-1.png/out.zip"]).expect_failure();
    assert!(sentence.contains("out.zip cannot be written"), "{sentence}");
}

#[test]
fn an_output_that_goes_away_during_the_export_costs_no_page() {
    let rig = Rig::new(4);
    let words = ["--out", "results/out.zip", "--slow", "20"];
    let mut program = rig.start(&words);
    program.wait_for("rendering");
    rig.remove("results");
    rig.replace("results", b"in the way");
    let sentence = program.finish().expect_failure();
    assert!(sentence.contains("out.zip cannot be written"), "{sentence}");
    rig.remove("results");
    let ended: Ended = rig.export(&words);
    ended.expect_success();
    assert_eq!(rig::count(&ended.log, "rendering"), 0);
}
