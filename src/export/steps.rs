//! How an image is made from a lock, step by step, whoever writes the steps down: a Dockerfile, an Apptainer definition.
//!
//! Python comes from uv rather than from the distribution: a distribution has one version, a lock may name
//! any, and uv's builds run on every glibc system alike, Ubuntu, Rocky or UBI. Where the image holds the framework
//! itself, its Python is taken and nothing is put beside its torch.

use crate::lock::{Admitted, ConstraintLock, Lock, TargetLock, Wheel};
use crate::types::version::Written;
use crate::types::{CpuArch, Version};

use super::drivers;
use super::wheels::{self, pin};
use super::{ExportError, builds, images, ordinary, own, quote, seal, valid};

/// The installer, fixed so that the same lock builds the same way next year.
pub const UV_IMAGE: &str = "ghcr.io/astral-sh/uv:0.13.8";
/// The same by its number.
pub const UV: &str = UV_IMAGE.split_at("ghcr.io/astral-sh/uv:".len()).1;

/// The oldest Python that this uv can install.
pub const OLDEST_PYTHON: Version = Version::of(const { &Written::release("3.8") });

/// Beside each other, so that a later stage can take both.
pub const PYTHON_DIRECTORY: &str = "/opt/python";
/// The environment that holds the wheels.
pub const VENV: &str = "/opt/venv";
/// What later installs must keep to.
const CONSTRAINTS: &str = "/opt/constraints.txt";

/// What installs must leave out.
const EXCLUDED: &str = "/opt/excluded.txt";

/// One step.
#[derive(Debug, Clone)]
pub enum Step {
    /// What the next ones are for.
    Note(String),
    /// A command of the shell; what goes on in the next line ends in a backslash.
    Run(String),
    /// Variables for the steps after it and for what runs.
    Env(Vec<(String, String)>),
    /// `/uv` of [`UV_IMAGE`] to `/usr/local/bin/uv`.
    BringUv,
    /// Makes the environment the one that `python` and `uv pip` mean.
    Activate,
}

/// An image and what is done in it.
#[derive(Debug)]
pub struct Stage {
    /// With its registry.
    pub image: String,
    /// In order.
    pub steps: Vec<Step>,
}

/// All of it.
#[derive(Debug)]
pub struct Recipe {
    /// The platform.
    pub arch: CpuArch,
    /// Where everything is installed, and compiled.
    pub first: Stage,
    /// With something to compile, the smaller image that runs the result.
    pub second: Option<Stage>,
    /// What the second takes from the first.
    pub carried: &'static [&'static str],
    /// Facts about the image, by name.
    pub labels: Vec<(&'static str, String)>,
}

fn env(variables: &[(&str, &str)]) -> Step {
    Step::Env(variables.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect())
}

