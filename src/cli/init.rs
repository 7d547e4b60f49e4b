//! `gpuenv init`: a gpuenv.toml to begin with.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use crate::catalog::{Catalog, at_hand};
use crate::explain::{self, Explanation};
use crate::host::{Record, signs};
use crate::init::manifest::{Left, Manifest, line_of_python};
use crate::init::{self, Draft, Value};
use crate::probe::{Depth, ProbeOptions};
use crate::report::{Drafted, Exit, Failure, Report, SourceFile, clean};
use crate::solve::compile::Locked;
use crate::solve::engine::Steps;
use crate::solve::own;
use crate::solve::problem::Problem;
use crate::solve::request::Request;
use crate::solve::resolve::{Resolution, resolve};
use crate::spec::{self, Spec, SpecError};
use crate::task::typed;
use crate::types::{CpuArch, Version};
use crate::warning::Warning;

use super::args::InitArgs;
use super::atomic_write::replace;
use super::common::Common;
use super::described;
use super::files;
use super::inputs::is_same;
use super::load_catalog;
use super::manifests;
use super::observe;
use super::output::{is_read, is_stdout};
use super::project;
use super::project::{LOCK, SPEC, shown};
use super::turn::Turn;

/// Runs the command.
pub fn run(common: &Common, args: &InitArgs, report: &Report) -> Result<Exit, Failure> {
    if let Some(python) = interpreter(args).filter(|_| !args.detect) {
        let message = format!("--python {}: an interpreter is looked at with --detect only", clean(python));
        return Err(Failure::new(Exit::BadInput, "usage", message).help("add --detect, or give the versions of Python"));
    }
    let inputs = args.from.iter().map(|from| ("--from -", from)).chain(args.host.iter().map(|host| ("--host -", host)));
    files::one_stdin(&inputs.filter(|(_, path)| files::is_stdin(path)).map(|(option, _)| option).collect::<Vec<_>>())?;
    let place = place(common, args);
    place.as_deref().map_or(Ok(()), refuse_lock)?;
    let _turn = place.as_ref().map(|place| Turn::take(place, report)).transpose()?;
    let sources = args.from.iter().chain(&args.host);
    if let Some(place) = place.as_deref().filter(|place| sources.into_iter().any(|source| is_same(source, place))) {
        return Err(is_read(place));
    }
    if let Some(place) = &place
        && !args.force
        && fs::symlink_metadata(place).is_ok()
    {
        let message = format!("{} exists already", shown(place));
        return Err(
            Failure::new(Exit::BadInput, "exists", message).help("name another with -o, or replace it with --force")
        );
    }
    if place.as_ref().is_some_and(|_| args.output.is_none() && common.spec.is_none()) {
        project::check_found(Path::new(SPEC), "-o")?;
    }
    let catalog = catalog(place.as_deref(), report);
    let files = manifests::read(&args.from, report)?;
    let python = args.python.as_deref().filter(|_| interpreter(args).is_none());
    let host = host(args, report)?;
    let unsuited = host.as_ref().and_then(init::unsuited);
    unsuited.iter().for_each(|why| report.note(&format!("{why}: change the target to the machine that is to run it")));
    let doubt = host.as_ref().and_then(signs::doubt);
    doubt.iter().for_each(|why| report.note(&format!("{why}: what stands first was taken, check it on the host")));
    let is_said = args.os.is_some() || args.image.is_some();
    if let Some((why, help)) = host.as_ref().and_then(|host| init::open_jetpack(host, &catalog)).filter(|_| !is_said) {
        return Err(Failure::new(Exit::BadInput, "missing", why).help(help));
    }
    let name = place.as_deref().map_or("stdout".to_string(), shown);
    let drawing = Drawing { args, host: host.as_ref(), files: &files, name: &name, catalog: &catalog };
    let target = (python.and_then(line_of_python), args.arch.as_deref().and_then(|arch| CpuArch::parse(arch).ok()));
    let (drawn, left) = drawing.decided(target)?;
    for why in &drawn.off {
        report.note(&format!("a line of the files is taken over as a comment: {why}"));
    }
    if let Some(guess) = &drawn.guess {
        report.note(&format!("nothing that was taken over needs a framework: `{guess}` is a guess, replace it"));
    }
    let (Drawn { draft, file, spec, conflict, warnings, .. }, left) = (&drawn, &left);
    if let Some(place) = &place {
        replace(place, &file.text)?;
    }
    let (conflict, is_stdout, packages) = (conflict.as_ref(), place.is_none(), &draft.packages);
    let written = place.as_ref().filter(|place| *place != Path::new(SPEC));
    let report = report.clone().of(files::named(&Common { spec: written.cloned(), ..common.clone() }));
    report.drafted(&Drafted { file, spec, is_stdout, conflict, warnings, packages, left })?;
    Ok(Exit::Yes)
}

