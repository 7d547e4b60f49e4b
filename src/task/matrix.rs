//! What runs on what, from what was typed.

use crate::matrix::{self, Matrix, MatrixRequest, Refusal};
use crate::report::{Exit, Failure, clean};
use crate::solve::problem::Problem;
use crate::spec::{self, Target};
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
    if asked.gpus.iter().any(|gpu| ["none", "cpu"].contains(&gpu.trim().to_ascii_lowercase().as_str())) {
        return Err(bad_value("a matrix shows what runs on GPUs, and this means a machine without one".to_string())
            .help("leave `--gpu` out for every GPU generation"));
    }
    asked.gpus.iter().try_for_each(|gpu| as_in_a_spec(&line_of("gpu", gpu)).map(drop))?;
    let driver = asked.driver.map(|driver| as_in_a_spec(&line_of("driver", driver))).transpose()?;
    Ok(MatrixRequest {
        package: asked.package.to_string(),
        gpus: asked.gpus.to_vec(),
        version: asked.version.map(|text| constraint(asked.package, text)).transpose()?,
        driver: driver.and_then(|target| Some(target.driver?.value)),
        arch: arch.transpose()?,
        all: asked.all,
    })
}

/// A target with one line; refused is what no gpuenv.toml takes there either.
fn as_in_a_spec(line: &str) -> Result<Target, Failure> {
    let text = format!("[target.host]\n{line}");
    let (spec, errors) = spec::parse_part(&text);
    let of_line = errors.into_iter().filter(|error| !spec::is_incomplete(error));
    let mut problems: Vec<_> = of_line.map(|error| typed(error, &text, OPTIONS)).collect();
    // A matrix is of drivers, not of what they show.
    let help = problems.iter_mut().filter_map(|problem| problem.help.as_mut()).find(|help| help.contains(SHOWN));
    if let Some(help) = help {
        *help = "write the \"Driver Version\" that nvidia-smi shows".to_string();
    }
    match problems.is_empty() {
        true => Ok(spec.targets.iter().next().cloned().unwrap_or_default()),
        false => Err(Failure { exit: Exit::BadInput, problems, file: None }),
    }
}

/// What is read as a key of a target.
const OPTIONS: &[&str] = &["gpu", "driver"];
/// A key that is no option here.
const SHOWN: &str = "`driver-cuda";

/// The line that would be written for an option.
fn line_of(key: &str, value: &str) -> String {
    format!("{key} = {}\n", toml::Value::from(value))
}

fn bad_value(message: String) -> Failure {
    Failure::new(Exit::BadInput, "bad-value", message).help("`gpuenv matrix --help` has examples of each option")
}

fn refused(refusal: Refusal, request: &MatrixRequest) -> Failure {
    match refusal {
        Refusal::Names(errors) => {
            // No other name can be unknown, and the place is that of the option's value.
            let text = line_of("gpu", "");
            let problems = errors.into_iter().map(|error| typed(error, &text, OPTIONS)).collect();
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
