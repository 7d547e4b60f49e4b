//! environment.yml: conda's match specs, and the list for pip among them.

use saphyr::{LoadableYamlNode, MarkedYaml};

use super::order::List;
use super::{BUILD_ADDED, Found, Kind, Wanted, pip};
use crate::catalog::rows::{FRAMEWORKS, TORCH};

/// conda's names for what package indexes call otherwise.
const NAMES: &[(&str, &str)] = &[
    ("pytorch", "torch"),
    ("pytorch-gpu", "torch"),
    ("pytorch-cpu", "torch"),
    ("tensorflow-gpu", "tensorflow"),
    ("pytorch-cuda", "cuda"),
    ("cudatoolkit", "cuda"),
    ("cudatoolkit-dev", "cuda"),
    ("cuda-version", "cuda"),
    ("cuda-toolkit", "cuda"),
    ("cuda", "cuda"),
    ("torchtriton", "triton"),
    ("antlr-python-runtime", "antlr4-python3-runtime"),
    ("dask-core", "dask"),
    ("tensorflow-base", "tensorflow"),
    ("pyg", "torch-geometric"),
    ("pytorch-geometric", "torch-geometric"),
    ("pytorch-scatter", "torch-scatter"),
    ("pytorch-sparse", "torch-sparse"),
    ("pytorch-cluster", "torch-cluster"),
    ("pytorch-spline-conv", "torch-spline-conv"),
    ("ignite", "pytorch-ignite"),
    ("brotli-python", "brotli"),
    ("matplotlib-base", "matplotlib"),
    ("msgpack-python", "msgpack"),
    ("numpy-base", "numpy"),
    ("pytables", "tables"),
    ("python-fastjsonschema", "fastjsonschema"),
    ("python-flatbuffers", "flatbuffers"),
    ("python-graphviz", "graphviz"),
    ("python-kaleido", "kaleido"),
    ("python-lmdb", "lmdb"),
    ("python-tzdata", "tzdata"),
    ("python-xxhash", "xxhash"),
    ("seaborn-base", "seaborn"),
];

/// Packages of RAPIDS that the package index has by a name for each major of CUDA, `dask-cudf-cu12`, and by this one as a
/// placeholder, as an old release or not at all.
pub(super) const OF_EACH_CUDA: [&str; 9] =
    ["cucim", "cuspatial", "cuvs", "cuxfilter", "dask-cudf", "nx-cugraph", "pylibraft", "raft-dask", "ucx-py"];

/// Packages whose presence means that CUDA code is compiled.
const COMPILERS: [&str; 4] = ["cuda-nvcc", "cuda-toolkit", "cudatoolkit-dev", "cuda-compiler"];
/// gcc and its C++, under whatever name: `gcc`, `gxx_linux-64`, `gcc_impl_linux-64`.
const HOST_COMPILERS: [&str; 2] = ["gcc", "gxx"];
/// What channels begin with whose packages of Python are those of the package index.
const CHANNELS: [&str; 15] = [
    "anaconda",
    "conda-forge",
    "defaults",
    "dglteam",
    "fastai",
    "huggingface",
    "intel",
    "main",
    "nvidia",
    "pkgs/main",
    "pyg",
    "pytorch",
    "rapidsai",
    "simpleitk",
    "xformers",
];
/// What installs the others: a version of one is told.
const TOOLS: [&str; 4] = ["conda", "mamba", "pip", "wheel"];
/// Packages of Python that the package index has by the same name, of which the catalog has nothing to tell: those that
/// environments list most. Of any other that is listed without its build nobody knows whether the index has it, or something
/// else by that name (`rust`, `libaio`).
const PYTHON: &str = "\
    absl-py altair anndata annoy ansi2html argcomplete astropy asttokens astunparse audioread autoray azure-core \
    babel backcall basicsr bcrypt beautifulsoup4 bitarray bleach boto3 botocore cached-property cachetools cartopy \
    cftime charset-normalizer cloudpickle coloredlogs colorlog comm configargparse dataclasses debugpy deepdiff \
    defusedxml dm-tree docopt docstring-parser entrypoints et-xmlfile exceptiongroup execnet executing fabric \
    fasteners fastprogress flask flatbuffers fonttools freetype-py funcy fvcore gast gitdb google-auth \
    google-auth-oauthlib google-pasta gunicorn gym h5netcdf healpy hickle humanfriendly humanize hypothesis ijson \
    imbalanced-learn imgaug imutils iniconfig ipdb itsdangerous jaxlib jieba jmespath json5 jsonpatch jupyter-client \
    jupyter-core jupyterlab jupyterlab-server keras-preprocessing lazy-loader lightning-utilities littleutils lpips \
    lz4 mako markdown matplotlib-inline mdtraj mistune ml-collections more-itertools mpmath multiprocess munch \
    mypy-extensions namex nbclient nest-asyncio notebook oauthlib opt-einsum optree pandocfilters papermill paramiko \
    partd pathlib2 pathspec patsy pickleshare pint pip-tools pluggy ply plyfile pooch portalocker prettytable \
    progressbar2 pure-eval pyasn1 pyasn1-modules pycparser pycryptodome pydot pyfaidx pyjwt pympler pynndescent \
    pyopengl pyopenssl pyperclip pysam pysocks python-multipart python-slugify python-snappy pyvista pywavelets qdrant-client qtpy \
    readme-renderer requests-oauthlib retrying rouge-score rsa ruamel-yaml s3fs s3transfer sacremoses scanpy \
    scikit-build send2trash sentry-sdk seqeval setproctitle simplejson smart-open smmap sniffio sortedcontainers \
    soupsieve stack-data starlette tblib tenacity tensorboard-data-server tensorflow-estimator terminado \
    text-unidecode thop threadpoolctl tifffile toml toolz tornado typeguard typer watchdog webcolors \
    websocket-client werkzeug widgetsnbextension wrapt xlrd yacs zict zipp";

