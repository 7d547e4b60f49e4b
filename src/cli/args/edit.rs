//! What can be typed behind `gpuenv add`, `remove` and `target`.

use clap::{Arg, ArgAction, ArgMatches, Args, Subcommand};

use crate::cli::{complete, help};
use crate::spec::{KeyDoc, Shape, tables};

/// How gpuenv.toml is edited
#[derive(Debug, Args)]
pub struct Mode {
    /// Show what would change and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// On a conflict: show every fix, and every fact with its source
    #[arg(short, long)]
    pub verbose: bool,
}

/// Add packages to gpuenv.toml or change their versions, and lock
#[derive(Debug, Args)]
#[command(after_help = help::ADD)]
pub struct AddArgs {
    /// The packages, each with what is asked of its version: torch, "torch>=2.4,<2.8", torch==2.5.1+cu124
    #[arg(required = true, value_name = "PACKAGE[CONSTRAINT]", add = complete::packages())]
    pub packages: Vec<String>,
    #[command(flatten)]
    pub mode: Mode,
}

/// Remove packages from [stack] or [packages] of gpuenv.toml, and lock
#[derive(Debug, Args)]
#[command(after_help = help::REMOVE)]
pub struct RemoveArgs {
    /// The packages
    #[arg(required = true, value_name = "PACKAGE", add = complete::asked_packages())]
    pub packages: Vec<String>,
    #[command(flatten)]
    pub mode: Mode,
}

/// Add a kind of machine to gpuenv.toml or remove one, and lock
#[derive(Debug, Args)]
#[command(after_help = help::TARGET)]
pub struct TargetArgs {
    #[command(subcommand)]
    pub command: TargetCommand,
}

#[derive(Debug, Subcommand)]
pub enum TargetCommand {
    Add(TargetAddArgs),
    Remove(TargetRemoveArgs),
}

impl TargetArgs {
    /// How it is done.
    pub fn mode(&self) -> &Mode {
        match &self.command {
            TargetCommand::Add(args) => &args.mode,
            TargetCommand::Remove(args) => &args.mode,
        }
    }
}

/// Add a target, one kind of machine that the stack must run on, and lock
#[derive(Debug, Args)]
#[command(after_help = help::TARGET_ADD)]
pub struct TargetAddArgs {
    /// Its name: letters, digits, - and _
    pub name: String,
    #[command(flatten)]
    pub mode: Mode,
    #[command(flatten)]
    pub keys: TargetKeys,
}

/// Remove a target, and lock
#[derive(Debug, Args)]
#[command(after_help = help::TARGET_REMOVE)]
pub struct TargetRemoveArgs {
    /// Its name
    #[arg(add = complete::targets())]
    pub name: String,
    #[command(flatten)]
    pub mode: Mode,
}

/// The keys of a target as options: an option for each row of the table of keys.
#[derive(Debug, Clone, Default)]
pub struct TargetKeys(pub Vec<(&'static str, Vec<String>)>);

impl Args for TargetKeys {
    fn augment_args(command: clap::Command) -> clap::Command {
        let mut command = command;
        for key in target_keys() {
            let arg = Arg::new(key.name).long(key.name).help(help(&key)).help_heading("Keys of the target");
            let arg = match key.name {
                "gpu" => arg.add(complete::gpus()),
                "driver" => arg.add(complete::drivers()),
                "os" => arg.add(complete::systems()),
                "arch" => arg.add(complete::processors()),
                "image" => arg.add(complete::images()),
                _ => arg,
            };
            command = command.arg(match &key.shape {
                Shape::Switch => arg.action(ArgAction::SetTrue),
                Shape::TextOrList | Shape::List => arg.value_name("VALUE").action(ArgAction::Append),
                Shape::Text | Shape::Choice(_) => arg.value_name("VALUE"),
            });
        }
        command
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for TargetKeys {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut keys = TargetKeys::default();
        keys.update_from_arg_matches(matches)?;
        Ok(keys)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for key in target_keys() {
            if key.shape == Shape::Switch {
                if matches.get_flag(key.name) {
                    self.0.push((key.name, vec!["true".to_string()]));
                }
            } else if let Some(values) = matches.get_many::<String>(key.name) {
                self.0.push((key.name, values.cloned().collect()));
            }
        }
        Ok(())
    }
}

/// The keys of a target.
pub fn target_keys() -> Vec<KeyDoc> {
    tables().into_iter().filter(|table| table.name == "target").flat_map(|table| table.keys).collect()
}

fn help(key: &KeyDoc) -> String {
    let mut help = key.brief.to_string();
    if let Some(first) = help.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    match &key.shape {
        Shape::Choice(words) => format!("{help}: {}", words.join(", ")),
        Shape::TextOrList | Shape::List => format!("{help}; can be repeated"),
        Shape::Text | Shape::Switch => help,
    }
}
