//! The keys of gpuenv.toml, a row each. The reader, the editor, the lock's inputs, what is said of slips of the pen,
//! the JSON Schema and the reference in docs/spec.md are all made from these rows: whoever adds a key writes its row
//! and the field that it fills.

use super::slot::{Choice, Named, One, Overlays, STACKED, Shape, Slot, Switch, place};
use super::{Build, Exception, Export, OwnBuild, Prefer, Resolve, Share, Spec, field};
use crate::types::{ArchList, Constraint, Specifier};

/// A key of a table that fills an `O`.
pub(super) struct Key<O: 'static> {
    pub name: &'static str,
    /// What it is, in the few words that `gpuenv init` has room for.
    pub brief: &'static str,
    /// What else there is to know.
    pub about: &'static str,
    /// A value as TOML writes it.
    pub example: &'static str,
    /// What people write in its place.
    pub slips: &'static [&'static str],
    pub slot: &'static dyn Slot<O>,
}

/// Without these an exception or an export means nothing.
const REQUIRED: [&str; 4] = ["rule", "warning", "reason", "file"];

impl<O> Key<O> {
    /// Whether its table means nothing without it.
    pub fn is_required(&self) -> bool {
        REQUIRED.contains(&self.name)
    }
}

/// A table and its keys.
pub(super) struct Table<O: 'static> {
    /// Empty for what stands above all tables.
    pub name: &'static str,
    /// As it is written.
    pub header: &'static str,
    pub about: &'static str,
    /// What people call it.
    pub slips: &'static [&'static str],
    pub keys: &'static [Key<O>],
}

impl<O> Table<O> {
    pub fn key(&self, name: &str) -> Option<&'static Key<O>> {
        self.keys.iter().find(|key| key.name == name)
    }
}

/// What is told of a table.
#[derive(Debug, Clone)]
pub struct TableDoc {
    /// `target`; empty for what stands above all tables.
    pub name: &'static str,
    /// `[target.NAME]`
    pub header: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Its keys; of `[stack]` those that are best known.
    pub keys: Vec<KeyDoc>,
    pub(super) slips: &'static [&'static str],
}

/// What is told of a key.
#[derive(Debug, Clone)]
pub struct KeyDoc {
    /// `driver`
    pub name: &'static str,
    /// What it is, in a few words.
    pub brief: &'static str,
    /// What else there is to know, in sentences.
    pub about: &'static str,
    /// A value as TOML writes it.
    pub example: &'static str,
    /// What it may hold.
    pub shape: Shape,
    /// Whether its table means nothing without it.
    pub required: bool,
    pub(super) slips: &'static [&'static str],
}

impl KeyDoc {
    /// All that is told of it, in sentences.
    pub fn description(&self) -> String {
        let mut text = self.brief.to_string();
        if let Some(first) = text.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let end = if self.about.is_empty() { "" } else { " " };
        format!("{text}.{end}{}", self.about)
    }
}

/// Everything that a gpuenv.toml may hold, in the order in which it is told.
pub fn tables() -> Vec<TableDoc> {
    fn doc<O>(table: &Table<O>) -> TableDoc {
        let Table { name, header, about, slips, .. } = *table;
        let key = |key: &Key<O>| {
            let Key { name, brief, about, example, slips, slot } = *key;
            KeyDoc { name, brief, about, example, slips, required: key.is_required(), shape: slot.shape() }
        };
        TableDoc { name, header, about, slips, keys: table.keys.iter().map(key).collect() }
    }
    let machines = [doc(&ROOT), doc(&STACK), doc(&OWN), doc(&PACKAGES), doc(&BUILD), doc(&TARGET)];
    let others = [doc(&RESOLVE), doc(&CATALOG), doc(&OVERRIDE), doc(&SILENCE)];
    machines.into_iter().chain(others).chain([doc(&EXPORT)]).collect()
}

mod target;

pub(super) use target::TARGET;

pub(super) static ROOT: Table<Spec> = Table {
    name: "",
    header: "gpuenv.toml",
    about: "Stands before the first table.",
    slips: &[],
    keys: &[Key {
        name: "requires-gpuenv",
        brief: "the gpuenv that this file needs",
        about: "A requirement as Cargo writes it. It is not an input of the lock.",
        example: "\">=0.1\"",
        slips: &["gpuenv", "gpuenv-version", "required-version"],
        slot: &One(place!(Spec.requires_gpuenv), |_, text| field::requirement(text), ToString::to_string),
    }],
};

