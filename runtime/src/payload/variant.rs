//! The name of an enum's variant, as serde sees it: it becomes the code of a stored error.

use serde::ser::{Impossible, Serialize, Serializer};
use std::fmt;

/// The variant's name if `value` is an enum, with `#[serde(rename)]` respected.
pub(crate) fn variant_name<T: Serialize + ?Sized>(value: &T) -> Option<&'static str> {
    match value.serialize(Finder) {
        Ok(()) => None,
        Err(Found(name)) => name,
    }
}

/// Stops at the outermost value; its error is the answer.
struct Finder;

#[derive(Debug)]
struct Found(Option<&'static str>);

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of the variant")
    }
}

impl std::error::Error for Found {}

impl serde::ser::Error for Found {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Found(None)
    }
}

macro_rules! no_variant {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(fn $method(self, _: $type) -> Result<(), Found> { Err(Found(None)) })*
    };
}

impl Serializer for Finder {
    type Ok = ();
    type Error = Found;
    type SerializeSeq = Impossible<(), Found>;
    type SerializeTuple = Impossible<(), Found>;
    type SerializeTupleStruct = Impossible<(), Found>;
    type SerializeTupleVariant = Impossible<(), Found>;
    type SerializeMap = Impossible<(), Found>;
    type SerializeStruct = Impossible<(), Found>;
    type SerializeStructVariant = Impossible<(), Found>;

    no_variant! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_f32: f32,
        serialize_f64: f64, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8],
        serialize_unit_struct: &'static str,
    }

    fn serialize_unit(self) -> Result<(), Found> {
        Err(Found(None))
    }
    fn serialize_none(self) -> Result<(), Found> {
        Err(Found(None))
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Found> {
        value.serialize(Finder)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Found> {
        value.serialize(Finder)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<(), Found> {
        Err(Found(Some(name)))
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: &T,
    ) -> Result<(), Found> {
        Err(Found(Some(name)))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Found> {
        Err(Found(Some(name)))
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Found> {
        Err(Found(Some(name)))
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Found> {
        Err(Found(None))
    }
    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Found> {
        Err(Found(None))
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, Found> {
        Err(Found(None))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Found> {
        Err(Found(None))
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Found> {
        Err(Found(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Serialize)]
    enum Trouble {
        Declined,
        #[serde(rename = "no_stock")]
        NoStock {
            item: u32,
        },
        Other(String),
    }

    #[test]
    fn every_shape_of_variant_has_its_name() {
        assert_eq!(variant_name(&Trouble::Declined), Some("Declined"));
        assert_eq!(variant_name(&Trouble::NoStock { item: 1 }), Some("no_stock"));
        assert_eq!(variant_name(&Trouble::Other(String::new())), Some("Other"));
        assert_eq!(variant_name(&Some(Trouble::Declined)), Some("Declined"));
        assert_eq!(variant_name(&("a struct", 1)), None);
    }
}
