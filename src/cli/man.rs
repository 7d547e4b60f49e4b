//! `gpuenv man`: the manual pages, one for the program and one for each command.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::export::quote;
use crate::report::{Exit, Failure, Report, clean};

use super::args::{Cli, ManArgs};
use super::atomic_write::replace;
use super::files::reason;
use super::output::is_stdout;
use super::project::shown;

/// Prints one page, or writes all of them into a folder.
pub fn run(args: &ManArgs, report: &Report) -> Result<Exit, Failure> {
    let pages = pages();
    if let Some(folder) = args.output.as_ref().filter(|folder| !is_stdout(folder)) {
        return write_all(&pages, folder, report);
    }
    let wanted = args.command.iter().fold("gpuenv".to_string(), |name, word| format!("{name}-{word}"));
    match pages.iter().find(|(name, _)| *name == wanted) {
        Some((_, text)) => report.export("man", text)?,
        None => {
            let message = format!("unknown command `{}`", clean(&args.command.join(" ")));
            return Err(Failure::new(Exit::BadInput, "usage", message).help("`gpuenv help` lists the commands"));
        }
    }
    Ok(Exit::Yes)
}

fn write_all(pages: &[(String, String)], folder: &Path, report: &Report) -> Result<Exit, Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::io("write-failed", format!("{} cannot be made: {}", shown(folder), reason(&error)))
            .help("name a folder in which you may write")
    })?;
    for (name, text) in pages {
        replace(&folder.join(format!("{name}.1")), text)?;
    }
    report.pages(&shown(folder))?;
    report.next(&format!("man -l {}", quote::sh_word(&shown(&folder.join("gpuenv.1")))));
    Ok(Exit::Yes)
}

/// Every page by its name, `gpuenv-catalog-show`.
fn pages() -> Vec<(String, String)> {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    add_page(&root, &mut pages);
    pages
}

fn add_page(command: &Command, pages: &mut Vec<(String, String)>) {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_string();
    let mut text = Vec::new();
    // Into memory anything can be written.
    let _ = Man::new(command.clone()).title(name.to_uppercase()).render(&mut text);
    pages.push((name, String::from_utf8_lossy(&text).into_owned()));
    command.get_subcommands().for_each(|below| add_page(below, pages));
}
