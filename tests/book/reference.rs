//! docs/reference is what the program says of itself: commands, JSON documents, rules, warnings, errors, checks and the
//! messages it knows. `UPDATE_EXAMPLES=1 cargo test --test book reference::` writes it anew.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use gpuenv::catalog::BUILTIN;
use gpuenv::meaning;
use gpuenv::report::schema;
use serde_json::Value;

/// Where every page says how it came about.
fn head(title: &str, about: &str) -> String {
    format!("# {title}\n\n{about} This page is made from the program; a test compares them.\n")
}

#[track_caller]
fn is_current(name: &str, page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference").join(name);
    if env::var_os("UPDATE_EXAMPLES").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, page).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == page, "UPDATE_EXAMPLES=1 cargo test --test book reference:: writes docs/reference/{name} anew");
}

/// A text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// What `gpuenv help` with these words prints.
fn help(words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpuenv"));
    command.arg("help").args(words).stdin(Stdio::null()).env("COLUMNS", "100").env_remove("GPUENV_COMPLETE");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{words:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    // The catalog's version is not the commands' matter, and lines do not end in blanks.
    text.lines().map(|line| line.trim_end().to_string() + "\n").collect()
}

/// The commands that a help lists.
fn commands(text: &str) -> Vec<String> {
    let list = text.split("Commands:\n").nth(1).unwrap_or_default();
    let lines = list.lines().take_while(|line| line.starts_with("  "));
    let names = lines.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(String::from).collect()
}

#[test]
fn commands_are_current() {
    let top = help(&[]);
    let mut page = head("Commands", "What `gpuenv help COMMAND` prints.");
    let _ = write!(page, "\n```text\n{}```\n", top);
    let names = commands(&top);
    assert!(names.len() > 8, "{names:?}");
    for name in names {
        let text = help(&[&name]);
        let _ = write!(page, "\n## gpuenv {name}\n\n```text\n{text}```\n");
        for below in commands(&text) {
            let _ = write!(page, "\n### gpuenv {name} {below}\n\n```text\n{}```\n", help(&[&name, &below]));
        }
    }
    is_current("commands.md", &page);
}

#[test]
fn json_documents_are_current() {
    let about = "With `--format json` a command prints exactly one of these documents. `gpuenv schema NAME` prints the \
                 whole schema, in JSON Schema 2020-12.";
    let mut page = head("JSON documents", about);
    for one in schema::ALL {
        let schema: Value = serde_json::from_str(&one.text()).unwrap();
        let _ = write!(page, "\n## {}\n\nOf {}.\n\n| field | |\n|---|---|\n", one.name, one.about);
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let says = field["description"].as_str().unwrap_or_default();
            let _ = writeln!(page, "| `{name}` | {} |", cell(says).trim());
        }
    }
    is_current("json.md", &page);
}

#[test]
fn rules_are_current() {
    let about = "A conflict names the rule that forbids it, and `[[override]]` sets one aside. `gpuenv explain RULE` shows \
                 one with its source and the pairs that it was tried with.";
    let mut page = head("Rules", about);
    page += "\nRules over ranges, as rows of the catalog:\n\n| rule | says | source |\n|---|---|---|\n";
    for rule in BUILTIN.rules.iter() {
        let at = BUILTIN.source_of(&rule.source, "", "", "");
        let _ = writeln!(page, "| `{}` | {} | {} |", rule.id, cell(&rule.says), cell(&at));
    }
    page += "\nLaws, which are code:\n\n| law | says | source |\n|---|---|---|\n";
    for law in BUILTIN.laws.iter() {
        let at = BUILTIN.source_of(&law.source, "", "", "");
        let _ = writeln!(page, "| `{}` | {} | {} |", law.id, cell(&law.says), cell(&at));
    }
    is_current("rules.md", &page);
}

#[test]
fn warnings_are_current() {
    let about = "A warning stops nothing. `[[silence]]` in gpuenv.toml silences one that is known and accepted.";
    let mut page = head("Warnings", about);
    page += "\n| warning | means |\n|---|---|\n";
    for code in meaning::WARNINGS {
        let _ = writeln!(page, "| `{}` | {} |", code.code, cell(code.says()));
    }
    is_current("warnings.md", &page);
}

#[test]
fn errors_are_current() {
    let about = "An error ends the run: nothing was done, or the message ends with the files that were written. Its code stands between the brackets, and in JSON as \
                 `errors[].code`. `gpuenv explain CODE` shows one. Rows of an overlay are refused by the name of a lint \
                 too, which stands between the brackets as a code does.";
    let mut page = head("Errors", about);
    page += "\n| error | means |\n|---|---|\n";
    for one in meaning::ERRORS {
        let _ = writeln!(page, "| `{}` | {} |", one.code, cell(one.says()));
    }
    is_current("errors.md", &page);
}

#[test]
fn checks_are_current() {
    let mut page = head("Checks", "What `gpuenv verify` looks at. Each is pass, fail, warn, skip or unknown.");
    page += "\n| check | looks at |\n|---|---|\n";
    for check in meaning::CHECKS {
        let _ = writeln!(page, "| `{}` | {} |", check.code, cell(check.says()));
    }
    is_current("checks.md", &page);
}

#[test]
fn messages_are_current() {
    let about = "What `gpuenv diagnose` recognises. A part in braces is read out of the message or resolved for your \
                 gpuenv.toml; a sentence whose part is not known is left out.";
    let mut page = head("Error messages", about);
    page += "\n| code | component | means | first remedy |\n|---|---|---|---|\n";
    for one in BUILTIN.diagnoses.iter() {
        let meaning = one.meaning.iter().map(|says| says.to_string()).collect::<Vec<_>>().join(" ");
        // Those for one system alone stand beside what is meant for all.
        let mut remedies = one.remedies.iter().filter(|says| !says.starts_with("{windows}"));
        let remedy = remedies.next().map(|says| says.replace("{elsewhere}", "")).unwrap_or_default();
        let _ = writeln!(page, "| `{}` | {} | {} | {} |", one.code, one.component, cell(&meaning), cell(&remedy));
    }
    is_current("messages.md", &page);
}
