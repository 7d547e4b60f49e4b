//! Containers: what images ask of the driver, what hands GPUs to them, what this one was given.

use crate::catalog::GpuMatch;
use crate::catalog::rows::Image;
use crate::host::Container;
use crate::solve::image;
use crate::solve::problem::law;
use crate::words::require::{Requirement, Subjects, of_environment};
use crate::words::version::Written;
use crate::words::{Cc, CpuArch, Version};

use super::case::{Case, Seen};
use super::check::{Action, Check};

/// NCCL's rings between processes want this much of /dev/shm, in bytes.
const SHM_LEAST: u64 = 1 << 30;

/// Everything that is to be said of them.
pub fn judge(case: &Case<'_>) -> Vec<Check> {
    let mut checks = Vec::new();
    if case.target.runtime == "container" && case.needs_gpu() {
        checks.extend(locked_images(case));
        checks.extend(runtime(case));
    }
    if case.in_container() && case.needs_gpu() {
        checks.push(capabilities(case));
        checks.extend(shm(case));
    }
    checks
}

/// What the locked images ask: inside a container it stands in the environment, elsewhere in the catalog.
fn locked_images(case: &Case<'_>) -> Vec<Check> {
    let set_aside =
        case.lock.overrides.iter().find(|one| {
            one.rule == law::IMAGE_REQUIRE && one.target.as_deref().is_none_or(|target| target == case.name)
        });
    if let Some(one) = set_aside {
        return vec![Check::new("image-require").skip(format!("set aside in gpuenv.toml: {}", one.reason))];
    }
    if case.in_container() {
        let variables = case.record.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let asked = of_environment(variables);
        if !asked.is_empty() {
            return asked.iter().flat_map(|(name, text)| required(case, text, name)).collect();
        }
    }
    let mut images: Vec<&String> = case.target.image.iter().chain(&case.target.runtime_image).collect();
    images.dedup();
    images.into_iter().flat_map(|reference| of_image(case, reference, false)).collect()
}

/// What one image asks of this host. `alone`: nothing else is judged, so that what nobody knows leaves the question open.
pub fn of_image(case: &Case<'_>, reference: &str, alone: bool) -> Vec<Check> {
    let check = Check::new("image-require").expected(format!("a driver that {reference} starts on"));
    let arch = CpuArch::parse(&case.target.arch).ok();
    let known = find(case, reference).zip(arch).and_then(|(row, arch)| image::requirement(case.catalog, row, arch));
    match known {
        Some(known) => required(case, &known.row.require, reference),
        None if alone => vec![check.unknown(
            Action::None,
            "what this image asks of the driver is not known: see `docker inspect` for its NVIDIA_REQUIRE_CUDA",
        )],
        None => vec![check.skip("what this image asks of the driver is not known")],
    }
}

/// The image of a reference; which registry it comes from makes no difference.
fn find<'a>(case: &Case<'a>, reference: &str) -> Option<&'a Image> {
    let reference = reference.split('@').next().unwrap_or(reference);
    let (repository, tag) = reference.rsplit_once(':').filter(|(_, tag)| !tag.contains('/'))?;
    let same = |row: &&Image| {
        row.tag == tag && (repository == row.repository || repository.ends_with(&format!("/{}", row.repository)))
    };
    let images = case.catalog.images.iter();
    images.into_iter().find(same)
}

