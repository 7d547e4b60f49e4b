//! environment.yml: conda's match specs, and the list for pip among them.

use saphyr::{LoadableYamlNode, MarkedYaml};

use super::{Found, Wanted, pip};

/// conda's names for what package indexes call otherwise.
const NAMES: &[(&str, &str)] = &[
    ("pytorch", "torch"),
    ("pytorch-gpu", "torch"),
    ("tensorflow-gpu", "tensorflow"),
    ("pytorch-cuda", "cuda"),
    ("cudatoolkit", "cuda"),
    ("cuda-version", "cuda"),
    ("cuda-toolkit", "cuda"),
    ("cuda", "cuda"),
];

/// Packages whose presence means that CUDA code is compiled.
const COMPILERS: [&str; 4] = ["cuda-nvcc", "cuda-toolkit", "cudatoolkit-dev", "cuda-compiler"];
/// What comes with conda and says nothing of a stack.
const TOOLS: [&str; 3] = ["pip", "setuptools", "wheel"];
/// Libraries and programs of conda that hold no Python, by what their builds are called in exported environments
/// (`openssl=3.0.13=h7f8727e_1`): an export without builds does not tell them from packages of Python.
const NO_PYTHON: &str = "\
    alsa-lib blas boost-cpp bzip2 c-ares ca-certificates cairo cuda-cudart cuda-cupti cuda-libraries cuda-nvrtc \
    cuda-nvtx cuda-opencl cuda-runtime cyrus-sasl dbus expat ffmpeg fftw fontconfig freetype fribidi gdk-pixbuf \
    gettext gflags giflib glib glog gmp gnutls graphite2 grpc-cpp gst-plugins-base gstreamer harfbuzz hdf5 icu \
    intel-openmp jpeg keyutils krb5 lame lcms2 ld_impl_linux-64 lerc libabseil libblas libboost libbrotlicommon \
    libbrotlidec libbrotlienc libcblas libcublas libcufft libcufile libcurand libcurl libcusolver libcusparse \
    libdeflate libdrm libedit libev libevent libexpat libffi libgcc libgcc-ng libgfortran-ng libgfortran5 libglib \
    libgomp libiconv libidn2 libjpeg-turbo liblapack liblzma libnghttp2 libnpp libnsl libnvjitlink libnvjpeg \
    libopenblas libpng libprotobuf libsodium libsqlite libssh2 libstdcxx libstdcxx-ng libtasn1 libthrift libtiff \
    libunistring libuuid libuv libva libvpx libwebp libwebp-base libxcb libxcrypt libxml2 libzlib llvm-openmp lz4-c \
    mkl mpfr mpc nccl ncurses nettle nspr nss openh264 openjpeg openssl pango pcre pcre2 pixman pthread-stubs \
    python_abi qt-main re2 readline snappy sqlite svt-av1 tbb tk tzdata x264 xorg-libx11 xorg-libxau xorg-libxdmcp \
    xorg-libxext xorg-libxrender xz yaml zlib zstd";

/// Lists within lists take the stack of the program: no environment nests this deep.
const MOST_DEEP: usize = 200;

pub(super) fn read(text: &str) -> Result<Found, (usize, String)> {
    if let Some(line) = text.lines().position(|line| depth(line) > MOST_DEEP) {
        return Err((line + 1, "lists or mappings are nested too deeply".to_string()));
    }
    let documents =
        MarkedYaml::load_from_str(text).map_err(|error| (error.marker().line(), error.info().to_string()))?;
    let mut found = Found::default();
    let root = documents.first().map(|document| &document.data);
    let list = root.and_then(|root| root.as_mapping_get("dependencies")).and_then(|list| list.data.as_sequence());
    let Some(list) = list else { return Err((1, "it has no `dependencies`: is it an environment of conda?".into())) };
    for item in list {
        let line = item.span.start.line();
        if let Some(spec) = item.data.as_str() {
            package(spec, line, &mut found);
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
            found.variant = found.variant.or(inner.variant);
            inner.wanted.into_iter().for_each(|wanted| found.want(Wanted { line, ..wanted }));
            inner.left.into_iter().for_each(|(_, text, why)| found.leave(line, &text, why));
        }
    }
    Ok(found)
}

