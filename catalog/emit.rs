//! A serde serializer that writes Rust expressions, so that any row type can become a constant
//! without a line of code of its own.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Write};

use serde::ser::{self, Serialize};

/// Rust code.
#[derive(Default)]
pub struct Code {
    /// A constant expression.
    pub expression: String,
    /// The versions it refers to, each by the name of a static: thousands of rows share some hundreds.
    versions: BTreeSet<String>,
}

impl Code {
    /// The value as code.
    pub fn of(value: &impl Serialize) -> Code {
        let mut code = Code::default();
        value.serialize(Emit(&mut code)).expect("every row type can be written as an expression");
        code
    }

    /// The statics that the expression refers to.
    pub fn statics(&self) -> String {
        let line = |text| format!("static {}: Written = Written::new({text:?});\n", static_name(text));
        self.versions.iter().map(|text| line(text)).collect()
    }

    fn push(&mut self, text: &str) {
        self.expression.push_str(text);
    }

    /// Words are newtypes around their text: their parts are worked out here, not when gpuenv starts.
    fn word(&mut self, type_name: &str, text: &str) -> Option<String> {
        use crate::types::{Arch, Cc, CpuArch};
        match type_name {
            "Version" => {
                self.versions.insert(text.to_string());
                Some(format!("Version::of(&{})", static_name(text)))
            }
            "Cc" => Cc::parse(text).ok().map(|cc| format!("{cc:?}")),
            "Arch" => {
                let Arch { cc, suffix } = Arch::parse(text).ok()?;
                Some(format!("Arch {{ cc: {cc:?}, suffix: Suffix::{suffix:?} }}"))
            }
            "CpuArch" => CpuArch::parse(text).ok().map(|cpu| format!("CpuArch::{cpu:?}")),
            _ => None,
        }
    }
}

/// A version holds digits, letters and dots only.
fn static_name(version: &str) -> String {
    format!("V{}", version.replace('.', "_"))
}

struct Emit<'o>(&'o mut Code);

/// An open list or struct, closed by its text.
struct Open<'o>(&'o mut Code, &'static str);

#[derive(Debug)]
struct Unsupported(String);

impl Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsupported {}

impl ser::Error for Unsupported {
    fn custom<T: Display>(message: T) -> Self {
        Unsupported(message.to_string())
    }
}

macro_rules! unsupported {
    ($($method:ident($($arg:ty),*) -> $ok:ty;)+) => {$(
        fn $method(self, $(_: $arg),*) -> Result<$ok, Unsupported> {
            Err(Unsupported(stringify!($method).into()))
        }
    )+};
}

macro_rules! numbers {
    ($($method:ident($type:ty)),+) => {$(
        fn $method(self, value: $type) -> Result<(), Unsupported> {
            write!(self.0.expression, "{value}").map_err(ser::Error::custom)
        }
    )+};
}

impl<'o> ser::Serializer for Emit<'o> {
    type Ok = ();
    type Error = Unsupported;
    type SerializeSeq = Open<'o>;
    type SerializeStruct = Open<'o>;
    type SerializeTuple = ser::Impossible<(), Unsupported>;
    type SerializeTupleStruct = ser::Impossible<(), Unsupported>;
    type SerializeTupleVariant = ser::Impossible<(), Unsupported>;
    type SerializeMap = ser::Impossible<(), Unsupported>;
    type SerializeStructVariant = ser::Impossible<(), Unsupported>;

    numbers!(
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64)
    );

    unsupported! {
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_char(char) -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }

    fn serialize_str(self, text: &str) -> Result<(), Unsupported> {
        write!(self.0.expression, "Text::of(&{text:?})").map_err(ser::Error::custom)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Unsupported> {
        // A catalog holds no other bytes.
        self.0.push("Digests(Cow::Borrowed(b\"");
        bytes.iter().try_for_each(|byte| write!(self.0.expression, "\\x{byte:02x}")).map_err(ser::Error::custom)?;
        self.0.push("\"))");
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Unsupported> {
        self.0.push("None");
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unsupported> {
        self.0.push("Some(");
        value.serialize(Emit(self.0))?;
        self.0.push(")");
        Ok(())
    }

    fn serialize_unit_variant(self, name: &'static str, index: u32, _: &'static str) -> Result<(), Unsupported> {
        write!(self.0.expression, "{name}::ALL[{index}]").map_err(ser::Error::custom)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<(), Unsupported> {
        let before = self.0.expression.len();
        value.serialize(Emit(self.0))?;
        let written = self.0.expression.split_off(before);
        if let Some(holder) = [("List", "List("), ("Table", "Table::Given(")].iter().find(|holder| holder.0 == name) {
            self.0.push(&written.replacen("Cow::Borrowed(", holder.1, 1));
            return Ok(());
        }
        // What was just written is a plain string: numbers, dots and letters, so no escape can be inside.
        let text = written.trim_start_matches("Text::of(&\"").trim_end_matches("\")");
        let word = self.0.word(name, text).ok_or_else(|| Unsupported(format!("{name} {text}")))?;
        self.0.push(&word);
        Ok(())
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: &T,
    ) -> Result<(), Unsupported> {
        Err(Unsupported(format!("{name}::{variant}")))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Open<'o>, Unsupported> {
        self.0.push("Cow::Borrowed(&[");
        Ok(Open(self.0, "])"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Open<'o>, Unsupported> {
        self.0.push(name);
        self.0.push(" { ");
        Ok(Open(self.0, "}"))
    }
}

impl ser::SerializeSeq for Open<'_> {
    type Ok = ();
    type Error = Unsupported;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unsupported> {
        value.serialize(Emit(self.0))?;
        self.0.push(",\n");
        Ok(())
    }

    fn end(self) -> Result<(), Unsupported> {
        self.0.push(self.1);
        Ok(())
    }
}

impl ser::SerializeStruct for Open<'_> {
    type Ok = ();
    type Error = Unsupported;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Unsupported> {
        self.0.push(name);
        self.0.push(": ");
        value.serialize(Emit(self.0))?;
        self.0.push(", ");
        Ok(())
    }

    fn end(self) -> Result<(), Unsupported> {
        self.0.push(self.1);
        Ok(())
    }
}