/// One requirement, for each GPU as the container runtime would judge it.
fn required(case: &Case<'_>, text: &str, by: &str) -> Vec<Check> {
    let requirement = Requirement::parse(text);
    let shown = match text.split_once(' ') {
        Some((first, _)) => format!("{first} …"),
        None => text.to_string(),
    };
    let driver = case.driver().map(|(driver, _)| driver);
    let cuda = driver_cuda(case);
    let new = || Check::new("image-require").expected(&*shown).evidence(Some(by));
    if driver.is_none() && cuda.is_none() {
        return vec![new().unknown(Action::None, "there is no driver to hold against it")];
    }
    let found = |check: Check| match (driver, &cuda) {
        (Some(driver), Some(cuda)) => check.found(format!("driver {driver}, CUDA {cuda}")),
        (Some(driver), None) => check.found(format!("driver {driver}")),
        (None, cuda) => check.found(format!("CUDA {}", cuda.as_ref().map_or("?", Version::as_str))),
    };
    let gpus = case.gpus();
    let machine = Subjects { cuda: cuda.as_ref(), driver, arch: None, brand: None };
    if gpus.is_empty() {
        return vec![ends(case, found(new()), &starts(&requirement, &machine, None, &[""]))];
    }
    let mut checks: Vec<Check> = Vec::new();
    for gpu in &gpus {
        let (brands, cc) = (brands(case, gpu), gpu.cc.and_then(|cc: Cc| Version::parse(&cc.to_string()).ok()));
        let check = ends(case, found(new()).of(&gpu.label), &starts(&requirement, &machine, cc.as_ref(), &brands));
        // Eight GPUs of one kind get one answer.
        if !checks.iter().any(|known| known.status == check.status) {
            checks.push(check);
        }
    }
    checks
}

/// Whether a container would be started; an error says why that cannot be told. To the runtime, what nobody knows
/// fulfils everything; here it must not.
fn starts(
    requirement: &Requirement<'_>,
    machine: &Subjects<'_>,
    arch: Option<&Version>,
    brands: &[&str],
) -> Result<bool, String> {
    const NEVER: &Version = &Version::of(const { &Written::new("0") });
    let holds = |machine: &Subjects<'_>, brand| {
        requirement.holds(&Subjects { arch, brand, ..*machine }).map_err(|error| error.to_string())
    };
    let known = Subjects { cuda: machine.cuda.or(Some(NEVER)), driver: machine.driver.or(Some(NEVER)), ..*machine };
    for brand in brands {
        if holds(&known, Some(*brand))? {
            return Ok(true);
        }
    }
    for brand in brands {
        if holds(machine, Some(*brand))? {
            return Err("it may start: the driver's release was not told".to_string());
        }
    }
    match brands {
        // Nobody knows the brand: it may be one of those that are excepted.
        [""] if holds(machine, None)? => {
            Err("it starts on GPUs of some brands only, and this one's is not known".to_string())
        }
        _ => Ok(false),
    }
}

fn ends(case: &Case<'_>, check: Check, starts: &Result<bool, String>) -> Check {
    let mode = case.record.container.as_ref().and_then(|container| container.mode.as_deref());
    let raise = "raise the driver, or take an image of an older CUDA";
    match starts {
        Ok(true) => check.pass(),
        Err(why) => check.unknown(Action::None, why.clone()),
        Ok(false) if mode.is_some_and(|mode| mode.contains("cdi")) => check.warn(
            Action::AskAdmin,
            format!("the container starts, because the runtime's CDI mode does not look; what is in it was made for a later driver: {raise}"),
        ),
        Ok(false) => check.fail(Action::AskAdmin, format!("the container runtime refuses to start this image here: {raise}")),
    }
}

/// The CUDA version that counts is the driver's own, not that of a cuda-compat.
fn driver_cuda(case: &Case<'_>) -> Option<Version> {
    let told = case.offered().filter(|_| !case.loads_compat()).map(|(cuda, _)| *cuda);
    told.or_else(|| case.catalog.branch_of(case.driver()?.0)?.cuda)
}

/// The brand that NVML tells, or those that it may tell for the product's market.
fn brands<'a>(case: &Case<'a>, gpu: &Seen<'a>) -> Vec<&'a str> {
    if let Some(brand) = gpu.nvml.and_then(|nvml| nvml.brand.as_deref()) {
        return vec![brand];
    }
    let class = match case.catalog.gpu(gpu.name.unwrap_or_default()) {
        GpuMatch::Found(rows) => rows.first().map(|row| row.class),
        _ => None,
    };
    match image::brands(class) {
        [] => vec![""],
        known => known.to_vec(),
    }
}

