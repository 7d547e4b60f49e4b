//! `gpuenv matrix`: what runs on what.

use crate::matrix::{self, MatrixRequest, Refusal};
use crate::report::{Exit, Failure, MatrixFormat, Report, clean, matrix_text};
use crate::solve::problem::Problem;
use crate::types::{Constraint, CpuArch};

use super::args::MatrixArgs;
use super::atomic_write::replace;
use super::common::{Common, Format};
use super::load_catalog;

/// Runs the command.
pub fn run(common: &Common, args: &MatrixArgs, report: &Report) -> Result<Exit, Failure> {
    let catalog = load_catalog::nearby(common)?;
    let problem = Problem::new(&catalog);
    let request = request(args)?;
    let matrix = matrix::matrix(&request, &problem).map_err(|refusal| refused(refusal, &request))?;
    let format = match common.format {
        Format::Json => MatrixFormat::Json,
        Format::Csv => MatrixFormat::Csv,
        Format::Html => MatrixFormat::Html,
        Format::Svg => MatrixFormat::Svg,
        _ => MatrixFormat::Human,
    };
    let text = matrix_text(report, &matrix, format, args.output.is_some())?;
    match &args.output {
        Some(path) => {
            replace(path, &text)?;
        }
        None => report.data(&text)?,
    }
    Ok(Exit::Yes)
}

fn request(args: &MatrixArgs) -> Result<MatrixRequest, Failure> {
    let named = [("torch", &args.torch), ("tensorflow", &args.tensorflow), ("jax", &args.jax)];
    let version = named.into_iter().find_map(|(package, version)| Some((package, version.as_ref()?)));
    let package = version.map_or(args.package.as_str(), |(package, _)| package);
    let constraint = |option: &str, text: &String| {
        Constraint::parse(text).map_err(|error| {
            let message = format!("`--{option} {}`: {error}", clean(text));
            Failure::new(Exit::BadInput, "bad-value", message)
        })
    };
    let arch = args.arch.as_ref().map(|arch| {
        CpuArch::parse(arch).map_err(|error| Failure::new(Exit::BadInput, "bad-value", format!("`--arch`: {error}")))
    });
    if args.gpu.iter().any(|gpu| gpu.eq_ignore_ascii_case("none")) {
        return Err(Failure::new(Exit::BadInput, "bad-value", "a matrix tells what runs on GPUs: `none` is none"));
    }
    Ok(MatrixRequest {
        package: package.to_string(),
        gpus: args.gpu.clone(),
        version: version.map(|(package, text)| constraint(package, text)).transpose()?,
        driver: args.driver.as_ref().map(|text| constraint("driver", text)).transpose()?,
        arch: arch.transpose()?,
        all: args.all,
    })
}

fn refused(refusal: Refusal, request: &MatrixRequest) -> Failure {
    match refusal {
        Refusal::Names(errors) => {
            let mut failure = Failure::spec(errors, crate::report::SourceFile::default());
            failure.file = None;
            for problem in &mut failure.problems {
                problem.span = None;
            }
            failure
        }
        Refusal::NoRelease => {
            let wanted = request.version.as_ref().map_or(String::new(), |version| format!(" {}", version.as_str()));
            let message = format!("no build with CUDA of {}{} is known", request.package, clean(&wanted));
            let help = format!("`gpuenv catalog show {}` lists the releases", request.package);
            Failure::new(Exit::BadInput, "no-release", message).help(help)
        }
    }
}
