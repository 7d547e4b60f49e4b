//! `kubernetes`: a manifest whose pods land only on nodes that can run the lock.
//!
//! Nodes are told apart by the labels of GPU feature discovery: compute capability rather than product, whose label
//! changes with MIG and time slicing, and the driver's release, compared as numbers. With `--dra` a resource claim says
//! the same to the driver for dynamic resource allocation.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::lock::{Admitted, Lock, TargetLock};

use super::compose::{self, Origin, SHM};
use super::drivers;
use super::format::{Format, Opt, Options, Render, choose};
use super::{ExportError, images, quote, valid};

/// `gpuenv export kubernetes`
pub const FORMAT: Format = Format {
    name: "kubernetes",
    help: "A Kubernetes manifest that asks for nodes with the locked GPUs and driver",
    file: "gpuenv.yaml",
    options: &[
        Opt {
            name: "kind",
            value: "KIND",
            choices: &["job", "pod", "deployment"],
            help: "What is made [default: job]",
        },
        Opt::value("image", "REF", "Run this image, built from `gpuenv export dockerfile` [default: the locked one]"),
        Opt::value("gpus", "N", "How many GPUs [default: 1]"),
        Opt::value(
            "resource",
            "NAME",
            "The resource to ask for, such as nvidia.com/mig-1g.10gb [default: nvidia.com/gpu]",
        ),
        SHM,
        Opt::value("runtime-class", "NAME", "The runtime class of the GPU nodes, `nvidia` where it is not the default"),
        Opt::switch("dra", "Claim the GPUs by dynamic resource allocation, in place of nvidia.com/gpu"),
    ],
    next,
    merge: None,
    installs: None,
    render: Render::Target(render),
};

/// Without an image of one's own what runs lacks the wheels.
fn next(lock: &Lock, file: &str, options: &Options) -> String {
    match compose::builds(lock, options).then(|| choose(lock, options)) {
        Some(Ok(chosen)) => {
            let commands = chosen.iter().filter_map(|(name, _)| compose::dockerfile_command(lock, name, options).ok());
            let mut commands: Vec<String> = commands.map(|command| format!("`{command}`")).collect();
            commands.dedup();
            format!("build and push {}, then name it here with --image REF", commands.join(" and "))
        }
        _ => format!("kubectl apply -f {file}"),
    }
}

/// The class of NVIDIA's driver for dynamic resource allocation.
const DEVICE_CLASS: &str = "gpu.nvidia.com";
/// What labels of GPU feature discovery begin with.
const DRIVER: &str = "nvidia.com/cuda.driver-version";
const CAPABILITY: &str = "nvidia.com/gpu.compute";
/// The CUDA that the node's driver offers.
const CUDA: &str = "nvidia.com/cuda.runtime-version";

/// How many GPUs: a scheduler counts them.
fn gpus(options: &Options) -> Result<&str, ExportError> {
    valid::option("gpus", options.get("gpus").unwrap_or("1"), valid::is_count, "a number of GPUs")
}

fn render(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<String, ExportError> {
    let app = format!("gpuenv-{}", valid::dns_label(name)?);
    let spec = pod(lock, name, target, options, &app)?;
    let template = json!({ "metadata": { "labels": { "app": app } }, "spec": spec });
    let metadata = json!({ "name": app, "labels": { "app": app } });
    let main = match options.get("kind").unwrap_or("job") {
        "pod" => json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec }),
        "deployment" => json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata,
            "spec": { "replicas": 1, "selector": { "matchLabels": { "app": app } }, "template": template } }),
        _ => json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": metadata,
            "spec": { "backoffLimit": 0, "template": template } }),
    };
    let mut out = "# Written by `gpuenv export kubernetes`; do not edit.\n".to_string();
    if matches!(compose::origin(lock, name, target, options)?, Origin::Build) {
        let _ = write!(
            out,
            "# The image below is the locked one, without what the lock adds: build `{}`, push it, and name\n# it with --image.\n",
            compose::dockerfile_command(lock, name, options)?
        );
    }
    if is_claimed(lock, name, target, options) {
        let claim = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
            "metadata": { "name": app }, "spec": { "spec": { "devices": { "requests": [claim(lock, name, target, options)?] } } } });
        out += &quote::yaml(&claim, 0);
        out += "---\n";
    }
    Ok(out + &quote::yaml(&main, 0))
}