/// What hands GPUs to containers on this host.
fn runtime(case: &Case<'_>) -> Vec<Check> {
    if case.in_container() {
        return Vec::new();
    }
    let check = Check::new("container-runtime").expected("a container runtime that hands on GPUs");
    let Some(container) = &case.record.container else {
        return vec![check.skip("it was not looked for: `gpuenv verify --full` does")];
    };
    let Container { runtimes, toolkit, mode, cdi, .. } = container;
    if runtimes.is_empty() && toolkit.is_none() && cdi.is_empty() {
        return vec![check.found("none").warn(
            Action::AskAdmin,
            "no container runtime was found here: install one and the NVIDIA Container Toolkit",
        )];
    }
    let mut names: Vec<String> =
        runtimes.iter().map(|(name, version)| format!("{name} {version}").trim_end().to_string()).collect();
    names.extend(toolkit.iter().map(|version| format!("NVIDIA Container Toolkit {version}")));
    names.extend(mode.iter().map(|mode| format!("mode {mode}")));
    let check = check.found(names.join(", "));
    let mut checks = vec![match toolkit.is_some() || !cdi.is_empty() {
        true => check.pass(),
        false => {
            check.warn(Action::AskAdmin, "the NVIDIA Container Toolkit was not found: containers get no GPU without it")
        }
    }];
    checks.extend(cdi_of_this_driver(case, container));
    if container.dev_char == Some(false) && container.cgroup_driver.as_deref() == Some("systemd") {
        checks.push(Check::new("container-dev-char").expected("a link in /dev/char for every device node").found("some are missing").warn(
            Action::AskAdmin,
            "running containers lose their GPUs at `systemctl daemon-reload`: `nvidia-ctk system create-dev-char-symlinks --create-all`",
        ));
    }
    checks
}

/// A CDI specification names files of one driver release; after an upgrade they are gone.
fn cdi_of_this_driver(case: &Case<'_>, container: &Container) -> Vec<Check> {
    let of_gpus =
        container.cdi.iter().filter(|cdi| cdi.kind.as_deref().is_none_or(|kind| kind.starts_with("nvidia.com/")));
    let one = |cdi: &crate::host::Cdi| {
        let driver = case.driver().map(|(driver, _)| driver)?;
        let check = Check::new("container-cdi")
            .expected(format!("a specification for driver {driver}"))
            .evidence(Some(&*cdi.path));
        let old = cdi.driver.as_ref().filter(|named| *named != driver);
        let hint = "generate it again: `nvidia-ctk cdi generate`";
        Some(match (old, cdi.missing.first()) {
            (Some(old), _) => check.found(format!("driver {old}")).fail(Action::AskAdmin, hint),
            (None, Some(missing)) => check.found(format!("{missing} is missing")).fail(Action::AskAdmin, hint),
            (None, None) => check
                .found(cdi.driver.as_ref().map_or("readable".to_string(), |named| format!("driver {named}")))
                .pass(),
        })
    };
    of_gpus.filter_map(one).collect()
}

/// What the container was told to be given.
fn capabilities(case: &Case<'_>) -> Check {
    let check = Check::new("container-capabilities").expected("compute and utility");
    let Some(value) = case.variable("NVIDIA_DRIVER_CAPABILITIES") else {
        return check.skip("the container names none");
    };
    let has = |wanted: &str| value.split(',').any(|one| one.trim() == wanted || one.trim() == "all");
    let check = check.found(value);
    // An empty value means the default, which is both.
    if value.trim().is_empty() || has("compute") && has("utility") {
        return check.pass();
    }
    let hint = "start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility";
    match has("compute") {
        true => check.warn(Action::RestartContainer, format!("CUDA works, NVML and nvidia-smi do not: {hint}")),
        false => {
            check.fail(Action::RestartContainer, format!("CUDA's libraries are not put into the container: {hint}"))
        }
    }
}

fn shm(case: &Case<'_>) -> Option<Check> {
    let size = case.record.platform.shm?;
    let check = Check::new("container-shm")
        .expected(format!("{} MiB or more", SHM_LEAST >> 20))
        .found(format!("{} MiB", size >> 20));
    Some(match size >= SHM_LEAST {
        true => check.evidence(Some("/dev/shm")).pass(),
        false => check.evidence(Some("/dev/shm")).warn(
            Action::RestartContainer,
            "data loaders and NCCL between processes need more: start the container with --ipc=host or a larger --shm-size",
        ),
    })
}