/// What a draft is made of.
struct Drawing<'a> {
    args: &'a InitArgs,
    host: Option<&'a Record>,
    files: &'a [Manifest],
    name: &'a str,
    catalog: &'a Catalog,
}

impl Drawing<'_> {
    /// The draft for a line of Python and a processor.
    fn on(&self, target: Target, bind: bool) -> Result<(Drawn, Vec<Left>), Failure> {
        let (mut found, mut left) = (None, Vec::new());
        if !self.files.is_empty() {
            let (mut draft, of_files) = manifests::drafted(self.files, self.catalog, &self.args.extra, target)?;
            if let Some(python) = target.0.filter(|python| bind && draft.admits_python(python)) {
                draft.bind_python(python, "the conditions in the files were decided for it");
            }
            (found, left) = (Some(draft), of_files);
        }
        let is_open = found.as_ref().is_some_and(|draft| draft.is_open);
        let drawn = draw(self.args, draft(self.args, self.host, found, self.catalog), self.name, self.catalog)?;
        Ok((Drawn { is_open, ..drawn }, left))
    }

    /// The same; conditions that are left open are decided for the processor and, where that is not enough, for the Python that
    /// the draft leads to, if what then is asked for has an answer, too.
    fn decided(&self, (python, arch): Target) -> Result<(Drawn, Vec<Left>), Failure> {
        let first = self.on((python, arch), false)?;
        let Some((solved, on)) = first.0.solved.filter(|_| first.0.is_open) else { return Ok(first) };
        let of_arch = self.on((python, Some(arch.unwrap_or(on))), false)?;
        let first = if of_arch.0.conflict.is_none() { of_arch } else { first };
        let Some(solved) = solved.filter(|_| first.0.is_open && python.is_none()) else { return Ok(first) };
        // What the conditions ask for may go with an older one only.
        let mut bound = None;
        for minor in (solved.minor().saturating_sub(MOST_OLDER)..=solved.minor()).rev() {
            let line = Version::parse(&format!("{}.{minor}", solved.major())).ok();
            let on = |bind: bool| self.on((line, Some(arch.unwrap_or(on))), bind);
            let leads_there =
                |drawn: &Drawn| drawn.conflict.is_none() && drawn.solved.and_then(|(python, _)| python) == line;
            let second = on(self.args.python.is_none())?;
            if first.1 == second.1 && first.0.draft.packages == second.0.draft.packages {
                break;
            }
            if !leads_there(&second.0) {
                continue;
            }
            if leads_there(&on(false)?.0) {
                return Ok(second);
            }
            bound = bound.or(Some(second));
        }
        Ok(bound.unwrap_or(first))
    }
}

/// So many older lines of Python are tried.
const MOST_OLDER: u64 = 4;

/// A line of Python and a processor, where they are known.
type Target = (Option<Version>, Option<CpuArch>);

/// A draft, and what the solver says of it.
struct Drawn {
    /// Whether conditions of the files are left open.
    is_open: bool,
    /// The Python that is chosen, and the processor.
    solved: Option<(Option<Version>, CpuArch)>,
    draft: Draft,
    /// The line of what nobody asked for.
    guess: Option<String>,
    /// Why lines are comments that gpuenv.toml cannot hold.
    off: Vec<String>,
    file: SourceFile,
    spec: Spec,
    conflict: Option<Explanation>,
    warnings: Vec<Warning>,
}

