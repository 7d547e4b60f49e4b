//! A catalog older than the built-in one: it answers the projects that name it, and nobody else.

use std::fs;

use gpuenv::catalog::{Catalog, packed};
use gpuenv::types::Text;

use crate::catalog_update::{SPEC, Site, newer};

/// The version of an older catalog, and its day.
const OLD: (&str, &str) = ("2026.01.01", "2026-01-01");

/// A catalog of that day: whatever it holds was there by then.
fn older() -> Catalog {
    let mut old = Catalog { version: OLD.0.into(), ..newer(1) };
    let earlier = |date: &mut Text| {
        let day = &OLD.1[..date.len()];
        if **date > *day {
            *date = day.into();
        }
    };
    old.sources.to_mut().iter_mut().for_each(|row| earlier(&mut row.seen));
    old.drivers.to_mut().iter_mut().filter_map(|row| row.date.as_mut()).for_each(earlier);
    old.toolkits.to_mut().iter_mut().filter_map(|row| row.released.as_mut()).for_each(earlier);
    old.cudnns.to_mut().iter_mut().filter_map(|row| row.date.as_mut()).for_each(earlier);
    old.nccls.to_mut().iter_mut().filter_map(|row| row.date.as_mut()).for_each(earlier);
    old
}

/// A project that has pinned its catalog goes on with it when gpuenv brings a newer one.
#[test]
fn a_catalog_older_than_the_built_in_one_answers_whoever_names_it() {
    let pinned = |what: &str| format!("{SPEC}[catalog]\nversion = \"{what}\"\n");
    let site = Site::new("older", SPEC);
    let (old, newest) = (older(), newer(1));
    let file = site.packed(&old);
    let told = site.run(&["catalog", "update", &file]).exits(2).says("the built-in one is");
    told.says(&format!("`version = \"{}\"` under [catalog]", OLD.0)).says(&format!("add `--rollback {}`", OLD.0));
    site.run(&["catalog", "update", &site.packed(&newest)]).exits(0);
    let told = site.run(&["catalog", "update", &file, "--rollback", OLD.0]).exits(0);
    told.says(&format!("Installed; catalog {} goes on answering here", newest.version));
    // By its name, and by no range; what is newer stays for others.
    for (wanted, answers) in [(OLD.0, OLD.0), (">=2020", &newest.version), ("*", &newest.version)] {
        fs::write(site.path("project/gpuenv.toml"), pinned(wanted)).unwrap();
        site.run(&["lock", "--fresh"]).exits(0);
        site.answers_with(answers);
    }
    for wanted in ["<2026.01.02", "2019.01.01"] {
        fs::write(site.path("project/gpuenv.toml"), pinned(wanted)).unwrap();
        site.run(&["lock"]).exits(2).says("catalog-version").says("name in full one that is installed");
    }
    // To go back to it by itself is told as what it is.
    let told = site.run(&["catalog", "update", "--rollback", OLD.0]).exits(2).says("cannot be removed");
    told.says("it answers the projects that name it").says("and no others");
    // One that this gpuenv cannot read does not answer, and that is said.
    fs::write(site.path("project/gpuenv.toml"), pinned(OLD.0)).unwrap();
    let mut past = packed::pack(&old, packed::SMALL).unwrap();
    past[8..10].copy_from_slice(&0u16.to_le_bytes());
    fs::write(site.installed(OLD.0), past).unwrap();
    site.run(&["lock"]).exits(2).says("catalog-unusable").says("does not read any more").says("catalog-version");
}