/// How deep a line may be nested: each level has a column or a mark of its own.
fn depth(line: &str) -> usize {
    let text = line.trim_start();
    let marks = text.split_whitespace().filter(|word| matches!(*word, "-" | "?" | ":")).count();
    if text.starts_with('#') { 0 } else { line.len() - text.len() + marks }
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
    if TOOLS.contains(&name.as_str()) || name.starts_with('_') {
        return;
    }
    found.builds |= COMPILERS.contains(&name.as_str());
    // A package that only keeps the builds for CUDA away.
    if name == "cpuonly" {
        found.variant = Some("cpu".to_string());
        return;
    }
    let (version, build) = version(rest);
    let renamed = NAMES.iter().find(|(conda, _)| *conda == name).map_or(name.as_str(), |(_, ours)| ours);
    let mut wanted = Wanted::new(renamed, &version, line);
    // A channel is named after the CUDA that it holds.
    if renamed == "cuda" && version.is_empty() {
        match channel.rsplit_once("cuda-") {
            Some((_, release)) => wanted.version = release.to_string(),
            None => return found.leave(line, written, "it says nothing of which CUDA"),
        }
    }
    // Builds for Python name it: `py310h8deb565_0`, `pyhd8ed1ab_0`.
    wanted.is_library = match build.as_deref().filter(|build| *build != "*") {
        Some(build) => !build.contains("py"),
        None => NO_PYTHON.split_whitespace().any(|library| library == name),
    };
    wanted.variant = build.as_deref().and_then(variant_of_build).filter(|_| renamed == "torch");
    found.want(wanted);
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

/// The wheel variant that holds what a build of conda's does: `py3.10_cuda11.7_cudnn8.5.0_0`, `py3.10_cpu_0`.
fn variant_of_build(build: &str) -> Option<String> {
    if build.split('_').any(|part| part == "cpu") {
        return Some("cpu".to_string());
    }
    let (_, rest) = build.split_once("cuda")?;
    let number: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let mut parts = number.split('.').filter(|part| !part.is_empty());
    let (major, minor) = (parts.next()?, parts.next()?);
    Some(format!("cu{major}{minor}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_conda_are_told_from_packages_of_python() {
        for (spec, is_library) in [
            ("openssl=3.0.13=h7f8727e_1", true),
            ("openssl=3.0.13", true),
            ("ld_impl_linux-64=2.38", true),
            ("librosa=0.10.1", false),
            ("numpy=1.26.4=py310h5f9d8c6_0", false),
            ("numpy=1.26.4", false),
            ("yaml", true),
            ("pyyaml=6.0.1", false),
        ] {
            let mut found = Found::default();
            package(spec, 1, &mut found);
            assert_eq!(found.wanted[0].is_library, is_library, "{spec}");
        }
    }

    #[test]
    fn match_specs_are_read() {
        for (spec, name, version, variant) in [
            ("python=3.10", "python", "3.10.*", None),
            ("pytorch::pytorch=2.1.*", "torch", "2.1.*", None),
            ("pytorch=1.13.1=py3.10_cuda11.7_cudnn8.5.0_0", "torch", "1.13.1", Some("cu117")),
            ("pytorch=2.1.0=py3.10_cpu_0", "torch", "2.1.0", Some("cpu")),
            ("pytorch-cuda=12.1", "cuda", "12.1.*", None),
            ("cudatoolkit 11.3", "cuda", "11.3", None),
            ("nvidia/label/cuda-11.8.0::cuda-toolkit", "cuda", "11.8.0", None),
            ("cuda-version>=12.4,<13", "cuda", ">=12.4,<13", None),
            ("numpy", "numpy", "", None),
            ("scipy>=1.10", "scipy", ">=1.10", None),
            ("pandas==2.1.0", "pandas", "2.1.0", None),
            ("jax=0.4.30|0.4.31", "jax", "0.4.30||0.4.31", None),
        ] {
            let mut found = Found::default();
            package(spec, 1, &mut found);
            let read = found.wanted.first().unwrap_or_else(|| panic!("{spec}: {:?}", found.left));
            assert_eq!(
                (read.name.as_str(), read.version.as_str(), read.variant.as_deref()),
                (name, version, variant),
                "{spec}"
            );
        }
    }
}