fn is_claimed(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> bool {
    options.has("dra") && lock.uses_gpu(name, target)
}

fn pod(lock: &Lock, name: &str, target: &TargetLock, options: &Options, app: &str) -> Result<Value, ExportError> {
    let image = match compose::origin(lock, name, target, options)? {
        Origin::Image(image) => image,
        Origin::Build => images::to_run(name, target)?,
    };
    let size = compose::shm_size(options)?.to_ascii_uppercase() + "i";
    let mut container = json!({ "name": "main", "image": image,
        "volumeMounts": [{ "name": "shm", "mountPath": "/dev/shm" }] });
    let mut pod = json!({ "volumes": [{ "name": "shm", "emptyDir": { "medium": "Memory", "sizeLimit": size } }] });
    if options.get("kind") != Some("deployment") {
        pod["restartPolicy"] = "Never".into();
    }
    if let Some(class) = options.get("runtime-class") {
        pod["runtimeClassName"] =
            valid::option("runtime-class", class, valid::is_dns_label, "the name of a runtime class")?.into();
    }
    if options.has("dra") && options.get("resource").is_some() {
        let why = "a claim names a class of devices in its place";
        return Err(ExportError::Beside { name: "resource", beside: "--dra", why });
    }
    if is_claimed(lock, name, target, options) {
        pod["resourceClaims"] = json!([{ "name": "gpu", "resourceClaimTemplateName": app }]);
        container["resources"] = json!({ "claims": [{ "name": "gpu" }] });
    } else if lock.uses_gpu(name, target) {
        let resource = options.get("resource").unwrap_or("nvidia.com/gpu");
        let resource =
            valid::option("resource", resource, valid::is_resource, "a name such as nvidia.com/mig-1g.10gb")?;
        container["resources"] = json!({ "limits": { resource: gpus(options)? } });
    }
    pod["containers"] = json!([container]);
    pod["affinity"] = json!({ "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution":
        { "nodeSelectorTerms": terms(lock, name, target)? } } });
    Ok(pod)
}

/// The kinds of nodes that will do, each a list of what must hold.
fn terms(lock: &Lock, name: &str, target: &TargetLock) -> Result<Vec<Value>, ExportError> {
    let is = |key: String, value: &str| json!({ "key": key, "operator": "In", "values": [value] });
    let arch = is("kubernetes.io/arch".into(), valid::cpu_arch(&target.arch)?.docker());
    let drivers = match drivers::admitted(lock, name, target)? {
        None => vec![Vec::new()],
        Some(Admitted::From(minimum, except)) => {
            let mut terms = from(DRIVER, minimum);
            // The first is every later branch.
            if let Some(later) = terms.first_mut().filter(|_| !except.is_empty()) {
                later.push(json!({ "key": format!("{DRIVER}.major"), "operator": "NotIn", "values": except }));
            }
            terms
        }
        Some(Admitted::OfBranches { branches, cuda }) => {
            // The first is every later branch.
            let of_branch = |(least, _)| from(DRIVER, least).into_iter().skip(1);
            branches.into_iter().flat_map(of_branch).chain(from(CUDA, cuda.as_str())).collect()
        }
    };
    let mut terms = Vec::new();
    for capability in valid::capabilities(&target.gpu)? {
        let (major, minor) = (capability.major().to_string(), capability.minor().to_string());
        let gpu = [is(format!("{CAPABILITY}.major"), &major), is(format!("{CAPABILITY}.minor"), &minor)];
        for driver in &drivers {
            let all: Vec<&Value> = [&arch].into_iter().chain(&gpu).chain(driver).collect();
            terms.push(json!({ "matchExpressions": all }));
        }
    }
    if terms.is_empty() {
        for driver in &drivers {
            let all: Vec<&Value> = [&arch].into_iter().chain(driver).collect();
            terms.push(json!({ "matchExpressions": all }));
        }
    }
    Ok(terms)
}

