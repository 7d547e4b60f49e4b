//! The machines that targets ask for, each compiled once: what it refuses of drivers, toolkits and images.
//!
//! Targets that read the same are one machine: a thousand equal hosts cost what one does.

use std::cell::{OnceCell, RefCell};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::catalog::rows::{Class as Market, Compat, Os, Subject, Toolkit};
use crate::coverage::{Coverage, covers};
use crate::spec::{KernelModule, Runtime};
use crate::types::{ArchList, CpuArch, Version};

use super::driver::Drivers;
use super::fits;
use super::image::DemandKey;
use super::platform::Platform;
use super::problem::{Framework, Needs, Problem, RuleId, law};
use super::release::Release;
use super::request::{DriverRequest, GpuRequest, Gpus, ImageRequest, Request, TargetRequest};
use super::rowset::RowSet;

/// A target's lines as values, with every name looked up.
#[derive(Debug, Clone)]
pub struct Reading<'c> {
    /// Where the stack runs.
    pub runtime: Runtime,
    /// The CPU architecture: as written, else what a product implies, else x86_64.
    pub arch: CpuArch,
    /// The kind of machine it is to wheels.
    pub platform: Platform<'c>,
    /// The GPUs.
    pub gpus: Gpus<'c>,
    /// The driver.
    pub driver: DriverRequest,
    /// The OS of the machine or image.
    pub os: Option<&'c Os>,
    /// Of the systems that are one to the catalog the one whose images are meant, where `os` names it: `ubi9`.
    pub image_os: Option<&'c str>,
    /// The C library of the machine or image: as written, else what the OS implies.
    pub glibc: Option<Version>,
    /// The host compiler: as written, else what the OS implies.
    pub gcc: Option<Version>,
    /// The host compiler where it is clang; then no gcc is asked.
    pub clang: Option<Version>,
    /// Toolkits installed there.
    pub toolkits: Option<Vec<Version>>,
    /// A cuDNN that is installed there.
    pub cudnn: Option<Version>,
    /// A cuda-compat package that is installed there.
    pub compat: Option<&'c Compat>,
    /// The flavour of kernel modules that is installed there.
    pub kernel_module: Option<KernelModule>,
    /// What the image asks for in NVIDIA_REQUIRE_CUDA, where that is written.
    pub image_requires: Option<Rc<str>>,
    /// Whether its driver is that of Windows, as under WSL2.
    pub windows_driver: bool,
    /// The image.
    pub image: ImageRequest<'c>,
    /// Whether forward compatibility may be used.
    pub forward_compat: bool,
}

impl Reading<'_> {
    /// Everything the solver looks at: not how GPUs are written, but which they are. A field that is not told here makes
    /// one machine of two.
    fn identity(&self) -> impl PartialEq + Hash + '_ {
        let Reading {
            runtime,
            arch: _, // The platform's.
            platform,
            gpus,
            driver,
            os,
            image_os,
            glibc,
            gcc,
            clang,
            toolkits,
            cudnn,
            compat,
            kernel_module,
            image_requires,
            windows_driver,
            image,
            forward_compat,
        } = self;
        let gpus: (u8, Vec<(&str, _)>) = match gpus {
            Gpus::Unsaid => (0, Vec::new()),
            Gpus::Cpu => (1, Vec::new()),
            Gpus::These(gpus) => (2, gpus.iter().map(|gpu| (gpu.name.as_str(), gpu.cc)).collect()),
        };
        let image = match image {
            ImageRequest::No => (0, None, None),
            ImageRequest::Choose(repository) => (1, Some(repository), None),
            ImageRequest::Known(image) => (2, None, Some(std::ptr::from_ref(*image))),
            ImageRequest::NoSuchTag(_) => (3, None, None),
            ImageRequest::Unchecked(_) | ImageRequest::UnseenTag(..) => (4, None, None),
        };
        let host = (os.map(|os| &*os.id), image_os, glibc, gcc, clang, toolkits, cudnn);
        let beneath = (driver, windows_driver, compat.map(|compat| compat.cuda), kernel_module, image_requires);
        (runtime, platform, gpus, beneath, host, image, forward_compat)
    }
}