/// The recipe for a target.
pub fn recipe(lock: &Lock, name: &str, target: &TargetLock) -> Result<Recipe, ExportError> {
    let arch = valid::cpu_arch(&target.arch)?;
    let image = images::of(name, target)?;
    let wheels: Vec<&Wheel> = lock.wheels_of(name).collect();
    let others = ordinary::lines(&ordinary::of(lock, name)?);
    let installs = !wheels.is_empty() || !others.is_empty();
    let inside = images::framework_inside(lock, name, target);
    let mut steps = vec![
        Step::Note(
            "The lock holds for this platform only; on another one the build would find other wheels, or none.".into(),
        ),
        Step::Run(format!("test \"$(uname -m)\" = {arch}")),
    ];
    let note = own::note(lock, name, target);
    if !note.is_empty() {
        steps.push(Step::Note(note));
    }
    steps.extend(toolkit_of_unknown(lock, name, target)?);
    let compiler = compiler(lock, name, target);
    if target.runtime_image.is_none() || inside.is_some() {
        steps.extend(compiler.clone());
    }
    let has_venv = inside.is_none() && adds(lock, name, target);
    if let Some((package, version)) = inside {
        let python = wheels::python(lock, target)?.filter(|_| installs);
        steps.extend(python_of_image(package, version, python)?);
    } else if has_venv {
        // What a smaller image takes over cannot be a Python of the larger one.
        let may_be_image = !installs && target.runtime_image.is_none();
        steps.extend(python(lock, name, target, may_be_image)?);
    }
    let from_source = wheels.iter().any(|wheel| wheel.sdist);
    if from_source {
        steps.extend(architectures(lock, target, &wheels)?);
    }
    if installs {
        let constraints: Vec<&ConstraintLock> = lock.constraints_of(name).collect();
        let install = install(&wheels, &constraints, inside.map(|(package, _)| package), &others)?;
        steps.extend(without(&own::packages_nowhere(lock, name, target)?, install));
    }
    if target.toolkit.is_some() {
        if !from_source {
            steps.extend(architectures(lock, target, &wheels)?);
        }
        let has_uv = steps.iter().any(|step| matches!(step, Step::BringUv));
        let by = if has_uv { "`uv pip install --no-build-isolation` or CMake" } else { "CMake" };
        steps.push(own_lines(&format!("Compile your CUDA code here, for example by {by}."), "the build"));
    }
    let carried: &[&str] = if has_venv { &[PYTHON_DIRECTORY, VENV] } else { &[] };
    let mut first = Stage { image, steps };
    let mut second = match target.runtime_image.as_deref().filter(|_| inside.is_none()) {
        Some(image) => Some(runtime_stage(images::qualified(image)?, compiler, has_venv)),
        None => None,
    };
    second.as_mut().unwrap_or(&mut first).steps.extend(gpu_access(lock, name, target)?);
    Ok(Recipe { arch, first, second, carried, labels: labels(name, target)? })
}

/// Nobody knows whether an image that the catalog does not have holds the toolkit that the lock compiles with.
fn toolkit_of_unknown(lock: &Lock, name: &str, target: &TargetLock) -> Result<Vec<Step>, ExportError> {
    let image = format!("target.{name}.image");
    let is_known = lock.fact.iter().any(|fact| fact.id.starts_with("image ") && fact.supports.contains(&image));
    let Some(toolkit) = target.toolkit.as_deref().filter(|_| !is_known) else { return Ok(Vec::new()) };
    let line: Vec<&str> = valid::release("toolkit", toolkit)?.split('.').take(2).collect();
    let line = line.join(".");
    Ok(vec![
        Step::Note(format!("Nobody knows what this image holds, and the lock compiles with the nvcc of CUDA {line}.")),
        Step::Run(format!(
            "case \"$(PATH=\"$PATH:/usr/local/cuda/bin\" nvcc --version)\" in \\\n    *\"release {line},\"*) ;; \\\n    \
             *) echo \"take an image that holds CUDA {line}\" >&2; exit 1 ;; \\\n    esac"
        )),
    ])
}

/// Installs a C compiler where there is none, whichever distribution it is.
pub const INSTALL_GCC: &str = "command -v gcc > /dev/null || if command -v apt-get > /dev/null; then \\\n    \
    apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*; \\\n    \
    else \"$(command -v microdnf || command -v dnf || command -v yum)\" install -y gcc; fi";

/// Whether something calls a C compiler when it runs: Triton compiles what launches its kernels on the machine that runs them.
pub fn calls_compiler(lock: &Lock, name: &str, target: &TargetLock) -> bool {
    lock.uses_gpu(name, target) && lock.stack_of(target).contains_key("triton")
}

fn compiler(lock: &Lock, name: &str, target: &TargetLock) -> Vec<Step> {
    if !calls_compiler(lock, name, target) {
        return Vec::new();
    }
    vec![
        Step::Note("Triton (torch.compile, vLLM and others) calls a C compiler when it runs.".into()),
        Step::Run(INSTALL_GCC.into()),
    ]
}

