//! `gpuenv fleet plan`: the fewest stacks for the hosts of the sources, and which drivers to raise.

use crate::fleet::Host;
use crate::fleet::plan::{self, Inventory};
use crate::report::{Exit, Failure, PlanFormat, Report, plan_text};
use crate::solve::engine::Steps;
use crate::solve::problem::Problem;
use crate::solve::request::Request;
use crate::spec::{Spec, Target};

use crate::cli::common::{Common, Format};
use crate::cli::files;
use crate::cli::lock::read;
use crate::cli::{inputs, output};
use crate::task::lock::Asked;

use super::source;
use crate::cli::args::fleet::PlanArgs;
use crate::types::plain::{NAMED, shorten};

/// Runs the command.
pub fn run(common: &Common, args: &PlanArgs, report: &Report) -> Result<Exit, Failure> {
    inputs::enter_named(&args.sources);
    let output = output::asked(&args.output, "gpuenv fleet plan", args.replace.force, common)?;
    let Asked { file, spec, catalog } = read(&files::places(common)?.spec)?;
    let problem = Problem::new(&catalog);
    // What is wrong with the spec is told at its place in the file.
    Request::new(&spec, &problem).map_err(|errors| Failure::spec(errors, file.clone()))?;
    let template = chosen(&spec, args.target.as_deref())?;
    let mut inventory = Inventory::default();
    let essential = |host: Host| (host.name, host.record.and_then(|record| plan::essence(record, template, &catalog)));
    let left_out = source::each(&args.sources, output.as_ref(), essential, |(name, read)| {
        inventory.add(name, read);
        Ok(())
    })?;
    left_out.iter().for_each(|says| report.note(says));
    let plan =
        plan::plan(&spec, template, &problem, inventory, Steps::LIMIT).map_err(|errors| Failure::spec(errors, file))?;
    let format = match common.format {
        Format::Json => PlanFormat::Json,
        Format::Csv => PlanFormat::Csv,
        Format::Html => PlanFormat::Html,
        _ => PlanFormat::Human,
    };
    let text = plan_text(report, &plan, format, output.is_some(), args.verbose)?;
    match output {
        Some(output) => {
            output.write(common, &text, common.format.room())?;
            report.wrote(&output.name());
        }
        None => report.data(&text)?,
    }
    Ok(match (plan.refused(), plan.serves_all()) {
        (0, true) => Exit::Yes,
        (0, false) => Exit::Unknown,
        _ => Exit::No,
    })
}

/// The target that says what the hosts do not.
fn chosen<'s>(spec: &'s Spec, named: Option<&str>) -> Result<&'s Target, Failure> {
    let names: Vec<&str> = spec.targets.iter().map(|target| target.name.as_str()).collect();
    let list = format!("the targets are: {}", shorten(&names, NAMED));
    match (named, &spec.targets[..]) {
        (None, [only]) => Ok(only),
        (None, _) => {
            let message = "the spec has several targets: one of them says what the hosts do not (runtime, image)";
            Err(Failure::new(Exit::BadInput, "which-target", message).help(format!("add `--target NAME`; {list}")))
        }
        (Some(named), all) => all.iter().find(|target| target.name == named).ok_or_else(|| {
            let message = format!("the spec has no target `{}`", crate::report::clean(named));
            Failure::new(Exit::BadInput, "unknown-target", message).help(list)
        }),
    }
}
