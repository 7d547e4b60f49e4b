//! `gpuenv completions SHELL`: the script that makes a shell ask this program what can stand at the cursor, and the
//! answer when it asks.

use std::ffi::OsString;

use clap::CommandFactory;
use clap_complete::env::{EnvCompleter, Shells};

use crate::report::{Exit, Failure, Report};

use super::args::{Cli, CompletionsArgs};
use super::installed;

/// Names the shell that asks: set by the scripts, and by nobody else.
const VARIABLE: &str = "GPUENV_COMPLETE";
/// The program, as the scripts call it.
const PROGRAM: &str = "gpuenv";

/// How the script for zsh lists what was found: what begins with the typed word, and nothing else.
const ZSH_LISTS: &str = "[[ -n $other ]] && _describe -V 'values' other\n";
/// The rest too: the typed word becomes what they share, or stays where that would be shorter.
const ZSH_LISTS_ALL: &str = "\
if [[ -n $other ]] && ! _describe -V 'values' other; then
            _describe -V 'values' other -U
            if (( ${#compstate[unambiguous]} < ${#PREFIX} )); then
                compstate[insert]=
                compstate[list]='list force'
            fi
        fi
";

/// Prints the script for a shell.
pub fn run(args: &CompletionsArgs, report: &Report) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    if let Some(shell) = shell(&args.shell) {
        shell.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script).map_err(unwritten)?;
    }
    let script = String::from_utf8_lossy(&script).replace(ZSH_LISTS, ZSH_LISTS_ALL);
    report.export("completions", &script)?;
    Ok(Exit::Yes)
}

/// What a shell asks with these words, if one asks.
pub fn asked(args: &[OsString], report: &Report) -> Option<Result<Exit, Failure>> {
    let asking = std::env::var_os(VARIABLE)?;
    let shell = shell(asking.to_str()?)?;
    // The words of the command line stand behind `--`.
    let words = args.iter().skip(1).skip_while(|word| *word != "--").skip(1).cloned().collect();
    Some(answer(shell, words, report))
}

fn answer(shell: &dyn EnvCompleter, words: Vec<OsString>, report: &Report) -> Result<Exit, Failure> {
    if words.is_empty() {
        return Err(Failure::new(Exit::BadInput, "usage", format!("`{VARIABLE}` is set, but no shell asks anything"))
            .help("unset it: only the scripts of `gpuenv completions` set it"));
    }
    installed::choose(|| None, None);
    let here = std::env::current_dir().ok();
    let mut found = Vec::new();
    shell.write_complete(&mut Cli::command(), words, here.as_deref(), &mut found).map_err(unwritten)?;
    report.for_shell(&String::from_utf8_lossy(&found))?;
    Ok(Exit::Yes)
}

fn shell(name: &str) -> Option<&'static dyn EnvCompleter> {
    const SHELLS: Shells<'static> = Shells::builtins();
    SHELLS.completer(name)
}

/// Into memory anything can be written.
fn unwritten(error: std::io::Error) -> Failure {
    Failure::io("write-failed", format!("completions cannot be made: {error}"))
}
