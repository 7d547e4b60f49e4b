//! The keys of a target that say what its machines are and have.

use crate::types::name::{self, is_unseen};
use crate::types::require::{self, Requirement};
use crate::types::{Cc, Constraint, CpuArch, Version, distinct};

use super::super::error::{Refusal, clip, quote};
use super::super::repair;
use super::{Read, choice, constraint, short, version};

/// What images ask for is long: NVIDIA's name a dozen brands for each of several branches.
const MAX_REQUIRES: usize = 8192;
const MAX_GPUS: usize = 256;
const MAX_TOOLKITS: usize = 64;

/// One entry of `gpu`; `none` in any case means that there is no GPU.
pub(in crate::spec) fn gpu(text: &str) -> Read<String> {
    if repair::is_no_gpu(text) {
        let refusal = Refusal::new("value", format!("`gpu`: {} is not a GPU", quote(text)));
        return Err(refusal.help("for a machine without a GPU write `gpu = \"none\"`"));
    }
    if repair::is_device(text) {
        let refusal =
            Refusal::new("unknown-gpu", format!("`gpu`: {} is a device of CUDA, not the name of a GPU", quote(text)));
        return Err(refusal.help("name the GPU, as `nvidia-smi -L` prints it"));
    }
    if let Some((product, why)) = repair::gpu(text).filter(|(product, _)| name::is_gpu(product)) {
        let refusal = Refusal::new("value", format!("`gpu`: {} is more than the name of a GPU", quote(text)));
        return Err(refusal.help(format!("write `gpu = \"{}\"`: {why}", clip(product))));
    }
    if repair::is_machine_type(text) {
        let refusal = Refusal::new("unknown-gpu", format!("`gpu`: {} is a type of machine, not a GPU", quote(text)));
        return Err(refusal.help("name the GPU in it, as `nvidia-smi -L` prints it there"));
    }
    let name = super::name("gpu", text, name::is_gpu, "letters, digits, blanks and any of `._+-/(),:`")?;
    let dotted = name.to_lowercase().strip_prefix("sm_").and_then(|cc| Cc::parse(cc).ok());
    if let Some(cc) = dotted {
        let refusal = Refusal::new("unknown-gpu", format!("`gpu`: {} is not a compute capability", quote(text)));
        return Err(refusal.help(format!("write `gpu = \"sm_{}\"`", cc.number())));
    }
    let several = name.replace(" or ", ",");
    if several.contains(',') {
        let listed: Vec<String> = several.split(',').map(|one| format!("\"{}\"", clip(one.trim()))).collect();
        let refusal = Refusal::new("value", format!("`gpu`: {} names several GPUs in one string", quote(text)));
        return Err(refusal.help(format!("write `gpu = [{}]`", listed.join(", "))));
    }
    if let Some(maker) = repair::other_maker(&name) {
        let refusal =
            Refusal::new("unknown-gpu", format!("`gpu`: {} is not an NVIDIA GPU but one of {maker}", quote(text)));
        return Err(refusal.help("gpuenv knows NVIDIA GPUs only; for a machine without one write `gpu = \"none\"`"));
    }
    Ok(if name.eq_ignore_ascii_case("none") { "none".to_string() } else { name })
}

/// All of `gpu`: what is named twice counts once.
pub(in crate::spec) fn gpus(names: Vec<String>) -> Read<Vec<String>> {
    let mut seen = std::collections::HashSet::new();
    let names: Vec<String> = names.into_iter().filter(|name| seen.insert(name.clone())).collect();
    if names.is_empty() {
        let refusal = Refusal::new("value", "`gpu` is an empty list");
        return Err(refusal.help("name the products, write \"none\" for CPU only, or drop the key if nothing is known"));
    }
    if names.len() > MAX_GPUS {
        return Err(Refusal::new(
            "value",
            format!("`gpu` names {} products; at most {MAX_GPUS} are taken", names.len()),
        ));
    }
    if names.len() > 1 && names.iter().any(|name| name == "none") {
        let refusal = Refusal::new("value", "`gpu` names \"none\" beside products");
        return Err(refusal.help("machines without a GPU are a target of their own"));
    }
    Ok(names)
}

/// One entry of `driver`, as a constraint: a branch is also called `R535` or `535.x`.
pub(in crate::spec) fn driver(key: &str, text: &str) -> Read<String> {
    // No driver for CUDA ever had a number of one or two digits, and the number beside the driver's is often copied.
    let copied = Version::parse(text.trim()).ok().filter(|version| version.len() == 2 && version.major() < 100);
    if let Some(line) = copied {
        let refusal = Refusal::new("value", format!("`driver`: {} is a version of CUDA, not of a driver", quote(text)));
        return Err(refusal.help(format!(
            "write the \"Driver Version\" that nvidia-smi shows, or `driver-cuda = \"{line}\"` if only that is known"
        )));
    }
    if let Some(number) = repair::of_windows(text) {
        let message = format!("`driver`: {} is how Windows numbers driver {number}", quote(text));
        let help =
            format!("write `driver = \"{number}\"` and, for a machine with Windows, `platform = \"wsl2\"` beside it");
        return Err(Refusal::new("value", message).help(help));
    }
    let text = repair::driver(text);
    let read = constraint(key, text).map(|constraint| constraint.as_str().to_string());
    read.map_err(|refusal| match repair::driver_named(text).filter(|_| repair::constraint(key, text).is_none()) {
        Some(line) => refusal.help(format!("write `{line}`")),
        None => refusal,
    })
}

