//! What every command takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::export::Room;
use crate::report::Color;

/// The heading of the options that every command takes.
const COMMON: &str = "Global options";

/// What every command takes.
#[derive(Debug, Clone, Default, Args)]
pub struct Common {
    /// The spec [default: gpuenv.toml here or in the nearest parent]
    #[arg(long, global = true, value_name = "FILE", help_heading = COMMON)]
    pub spec: Option<PathBuf>,
    /// The lock [default: beside the spec under its name, gpuenv.lock]
    #[arg(long, global = true, value_name = "FILE", help_heading = COMMON)]
    pub lock: Option<PathBuf>,
    /// The output format: human; json, exactly one document on stdout, for errors too; github, with annotations on
    /// stdout; others where the command's help names them
    #[arg(long, global = true, value_enum, hide_possible_values = true)]
    #[arg(value_name = "FORMAT", default_value_t, help_heading = COMMON)]
    pub format: Format,
    /// When to use colours; NO_COLOR is respected
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t, help_heading = COMMON)]
    pub color: When,
    /// Say nothing on stderr but errors
    #[arg(short, long, global = true, help_heading = COMMON)]
    pub quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    #[default]
    Human,
    Json,
    Github,
    // Plain comments: words of help would make every `--help` the long one.
    // A line of JSON each: `probe` and `fleet check`.
    Ndjson,
    // `fleet check`, `fleet plan`, `matrix`.
    Csv,
    // The same: a page with pictures.
    Html,
    // `matrix`: the picture alone.
    Svg,
}

impl Format {
    /// Where a file in this format says who wrote it.
    pub fn room(self) -> Room {
        match self {
            Format::Json | Format::Ndjson => Room::Member,
            Format::Csv => Room::Column,
            Format::Html | Format::Svg => Room::Line("<!-- ", " -->"),
            Format::Human | Format::Github => Room::Line("\n", ""),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum When {
    #[default]
    Auto,
    Always,
    Never,
}

impl From<When> for Color {
    fn from(when: When) -> Color {
        match when {
            When::Auto => Color::Auto,
            When::Always => Color::Always,
            When::Never => Color::Never,
        }
    }
}