/// Packages of Python whose builds do not say so, for they only bring another: `seaborn=0.13.2=hd8ed1ab_3`.
const BRINGS_PYTHON: [&str; 6] =
    ["cached-property", "importlib-metadata", "importlib_metadata", "nbconvert", "seaborn", "typing-extensions"];

/// What no package of the package index is, though one there may be called so.
const OF_CONDA: [&str; 7] = ["apex", "backports", "libtorch", "nb-conda-kernels", "nvidia-apex", "pytorch3d", "rapids"];

/// What conda has for Windows only.
const WINDOWS: [&str; 8] =
    ["pywin32", "pywinpty", "ucrt", "vc", "vc14-runtime", "vs2015-runtime", "win-inet-pton", "wincertstore"];

/// conda's OpenCV, of which the package index has wheels that are numbered otherwise: conda's 4.5.5 is 4.5.5.64 there.
const OPENCV: [&str; 2] = ["opencv", "py-opencv"];

/// Why conda's libraries are none of a stack of wheels.
pub(super) const BRING_OWN: &str = "a library of conda's: the wheels bring their own";
pub(super) const TENSORFLOW: &str = "tensorflow";

/// Other files of YAML, by a key of theirs, and what of them is read.
const OTHERS: [(&str, &str); 3] = [
    ("build", "of a cog.yaml write its python_packages to a requirements.txt"),
    ("services", "of Compose name the Dockerfiles that its services build"),
    ("jobs", "of a workflow write what its steps install to a requirements.txt"),
];

/// Lists within lists take the stack of the program: no environment nests this deep.
const MOST_DEEP: usize = 200;

