//! What runs on what, from what was typed.

use crate::matrix::{self, Matrix, MatrixRequest, Refusal};
use crate::report::{Exit, Failure, clean};
use crate::solve::problem::Problem;
use crate::spec;
use crate::types::{Constraint, CpuArch};

use super::typed::typed;

/// What was typed.
#[derive(Debug, Clone, Default)]
pub struct Asked<'a> {
    /// The framework.
    pub package: &'a str,
    /// GPUs, a table each.
    pub gpus: &'a [String],
    /// Which release of the framework.
    pub version: Option<&'a str>,
    /// The driver of the hosts.
    pub driver: Option<&'a str>,
    /// The processor.
    pub arch: Option<&'a str>,
    /// Every release, not the newest of each minor alone.
    pub all: bool,
}

/// The matrix that is asked for.
pub fn drawn_up<'c>(asked: &Asked<'_>, problem: &'c Problem<'c>) -> Result<Matrix, Failure> {
    let request = read(asked)?;
    matrix::matrix(&request, problem).map_err(|refusal| refused(refusal, &request))
}

fn read(asked: &Asked<'_>) -> Result<MatrixRequest, Failure> {
    let constraint = |option: &str, text: &str| {
        Constraint::parse(text).map_err(|error| bad_value(format!("`--{option} {}`: {error}", clean(text))))
    };
    let arch = asked.arch.map(|arch| CpuArch::parse(arch).map_err(|error| bad_value(format!("`--arch`: {error}"))));
    if asked.gpus.iter().any(|gpu| gpu.eq_ignore_ascii_case("none")) {
        return Err(bad_value("a matrix shows what runs on GPUs, and `none` means a machine without one".to_string())
            .help("leave `--gpu` out for every GPU generation"));
    }
    asked.gpus.iter().try_for_each(|gpu| readable(gpu))?;
    Ok(MatrixRequest {
        package: asked.package.to_string(),
        gpus: asked.gpus.to_vec(),
        version: asked.version.map(|text| constraint(asked.package, text)).transpose()?,
        driver: asked.driver.map(|text| constraint("driver", text)).transpose()?,
        arch: arch.transpose()?,
        all: asked.all,
    })
}

/// Refuses what no gpuenv.toml takes for a GPU either.
fn readable(gpu: &str) -> Result<(), Failure> {
    let text = format!("[target.host]\n{}", line_of(gpu));
    let (_, errors) = spec::parse_part(&text);
    let of_line = errors.into_iter().filter(|error| !spec::is_incomplete(error));
    let problems: Vec<_> = of_line.map(|error| typed(error, &text, &["gpu"])).collect();
    if problems.is_empty() { Ok(()) } else { Err(Failure { exit: Exit::BadInput, problems, file: None }) }
}

/// The line that would be written for a GPU.
fn line_of(gpu: &str) -> String {
    format!("gpu = {}\n", toml::Value::from(gpu))
}

fn bad_value(message: String) -> Failure {
    Failure::new(Exit::BadInput, "bad-value", message).help("`gpuenv matrix --help` has examples of each option")
}

fn refused(refusal: Refusal, request: &MatrixRequest) -> Failure {
    match refusal {
        Refusal::Names(errors) => {
            // No other name can be unknown, and the place is that of the option's value.
            let text = line_of("");
            let problems = errors.into_iter().map(|error| typed(error, &text, &["gpu"])).collect();
            Failure { exit: Exit::BadInput, problems, file: None }
        }
        Refusal::NoRelease => {
            let wanted = request.version.as_ref().map_or(String::new(), |version| format!(" {}", version.as_str()));
            let message = format!("no build with CUDA of {}{} is known", request.package, clean(&wanted));
            let help = format!("`gpuenv catalog show {}` lists the releases", request.package);
            Failure::new(Exit::BadInput, "no-release", message).help(help)
        }
    }
}