/// Installs nothing of what somebody installs himself: whatever depends on it would bring that of an index.
fn without(packages: &[String], steps: Vec<Step>) -> Vec<Step> {
    if packages.is_empty() {
        return steps;
    }
    let kept_out = |step| match step {
        Step::Run(command) => {
            Step::Run(command.replace("uv pip install ", &format!("uv pip install --excludes {EXCLUDED} ")))
        }
        other => other,
    };
    let list = Step::Run(format!("printf '%s\\n' {} > {EXCLUDED}", packages.join(" ")));
    [list].into_iter().chain(steps.into_iter().map(kept_out)).collect()
}

/// Whether an image has to be made in which more stands than in the locked one.
pub fn adds(lock: &Lock, name: &str, target: &TargetLock) -> bool {
    let has_python = || lock.stack_of(target).contains_key("python");
    lock.wheels_of(name).next().is_some()
        || lock.packages().next().is_some()
        || has_python() && images::framework_inside(lock, name, target).is_none()
}

/// The locked Python and an environment made from it. Where nothing is installed into that, a Python of the image's own may
/// be the one, with what is installed for it.
fn python(lock: &Lock, name: &str, target: &TargetLock, may_be_image: bool) -> Result<Vec<Step>, ExportError> {
    let missing = || ExportError::Incomplete { what: "the Python version", target: name.to_string() };
    let python = wheels::python(lock, target)?.ok_or_else(missing)?;
    valid::recent_python("a Dockerfile", python, OLDEST_PYTHON)?;
    let (note, preference, command) = match may_be_image {
        true => (
            "The locked Python: the image's own if it is that one, else uv's, which runs on any glibc system.",
            "system",
            format!("uv venv --system-site-packages --python {python} {VENV}"),
        ),
        false => (
            "The locked Python, whatever the distribution has: uv brings builds that run on any glibc system.",
            "only-managed",
            format!("uv python install {python} && uv venv --python {python} {VENV}"),
        ),
    };
    let directory = ("UV_PYTHON_INSTALL_DIR", PYTHON_DIRECTORY);
    Ok(vec![
        Step::Note(note.into()),
        Step::BringUv,
        env(&[directory, ("UV_PYTHON_PREFERENCE", preference), ("UV_LINK_MODE", "copy")]),
        Step::Run(command),
        Step::Activate,
    ])
}

/// The Python of an image that holds the framework itself: nothing is installed beside it. What is installed was chosen for one
/// line of it.
fn python_of_image(package: &str, version: &str, installs_for: Option<&str>) -> Result<Vec<Step>, ExportError> {
    let package = valid::package(package)?;
    let version = valid::wheel_version(version)?;
    let public = version.split('+').next().unwrap_or_default();
    let line = installs_for.map(|python| {
        let line: Vec<&str> = python.split('.').take(2).collect();
        format!("; import sys; assert sys.version_info[:2] == ({}), sys.version", line.join(", "))
    });
    let line = line.unwrap_or_default();
    let mut steps = vec![
        Step::Note(format!("The image holds {package} {version} and the Python it is installed for: both are kept.")),
        // What the image says of itself may carry a label of its own, `2.8.0a0+5228986c39`.
        Step::Run(format!(
            "python3 -c \"import {package}; assert {package}.__version__.startswith('{public}'), {package}.__version__{line}\""
        )),
    ];
    if installs_for.is_some() {
        steps.push(Step::BringUv);
        steps.push(env(&[("UV_SYSTEM_PYTHON", "1"), ("UV_BREAK_SYSTEM_PACKAGES", "1"), ("UV_LINK_MODE", "copy")]));
    }
    Ok(steps)
}