pub(super) fn read(text: &str) -> Result<Found, (usize, String)> {
    if let Some(line) = text.lines().position(|line| depth(line) > MOST_DEEP) {
        return Err((line + 1, "lists or mappings are nested too deeply".to_string()));
    }
    let documents = MarkedYaml::load_from_str(text)
        .map_err(|error| (error.marker().line(), format!("this is not YAML: {}", error.info())))?;
    let mut found = Found::default();
    let root = documents.first().map(|document| &document.data);
    let list = root.and_then(|root| root.as_mapping_get("dependencies")).and_then(|list| list.data.as_sequence());
    let Some(list) = list else {
        let has = |key: &str| root.is_some_and(|root| root.as_mapping_get(key).is_some());
        let what = OTHERS.iter().find(|(key, _)| has(key)).map(|(_, what)| what.to_string());
        let what = what.unwrap_or_else(|| format!("--from reads {}", Kind::NAMES));
        return Err((1, format!("it has no `dependencies`, so it is no environment of conda; {what}")));
    };
    let channels = root.and_then(|root| root.as_mapping_get("channels")).and_then(|list| list.data.as_sequence());
    let label = channels.into_iter().flatten().filter_map(|one| one.data.as_str()).find(|one| is_label(one));
    // Options of pip's list are those of what pip installs.
    let mut variant = None;
    for item in list {
        let line = item.span.start.line();
        if let Some(spec) = item.data.as_str() {
            package(&labelled(label, spec), line, &mut found);
            continue;
        }
        let Some(nested) = item.data.as_mapping_get("pip").and_then(|list| list.data.as_sequence()) else {
            found.leave(
                line,
                text.lines().nth(line.saturating_sub(1)).unwrap_or_default(),
                "it is neither a package nor the list of pip",
            );
            continue;
        };
        for one in nested {
            let (line, Some(one_text)) = (one.span.start.line(), one.data.as_str()) else { continue };
            let inner = pip::requirements(one_text);
            variant = variant.or(inner.variant);
            found.installs.extend(inner.installs);
            found.owns.extend(inner.owns);
            found.lists.extend(inner.lists.into_iter().map(|list| List { line, ..list }));
            found.pages.extend(inner.pages.into_iter().map(|(torch, _)| (torch, line)));
            inner.wanted.into_iter().for_each(|wanted| found.want(Wanted { line, ..wanted }));
            inner.left.into_iter().for_each(|(_, text, why)| found.leave(line, &text, why));
        }
    }
    for wanted in found.wanted.iter_mut().filter(|wanted| !wanted.is_of_conda) {
        wanted.variant = wanted.variant.take().or_else(|| variant.clone());
        wanted.owned_by(&found.owns);
    }
    found.lists.iter_mut().for_each(|list| list.variant.clone_from(&variant));
    of_windows(&mut found);
    libraries(&mut found, list.iter().filter_map(|item| item.data.as_str()));
    of_its_own(&mut found);
    Ok(found)
}

/// Beside `python-x`, which is the package of Python, `x` is the library that it is made for.
fn libraries<'t>(found: &mut Found, specs: impl Iterator<Item = &'t str>) {
    let name = |spec: &'t str| spec.split(['=', ' ', '>', '<']).next().unwrap_or(spec);
    let modules: Vec<&str> = specs.filter_map(|spec| name(spec).strip_prefix("python-")).collect();
    let is_own = |wanted: &Wanted| wanted.is_of_conda && !wanted.written.starts_with("python-");
    for wanted in found.wanted.iter_mut().filter(|wanted| is_own(wanted)) {
        wanted.is_library |= modules.contains(&wanted.name.as_str());
    }
}

/// An environment that was exported on Windows: its builds are none of Linux.
fn of_windows(found: &mut Found) {
    let of_windows = |wanted: &Wanted| wanted.is_of_conda && WINDOWS.contains(&wanted.name.as_str());
    for wanted in std::mem::take(&mut found.wanted) {
        match of_windows(&wanted) {
            true => found.leave(wanted.line, &wanted.written, "of Windows, where this environment was exported"),
            false => found.wanted.push(wanted),
        }
    }
}

/// The libraries that conda installs are loaded by what it installs itself: wheels of torch bring theirs, and what is numbered
/// there by conda's builds is none of the package index. The CUDA of its frameworks tells which wheels are meant.
pub(super) fn of_its_own(found: &mut Found) {
    let frameworks = || found.wanted.iter().filter(|wanted| FRAMEWORKS.contains(&wanted.name.as_str()));
    let is_of_conda = frameworks().any(|wanted| wanted.is_of_conda);
    let is_of_pip = frameworks().any(|wanted| wanted.name == TORCH) && !is_of_conda;
    if !is_of_conda && !is_of_pip {
        return;
    }
    // conda builds several frameworks for its one toolkit; of their wheels each is for a CUDA of its own, which a build tells.
    let are_several = frameworks().filter(|wanted| wanted.is_of_conda).count() > 1;
    let is_told = are_several && !found.builds && frameworks().any(|wanted| wanted.variant.is_some());
    // TensorFlow loads cuDNN from the system up to some release.
    let has_others = frameworks().any(|wanted| wanted.name != TENSORFLOW);
    let is_own = |wanted: &Wanted| {
        let is_cuda = wanted.name == "cuda" && (is_of_pip || is_told);
        wanted.is_of_conda && (is_cuda || wanted.name == "nccl" || wanted.name == "cudnn" && has_others)
    };
    for wanted in std::mem::take(&mut found.wanted) {
        match is_own(&wanted) {
            true => found.leave(wanted.line, &wanted.written, BRING_OWN),
            false => found.wanted.push(wanted),
        }
    }
}

