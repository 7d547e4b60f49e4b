//! L1, the law: which GPU runs which code. The only compatibility rule that is code rather than a catalog row.
//!
//! Sources: the "GPU generations" chapter of NVIDIA's nvcc manual (machine code runs on the same major and an
//! equal or greater minor), NVIDIA's notes on architecture- and family-specific targets (`a`, `f`), and the
//! `DEVICE_REQUIREMENT` table inside pkg:pypi/torch@2.15.0, which adds the Jetson exceptions and their end.

use crate::types::{Arch, ArchList, Cc, Suffix};

/// How some code reaches a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coverage {
    /// It holds machine code (SASS) the GPU can load.
    Native,
    /// It holds only PTX the driver can compile at load, if the driver knows that PTX ISA.
    Jit,
    /// Nothing in it runs there.
    None,
}

impl Coverage {
    /// The word in the lock and in JSON.
    pub fn as_str(self) -> Option<&'static str> {
        match self {
            Coverage::Native => Some("native"),
            Coverage::Jit => Some("jit"),
            Coverage::None => None,
        }
    }
}

/// Whether code was built where Jetson and server parts of a generation share machine code: from the CUDA
/// release on in which their toolchains were unified. The caller knows the release; facts are not kept here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tegra {
    /// Integrated GPUs load only code built exactly for them, and nothing else loads that code.
    Apart,
    /// Integrated GPUs load the code of lesser capabilities of their major too.
    Unified,
}

/// What `list` offers a GPU of capability `device`.
pub fn covers(list: &ArchList, device: Cc, tegra: Tegra) -> Coverage {
    covers_targets(list.sass(), list.ptx(), device, tegra)
}

/// The same for SASS and PTX targets held apart, as catalog rows do.
pub fn covers_targets(
    sass: impl IntoIterator<Item = Arch>,
    ptx: impl IntoIterator<Item = Arch>,
    device: Cc,
    tegra: Tegra,
) -> Coverage {
    if sass.into_iter().any(|code| sass_runs(code, device, tegra)) {
        Coverage::Native
    } else if ptx.into_iter().any(|code| ptx_runs(code, device)) {
        Coverage::Jit
    } else {
        Coverage::None
    }
}

/// Whether machine code for `code` loads on a GPU of capability `device`.
pub fn sass_runs(code: Arch, device: Cc, tegra: Tegra) -> bool {
    let (built, device) = (renamed(code.cc), renamed(device));
    if code.suffix == Suffix::Specific {
        return built == device;
    }
    let exact_only = || is_integrated(built) || (is_integrated(device) && tegra == Tegra::Apart);
    is_number_enough(built, device) && (built == device || !exact_only())
}

/// Whether machine code for `built` loads on a GPU of capability `device` by their numbers, were no GPU an integrated one.
pub fn is_number_enough(built: Cc, device: Cc) -> bool {
    let (built, device) = (renamed(built), renamed(device));
    built.major == device.major && built.minor <= device.minor
}

/// Whether the driver can compile PTX for `code` for a GPU of capability `device`.
pub fn ptx_runs(code: Arch, device: Cc) -> bool {
    let (built, device) = (renamed(code.cc), renamed(device));
    match code.suffix {
        Suffix::None => built <= device,
        Suffix::Family => built.major == device.major && built.minor <= device.minor,
        Suffix::Specific => built == device,
    }
}

/// Thor was 10.1 when its toolchain first appeared and is 11.0 since: one GPU, two names.
fn renamed(cc: Cc) -> Cc {
    if cc == Cc::new(10, 1) { Cc::new(11, 0) } else { cc }
}

