//! The bytes of every row, as literals: a change that breaks one of these cannot read what is stored.

use super::*;
use crate::store::sled::entry::{Entry, What};
use crate::store::sled::keys;
use crate::store::sled::rows::{self, Chunks, Placed, RowFault};
use crate::store::sled::values::Filed;
use proptest::prelude::*;
use std::fs;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Key, value, and the value's length; of long values the beginning.
fn line(row: (::sled::IVec, ::sled::IVec)) -> String {
    let (key, value) = row;
    let shown = &value[..value.len().min(96)];
    format!("{} = {} {}", hex(&key), hex(shown), value.len())
}

/// A journal of more than a row, with a batch in a file, and a file of which something is given up.
fn put_long_journal(store: &SledStore, epoch: Epoch) {
    let number = created(store, epoch, "c");
    let filed = signal("c", "filed", vec![3; 32 << 10]);
    let consume = Write::Turn {
        instance: number,
        expected_batches: 1,
        batch: Some(vec![4; 40 << 10]),
        change: None,
        consumed_signals: vec![0],
        at: at(6),
    };
    let mut group = vec![filed, consume];
    group.extend((2..5).map(|batches| turn(number, batches, &[batches as u8; 1_400])));
    group.push(folding(number, 5));
    store.commit(epoch, &group).unwrap();
}

fn frozen_rows() -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let epoch = store.claim().unwrap();
    let parked = Write::Turn {
        instance: InstanceNumber(1),
        expected_batches: 1,
        batch: Some(b"two".to_vec()),
        change: Some(crate::store::RecordChange {
            status: crate::store::Status::Waiting,
            awaited_signals: vec!["approval".to_owned()],
            wake_at: Some(at(60)),
            trouble: Some("none".to_owned()),
        }),
        consumed_signals: Vec::new(),
        at: at(2),
    };
    let keyed = Write::Signal {
        id: "a".to_owned(),
        name: "other".to_owned(),
        payload: b"value".to_vec(),
        dedup_key: Some("k".to_owned()),
        at: at(3),
    };
    let cancel = Write::Cancel {
        id: "b".to_owned(),
        reason: "why".to_owned(),
        at: at(4),
    };
    let long = signal("b", "long", (0..=255).cycle().take(4_100).collect());
    let gone = signal("b", "gone", vec![1; 4_100]);
    store
        .commit(epoch, &[start("a"), parked, keyed, start("b"), cancel, long, gone])
        .unwrap();
    let consume = Write::Turn {
        instance: InstanceNumber(2),
        expected_batches: 1,
        batch: None,
        change: None,
        consumed_signals: vec![1],
        at: at(5),
    };
    let note = Write::Note {
        key: "k".to_owned(),
        value: b"value".to_vec(),
    };
    store.commit(epoch, &[consume, note]).unwrap();
    put_long_journal(&store, epoch);
    let side = fs::read(folder.path().join("acknowledged")).unwrap();
    let format = fs::read(folder.path().join("format")).unwrap();
    let opened = store.opened();
    let rows = opened.as_ref().unwrap().disk.tree.iter().map(|row| line(row.unwrap()));
    let files = [
        format!("acknowledged = {}", hex(&side)),
        format!("format = {}", hex(&format)),
    ];
    rows.chain(files).collect()
}

#[test]
fn every_stored_row_is_frozen() {
    let rows = frozen_rows();
    assert_eq!(
        rows.join("\n"),
        FROZEN.trim(),
        "the rows as they are now:\n{}\n",
        rows.join("\n")
    );
}

const FROZEN: &str = "
63 = 024f9912d905cef295f00f010401030180c004 19
6400000000000000016b = 01fde3a4b500 6
6800000000000000030000000000000000 = 02085cc7a1000773746172746564020180800280c002decbffc30a00f80a020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202 2833
6800000000000000030000000000000004 = 02fb21155800f80a04040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404 1408
6961 = 0155c7634001 6
6963 = 011772e9ad03 6
6e6b = 01e8560b820076616c7565 11
700000000000000000 = 0155b633cf02000200c0843d000162056f7264657201070707070707070707070707070707070707070707070707070707070707070700077374617274656402018092f40103037768790202c08db70102046c6f6e670102008420000203c08d 110
700000000000000001 = 010d8bda7503000204c096b1020100000101 18
700000000000000002 = 01ac07d35804000300c0843d000163056f72646572010707070707070707070707070707070707070707070707070707070707070707000773746172746564 63
720000000000000001 = 02da01701400010161056f7264657201070707070707070707070707070707070707070707070707070707070707070702c0843dc08db7010108617070726f76616c01808ece1c0001046e6f6e65020103020001000007737461727465640003 99
720000000000000003 = 02232ec7bc00030163056f7264657201070707070707070707070707070707070707070707070707070707070707070703c0843d80897a0000000005010705050001 66
7300000000000000010000000000000000 = 0178b29927056f74686572c08db7010076616c7565 21
7400000000039387000000000000000001 = 01ea919633 5
760000000000000001 = 01e94901a4808002 8
78000000000000000200000000000000000000000000000000 = 014c8d19a3000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a 4000
78000000000000000200000000000000000000000000000001 = 013eda9a1a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5 110
790000000000000003 = 0171a5fcb5 5
acknowledged = 0000000000000005fe05794ebcde4448
format = 73746561646661737420320a
";