fn draw(args: &InitArgs, mut draft: Draft, name: &str, catalog: &Catalog) -> Result<Drawn, Failure> {
    let (mut guess, mut off) = (None, Vec::new());
    loop {
        if guess.is_none() {
            guess = draft.ask_for_something(catalog).filter(|_| draft.of_files);
        }
        let file = SourceFile { name: name.to_string(), text: draft.text() };
        let asked = spec::parse(&file.text).and_then(|spec| {
            let laid = own::lay(&spec, catalog);
            let answered = ask(&spec, laid.as_ref().unwrap_or(catalog))?;
            Ok((spec, answered))
        });
        let errors = match asked {
            Ok((spec, (solved, conflict, warnings))) => {
                return Ok(Drawn { is_open: false, solved, draft, guess, off, file, spec, conflict, warnings });
            }
            Err(errors) => errors,
        };
        // Nobody wrote these lines so: what a file says and gpuenv.toml cannot hold is for whoever reads the draft.
        let before = off.len();
        for error in if draft.of_files { &errors[..] } else { &[] } {
            let key = typed::key_at(&file.text, error.span.start).unwrap_or_default();
            if draft.comment_out(key, &error.message) {
                off.push(format!("`{key}`: {}", error.message));
            }
        }
        if off.len() == before {
            return Err(refused(errors, &file, args));
        }
    }
}

/// Where to write; none: stdout.
fn place(common: &Common, args: &InitArgs) -> Option<PathBuf> {
    let named = args.output.clone().or_else(|| common.spec.clone());
    let place = named.unwrap_or_else(|| PathBuf::from(SPEC));
    (!is_stdout(&place)).then_some(place)
}

/// A lock is no place for a spec, `--force` or not.
fn refuse_lock(place: &Path) -> Result<(), Failure> {
    if place.file_name().is_none_or(|name| name != LOCK) && !matches!(files::read_lock(place), Ok(Some(_))) {
        return Ok(());
    }
    let message = format!("{} is a lock, and no place for a spec", shown(place));
    Err(Failure::new(Exit::BadInput, "exists", message).help("name another file with -o"))
}

/// The catalog with the overlays of the spec that lies where the new one will: they describe the same site, and are
/// named again.
fn catalog(place: Option<&Path>, report: &Report) -> Cow<'static, Catalog> {
    let spec = place.unwrap_or(Path::new(SPEC)).with_file_name(SPEC);
    if !spec.is_file() {
        return Cow::Borrowed(at_hand());
    }
    project::check_found(&spec, "--spec").and_then(|()| load_catalog::beside(&spec)).unwrap_or_else(|failure| {
        let why = failure.problems.first().map_or("", |problem| problem.message.as_str());
        report.note(&format!("the overlays of {} are left aside: {why}", shown(&spec)));
        Cow::Borrowed(at_hand())
    })
}

/// The host to look at, if any.
fn host(args: &InitArgs, report: &Report) -> Result<Option<Record>, Failure> {
    if let Some(path) = &args.host {
        manifests::refuse_as_host(path)?;
        return described::read_host(path, report).map(Some);
    }
    if !args.detect {
        return Ok(None);
    }
    let options =
        ProbeOptions { depth: Depth::Usual, python: interpreter(args).map(PathBuf::from), ..ProbeOptions::default() };
    observe::observe(options, None, report).map(Some)
}

/// As uv does it: `--python` takes versions, or the interpreter to look at.
fn interpreter(args: &InitArgs) -> Option<&str> {
    args.python.as_deref().filter(|python| python.contains('/'))
}

