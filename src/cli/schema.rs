//! `gpuenv schema`: the shapes of the JSON documents.

use crate::report::{Exit, Failure, Report, schema};

use super::args::SchemaArgs;

/// Runs the command.
pub fn run(args: &SchemaArgs, report: &Report) -> Result<Exit, Failure> {
    match &args.name {
        None => report.schemas()?,
        Some(name) => match schema::find(name) {
            Some(schema) => report.schema(schema)?,
            None => {
                let names: Vec<&str> = schema::ALL.iter().map(|schema| schema.name).collect();
                let message = format!("unknown schema `{}`", crate::report::clean(name));
                return Err(Failure::new(Exit::BadInput, "unknown-schema", message)
                    .help(format!("the schemas are: {}", names.join(", "))));
            }
        },
    }
    Ok(Exit::Yes)
}