/// An entry of each kind, as pages have them.
#[test]
fn every_entry_is_frozen() {
    let entries = [
        What::Start {
            id: "a",
            workflow: "w",
            version: 1,
            input_digest: [7; 32],
            batch: Placed::Inline(b"b"),
        },
        What::Turn {
            batch: Some(Placed::Chunked(Chunks {
                group: 1,
                value: 2,
                length: 3,
            })),
            change: None,
            consumed_signals: vec![4].into(),
        },
        What::Signal {
            name: "s",
            payload: Placed::Filed(Filed {
                segment: 1,
                offset: 2,
                length: 3,
                crc: 4,
            }),
            dedup_key: Some("k"),
        },
        What::Cancel { reason: "why" },
    ];
    let encoded = entries.map(|what| {
        let entry = Entry {
            instance: 5,
            place: 6,
            at: Timestamp::from_micros(7),
            what,
        };
        let bytes = rows::encode(&entry);
        assert_eq!(rows::decode::<Entry<'_>>(b"p", &bytes), Ok(entry));
        hex(&bytes)
    });
    assert_eq!(
        encoded,
        [
            "0506070001610177010707070707070707070707070707070707070707070707070707070707070707000162",
            "050607010101010203000104",
            "050607020173020102030401016b",
            "0506070303776879",
        ]
    );
}

#[test]
fn keys_sort_like_their_numbers() {
    let numbers = [0, 1, 255, 256, u64::from(u32::MAX), u64::MAX];
    let batches = numbers.map(|index| keys::batch(InstanceNumber(1), index));
    assert!(batches.is_sorted());
    let due = numbers.map(|micros| keys::due(Timestamp::from_micros(micros), InstanceNumber(u64::MAX)));
    assert!(due.is_sorted());
    assert_eq!(
        numbers.map(|number| keys::number(&keys::batch(InstanceNumber(7), number), 1)),
        numbers.map(Some)
    );
}

proptest! {
    #[test]
    fn a_sealed_body_comes_back_and_no_changed_byte_does(
        key in proptest::collection::vec(any::<u8>(), 0..40),
        body in proptest::collection::vec(any::<u8>(), 0..200),
        place in any::<prop::sample::Index>(),
        bit in 0..8_u32,
    ) {
        let mut value = rows::seal(&key, &body);
        prop_assert_eq!(rows::unseal(&key, &value), Ok(body.as_slice()));
        let place = place.index(value.len());
        value[place] ^= 1 << bit;
        prop_assert!(rows::unseal(&key, &value).is_err());
    }

    #[test]
    fn no_bytes_make_decoding_panic(key in proptest::collection::vec(any::<u8>(), 0..40), body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let rotten = |fault: RowFault| matches!(fault, RowFault::Rotten(_));
        prop_assert!(rows::signal(&key, &body).map_or_else(rotten, |_| true));
        prop_assert!(rows::instance_record(&key, &body).map_or_else(rotten, |_| true));
        prop_assert!(Placed::decode(&key, &body).map_or_else(rotten, |_| true));
        prop_assert!(!keys::describe(&key).is_empty());
    }

    #[test]
    fn placed_values_come_back(group in any::<u64>(), value in any::<u64>(), length in any::<u64>(), inline in proptest::collection::vec(any::<u8>(), 0..200)) {
        let filed = Filed { segment: group, offset: value, length, crc: length as u32 };
        for placed in [Placed::Chunked(Chunks { group, value, length }), Placed::Filed(filed), Placed::Inline(&inline)] {
            let mut body = Vec::new();
            placed.encode_to(&mut body);
            prop_assert_eq!(Placed::decode(b"h", &body), Ok(placed.clone()));
            let mut packed = Vec::new();
            rows::append(&mut packed, &placed);
            rows::append(&mut packed, &placed);
            let unpacked: Vec<_> = rows::unpack(b"h", &packed).collect();
            prop_assert_eq!(unpacked, [Ok(placed.clone()), Ok(placed)]);
        }
    }
}
