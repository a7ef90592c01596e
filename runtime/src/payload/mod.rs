//! Layer 0: values as bytes. Decides the encoding (postcard) and the limit. Absent on purpose: what the values mean.
//!
//! A value is measured before it is written: into memory of the right size postcard writes bytes eight times as fast as into
//! a vector that grows, and what is over the limit takes no memory at all. A `Vec<u8>` is copied as a whole, which serde does
//! byte by byte, and on the way back keeps the memory it is in: to find 16 MiB of it costs more than to copy them.

mod variant;

pub(crate) use variant::variant_name;

use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::any::{Any, TypeId};
use std::fmt;

/// The largest input, step result, signal or output, encoded: 16 MiB.
///
/// Store something larger outside and let the step return a reference to it.
pub const PAYLOAD_MAX: usize = 16 * 1024 * 1024;

/// A value that the journal can keep: workflow inputs and outputs, step results and signals.
///
/// Every type with serde's `Serialize` and `Deserialize` is storable, as long as it owns what it holds; there is nothing
/// to implement. The encoding is [postcard](https://docs.rs/postcard), which is compact and not self-describing: a type
/// that is stored may get new enum variants at the end, and nothing else, while instances that hold it are in flight.
///
/// A value that is a `Vec<u8>` or a `String` is copied as a whole. A type that has a long `Vec<u8>` in it is read faster with
/// `#[serde(with = "serde_bytes")]` on that field, which may be added at any time: the stored bytes are the same.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored in the journal",
    label = "not storable",
    note = "inputs, outputs, step results and signals need serde's `Serialize` and `Deserialize`, and must own what they hold: add `#[derive(serde::Serialize, serde::Deserialize)]`"
)]
pub trait Storable: Send + 'static {
    // Serde's traits are not supertraits: the compiler would name them, and not this one, where one is missing.
    #[doc(hidden)]
    fn stored(&self) -> Result<Payload, EncodeError>;

    #[doc(hidden)]
    fn restored(bytes: &[u8]) -> Result<Self, DecodeError>
    where
        Self: Sized;

    /// [`Storable::restored`] in the payload's own memory, if the value is nothing but bytes.
    #[doc(hidden)]
    fn restored_from(payload: Payload) -> Result<Self, DecodeError>
    where
        Self: Sized;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + 'static> Storable for T {
    fn stored(&self) -> Result<Payload, EncodeError> {
        match (self as &dyn Any).downcast_ref::<Vec<u8>>() {
            Some(bytes) => encode_whole(bytes),
            None => encode(self),
        }
    }

    fn restored(bytes: &[u8]) -> Result<Self, DecodeError> {
        match is_bytes::<Self>() {
            true => Ok(from_bytes(read::<Self, &[u8]>(bytes)?.to_vec())),
            false => decode(bytes),
        }
    }

    fn restored_from(payload: Payload) -> Result<Self, DecodeError> {
        let Payload(mut bytes) = payload;
        match is_bytes::<Self>() {
            true => {
                let length = read::<Self, &[u8]>(&bytes)?.len();
                bytes.drain(..bytes.len() - length);
                Ok(from_bytes(bytes))
            }
            false => decode(&bytes),
        }
    }
}

fn is_bytes<T: 'static>() -> bool {
    TypeId::of::<T>() == TypeId::of::<Vec<u8>>()
}

fn from_bytes<T: 'static>(bytes: Vec<u8>) -> T {
    let mut bytes = Some(bytes);
    let same = (&mut bytes as &mut dyn Any).downcast_mut::<Option<T>>();
    same.and_then(Option::take)
        .expect("the caller knows that `T` is a `Vec<u8>`")
}

/// An encoded value.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Payload(pub(crate) Vec<u8>);

/// Why a value could not be turned into bytes that the journal takes.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EncodeError {
    #[error("`{type_name}` cannot be encoded: {reason}")]
    Unstorable { type_name: &'static str, reason: String },
    #[error(
        "a value of {size} bytes is larger than the limit of {PAYLOAD_MAX} bytes: store it outside and keep a reference"
    )]
    TooLarge { size: usize },
}

/// Bytes that are not a value of the expected type.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{size} stored bytes are not a `{type_name}`: {reason}")]
pub struct DecodeError {
    pub(crate) type_name: &'static str,
    pub(crate) size: usize,
    pub(crate) reason: String,
}

pub(crate) fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Payload, EncodeError> {
    let bytes = encoded(value).map_err(|error| EncodeError::Unstorable {
        type_name: std::any::type_name::<T>(),
        reason: error.to_string(),
    })?;
    match bytes {
        Ok(bytes) if bytes.len() <= PAYLOAD_MAX => Ok(Payload(bytes)),
        Ok(bytes) => Err(EncodeError::TooLarge { size: bytes.len() }),
        Err(size) => Err(EncodeError::TooLarge { size }),
    }
}

/// The bytes of a value, or how many they would be if they are too many.
fn encoded<T: Serialize + ?Sized>(value: &T) -> postcard::Result<Result<Vec<u8>, usize>> {
    let size = postcard::serialize_with_flavor(value, postcard::ser_flavors::Size::default())?;
    if size > PAYLOAD_MAX {
        return Ok(Err(size));
    }
    let mut bytes = vec![0; size];
    match postcard::to_slice(value, &mut bytes).map(|written| written.len()) {
        Ok(written) => {
            bytes.truncate(written);
            Ok(Ok(bytes))
        }
        // The value is not the same each time it is asked, as one behind a lock may be.
        Err(postcard::Error::SerializeBufferFull) => postcard::to_stdvec(value).map(Ok),
        Err(error) => Err(error),
    }
}

