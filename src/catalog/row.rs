//! How rows are called, whatever their kind.

use std::fmt;

use crate::types::Version;

/// A row's identity within its table. It orders the table, names the row in messages and must be unique.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowName {
    /// The package, repository, product or id; empty where the version alone is the name.
    pub head: String,
    /// The versions, most significant first.
    pub versions: Vec<Version>,
    /// What tells rows of one version apart.
    pub tail: String,
}

/// What every kind of row can be asked.
pub trait Row {
    /// The row's identity within its table.
    fn row_name(&self) -> RowName;
    /// The row's name among all rows of all tables, as locks and explanations cite it: `driver 535.183.01`.
    fn id(&self) -> String;
    /// The ids of the sources it rests on.
    fn cites(&self) -> Vec<&str>;
}

/// How a row is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its identity within its table.
    pub name: RowName,
    /// Its name among all rows.
    pub id: String,
}

/// A row by its name, which is put together where it is told: most rows are never told of.
#[derive(Clone, Copy)]
pub struct Named<'r>(pub &'r dyn Row);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.row_name().fmt(f)
    }
}

/// A row without its type.
pub(super) fn any_row<'c>(kind: &'static str, row: &'c dyn Row) -> AnyRow<'c> {
    AnyRow { kind, name: row.row_name(), id: row.id(), cites: row.cites() }
}

/// A row without its type: for listings, searches and lints.
#[derive(Debug, Clone)]
pub struct AnyRow<'c> {
    /// The kind, as it is written in catalog files.
    pub kind: &'static str,
    /// Its identity within its table.
    pub name: RowName,
    /// Its name among all rows.
    pub id: String,
    /// The ids of the sources it rests on.
    pub cites: Vec<&'c str>,
}

impl fmt::Display for RowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let versions = self.versions.iter().map(|version| -> &str { version.as_str() });
        let parts = [self.head.as_str()].into_iter().chain(versions).chain([self.tail.as_str()]);
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        f.write_str(&parts.join(" "))
    }
}
