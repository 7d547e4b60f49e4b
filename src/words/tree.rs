//! Values of a TOML document for serde: locks and the rows of overlays.
//!
//! The deserializer of the toml crate is prepared for whatever a type may ask, and compiled anew for each: of thirty
//! types that was a quarter of a megabyte. This one knows what the types here ask for. Parsing remains the crate's.

use std::ops::Range;

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// A value and where it stands.
pub struct Tree<'de> {
    value: DeValue<'de>,
    span: Range<usize>,
}

/// Why a value is not what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TreeError {
    /// What is wrong, in serde's words.
    pub message: String,
    /// Where, in bytes; none for what the whole lacks.
    pub span: Option<Range<usize>>,
}

impl<'de> Tree<'de> {
    /// A table and where it stands.
    pub fn table(fields: DeTable<'de>, span: Range<usize>) -> Self {
        Tree { value: DeValue::Table(fields), span }
    }

    /// Parses a document.
    pub fn parse(text: &'de str) -> Result<Self, TreeError> {
        let read = DeTable::parse(text);
        let table = read.map_err(|error| TreeError { message: error.message().to_string(), span: error.span() })?;
        Ok(Tree::table(table.into_inner(), 0..text.len()))
    }

    /// A whole number of a document's top level.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.value.as_table()?.get(key)?.get_ref().as_integer().and_then(whole)
    }

    fn of(value: Spanned<DeValue<'de>>) -> Self {
        Tree { span: value.span(), value: value.into_inner() }
    }

    /// That it is something else than what was expected.
    fn mismatch(&self, expected: &dyn de::Expected) -> TreeError {
        let other = match &self.value {
            DeValue::String(text) => Unexpected::Str(text),
            DeValue::Integer(number) => match whole(number) {
                Some(number) => Unexpected::Unsigned(number),
                None => Unexpected::Other("integer"),
            },
            DeValue::Float(_) => Unexpected::Other("floating point number"),
            DeValue::Boolean(flag) => Unexpected::Bool(*flag),
            DeValue::Datetime(_) => Unexpected::Other("date"),
            DeValue::Array(_) => Unexpected::Seq,
            DeValue::Table(_) => Unexpected::Map,
        };
        let error: TreeError = de::Error::invalid_type(other, expected);
        error.at(&self.span)
    }
}

fn whole(number: &toml::de::DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

impl TreeError {
    /// The innermost place is the most telling.
    fn at(mut self, span: &Range<usize>) -> Self {
        self.span.get_or_insert(span.clone());
        self
    }
}

impl de::Error for TreeError {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        TreeError { message: message.to_string(), span: None }
    }
}

impl<'de> Deserializer<'de> for Tree<'de> {
    type Error = TreeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TreeError> {
        Err(self.mismatch(&visitor))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TreeError> {
        match &self.value {
            DeValue::String(text) => visitor.visit_str(text).map_err(|error: TreeError| error.at(&self.span)),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TreeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TreeError> {
        match self.value {
            DeValue::Boolean(flag) => visitor.visit_bool(flag),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TreeError> {
        match self.value.as_integer().and_then(whole) {
            Some(number) => visitor.visit_u64(number).map_err(|error: TreeError| error.at(&self.span)),
            None => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TreeError> {
        self.deserialize_u64(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TreeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, TreeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TreeError> {
        match &self.value {
            DeValue::String(text) => {
                let name: StrDeserializer<TreeError> = (&**text).into_deserializer();
                visitor.visit_enum(name).map_err(|error| error.at(&self.span))
            }
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TreeError> {
        match self.value {
            DeValue::Array(items) => visitor.visit_seq(Items(items.into_iter())),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TreeError> {
        match self.value {
            DeValue::Table(fields) => {
                let fields = Fields { rest: fields.into_iter(), value: None };
                visitor.visit_map(fields).map_err(|error| error.at(&self.span))
            }
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TreeError> {
        self.deserialize_map(visitor)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct identifier
        ignored_any
    }
}

struct Items<'de>(<DeArray<'de> as IntoIterator>::IntoIter);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = TreeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, TreeError> {
        self.0.next().map(|item| seed.deserialize(Tree::of(item))).transpose()
    }
}

struct Fields<'de> {
    rest: <DeTable<'de> as IntoIterator>::IntoIter,
    value: Option<Tree<'de>>,
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = TreeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, TreeError> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(Tree::of(value));
        let name: StrDeserializer<TreeError> = (&**key.get_ref()).into_deserializer();
        seed.deserialize(name).map(Some).map_err(|error| error.at(&key.span()))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, TreeError> {
        match self.value.take() {
            Some(value) => seed.deserialize(value),
            None => Err(de::Error::custom("a value was asked for before its key")),
        }
    }
}
