//! Reads the rows of a packed catalog: what `postcard` wrote, by hand, because every run reads some thousands of them before
//! it does anything else, and this takes half the time.
//!
//! A row that ends early goes on as zeros: none, false, empty. That is how fields that were added later are missing.

use std::fmt;

use serde::de::value::U32Deserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, EnumAccess, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};

use super::apart;
use crate::types::packed::Numbered;

/// That bytes are no row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRow;

impl fmt::Display for NoRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is not a row")
    }
}

impl std::error::Error for NoRow {}

impl de::Error for NoRow {
    #[cold]
    fn custom<T: fmt::Display>(_: T) -> Self {
        NoRow
    }
}

/// What is left of a row or of a table.
pub struct RowReader<'b>(pub &'b [u8]);

impl<'b> RowReader<'b> {
    #[inline(always)]
    fn byte(&mut self) -> u8 {
        match self.0 {
            [first, rest @ ..] => {
                self.0 = rest;
                *first
            }
            [] => 0,
        }
    }

    /// A number in as many bytes as it needs, seven bits in each.
    #[inline(always)]
    fn number(&mut self) -> u32 {
        match self.0 {
            [one, rest @ ..] if *one < 0x80 => {
                self.0 = rest;
                u32::from(*one)
            }
            [one, two, rest @ ..] if *two < 0x80 => {
                self.0 = rest;
                u32::from(*one & 0x7f) | u32::from(*two) << 7
            }
            _ => self.long_number(),
        }
    }

    #[inline(never)]
    fn long_number(&mut self) -> u32 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            number |= u32::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte < 0x80 {
                return number;
            }
            shift += 7;
        }
    }

    /// As many bytes as the number before them says.
    fn part(&mut self) -> Result<RowReader<'b>, NoRow> {
        let length = self.number() as usize;
        let (part, rest) = self.0.split_at_checked(length).ok_or(NoRow)?;
        self.0 = rest;
        Ok(RowReader(part))
    }
}

/// Rows as they were packed, and what the numbers in them count in.
#[derive(Clone, Copy)]
pub struct PackedRows {
    /// The package or repository that all are of; empty where rows are not told apart.
    pub head: &'static str,
    /// How many there are.
    pub count: u32,
    /// Each with its length before it.
    pub bytes: &'static [u8],
    /// What the numbers count in.
    pub numbered: &'static Numbered,
    /// Whether they lie apart, and say themselves what they count in.
    pub apart: bool,
}

impl PackedRows {
    /// The rows.
    pub fn read<T: DeserializeOwned>(self) -> Result<Vec<T>, NoRow> {
        let (bytes, numbered) = match self.apart {
            true => apart::open(self.bytes).ok_or(NoRow)?,
            false => (self.bytes, self.numbered),
        };
        numbered.read(|| rows(self.count, bytes))
    }
}

fn rows<T: DeserializeOwned>(count: u32, bytes: &[u8]) -> Result<Vec<T>, NoRow> {
    // Each row has a byte at least: no number in a damaged file makes room for more.
    if count as usize > bytes.len() {
        return Err(NoRow);
    }
    let mut reader = RowReader(bytes);
    let mut rows = Vec::with_capacity(count as usize);
    for _ in 0..count {
        rows.push(T::deserialize(&mut reader.part()?)?);
    }
    Ok(rows)
}

impl<'de> Deserializer<'de> for &mut RowReader<'_> {
    type Error = NoRow;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, NoRow> {
        Err(NoRow)
    }

    #[inline(always)]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoRow> {
        visitor.visit_bool(self.byte() != 0)
    }

    #[inline(always)]
    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoRow> {
        visitor.visit_u32(self.number())
    }

    #[inline(always)]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoRow> {
        if self.byte() == 0 { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    #[inline(always)]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, NoRow> {
        visitor.visit_newtype_struct(self)
    }

    #[inline(always)]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoRow> {
        let left = self.number() as usize;
        if left > self.0.len() {
            return Err(NoRow);
        }
        visitor.visit_seq(Items { reader: self, left })
    }

    #[inline(always)]
    fn deserialize_tuple<V: Visitor<'de>>(self, left: usize, visitor: V) -> Result<V::Value, NoRow> {
        visitor.visit_seq(Items { reader: self, left })
    }

    #[inline(always)]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        left: usize,
        visitor: V,
    ) -> Result<V::Value, NoRow> {
        visitor.visit_seq(Items { reader: self, left })
    }

    #[inline(always)]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NoRow> {
        visitor.visit_seq(Items { reader: self, left: fields.len() })
    }

    #[inline(always)]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NoRow> {
        visitor.visit_enum(Variant(self.number()))
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    // A row holds nothing else.
    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct map identifier
        ignored_any
    }
}

/// The fields of a row or the items of a list.
struct Items<'r, 'b> {
    reader: &'r mut RowReader<'b>,
    left: usize,
}

impl<'de> SeqAccess<'de> for Items<'_, '_> {
    type Error = NoRow;

    #[inline(always)]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, NoRow> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        seed.deserialize(&mut *self.reader).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

/// A word of a vocabulary, by its place there.
struct Variant(u32);

impl<'de> EnumAccess<'de> for Variant {
    type Error = NoRow;
    type Variant = Plain;

    #[inline(always)]
    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Plain), NoRow> {
        let number: U32Deserializer<NoRow> = self.0.into_deserializer();
        Ok((seed.deserialize(number)?, Plain))
    }
}

/// Words hold nothing.
struct Plain;

impl<'de> de::VariantAccess<'de> for Plain {
    type Error = NoRow;

    fn unit_variant(self) -> Result<(), NoRow> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, NoRow> {
        Err(NoRow)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, NoRow> {
        Err(NoRow)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, NoRow> {
        Err(NoRow)
    }
}
