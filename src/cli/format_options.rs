//! The options that single formats of `gpuenv export` have, made from the formats themselves.

use std::collections::BTreeMap;

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::export;

/// The options that formats have beside these, by name.
#[derive(Debug, Clone, Default)]
pub struct FormatOptions(pub BTreeMap<String, String>);

impl Args for FormatOptions {
    fn augment_args(command: clap::Command) -> clap::Command {
        let mut command = command;
        for (option, formats) in export::options() {
            let formats: Vec<String> = formats.iter().map(|name| format!("`{name}`")).collect();
            let help = format!("With {}: {}", formats.join(", "), lower(option.help));
            let arg = clap::Arg::new(option.name).long(option.name).help(help).help_heading(FORMAT_OPTIONS);
            let arg = arg.requires("into");
            command = command.arg(match (option.is_switch(), option.choices) {
                (true, _) => arg.action(clap::ArgAction::SetTrue),
                (false, []) => arg.value_name(option.value),
                (false, choices) => arg.value_name(option.value).value_parser(PossibleValuesParser::new(choices)),
            });
        }
        command
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for FormatOptions {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let mut options = FormatOptions::default();
        options.update_from_arg_matches(matches)?;
        Ok(options)
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        for (option, _) in export::options() {
            if option.is_switch() {
                if matches.get_flag(option.name) {
                    self.0.insert(option.name.to_string(), String::new());
                }
            } else if let Some(value) = matches.get_one::<String>(option.name) {
                self.0.insert(option.name.to_string(), value.clone());
            }
        }
        Ok(())
    }
}

/// The heading of the options that one format has, or some.
const FORMAT_OPTIONS: &str = "Options of single formats";

/// A line of help in the middle of a sentence.
fn lower(text: &str) -> String {
    let mut text = text.to_string();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    text
}