/// Mistakes in what was typed are told of the options; others stand in what was seen, and are told at their places.
fn refused(errors: Vec<SpecError>, file: &SourceFile, args: &InitArgs) -> Failure {
    let options = [
        ("gpu", !args.gpu.is_empty()),
        ("driver", args.driver.is_some()),
        ("driver-cuda", args.driver_cuda.is_some()),
        ("platform", args.platform.is_some()),
        ("os", args.os.is_some()),
        ("arch", args.arch.is_some()),
        ("image", args.image.is_some()),
        ("torch", args.torch.is_some()),
        ("tensorflow", args.tensorflow.is_some()),
        ("jax", args.jax.is_some()),
        ("python", args.python.is_some()),
    ];
    let is_typed = |error: &&SpecError| {
        let key = typed::key_at(&file.text, error.span.start);
        let is_name = args.target.is_some() && file.text[..error.span.start].ends_with("[target.");
        is_name || options.iter().any(|(option, given)| *given && key == Some(*option))
    };
    let names = options.map(|(option, _)| option);
    let problems: Vec<_> =
        errors.iter().filter(is_typed).map(|error| typed::typed(error.clone(), &file.text, &names)).collect();
    match problems.is_empty() {
        true => Failure::spec(errors, file.clone()),
        // As it ends where a file says so: what is not supported yet is no mistake.
        false => Failure { exit: Failure::spec(errors, file.clone()).exit, problems, file: None },
    }
}

/// What was seen, and over it what was typed.
fn draft(args: &InitArgs, host: Option<&Record>, found: Option<Draft>, catalog: &Catalog) -> Draft {
    let python = if interpreter(args).is_some() { &None } else { &args.python };
    let packages = [("torch", &args.torch), ("tensorflow", &args.tensorflow), ("jax", &args.jax), ("python", python)];
    let typed = packages.iter().any(|(name, value)| *name != "python" && value.is_some());
    let of_host = if typed || found.is_some() { init::of_host_beside } else { init::of_host };
    let host = host.map(|record| of_host(record, catalog, args.build));
    let mut draft = match found {
        Some(files) => manifests::joined(host, files),
        None => host.unwrap_or_default(),
    };
    draft.overlays = catalog.overlays.iter().map(|overlay| overlay.name.to_string()).collect();
    draft.build |= args.build;
    if let Some(name) = &args.target {
        draft.target = name.clone();
    }
    if typed {
        draft.drop_frameworks();
    }
    for (name, value) in packages {
        value.iter().for_each(|value| draft.package(name, value));
    }
    if !args.gpu.is_empty() {
        let one = <&[String; 1]>::try_from(&args.gpu[..]).map(|[gpu]| Value::Text(gpu.clone()));
        draft.fact("gpu", one.unwrap_or_else(|_| Value::List(args.gpu.clone())));
    }
    let driver = [("platform", &args.platform), ("driver", &args.driver), ("driver-cuda", &args.driver_cuda)];
    let facts = [("image", &args.image), ("os", &args.os), ("arch", &args.arch)];
    for (key, value) in driver.into_iter().chain(facts) {
        value.iter().for_each(|value| draft.fact(key, Value::Text(value.clone())));
    }
    draft
}

/// What is chosen of Python and the processor; why the spec has no answer, none if it has one or nobody could tell within the
/// limit; and what is remarked on it.
fn ask(spec: &Spec, catalog: &Catalog) -> Result<Answered, Vec<SpecError>> {
    let rules = Problem::new(catalog);
    let (request, warnings) = Request::new(spec, &rules)?;
    Ok(match resolve(&request, &Locked::new(), &Steps::default()) {
        Resolution::Conflict => (None, explain::conflicts(spec, &rules, &Steps::default()), warnings),
        Resolution::Solution(solution) => {
            let chosen = solution.targets.first().map(|target| (target.chosen.python.copied(), target.chosen.arch));
            (chosen, None, warnings)
        }
        Resolution::Undetermined(_) | Resolution::GaveUp => (None, None, warnings),
    })
}

/// What [`ask`] tells.
type Answered = (Option<(Option<Version>, CpuArch)>, Option<Explanation>, Vec<Warning>);
