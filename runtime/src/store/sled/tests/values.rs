//! The files of long values: what is kept, what is cut off, and what is said of damage.

use super::super::rows::RowFault;
use super::super::values::{Filed, Position, Reader, Values};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

const SEGMENT: usize = 64 << 20;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn open(folder: &Path, end: Position) -> Values {
    Values::open(folder, end).unwrap()
}

fn segment(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("values/{number:016x}"))
}

/// Bytes that tell where they belong.
fn value(seed: u8, length: usize) -> Vec<u8> {
    (0..length)
        .map(|index| (index / 251) as u8 ^ index as u8 ^ seed)
        .collect()
}

fn append(values: &mut Values, bytes: &[u8]) -> std::io::Result<Filed> {
    let filed = values.position().file(bytes);
    values.append(filed, bytes).map(|()| filed)
}

fn file(values: &mut Values, bytes: &[u8]) -> Filed {
    let filed = append(values, bytes).unwrap();
    values.sync().unwrap();
    filed
}

fn rotten(reader: &Reader, filed: Filed) -> String {
    match reader.read(filed) {
        Err(RowFault::Rotten(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_of_every_length_are_read_as_they_were_appended() {
    let folder = folder();
    let mut values = open(folder.path(), Position::START);
    let lengths = [
        0,
        1,
        4_095,
        4_096,
        4_097,
        40_000,
        (1 << 20) - 1,
        1 << 20,
        (1 << 20) + 1,
        3 << 20,
    ];
    let filed: Vec<Filed> = lengths
        .iter()
        .map(|length| append(&mut values, &value(3, *length)).unwrap())
        .collect();
    values.sync().unwrap();
    let space: u64 = filed.iter().map(|filed| filed.space()).sum();
    assert_eq!(
        values.position(),
        Position {
            segment: 1,
            offset: space
        }
    );

    let values = open(folder.path(), values.position());
    for (filed, length) in filed.iter().zip(lengths) {
        assert!(
            values.reader().read(*filed).unwrap() == value(3, length),
            "{length} bytes"
        );
        assert!(filed.offset % 4_096 == 0, "{filed:?} begins within a page");
    }
}

#[test]
fn what_lies_beyond_the_last_commit_is_cut_off() {
    let folder = folder();
    let mut values = open(folder.path(), Position::START);
    let kept = file(&mut values, &value(1, 50_000));
    let end = values.position();
    let lost = file(&mut values, &value(2, 50_000));
    drop(values);
    fs::write(segment(folder.path(), 2), b"begun, and never counted").unwrap();

    let mut values = open(folder.path(), end);
    assert_eq!(values.reader().read(kept).unwrap(), value(1, 50_000));
    assert_eq!(
        rotten(&values.reader(), lost),
        "the file of values 0000000000000001 has 53248 bytes, and a value of 50000 bytes begins at byte 53248"
    );
    assert!(!segment(folder.path(), 2).exists());
    let next = file(&mut values, &value(4, 1_000));
    assert_eq!((next.segment, next.offset), (end.segment, end.offset));
    assert_eq!(values.reader().read(kept).unwrap(), value(1, 50_000));
    assert_eq!(values.reader().read(next).unwrap(), value(4, 1_000));
}

#[test]
fn a_file_that_is_too_short_is_reported_and_left_alone() {
    let folder = folder();
    let mut values = open(folder.path(), Position::START);
    file(&mut values, &value(1, 50_000));
    let end = values.position();
    drop(values);
    let path = segment(folder.path(), 1);
    let refused = || match Values::open(folder.path(), end) {
        Err(RowFault::Rotten(reason)) => reason,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was opened"),
    };
    fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(40_000)
        .unwrap();
    assert_eq!(
        refused(),
        "the file of values 0000000000000001 has 40000 bytes, and values up to byte 53248 were acknowledged: data was lost"
    );
    assert_eq!(fs::metadata(&path).unwrap().len(), 40_000);
    fs::remove_file(&path).unwrap();
    assert!(refused().contains("has 0 bytes"));
    assert!(!path.exists());
}

#[test]
fn a_flipped_byte_a_wrong_place_and_a_missing_file_are_reported() {
    let folder = folder();
    let mut values = open(folder.path(), Position::START);
    let first = file(&mut values, &value(1, 40_960));
    let second = file(&mut values, &value(1, 40_960));
    let path = segment(folder.path(), 1);
    let reader = values.reader();

    let swapped = Filed {
        crc: first.crc,
        ..second
    };
    let reason = rotten(&reader, swapped);
    assert!(
        reason.contains("holds another value at byte 40960 than was written"),
        "{reason}"
    );

    let mut bytes = fs::read(&path).unwrap();
    bytes[20_000] ^= 1;
    fs::write(&path, bytes).unwrap();
    let reason = rotten(&reader, first);
    assert!(reason.contains("the checksum of the 40960 bytes is"), "{reason}");
    assert!(reason.contains(&format!("not {:08x}", first.crc)), "{reason}");
    assert_eq!(reader.read(second).unwrap(), value(1, 40_960));

    fs::remove_file(path).unwrap();
    assert_eq!(
        rotten(&reader, second),
        "the file of values 0000000000000001 is missing"
    );
}

#[test]
fn two_threads_read_while_a_third_appends() {
    let folder = folder();
    let mut values = open(folder.path(), Position::START);
    let reader = values.reader();
    std::thread::scope(|scope| {
        let mut readers = Vec::new();
        for _ in 0..2 {
            let (filed, next) = channel::<(u8, Filed)>();
            let reader = reader.clone();
            scope.spawn(move || {
                let mut known = Vec::new();
                for (seed, filed) in next {
                    known.push((seed, filed));
                    for (seed, filed) in known.iter().rev().take(5) {
                        assert!(
                            reader.read(*filed).unwrap() == value(*seed, filed.length as usize),
                            "{filed:?}"
                        );
                    }
                }
                assert_eq!(known.len(), 60);
            });
            readers.push(filed);
        }
        for seed in 0..60 {
            let filed = file(&mut values, &value(seed, 33_000 + usize::from(seed) * 1_500));
            for reader in &readers {
                reader.send((seed, filed)).unwrap();
            }
        }
        drop(readers);
    });
}

#[test]
fn a_full_segment_is_followed_by_another_and_goes_when_nothing_in_it_is_alive() {
    let folder = folder();
    let mut values = open(folder.path(), Position::START);
    let large = vec![5; SEGMENT / 2 - 5_000];
    let filed = [(); 3].map(|()| append(&mut values, &large).unwrap());
    values.sync().unwrap();
    assert_eq!(filed.map(|filed| filed.segment), [1, 1, 2]);
    let reader = values.reader();
    for filed in filed {
        assert!(reader.read(filed).unwrap() == large, "{filed:?}");
    }

    let values = open(folder.path(), values.position());
    assert_eq!(
        values.reader().space_of(1).unwrap(),
        Some(filed[0].space() + filed[1].space())
    );
    let refused = values.remove(2).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the file of values 0000000000000002 is still written to"
    );
    values.remove(1).unwrap();
    values.remove(1).unwrap();
    assert_eq!(
        rotten(&reader, filed[0]),
        "the file of values 0000000000000001 is missing"
    );
    assert!(reader.read(filed[2]).unwrap() == large);

    let mut values = open(folder.path(), values.position());
    let next = file(&mut values, b"next");
    assert_eq!((next.segment, next.offset), (2, filed[2].space()));
}

#[test]
fn a_value_that_is_larger_than_a_segment_has_its_own() {
    let folder = folder();
    let mut values = open(folder.path(), Position::START);
    let huge = vec![7; SEGMENT + 1];
    let filed = [&b"small"[..], &huge, b"small"].map(|bytes| append(&mut values, bytes).unwrap());
    values.sync().unwrap();
    assert_eq!(
        filed.map(|filed| (filed.segment, filed.offset)),
        [(1, 0), (2, 0), (3, 0)]
    );
    assert!(values.reader().read(filed[1]).unwrap() == huge);
    assert_eq!(values.reader().read(filed[2]).unwrap(), b"small");
}

#[test]
fn a_full_disk_takes_nothing_away_and_the_next_append_takes_the_place() {
    let folder = folder();
    let mut values = open(folder.path(), Position::START);
    let kept = file(&mut values, &value(1, 40_000));
    let end = values.position();

    // The last one is no multiple of a page, which a direct write refuses: from there on they go through the cache.
    for (room, length) in [(0, 40_000), (4_096, 40_000), (1 << 19, 3 << 20), (100, 40_000)] {
        values.room = room;
        let appended = append(&mut values, &value(2, 33_000)).and_then(|_| append(&mut values, &value(3, length)));
        let refused = appended.and_then(|_| values.sync()).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::StorageFull);
        assert_eq!(values.position(), end);
        assert_eq!(fs::metadata(segment(folder.path(), 1)).unwrap().len(), end.offset);
    }
    values.room = usize::MAX;
    let next = file(&mut values, &value(4, 2 << 20));
    assert_eq!(next.offset, end.offset);
    assert_eq!(values.reader().read(kept).unwrap(), value(1, 40_000));
    assert_eq!(values.reader().read(next).unwrap(), value(4, 2 << 20));
}

#[test]
fn what_was_appended_over_two_segments_is_taken_back_whole() {
    let folder = folder();
    let mut values = open(folder.path(), Position::START);
    let kept = file(&mut values, &value(1, 40_000));
    let end = values.position();
    append(&mut values, &vec![2; SEGMENT / 2]).unwrap();
    append(&mut values, &vec![3; SEGMENT / 2]).unwrap();
    assert_eq!(values.position().segment, 2);
    values.take_back();
    assert_eq!(values.position(), end);
    assert!(!segment(folder.path(), 2).exists());

    // The name of the next segment is taken by something that is no file.
    fs::create_dir(segment(folder.path(), 2)).unwrap();
    append(&mut values, &vec![2; SEGMENT / 2]).unwrap();
    assert!(append(&mut values, &vec![3; SEGMENT / 2]).is_err());
    assert_eq!(values.position(), end);
    fs::remove_dir(segment(folder.path(), 2)).unwrap();

    let next = file(&mut values, &vec![4; SEGMENT / 2]);
    assert_eq!((next.segment, next.offset), (1, end.offset));
    assert_eq!(values.reader().read(kept).unwrap(), value(1, 40_000));
    assert!(values.reader().read(next).unwrap() == vec![4; SEGMENT / 2]);
}

#[test]
fn the_bytes_of_a_place_and_of_a_filed_value_are_frozen() {
    let filed = Filed {
        segment: 1,
        offset: 4_096,
        length: 300,
        crc: 7,
    };
    assert_eq!(postcard::to_stdvec(&filed).unwrap(), [1, 0x80, 0x20, 0xac, 2, 7]);
    let position = Position {
        segment: 2,
        offset: 4_096,
    };
    assert_eq!(postcard::to_stdvec(&position).unwrap(), [2, 0x80, 0x20]);

    let folder = folder();
    let filed = file(&mut open(folder.path(), Position::START), b"value");
    assert_eq!(filed.crc, crc32fast::hash(b"\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0value"));
    let mut bytes = b"value".to_vec();
    bytes.resize(4_096, 0);
    assert_eq!(fs::read(segment(folder.path(), 1)).unwrap(), bytes);
}