/// How deep a line may be nested: each level has a column or a mark of its own.
fn depth(line: &str) -> usize {
    let text = line.trim_start();
    let marks = text.split_whitespace().filter(|word| matches!(*word, "-" | "?" | ":")).count();
    if text.starts_with('#') { 0 } else { line.len() - text.len() + marks }
}

/// Whether a channel is one of NVIDIA's for a release of CUDA.
pub(super) fn is_label(channel: &str) -> bool {
    channel.contains("nvidia/label/cuda-")
}

/// A toolkit whose release the channel tells from which it comes.
pub(super) fn labelled(label: Option<&str>, spec: &str) -> String {
    match label.filter(|_| ["cuda", "cuda-toolkit"].contains(&spec)) {
        Some(label) => format!("{label}::{spec}"),
        None => spec.to_string(),
    }
}

/// One match spec: `channel::name`, `name=1.2`, `name>=1,<2`, `name=1.2=build`, `name 1.2 build`.
pub(super) fn package(spec: &str, line: usize, found: &mut Found) {
    let written = spec.split(" #").next().unwrap_or(spec).trim();
    let (channel, spec) = written.rsplit_once("::").unwrap_or(("", written));
    let end = spec.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c))).unwrap_or(spec.len());
    let (name, rest) = (spec[..end].to_ascii_lowercase(), spec[end..].trim());
    if name.is_empty() || rest.starts_with('[') {
        return found.leave(line, written, "this form of a match spec is not read");
    }
    // Everything needs setuptools, and environments list it for that.
    if name.starts_with('_') || rest.is_empty() && (name == "setuptools" || TOOLS.contains(&name.as_str())) {
        return;
    }
    if TOOLS.contains(&name.as_str()) {
        return found.leave(line, written, pip::INSTALLS);
    }
    let is_compiler = COMPILERS.contains(&name.as_str());
    found.builds |= is_compiler;
    if is_compiler && !NAMES.iter().any(|(conda, _)| *conda == name) {
        return found.leave(line, written, format!("{BUILD_ADDED}; the lock chooses the toolkit"));
    }
    if HOST_COMPILERS.contains(&name.split('_').next().unwrap_or_default()) {
        return host_compiler(written, &version(rest).0, line, found);
    }
    if OPENCV.contains(&name.as_str()) {
        let why = "the package index calls it opencv-python and numbers it otherwise: put that under [packages]";
        return found.leave(line, written, why);
    }
    // A package that only keeps the builds for CUDA away.
    if name == "cpuonly" {
        found.variant = Some("cpu".to_string());
        return;
    }
    let (version, build) = version(rest);
    // conda-forge writes some of them with `_`.
    let dashed = name.replace('_', "-");
    let meant = NAMES.iter().find(|(conda, _)| *conda == dashed).map(|(_, ours)| *ours);
    let renamed = meant.unwrap_or(&name);
    let version = if renamed == "cuda" { line_of_cuda(&version).to_string() } else { version };
    let mut wanted = Wanted::new(renamed, &version, line);
    // A channel is named after the CUDA that it holds, in NVIDIA's numbering of labels: its line is that of the toolkit.
    if renamed == "cuda" && version.is_empty() {
        match channel.rsplit_once("cuda-") {
            Some((_, release)) => wanted.version = release.split('.').take(2).collect::<Vec<_>>().join("."),
            None => return found.leave(line, written, "it says nothing of which CUDA"),
        }
    }
    // Builds for Python name it: `py310h8deb565_0`, `pyhd8ed1ab_0`.
    let is_elsewhere = !channel.is_empty() && !CHANNELS.iter().any(|known| channel.starts_with(known));
    let is_of_conda = is_elsewhere || names_a_cuda(&name) || OF_CONDA.contains(&dashed.as_str());
    if is_of_conda || ["cudatoolkit", "cuda-", "python-"].iter().any(|begin| name.starts_with(begin)) {
        wanted.written = written.to_string();
    }
    wanted.is_of_conda = true;
    wanted.is_library = is_of_conda;
    wanted.is_vague = meant.is_none() && !PYTHON.split_whitespace().any(|known| known == wanted.name);
    if let Some(build) = build {
        of_build(&mut wanted, &name, &build, written, found);
    }
    if name == "pytorch-cpu" {
        wanted.variant = Some("cpu".to_string());
    }
    found.want(wanted);
}