/// The locked wheels, each from its own index, then what they depend on.
///
/// The other indexes are asked for exactly the locked wheels (`--no-deps`) and then never again: no
/// dependency can be served by the wrong index, and none is held back by what an index happens to mirror.
/// What others bring in is held to the lock by constraints.
///
/// What is compiled without isolation comes last, when all that its build imports is there.
fn install(
    wheels: &[&Wheel],
    constraints: &[&ConstraintLock],
    kept: Option<&str>,
    others: &[String],
) -> Result<Vec<Step>, ExportError> {
    let (last, first): (Vec<&Wheel>, Vec<&Wheel>) = wheels.iter().partition(|wheel| wheel.unisolated.is_some());
    let mut steps = Vec::new();
    if !wheels::misnamed(wheels).is_empty() {
        steps.push(Step::Note(
            "A file below is named otherwise than its metadata says, which uv takes for a mistake.".into(),
        ));
        steps.push(env(&[(wheels::UNCHECKED, "1")]));
    }
    // Beside a framework of the image stands what follows it, which is the image's own too.
    let constraints = if kept.is_some() { &[] } else { constraints };
    steps.extend(constrain(wheels, constraints, kept)?);
    if !first.is_empty() {
        steps.extend(fetch(&first, others)?);
    } else if !others.is_empty() {
        steps.push(Step::Note(ordinary::NOTE.into()));
        steps.push(Step::Run(format!("uv pip install --no-cache{}", asked(others))));
    }
    let (packages, tools) = wheels::unisolated(&last)?;
    if !packages.is_empty() {
        let options = packages.iter().map(|package| format!(" --no-build-isolation-package {package}"));
        steps.push(Step::Note(
            "Compiled beside what is installed now, as the documentation tells: first what such builds import.".into(),
        ));
        if !tools.is_empty() {
            steps.push(Step::Run(format!("uv pip install --no-cache {}", tools.join(" "))));
        }
        let options = format!("--no-cache{}", options.collect::<String>());
        let beside = if first.is_empty() { String::new() } else { format!(" {}", words(&first)?) };
        steps.push(Step::Run(uv_install(&options, &last, "/tmp/locked-source.txt")? + &beside));
    }
    Ok(steps)
}

/// What all installs keep to, those that come later too: whatever asks for torchvision must not get that of another CUDA.
fn constrain(wheels: &[&Wheel], constraints: &[&ConstraintLock], kept: Option<&str>) -> Result<Vec<Step>, ExportError> {
    if constraints.is_empty() && kept.is_none() {
        return Ok(Vec::new());
    }
    let mut lines = Vec::new();
    for wheel in wheels.iter().filter(|wheel| wheel.url.is_none()) {
        lines.push(wheels::locked(wheel)?);
    }
    let mut pages = Vec::new();
    for one in constraints {
        lines.push(wheels::constraint(one)?);
        pages.extend(one.index.as_deref().map(|index| wheels::page(index, &one.package)).transpose()?);
    }
    let mut command = String::new();
    if !lines.is_empty() {
        command = format!("printf '%s\\n' {} > {CONSTRAINTS}", each(&lines));
    }
    if let Some(package) = kept {
        let package = valid::package(package)?;
        let and = if command.is_empty() { "" } else { " && " };
        command += &format!(
            "{and}python3 -c \"import {package}; print('{package}==' + {package}.__version__)\" >> {CONSTRAINTS}"
        );
    }
    let pages = pages.join(",");
    let mut variables = vec![("UV_CONSTRAINT", CONSTRAINTS)];
    if !pages.is_empty() {
        variables.push(("UV_FIND_LINKS", &pages));
    }
    Ok(vec![
        Step::Note("Whatever is installed here, now or later, keeps to the lock: what others bring in must not be that of\nanother CUDA.".into()),
        Step::Run(command),
        env(&variables),
    ])
}

