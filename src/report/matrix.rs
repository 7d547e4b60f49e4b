//! A matrix for people: a line for each row, its builds in groups of how they run; or a line for each cell.

use crate::catalog::rows::FRAMEWORKS;
use crate::matrix::{Axis, Cell, Matrix, Panel, State, python_range};
use crate::types::{grouped, sort_by_key};

use super::fleet::comma_separated;
use super::screen::{Screen, clean};
use super::{Report, json, matrix_picture};

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
pub fn matrix_text(report: &Report, matrix: &Matrix, format: MatrixFormat, kept: bool) -> String {
    match format {
        MatrixFormat::Json => json::text(&json::MatrixCells::new(matrix)),
        MatrixFormat::Csv => csv(matrix),
        MatrixFormat::Html => matrix_picture::page(matrix),
        MatrixFormat::Svg => matrix_picture::picture(matrix),
        MatrixFormat::Human => {
            let screen = if kept { Screen::plain() } else { report.stdout_screen() };
            human(&screen, matrix)
        }
    }
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
        let labels: Vec<&str> = panel.rows.iter().map(|row| short(panel, row)).collect();
        let width = labels.iter().map(|row| row.chars().count()).max().unwrap_or(0).min(screen.width / 2);
        for (label, cells) in labels.iter().zip(&panel.cells) {
            let mut head = format!("  {:width$}  ", clean(label));
            for (word, says) in groups(panel, cells) {
                let padded = format!("{word:<8}");
                let word = match word {
                    "native" => screen.after(&padded),
                    "no" => screen.before(&padded),
                    _ => screen.warning(&padded),
                };
                text += &screen.hanging(&format!("{head}{word} "), &clean(&says), width + 13);
                head = " ".repeat(width + 4);
            }
        }
    }
    text + &legend(screen, matrix)
}

/// A row's name without the products that have a capability.
fn short<'r>(panel: &Panel, row: &'r str) -> &'r str {
    match panel.rows_are {
        Axis::Gpus => row.split(" (").next().unwrap_or(row),
        _ => row,
    }
}

/// The cells of a row that end alike for the same reason, the best first.
fn groups(panel: &Panel, cells: &[Option<Cell>]) -> Vec<(&'static str, String)> {
    let mut ends = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        let Some(cell) = cell else { continue };
        // The overview has no room for reasons.
        let is_said = cell.state != State::Native && panel.columns_are == Axis::Variants;
        let why = if is_said { cell.why.as_str() } else { "" };
        ends.push(((cell.state, cell.word(), why), at));
    }
    let mut groups = grouped(ends);
    // Of what runs alike, what needs no other libcuda comes first.
    sort_by_key(&mut groups, |((state, word, _), columns)| (*state, *word == "compat", columns[0]));
    let says = |((_, word, why), columns): ((State, &'static str, &str), Vec<usize>)| {
        let because = if why.is_empty() { String::new() } else { format!(": {why}") };
        let names = match panel.columns_are {
            Axis::Releases => spans(panel, cells, &columns),
            _ => builds(panel, cells, &columns),
        };
        (word, format!("{names}{because}"))
    };
    groups.into_iter().map(says).collect()
}

/// Releases, those that follow each other as a span: `2.7.1 to 2.15.0`.
fn spans(panel: &Panel, cells: &[Option<Cell>], columns: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &at in columns {
        match runs.last_mut() {
            Some((_, last)) if (*last + 1..at).all(|between| cells[between].is_none()) => *last = at,
            _ => runs.push((at, at)),
        }
    }
    let name = |(first, last): &(usize, usize)| match first == last {
        true => panel.columns[*first].clone(),
        false => format!("{} to {}", panel.columns[*first], panel.columns[*last]),
    };
    runs.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Builds with what they need: `cu126 (driver 525.60.13), cu128 (driver 525.60.13); Python 3.9-3.13`.
fn builds(panel: &Panel, cells: &[Option<Cell>], columns: &[usize]) -> String {
    let found: Vec<(&String, &Cell)> =
        columns.iter().filter_map(|&at| Some((&panel.columns[at], cells[at].as_ref()?))).collect();
    let runs = |cell: &Cell| cell.state != State::No;
    let shared = found.windows(2).all(|pair| pair[0].1.pythons == pair[1].1.pythons);
    let mut names: Vec<String> = Vec::new();
    for (column, cell) in &found {
        let mut parts: Vec<String> = Vec::new();
        if runs(cell) {
            let with = cell.compat.as_ref().map_or(String::new(), |package| format!(" with {package}"));
            parts.extend(cell.minimum.as_ref().map(|minimum| format!("driver {minimum}{with}")));
            parts.extend(Some(python_range(&cell.pythons)).filter(|_| !shared).map(|range| format!("Python {range}")));
        }
        names.push(if parts.is_empty() { column.to_string() } else { format!("{column} ({})", parts.join(", ")) });
    }
    let python = found.first().filter(|(_, cell)| shared && runs(cell) && !cell.pythons.is_empty());
    let python = python.map_or(String::new(), |(_, cell)| format!("; Python {}", python_range(&cell.pythons)));
    format!("{}{python}", names.join(", "))
}

fn legend(screen: &Screen, matrix: &Matrix) -> String {
    let mut says =
        "native: machine code for the GPU; ptx: the driver compiles it; the driver is the oldest that suffices.";
    if matrix.panels.iter().any(|panel| panel.columns_are == Axis::Releases) {
        says = "native: machine code for the GPU; ptx: the driver compiles it; each release by the best of its builds.";
    }
    let mut text = format!("\n{}", screen.wrapped("", says));
    if matrix.panels.iter().flat_map(|panel| panel.cells.iter().flatten().flatten()).any(|cell| cell.compat.is_some()) {
        let says =
            "compat: the driver is too old by itself; a data-centre GPU runs it with the libcuda of that package.";
        text += &screen.wrapped("", says);
    }
    let (package, release) = (&matrix.package, matrix.panels.first().and_then(|panel| panel.rows.first()));
    let release = release.filter(|_| matrix.panels.iter().any(|panel| panel.rows_are == Axis::Releases));
    let option = if FRAMEWORKS.contains(&package.as_str()) { package } else { FRAMEWORKS[0] };
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
    let mut text = "package,build,gpu,driver,state,minimum_driver,mode,pythons,why,system\n".to_string();
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
                    cell.system.as_deref().unwrap_or_default(),
                ],
            );
        }
    }
    text
}
