//! The rows of one kind: compiled in, read from a file when they are first asked for, or changed by an overlay.

use std::fmt;
use std::ops::Deref;
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The rows of one kind.
pub enum Table<T: 'static> {
    /// Rows that live as long as the process.
    Given(&'static [T]),
    /// Rows of its own.
    Own(Vec<T>),
    /// Those of an installed catalog: most runs ask for half of the tables only.
    Later(&'static LazyLock<Vec<T>, Read<T>>),
}

/// Reads the rows of a table.
pub type Read<T> = Box<dyn FnOnce() -> Vec<T> + Send>;

impl<T> Table<T> {
    /// Rows that are read when somebody asks for them.
    pub fn later(read: impl FnOnce() -> Vec<T> + Send + 'static) -> Self {
        Table::Later(Box::leak(Box::new(LazyLock::new(Box::new(read) as Read<T>))))
    }
}

impl<T: Clone> Table<T> {
    /// The rows, to be changed.
    pub fn to_mut(&mut self) -> &mut Vec<T> {
        if !matches!(self, Table::Own(_)) {
            *self = Table::Own(self.to_vec());
        }
        match self {
            Table::Own(rows) => rows,
            Table::Given(_) | Table::Later(_) => unreachable!("they were made its own above"),
        }
    }

    /// The rows alone.
    pub fn into_owned(mut self) -> Vec<T> {
        std::mem::take(self.to_mut())
    }
}

impl<T> Deref for Table<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Table::Given(rows) => rows,
            Table::Own(rows) => rows,
            Table::Later(rows) => rows,
        }
    }
}

impl<'t, T> IntoIterator for &'t Table<T> {
    type Item = &'t T;
    type IntoIter = std::slice::Iter<'t, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table::Given(&[])
    }
}

impl<T: Clone> Clone for Table<T> {
    fn clone(&self) -> Self {
        match self {
            Table::Given(rows) => Table::Given(rows),
            Table::Own(rows) => Table::Own(rows.clone()),
            Table::Later(rows) => Table::Later(rows),
        }
    }
}

impl<T> From<Vec<T>> for Table<T> {
    fn from(rows: Vec<T>) -> Self {
        Table::Own(rows)
    }
}

impl<T: fmt::Debug> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Serialize> Serialize for Table<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct("Table", &**self)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Table::from)
    }
}
