//! Why a lock was not rendered. All of these are bad input, exit code 2, but for what the lock does not know.

use miette::Diagnostic;

/// What to type for one target each: `--target ci` or `--target train`.
fn options(targets: &[String]) -> String {
    let each: Vec<String> = targets.iter().map(|target| format!("`--target {target}`")).collect();
    match each.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => each.concat(),
    }
}

/// Why a lock was not rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Diagnostic)]
pub enum ExportError {
    /// No such format.
    #[error("`{}` is not an export format ({known})", name.escape_debug())]
    UnknownFormat {
        /// As typed.
        name: String,
        /// What was probably meant.
        #[help]
        hint: Option<String>,
        /// All formats.
        known: String,
    },
    /// No such target in the lock.
    #[error("the lock has no target `{}`; it has {known}", name.escape_debug())]
    UnknownTarget {
        /// As typed.
        name: String,
        /// What was probably meant.
        #[help]
        hint: Option<String>,
        /// All targets.
        known: String,
    },
    /// The result depends on the target and none was named.
    #[error("the output differs between the targets")]
    #[diagnostic(help("add {}", options(.0)))]
    TargetNeeded(Vec<String>),
    /// The lock has no target at all.
    #[error("the lock has no target")]
    #[diagnostic(help("run `gpuenv lock`"))]
    NoTarget,
    /// A Dockerfile starts with an image.
    #[error("target `{target}` has no image")]
    #[diagnostic(help(
        "set image = \"{image}\" (on a machine without a GPU the full reference of any image) under [target.{target}] in \
         gpuenv.toml, then run `gpuenv lock`"
    ))]
    NoImage {
        /// The target.
        target: String,
        /// A repository of images for its system.
        image: &'static str,
    },
    /// No build of this Python can be had for an image.
    #[error("{by} cannot install Python {python}: the oldest that it has is {oldest}")]
    #[diagnostic(help("ask for a newer `python` under [stack] in gpuenv.toml, then run `gpuenv lock`"))]
    PythonTooOld {
        /// What installs it.
        by: &'static str,
        /// The locked Python.
        python: String,
        /// The oldest that works.
        oldest: String,
    },
    /// A service whose machines have other processors.
    #[error("Modal runs on x86_64, and target `{target}` is {arch}")]
    #[diagnostic(help("`gpuenv export skypilot` and `gpuenv export dockerfile` take any processor"))]
    OtherCpu {
        /// The target.
        target: String,
        /// Its processor.
        arch: String,
    },
    /// The stack holds no wheel.
    #[error("the lock has no Python package to install")]
    #[diagnostic(help("name one under [stack] in gpuenv.toml, for example torch = \"*\", then run `gpuenv lock`"))]
    NothingToInstall,
    /// The image holds all there is.
    #[error(
        "there is nothing to install: the image {image} holds {package} {version}, and gpuenv.toml names no other package"
    )]
    #[diagnostic(help("`gpuenv export dockerfile` builds on it"))]
    AllInImage {
        /// The framework.
        package: String,
        /// Its version.
        version: String,
        /// The image.
        image: String,
    },
    /// Nobody says where the only thing to install is.
    #[error("there is nothing to install but your build of {0}, and gpuenv.toml does not say where it is")]
    #[diagnostic(help("add `url` or `index` to it, then run `gpuenv lock`"))]
    OwnBuild(String),
    /// pip cannot be told which index one package comes from.
    #[error(
        "pip cannot be told to take {package} {version} from {index}, beside packages of another index: its version has \
         no label such as `+cu124`, so that a file of the same number on PyPI would do as well"
    )]
    #[diagnostic(help("use `gpuenv export uv`, which ties {package} to that index"))]
    Ambiguous {
        /// The package.
        package: String,
        /// Its version, without a label that would tell the wheels apart.
        version: String,
        /// Where the locked wheel lies.
        index: String,
    },
    /// An option of another format.
    #[error("{format} has no option --{}", name.escape_debug())]
    #[diagnostic(help("{}", told(format, known)))]
    NotAnOption {
        /// As typed.
        name: String,
        /// The format asked for.
        format: &'static str,
        /// The options that it has.
        known: Vec<&'static str>,
    },
    /// An option with a value that it does not take.
    #[error("--{name} takes {expected}, not `{}`", value.escape_debug())]
    #[diagnostic(help("`gpuenv export --help` says of each option what it takes"))]
    BadOption {
        /// The option.
        name: &'static str,
        /// As typed.
        value: String,
        /// What it takes.
        expected: String,
    },
    /// An option that means nothing beside another.
    #[error("--{name} cannot stand beside {beside}: {why}")]
    #[diagnostic(help("leave --{name} out"))]
    Beside {
        /// The option.
        name: &'static str,
        /// The other.
        beside: &'static str,
        /// Why.
        why: &'static str,
    },
    /// A file of the user says something else already.
    #[error("{what}: gpuenv replaces only what it wrote")]
    #[diagnostic(help("{cure}"))]
    Taken {
        /// What is in the way.
        what: String,
        /// What to change.
        cure: String,
    },
    /// An environment of its own beside a framework that stands in the image.
    #[error(
        "{package} {version} of target `{target}` stands in its image {image}, and an environment of its own would install a second one"
    )]
    #[diagnostic(help("`gpuenv export dockerfile` adds the rest to the image's"))]
    InImage {
        /// The target.
        target: String,
        /// The framework.
        package: String,
        /// Its version.
        version: String,
        /// The image.
        image: String,
    },
    /// pip takes hashes for every requirement or for none.
    #[error(
        "the sha256 of {} is not known, and pip accepts hashes only if every requirement has one", .0.join(", ")
    )]
    #[diagnostic(help(
        "leave --hashes out and let `uv pip compile --generate-hashes` fetch all of them, those of dependencies too; \
         or put the wheel's sha256 into an overlay"
    ))]
    UnknownHash(Vec<String>),
    /// A file format that names addresses, and a lock that does not know them.
    #[error(
        "the address of {} is not known, and a pylock.toml names addresses", .0.join(", ")
    )]
    #[diagnostic(help(
        "run `gpuenv export uv -o pyproject.toml`, then `uv export --format pylock.toml`, which asks the index"
    ))]
    UnknownAddress(Vec<String>),
    /// A file format that asks for the sha256 of what it names, and a lock that does not know it.
    #[error(
        "the sha256 of {} is not known, and a pylock.toml needs it", .0.join(", ")
    )]
    #[diagnostic(help("add `#sha256=…` to its `url` in gpuenv.toml, then run `gpuenv lock`"))]
    AddressWithoutHash(Vec<String>),
    /// Nobody knows for which GPUs.
    #[error(
        "there is no architecture list for {}",
        .0.iter().map(|name| format!("`{}`", name.escape_debug())).collect::<Vec<_>>().join(", ")
    )]
    #[diagnostic(help("name a GPU there in gpuenv.toml, then run `gpuenv lock`"))]
    NothingToCompile(Vec<String>),
    /// A value of the lock is not what such a value looks like.
    #[error("{what} `{}` in gpuenv.lock is not {expected}", value.escape_debug())]
    #[diagnostic(help("run `gpuenv lock --fresh`"))]
    BadValue {
        /// What the value is.
        what: &'static str,
        /// The value.
        value: String,
        /// What it should look like.
        expected: &'static str,
    },
    /// The lock lacks something that follows from what it holds.
    #[error("gpuenv.lock lacks {what} of target `{}`", target.escape_debug())]
    #[diagnostic(help("run `gpuenv lock --fresh`"))]
    Incomplete {
        /// What is missing.
        what: &'static str,
        /// Whose.
        target: String,
    },
}

