//! A serde serializer that writes Rust expressions, so that any row type can become a constant
//! without a line of code of its own.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write};

use serde::ser::{self, Serialize};

/// Rust code.
///
/// What rows repeat (texts, versions, lists) and each table are statics of their own: one expression of everything takes
/// the compiler a third longer. And a row says only what it has: what is absent it takes from a constant of its type.
#[derive(Default)]
pub struct Code {
    /// A constant expression.
    pub expression: String,
    /// The statics that it refers to, by what they hold: their names and types.
    statics: BTreeMap<String, (String, String)>,
    /// For each type its fields, each with what stands for it where it is absent, or the first value of one that never is.
    blanks: BTreeMap<&'static str, Vec<(&'static str, String)>>,
}

/// What is absent is written as one of these.
const ABSENT: [&str; 3] = ["None", "false", "List(&[])"];

impl Code {
    /// The value as code.
    pub fn of(value: &impl Serialize) -> Code {
        let mut code = Code::default();
        value.serialize(Emit(&mut code)).expect("every row type can be written as an expression");
        code
    }

    /// The statics that the expression refers to.
    pub fn statics(&self) -> String {
        let line = |(holds, (name, of)): (&String, &(String, String))| format!("static {name}: {of} = {holds};\n");
        let field = |(name, value): &(&str, String)| format!("{name}: {value}, ");
        let blank = |(of, fields): (&&str, &Vec<_>)| {
            format!("const {}: {of} = {of} {{ {}}};\n", blank(of), fields.iter().map(field).collect::<String>())
        };
        let lacks = |(_, fields): &(&&str, &Vec<(&str, String)>)| {
            fields.iter().any(|(_, value)| ABSENT.contains(&value.as_str()))
        };
        self.statics.iter().map(line).chain(self.blanks.iter().filter(lacks).map(blank)).collect()
    }

    /// A value, less what it lacks.
    fn value(&mut self, of: &'static str, fields: Vec<(&'static str, String)>) {
        let known = self.blanks.entry(of).or_insert_with(|| fields.clone());
        self.expression += &format!("{of} {{ ");
        let all = fields.len();
        let mut told = 0;
        for ((name, value), (_, blank)) in fields.into_iter().zip(known) {
            if ABSENT.contains(&value.as_str()) {
                *blank = value;
            } else {
                self.expression += &format!("{name}: {value}, ");
                told += 1;
            }
        }
        if told < all {
            self.expression += &format!("..{}", blank(of));
        }
        self.expression.push('}');
    }

    /// The name of the static that holds something.
    fn stands_for(&mut self, of: &str, holds: String) -> &str {
        let next = self.statics.len();
        &self.statics.entry(holds).or_insert_with(|| (format!("S{next}"), of.to_string())).0
    }

    /// A list as a static: its type is that with which each of its expressions begins.
    fn list(&mut self, written: &str) -> String {
        let of = written.split([' ', '(', ':']).next().unwrap_or_default();
        // Of numbers the compiler finds the type by itself.
        match of.is_empty() || of.starts_with(|c: char| c.is_ascii_digit()) {
            true => format!("&[{written}]"),
            false => self.stands_for(&format!("&[{of}]"), format!("&[{written}]")).to_string(),
        }
    }

    fn push(&mut self, text: &str) {
        self.expression.push_str(text);
    }

    /// Words are newtypes around their text: their parts are worked out here, not when gpuenv starts.
    fn word(&mut self, type_name: &str, text: &str) -> Option<String> {
        use crate::types::{Arch, Cc, CpuArch};
        match type_name {
            "Version" => {
                let written = self.stands_for("Written", format!("Written::new({text:?})"));
                Some(format!("Version(&{written})"))
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

/// The name of the constant that holds what values of a type lack.
fn blank(of: &str) -> String {
    format!("BLANK_{}", of.to_uppercase())
}

struct Emit<'o>(&'o mut Code);

/// An open list.
struct Items<'o>(&'o mut Code);

/// An open struct: its type, and the fields so far.
struct Fields<'o>(&'o mut Code, &'static str, Vec<(&'static str, String)>);

/// What a word is written as.
struct Plain<'a, T: ?Sized>(&'a T);

impl<T: Serialize + ?Sized> Display for Plain<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.serialize(f)
    }
}

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
    type SerializeSeq = Items<'o>;
    type SerializeStruct = Fields<'o>;
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
        let text = self.0.stands_for("&str", format!("{text:?}")).to_string();
        write!(self.0.expression, "Text(&{text})").map_err(ser::Error::custom)
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
        let holder = match name {
            "List" => "List",
            "Table" => "Table::Given",
            _ => {
                let text = Plain(value).to_string();
                let word = self.0.word(name, &text).ok_or_else(|| Unsupported(format!("{name} {text}")))?;
                self.0.push(&word);
                return Ok(());
            }
        };
        let before = self.0.expression.len();
        value.serialize(Emit(self.0))?;
        let written = self.0.expression.split_off(before);
        let list = self.0.list(&written);
        self.0.push(&format!("{holder}({list})"));
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

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'o>, Unsupported> {
        Ok(Items(self.0))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Fields<'o>, Unsupported> {
        Ok(Fields(self.0, name, Vec::new()))
    }
}

impl ser::SerializeSeq for Items<'_> {
    type Ok = ();
    type Error = Unsupported;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unsupported> {
        value.serialize(Emit(self.0))?;
        self.0.push(",\n");
        Ok(())
    }

    fn end(self) -> Result<(), Unsupported> {
        Ok(())
    }
}

impl ser::SerializeStruct for Fields<'_> {
    type Ok = ();
    type Error = Unsupported;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Unsupported> {
        let before = self.0.expression.len();
        value.serialize(Emit(self.0))?;
        self.2.push((name, self.0.expression.split_off(before)));
        Ok(())
    }

    fn end(self) -> Result<(), Unsupported> {
        self.0.value(self.1, self.2);
        Ok(())
    }
}
