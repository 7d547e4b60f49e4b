//! Containers: what images ask of the driver, what hands GPUs to them, what this one was given.

use crate::catalog::GpuMatch;
use crate::catalog::rows::Image;
use crate::host::Container;
use crate::solve::demand;
use crate::solve::image::{self, TagMatch};
use crate::solve::rules::law;
use crate::types::require::{Requirement, Subjects, of_environment};
use crate::types::version::Written;
use crate::types::{Cc, CpuArch, Version};

use super::check::{Action, Check, Status};
use super::context::CheckContext;
use super::seen::Seen;

/// NCCL's rings between processes want this much of /dev/shm, in bytes.
pub const SHM_LEAST: u64 = 1 << 30;

/// Everything that is to be said of them.
pub fn judge(context: &CheckContext<'_>) -> Vec<Check> {
    let mut checks = Vec::new();
    if context.target.is_for_container() && context.needs_gpu() {
        checks.extend(locked_images(context));
        checks.extend(runtime(context));
    }
    if context.in_container() && context.needs_gpu() {
        checks.push(capabilities(context));
        checks.extend(shm(context));
    }
    checks
}

/// What the locked images ask: inside a container it stands in the environment, elsewhere in the catalog.
fn locked_images(context: &CheckContext<'_>) -> Vec<Check> {
    if let Some(one) = context.set_aside(law::IMAGE_REQUIRE) {
        return vec![Check::new("image-require").skip(format!("set aside in gpuenv.toml: {}", one.reason))];
    }
    if context.in_container() {
        let variables = context.record.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let asked = of_environment(variables);
        if !asked.is_empty() {
            let checks = asked.iter().flat_map(|(name, text)| required(context, text, name));
            return checks.map(|check| of_running(context, check)).collect();
        }
    }
    let mut images: Vec<&String> = context.target.image.iter().chain(&context.target.runtime_image).collect();
    images.dedup();
    images.into_iter().flat_map(|reference| of_image(context, reference, false)).collect()
}

/// What this container's own image asks: the container runs and CUDA starts in it, so that its runtime did not look.
fn of_running(context: &CheckContext<'_>, check: Check) -> Check {
    if check.status != Status::Fail || !context.cuda_answers() {
        return check;
    }
    let hint = format!(
        "CUDA starts in this container all the same, for its runtime did not look; what is in it was made for a later \
         driver, and another runtime refuses to start it: {RAISE}"
    );
    check.warn(Action::AskAdmin, hint)
}

/// What one image asks of this host. `alone`: nothing else is judged, so that what nobody knows leaves the question open.
pub fn of_image(context: &CheckContext<'_>, reference: &str, alone: bool) -> Vec<Check> {
    let check = Check::new("image-require").expected(format!("a driver that {reference} starts on"));
    let arch = CpuArch::parse(&context.target.arch).ok();
    let known =
        find(context, reference).zip(arch).and_then(|(row, arch)| demand::requirement(context.catalog, row, arch));
    match known {
        Some(known) => required(context, &known.row.require, reference),
        None if alone => vec![check.unknown(Action::None, unread(context, reference))],
        None => vec![check.skip("what this image requires of the driver is not known")],
    }
}

/// The image of a reference.
fn find<'a>(context: &CheckContext<'a>, reference: &str) -> Option<&'a Image> {
    let (repository, tag) = parts(context, reference)?;
    context.catalog.images.of(repository).iter().find(|row| row.tag == tag)
}

/// The repository and the tag of a reference; which registry it comes from makes no difference.
fn parts<'a, 'r>(context: &CheckContext<'a>, reference: &'r str) -> Option<(&'a str, &'r str)> {
    let reference = reference.split('@').next().unwrap_or(reference);
    let (repository, tag) = reference.rsplit_once(':').filter(|(_, tag)| !tag.contains('/'))?;
    let is_it = |known: &&str| repository == *known || repository.ends_with(&format!("/{known}"));
    Some((context.catalog.images.heads().into_iter().find(is_it)?, tag))
}

/// Why it is not known what an image requires: there is no such tag, or nobody has read it.
fn unread(context: &CheckContext<'_>, reference: &str) -> String {
    let inspect = "see `docker inspect` for its NVIDIA_REQUIRE_CUDA";
    let is_unread = || format!("what this image requires of the driver is not known: {inspect}");
    let is_open = !reference.contains('@') && !reference.rsplit('/').next().is_some_and(|name| name.contains(':'));
    if is_open {
        return format!("tags of one image differ in what they require: name one, `{reference}:TAG`");
    }
    let Some((repository, tag)) = parts(context, reference) else { return is_unread() };
    let catalog = context.catalog;
    match image::tag(catalog, repository, tag) {
        TagMatch::NotThere => image::missing(catalog, repository, tag),
        TagMatch::Unlisted(Some(near)) => {
            let near = &near.tag;
            format!(
                "whether {repository} has a tag `{tag}` is not known; the nearest is `{near}`; if it has, {inspect}"
            )
        }
        TagMatch::Unlisted(None) | TagMatch::Known(_) => is_unread(),
    }
}

