//! A matrix for people: a line for each row, its builds in groups of how they run; or a line for each cell.

use crate::matrix::{Axis, Cell, Matrix, Panel, State, python_range};

use super::fleet::comma_separated;
use super::json::MatrixCells;
use super::screen::{Screen, clean};
use super::{Failure, Report, matrix_picture};

/// How a matrix is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatrixFormat {
    /// For people.
    Human,
    /// One document.
    Json,
    /// A line for each cell.
    Csv,
    /// A page with its pictures and every reason.
    Html,
    /// The picture alone.
    Svg,
}

/// A matrix as text; `kept`: for a file.
pub fn matrix_text(report: &Report, matrix: &Matrix, format: MatrixFormat, kept: bool) -> Result<String, Failure> {
    Ok(match format {
        MatrixFormat::Json => {
            let text = super::json_text(&MatrixCells::new(matrix));
            text.map_err(|error| Failure::io("write-failed", error.to_string()))? + "\n"
        }
        MatrixFormat::Csv => csv(matrix),
        MatrixFormat::Html => matrix_picture::page(matrix),
        MatrixFormat::Svg => matrix_picture::picture(matrix),
        MatrixFormat::Human => {
            let screen = if kept { Screen::plain() } else { report.stdout_screen() };
            human(&screen, matrix)
        }
    })
}

fn human(screen: &Screen, matrix: &Matrix) -> String {
    let mut text = String::new();
    for panel in &matrix.panels {
        if !text.is_empty() {
            text.push('\n');
        }
        let with = matrix.driver.as_ref().filter(|_| panel.rows_are != Axis::Drivers);
        let with = with.map_or(String::new(), |driver| format!(", with driver {driver}"));
        text += &screen.wrapped("", &clean(&format!("{}{with}", panel.title)));
        let width = panel.rows.iter().map(|row| row.chars().count()).max().unwrap_or(0).min(screen.width / 2);
        for (label, cells) in panel.rows.iter().zip(&panel.cells) {
            let mut head = format!("  {:width$}  ", clean(label));
            for (state, says) in groups(panel, cells) {
                let word = format!("{:<8}", state.as_str());
                let word = match state {
                    State::Native => screen.after(&word),
                    State::Ptx | State::Unknown => screen.warning(&word),
                    State::No => screen.before(&word),
                };
                text += &screen.hanging(&format!("{head}{word} "), &clean(&says), width + 13);
                head = " ".repeat(width + 4);
            }
        }
    }
    text + &legend(screen, matrix)
}

/// The cells of a row that end alike for the same reason, the best first.
fn groups<'p>(panel: &'p Panel, cells: &'p [Option<Cell>]) -> Vec<(State, String)> {
    let mut groups: Vec<(State, &str, Vec<String>)> = Vec::new();
    for (column, cell) in panel.columns.iter().zip(cells) {
        let Some(cell) = cell else { continue };
        let why = if cell.state == State::Native { "" } else { cell.why.as_str() };
        let name = named(panel, column, cell);
        match groups.iter_mut().find(|(state, known, _)| *state == cell.state && *known == why) {
            Some((_, _, columns)) => columns.push(name),
            None => groups.push((cell.state, why, vec![name])),
        }
    }
    groups.sort_by_key(|(state, _, _)| *state);
    let says = |(state, why, columns): (State, &str, Vec<String>)| {
        let because = if why.is_empty() { String::new() } else { format!(": {why}") };
        (state, format!("{}{because}", columns.join(", ")))
    };
    groups.into_iter().map(says).collect()
}

/// A build with what it needs: `cu128 (driver 525.60.13, Python 3.9-3.13)`.
fn named(panel: &Panel, column: &str, cell: &Cell) -> String {
    // The overview has no room for more.
    if panel.columns_are == Axis::Releases || cell.state == State::No {
        return column.to_string();
    }
    let mut parts: Vec<String> = Vec::new();
    parts.extend(cell.minimum.as_ref().map(|minimum| format!("driver {minimum}")));
    if !cell.pythons.is_empty() && panel.rows_are == Axis::Releases {
        parts.push(format!("Python {}", python_range(&cell.pythons)));
    }
    if parts.is_empty() { column.to_string() } else { format!("{column} ({})", parts.join(", ")) }
}

fn legend(screen: &Screen, matrix: &Matrix) -> String {
    let mut says =
        "native: machine code for the GPU; ptx: the driver compiles it; the driver is the oldest that suffices.";
    if matrix.panels.iter().any(|panel| panel.columns_are == Axis::Releases) {
        says = "native: machine code for the GPU; ptx: the driver compiles it; each release by the best of its builds.";
    }
    let mut text = format!("\n{}", screen.wrapped("", says));
    let (package, release) = (&matrix.package, matrix.panels.first().and_then(|panel| panel.rows.first()));
    let release = release.filter(|_| matrix.panels.iter().any(|panel| panel.rows_are == Axis::Releases));
    let option = if ["torch", "tensorflow", "jax"].contains(&package.as_str()) { package } else { "torch" };
    let next = match release {
        Some(release) => {
            format!("add `--{option} {release}` for drivers, `--format html` for a page with every reason")
        }
        None => "`--format html` writes a page with every reason".to_string(),
    };
    text += &screen.wrapped(&format!("{} ", screen.help("next:")), &clean(&next));
    text
}

/// A line for each cell.
fn csv(matrix: &Matrix) -> String {
    let mut text = "package,build,gpu,driver,state,minimum_driver,mode,pythons,why\n".to_string();
    for panel in &matrix.panels {
        for cell in panel.cells.iter().flatten().flatten() {
            let pythons = cell.pythons.join(" ");
            comma_separated(
                &mut text,
                &[
                    &matrix.package,
                    &cell.build,
                    &cell.gpu,
                    cell.driver.as_deref().unwrap_or_default(),
                    cell.state.as_str(),
                    cell.minimum.as_deref().unwrap_or_default(),
                    cell.mode.unwrap_or_default(),
                    &pythons,
                    &cell.why,
                ],
            );
        }
    }
    text
}
