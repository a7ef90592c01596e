//! The short examples do what they say.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

fn program(path: &str, folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(path);
    command.args(words).current_dir(folder).stdout(Stdio::piped());
    command
}

fn printed(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_approval_survives_a_kill_and_takes_the_decision_from_another_program() {
    let folder = tempfile::tempdir().unwrap();
    let approval = |words: &[&str]| program(env!("CARGO_BIN_EXE_approval"), folder.path(), words);

    let mut waiting = approval(&[]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(waiting.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(line.starts_with("Shall we buy"), "{line}");
    waiting.kill().unwrap();
    waiting.wait().unwrap();

    let mut waiting = approval(&[]).spawn().unwrap();
    printed(approval(&["--decide", "yes"]));
    let mut rest = String::new();
    waiting.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
    // It may have been killed before it was recorded that it asked; then it asks again.
    assert!(rest.contains("request-1 was made earlier."), "{rest}");
    assert!(rest.ends_with("We bought a lighthouse.\n"), "{rest}");
    assert!(waiting.wait().unwrap().success());
}

#[test]
fn an_order_ends_with_a_receipt_and_a_stolen_card_without() {
    let folder = tempfile::tempdir().unwrap();
    let order = |words: &[&str]| printed(program(env!("CARGO_BIN_EXE_order"), folder.path(), words));
    let first = order(&[]);
    assert!(
        first.contains("shipping 4 parcels") && first.contains("Receipt"),
        "{first}"
    );
    let again = order(&[]);
    assert!(!again.contains("shipping") && again.contains("Receipt"), "{again}");
    let stolen = order(&["--order", "43", "--card", "stolen"]);
    assert!(
        stolen.contains("the bank refuses this card") && !stolen.contains("packing"),
        "{stolen}"
    );
}