/// All of `driver`: each occurs among the hosts.
pub(in crate::spec) fn drivers(entries: Vec<String>) -> Read<Constraint> {
    let entries = distinct(entries);
    if entries.is_empty() {
        let refusal = Refusal::new("value", "`driver` is an empty list");
        return Err(refusal.help("drop the key, and the lock says which driver the hosts need"));
    }
    constraint("driver", &entries.join(" || "))
}

/// `driver-cuda`: the number nvidia-smi shows.
pub(in crate::spec) fn driver_cuda(text: &str) -> Read<Version> {
    let version = version("driver-cuda", text)?;
    if version.major() >= 100 {
        let message = format!("`driver-cuda`: {} is a driver, not a version of CUDA", quote(text));
        return Err(Refusal::new("value", message).help(format!("write `driver = \"{}\"`", clip(text.trim()))));
    }
    if version.len() != 2 || version.is_prerelease() {
        let message = format!("`driver-cuda`: {} does not have two components", quote(text));
        return Err(Refusal::new("value", message).help(
            "write the \"CUDA Version\" that nvidia-smi shows, major and minor; a driver release goes to `driver`",
        ));
    }
    Ok(version)
}

/// `compat`: the CUDA line in the package's name.
pub(in crate::spec) fn compat(text: &str) -> Read<Version> {
    let named = text.trim().strip_prefix("cuda-compat-").map(|line| line.replace('-', "."));
    if let Some(line) = named {
        let refusal = Refusal::new("value", format!("`compat`: {} is the name of the package", quote(text)));
        return Err(refusal.help(format!("write `compat = \"{}\"`", clip(&line))));
    }
    let version = version("compat", text)?;
    if version.len() == 2 && !version.is_prerelease() {
        return Ok(version);
    }
    let refusal = Refusal::new("value", format!("`compat`: {} does not have two components", quote(text)));
    let help = "write the CUDA line of the package: \"12.9\" for cuda-compat-12-9; a driver release goes to `driver`";
    Err(match version.len() {
        3.. => refusal.help(format!("write `compat = \"{}\"`", version.prefix(2))),
        _ => refusal.help(help),
    })
}

/// One entry of `toolkit`.
pub(in crate::spec) fn toolkit(text: &str) -> Read<Version> {
    installed("toolkit", text, "nvcc --version")
}

/// `glibc`
pub(in crate::spec) fn glibc(text: &str) -> Read<Version> {
    installed("glibc", text, "ldd --version")
}

/// What is installed has at least a major and a minor number, as a command shows.
fn installed(key: &str, text: &str, shown_by: &str) -> Read<Version> {
    let version = version(key, text)?;
    if version.len() < 2 {
        let message = format!("`{key}`: {} does not name a minor version", quote(text));
        return Err(Refusal::new("value", message).help(format!("write major and minor, as `{shown_by}` shows them")));
    }
    Ok(version)
}

/// All of `toolkit`.
pub(in crate::spec) fn toolkits(versions: Vec<Version>) -> Read<Vec<Version>> {
    if versions.is_empty() {
        let refusal = Refusal::new("value", "`toolkit` is an empty list");
        return Err(refusal.help("drop the key, and the lock says which toolkit to install"));
    }
    if versions.len() > MAX_TOOLKITS {
        return Err(Refusal::new("value", format!("`toolkit` names more than {MAX_TOOLKITS} releases")));
    }
    Ok(versions)
}

/// `os`
pub(in crate::spec) fn os(text: &str) -> Read<String> {
    super::name("os", text, name::is_os, "letters, digits, blanks and any of `._+-/()`")
}

/// `arch`
pub(in crate::spec) fn cpu(text: &str) -> Read<CpuArch> {
    let words = [("x86_64", CpuArch::X86_64), ("aarch64", CpuArch::Aarch64)];
    let slips: [(&[&str], &str); 2] = [
        (&["arm", "arm64", "armv8", "aarch", "sbsa"], "aarch64"),
        (&["x86", "x64", "amd64", "x86-64", "intel"], "x86_64"),
    ];
    let refused = |_| match text.starts_with("ppc") || text.starts_with("power") {
        true => Err(Refusal::new("value", format!("invalid `arch` {}: gpuenv knows no wheels for POWER", quote(text)))
            .help("look for builds for POWER at your vendor's channel; gpuenv answers for x86_64 and aarch64")),
        false => choice("arch", text, &words, &slips),
    };
    CpuArch::parse(text).or_else(refused)
}

/// `image-requires`: the container runtime refuses a container at the first condition that it cannot read. Empty: the image
/// asks for nothing.
pub(in crate::spec) fn image_requires(text: &str) -> Read<String> {
    let long = text.len() > MAX_REQUIRES;
    if long || text.chars().any(is_unseen) {
        short("image-requires", text)?;
    }
    let trimmed = text.trim();
    let value = require::in_own_spelling(trimmed.strip_prefix("NVIDIA_REQUIRE_CUDA=").unwrap_or(trimmed));
    match Requirement::parse(&value).unreadable() {
        None => Ok(value.split_whitespace().collect::<Vec<_>>().join(" ")),
        Some(condition) => {
            let message = format!("`image-requires`: {} is not a condition", quote(&condition.0));
            let help = "expected cuda, driver, arch or brand, one of `=`, `!=`, `<`, `<=`, `>`, `>=`, and a value, as in \
                        \"cuda>=12.8 brand=tesla,driver>=535\"";
            Err(Refusal::new("value", message).help(help))
        }
    }
}