pub(super) static STACK: Table<Spec> = Table {
    name: "stack",
    header: "[stack]",
    about: "What must run: packages and the versions that will do. Any framework, companion or extension package of the \
            catalog can stand here; the table may be empty or absent if there is a `[build]`, or a target has an image, of which is then told whether it starts. A constraint knows `,` \
            (and), `||` (or), `>=`, `>`, `<=`, `<`, `==`, `!=`, `~=` and `*`; each compares only as many components as \
            are written, so `<=12.4` admits `12.4.1`. A bare version is a prefix: `12.4` is `12.4.*`. Pre-releases are \
            taken only where one is named; post releases belong to their release, so `2.8.3` admits `2.8.3.post2`, and \
            `2.8.3,<2.8.3.post1` is that release alone. A `+variant` may follow a bare version or `==`, or stand alone: \
            `+cu118` pins only the variant of the wheel, `+cpu` is the CPU build. `cuda` is `12` or `12.4`, and with `[build]` it \
            binds the toolkit too; a third component constrains toolkit and image only.",
    slips: &["dependencies", "require", "requires", "frameworks"],
    keys: &[
        package(
            "torch",
            "a range, a release, or a build: `2.5.1+cu124`",
            "\">=2.4,<2.8\"",
            &["pytorch", "torch-version"],
        ),
        package("torchvision", "whichever goes with it", "\"*\"", &[]),
        package("torchaudio", "whichever goes with it", "\"*\"", &[]),
        package("tensorflow", "as `torch`", "\"2.18\"", &["tf", "tensorflow-gpu"]),
        package("jax", "as `torch`", "\">=0.4\"", &["jaxlib"]),
        package("python", "what the code runs on", "\"3.11\"", &["python-version", "requires-python"]),
        package("cuda", "the CUDA line of the wheels", "\"12.4\"", &["cuda-version", "cuda-toolkit", "cudatoolkit"]),
        package("cudnn", "the cuDNN that is loaded", "\">=9\"", &["cudnn-version"]),
        package("nccl", "the NCCL that is loaded", "\"*\"", &["nccl-version"]),
    ],
};

const fn package(
    name: &'static str,
    brief: &'static str,
    example: &'static str,
    slips: &'static [&'static str],
) -> Key<Spec> {
    Key { name, brief, about: "", example, slips, slot: &STACKED }
}

pub(super) static OWN: Table<OwnBuild> = Table {
    name: "stack.torch",
    header: "[stack.torch]",
    about: "A build of your own of `torch`, `tensorflow` or `jax`, in the place of a constraint: \
            `torch = { version = \"2.8.0\", cuda = \"12.6\", arch-list = \"8.6;9.0+PTX\" }`. It holds what you say, not what the \
            catalog knows of the release of that version: its driver follows from its CUDA, its GPUs from its list; what needs \
            an exact release of it still does. Exports install it from `url` or `index`; without either they leave it out, \
            and say so.",
    slips: &[],
    keys: &[
        Key {
            name: "version",
            brief: "what the wheel calls itself",
            about: "One version, with its label if it has one. It cannot be left out.",
            example: "\"2.8.0a0+git1234\"",
            slips: &["release"],
            slot: &One(place!(OwnBuild.version), field::own_version, String::clone),
        },
        Key {
            name: "cuda",
            brief: "the CUDA that it was compiled with",
            about: "`none` for a build that computes on the CPU. It can be left out only where the label of the version tells \
                    it, `2.8.0+cu126`.",
            example: "\"12.6\"",
            slips: &["cuda-version", "variant"],
            slot: &One(place!(OwnBuild.cuda), field::own_cuda, ToString::to_string),
        },
        Key {
            name: "cudnn",
            brief: "the cuDNN inside",
            about: "",
            example: "\"9.10.2\"",
            slips: &["cudnn-version"],
            slot: &One(place!(OwnBuild.cudnn), field::version, ToString::to_string),
        },
        Key {
            name: "arch-list",
            brief: "the GPU code inside, as `TORCH_CUDA_ARCH_LIST` said when it was compiled",
            about: "Without it nobody knows which GPUs it runs on, and a warning says so.",
            example: "\"8.6;9.0+PTX\"",
            slips: &["archs", "arch", "architectures", "torch-cuda-arch-list"],
            slot: &One(place!(OwnBuild.arch_list), |_, text| field::arch_list(text), ArchList::torch),
        },
        Key {
            name: "python",
            brief: "the line of Python that it was built for",
            about: "Without it the file of `url` may tell; else it is taken to be for those of the published release.",
            example: "\"3.12\"",
            slips: &["python-version"],
            slot: &One(place!(OwnBuild.python), field::own_python, ToString::to_string),
        },
        Key {
            name: "url",
            brief: "the https:// address of its wheel",
            about: "`#sha256=…` may stand behind it. Its file name tells the processor, and the Python and glibc too.",
            example: "\"https://wheels.example.org/torch-2.8.0a0+git1234-cp312-cp312-linux_x86_64.whl\"",
            slips: &["wheel", "file", "path"],
            slot: &One(place!(OwnBuild.url), field::own_url, String::clone),
        },
        Key {
            name: "index",
            brief: "the https:// address of the wheel index that has it",
            about: "",
            example: "\"https://wheels.example.org/simple\"",
            slips: &["index-url"],
            slot: &One(place!(OwnBuild.index), field::own_index, String::clone),
        },
    ],
};

