//! Layer 0: values as bytes. Decides the encoding (postcard) and the limit. Absent on purpose: what the values mean.

mod variant;

pub(crate) use variant::variant_name;

use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
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
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + 'static> Storable for T {
    fn stored(&self) -> Result<Payload, EncodeError> {
        encode(self)
    }

    fn restored(bytes: &[u8]) -> Result<Self, DecodeError> {
        decode(bytes)
    }
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
    let bytes = postcard::to_stdvec(value).map_err(|error| EncodeError::Unstorable {
        type_name: std::any::type_name::<T>(),
        reason: error.to_string(),
    })?;
    if bytes.len() > PAYLOAD_MAX {
        return Err(EncodeError::TooLarge { size: bytes.len() });
    }
    Ok(Payload(bytes))
}

/// Every byte must belong to the value: a longer record is another type.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DecodeError> {
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
    fn the_limit_is_exact() {
        // A vector of n bytes above 2 MiB takes n + 4.
        assert!(encode(&Payload(vec![0; PAYLOAD_MAX - 4])).is_ok());
        assert!(matches!(
            encode(&Payload(vec![0; PAYLOAD_MAX - 3])),
            Err(EncodeError::TooLarge { .. })
        ));
    }
}
