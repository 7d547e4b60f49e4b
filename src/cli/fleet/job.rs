//! `gpuenv fleet job`: what an existing engine runs on every node. gpuenv schedules nothing itself.

use std::fmt::Write;

use crate::export::{Room, quote, valid};
use crate::report::{Exit, Failure, Report, clean};

use crate::cli::common::Common;
use crate::cli::files;
use crate::cli::output;

use crate::cli::args::fleet::{Engine, JobArgs};

/// What is said at the head of both.
const HEAD: &str =
    "Made by `gpuenv fleet job`: runs `gpuenv probe` on every node and gathers a line of JSON from each.";

/// Runs the command.
pub fn run(common: &Common, args: &JobArgs, report: &Report) -> Result<Exit, Failure> {
    refuse_others(args)?;
    if args.gpuenv.trim().is_empty() {
        let message = "`--gpuenv` is empty: no node could be probed";
        return Err(
            Failure::new(Exit::BadInput, "bad-value", message).help("name the program, or leave the option out")
        );
    }
    let (engine, text) = match args.engine {
        Engine::Slurm => ("slurm", slurm(args)?),
        Engine::Kubernetes => ("kubernetes", kubernetes(common, args)?),
    };
    match output::asked(&args.output, "gpuenv fleet job", args.replace.force, common)? {
        Some(output) => {
            output.write(common, &text, Room::None)?;
            let file = output.name();
            report.saved(&file);
            report.next(&match args.engine {
                Engine::Slurm => format!("sbatch {}", quote::sh_word(&file)),
                Engine::Kubernetes => format!("kubectl apply -f {}", quote::sh_word(&file)),
            });
        }
        None => report.export(engine, &text)?,
    }
    Ok(Exit::Yes)
}

/// Refuses what only another engine has, as formats of exports do.
fn refuse_others(args: &JobArgs) -> Result<(), Failure> {
    let of_slurm =
        [("partition", args.partition.is_some()), ("nodes", args.nodes.is_some()), ("gres", args.gres.is_some())];
    let of_kubernetes = [
        ("image", args.image.is_some()),
        ("namespace", args.namespace.is_some()),
        ("runtime-class", args.runtime_class.is_some()),
    ];
    let (engine, other, others) = match args.engine {
        Engine::Slurm => ("slurm", "kubernetes", of_kubernetes),
        Engine::Kubernetes => ("kubernetes", "slurm", of_slurm),
    };
    let Some((option, _)) = others.into_iter().find(|(_, is_typed)| *is_typed) else { return Ok(()) };
    let message = format!("`gpuenv fleet job {engine}` has no `--{option}`");
    Err(Failure::new(Exit::BadInput, "usage", message)
        .help(format!("leave it out: it is an option of `gpuenv fleet job {other}`")))
}

/// An option, what its values look like, and one of them.
type Asked = (&'static str, fn(&str) -> bool, &'static str);

const PARTITION: Asked = ("--partition", valid::is_list, "gpu");
const GRES: Asked = ("--gres", valid::is_gres, "gpu:h100:8");
const IMAGE: Asked = ("--image", valid::is_image, "registry.example/gpuenv");
const NAMESPACE: Asked = ("--namespace", valid::is_dns_label, "monitoring");
const RUNTIME_CLASS: Asked = ("--runtime-class", valid::is_dns_label, "nvidia");

/// A value that goes where no quotes can: what the engine would refuse, after the queue at the latest, is refused here.
fn plain((option, is_valid, example): Asked, value: &str) -> Result<&str, Failure> {
    if is_valid(value) {
        return Ok(value);
    }
    let message = format!("`{option}` cannot be `{}`", clean(value));
    Err(Failure::new(Exit::BadInput, "bad-value", message).help(format!("write it as in `{option} {example}`")))
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The command on a node: one line with the host's name and its record. A node on which the probe fails
/// has no record, `null`, and does not stop the others.
fn line(args: &JobArgs, name: &str, lock: Option<&str>) -> String {
    let quick = if args.quick { " --quick" } else { "" };
    let lock = lock.map_or(String::new(), |lock| format!(" --lock {lock}"));
    let probe = format!("{} probe --format ndjson{quick}{lock}", quoted(&args.gpuenv));
    format!("printf '{{\"host\":\"%s\",\"record\":%s}}\\n' \"${name}\" \"$({probe} || echo null)\"")
}

/// How many nodes sbatch is to take, as it reads them: `8`, `2-8`, `2,4`, `2-8:2`.
fn node_count(text: &str) -> Result<&str, Failure> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    let is_part = |part: &str| {
        let (range, step) = part.split_once(':').map_or((part, None), |(range, step)| (range, Some(step)));
        let fits = match range.split_once('-') {
            Some((least, most)) => number(least).zip(number(most)).is_some_and(|(least, most)| least <= most),
            None => number(range).is_some(),
        };
        fits && step.is_none_or(|step| number(step).is_some())
    };
    match text.split(',').all(is_part) {
        true => Ok(text),
        false => {
            let message = format!("`--nodes` expects a number of nodes or a range, not `{}`", clean(text));
            Err(Failure::new(Exit::BadInput, "bad-value", message).help("write `--nodes 8` or `--nodes 2-8`"))
        }
    }
}

