//! What is already there on a machine and does not go with the rest: a flavour of kernel modules, a cuda-compat package, a
//! cuDNN, what an image asks for; and the numbers of Windows' drivers.

use crate::catalog::rows::{Build, Companion, Compat, Subject};
use crate::solve::request::{DriverRequest, TargetRequest};
use crate::solve::rules::Needs;
use crate::solve::{fits, installed, modules, windows};
use crate::types::{Version, distinct};

use super::Explainer;
use super::words::{list, named};

impl<'c> Explainer<'_, 'c> {
    /// The flavour of kernel modules that is written, and who needs the other one.
    pub(super) fn kernel_module(&mut self) {
        let Some(target) = self.target_with("kernel-module").cloned() else { return };
        let Some(flavour) = target.kernel_module else { return };
        let catalog = self.request.catalog;
        self.gpus();
        let mut told: Vec<&str> = Vec::new();
        for gpu in target.named_gpus() {
            for row in modules::refusing(catalog, gpu, flavour) {
                let blamed = row.before.is_none() || self.culprits.contains(&target.key(target.driver_setting()));
                if !blamed || told.contains(&&*row.id) {
                    continue;
                }
                told.push(&row.id);
                self.say(row.says.trim_end_matches('.').to_string());
                self.fact(row.id.to_string(), catalog.source_at(&row.source));
            }
        }
        if told.len() == 1 && modules_need_driver(catalog, told[0]) {
            self.driver_of(&target);
        }
        self.say(format!("target `{}` has the {} kernel modules", target.name, flavour.as_str()));
    }

    /// The cuda-compat that is installed, and why it is refused.
    pub(super) fn compat_installed(&mut self) {
        let Some(target) = self.target_with("compat").cloned() else { return };
        let Some(compat) = target.compat else { return };
        let package = compat.package();
        self.driver_of(&target);
        self.say(format!(
            "{package} is installed, and its libcuda, of driver branch R{}, is newer: it is loaded in place of the driver's",
            compat.branch
        ));
        let refusing = target.named_gpus().iter().find(|gpu| installed::is_refused_by(gpu));
        match (refusing, &target.driver) {
            (Some(gpu), _) => self.say(format!(
                "{} cannot use forward compatibility, which works on data-centre GPUs only: CUDA fails there with error 804",
                gpu.written
            )),
            (None, DriverRequest::Exact(driver)) => {
                let least = installed::least_base(compat, driver).map_or(String::new(), ToString::to_string);
                self.say(format!(
                    "{package} needs driver {least} or newer of branch R{}: below it CUDA fails with error 803",
                    driver.major()
                ));
            }
            _ => {}
        }
        self.fact(format!("cuda-compat {}", compat.cuda), self.request.catalog.source_at(&compat.source));
    }

    /// A cuda-compat package that could do what a driver does not, where NVIDIA does not name the branch of that driver for it.
    pub(super) fn compat_unnamed(&mut self) {
        let blamed = |target: &&TargetRequest<'c>| self.culprits.contains(&target.key("driver"));
        let Some(whole) = self.whole else { return };
        let Some(target) = whole.targets.iter().find(blamed).filter(|target| target.forward_compat) else { return };
        let off = whole.off_for(&target.name);
        let (DriverRequest::Exact(driver), false) = (&target.driver, target.windows_driver) else { return };
        let line = self.left.iter().filter_map(|build| build.line()).min();
        let compats = self.request.catalog.compats.iter();
        let is_of_line = |row: &&Compat| line.is_some_and(|line| row.cuda.cmp_prefix(&line).is_eq());
        let Some(compat) = compats.into_iter().find(is_of_line) else { return };
        let branch = driver.major();
        let is_named = compat.bases.iter().any(|base| base.major() == branch) || compat.branch.major() <= branch;
        if is_named || target.has_system_driver() || !target.machine.may_use_compat(&off) {
            return;
        }
        self.say(format!("NVIDIA does not name R{branch} among the driver branches that {} runs on", compat.package()));
        self.fact(format!("cuda-compat {}", compat.cuda), self.request.catalog.source_at(&compat.source));
    }

    /// The builds that are left and load what the system has.
    pub(super) fn loading(&self) -> Vec<&'c Build> {
        self.left.iter().copied().filter(|build| build.system_cuda).collect()
    }

    /// Which cuDNN of the system builds need, if anybody knows.
    pub(super) fn needs_of_cudnn(&mut self, loading: &[&'c Build]) -> bool {
        let needed = distinct(loading.iter().filter_map(|build| build.cudnn.as_ref()));
        let words: Vec<&str> = needed.iter().map(|version| version.as_str()).collect();
        if !words.is_empty() {
            let need = named(self.request.catalog, loading, "needs", "need");
            self.say(format!("{need} the system's cuDNN {} or a later one of the same major", list(&words)));
        }
        !words.is_empty()
    }

    /// Which CUDA's libraries builds load from the system.
    pub(super) fn loads_of_system(&mut self, loading: &[&'c Build]) {
        let lines = distinct(loading.iter().filter_map(|build| build.line()));
        if !loading.is_empty() {
            let load = named(self.request.catalog, loading, "loads", "load");
            let lines = list(&lines.iter().map(Version::as_str).collect::<Vec<_>>());
            self.say(format!("{load} the libraries of CUDA {lines} from the system"));
        }
    }

    /// The cuDNN that is installed, and what needs another.
    pub(super) fn system_cudnn(&mut self) {
        let Some(target) = self.target_with("cudnn") else { return };
        let Some(has) = target.cudnn else { return };
        let loading = self.loading();
        if !self.needs_of_cudnn(&loading)
            && let Some(wanted) = self.request.cudnn.as_ref()
        {
            self.say(format!("`cudnn = \"{wanted}\"` is required"));
        }
        self.say(format!("cuDNN {has} is installed there"));
        self.cite_builds(&loading);
    }

    /// The CUDA that is installed, and what finds the libraries of another.
    pub(super) fn system_cuda(&mut self) {
        let Some(target) = self.target_with("toolkit") else { return };
        let (Some(installed), arch) = (target.toolkits.clone(), target.arch) else { return };
        let loading = self.loading();
        self.loads_of_system(&loading);
        let problem = self.request.problem;
        let loads = |one: &Companion| {
            let line = one.cuda.map_or_else(String::new, |cuda| format!(" {cuda}"));
            one.system_cuda.then(|| format!("loads the libraries of CUDA{line} from the system"))
        };
        self.companions_say(|row| {
            loads(row).or_else(|| {
                let package = problem.package(&row.package)?;
                let (one, loads) = problem.lacking(package, package.place_of(row)?, arch, |_, one| loads(one))?;
                Some(format!("requires {}, which {loads}", one.package))
            })
        });
        let finds = |row: &Companion| row.system_cuda && fits::finds_cuda(row, &installed);
        let mut asks = self.request.companions.iter().filter(|ask| self.blames(ask.package));
        let is_found = asks.any(|ask| self.asked_releases(ask).any(finds));
        let other = if is_found { "" } else { ", whose libraries have other file names" };
        let installed = list(&installed.iter().map(Version::as_str).collect::<Vec<_>>());
        self.say(format!("CUDA {installed} is installed there{other}"));
        self.cite_builds(&loading);
    }

    /// What is written of an image's requirement.
    pub(super) fn written_requirement(&mut self) -> bool {
        let target = self.target_with("image-requires").cloned();
        let Some((target, text)) = target.and_then(|target| Some((target.clone(), target.image_requires.clone()?)))
        else {
            return false;
        };
        let image = match self.culprits.contains(&target.key("image")) {
            true => "the image",
            false => "its image",
        };
        self.say(format!("target `{}`: {image} starts only where `{}` holds", target.name, short(&text)));
        self.driver_of(&target);
        self.gpus_to(&text);
        true
    }

    /// Which driver of Windows a rule asks for; none for machines with a driver of Linux.
    pub(super) fn windows_floor(&mut self, rule: &Needs<'c>) -> bool {
        let on_windows = self.target().is_some_and(|target| target.windows_driver);
        if !on_windows || (rule.row.subject, rule.row.object) != (Subject::Cuda, Subject::Driver) {
            return false;
        }
        let catalog = self.request.catalog;
        let floor = windows::floor(catalog, rule);
        self.say(windows::says(floor, rule));
        if let Some(row) = floor {
            self.fact(format!("windows-driver {}", row.cuda), catalog.source_at(&row.source));
        }
        self.fact(rule.row.id.to_string(), catalog.source_at(&rule.row.source));
        true
    }

    /// A driver of Windows from before Linux inside it had CUDA.
    pub(super) fn wsl2_cuda(&mut self) {
        let Some(target) = self.target().filter(|target| target.windows_driver) else { return };
        let catalog = self.request.catalog;
        let drivers = target.machine.drivers(self.request.problem);
        let before = drivers.rows.iter().find_map(|row| windows::without_cuda(catalog, &row.version));
        if let Some(sentence) = self.driver_words(target) {
            self.say(sentence);
        }
        if let Some(row) = before {
            self.say(row.says.trim_end_matches('.').to_string());
        }
    }

    fn driver_of(&mut self, target: &TargetRequest<'c>) {
        if let Some(sentence) = self.driver_words(target) {
            self.say(sentence);
        }
    }
}

/// Whether a row about kernel modules speaks of some drivers only.
fn modules_need_driver(catalog: &crate::catalog::Catalog, id: &str) -> bool {
    catalog.modules.iter().any(|row| row.id == id && row.before.is_some())
}

/// The beginning of a requirement, which may name a dozen brands for each of several branches.
fn short(text: &str) -> String {
    const SHOWN: usize = 60;
    let shown: String = text.chars().take(SHOWN).collect();
    let shown = shown.escape_debug().to_string();
    if text.chars().count() > SHOWN { format!("{shown}…") } else { shown }
}