impl PartialEq for Reading<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Reading<'_> {}

impl Hash for Reading<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

/// A GPU of a machine, one for each kind that rules can tell apart, and the rules that speak of it.
#[derive(Debug, Clone)]
pub struct GpuKind<'c> {
    /// The GPU.
    pub gpu: GpuRequest<'c>,
    /// What it needs of a CUDA line.
    pub cuda: Vec<Rc<Needs<'c>>>,
    /// What it needs of a driver.
    pub driver: Vec<Rc<Needs<'c>>>,
    /// The rules that keep some cuDNN releases from it.
    pub cudnn: Vec<Rc<Needs<'c>>>,
}

/// The rows of a table that rules refuse, each rule by itself: what is left depends on which rules are set aside.
#[derive(Debug, Default)]
pub struct Refusals {
    /// Refused by what no rule carries.
    pub always: RowSet,
    /// Refused by rules.
    pub by_rule: Vec<(RuleId, RowSet)>,
}

impl Refusals {
    /// Adds what a rule refuses, if it refuses anything.
    pub fn add(&mut self, rule: RuleId, refused: RowSet) {
        if !refused.is_empty() {
            self.by_rule.push((rule, refused));
        }
    }

    /// Takes out of some rows those that are refused while some rules are set aside.
    pub fn apply(&self, rows: &mut RowSet, off: &RowSet) {
        rows.subtract(&self.always);
        for (_, refused) in self.by_rule.iter().filter(|(rule, _)| !off.has(*rule)) {
            rows.subtract(refused);
        }
    }
}

/// What a CUDA line needs of a driver, and a JIT beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DriverNeed {
    /// No GPU is used.
    Nothing,
    /// A CUDA line, and the PTX ISA that the driver has to compile: `Some(None)` where nobody knows which.
    Line(Version, Option<Option<Version>>),
}

/// What the releases of a framework need of a driver: few kinds of needs, and the releases of each.
#[derive(Debug)]
pub struct ReleaseNeeds {
    of_row: Vec<usize>,
    /// The needs, each with the releases that have it.
    pub kinds: Vec<(DriverNeed, RowSet)>,
}

impl ReleaseNeeds {
    /// What a release needs.
    pub fn of(&self, row: usize) -> DriverNeed {
        self.kinds[self.of_row[row]].0
    }
}

/// A machine, and what was found out about it.
#[derive(Debug)]
pub struct Machine<'c> {
    /// Its number: machines that read the same have the same.
    pub id: usize,
    /// What it is.
    pub reading: Reading<'c>,
    /// The GPUs that it names, one for each kind that rules can tell apart.
    pub kinds: Vec<GpuKind<'c>>,
    /// The rules that its host compiler or C library breaks.
    pub host: Vec<Rc<Needs<'c>>>,
    drivers: OnceCell<Drivers<'c>>,
    of_need: RefCell<FxHashMap<DriverNeed, Rc<Refusals>>>,
    of_releases: RefCell<FxHashMap<&'c str, Rc<ReleaseNeeds>>>,
    of_image: RefCell<FxHashMap<DemandKey<'c>, Rc<RowSet>>>,
    toolkits: RefCell<FxHashMap<Option<String>, Rc<Refusals>>>,
    extensions: RefCell<FxHashMap<(u64, usize, bool), Rc<Refusals>>>,
}

impl<'c> Machine<'c> {
    pub(super) fn new(problem: &Problem<'c>, id: usize, reading: Reading<'c>) -> Self {
        let kinds = gpu_kinds(problem, &reading);
        let parts = [(Subject::Glibc, reading.glibc), (Subject::Gcc, reading.gcc)];
        let known = parts.into_iter().filter_map(|(object, has)| Some((object, has?)));
        let host = known.flat_map(|(object, has)| problem.rules.breaking(object, has)).collect();
        Machine {
            id,
            reading,
            kinds,
            host,
            drivers: OnceCell::new(),
            of_need: RefCell::default(),
            of_releases: RefCell::default(),
            of_image: RefCell::default(),
            toolkits: RefCell::default(),
            extensions: RefCell::default(),
        }
    }