fn slurm(args: &JobArgs) -> Result<String, Failure> {
    let mut text = format!("#!/bin/bash\n# {HEAD}\n#SBATCH --job-name=gpuenv-fleet\n");
    let nodes = node_count(args.nodes.as_deref().unwrap_or("1"))?;
    let _ = write!(text, "#SBATCH --nodes={nodes}\n#SBATCH --ntasks-per-node=1\n#SBATCH --time=00:10:00\n");
    if let Some(partition) = &args.partition {
        let _ = writeln!(text, "#SBATCH --partition={}", plain(PARTITION, partition)?);
    }
    if let Some(gres) = &args.gres {
        let _ = writeln!(text, "#SBATCH --gres={}", plain(GRES, gres)?);
    }
    let line = quoted(&line(args, "SLURMD_NODENAME", None));
    let _ = write!(
        text,
        "set -u\n\
         folder=\"gpuenv-fleet-$SLURM_JOB_ID\"\n\
         mkdir -p \"$folder\"\n\
         # A file for each task: lines of several nodes never mix, and a node that fails costs its own.\n\
         srun --kill-on-bad-exit=0 --output=\"$folder/%t.ndjson\" --error=\"$folder/%t.err\" bash -c {line}\n\
         {{\n  \
         for file in \"$folder\"/*.ndjson; do [ ! -s \"$file\" ] || {{ cat \"$file\"; echo; }}; done\n  \
         # A node whose task wrote nothing, because it was killed or never began, has no record either.\n  \
         scontrol show hostnames \"$SLURM_JOB_NODELIST\" | while read -r node; do\n    \
         grep -qsF \"{{\\\"host\\\":\\\"$node\\\",\" \"$folder\"/*.ndjson ||\n      \
         printf '{{\"host\":\"%s\",\"record\":null}}\\n' \"$node\"\n  \
         done\n\
         }} >\"$folder.ndjson\"\n\
         find \"$folder\" -empty -delete\n\
         # Then: gpuenv fleet check gpuenv-fleet-JOBID.ndjson\n"
    );
    Ok(text)
}

fn kubernetes(common: &Common, args: &JobArgs) -> Result<String, Failure> {
    let image = args.image.as_deref().ok_or_else(|| {
        Failure::new(Exit::BadInput, "no-image", "a Kubernetes job needs an image that holds gpuenv")
            .help("add `--image IMAGE`")
    })?;
    let image = plain(IMAGE, image)?;
    let place = files::lock_place(common)?;
    let lock = files::lock_text(&place)?.ok_or_else(|| files::missing_lock(common, &place, files::LOCK_FIRST))?;
    let namespace = match &args.namespace {
        Some(name) => format!("  namespace: {}\n", plain(NAMESPACE, name)?),
        None => String::new(),
    };
    let mut text = format!("# {HEAD}\n# Then:\n");
    text += "#   kubectl rollout status daemonset/gpuenv-fleet\n\
             #   kubectl logs --selector=app=gpuenv-fleet --tail=-1 --prefix=false >fleet.ndjson\n\
             #   gpuenv fleet check fleet.ndjson\n\
             #   kubectl delete daemonset/gpuenv-fleet configmap/gpuenv-lock\n";
    let _ = write!(
        text,
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: gpuenv-lock\n{namespace}data:\n  gpuenv.lock: |\n"
    );
    for line in lock.lines() {
        let _ = match line.is_empty() {
            true => writeln!(text),
            false => writeln!(text, "    {line}"),
        };
    }
    // The pod stays, so that its log does, which holds what is said on stderr too.
    let command =
        format!("{{ {}; }} 2>/dev/null; sleep infinity", line(args, "NODE_NAME", Some("/gpuenv/gpuenv.lock")));
    let command = command.replace('\\', "\\\\").replace('"', "\\\"");
    let runtime = plain(RUNTIME_CLASS, args.runtime_class.as_deref().unwrap_or("nvidia"))?;
    let _ = write!(
        text,
        "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata:\n  name: gpuenv-fleet\n{namespace}spec:\n  \
         selector:\n    matchLabels:\n      app: gpuenv-fleet\n  template:\n    metadata:\n      labels:\n        \
         app: gpuenv-fleet\n    spec:\n      runtimeClassName: {runtime}\n      nodeSelector:\n        \
         nvidia.com/gpu.present: \"true\"\n      tolerations:\n        - key: nvidia.com/gpu\n          \
         operator: Exists\n          effect: NoSchedule\n      containers:\n        - name: probe\n          \
         image: {image}\n          command: [\"/bin/sh\", \"-c\", \"{command}\"]\n          env:\n            \
         - name: NODE_NAME\n              valueFrom:\n                fieldRef:\n                  \
         fieldPath: spec.nodeName\n            - name: NVIDIA_VISIBLE_DEVICES\n              value: all\n            \
         - name: NVIDIA_DRIVER_CAPABILITIES\n              value: compute,utility\n          volumeMounts:\n            \
         - name: lock\n              mountPath: /gpuenv\n              readOnly: true\n      volumes:\n        \
         - name: lock\n          configMap:\n            name: gpuenv-lock\n"
    );
    Ok(text)
}