/// The capabilities of integrated GPUs (Jetson).
pub fn is_integrated(cc: Cc) -> bool {
    matches!((cc.major, cc.minor), (5, 3) | (6, 2) | (7, 2) | (8, 7) | (10, 1) | (11, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICES: &[(u8, u8)] = &[
        (3, 5),
        (3, 7),
        (5, 0),
        (5, 2),
        (5, 3),
        (6, 0),
        (6, 1),
        (6, 2),
        (7, 0),
        (7, 2),
        (7, 5),
        (8, 0),
        (8, 6),
        (8, 7),
        (8, 9),
        (9, 0),
        (10, 0),
        (10, 1),
        (10, 3),
        (10, 7),
        (11, 0),
        (12, 0),
        (12, 1),
    ];

    fn runs_on(code: &str, tegra: Tegra) -> Vec<String> {
        let code = Arch::parse(code).unwrap();
        let devices = DEVICES.iter().map(|&(major, minor)| Cc::new(major, minor));
        devices.filter(|&device| sass_runs(code, device, tegra)).map(|cc| cc.to_string()).collect()
    }

    /// torch 2.15's own table, row by row, over every capability ever shipped since Kepler.
    #[test]
    fn sass_agrees_with_torchs_table() {
        for (code, devices) in [
            ("3.5", "3.5 3.7"),
            ("3.7", "3.7"),
            ("5.0", "5.0 5.2"),
            ("5.2", "5.2"),
            ("5.3", "5.3"),
            ("6.0", "6.0 6.1"),
            ("6.1", "6.1"),
            ("6.2", "6.2"),
            ("7.0", "7.0 7.5"),
            ("7.2", "7.2"),
            ("7.5", "7.5"),
            ("8.0", "8.0 8.6 8.9"),
            ("8.6", "8.6 8.9"),
            ("8.7", "8.7"),
            ("8.9", "8.9"),
            ("9.0", "9.0"),
            ("10.0", "10.0 10.3 10.7"),
            ("10.1", "10.1 11.0"),
            ("10.3", "10.3 10.7"),
            ("11.0", "10.1 11.0"),
            ("12.0", "12.0 12.1"),
            ("12.1", "12.1"),
        ] {
            assert_eq!(runs_on(code, Tegra::Apart).join(" "), devices, "sm_{code}");
        }
    }

    #[test]
    fn jetson_exceptions_end_where_toolchains_unify() {
        for (code, devices) in [
            ("7.0", "7.0 7.2 7.5"),
            ("8.0", "8.0 8.6 8.7 8.9"),
            ("8.6", "8.6 8.7 8.9"),
            ("8.7", "8.7"),
            ("7.2", "7.2"),
            ("10.0", "10.0 10.3 10.7"),
        ] {
            assert_eq!(runs_on(code, Tegra::Unified).join(" "), devices, "sm_{code}");
        }
    }

    #[test]
    fn suffixes_narrow() {
        for (code, devices) in [
            ("9.0a", "9.0"),
            ("10.0a", "10.0"),
            ("10.0f", "10.0 10.3 10.7"),
            ("10.3f", "10.3 10.7"),
            ("10.7f", "10.7"),
            ("11.0f", "10.1 11.0"),
            ("12.0f", "12.0 12.1"),
            ("12.1f", "12.1"),
            ("12.0a", "12.0"),
        ] {
            assert_eq!(runs_on(code, Tegra::Apart).join(" "), devices, "sm_{code}");
        }
    }

    /// Exhaustive: PTX compiles upward over every pair, across majors, and never downward.
    #[test]
    fn ptx_compiles_upward() {
        for &(major, minor) in DEVICES {
            for &(on_major, on_minor) in DEVICES {
                let (code, device) = (Cc::new(major, minor), Cc::new(on_major, on_minor));
                let expected = renamed(code) <= renamed(device);
                assert_eq!(ptx_runs(Arch::base(code), device), expected, "compute_{code} on {device}");
                let specific = Arch { cc: code, suffix: Suffix::Specific };
                assert_eq!(ptx_runs(specific, device), renamed(code) == renamed(device), "compute_{code}a on {device}");
            }
        }
        let family = Arch::parse("compute_100f").unwrap();
        assert!(
            ptx_runs(family, Cc::new(10, 3)) && !ptx_runs(family, Cc::new(11, 0)) && !ptx_runs(family, Cc::new(12, 0))
        );
    }

    #[test]
    fn the_weakest_sufficient_coverage_is_named() {
        let list = ArchList::parse_torch("8.0;9.0+PTX").unwrap();
        for (device, expected) in [
            (Cc::new(8, 6), Coverage::Native),
            (Cc::new(9, 0), Coverage::Native),
            (Cc::new(12, 0), Coverage::Jit),
            (Cc::new(7, 5), Coverage::None),
            (Cc::new(8, 7), Coverage::None),
        ] {
            assert_eq!(covers(&list, device, Tegra::Apart), expected, "{device}");
        }
    }
}
