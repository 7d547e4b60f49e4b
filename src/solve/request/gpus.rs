//! The names of GPUs in a spec, looked up.

use crate::catalog::rows::{Class, Gpu};
use crate::catalog::{Catalog, GpuMatch};
use crate::spec::Target;
use crate::types::plain::shorten;
use crate::types::{Cc, CpuArch, distinct};
use crate::warning::GpuArch;

use super::reader::Reader;
use super::{GpuRequest, Gpus};

/// So many products are named where a name may mean several.
const NAMED: usize = 8;

impl<'c> Reader<'_, 'c> {
    /// The GPUs of a target; names that mean nothing, or too much, are errors.
    pub(super) fn gpus(&mut self, target: &Target) -> Gpus<'c> {
        let Some(written) = &target.gpu else { return Gpus::Unsaid };
        let mut found: Vec<GpuRequest> = Vec::new();
        let catalog = self.catalog;
        let mut add = |written: &str, name: String, cc: Cc, row: Option<&'c Gpu>| {
            let is_instance = catalog.is_instance(written);
            let is_it = |known: &GpuRequest| (&known.name, known.cc, known.is_instance) == (&name, cc, is_instance);
            // What nvidia-smi prints, with the maker's name or without, is a board, whatever family has the same name.
            let maker = |name: &str| name.to_lowercase().trim_start_matches("nvidia ").to_string();
            let is_named = maker(&name) == maker(written);
            match found.iter_mut().find(|known| is_it(known)) {
                Some(known) => known.is_named |= is_named,
                None => {
                    let (cc_version, written) = (cc.version(), written.escape_debug().to_string());
                    found.push(GpuRequest { name, written, is_named, cc, cc_version, row, is_instance });
                }
            }
        };
        for name in &written.value {
            let (code, message, help) = match self.catalog.gpu(name) {
                GpuMatch::Found(rows) => {
                    rows.into_iter().for_each(|row| add(name, row.name.to_string(), row.cc, Some(row)));
                    continue;
                }
                GpuMatch::Bare(cc) if self.catalog.knows_capability(cc) => {
                    add(name, format!("sm_{}", cc.number()), cc, None);
                    continue;
                }
                GpuMatch::Cpu => return Gpus::Cpu,
                GpuMatch::Bare(cc) => self.unknown_capability(cc),
                GpuMatch::Ambiguous(candidates) => ambiguous(self.catalog, name, candidates),
                GpuMatch::Unknown => self.unknown_gpu(name),
            };
            self.error(code, message, Some(help), written);
        }
        found.sort_unstable_by(|a, b| (a.cc, &a.name).cmp(&(b.cc, &b.name)));
        Gpus::These(found)
    }

    /// The processor that comes with the GPUs: with a board, or with every board of a capability that is named alone.
    pub(super) fn implied_cpu(&self, gpus: &Gpus<'_>) -> Option<CpuArch> {
        let Gpus::These(gpus) = gpus else { return None };
        gpus.iter().find_map(|gpu| match gpu.row {
            Some(row) => row.cpu,
            None => self.catalog.cpu_of(gpu.cc),
        })
    }

    /// Tells of GPUs that stand in machines of either processor beside one that decides it.
    pub(super) fn one_processor(&mut self, target: &Target, implied: Option<CpuArch>, gpus: &Gpus<'_>) {
        let (Some(arch), None, Gpus::These(all)) = (implied, &target.arch, gpus) else { return };
        let brings = |gpu: &&GpuRequest<'_>| gpu.row.is_some_and(|row| row.cpu.is_some());
        let stands_alone = |gpu: &&GpuRequest<'_>| gpu.row.is_some_and(|row| row.cpu.is_none());
        if let (Some(gpu), Some(other)) = (all.iter().find(brings), all.iter().find(stands_alone)) {
            let (gpu, other) = (&*gpu.name, &*other.name);
            let warning = GpuArch { target: &target.name, gpu, arch: arch.as_str(), other };
            self.warn(&warning, format!("target.{}.gpu", target.name));
        }
    }

    fn unknown_capability(&self, cc: Cc) -> (&'static str, String, String) {
        let newest = self.catalog.gpus.iter().map(|gpu| gpu.cc).max();
        let help = match newest.filter(|newest| cc < *newest) {
            // Of a generation that is known nothing is to be expected of a newer gpuenv.
            Some(_) => {
                let around = |of: &Cc| of.major == cc.major;
                let known = distinct(self.catalog.gpus.iter().map(|gpu| gpu.cc).filter(around));
                let known: Vec<String> = known.iter().map(Cc::to_string).collect();
                let known = if known.is_empty() { String::new() } else { format!("known are {}; ", known.join(", ")) };
                format!("{known}an overlay can describe the product")
            }
            None => {
                let newest = newest.map_or_else(String::new, |newest| format!("the newest known is {newest}; "));
                format!("{newest}a newer gpuenv may know it, and an overlay can describe the product")
            }
        };
        ("unknown-gpu", format!("no GPU of compute capability {cc} is known"), help)
    }

    fn unknown_gpu(&self, name: &str) -> (&'static str, String, String) {
        // `sm_` and what is no number: no product is meant.
        if name.get(..3).is_some_and(|begin| begin.eq_ignore_ascii_case("sm_")) {
            let help = "write it as in `gpu = \"sm_90\"`, for X.Y of `nvidia-smi --query-gpu=compute_cap --format=csv`";
            let message = format!("`{}` is not a compute capability", name.escape_debug());
            return ("unknown-gpu", message, help.to_string());
        }
        // CMake's spelling of a capability.
        let of_number = |gpu: &&Gpu| gpu.cc.number().to_string() == name;
        if self.catalog.gpus.iter().any(|gpu| of_number(&gpu)) {
            let (message, help) = (format!("unknown GPU `{name}`"), format!("write `gpu = \"sm_{name}\"`"));
            return ("unknown-gpu", message, help);
        }
        // What was meant is looked for among all names: whoever has written so many wrong has a list of his own.
        let suggestions = if self.is_asked_what_was_meant() { self.catalog.near_gpus(name) } else { Vec::new() };
        let near = match &suggestions[..] {
            [] => String::new(),
            names => format!("did you mean {}?\n", names.join(" or ")),
        };
        let help = match (self.catalog.without_cuda(name), self.of_generation(name)) {
            (Some(reason), _) => reason.to_string(),
            (None, Some(capabilities)) => {
                format!("this is a generation: name a product of it, or a compute capability: {capabilities}")
            }
            (None, None) => format!("{near}{}", self.by_capability(name, suggestions.first())),
        };
        ("unknown-gpu", format!("unknown GPU `{}`", name.escape_debug()), help)
    }

    /// The capabilities of a generation of GPUs, as `gpu` takes them.
    fn of_generation(&self, name: &str) -> Option<String> {
        let first = |text: &str| text.split_whitespace().next().unwrap_or_default().to_lowercase();
        let is_of = |gpu: &&Gpu| first(&gpu.architecture) == first(name);
        let capabilities = distinct(self.catalog.gpus.iter().filter(is_of).map(|gpu| gpu.cc));
        let written: Vec<String> = capabilities.iter().map(|cc| format!("`gpu = \"sm_{}\"`", cc.number())).collect();
        (!written.is_empty()).then(|| written.join(", "))
    }

    /// How a GPU that the catalog lacks is named, shown with what was likely meant if it has the same number, or all boards of
    /// its family with a near one have its capability: a number between two others may be of either's, and one with a letter,
    /// `865M`, of any chip of its years.
    fn by_capability(&self, name: &str, near: Option<&&str>) -> String {
        let row = near.and_then(|near| self.catalog.gpus.iter().find(|gpu| *gpu.name == **near));
        let row = row.filter(|gpu| {
            let (meant, near) = (number(name), number(&gpu.name));
            let is_plain = meant.is_some_and(|meant| meant.bytes().all(|byte| byte.is_ascii_digit()));
            let count = |near: &str| if is_plain { near.chars().count() - 1 } else { 2 };
            let begin: String = near.map_or(String::new(), |near| near.chars().take(count(near)).collect());
            let is_alike = |other: &&Gpu| {
                let of_it = number(&other.name).is_some_and(|number| number.starts_with(begin.as_str()));
                of_it && family(&other.name) == family(&gpu.name)
            };
            let alike = || self.catalog.gpus.iter().filter(is_alike);
            is_near(meant, near) && (meant == near || alike().all(|other| other.cc == gpu.cc))
        });
        match row {
            Some(gpu) => format!(
                "any GPU can be named by its compute capability: `gpu = \"sm_{}\"` is that of {}",
                gpu.cc.number(),
                gpu.name
            ),
            None => "any GPU can be named by its compute capability, which `nvidia-smi --query-gpu=compute_cap \
                     --format=csv` shows: X.Y is written `gpu = \"sm_XY\"`"
                .to_string(),
        }
    }
}

