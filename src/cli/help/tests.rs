//! Tests of `cli::help`.

use clap::{Command, CommandFactory};

use super::super::args::Cli;

/// Every `--help` has examples, and each of them can be typed.
#[test]
fn every_help_has_examples_that_can_be_typed() {
    let mut root = Cli::command();
    root.build();
    let mut seen = 0;
    look(&root, &mut seen);
    assert!(seen > 35, "{seen}");
}

fn look(command: &Command, seen: &mut usize) {
    if command.get_name() == "help" {
        return;
    }
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).replace('-', " ");
    let examples = help.strip_prefix("Examples:\n").unwrap_or_else(|| panic!("`{name} --help` has no example"));
    let lines: Vec<&str> = examples.lines().take_while(|line| line.starts_with("  ")).collect();
    assert!(lines.iter().any(|line| line.contains(&name)), "`{name} --help` shows no use of it");
    for line in lines {
        let typed = &line[line.find("gpuenv").expect(line)..];
        let typed = typed.split([">", "|"].map(|end| end.chars().next().unwrap())).next().unwrap();
        let parsed = Cli::command().try_get_matches_from(words(typed));
        assert!(parsed.is_ok(), "`{typed}`: {}", parsed.unwrap_err());
        *seen += 1;
    }
    command.get_subcommands().for_each(|below| look(below, seen));
}

/// As a shell parts them; quotes keep blanks.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('"').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(String::from)),
            _ => words.push(part.to_string()),
        }
    }
    words
}
