//! What is said of ordinary packages that what is locked, or the machine, excludes.

use super::{Kind, inside};

/// An ordinary package of which every release that is asked for goes without what is locked.
pub struct PackageExcluded<'a> {
    /// The ordinary package.
    pub package: &'a str,
    /// What is written of it, or what a locked release asks for.
    pub asked: &'a str,
    /// What excludes it.
    pub by: ExcludedBy<'a>,
    /// What could be written in its place.
    pub instead: Option<&'a str>,
}

/// What excludes every release of an ordinary package that is asked for.
pub enum ExcludedBy<'a> {
    /// Newer pips refuse its metadata.
    Installer {
        /// The pips that take it.
        pip: &'a str,
    },
    /// It has nothing but wheels, for other machines.
    Machine {
        /// What they are for.
        wheels: &'a str,
        /// What the target is.
        target: &'a str,
    },
    /// What it needs itself of a locked package or of Python.
    Needs {
        /// The locked release that asks for the ordinary package; none where `[packages]` does.
        asking: Option<&'a str>,
        /// What is needed.
        of: &'a str,
        /// Which releases of it.
        needs: &'a str,
        /// What is locked of it, with what brings that along.
        locked: &'a str,
        /// Whether it only comes along with what is locked.
        comes_along: bool,
        /// Who knows of that.
        known: KnownTo<'a>,
        /// What can be done about what is locked.
        cure: Cure<'a>,
    },
    /// What another one needs of it.
    Needed {
        /// Which one does.
        side: Side,
        /// That one and its release.
        by: &'a str,
        /// Which releases of the package.
        needs: &'a str,
        /// Who knows of that.
        known: KnownTo<'a>,
    },
}

/// What can be done about a locked release that excludes a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cure<'a> {
    /// What is written of it has to change.
    Change,
    /// It is kept from an older lock: `gpuenv lock` with these words chooses another one.
    Upgrade(&'a str),
    /// What is written of it admits another one, and something else does not.
    Ask,
}

/// Who needs an ordinary package in another release than is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// A locked one.
    Locked,
    /// What a locked one brings along.
    LockedAlong,
    /// Another one that is asked for.
    Beside,
}

/// Who knows what a package needs, and so what follows where it is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownTo<'a> {
    /// Installers, by its metadata.
    Installers,
    /// Installers, by the tags of its wheels, and nothing else is published.
    OnlyWheels,
    /// Installers, which are offered none of its releases at all.
    Nowhere,
    /// Installers, by the tags of its wheels: they compile its source.
    Wheels,
    /// Its code alone; what is seen then.
    Code(&'a str),
}

impl KnownTo<'_> {
    /// How the package needs it, and what follows.
    fn told(&self) -> (&'static str, String) {
        let (verb, follows) = match self {
            KnownTo::Installers => ("requires", "installers refuse both together"),
            KnownTo::OnlyWheels | KnownTo::Nowhere => ("has nothing but wheels for", "installers find no release"),
            KnownTo::Wheels => ("has wheels for", "installers compile its source, or fail"),
            KnownTo::Code(says) => return ("needs", inside(says)),
        };
        (verb, follows.to_string())
    }
}

impl Kind for PackageExcluded<'_> {
    const CODE: &'static str = "package-excluded";

    fn message(&self) -> String {
        let PackageExcluded { package, asked, by, .. } = self;
        let written = format!("`{package} = \"{asked}\"`");
        let instead = self.instead.map(|instead| format!("write `{package} = \"{instead}\"`"));
        let behind = |with: &str| instead.as_ref().map_or_else(String::new, |instead| format!("{with}{instead}"));
        let or = || instead.as_ref().map_or_else(String::new, |instead| format!("{instead}, or "));
        match by {
            ExcludedBy::Machine { wheels, target } => format!(
                "{written} has nothing but wheels for {wheels}, and the target is {target}: installers find no release{}",
                behind(": ")
            ),
            ExcludedBy::Installer { pip } => format!(
                "{written} has metadata that only pip {pip} takes, and uv: {}install it with one of these",
                or()
            ),
            ExcludedBy::Needed { side, by, needs, known } => {
                let needed = match side {
                    Side::LockedAlong => format!("{package} {needs}, and {by}, which needs that"),
                    Side::Locked => format!("what the locked {by} needs, {package} {needs}"),
                    Side::Beside => format!("what {by} needs, {package} {needs}"),
                };
                format!("{written} excludes {needed}: {}{}", known.told().1, behind("; "))
            }
            ExcludedBy::Needs { known: KnownTo::Nowhere, .. } => {
                format!(
                    "{written} is not on the package index for this machine: installers find no release{}",
                    behind("; ")
                )
            }
            ExcludedBy::Needs { asking, of, needs, locked, comes_along, known, cure } => {
                let (verb, follows) = known.told();
                let line = || format!("`{} = \"{needs}\"` under [stack]", of.to_lowercase());
                let is_there = if *comes_along { "" } else { " is locked" };
                let use_it = match cure {
                    _ if *comes_along => format!("name {}", line()),
                    Cure::Change => format!("use {of} {needs}"),
                    Cure::Upgrade(names) => format!("run `gpuenv lock {names}`"),
                    Cure::Ask => format!("write {} to see what stands against it", line()),
                };
                if let Some(asking) = asking {
                    return format!(
                        "{asking} requires {package} {asked}, which {verb} {of} {needs}, and {locked}{is_there}: {follows}; {use_it}"
                    );
                }
                format!("{written} {verb} {of} {needs}, and {locked}{is_there}: {follows}; {}{use_it}", or())
            }
        }
    }
}