pub(super) static PACKAGES: Table<Spec> = Table {
    name: "packages",
    header: "[packages]",
    about: "Whatever else the environment needs: packages that do not depend on CUDA. Nothing is solved with them but \
            NVIDIA's libraries (`nvidia-cublas-cu12`), of which the lock has one that is admitted; what is written stands in the lock and in every export that installs packages, and the installer chooses the release. \
            A value is a requirement specifier of pip: `>=4.50`, `==1.2.*`, `~=2.1`, several with `,` between, `*` for any \
            version, with extras before it: `[torch]>=4.50`. Markers and addresses are not taken. A package that `[stack]` \
            knows stands there, and nowhere else.",
    slips: &["requirements", "pip", "pypi", "pypi-dependencies", "install-requires"],
    keys: &[
        ordinary("transformers", "any package of the package index, by its name", "\">=4.50\""),
        ordinary("accelerate", "any version", "\"*\""),
    ],
};

/// The packages of `[packages]`.
pub(super) static ORDINARY: Named<Specifier> = Named(place!(Spec.packages), specifier);

fn specifier(name: &str, text: &str) -> field::Read<Specifier> {
    field::specifier(name, text, STACK.key(name).is_some())
}

const fn ordinary(name: &'static str, brief: &'static str, example: &'static str) -> Key<Spec> {
    Key { name, brief, about: "", example, slips: &[], slot: &ORDINARY }
}

pub(super) static BUILD: Table<Build> = Table {
    name: "build",
    header: "[build]",
    about: "Its presence means that CUDA code is compiled on top of the stack.",
    slips: &["compile", "extensions"],
    keys: &[
        Key {
            name: "cuda-extensions",
            brief: "whether CUDA code is compiled",
            about: "Default: true. With false it is as if there were no `[build]`.",
            example: "true",
            slips: &["extensions"],
            slot: &Switch(place!(Build.cuda_extensions), true),
        },
        Key {
            name: "ptx",
            brief: "also embed PTX of the highest architecture",
            about: "Later GPUs can then compile it when they load it. Default: false.",
            example: "true",
            slips: &["embed-ptx"],
            slot: &Switch(place!(Build.ptx), false),
        },
        Key {
            name: "arch-list",
            brief: "insist on this list of architectures",
            about: "Separated by `;` or blanks. By default the lock derives it from the GPUs.",
            example: "\"8.0;8.6+PTX\"",
            slips: &["archs", "arch", "architectures", "cuda-architectures", "torch-cuda-arch-list"],
            slot: &One(place!(Build.arch_list), |_, text| field::arch_list(text), ArchList::torch),
        },
    ],
};

pub(super) static RESOLVE: Table<Resolve> = Table {
    name: "resolve",
    header: "[resolve]",
    about: "How to choose.",
    slips: &["resolver", "solve", "options"],
    keys: &[
        Key {
            name: "share",
            brief: "what the targets have in common",
            about: "`stack`: one wheel set for all. `versions`: the same versions; the variant (`cuXXX` or `cpu`) and \
                    what follows from it may differ. `none`: each target by itself. Default: `stack`.",
            example: "\"versions\"",
            slips: &["shared"],
            slot: &Choice(place!(Resolve.share), SHARES, &[]),
        },
        Key {
            name: "prefer",
            brief: "what is better",
            about: "`newest`: the newest of everything. `oldest-driver`: first the lowest driver minimum over all targets. \
                    Default: `newest`.",
            example: "\"oldest-driver\"",
            slips: &["prefers", "strategy"],
            slot: &Choice(
                place!(Resolve.prefer),
                PREFERENCES,
                &[(&["latest", "new"], "newest"), (&["driver"], "oldest-driver")],
            ),
        },
        Key {
            name: "allow-experimental",
            brief: "whether experimental variants may be chosen",
            about: "Default: false. One that `[stack]` names is always taken.",
            example: "true",
            slips: &["experimental", "pre-release", "prerelease"],
            slot: &Switch(place!(Resolve.allow_experimental), false),
        },
    ],
};

