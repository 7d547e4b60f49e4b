//! What is said of drivers, and of the cuda-compat packages beside them.

use crate::types::{Constraint, Version};

use super::Kind;

/// A cuda-compat package that the answer does not rest on.
pub enum CompatInstalled<'a> {
    /// The catalog does not know it.
    Unknown {
        /// Its CUDA.
        cuda: &'a Version,
    },
    /// Windows has no forward compatibility.
    Wsl2 {
        /// The package.
        package: &'a str,
    },
    /// The driver is as new.
    NotLoaded {
        /// The package.
        package: &'a str,
        /// The driver.
        driver: &'a Version,
        /// Whether it is in a container.
        in_container: bool,
    },
    /// NVIDIA does not name the driver's branch.
    Branch {
        /// The package.
        package: &'a str,
        /// The branch.
        branch: u64,
    },
    /// It is not known whether the GPU takes it.
    Gpu {
        /// The package.
        package: &'a str,
        /// The driver.
        driver: &'a Version,
        /// The GPU.
        gpu: &'a str,
    },
}

impl Kind for CompatInstalled<'_> {
    const CODE: &'static str = "compat-installed";

    fn message(&self) -> String {
        match self {
            CompatInstalled::Unknown { cuda } => format!(
                "no cuda-compat package of CUDA {cuda} is in the catalog: whether its libcuda is loaded was not checked"
            ),
            CompatInstalled::Wsl2 { package } => {
                format!("forward compatibility does not exist under WSL2: {package} is not counted on")
            }
            CompatInstalled::NotLoaded { package, driver, in_container } => {
                let so = match in_container {
                    true => {
                        "the container toolkit does not use it; a library path that names it makes CUDA fail (error 803)"
                    }
                    false => "remove it: a library path that names it makes CUDA fail (error 803)",
                };
                format!("driver {driver} is as new as {package} or newer: {so}")
            }
            CompatInstalled::Branch { package, branch } => {
                format!(
                    "NVIDIA does not name branch R{branch} among those that {package} runs on, where it may find no GPU: remove \
                     it, or take a driver of another branch"
                )
            }
            CompatInstalled::Gpu { package, driver, gpu } => format!(
                "{package} is newer than driver {driver}, so its libcuda is loaded; whether {gpu} takes it is not known, and \
                 the answer counts on the driver alone"
            ),
        }
    }
}

/// Later branches that are admitted and no longer drive the GPU.
pub struct DriverDropsGpu<'a> {
    /// The first of them.
    pub branch: &'a Version,
    /// What is written.
    pub admitted_by: &'a Constraint,
    /// The GPU.
    pub gpu: &'a str,
}

impl Kind for DriverDropsGpu<'_> {
    const CODE: &'static str = "driver-drops-gpu";

    fn message(&self) -> String {
        format!(
            "branch R{} and newer, which `{}` admits, no longer support {}",
            self.branch, self.admitted_by, self.gpu
        )
    }
}

/// A driver that the kernel which comes with the system does not load.
pub struct DriverKernel<'a> {
    /// The driver.
    pub driver: &'a Version,
    /// The newest branch that the kernel loads.
    pub newest: &'a Version,
    /// The system.
    pub os: &'a str,
    /// The line of its kernel.
    pub kernel: &'a Version,
    /// What drivers need.
    pub says: &'a str,
}

impl Kind for DriverKernel<'_> {
    const CODE: &'static str = "driver-kernel";

    fn message(&self) -> String {
        let DriverKernel { driver, newest, os, kernel, says } = self;
        format!(
            "{says}, and {os} comes with Linux {kernel}: driver {driver} cannot be installed on it, and R{newest} is the newest \
             branch that can; install a newer kernel there, or a newer system"
        )
    }
}

/// Branches of which none is supported any more.
pub struct DriverEndOfLife<'a> {
    /// The first and the last of them, which may be the same.
    pub branches: (&'a Version, &'a Version),
    /// The day on which the last of their supports ended.
    pub end: &'a str,
    /// The branch to move to, and the day its support ends.
    pub next: Option<(&'a Version, Option<&'a str>)>,
    /// The GPU that no later branch drives, where that is why.
    pub last_for: Option<&'a str>,
}

impl Kind for DriverEndOfLife<'_> {
    const CODE: &'static str = "driver-end-of-life";

    fn message(&self) -> String {
        let (first, last) = self.branches;
        let next = self.next.map_or_else(String::new, |(branch, end)| {
            let until = end.map_or_else(String::new, |end| format!(", supported until {end}"));
            format!("; consider R{branch}{until}")
        });
        let end = self.end;
        match first == last {
            true => {
                let last_for = self.last_for.map_or_else(String::new, |gpu| format!(", the last that drives {gpu},"));
                format!("support of driver branch R{last}{last_for} ended {end}{next}")
            }
            false => format!("support of driver branches R{first} to R{last} has ended, the last on {end}{next}"),
        }
    }
}

