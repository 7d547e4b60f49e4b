//! What can be typed behind `gpuenv catalog`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};

use crate::catalog::SHELVES;

use crate::cli::{complete, help};

/// Look up what gpuenv knows, each fact with its source
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = help::CATALOG)]
pub struct CatalogArgs {
    #[command(subcommand)]
    pub command: Option<CatalogCommand>,
}

impl CatalogArgs {
    /// Whether nothing is to be left out.
    pub fn is_verbose(&self) -> bool {
        matches!(&self.command, Some(CatalogCommand::Show(args)) if args.verbose)
    }
}

#[derive(Debug, Subcommand)]
pub enum CatalogCommand {
    List(ListArgs),
    Show(ShowArgs),
    Search(SearchArgs),
    Check(CheckArgs),
    Inspect(InspectArgs),
    Update(UpdateArgs),
}

/// List what can be written: packages, GPUs, drivers, systems, images
#[derive(Debug, Args)]
#[command(after_help = help::CATALOG_LIST)]
pub struct ListArgs {
    /// List all names of this kind [default: each kind in short]
    #[arg(value_parser = PossibleValuesParser::new(SHELVES.iter().map(|(kind, _)| *kind)))]
    pub kind: Option<String>,
}

/// Show everything about one thing, with its sources
#[derive(Debug, Args)]
#[command(after_help = help::CATALOG_SHOW)]
pub struct ShowArgs {
    /// `torch@2.8.0+cu128`, `cuda@12.8`, `driver@570`, `cudnn@9.10`, `image@nvidia/cuda:TAG`, a GPU or system by its
    /// name, the id of a rule, a source or a fact
    #[arg(required = true, add = complete::topics())]
    pub what: Vec<String>,
    /// Show every row of many, and their sources
    #[arg(short, long)]
    pub verbose: bool,
}

/// Find the facts in which every word occurs; exit 1 if there is none
#[derive(Debug, Args)]
#[command(after_help = help::CATALOG_SEARCH)]
pub struct SearchArgs {
    /// All of them occur in what is found
    #[arg(required = true, value_name = "WORDS", value_parser = super::said)]
    pub words: Vec<String>,
}

/// Check the catalog in use and overlays with every lint
#[derive(Debug, Args)]
#[command(after_help = help::CATALOG_CHECK)]
pub struct CheckArgs {
    /// Overlays, applied in this order [default: those of the gpuenv.toml here, or in the nearest parent]
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Show the GPU code in a library or wheel, and what it needs
#[derive(Debug, Args)]
#[command(after_help = help::CATALOG_INSPECT)]
pub struct InspectArgs {
    /// A shared library, a wheel, or a folder such as an unpacked wheel
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print only the overlay that holds its row, for `overlays` of gpuenv.toml
    #[arg(long)]
    pub overlay: bool,
    /// Where the wheel can be installed from, for the row: its own address, or that of a wheel index
    #[arg(long, value_name = "ADDRESS")]
    pub url: Option<String>,
}

/// Install a newer catalog from a file or address; without, list them
#[derive(Debug, Args)]
#[command(after_help = help::CATALOG_UPDATE)]
pub struct UpdateArgs {
    /// A catalog file, or the https:// address of one. Nothing is fetched unless you name it
    #[arg(value_name = "FILE|ADDRESS")]
    pub from: Option<String>,
    /// Go back to this older version: one that is installed, the built-in one, or that of the file
    #[arg(long, value_name = "VERSION")]
    pub rollback: Option<String>,
}
