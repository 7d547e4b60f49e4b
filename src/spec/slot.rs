//! The value of a key, whatever its type: how a file, a fix, a lock and a schema see it.

use std::ops::Range;

use toml::de::DeValue;

use super::error::{Refusal, SpecError, clip, quote};
use super::field::{self, Read};
use super::value::{Item, Reader, list_text};
use super::{Spec, Written};
use crate::types::Constraint;

/// What a key may hold, in the words of TOML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// A string.
    Text,
    /// A string, or a list of strings.
    TextOrList,
    /// A list of strings.
    List,
    /// `true` or `false`.
    Switch,
    /// One of these strings.
    Choice(Vec<&'static str>),
}

/// The place of a key's value in what its table fills, the owner.
pub(super) trait Slot<O>: Sync {
    /// What may stand there.
    fn shape(&self) -> Shape;

    /// Reads what a file holds; what is wrong with it goes to the reader.
    fn read(&self, owner: &mut O, key: &str, item: &Item<'_>, reader: &mut Reader<'_>);

    /// Takes a text as a fix writes it, or forgets the value. What was not written is placed at the byte `end`.
    fn set(&self, owner: &mut O, key: &str, text: Option<&str>, end: usize) -> Read<()>;

    /// The text and the bytes of a value that a conflict can blame. Switches never are.
    fn written<'o>(&self, _owner: &'o O, _key: &str) -> Option<(&'o str, &'o Range<usize>)> {
        None
    }

    /// What is meant, in one spelling; none where it is the default.
    fn input(&self, owner: &O) -> Option<String>;
}

/// What the text of a key means; the key comes first.
pub(super) type ReadOne<T> = fn(&str, &str) -> Read<T>;

/// A field of a struct.
pub(super) struct Place<O, V> {
    pub get: fn(&O) -> &V,
    pub get_mut: fn(&mut O) -> &mut V,
}

/// Where a value is kept.
macro_rules! place {
    ($owner:ident.$field:ident) => {
        crate::spec::slot::Place {
            get: |owner: &$owner| &owner.$field,
            get_mut: |owner: &mut $owner| &mut owner.$field,
        }
    };
}

pub(super) use place;

/// A string.
pub(super) struct One<O, T>(pub Place<O, Option<Written<T>>>, pub ReadOne<T>, pub fn(&T) -> String);

impl<O, T: 'static> Slot<O> for One<O, T> {
    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn read(&self, owner: &mut O, key: &str, item: &Item<'_>, reader: &mut Reader<'_>) {
        *(self.0.get_mut)(owner) = reader.string(key, item, |text| (self.1)(key, text));
    }

    fn set(&self, owner: &mut O, key: &str, text: Option<&str>, end: usize) -> Read<()> {
        let value = text.map(|text| (self.1)(key, text)).transpose()?;
        put((self.0.get_mut)(owner), value.zip(text.map(str::to_string)), end);
        Ok(())
    }

    fn written<'o>(&self, owner: &'o O, _: &str) -> Option<(&'o str, &'o Range<usize>)> {
        (self.0.get)(owner).as_ref().map(|written| (written.text.as_str(), &written.span))
    }

    fn input(&self, owner: &O) -> Option<String> {
        (self.0.get)(owner).as_ref().map(|written| (self.2)(&written.value))
    }
}

/// A string or a list of strings, each read by itself and then all together.
pub(super) struct Many<O, T, U>(
    pub Place<O, Option<Written<U>>>,
    pub ReadOne<T>,
    pub fn(Vec<T>) -> Read<U>,
    pub fn(&U) -> String,
);

impl<O, T, U: 'static> Slot<O> for Many<O, T, U> {
    fn shape(&self) -> Shape {
        Shape::TextOrList
    }

    fn read(&self, owner: &mut O, key: &str, item: &Item<'_>, reader: &mut Reader<'_>) {
        *(self.0.get_mut)(owner) = reader.strings(key, item, |text| (self.1)(key, text), self.2);
    }

    fn set(&self, owner: &mut O, key: &str, text: Option<&str>, end: usize) -> Read<()> {
        let mut value = None;
        if let Some(text) = text {
            let list = list(text)?;
            let one = [text.to_string()];
            let each: Read<Vec<T>> = list.as_deref().unwrap_or(&one).iter().map(|text| (self.1)(key, text)).collect();
            value = Some(((self.2)(each?)?, list.map_or(text.to_string(), |texts| list_text(&texts))));
        }
        put((self.0.get_mut)(owner), value, end);
        Ok(())
    }

    fn written<'o>(&self, owner: &'o O, _: &str) -> Option<(&'o str, &'o Range<usize>)> {
        (self.0.get)(owner).as_ref().map(|written| (written.text.as_str(), &written.span))
    }

    fn input(&self, owner: &O) -> Option<String> {
        (self.0.get)(owner).as_ref().map(|written| (self.3)(&written.value))
    }
}