/// The number in a name, `3090` of `RTX 3090`, `A100` of `A100-SXM-64GB`.
fn number(name: &str) -> Option<&str> {
    name.split([' ', '-']).find(|word| word.contains(|c: char| c.is_ascii_digit()))
}

/// What stands before it, `GeForce RTX`.
fn family(name: &str) -> Option<&str> {
    name.trim_start_matches("NVIDIA ").split_once(number(name)?).map(|(family, _)| family)
}

/// Whether two numbers are of one generation, which the first characters tell: `30` of `3090`, `b3` of `B300`.
fn is_near(one: Option<&str>, other: Option<&str>) -> bool {
    let begin = |number: &str| number.chars().take(2).flat_map(char::to_lowercase).collect::<String>();
    one.zip(other).is_some_and(|(one, other)| begin(one) == begin(other))
}

/// A name that may mean several products: one of each kind is named, since what they differ in is what the user has to say.
fn ambiguous(catalog: &Catalog, name: &str, candidates: Vec<&Gpu>) -> (&'static str, String, String) {
    let mut kinds = candidates;
    let unlike = |gpu: &Gpu| !gpu.name.to_lowercase().contains(&name.to_lowercase());
    kinds.sort_unstable_by_key(|gpu| (gpu.cc, gpu.class, unlike(gpu), gpu.name.len(), gpu.name));
    kinds.dedup_by_key(|gpu| (gpu.cc, gpu.class));
    let listed: Vec<String> = kinds.iter().map(|gpu| named_among(catalog, gpu, &kinds)).collect();
    let message = format!("`{}` is ambiguous: GPUs of that name differ", name.escape_debug());
    let capability = kinds.first().map_or(0, |gpu| gpu.cc.number());
    let help = match name.ends_with("...") {
        true => "nvidia-smi cuts names off in its table: `nvidia-smi -L` prints them whole".to_string(),
        false => format!("name one of: {}; or write a capability such as \"sm_{capability}\"", shorten(&listed, NAMED)),
    };
    ("ambiguous-gpu", message, help)
}

/// A product as it can be written beside others: by its capability where its name would be as ambiguous; with its market
/// where that is what parts it from one of the same capability.
fn named_among(catalog: &Catalog, gpu: &Gpu, others: &[&Gpu]) -> String {
    let is_datacenter = |gpu: &Gpu| gpu.class == Class::Datacenter;
    let market = match others.iter().any(|other| other.cc == gpu.cc && is_datacenter(other) != is_datacenter(gpu)) {
        true if is_datacenter(gpu) => ", for data centres",
        true => ", for workstations and desktops",
        false => "",
    };
    match catalog.gpu(&gpu.name) {
        GpuMatch::Found(_) => format!("{} ({}, {}{market})", gpu.name, gpu.cc, gpu.architecture),
        _ => format!("sm_{} ({} of {})", gpu.cc.number(), gpu.name, gpu.architecture),
    }
}
