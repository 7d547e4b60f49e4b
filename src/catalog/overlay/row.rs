//! A row of an overlay as serde reads it. The reader that `toml` has for its values takes each table for a date and for a
//! value with its place, too, so whatever is read of it is compiled three times; of 27 kinds of rows that is a quarter of a
//! megabyte.

use std::fmt;
use std::ops::Range;

use serde::de::value::CowStrDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The fields of a row, in their order.
pub(super) struct Fields<'t> {
    left: <DeTable<'t> as IntoIterator>::IntoIter,
    /// That of which the key was read.
    value: Option<Spanned<DeValue<'t>>>,
}

impl<'t> Fields<'t> {
    pub(super) fn new(fields: DeTable<'t>) -> Self {
        Fields { left: fields.into_iter(), value: None }
    }
}

/// What is wrong with a row, and where in the overlay, if that is known.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) message: String,
    pub(super) span: Option<Range<usize>>,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Unreadable {}

impl de::Error for Unreadable {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Unreadable { message: message.to_string(), span: None }
    }
}

impl<'de> Deserializer<'de> for Fields<'de> {
    type Error = Unreadable;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_map(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = Unreadable;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Unreadable> {
        let Some((key, value)) = self.left.next() else { return Ok(None) };
        self.value = Some(value);
        let name: CowStrDeserializer<'_, Unreadable> = key.get_ref().clone().into_deserializer();
        let read = seed.deserialize(name).map(Some);
        read.map_err(|error| Unreadable { span: error.span.or(Some(key.span())), ..error })
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Unreadable> {
        let value = self.value.take().ok_or_else(|| de::Error::custom("a value without a key"))?;
        let span = value.span();
        let read = seed.deserialize(value.into_deserializer());
        read.map_err(|error: toml::de::Error| Unreadable {
            message: error.message().to_string(),
            span: error.span().or(Some(span)),
        })
    }
}