/// One of some words; behind them what others call them.
pub(super) struct Choice<O, T: 'static>(
    pub Place<O, T>,
    pub &'static [(&'static str, T)],
    pub &'static [(&'static [&'static str], &'static str)],
);

impl<O, T: Copy + Default + PartialEq + Sync> Slot<O> for Choice<O, T> {
    fn shape(&self) -> Shape {
        Shape::Choice(self.1.iter().map(|(word, _)| *word).collect())
    }

    fn read(&self, owner: &mut O, key: &str, item: &Item<'_>, reader: &mut Reader<'_>) {
        let read = reader.string(key, item, |text| field::choice(key, text, self.1, self.2));
        *(self.0.get_mut)(owner) = read.map_or(T::default(), |written| written.value);
    }

    fn set(&self, owner: &mut O, key: &str, text: Option<&str>, _: usize) -> Read<()> {
        let value = text.map(|text| field::choice(key, text, self.1, self.2)).transpose()?;
        *(self.0.get_mut)(owner) = value.unwrap_or_default();
        Ok(())
    }

    fn input(&self, owner: &O) -> Option<String> {
        let value = *(self.0.get)(owner);
        let word = self.1.iter().find(|(_, known)| *known == value && value != T::default());
        word.map(|(word, _)| word.to_string())
    }
}

/// One of some words that a conflict can blame; behind them the one that is meant where none is written, and what others
/// call them.
pub(super) struct Word<O, T: 'static>(
    pub Place<O, Option<Written<T>>>,
    pub &'static [(&'static str, T)],
    pub Option<T>,
    pub &'static [(&'static [&'static str], &'static str)],
);

impl<O, T: Copy + PartialEq + Sync> Slot<O> for Word<O, T> {
    fn shape(&self) -> Shape {
        Shape::Choice(self.1.iter().map(|(word, _)| *word).collect())
    }

    fn read(&self, owner: &mut O, key: &str, item: &Item<'_>, reader: &mut Reader<'_>) {
        *(self.0.get_mut)(owner) = reader.string(key, item, |text| field::choice(key, text, self.1, self.3));
    }

    fn set(&self, owner: &mut O, key: &str, text: Option<&str>, end: usize) -> Read<()> {
        let value = text.map(|text| field::choice(key, text, self.1, self.3)).transpose()?;
        put((self.0.get_mut)(owner), value.zip(text.map(str::to_string)), end);
        Ok(())
    }

    fn written<'o>(&self, owner: &'o O, _: &str) -> Option<(&'o str, &'o Range<usize>)> {
        (self.0.get)(owner).as_ref().map(|written| (written.text.as_str(), &written.span))
    }

    fn input(&self, owner: &O) -> Option<String> {
        let value = (self.0.get)(owner).as_ref().map(|written| written.value).filter(|value| Some(*value) != self.2)?;
        self.1.iter().find(|(_, known)| *known == value).map(|(word, _)| word.to_string())
    }
}

/// `true` or `false`, and which of them is the default.
pub(super) struct Switch<O>(pub Place<O, bool>, pub bool);

impl<O> Slot<O> for Switch<O> {
    fn shape(&self) -> Shape {
        Shape::Switch
    }

    fn read(&self, owner: &mut O, key: &str, item: &Item<'_>, reader: &mut Reader<'_>) {
        *(self.0.get_mut)(owner) = reader.boolean(key, item).unwrap_or(self.1);
    }

    fn set(&self, owner: &mut O, key: &str, text: Option<&str>, _: usize) -> Read<()> {
        let words = [("true", true), ("false", false)];
        let value = text.map(|text| field::choice(key, text, &words, &[])).transpose()?;
        *(self.0.get_mut)(owner) = value.unwrap_or(self.1);
        Ok(())
    }

    fn input(&self, owner: &O) -> Option<String> {
        let value = *(self.0.get)(owner);
        (value != self.1).then(|| value.to_string())
    }
}

/// The packages of a table, whose keys nobody can list.
pub(super) struct Named<T: 'static>(pub Place<Spec, Vec<(String, Written<T>)>>, pub ReadOne<T>);