/// The options that a format has.
fn told(format: &str, known: &[&str]) -> String {
    let known: Vec<String> = known.iter().map(|name| format!("--{name}")).collect();
    match known.is_empty() {
        true => format!("leave it out: {format} has no options of its own"),
        false => format!("it has {}", known.join(", ")),
    }
}

impl ExportError {
    /// The error for an option's value.
    pub fn bad_option(name: &'static str, value: &str, expected: &str) -> ExportError {
        ExportError::BadOption { name, value: value.to_string(), expected: expected.to_string() }
    }

    /// Whether nothing is wrong, but a format has nothing to say of a target: a Dockerfile of bare metal.
    pub fn is_of_another_format(&self) -> bool {
        use ExportError::{AllInImage, InImage, NoImage, NothingToInstall, OtherCpu};
        matches!(self, NoImage { .. } | OtherCpu { .. } | NothingToInstall | AllInImage { .. } | InImage { .. })
    }

    /// The stable name of the error, for JSON.
    pub fn code(&self) -> &'static str {
        match self {
            ExportError::UnknownFormat { .. } => "unknown-format",
            ExportError::UnknownTarget { .. } => "unknown-target",
            ExportError::TargetNeeded(_) => "target-needed",
            ExportError::NoTarget => "no-target",
            ExportError::NoImage { .. } => "no-image",
            ExportError::PythonTooOld { .. } => "python-too-old",
            ExportError::OtherCpu { .. } => "other-cpu",
            ExportError::NothingToInstall | ExportError::AllInImage { .. } => "nothing-to-install",
            ExportError::OwnBuild(_) => "own-build",
            ExportError::Ambiguous { .. } => "ambiguous-index",
            ExportError::NotAnOption { .. } => "not-an-option",
            ExportError::BadOption { .. } | ExportError::Beside { .. } => "bad-option",
            ExportError::Taken { .. } => "taken",
            ExportError::InImage { .. } => "in-image",
            ExportError::UnknownHash(_) | ExportError::AddressWithoutHash(_) => "unknown-hash",
            ExportError::UnknownAddress(_) => "unknown-address",
            ExportError::NothingToCompile(_) => "nothing-to-compile",
            ExportError::BadValue { .. } => "bad-lock-value",
            ExportError::Incomplete { .. } => "incomplete-lock",
        }
    }
}