/// What a build string tells of a package: whether it is one of Python, and for which CUDA its torch is.
fn of_build(wanted: &mut Wanted, name: &str, build: &str, written: &str, found: &mut Found) {
    let is_python = build.contains("py");
    // What is built for a Python and called a library is called otherwise by the package index, if it has it.
    wanted.is_vague &= !is_python || name.starts_with("lib");
    wanted.is_library |= !build.contains('*') && !is_python && !BRINGS_PYTHON.contains(&name);
    let variant = variant_of_build(build);
    if wanted.name == TORCH {
        wanted.variant = variant;
    } else if variant.is_some() && FRAMEWORKS.contains(&wanted.name.as_str()) {
        let why = "taken without its build: the wheels of the package index are built otherwise";
        found.leave(wanted.line, written, why);
    }
}

/// The gcc of an environment, which nvcc compiles with there: the target's.
fn host_compiler(written: &str, version: &str, line: usize, found: &mut Found) {
    let release = version.strip_suffix(".*").unwrap_or(version);
    let is_release = release.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    match &found.host_compiler {
        Some((known, _)) if known == release => {}
        None if is_release => found.host_compiler = Some((release.to_string(), line)),
        _ => found.leave(line, written, "the host compiler: set `gcc` of the target where CUDA code is compiled"),
    }
}

/// Whether a name ends in a release of CUDA, as conda has them: `dgl-cuda11.1`, `magma-cuda121`.
fn names_a_cuda(name: &str) -> bool {
    let release = name.rsplit_once("-cuda").map_or("", |(_, release)| release);
    release.len() > 2 && release.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// `11.1` for `11.1.74`, as conda numbers what is CUDA 11.1.0: third numbers of releases have one digit.
fn line_of_cuda(version: &str) -> &str {
    let is_release = version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match version.rsplit_once('.') {
        Some((line, third)) if is_release && third.len() > 1 && line.contains('.') => line,
        _ => version,
    }
}

/// The version in the spelling of gpuenv.toml, and the build.
fn version(rest: &str) -> (String, Option<String>) {
    let is_plain = rest.starts_with('=') && !rest.starts_with("==");
    let rest = rest.strip_prefix('=').filter(|_| is_plain).unwrap_or(rest).trim();
    // Only behind a plain version a second `=` parts the build; operators hold one themselves.
    let bare = rest.starts_with(|c: char| c.is_ascii_digit() || c == '*');
    let at = if bare {
        rest.find(['=', ' '])
    } else {
        rest.strip_prefix("==").and_then(|rest| rest.find(['=', ' ']).map(|at| at + 2))
    };
    let (version, build) = match at {
        Some(at) => (&rest[..at], Some(rest[at + 1..].trim().to_string())),
        None => (rest, None),
    };
    let version = version.split_whitespace().collect::<String>().replace('|', "||");
    let version = version.strip_prefix("==").filter(|version| !version.contains(',')).unwrap_or(&version).to_string();
    // Behind a single `=` conda takes every release that begins like this.
    let is_begun = is_plain && build.is_none() && version.matches('.').count() < 2 && !version.contains(['|', '*']);
    let version = if is_begun && !version.is_empty() { format!("{version}.*") } else { version };
    (if version == "*" { String::new() } else { version }, build)
}

/// The wheel variant that holds what a build of conda's does: `py3.10_cuda11.7_cudnn8.5.0_0`, `cuda118_py310h8b36b8a_0`,
/// `py3.10_cpu_0`.
fn variant_of_build(build: &str) -> Option<String> {
    if build.split(['_', '*']).any(|part| part == "cpu") {
        return Some("cpu".to_string());
    }
    let (_, rest) = build.split_once("cuda")?;
    let number: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let mut parts = number.split('.').filter(|part| !part.is_empty());
    match (parts.next()?, parts.next()) {
        (major, Some(minor)) => Some(format!("cu{major}{minor}")),
        (digits, None) => Some(format!("cu{digits}")).filter(|_| digits.len() > 1),
    }
}

#[cfg(test)]
mod tests;