/// One requirement, for each GPU as the container runtime would judge it.
fn required(context: &CheckContext<'_>, text: &str, by: &str) -> Vec<Check> {
    let requirement = Requirement::parse(text);
    let shown = match text.split_once(' ') {
        Some((first, _)) => format!("{first} …"),
        None => text.to_string(),
    };
    let driver = context.driver().map(|(driver, _)| driver);
    let cuda = driver_cuda(context);
    let new = || Check::new("image-require").expected(&*shown).evidence(Some(by));
    if driver.is_none() && cuda.is_none() {
        return vec![new().unknown(Action::None, "there is no driver to hold against it")];
    }
    let found = |check: Check| match (driver, &cuda) {
        (Some(driver), Some(cuda)) => check.found(format!("driver {driver}, CUDA {cuda}")),
        (Some(driver), None) => check.found(format!("driver {driver}")),
        (None, cuda) => check.found(format!("CUDA {}", cuda.as_ref().map_or("?", Version::as_str))),
    };
    let gpus = context.gpus();
    let machine = Subjects { cuda: cuda.as_ref(), driver, arch: None, brand: None };
    if gpus.is_empty() {
        return vec![ends(context, found(new()), &starts(&requirement, &machine, None, &[""]))];
    }
    let mut checks: Vec<Check> = Vec::new();
    for gpu in gpus {
        let (brands, cc) = (brands(context, gpu), gpu.cc.and_then(|cc: Cc| Version::parse(&cc.to_string()).ok()));
        let check = ends(context, found(new()).of(&gpu.label), &starts(&requirement, &machine, cc.as_ref(), &brands));
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
    const NEVER: &Version = &Version::of(const { &Written::release("0") });
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

/// What there is to do about an image that asks for a later driver.
const RAISE: &str = "raise the driver, or take an image of an older CUDA";

fn ends(context: &CheckContext<'_>, check: Check, starts: &Result<bool, String>) -> Check {
    let mode = context.record.container.as_ref().and_then(|container| container.mode.as_deref());
    match starts {
        Ok(true) => check.pass(),
        Err(why) => check.unknown(Action::None, why.clone()),
        Ok(false) if mode.is_some_and(|mode| mode.contains("cdi")) => check.warn(
            Action::AskAdmin,
            format!("the container starts, because the runtime's CDI mode does not look; what is in it was made for a later driver: {RAISE}"),
        ),
        Ok(false) => check.fail(Action::AskAdmin, format!("the container runtime refuses to start this image here: {RAISE}")),
    }
}

/// The CUDA version that counts is the driver's own, not that of a cuda-compat.
fn driver_cuda(context: &CheckContext<'_>) -> Option<Version> {
    let told = context.offered().filter(|_| !context.loads_compat()).map(|(cuda, _)| *cuda);
    told.or_else(|| context.catalog.cuda_of(context.driver()?.0).copied())
}

/// The brand that NVML tells, or those that it may tell for the product's market.
fn brands<'a>(context: &CheckContext<'a>, gpu: &Seen<'a>) -> Vec<&'a str> {
    if let Some(brand) = gpu.nvml.and_then(|nvml| nvml.brand.as_deref()) {
        return vec![brand];
    }
    let class = match context.catalog.gpu(gpu.name.unwrap_or_default()) {
        GpuMatch::Found(rows) => rows.first().map(|row| row.class),
        _ => None,
    };
    match image::brands(class) {
        [] => vec![""],
        known => known.to_vec(),
    }
}

/// What hands GPUs to containers on this host.
fn runtime(context: &CheckContext<'_>) -> Vec<Check> {
    if context.in_container() {
        return Vec::new();
    }
    let check = Check::new("container-runtime").expected("a container runtime that hands on GPUs");
    let Some(container) = &context.record.container else {
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
    checks.extend(cdi_of_this_driver(context, container));
    if container.dev_char == Some(false) && container.cgroup_driver.as_deref() == Some("systemd") {
        checks.push(Check::new("container-dev-char").expected("a link in /dev/char for every device node").found("some are missing").warn(
            Action::AskAdmin,
            "running containers lose their GPUs at `systemctl daemon-reload`: `nvidia-ctk system create-dev-char-symlinks --create-all`",
        ));
    }
    checks
}

/// A CDI specification names files of one driver release; after an upgrade they are gone.
fn cdi_of_this_driver(context: &CheckContext<'_>, container: &Container) -> Vec<Check> {
    let of_gpus =
        container.cdi.iter().filter(|cdi| cdi.kind.as_deref().is_none_or(|kind| kind.starts_with("nvidia.com/")));
    let one = |cdi: &crate::host::Cdi| {
        let driver = context.driver().map(|(driver, _)| driver)?;
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
fn capabilities(context: &CheckContext<'_>) -> Check {
    let check = Check::new("container-capabilities").expected("compute and utility");
    let Some(value) = context.variable("NVIDIA_DRIVER_CAPABILITIES") else {
        return check.skip("the container names none");
    };
    let has = |wanted: &str| value.split(',').any(|one| one.trim() == wanted || one.trim() == "all");
    let check = check.found(value);
    // An empty value means the default, which is both.
    if value.trim().is_empty() || has("compute") && has("utility") {
        return check.pass();
    }
    let hint = "start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility";
    let restart = Action::RestartContainer;
    match (has("compute"), context.cuda_answers()) {
        (true, _) => check.warn(restart, format!("CUDA works, NVML and nvidia-smi do not: {hint}")),
        (false, true) => check.warn(
            restart,
            format!("CUDA starts all the same, for something else put its libraries here; elsewhere they are missing: {hint}"),
        ),
        (false, false) => check.fail(restart, format!("CUDA's libraries are not put into the container: {hint}")),
    }
}

fn shm(context: &CheckContext<'_>) -> Option<Check> {
    let size = context.record.platform.shm?;
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
