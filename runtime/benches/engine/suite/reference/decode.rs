//! Decoding a journal and nothing else: no reading, no copying, no replay.
//!
//! The types are those of the journal's format as far as the measured journals use it. Other events are an error: then
//! this file has to be taught.

use crate::suite::Fault;
use crate::suite::measured::Measured;
use crate::suite::meter::Meter;
use serde::Deserialize;
use std::hint::black_box;

/// The format that is decoded here: the first byte of every batch.
const FORMAT: u8 = 1;

#[derive(Deserialize)]
struct Event<'a> {
    _at: u64,
    #[serde(borrow)]
    _kind: Kind<'a>,
}

#[derive(Deserialize)]
enum Kind<'a> {
    Started {
        _input: &'a [u8],
        _seed: [u8; 16],
    },
    StepSucceeded {
        _step: &'a str,
        _attempt: u32,
        _result: &'a [u8],
    },
}

/// The event that says which engine started the instance: its number, and how its bytes go on.
const BEHAVIOUR: u8 = 19;

/// The number of events in these batches is what `n` counts.
pub(crate) fn decode(batches: &[Vec<u8>]) -> Result<Measured, Fault> {
    let meter = Meter::start();
    let mut events = 0;
    for batch in batches {
        let Some((&FORMAT, mut rest)) = batch.split_first() else {
            return Err("the journal has a format that the reference `decode` does not know".into());
        };
        while !rest.is_empty() {
            rest = one(rest)?;
            events += 1;
        }
    }
    Ok(meter.stop(events, Vec::new()))
}

/// What comes after the first event.
fn one(bytes: &[u8]) -> Result<&[u8], Fault> {
    let (_at, kind) = postcard::take_from_bytes::<u64>(bytes)?;
    if let Some((&BEHAVIOUR, number)) = kind.split_first() {
        let (_number, rest) = postcard::take_from_bytes::<u32>(number)?;
        return Ok(rest);
    }
    let (event, rest) = postcard::take_from_bytes::<Event<'_>>(bytes)?;
    black_box(event);
    Ok(rest)
}