/// `major > 525`, or `major = 525` and `minor > 60`, or both equal and `revision > 12`: labels are compared one by one.
fn from(label: &str, minimum: &str) -> Vec<Vec<Value>> {
    let parts: Vec<u64> = minimum.split('.').filter_map(|part| part.parse().ok()).collect();
    let names = ["major", "minor", "revision"];
    let mut terms = Vec::new();
    for at in 0..parts.len().min(names.len()) {
        let is_last = at + 1 == parts.len().min(names.len());
        let mut all: Vec<Value> = Vec::new();
        for before in 0..at {
            let key = format!("{label}.{}", names[before]);
            all.push(json!({ "key": key, "operator": "In", "values": [parts[before].to_string()] }));
        }
        let key = format!("{label}.{}", names[at]);
        match (is_last, parts[at]) {
            // There is nothing below zero, and no label value begins with a minus.
            (true, 0) => {}
            (true, least) => all.push(json!({ "key": key, "operator": "Gt", "values": [(least - 1).to_string()] })),
            (false, one) => all.push(json!({ "key": key, "operator": "Gt", "values": [one.to_string()] })),
        }
        terms.push(all);
    }
    terms
}

/// A request of a claim. CEL compares semantic versions, which have three numbers and no zeros before them.
fn claim(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<Value, ExportError> {
    let semver = |text: &str| {
        let mut parts: Vec<u64> = text.split('.').filter_map(|part| part.parse().ok()).collect();
        parts.resize(3, 0);
        parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
    };
    let attribute = |name: &str| format!("device.attributes['{DEVICE_CLASS}'].{name}");
    let mut all = Vec::new();
    let each: Vec<String> = valid::capabilities(&target.gpu)?
        .iter()
        .map(|one| format!("{}.compareTo(semver('{}')) == 0", attribute("cudaComputeCapability"), semver(one.as_str())))
        .collect();
    if !each.is_empty() {
        all.push(format!("({})", each.join(" || ")));
    }
    let compared =
        |name: &str, sign: &str, to: &str| format!("{}.compareTo(semver('{}')) {sign} 0", attribute(name), semver(to));
    match drivers::admitted(lock, name, target)? {
        None => {}
        Some(Admitted::From(minimum, except)) => {
            all.push(compared("driverVersion", ">=", minimum));
            for branch in except.iter().filter_map(|branch| branch.parse::<u64>().ok()) {
                let (before, after) = (branch.to_string(), branch.saturating_add(1).to_string());
                let (before, after) =
                    (compared("driverVersion", "<", &before), compared("driverVersion", ">=", &after));
                all.push(format!("({before} || {after})"));
            }
        }
        Some(Admitted::OfBranches { branches, cuda }) => {
            let of_branch = |(least, next): (&str, u64)| {
                let from = compared("driverVersion", ">=", least);
                format!("{from} && {}", compared("driverVersion", "<", &next.to_string()))
            };
            let by_itself = compared("cudaDriverVersion", ">=", cuda.as_str());
            let ways: Vec<String> = branches.into_iter().map(of_branch).chain([by_itself]).collect();
            all.push(format!("({})", ways.join(" || ")));
        }
    }
    let count: u64 = gpus(options)?.parse().unwrap_or(1);
    Ok(json!({ "name": "gpu", "exactly": { "deviceClassName": DEVICE_CLASS, "count": count,
        "selectors": [{ "cel": { "expression": all.join(" && ") } }] } }))
}