pub(super) static CATALOG: Table<Spec> = Table {
    name: "catalog",
    header: "[catalog]",
    about: "The facts to choose by.",
    slips: &[],
    keys: &[
        Key {
            name: "overlays",
            brief: "further catalogs, laid one over the other in this order",
            about: "Files beside this one, in the format of the built-in catalog: see overlays.md.",
            example: "[\"site-catalog.toml\"]",
            slips: &["overlay", "path", "file", "files"],
            slot: &Overlays,
        },
        Key {
            name: "version",
            brief: "the catalogs that may answer",
            about: "A constraint on the day of the catalog in use, which `gpuenv catalog` shows: the built-in one, or a newer one that \
                    `gpuenv catalog update` installed. With another one `lock` and `explain` stop and say which is at hand.",
            example: "\">=2026.11.22\"",
            slips: &["date", "requires"],
            slot: &One(place!(Spec.catalog_version), field::catalog_version, Constraint::canonical),
        },
    ],
};

pub(super) static OVERRIDE: Table<Exception> = Table {
    name: "override",
    header: "[[override]]",
    about: "A rule that does not hold here: you know better. It is recorded in the lock; one that changes nothing warns.",
    slips: &["overrides"],
    keys: &[
        exception(
            "rule",
            "the rule's id, as a conflict names it",
            "\"wheel-glibc\"",
            &["id", "name", "rule-id"],
            &ABOUT,
        ),
        exception("target", "only for this target", "\"lab\"", &["targets"], &AIM),
        exception("reason", "why it does not hold here", "\"measured, ticket 123\"", WHY, &REASON),
    ],
};

pub(super) static SILENCE: Table<Exception> = Table {
    name: "silence",
    header: "[[silence]]",
    about: "A warning that you know about. It bears on no answer; one that silences nothing warns.",
    slips: &["silences", "ignore", "allow", "suppress"],
    keys: &[
        exception("warning", "the code between brackets", "\"driver-end-of-life\"", &["code", "id", "name"], &ABOUT),
        exception("target", "only for this target", "\"lab\"", &["targets"], &AIM),
        exception("reason", "why it does not matter here", "\"retired in March\"", WHY, &REASON),
    ],
};

pub(super) static EXPORT: Table<Export> = Table {
    name: "export",
    header: "[export.FORMAT]",
    about: "What `gpuenv export` without a format writes, and `--check` compares; no input of the lock. FORMAT is a format of \
            `gpuenv export`: see exports.md. Beside these keys a table holds the options of its format: \
            `slurm = { file = \"job.sh\", target = \"prod\", gres = \"gpu:h100:8\" }`. A path alone says the same as a table \
            with nothing but `file`: `uv = \"pyproject.toml\"`; a list of tables writes several files.",
    slips: &["exports"],
    keys: &[
        Key {
            name: "file",
            brief: "where it is written, relative to this file",
            about: "With `{target}` in it there is one for each target that the format has something for. It lies below this file.",
            example: "\"docker/{target}.Dockerfile\"",
            slips: &[],
            slot: &One(place!(Export.file), field::export_file, String::clone),
        },
        Key {
            name: "target",
            brief: "only this target",
            about: "",
            example: "\"lab\"",
            slips: &[],
            slot: &One(place!(Export.target), |_, text| field::target_name(text), String::clone),
        },
    ],
};

static ABOUT: One<Exception, String> = One(place!(Exception.about), field::id, String::clone);
static AIM: One<Exception, String> = One(place!(Exception.target), |_, text| field::target_name(text), String::clone);
static REASON: One<Exception, String> = One(place!(Exception.reason), |_, text| field::reason(text), String::clone);
const WHY: &[&str] = &["why", "comment", "note"];

const fn exception(
    name: &'static str,
    brief: &'static str,
    example: &'static str,
    slips: &'static [&'static str],
    slot: &'static One<Exception, String>,
) -> Key<Exception> {
    Key { name, brief, about: "", example, slips, slot }
}

const SHARES: &[(&str, Share)] = &[("stack", Share::Stack), ("versions", Share::Versions), ("none", Share::None)];
const PREFERENCES: &[(&str, Prefer)] = &[("newest", Prefer::Newest), ("oldest-driver", Prefer::OldestDriver)];