/// A policy that no branch fits.
pub struct DriverPolicyUnmet<'a> {
    /// The target.
    pub target: &'a str,
    /// The kinds of branches that it admits.
    pub kinds: &'a str,
}

impl Kind for DriverPolicyUnmet<'_> {
    const CODE: &'static str = "driver-policy";

    fn message(&self) -> String {
        format!(
            "no {} driver branch in support drives target `{}` and runs its stack, so none is recommended",
            self.kinds, self.target
        )
    }
}

/// A driver that the catalog does not list.
pub enum DriverNotListed<'a> {
    /// A release of a known branch that is none of those known.
    Release {
        /// What is written.
        version: &'a Version,
        /// Those of its branch that are next to it: the older one, and the newer one.
        beside: (Option<&'a Version>, Option<&'a Version>),
        /// Whether drivers for Windows have such numbers.
        of_windows: bool,
    },
    /// A release of a branch that is not known.
    Branch {
        /// What is written.
        version: &'a Version,
        /// The branch it is judged as.
        nearest: Option<&'a Version>,
        /// Whether drivers for Windows have such numbers.
        of_windows: bool,
    },
}

impl Kind for DriverNotListed<'_> {
    const CODE: &'static str = "driver-not-listed";

    fn message(&self) -> String {
        match self {
            DriverNotListed::Release { version, beside, of_windows } => {
                let branch = version.major();
                let known = match beside {
                    (Some(older), Some(newer)) => {
                        format!(", which has {older} and {newer} of branch R{branch} beside it")
                    }
                    (Some(newest), None) => format!(", whose newest of branch R{branch} is {newest}"),
                    (None, Some(oldest)) => format!(", whose oldest of branch R{branch} is {oldest}"),
                    (None, None) => String::new(),
                };
                let windows = windows(*of_windows);
                format!("driver {version} is not in the catalog{known}: it is judged by its number{windows}")
            }
            DriverNotListed::Branch { version, nearest, of_windows } => {
                let judged = match nearest {
                    Some(branch) => format!("as branch R{branch}"),
                    None => "older than every branch known".to_string(),
                };
                let windows = windows(*of_windows);
                let branch = version.major();
                // NVIDIA counts its branches in three digits.
                let meant = version.as_str().get(..3).filter(|_| branch > 999);
                let meant = meant.map_or(String::new(), |meant| format!("; was {meant} meant?"));
                format!("driver branch R{branch} is not in the catalog; {version} is judged {judged}{windows}{meant}")
            }
        }
    }
}

/// What a number may be that Linux does not have.
fn windows(has_such: bool) -> &'static str {
    match has_such {
        true => "; if it is the number of a driver for Windows, under WSL2 write `platform = \"wsl2\"` beside it",
        false => "",
    }
}

/// A driver that needs a cuda-compat package.
pub struct ForwardCompat<'a> {
    /// The driver, by its number or its system.
    pub driver: &'a str,
    /// The package.
    pub package: &'a str,
    /// The image that holds it.
    pub image: Option<&'a str>,
}

impl Kind for ForwardCompat<'_> {
    const CODE: &'static str = "forward-compat";

    fn message(&self) -> String {
        let ForwardCompat { driver, package, image } = self;
        let from = match image {
            Some(image) => format!("{image} holds {package}, so nothing is to be installed"),
            None => format!(
                "install {package} on the hosts or in the image, where its libcuda is found before the driver's"
            ),
        };
        format!(
            "driver {driver} is too old for this stack without forward compatibility: {from}; `forward-compat = \"never\"` \
             chooses an older CUDA instead"
        )
    }
}

/// A driver older than the CUDA line it runs.
pub struct JitLimited<'a> {
    /// The driver, by its number or its system.
    pub driver: &'a str,
    /// The CUDA line that it supports, where it is known.
    pub supports: Option<Version>,
    /// The CUDA line of the stack, where it is known.
    pub uses: Option<Version>,
    /// Packages of the stack with GPU code of their own, of which some may be PTX alone.
    pub packages: Vec<String>,
    /// A compiler of kernels at run time that gives their PTX to the driver.
    pub compiler: Option<&'a str>,
    /// Whether code is compiled on top of the stack.
    pub builds: bool,
    /// What links them itself in its place, and the first CUDA with which it does.
    pub linking: Option<(&'a str, Version)>,
    /// What the stack has that links its kernels so.
    pub links: Option<String>,
}

