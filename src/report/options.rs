//! How a report is told to speak: for whom, how much, and of which files.

use crate::explain::Change;
use crate::warning::Warning;

use super::Report;
use super::project::ProjectFiles;
use super::screen::{Color, Screen};

impl Report {
    /// A report to this process's streams.
    pub fn new(json: bool, color: Color) -> Self {
        let screen = Screen::of_stderr(color);
        Report {
            json,
            github: false,
            verbose: false,
            quiet: false,
            color,
            screen,
            applied: Vec::new(),
            beyond_file: false,
            asides: Vec::new(),
        }
    }

    /// The same, with annotations for GitHub's log on stdout.
    pub fn for_github(self, github: bool) -> Self {
        Report { github, ..self }
    }

    /// The same, with nothing left out.
    pub fn verbose(self, verbose: bool) -> Self {
        Report { verbose, ..self }
    }

    /// The same, with nothing on stderr but errors.
    pub fn quiet(self, quiet: bool) -> Self {
        Report { quiet, ..self }
    }

    /// The same, after a fix was written into gpuenv.toml.
    pub fn after(self, applied: Vec<Change>) -> Self {
        Report { applied, ..self }
    }

    /// The same, where what is asked was typed and does not stand in gpuenv.toml: nothing can be applied there by number.
    pub fn beyond_file(self) -> Self {
        Report { beyond_file: true, ..self }
    }

    /// The same, where documents and annotations tell what was told aside.
    pub fn beside(self, asides: Vec<Warning>) -> Self {
        Report { asides, ..self }
    }

    /// A sentence whose commands name the files that it is of.
    pub fn named(&self, text: &str) -> String {
        self.screen.project.named(text).into_owned()
    }

    /// The same, of files that are called so.
    pub fn of(self, project: ProjectFiles) -> Self {
        Report { screen: Screen { project, ..self.screen }, ..self }
    }
}
