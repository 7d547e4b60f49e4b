//! The rows of one kind: those of a packed catalog, read when they are first asked for, or some of its own that an overlay
//! changed.

use std::fmt;
use std::ops::Deref;
use std::sync::LazyLock;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::row_reader::PackedRows;

/// The rows of one kind.
pub enum Table<T: 'static> {
    /// Rows of its own.
    Own(Vec<T>),
    /// Those of a packed catalog: most runs ask for half of the tables only.
    Later(&'static Later<T>),
}

/// The rows of one kind in groups, each of one package or repository: a run asks for few of these.
pub enum Grouped<T: 'static> {
    /// Rows of its own.
    Own(Vec<T>),
    /// Those of a packed catalog.
    Later(&'static [Group<T>]),
}

/// Rows that are read when somebody asks for them.
pub type Later<T> = LazyLock<Vec<T>, Box<dyn FnOnce() -> Vec<T> + Send>>;

/// The rows of one package or repository.
pub struct Group<T> {
    head: &'static str,
    count: usize,
    rows: Later<T>,
}

/// A row of which tables are in groups, and in the order of what they are of.
pub trait Headed {
    /// The package or repository that it is of.
    fn head(&self) -> &str;
}

/// What holds the rows of one kind.
pub trait Holder: From<Vec<Self::Row>> {
    /// A row.
    type Row: Clone + Serialize + DeserializeOwned + 'static;

    /// The rows, in order, and what they are of; empty where they are not told apart.
    fn groups(&self) -> Vec<(&str, &[Self::Row])>;

    /// The same of packed rows, which are read when somebody asks for them.
    fn later(packed: Vec<PackedRows>) -> Self;
}

/// Rows that were read as a whole before: when their catalog was installed, or by the build that packed them.
fn later<T: DeserializeOwned>(packed: impl IntoIterator<Item = PackedRows> + Send + 'static) -> Later<T> {
    let read = |packed: PackedRows| packed.read().expect("rows that were read before can be read");
    LazyLock::new(Box::new(move || {
        let mut packed = packed.into_iter().map(read);
        let mut rows = packed.next().unwrap_or_default();
        packed.for_each(|more| rows.extend(more));
        rows
    }))
}

/// Rows that follow each other and are of the same.
fn grouped<T: Headed>(rows: &[T]) -> impl Iterator<Item = (&str, &[T])> {
    rows.chunk_by(|one, next| one.head() == next.head()).map(|all| (all[0].head(), all))
}

impl<T: Clone + Serialize + DeserializeOwned> Holder for Table<T> {
    type Row = T;

    fn groups(&self) -> Vec<(&str, &[T])> {
        vec![("", self)]
    }

    fn later(packed: Vec<PackedRows>) -> Self {
        Table::Later(Box::leak(Box::new(later(packed))))
    }
}

impl<T: Headed + Clone + Serialize + DeserializeOwned> Holder for Grouped<T> {
    type Row = T;

    fn groups(&self) -> Vec<(&str, &[T])> {
        match self {
            Grouped::Own(rows) => grouped(rows).collect(),
            Grouped::Later(groups) => groups.iter().map(|group| (group.head, group.rows.as_slice())).collect(),
        }
    }

    fn later(packed: Vec<PackedRows>) -> Self {
        let group = |of: PackedRows| Group { head: of.head, count: of.count as usize, rows: later([of]) };
        Grouped::Later(packed.into_iter().map(group).collect::<Vec<_>>().leak())
    }
}

impl<T: Clone> Table<T> {
    /// The rows, to be changed.
    pub fn to_mut(&mut self) -> &mut Vec<T> {
        if let Table::Later(rows) = self {
            *self = Table::Own(rows.to_vec());
        }
        match self {
            Table::Own(rows) => rows,
            Table::Later(_) => unreachable!("they were made its own above"),
        }
    }
}

impl<T> Grouped<T> {
    /// Each row, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        let (own, groups): (&[T], &[Group<T>]) = match self {
            Grouped::Own(rows) => (rows, &[]),
            Grouped::Later(groups) => (&[], groups),
        };
        own.iter().chain(groups.iter().flat_map(|group| group.rows.iter()))
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Grouped::Own(rows) => rows.len(),
            Grouped::Later(groups) => groups.iter().map(|group| group.count).sum(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Headed> Grouped<T> {
    /// The rows of a package or repository; none of one that is not known.
    pub fn of(&self, head: &str) -> &[T] {
        match self {
            Grouped::Own(rows) => {
                let rest = &rows[rows.partition_point(|row| row.head() < head)..];
                &rest[..rest.partition_point(|row| row.head() == head)]
            }
            Grouped::Later(groups) => {
                groups.binary_search_by(|group| group.head.cmp(head)).map_or(&[], |at| &groups[at].rows)
            }
        }
    }

    /// The rows of each package or repository with whose name a text begins.
    pub fn of_beginning(&self, text: &str) -> impl Iterator<Item = &T> {
        let (own, groups): (&[T], &[Group<T>]) = match self {
            Grouped::Own(rows) => (rows, &[]),
            Grouped::Later(groups) => (&[], groups),
        };
        let own = own.iter().filter(|row| text.starts_with(row.head()));
        own.chain(groups.iter().filter(|group| text.starts_with(group.head)).flat_map(|group| group.rows.iter()))
    }

    /// Each package or repository that there are rows of.
    pub fn heads(&self) -> Vec<&str> {
        match self {
            Grouped::Own(rows) => grouped(rows).map(|(head, _)| head).collect(),
            Grouped::Later(groups) => groups.iter().map(|group| group.head).collect(),
        }
    }
}

impl<T: Clone> Grouped<T> {
    /// The rows, to be changed.
    pub fn to_mut(&mut self) -> &mut Vec<T> {
        if let Grouped::Later(_) = self {
            *self = Grouped::Own(self.iter().cloned().collect());
        }
        match self {
            Grouped::Own(rows) => rows,
            Grouped::Later(_) => unreachable!("they were made its own above"),
        }
    }
}

impl<T> Deref for Table<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
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

/// What both have in common.
macro_rules! holds {
    ($($holder:ident),+) => {$(
        impl<T> Default for $holder<T> {
            fn default() -> Self {
                $holder::Own(Vec::new())
            }
        }

        impl<T: Clone> Clone for $holder<T> {
            fn clone(&self) -> Self {
                match self {
                    $holder::Own(rows) => $holder::Own(rows.clone()),
                    $holder::Later(rows) => $holder::Later(rows),
                }
            }
        }

        impl<T> From<Vec<T>> for $holder<T> {
            fn from(rows: Vec<T>) -> Self {
                $holder::Own(rows)
            }
        }

        impl<T: fmt::Debug> fmt::Debug for $holder<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_list().entries(self.iter()).finish()
            }
        }

        impl<T: Serialize> Serialize for $holder<T> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(self.iter())
            }
        }

        impl<'de, T: Deserialize<'de>> Deserialize<'de> for $holder<T> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Vec::deserialize(deserializer).map($holder::Own)
            }
        }
    )+};
}

holds!(Table, Grouped);
