//! A matrix as a picture: a cell for each build, its colour and its sign saying how it runs, the driver in it. Dark and
//! light as the reader's screen is, readable without colours, without scripts and without network.

use std::fmt::Write;

use crate::matrix::{Axis, Cell, Matrix, Panel, State, python_range};

use super::fleet_page::{begun, escaped};

/// Colours by state: of the cell and of its words, for light screens and for dark ones.
const STYLE: &str = "\
.matrix{color:#1a1a1a;background:#fff;font:13px system-ui,sans-serif}\
.matrix text{fill:#1a1a1a}\
.matrix .native rect{fill:#cfe8d0;stroke:#2f7d32}\
.matrix .ptx rect,.matrix .compat rect{fill:#fdeeb5;stroke:#8a6100;stroke-dasharray:5 2}\
.matrix .unknown rect{fill:#e6e6ee;stroke:#5b5b77;stroke-dasharray:1 3}\
.matrix .no rect{fill:#fff;stroke:#b3402f;stroke-width:.6}\
.matrix .no text{fill:#8c2f22}\
@media (prefers-color-scheme:dark){\
.matrix{color:#eee;background:#16181c}\
.matrix text{fill:#eee}\
.matrix .native rect{fill:#1f4d24;stroke:#7fd183}\
.matrix .ptx rect,.matrix .compat rect{fill:#5a4300;stroke:#f0c14b;stroke-dasharray:5 2}\
.matrix .unknown rect{fill:#33343f;stroke:#a9a9c4;stroke-dasharray:1 3}\
.matrix .no rect{fill:#16181c;stroke:#e0796a;stroke-width:.6}\
.matrix .no text{fill:#f0a498}}";

/// The style of the page around it.
const PAGE: &str = "\
:root{color-scheme:light dark}\
body{font:15px/150% system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}\
table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #8886;padding:.3rem .5rem;text-align:left;vertical-align:top}\
.scroll{overflow-x:auto}\
@media (prefers-color-scheme:dark){body{color:#eee;background:#16181c}}";

const COLUMN: usize = 78;
const ROW: usize = 24;
const HEAD: usize = 52;
/// What a character of a row's name takes.
const CHARACTER: usize = 7;
const WIDEST_NAME: usize = 360;
const FOOT: usize = 34;

/// The sign of a state, so that none is told by its colour alone.
fn sign(state: State) -> &'static str {
    match state {
        State::Native => "\u{2713}",
        State::Ptx => "PTX",
        State::Unknown => "?",
        State::No => "\u{2715}",
    }
}

/// The picture alone: every table below the other.
pub fn picture(matrix: &Matrix) -> String {
    let (mut body, mut down, mut across) = (String::new(), 0, 0);
    for panel in &matrix.panels {
        let (text, wide, high) = tables(matrix, panel, down);
        body += &text;
        down += high + 16;
        across = across.max(wide);
    }
    let title = escaped(&format!("What runs on what: {}", matrix.title));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"matrix\" role=\"img\" aria-label=\"{title}\" \
         viewBox=\"0 0 {across} {down}\" width=\"{across}\" height=\"{down}\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n<rect width=\"{across}\" height=\"{down}\" fill=\"none\"/>\n{body}</svg>\n"
    )
}

