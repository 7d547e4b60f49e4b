//! `cmake`: a CMakePresets.json with a preset for each target that compiles.

use serde_json::{Value, json};

use crate::lock::{Lock, TargetLock};

use super::env::Plan;
use super::format::{self, Format, Opt, Options, Render, Targets, names};
use super::{ExportError, valid};

/// `gpuenv export cmake`
pub const FORMAT: Format = Format {
    name: "cmake",
    help: "A CMakePresets.json with nvcc, host compiler and architectures",
    file: "CMakePresets.json",
    options: &[Opt::value("host-compiler", "PATH", "The compiler that nvcc calls [default: what it finds]")],
    next: |_, file, _| {
        let command = format!("cmake{} --list-presets", format::folder_option("-S", file));
        format::by_its_name(file, "CMakePresets.json", &command)
    },
    merge: None,
    installs: None,
    render: Render::Whole(render),
};

/// Presets as CMake 3.21 reads them.
const PRESETS: u32 = 3;

fn render(lock: &Lock, targets: &Targets, options: &Options) -> Result<String, ExportError> {
    let mut presets = Vec::new();
    for (name, target) in targets {
        presets.extend(preset(lock, name, target, options)?);
    }
    if presets.is_empty() {
        return Err(ExportError::NothingToCompile(names(targets)));
    }
    let about = json!({ "about": "Written by `gpuenv export cmake`; do not edit." });
    let file = json!({ "version": PRESETS, "vendor": { "gpuenv": about }, "configurePresets": presets });
    Ok(in_order(&file, &["version", "vendor", "configurePresets"]))
}

/// None for a target without an architecture list: there is nothing to compile for.
fn preset(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<Option<Value>, ExportError> {
    let Some(lists) = lock.arch_list_of(target) else { return Ok(None) };
    let architectures = valid::cmake_arch_list(&lists.cmake)?;
    let mut cache = json!({ "CMAKE_CUDA_ARCHITECTURES": architectures });
    let mut environment = json!({ "TORCH_CUDA_ARCH_LIST": valid::torch_arch_list(&lists.torch)? });
    if let Some(home) = Plan::new(lock, name, target)?.cuda_home {
        cache["CMAKE_CUDA_COMPILER"] = format!("{home}/bin/nvcc").into();
        cache["CUDAToolkit_ROOT"] = home.clone().into();
        environment["CUDA_HOME"] = home.into();
    }
    if let Some(compiler) = options.get("host-compiler") {
        cache["CMAKE_CUDA_HOST_COMPILER"] =
            valid::option("host-compiler", compiler, valid::is_path, "a path without blanks")?.into();
    } else if let Some(compiler) = host_compiler(lock, name, target)? {
        cache["CMAKE_CUDA_HOST_COMPILER"] = compiler.into();
    }
    Ok(Some(json!({
        "name": valid::target(name)?,
        "displayName": format!("gpuenv: {}", valid::target(name)?),
        "binaryDir": "${sourceDir}/build/${presetName}",
        "cacheVariables": cache,
        "environment": environment,
        "vendor": { "gpuenv": { "gencode": gencode(architectures) } },
    })))
}

/// The compiler that gpuenv.toml names, under the name by which the packages of distributions install it; none where nothing
/// is said, and for gcc on systems that keep several in folders.
pub fn host_compiler(lock: &Lock, name: &str, target: &TargetLock) -> Result<Option<String>, ExportError> {
    let of = |key: &str| lock.inputs.get(&format!("target.{name}.{key}"));
    let has_names = target.os.as_deref().is_some_and(|os| os.starts_with("ubuntu") || os.starts_with("debian"));
    Ok(match (of("clang"), of("gcc")) {
        (Some(clang), _) => Some(format!("clang++-{}", valid::major("clang", clang)?)),
        (None, Some(gcc)) if has_names => Some(format!("g++-{}", valid::major("gcc", gcc)?)),
        _ => None,
    })
}

/// The same for who calls nvcc without CMake: `80-real` is machine code, `90-virtual` PTX, `90` both.
fn gencode(architectures: &str) -> Vec<String> {
    let mut flags = Vec::new();
    for entry in architectures.split(';') {
        let number = entry.trim_end_matches("-real").trim_end_matches("-virtual");
        let codes = match entry {
            entry if entry.ends_with("-real") => format!("sm_{number}"),
            entry if entry.ends_with("-virtual") => format!("compute_{number}"),
            _ => format!("[compute_{number},sm_{number}]"),
        };
        flags.push(format!("-gencode=arch=compute_{number},code={codes}"));
    }
    flags
}

/// The first keys in this order, so that who wrote the file stands at its beginning.
fn in_order(file: &Value, keys: &[&str]) -> String {
    let mut parts = Vec::new();
    for key in keys {
        let text = serde_json::to_string_pretty(&file[*key]).unwrap_or_default();
        parts.push(format!("  \"{key}\": {}", text.replace('\n', "\n  ")));
    }
    format!("{{\n{}\n}}\n", parts.join(",\n"))
}
