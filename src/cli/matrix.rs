//! `gpuenv matrix`: what runs on what.

use crate::report::{Exit, Failure, MatrixFormat, Report, matrix_text};
use crate::solve::problem::Problem;
use crate::task::matrix::{self, Asked};

use super::args::MatrixArgs;
use super::common::{Common, Format};
use super::load_catalog;
use super::output;

/// Runs the command.
pub fn run(common: &Common, args: &MatrixArgs, report: &Report) -> Result<Exit, Failure> {
    let catalog = load_catalog::told(common, report)?;
    let matrix = matrix::drawn_up(&asked(args), &Problem::new(&catalog))?;
    let format = match common.format {
        Format::Json => MatrixFormat::Json,
        Format::Csv => MatrixFormat::Csv,
        Format::Html => MatrixFormat::Html,
        Format::Svg => MatrixFormat::Svg,
        _ => MatrixFormat::Human,
    };
    let output = output::asked(&args.output, "gpuenv matrix", args.replace.force, common)?;
    let text = matrix_text(report, &matrix, format, output.is_some());
    match output {
        Some(output) => {
            output.write(common, &text, common.format.room())?;
            report.wrote(&output.name());
        }
        None => report.data(&text)?,
    }
    Ok(Exit::Yes)
}

fn asked(args: &MatrixArgs) -> Asked<'_> {
    let named = [("torch", &args.torch), ("tensorflow", &args.tensorflow), ("jax", &args.jax)];
    let release = named.into_iter().find_map(|(package, version)| Some((package, version.as_deref()?)));
    Asked {
        package: release.map_or(args.package.as_str(), |(package, _)| package),
        gpus: &args.gpu,
        version: release.map(|(_, version)| version),
        driver: args.driver.as_deref(),
        arch: args.arch.as_deref(),
        all: args.all,
    }
}
