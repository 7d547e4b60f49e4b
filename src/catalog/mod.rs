//! L2, the facts: what exists, what it holds and what it needs, each row with its source.
//!
//! [`BUILTIN`] is the catalog compiled in: a constant, so that starting gpuenv costs nothing.

mod fact;
mod gpus;
pub mod lint;
mod lookup;
mod names;
pub mod rows;
pub mod tables;
pub mod wheels;

pub use fact::{Cite, Fact};
pub use gpus::GpuMatch;
pub use lookup::OsMatch;
pub use tables::{AnyRow, Catalog, Row, RowName};

/// The generated constants.
#[allow(unused_imports)]
mod builtin {
    use std::borrow::Cow;

    use super::{rows::*, tables::Catalog, wheels::Digests};
    use crate::words::{Arch, Cc, CpuArch, Suffix, Version};

    include!(concat!(env!("OUT_DIR"), "/catalog.rs"));
}

pub use builtin::BUILTIN;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_catalog_stands_on_its_own() {
        assert_eq!(lint::lint(&BUILTIN), []);
        assert_eq!(BUILTIN.digest.len(), 64);
        assert!(BUILTIN.rows().count() > 1000);
    }

    #[test]
    fn every_rule_passes_its_own_trials() {
        for rule in BUILTIN.rules.iter() {
            assert!(!rule.holds.is_empty() && !rule.fails.is_empty(), "{}", rule.id);
            for pair in rule.holds.iter() {
                assert_eq!(rule.judges(pair), Some(true), "{}: {pair}", rule.id);
            }
            for pair in rule.fails.iter() {
                assert_eq!(rule.judges(pair), Some(false), "{}: {pair}", rule.id);
            }
        }
    }

    /// A GPU that a driver knows is in no rule's way: facts of different tables must not contradict each other.
    #[test]
    fn no_first_driver_breaks_a_rule() {
        use rows::Subject;
        for gpu in BUILTIN.gpus.iter() {
            let Some(driver) = &gpu.first_driver else { continue };
            for rule in BUILTIN.rules.iter().filter(|r| (r.subject, r.object) == (Subject::Gpu, Subject::Driver)) {
                let pair = format!("{} {driver}", gpu.cc);
                assert_eq!(rule.judges(&pair), Some(true), "{}: {} {driver}", rule.id, gpu.name);
            }
        }
    }

    /// The driver a toolkit's table asks for reports that toolkit's CUDA version, so it knows its PTX ISA too.
    #[test]
    fn tables_of_toolkits_branches_and_isas_agree() {
        for toolkit in BUILTIN.toolkits.iter() {
            let Some(driver) = &toolkit.driver else { continue };
            let isa = BUILTIN.ptx_isas.iter().find(|row| row.isa == toolkit.ptx_isa).expect("linted");
            let first = isa.branch.as_ref().expect("a toolkit with a driver has an ISA with a branch");
            assert!(driver.major() >= first.major(), "{}: {driver} < {first}", toolkit.version);
            let branch = BUILTIN.branch_of(driver).expect("linted");
            let cuda = branch.cuda.as_ref().expect("a branch a toolkit asks for has a CUDA version");
            assert!(*cuda >= toolkit.version.prefix(2), "{}: {driver} reports {cuda}", toolkit.version);
        }
    }

    #[test]
    fn a_broken_catalog_is_refused_with_its_row() {
        let text = r#"
            driver = [
              { version = "535.54.03", source = "nowhere" },
              { version = "535.54.03", date = "yesterday", source = "nowhere" },
              { version = "535.98", date = "2026-08-08", source = "nowhere" },
              { version = "535.104.05", date = "2023-08-08", source = "nowhere" },
            ]
        "#;
        let said: Vec<String> = lint::lint(&toml::from_str(text).unwrap()).into_iter().map(|f| f.says).collect();
        for part in [
            "stands twice",
            "`nowhere` does not exist",
            "`yesterday` is no date",
            "branch 535 does not exist",
            "is dated long before",
        ] {
            assert!(said.iter().any(|says| says.contains(part)), "{part}: {said:?}");
        }
        assert!(toml::from_str::<Catalog>("drivers = []").is_err());
        assert!(toml::from_str::<Catalog>("driver = [{ version = \"1\", source = \"s\", colour = \"red\" }]").is_err());
    }
}