/// Bytes as they are: postcard writes how many there are, and then them.
fn encode_whole(bytes: &[u8]) -> Result<Payload, EncodeError> {
    let Payload(mut stored) = encode(&bytes.len())?;
    let size = stored.len() + bytes.len();
    if size > PAYLOAD_MAX {
        return Err(EncodeError::TooLarge { size });
    }
    stored.reserve_exact(bytes.len());
    stored.extend_from_slice(bytes);
    Ok(Payload(stored))
}

pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DecodeError> {
    read::<T, T>(bytes)
}

/// Encodes a value behind what the bytes hold already.
pub(crate) fn append<T: Serialize + ?Sized>(bytes: &mut Vec<u8>, value: &T) -> postcard::Result<()> {
    struct Behind<'b>(&'b mut Vec<u8>);
    impl postcard::ser_flavors::Flavor for Behind<'_> {
        type Output = ();
        fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
            self.0.push(byte);
            Ok(())
        }
        fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
            self.0.extend_from_slice(bytes);
            Ok(())
        }
        fn finalize(self) -> postcard::Result<()> {
            Ok(())
        }
    }
    postcard::serialize_with_flavor(value, Behind(bytes))
}

/// Reads a `T` in the form of an `F`. Every byte must belong to the value: a longer record is another type.
fn read<'b, T, F: Deserialize<'b>>(bytes: &'b [u8]) -> Result<F, DecodeError> {
    let wrong = |reason: String| DecodeError {
        type_name: std::any::type_name::<T>(),
        size: bytes.len(),
        reason,
    };
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(wrong(format!("{} bytes are left over", rest.len()))),
        Err(error) => Err(wrong(error.to_string())),
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Payload;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Payload, E> {
                Ok(Payload(bytes.to_vec()))
            }
            fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Payload, E> {
                Ok(Payload(bytes))
            }
        }
        deserializer.deserialize_byte_buf(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_left_over_are_another_type() {
        let pair = encode(&(1u32, 2u32)).expect("a pair is storable");
        assert_eq!(decode::<(u32, u32)>(&pair.0).expect("it is a pair"), (1, 2));
        let error = decode::<u32>(&pair.0).expect_err("a pair is not a number");
        assert_eq!(
            error.to_string(),
            "2 stored bytes are not a `u32`: 1 bytes are left over"
        );
    }

    #[test]
    fn bytes_in_one_piece_are_stored_as_serde_stores_them() {
        for length in [0, 1, 127, 128, 16_383, 16_384, 1 << 20] {
            let bytes: Vec<u8> = (0..length).map(|index| index as u8).collect();
            let stored = bytes.stored().expect("bytes are storable");
            assert!(
                stored.0 == postcard::to_stdvec(&bytes).expect("postcard takes bytes"),
                "{length} bytes"
            );
            assert!(
                Vec::<u8>::restored(&stored.0).expect("these are bytes") == bytes,
                "{length} bytes"
            );
            assert!(
                Vec::<u8>::restored_from(stored.clone()).expect("these are bytes") == bytes,
                "{length} bytes"
            );
            // The other types that have the same bytes.
            assert!(encode(&Payload(bytes.clone())).expect("a payload is storable") == stored);
            assert!(encode(bytes.as_slice()).expect("a slice is storable") == stored);
        }
    }

    #[test]
    fn wrong_bytes_get_the_same_words_in_one_piece_as_byte_by_byte() {
        let overlong = [0xff; 11];
        for wrong in [&[][..], &[0x80], &[3, 1, 2], &[1, 1, 2], &overlong] {
            let in_one_piece = Vec::<u8>::restored(wrong).expect_err("these are not bytes");
            let byte_by_byte = decode::<Vec<u8>>(wrong).expect_err("these are not bytes");
            assert_eq!(in_one_piece.to_string(), byte_by_byte.to_string());
            let in_place = Vec::<u8>::restored_from(Payload(wrong.to_vec())).expect_err("these are not bytes");
            assert_eq!(in_place.to_string(), byte_by_byte.to_string());
        }
    }

    /// Has another length each time it is written.
    struct Unsteady {
        length: std::cell::Cell<usize>,
        next: fn(usize) -> usize,
    }

    impl Serialize for Unsteady {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.length.set((self.next)(self.length.get()));
            serializer.collect_seq(vec![7u8; self.length.get()])
        }
    }

    #[test]
    fn a_value_that_changes_while_it_is_measured_is_stored_whole() {
        let stored = |length, next| {
            let value = Unsteady {
                length: std::cell::Cell::new(length),
                next,
            };
            encode(&value).expect("it is storable").0
        };
        assert_eq!(stored(0, |length| length + 1), [3, 7, 7, 7]);
        assert_eq!(stored(5, |length| length - 1), [3, 7, 7, 7]);
    }

    #[test]
    fn the_limit_is_exact() {
        assert!(vec![0u8; PAYLOAD_MAX - 4].stored().is_ok());
        assert!(matches!(
            vec![0u8; PAYLOAD_MAX - 3].stored(),
            Err(EncodeError::TooLarge { size }) if size == PAYLOAD_MAX + 1
        ));

        // A vector of n bytes above 2 MiB takes n + 4.
        assert!(encode(&Payload(vec![0; PAYLOAD_MAX - 4])).is_ok());
        assert!(matches!(
            encode(&Payload(vec![0; PAYLOAD_MAX - 3])),
            Err(EncodeError::TooLarge { .. })
        ));
    }
}
