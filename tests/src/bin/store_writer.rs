//! The process that dies: `store_writer FOLDER SEED FROM TO kill|close sync|no-sync` opens the store `FOLDER/store` and commits
//! groups `FROM..TO` of the seed's series. After each acknowledged one it writes how many there are to `FOLDER/acks`, and as a
//! line to its output.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use steadfast::store::{SledStore, Store};
use steadfast_tests::groups::Groups;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, seed, from, to, ending, sync] = arguments.as_slice() else {
        panic!("store_writer FOLDER SEED FROM TO kill|close sync|no-sync");
    };
    let number = |text: &String| text.parse::<u64>().expect("a number");
    let folder = PathBuf::from(folder);
    let mut groups = Groups::new(number(seed));
    for _ in 0..number(from) {
        groups.advance();
    }
    // Every other series has so few pages that nearly every commit folds something because of its age.
    let pages = if number(seed).is_multiple_of(2) { 3 } else { 4_096 };
    let options = SledStore::options().pages_max(pages);
    let options = if sync == "no-sync" {
        options.without_sync()
    } else {
        options
    };
    let store = options.open(folder.join("store")).expect("the store opens");
    let epoch = store.claim().expect("the store can be claimed");
    let mut acks = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join("acks"))
        .expect("the acks file opens");
    for index in number(from)..number(to) {
        let (group, expected) = groups.advance();
        let answers = store.commit(epoch, &group).expect("the disk works");
        assert_eq!(answers, expected, "group {index}");
        acks.write_all(&(index + 1).to_le_bytes())
            .expect("the acks file can be written");
        println!("{}", index + 1);
    }
    if ending == "kill" {
        // Nothing is closed or dropped, as if the process had been killed here.
        std::process::exit(0);
    }
    store.close().expect("the store closes");
}