/// Wheels that nothing has to be compiled for.
fn fetch(wheels: &[&Wheel], others: &[String]) -> Result<Vec<Step>, ExportError> {
    let indexes = wheels::indexes(wheels);
    let mut steps = Vec::new();
    for (at, index) in indexes.iter().enumerate() {
        let mine: Vec<&Wheel> = wheels.iter().copied().filter(|wheel| wheel.index.as_deref() == Some(index)).collect();
        let (note, no_deps) = match wheels::is_of_nightlies(index) {
            true => ("The locked nightlies and what they depend on, which no other index has.", ""),
            false => ("Exactly the locked wheels from this index, and nothing else.", "--no-deps "),
        };
        steps.push(Step::Note(note.into()));
        let options = format!("--no-cache {no_deps}--default-index {}", valid::index(index)?);
        steps.push(Step::Run(uv_install(&options, &mine, &format!("/tmp/locked-{}.txt", at + 1))?));
    }
    let what = match indexes.is_empty() {
        true => "The locked wheels and what they depend on.",
        false => "The rest and all dependencies, from the default index.",
    };
    let ordinary = if others.is_empty() { String::new() } else { format!("\nBehind them: {}", ordinary::NOTE) };
    steps.push(Step::Note(format!("{what} The pins stand here so that nothing is replaced.{ordinary}")));
    let (here, elsewhere): (Vec<&Wheel>, Vec<&Wheel>) = wheels.iter().partition(|wheel| wheel.index.is_none());
    if here.iter().any(|wheel| is_hashed(wheel)) {
        let rest = if elsewhere.is_empty() { String::new() } else { format!(" {}", words(&elsewhere)?) };
        steps.push(Step::Run(uv_install("--no-cache", &here, "/tmp/locked.txt")? + &rest + &asked(others)));
    } else {
        steps.push(Step::Run(format!("uv pip install --no-cache {}{}", words(wheels)?, asked(others))));
    }
    Ok(steps)
}

fn is_hashed(wheel: &Wheel) -> bool {
    wheel.url.is_none() && wheel.hashes().is_some()
}

/// One install; where the lock knows what the files are, from a file that says so, since a command cannot.
fn uv_install(options: &str, wheels: &[&Wheel], file: &str) -> Result<String, ExportError> {
    if !wheels.iter().any(|wheel| is_hashed(wheel)) {
        return Ok(format!("uv pip install {options} {}", words(wheels)?));
    }
    let mut lines = Vec::new();
    for wheel in wheels {
        let mut line = vec![pin(wheel)?];
        line.extend(wheels::hashes(wheel)?);
        lines.push(line.join(" "));
    }
    Ok(format!("printf '%s\\n' {} > {file} && \\\n    uv pip install {options} --requirements {file}", each(&lines)))
}

/// The pins as words of a command, one a line.
fn words(wheels: &[&Wheel]) -> Result<String, ExportError> {
    let pins = wheels.iter().map(|wheel| Ok(quote::sh_word(&pin(wheel)?))).collect::<Result<Vec<_>, ExportError>>()?;
    Ok(pins.iter().map(|pin| format!("\\\n    {pin}")).collect::<Vec<_>>().join(" "))
}

/// Requirements as further words of a command, one a line.
fn asked(others: &[String]) -> String {
    others.iter().map(|line| format!(" \\\n    {}", quote::sh_word(line))).collect()
}

/// Lines as words of a command, quoted, one a line.
fn each(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\\\n    {}", quote::sh(line))).collect::<Vec<_>>().join(" ")
}

/// A place for lines of the user's own.
fn own_lines(note: &str, name: &str) -> Step {
    Step::Note(format!("{note}\n{}", seal::place(name)))
}

/// What tells builds to compile for the locked GPUs.
fn architectures(lock: &Lock, target: &TargetLock, wheels: &[&Wheel]) -> Result<Vec<Step>, ExportError> {
    let told = |(note, variables): builds::Told<'_>| {
        let pairs: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        [Step::Note(note), env(&pairs)]
    };
    Ok(builds::read(lock, target, wheels)?.into_iter().flat_map(told).collect())
}

/// The smaller image that runs what the first stage has built.
fn runtime_stage(image: String, compiler: Vec<Step>, has_venv: bool) -> Stage {
    let mut steps = compiler;
    steps.push(match has_venv {
        true => Step::Activate,
        false => own_lines("Take over here what you have compiled in the stage `build`.", "what runs"),
    });
    Stage { image, steps }
}

