//! What is said of files that were rendered from the lock.

use super::outcomes::{Exported, Written};
use super::screen::clean;
use super::{Failure, Report, github, json};

impl Report {
    /// What was rendered for another tool.
    pub fn export(&self, format: &str, text: &str) -> Result<(), Failure> {
        match self.json && format != "json" {
            true => self.document(&json::Rendered::text(Some(format), text)),
            false if format == "json" => self.data(&super::screen::plain_json(text)),
            false => self.data(text),
        }
    }

    /// That pages were written into a folder.
    pub fn pages(&self, folder: &str) -> Result<(), Failure> {
        match self.json {
            true => self.document(&json::Rendered::file("man", folder)),
            false => {
                self.wrote(folder);
                Ok(())
            }
        }
    }

    /// That what was asked for stands in a file now.
    pub fn wrote(&self, file: &str) {
        if !self.json {
            self.remark(&format!("wrote {}\n", clean(file)));
        }
    }

    /// The command that comes next.
    pub fn next(&self, command: &str) {
        if !self.json {
            self.remark(&format!("{} {}\n", self.screen.help("next:"), clean(command)));
        }
    }

    /// That files were rendered, or how they compare: what `[export]` names, or the one of the format that was typed.
    pub fn exported(&self, files: &[Exported], of_spec: bool, checked: bool) -> Result<(), Failure> {
        let reasons: Vec<String> = files.iter().filter_map(Exported::reason).collect();
        if !reasons.is_empty() {
            return self.outdated(files, &reasons);
        }
        if self.json {
            return match files {
                [one] if !of_spec => self.document(&json::Rendered::file(one.format, &one.file)),
                _ => self.document(&json::Exports::new(files)),
            };
        }
        let mut text = String::new();
        for one in files {
            let told = match one.fate {
                Written::Now => "wrote",
                _ if checked => "up to date:",
                _ => "unchanged:",
            };
            text += &format!("{told} {}\n", clean(&one.file));
        }
        self.remark(&text);
        let mut told: Vec<&str> = Vec::new();
        for one in files.iter().filter(|_| !checked) {
            if !told.contains(&one.next.as_str()) {
                told.push(&one.next);
                self.next(&one.next);
            }
        }
        Ok(())
    }

    /// Files that are not what the lock says.
    fn outdated(&self, files: &[Exported], reasons: &[String]) -> Result<(), Failure> {
        let kept: Vec<&str> =
            files.iter().filter(|one| one.fate == Written::Kept).map(|one| one.file.as_str()).collect();
        let help = match kept.is_empty() {
            true => "run the same command without `--check` to write them".to_string(),
            false => format!(
                "run the same command with `--force` in place of `--check`: it replaces {} too, and what you wrote there is lost",
                kept.join(", ")
            ),
        };
        let says = format!("exports are not what {} says", self.lock_name());
        self.not_current("Exports are out of date", &says, reasons, &help, || github::outdated(files))
    }

    /// That the spec beside the lock asks for something else, or the lock was edited; an error where that was asked for.
    pub fn stale_lock(&self, spec: &str, edited: Option<&str>, is_error: bool) -> Result<(), Failure> {
        let message = match edited {
            Some(reason) => format!("{} is out of date: {reason}", self.lock_name()),
            None => format!("{spec} says something else than {}, which is what is exported", self.lock_name()),
        };
        if is_error && self.json {
            return self.document(&json::Stale::new(&[message]));
        }
        let head = match is_error {
            true => self.screen.error("error[stale-lock]:"),
            false => self.screen.warning("warning[stale-lock]:"),
        };
        let message = clean(&message);
        if is_error {
            let help = self.screen.wrapped(&self.help_head(), "run `gpuenv lock`");
            self.say(&(self.screen.wrapped(&format!("{head} "), &message) + &help));
        } else {
            self.remark(&self.screen.wrapped(&format!("{head} "), &format!("{message}; run `gpuenv lock`")));
        }
        Ok(())
    }
}

impl Exported {
    /// Why it is not what it should be.
    pub(super) fn reason(&self) -> Option<String> {
        match self.fate {
            Written::Now | Written::Same => None,
            Written::Kept => Some(format!(
                "{} differs from what `{}` would write, and is not as gpuenv wrote it",
                self.file, self.format
            )),
            Written::Differs => Some(format!("{} differs from what `{}` would write", self.file, self.format)),
            Written::Missing => Some(format!("{} does not exist", self.file)),
        }
    }
}
