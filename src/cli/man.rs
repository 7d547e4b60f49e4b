//! `gpuenv man`: the manual pages, one for the program and one for each command.

use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::export::{Room, quote};
use crate::report::{Exit, Failure, Report, clean};

use super::args::{Cli, ManArgs};
use super::common::Common;
use super::files::reason;
use super::output::{Output, is_stdout};
use super::project::shown;

/// Prints one page, or writes all of them into a folder.
pub fn run(common: &Common, args: &ManArgs, report: &Report) -> Result<Exit, Failure> {
    let pages = pages();
    if let Some(folder) = args.output.as_ref().filter(|folder| !is_stdout(folder)) {
        write_all(&pages, folder, args.replace.force, common)?;
        report.pages(&shown(folder))?;
        report.next(&format!("man -l {}", quote::sh_word(&shown(&folder.join("gpuenv.1")))));
        return Ok(Exit::Yes);
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

/// Writes every page, or none where one would replace what is not this command's.
fn write_all(pages: &[(String, String)], folder: &Path, force: bool, common: &Common) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::io("write-failed", format!("{} cannot be made: {}", shown(folder), reason(&error)))
            .help("name a folder in which you may write")
    })?;
    let files: Vec<PathBuf> = pages.iter().map(|(name, _)| folder.join(format!("{name}.1"))).collect();
    let outputs = files.iter().map(|file| Output::new(file, "gpuenv man", force, common));
    let outputs: Vec<Output<'_>> = outputs.collect::<Result<_, _>>()?;
    let mut each = outputs.iter().zip(pages);
    each.try_for_each(|(output, (_, text))| output.write(common, text, Room::Line(".\\\" ", "")))
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