impl Kind for JitLimited<'_> {
    const CODE: &'static str = "jit-limited";

    fn message(&self) -> String {
        let supports = self.supports.map_or_else(String::new, |cuda| format!(" supports CUDA up to {cuda}"));
        let uses = self.uses.map_or_else(|| "a newer CUDA".to_string(), |line| format!("CUDA {line}"));
        // Only who sets the rule of the major aside comes here so.
        let is_across = self.supports.zip(self.uses).is_some_and(|(has, needs)| has.major() < needs.major());
        if is_across {
            let then = match self.compiler {
                Some(compiler) => format!(
                    "{compiler} compiles to PTX of that, so all of its kernels fail (`Unsupported .version`): take a toolkit that \
                     the driver supports"
                ),
                None => "minor-version compatibility ends with the major, so that it runs at all rests on the override alone"
                    .to_string(),
            };
            return format!("driver {}{supports}, the stack uses {uses}: {then}", self.driver);
        }
        let then = match (self.compiler, &self.packages[..]) {
            (Some(compiler), _) => {
                let or = self.linking.map_or_else(String::new, |(package, first)| {
                    format!(", or {package} with one of CUDA {first} or newer, whose nvJitLink it uses in place of the driver")
                });
                format!(
                    "{compiler} compiles to PTX, so all of its kernels fail (`Unsupported .version`): take a toolkit that the \
                     driver supports{or}"
                )
            }
            (None, []) if self.builds => {
                "what is compiled here has to hold machine code for each GPU, as the arch list of the \
                                          lock has it: nvcc without a list writes PTX"
                    .to_string()
            }
            (None, []) => self.links.as_ref().map_or_else(
                || "usually harmless".to_string(),
                |name| {
                    format!(
                        "{name} compiles each kernel to PTX and links it with the nvJitLink of a CUDA toolkit or of its wheel: where \
                         it finds none the driver gets the PTX, and all of them fail (`Unsupported .version`)"
                    )
                },
            ),
            (None, packages) => format!("any kernel that {} ships as PTX alone fails", packages.join(" or ")),
        };
        format!(
            "driver {}{supports}, the stack uses {uses}: precompiled kernels run, but PTX of {uses} cannot be compiled; {then}",
            self.driver
        )
    }
}

/// A number of the hosts that nobody is known to have.
pub struct NewerThanCatalog<'a> {
    /// Who would have it: `driver shows CUDA`.
    pub what: &'a str,
    /// What is written.
    pub version: &'a Version,
    /// The nearest older one that is known.
    pub nearest: &'a Version,
    /// Whether it is compared by its number all the same.
    pub is_compared: bool,
}

impl Kind for NewerThanCatalog<'_> {
    const CODE: &'static str = "newer-than-catalog";

    fn message(&self) -> String {
        let NewerThanCatalog { what, version, nearest, is_compared } = self;
        match is_compared {
            true => format!(
                "no {what} {version} as far as the catalog knows, whose newest is {nearest}; it is taken as written"
            ),
            false => format!("no {what} {version} as far as the catalog knows; it is judged as {nearest}"),
        }
    }
}

/// A driver that runs the wheel and not what its compiler makes.
pub struct TritonDriver<'a> {
    /// The framework and its release.
    pub build: &'a str,
    /// The drivers that load it.
    pub needs: &'a str,
    /// The release of Triton.
    pub triton: &'a Version,
    /// The CUDA of its compiler.
    pub cuda: Version,
}

impl Kind for TritonDriver<'_> {
    const CODE: &'static str = "triton-driver";

    fn message(&self) -> String {
        format!(
            "torch.compile of {} needs driver {}: the compiler in Triton {} is of CUDA {}",
            self.build, self.needs, self.triton, self.cuda
        )
    }
}

/// A target without a driver minimum, for rules about drivers are overridden.
pub struct DriverMinimum<'a> {
    /// The rules.
    pub rules: &'a [&'a str],
}

impl Kind for DriverMinimum<'_> {
    const CODE: &'static str = "driver-minimum";

    fn message(&self) -> String {
        let rules: Vec<String> = self.rules.iter().map(|rule| format!("`{rule}`")).collect();
        let is = if rules.len() == 1 { "is" } else { "are" };
        format!(
            "{} {is} overridden, so the target has no driver minimum: `gpuenv verify` takes any driver",
            rules.join(" and ")
        )
    }
}