/// The packages of `[stack]`.
pub(super) static STACKED: Named<Constraint> = Named(place!(Spec.stack), field::constraint);

impl<T: Clone> Slot<Spec> for Named<T> {
    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn read(&self, spec: &mut Spec, name: &str, item: &Item<'_>, reader: &mut Reader<'_>) {
        let read = reader.string(name, item, |text| (self.1)(name, text));
        (self.0.get_mut)(spec).extend(read.map(|written| (name.to_string(), written)));
    }

    fn set(&self, spec: &mut Spec, name: &str, text: Option<&str>, end: usize) -> Read<()> {
        let name = field::package(name)?;
        let value = text.map(|text| (self.1)(&name, text)).transpose()?;
        // What takes its place is no build of one's own, unless it is the same text again.
        spec.own.retain(|own| own.package != name);
        let packages = (self.0.get_mut)(spec);
        let known = packages.iter().position(|(known, _)| *known == name);
        let mut written = known.map(|at| packages[at].1.clone());
        put(&mut written, value.zip(text.map(str::to_string)), end);
        match (known, written) {
            (Some(at), Some(written)) => packages[at].1 = written,
            (Some(at), None) => drop(packages.remove(at)),
            (None, written) => packages.extend(written.map(|written| (name, written))),
        }
        Ok(())
    }

    fn written<'o>(&self, spec: &'o Spec, name: &str) -> Option<(&'o str, &'o Range<usize>)> {
        let (_, written) = (self.0.get)(spec).iter().find(|(known, _)| known == name)?;
        Some((&written.text, &written.span))
    }

    /// Each is an input of its own.
    fn input(&self, _: &Spec) -> Option<String> {
        None
    }
}

/// `catalog.overlays`
pub(super) struct Overlays;

impl Slot<Spec> for Overlays {
    fn shape(&self) -> Shape {
        Shape::List
    }

    fn read(&self, spec: &mut Spec, key: &str, item: &Item<'_>, reader: &mut Reader<'_>) {
        let Some(list) = item.get_ref().as_array() else {
            let text = item.get_ref().as_str().map_or_else(|| "FILE".to_string(), clip);
            let refusal = Refusal::new("type", format!("`{key}` must be a list of files"));
            return reader.error(refusal.help(format!("write `{key} = [\"{text}\"]`")), item.span());
        };
        spec.overlays = list.iter().filter_map(|item| reader.string(key, item, field::overlay)).collect();
        reader.checked(together(&spec.overlays), &item.span());
    }

    fn set(&self, _: &mut Spec, key: &str, _: Option<&str>, _: usize) -> Read<()> {
        Err(Refusal::new("unknown-key", format!("`{key}` cannot be changed")))
    }

    /// In file order: a later overlay may amend an earlier one.
    fn input(&self, spec: &Spec) -> Option<String> {
        let paths: Vec<&str> = spec.overlays.iter().map(|path| path.value.as_str()).collect();
        (!paths.is_empty()).then(|| list_text(&paths))
    }
}

fn together(overlays: &[Written<String>]) -> Read<()> {
    field::overlays(&overlays.iter().map(|path| path.value.clone()).collect::<Vec<_>>())
}

impl Spec {
    /// Why none of its overlays is laid: they are too many, or one is named twice. Each takes its time.
    pub fn refused_overlays(&self) -> Option<SpecError> {
        let last = self.overlays.last()?.span.clone();
        together(&self.overlays).err().map(|refusal| refusal.at(last))
    }
}

/// A value keeps its place in the file when it changes, so that the order of keys stays the file's.
fn put<T>(slot: &mut Option<Written<T>>, value: Option<(T, String)>, end: usize) {
    let span = slot.as_ref().map_or(end..end, |written| written.span.clone());
    *slot = value.map(|(value, text)| Written { value, text, span });
}

/// The strings of a text in brackets; none where it is one plain string.
fn list(text: &str) -> Read<Option<Vec<String>>> {
    if !text.starts_with('[') {
        return Ok(None);
    }
    let wrong = || Refusal::new("type", format!("{} is not a list of strings", quote(text)));
    let value = DeValue::parse(text).map_err(|_| wrong())?;
    let list = value.get_ref().as_array().ok_or_else(wrong)?;
    let texts = list.iter().map(|item| item.get_ref().as_str().map(str::to_string));
    texts.collect::<Option<Vec<_>>>().map(Some).ok_or_else(wrong)
}