/// A table from a height on; how wide and how high it is.
fn tables(matrix: &Matrix, panel: &Panel, from: usize) -> (String, usize, usize) {
    let longest = panel.rows.iter().map(|row| row.chars().count()).max().unwrap_or(0);
    let name = (longest * CHARACTER + 16).clamp(80, WIDEST_NAME);
    let across = (name + panel.columns.len() * COLUMN + 8).max(520);
    let mut text = String::new();
    let _ = writeln!(
        text,
        "<text x=\"4\" y=\"{}\" font-size=\"15\" font-weight=\"600\">{}</text>",
        from + 18,
        escaped(&panel.title)
    );
    for (at, column) in panel.columns.iter().enumerate() {
        let middle = name + at * COLUMN + (COLUMN - 6) / 2;
        let _ = writeln!(
            text,
            "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\" font-weight=\"600\">{}</text>",
            from + 42,
            escaped(column)
        );
    }
    for (row, (label, cells)) in panel.rows.iter().zip(&panel.cells).enumerate() {
        let top = from + HEAD + row * ROW;
        let short: String = label.chars().take((name - 8) / CHARACTER).collect();
        let _ = writeln!(text, "<text x=\"4\" y=\"{}\">{}</text>", top + 15, escaped(&short));
        for (at, cell) in cells.iter().enumerate() {
            if let Some(cell) = cell {
                text += &drawn(matrix, panel, cell, (name + at * COLUMN, top));
            }
        }
    }
    let foot = from + HEAD + panel.rows.len() * ROW;
    let compat = match panel.cells.iter().flatten().flatten().any(|cell| cell.compat.is_some()) {
        true => " \u{b7} compat: with a cuda-compat package",
        false => "",
    };
    let _ = writeln!(
        text,
        "<text x=\"4\" y=\"{}\" font-size=\"12\">{} runs by machine code \u{b7} PTX: compiled by the driver{compat} \u{b7} ? \
         not known \u{b7} {} does not run \u{b7} the number is the oldest driver branch \u{b7} no cell: no such build</text>",
        foot + 20,
        sign(State::Native),
        sign(State::No),
    );
    (text, across, HEAD + panel.rows.len() * ROW + FOOT)
}

fn drawn(matrix: &Matrix, panel: &Panel, cell: &Cell, (left, top): (usize, usize)) -> String {
    let branch = cell.minimum.as_deref().and_then(|minimum| minimum.split('.').next());
    let sign = if cell.compat.is_some() { cell.word() } else { sign(cell.state) };
    let words = match (cell.state, branch) {
        (State::Native | State::Ptx | State::Unknown, Some(branch)) => format!("{sign} {branch}"),
        _ => sign.to_string(),
    };
    let about = escaped(&format!("{} {}", matrix.package, sentence(panel, cell)));
    format!(
        "<g class=\"{}\"><title>{about}</title><rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" rx=\"3\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{words}</text></g>\n",
        cell.word(),
        COLUMN - 6,
        ROW - 4,
        left + (COLUMN - 6) / 2,
        top + 15,
    )
}

/// A cell in a sentence.
fn sentence(panel: &Panel, cell: &Cell) -> String {
    let mut text = format!("{} on {}: {}, {}", cell.build, cell.gpu, cell.word(), cell.why);
    if let Some(minimum) = &cell.minimum {
        let _ = write!(text, "; driver {minimum} or newer");
    }
    if panel.rows_are == Axis::Drivers
        && let Some(driver) = &cell.driver
    {
        let _ = write!(text, "; judged with driver {driver}");
    }
    if !cell.pythons.is_empty() {
        let _ = write!(text, "; Python {}", python_range(&cell.pythons));
    }
    text
}

/// A page with the picture and every reason in words.
pub(super) fn page(matrix: &Matrix) -> String {
    let title = escaped(&format!("What runs on what: {}", matrix.title));
    let mut page = begun(&title, PAGE, &title);
    let picture = picture(matrix).replace(" xmlns=\"http://www.w3.org/2000/svg\"", "");
    let _ = writeln!(page, "<div class=\"scroll\" tabindex=\"0\">{picture}</div>");
    for panel in &matrix.panels {
        let _ = write!(
            page,
            "<h2>{}</h2>\n<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">{}</th>\
             <th scope=\"col\">Build</th><th scope=\"col\">Runs</th><th scope=\"col\">Driver</th>\
             <th scope=\"col\">Python</th><th scope=\"col\">Why</th></tr></thead><tbody>\n",
            escaped(&panel.title),
            match panel.rows_are {
                Axis::Gpus => "GPU",
                Axis::Drivers => "With driver",
                Axis::Systems => "System",
                Axis::Releases | Axis::Variants => "Release",
            }
        );
        for (label, cells) in panel.rows.iter().zip(&panel.cells) {
            for cell in cells.iter().flatten() {
                let minimum = cell.minimum.as_ref().map_or(String::new(), |minimum| format!("{minimum} or newer"));
                let _ = writeln!(
                    page,
                    "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                    escaped(label),
                    escaped(&cell.build),
                    cell.word(),
                    escaped(&minimum),
                    escaped(&python_range(&cell.pythons)),
                    escaped(&cell.why)
                );
            }
        }
        page += "</tbody></table></div>\n";
    }
    page += "</body></html>\n";
    page
}