    /// The drivers it may have.
    pub fn drivers(&self, problem: &Problem<'c>) -> &Drivers<'c> {
        self.drivers.get_or_init(|| Drivers::new(problem, self))
    }

    /// The drivers on which something does not run.
    pub fn refused_by(&self, problem: &Problem<'c>, need: DriverNeed) -> Rc<Refusals> {
        if let Some(known) = self.of_need.borrow().get(&need) {
            return known.clone();
        }
        let refusals = Rc::new(self.drivers(problem).refused_by(problem, need));
        self.of_need.borrow_mut().insert(need, refusals.clone());
        refusals
    }

    /// What each release of a framework needs of a driver, for every GPU.
    pub fn needs_of(&self, framework: &Framework<'c>) -> Rc<ReleaseNeeds> {
        if let Some(known) = self.of_releases.borrow().get(framework.package) {
            return known.clone();
        }
        let mut needs = ReleaseNeeds { of_row: Vec::new(), kinds: Vec::new() };
        for (row, release) in framework.releases.iter().enumerate() {
            let need = self.need_of(release);
            let kind = needs.kinds.iter().position(|(known, _)| *known == need).unwrap_or_else(|| {
                needs.kinds.push((need, RowSet::default()));
                needs.kinds.len() - 1
            });
            needs.kinds[kind].1.insert(row);
            needs.of_row.push(kind);
        }
        let needs = Rc::new(needs);
        self.of_releases.borrow_mut().insert(framework.package, needs.clone());
        needs
    }

    fn need_of(&self, release: &Release<'c>) -> DriverNeed {
        release.line.map_or(DriverNeed::Nothing, |line| {
            let jits = self.compiles_ptx_of(release);
            DriverNeed::Line(line, jits.then(|| release.ptx_isa(self.reading.platform)))
        })
    }

    /// Whether some GPU is reached by a release's PTX only.
    fn compiles_ptx_of(&self, release: &Release<'c>) -> bool {
        let platform = self.reading.platform;
        let Some(build) = release.on(platform).filter(|build| !build.ptx.is_empty()) else { return false };
        let toolkit = release.toolkit(platform);
        self.kinds.iter().any(|kind| fits::coverage(build, toolkit, kind.gpu.cc) == Some(Coverage::Jit))
    }

    /// What code that a toolkit compiles needs of a driver.
    pub fn need_of_toolkit(&self, toolkit: &Toolkit, list: Option<&ArchList>) -> DriverNeed {
        let tegra = fits::tegra(Some(toolkit));
        let jits =
            list.is_some_and(|list| self.kinds.iter().any(|kind| covers(list, kind.gpu.cc, tegra) == Coverage::Jit));
        DriverNeed::Line(toolkit.version.prefix(2), jits.then_some(Some(toolkit.ptx_isa)))
    }

    /// The drivers on which an image does not start.
    pub fn refused_by_image(&self, problem: &Problem<'c>, key: DemandKey<'c>) -> Rc<RowSet> {
        if let Some(known) = self.of_image.borrow().get(&key) {
            return known.clone();
        }
        let drivers = self.drivers(problem);
        let starts = super::image::starts_on(problem, self, key);
        let refused = Rc::new(RowSet::filter(drivers.rows.len(), |row| !starts(&drivers.rows[row])));
        self.of_image.borrow_mut().insert(key, refused.clone());
        refused
    }

    /// The toolkits that cannot compile for this machine, whatever else is chosen.
    pub fn refused_toolkits(&self, problem: &Problem<'c>, list: Option<&ArchList>) -> Rc<Refusals> {
        let key = list.map(ArchList::torch);
        if let Some(known) = self.toolkits.borrow().get(&key) {
            return known.clone();
        }
        let refusals = Rc::new(fits::refused_toolkits(problem, self, list));
        self.toolkits.borrow_mut().insert(key, refusals.clone());
        refusals
    }

    /// The toolkits with which extensions of a release are not built; `listed` where an architecture list is insisted on.
    pub fn refused_extensions(&self, problem: &Problem<'c>, release: &Release<'c>, listed: bool) -> Rc<Refusals> {
        let Some(line) = &release.line else { return Rc::default() };
        let known = release.extension.map_or(0, |known| std::ptr::from_ref(known).addr());
        let key = (line.major(), known, listed);
        if let Some(known) = self.extensions.borrow().get(&key) {
            return known.clone();
        }
        let refusals = Rc::new(fits::refused_extensions(problem, self, release, line, listed));
        self.extensions.borrow_mut().insert(key, refusals.clone());
        refusals
    }

    /// Whether no rule about its GPUs refuses a cuDNN release.
    pub fn takes_cudnn(&self, cudnn: &Version, off: &RowSet) -> bool {
        let refuses = |rule: &Rc<Needs<'c>>| !off.has(rule.id) && rule.range.admits(cudnn);
        !self.kinds.iter().any(|kind| kind.cudnn.iter().any(refuses))
    }

    /// Whether no rule about its GPUs refuses a CUDA line.
    pub fn takes_line(&self, line: &Version, off: &RowSet) -> bool {
        let refuses = |rule: &Rc<Needs<'c>>| !off.has(rule.id) && !rule.needs.admits(line);
        !self.kinds.iter().any(|kind| kind.cuda.iter().any(refuses))
    }

    /// Whether cuda-compat may run on its GPUs.
    pub fn may_use_compat(&self, off: &RowSet) -> bool {
        !self.kinds.is_empty()
            && self.kinds.iter().all(|kind| kind.gpu.is_datacenter())
            && !off.has(law::id::FORWARD_COMPAT)
    }
}

/// What rules can tell products of one capability apart by.
fn kind<'a>(gpu: &'a GpuRequest<'_>) -> Option<(Market, Option<&'a Version>)> {
    gpu.row.map(|row| (row.class, row.first_driver.as_ref()))
}

