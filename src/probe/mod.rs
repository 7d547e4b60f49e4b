//! L4, the probes: they look at the machine, each in its own small way, and write down what they saw. They judge
//! nothing: that is [`crate::verify`]'s.
//!
//! Whatever loads a foreign library or runs foreign code does so in a child process with a time limit
//! ([`child`]), because drivers hang, crash and lie; this process never loads one.

mod alone;
pub mod answers;
pub mod calls;
pub mod child;
pub mod compat;
pub mod compilers;
pub mod container;
pub mod context;
pub mod dynamic;
mod environment;
mod files;
mod foreign;
mod group;
pub mod hold;
pub mod kernels;
pub mod libcuda;
pub mod libraries;
pub mod loader;
pub mod module;
pub mod nvml;
mod nvml_health;
mod options;
mod patience;
mod plain;
pub mod platform;
mod program;
pub mod project;
pub mod python;
mod question;
pub mod search_path;
pub mod toolkits;
mod version;
mod work_tree;

use std::time::{Duration, Instant};

use crate::host::{Probe, ProbeStatus, Record, record};

pub use crate::host::curesult;
pub use context::{Depth, ProbeContext, ProbeOptions};
pub use environment::of_child;

use child::Progress;

/// A probe: it looks, and writes what it saw into the record, a [`crate::host::Probe`] of its own included.
pub type Look = fn(context: &ProbeContext, record: &mut Record);

/// A probe that runs in a child: it reads its request, tells what it does and what it learnt.
pub type Inside = fn(request: &str, progress: &mut Progress) -> Result<(), String>;

/// Every probe with the depth from which on it is made, cheapest first. Later ones read what earlier ones wrote.
pub const PROBES: &[(&str, Depth, Look)] = &[
    ("platform", Depth::Quick, platform::look),
    ("module", Depth::Quick, module::look),
    ("nodes", Depth::Quick, module::nodes),
    ("nvml", Depth::Quick, nvml::look),
    ("libcuda", Depth::Quick, alone::look),
    ("toolkits", Depth::Usual, toolkits::look),
    ("compilers", Depth::Usual, compilers::look),
    ("python", Depth::Usual, python::look),
    ("libraries", Depth::Usual, libraries::look),
    (kernels::NAME, Depth::Quick, kernels::look),
    ("container", Depth::Usual, container::look),
    ("torch", Depth::Full, python::look_at_torch),
];

/// Every probe that runs in a child, by the name it is called with.
pub const INSIDE: &[(&str, Inside)] = &[
    ("nodes", module::open),
    ("nvml", nvml::inside),
    ("libcuda", libcuda::inside),
    ("libraries", libraries::inside),
    (kernels::NAME, kernels::inside),
    (hold::NAME, hold::inside),
];

/// The word that makes this program a child: `gpuenv __probe NAME`.
pub const CHILD: &str = "__probe";

/// Looks at the machine as deeply as wished. `now` hears the name of each probe before it begins.
///
/// In the record's texts the user's home is `~`, other homes have no names, and nothing is left that a terminal would obey.
pub fn observe(context: &ProbeContext, mut now: impl FnMut(&str)) -> Record {
    let context = &context.begun();
    let _held = hold::nodes(context);
    let mut record = Record { format: record::FORMAT, ..Record::default() };
    record.probes.extend(silent(context));
    for (name, depth, look) in PROBES {
        if *depth <= context.options.depth {
            now(name);
            looked(context, name, *look, &mut record);
        }
    }
    plain::made_plain(record, context.variable("HOME").and_then(|home| home.to_str()))
}

/// The folders in which nobody can look.
fn silent(context: &ProbeContext) -> Option<Probe> {
    let folders: Vec<String> = context.options.silent.iter().map(|folder| folder.display().to_string()).collect();
    let detail = format!("{}, which the environment names, does not answer", folders.join(", "));
    let probe = |detail| Probe { detail: Some(detail), ..told("folders", ProbeStatus::TimedOut, Instant::now()) };
    (!folders.is_empty()).then(|| probe(detail))
}

/// Makes a look. One that does not come back, because of a file that it reads, costs itself.
fn looked(context: &ProbeContext, name: &str, look: Look, record: &mut Record) {
    let (began, own, mut seen) = (Instant::now(), context.clone(), record.clone());
    let look = move || {
        look(&own, &mut seen);
        seen
    };
    let answer = match context.longest() {
        Some(longest) => answers::within(longest, look),
        None => answers::within_own(IDLE, child::are_there, look),
    };
    match answer {
        Some(seen) => *record = seen,
        None => {
            let detail = Some("a file or folder that it reads does not answer".to_string());
            record.probes.push(Probe { detail, ..told(name, ProbeStatus::TimedOut, began) });
        }
    }
}

/// How long a look may take by itself where nobody waits for it with a watch: children have a limit of their own.
const IDLE: Duration = Duration::from_secs(30);

/// Runs a probe that needs no child, and writes down that it came to its end.
fn ended(record: &mut Record, name: &str, look: impl FnOnce(&mut Record)) {
    let began = Instant::now();
    look(record);
    let millis = Some(began.elapsed().as_millis() as u64);
    record.probes.push(Probe { name: name.to_string(), ended: ProbeStatus::Done, detail: None, millis });
}

/// What is written down of a probe that began then and needed no child.
fn told(name: &str, ended: ProbeStatus, began: Instant) -> Probe {
    Probe { name: name.to_string(), ended, detail: None, millis: Some(began.elapsed().as_millis() as u64) }
}

#[cfg(test)]
mod tests;