/// What the container runtime reads to let the GPU in, and to refuse a host that cannot run it.
fn gpu_access(lock: &Lock, name: &str, target: &TargetLock) -> Result<Vec<Step>, ExportError> {
    if !lock.uses_gpu(name, target) {
        return Ok(Vec::new());
    }
    let mut steps = Vec::new();
    if let Some(driver) = target.driver.as_ref().filter(|driver| driver.is_forward_compat()) {
        let missing = || ExportError::Incomplete { what: "the cuda-compat package", target: name.to_string() };
        let package = driver.compat.as_deref().ok_or_else(missing)?;
        let line = valid::compat_line(package)?;
        steps.push(Step::Note(format!(
            "The host's driver is older than the stack: it runs with the libcuda of {package}.\n\
             NVIDIA's images hold that package, and the NVIDIA Container Toolkit loads it where the driver\n\
             needs it. Where yours does not, run with -e LD_LIBRARY_PATH=/usr/local/cuda-{line}/compat.\n\
             It is not set here: on a newer driver the older libcuda would fail."
        )));
        steps.push(Step::Run(format!("test -e /usr/local/cuda-{line}/compat/libcuda.so.1")));
    }
    steps.push(Step::Note("Lets the container runtime bring in the GPUs and the driver's libraries.".into()));
    steps.push(env(&[("NVIDIA_VISIBLE_DEVICES", "all"), ("NVIDIA_DRIVER_CAPABILITIES", "compute,utility")]));
    let demands = require(lock, name, target)?;
    if !demands.is_empty() {
        steps.push(Step::Note(
            "On a host that cannot run the lock the NVIDIA Container Toolkit does not start the container.\n\
             Apptainer asks the toolkit with --nvccli only: with --nv it starts everywhere."
                .into(),
        ));
        steps.push(env(&[("NVIDIA_REQUIRE_CUDA", &demands)]));
    }
    Ok(steps)
}

/// `driver>=525.60.13,arch>=8.0`: what must hold together, with blanks between where one of several will do.
fn require(lock: &Lock, name: &str, target: &TargetLock) -> Result<String, ExportError> {
    let capability = wheels::lowest_capability(&target.gpu)?.map(|lowest| format!("arch>={lowest}"));
    let mut ways: Vec<Vec<String>> = match drivers::admitted(lock, name, target)? {
        None => vec![Vec::new()],
        Some(Admitted::From(minimum, _)) => vec![vec![format!("driver>={minimum}")]],
        Some(Admitted::OfBranches { branches, cuda }) => {
            let of_branch = |(least, next)| vec![format!("driver>={least}"), format!("driver<{next}")];
            std::iter::once(vec![format!("cuda>={cuda}")]).chain(branches.into_iter().map(of_branch)).collect()
        }
    };
    ways.iter_mut().for_each(|way| way.extend(capability.clone()));
    Ok(ways.iter().map(|way| way.join(",")).collect::<Vec<_>>().join(" "))
}

fn labels(name: &str, target: &TargetLock) -> Result<Vec<(&'static str, String)>, ExportError> {
    let base = images::to_run(name, target)?;
    let (base, digest) = base.split_once('@').map_or((base.as_str(), None), |(base, digest)| (base, Some(digest)));
    let mut labels = vec![("org.opencontainers.image.base.name", base.to_string())];
    labels.extend(digest.map(|digest| ("org.opencontainers.image.base.digest", digest.to_string())));
    if let Some(minimum) = target.driver.as_ref().and_then(|driver| driver.minimum.as_ref()) {
        labels.push(("gpuenv.driver-minimum", valid::driver(minimum)?.to_string()));
    }
    let capabilities = valid::capabilities(&target.gpu)?;
    if !capabilities.is_empty() {
        let words: Vec<String> = capabilities.iter().map(ToString::to_string).collect();
        labels.push(("gpuenv.compute-capabilities", words.join(",")));
    }
    Ok(labels)
}