/// The GPUs that a machine names, one for each kind that rules can tell apart, with every rule that speaks of them.
fn gpu_kinds<'c>(problem: &Problem<'c>, reading: &Reading<'c>) -> Vec<GpuKind<'c>> {
    let mut kinds: Vec<GpuKind> = Vec::new();
    for gpu in reading.named_gpus() {
        if kinds.iter().any(|known| known.gpu.cc == gpu.cc && kind(&known.gpu) == kind(gpu)) {
            continue;
        }
        let about = |object| {
            let rules = problem.rules.shared().filter(|rule| rule.is_between(Subject::Gpu, object));
            rules.filter(|rule| rule.range.admits(&gpu.cc_version)).cloned().collect()
        };
        let of_cudnn = problem.rules.shared().filter(|rule| rule.is_between(Subject::Cudnn, Subject::Gpu));
        let cudnn = of_cudnn.filter(|rule| !rule.needs.admits(&gpu.cc_version)).cloned().collect();
        kinds.push(GpuKind { gpu: gpu.clone(), cuda: about(Subject::Cuda), driver: about(Subject::Driver), cudnn });
    }
    kinds
}

/// The GPUs that a target names, one for each kind that rules can tell apart, with the rules about them that hold.
pub fn gpu_rules<'c>(request: &Request<'c>, target: &TargetRequest<'c>) -> Vec<GpuKind<'c>> {
    let holds = |rules: &[Rc<Needs<'c>>]| -> Vec<Rc<Needs<'c>>> {
        rules.iter().filter(|rule| request.holds(&rule.row.id, &target.name)).cloned().collect()
    };
    let kinds = target.machine.kinds.iter();
    kinds
        .map(|kind| GpuKind {
            gpu: kind.gpu.clone(),
            cuda: holds(&kind.cuda),
            driver: holds(&kind.driver),
            cudnn: holds(&kind.cudnn),
        })
        .collect()
}
