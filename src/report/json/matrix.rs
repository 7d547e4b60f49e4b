//! What runs on what.

use serde::Serialize;

use crate::matrix::{Cell, Matrix};

/// The format of the document.
const FORMAT: u32 = 1;

/// Builds of a framework against GPUs and drivers.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MatrixCells<'a> {
    /// The format.
    format: u32,
    /// The framework.
    package: &'a str,
    /// The processor, where no GPU implies another.
    arch: &'a str,
    /// The tables, each with its cells row by row.
    tables: Vec<Table<'a>>,
}

/// One table.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Table<'a> {
    /// What it is about.
    title: &'a str,
    /// What its rows are: release, gpu or driver.
    rows_are: &'a str,
    /// What its columns are: variant or release.
    columns_are: &'a str,
    rows: &'a [String],
    columns: &'a [String],
    /// The builds that there are; a place without one has no cell.
    cells: Vec<One<'a>>,
}

/// Whether a build runs on a GPU.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct One<'a> {
    /// Its row.
    row: &'a str,
    /// Its column.
    column: &'a str,
    #[serde(flatten)]
    cell: &'a Cell,
}

impl<'a> MatrixCells<'a> {
    pub fn new(matrix: &'a Matrix) -> Self {
        let mut tables = Vec::new();
        for panel in &matrix.panels {
            let mut cells = Vec::new();
            for (row, of_row) in panel.rows.iter().zip(&panel.cells) {
                for (column, cell) in panel.columns.iter().zip(of_row) {
                    cells.extend(cell.as_ref().map(|cell| One { row, column, cell }));
                }
            }
            tables.push(Table {
                title: &panel.title,
                rows_are: panel.rows_are.as_str(),
                columns_are: panel.columns_are.as_str(),
                rows: &panel.rows,
                columns: &panel.columns,
                cells,
            });
        }
        MatrixCells { format: FORMAT, package: &matrix.package, arch: &matrix.arch, tables }
    }
}
