//! The Pythons of builds, of packages and of what comes along with them.

use crate::catalog::rows::{Build, Companion, FoundIn, TRITON};
use crate::solve::platform::Takes;
use crate::solve::problem::Package;
use crate::solve::rowset::RowSet;
use crate::types::constraint::admits;
use crate::types::variant::PLAIN;
use crate::types::{Version, distinct};

use super::Explainer;
use super::words::{build_id, by_package, describe, list};

impl<'c> Explainer<'_, 'c> {
    pub(super) fn pythons(&mut self) {
        let asked = self.asked_python();
        self.companions_say(|row| {
            let text = row.python.as_ref()?;
            // What has the one Python that is asked for is no reason.
            let has = asked.is_some_and(|line| admits(text, &line));
            let lines: Vec<&str> = text.split("||").map(str::trim).collect();
            (!has).then(|| format!("is for Python {} only", list(&lines)))
        });
        self.pythons_of_pinned();
        self.pythons_of_ordinary();
        // Where no framework is to blame, its Pythons say nothing.
        let blamed = self.request.frameworks.iter().any(|ask| self.blames(ask.package));
        let told = !self.says.is_empty();
        let mut builds = if blamed || !told { self.left.clone() } else { Vec::new() };
        builds.retain(|build| self.is_of_wanted_line(build));
        builds.extend(self.next_to_unseen());
        self.pins_lack_wheels(&builds);
        let packages = by_package(&builds);
        let mut known = false;
        for builds in &packages {
            known |= self.pythons_of_builds(builds);
        }
        if !known {
            self.pythons_of_system();
        }
        if let Some(python) = &self.request.python {
            self.say_line("python", python);
        }
        for build in packages.iter().flat_map(|builds| builds.iter().rev().take(2)) {
            self.fact(build_id(build), self.request.catalog.origin_of(*build, &build.source));
        }
    }

    /// The line of Python that is asked for, where it is one.
    fn asked_python(&self) -> Option<Version> {
        self.request.python.as_ref().and_then(|python| python.single()).map(|python| python.prefix(2))
    }

    /// The Pythons that some builds of one package have wheels for; whether any is known.
    fn pythons_of_builds(&mut self, builds: &[&'c Build]) -> bool {
        let seen = || builds.iter().flat_map(|build| &build.pythons);
        let mut lines: Vec<Version> =
            seen().chain(builds.iter().flat_map(|build| &build.expected_pythons)).copied().collect();
        lines.sort_unstable();
        lines.dedup();
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return false };
        // A span holds every Python within it.
        let mut known = self.request.catalog.pythons.iter().map(|row| row.version);
        let is_whole = known.all(|python| python < *first || python > *last || lines.contains(&python));
        let span = match is_whole && first != last {
            true => format!("{first} to {last}"),
            false => list(&lines.iter().map(Version::as_str).collect::<Vec<_>>()),
        };
        if builds.iter().all(|build| build.is_own()) {
            let newest = self.request.catalog.pythons.iter().map(|row| row.version).max();
            let newest = newest.filter(|newest| newest < first);
            let newest = newest.map_or(String::new(), |newest| format!("; the newest Python known is {newest}"));
            self.say(format!("{} for Python {span} only{newest}", describe(builds, "is", "are")));
            return true;
        }
        if builds.iter().all(|build| build.is_in_image()) {
            let are = describe(builds, "in the image is", "in images are");
            self.say(format!("{are} for Python {span} only"));
            return true;
        }
        let on_index = builds.iter().filter(|build| !build.index.is_empty() && !build.is_own());
        let newest = on_index.max_by_key(|build| &build.version);
        let as_of = newest.map_or_else(String::new, |newest| self.read_on(&newest.source));
        let seen: Vec<&str> = distinct(seen()).into_iter().map(Version::as_str).collect();
        let expected = match seen.len() < lines.len() {
            true => format!(": {} seen, the others are expected, for its other variants have them", seen_words(&seen)),
            false => String::new(),
        };
        // Of what was not read whole nobody knows that there is no more.
        let only = if builds.iter().any(|build| build.pythons_partial) { "" } else { " only" };
        self.say(format!("{} wheels for Python {span}{only}{as_of}{expected}", describe(builds, "has", "have")));
        true
    }

    /// The Pythons of what was made for a single system, where nobody has seen the release in question.
    fn pythons_of_system(&mut self) {
        let request = self.request;
        for target in &request.targets {
            let Takes::ForSystem(system) = target.platform.takes else { continue };
            for ask in &request.frameworks {
                let of_package = request.catalog.builds.of(ask.package).iter();
                let lines =
                    distinct(of_package.filter(|build| target.platform.takes(build)).flat_map(|build| &*build.pythons));
                let lines: Vec<&str> = lines.into_iter().map(|line| line.as_str()).collect();
                if (self.blames(ask.package) || self.says.is_empty()) && !lines.is_empty() {
                    self.say(format!(
                        "the wheels of {} for {system} that are known are for Python {} only",
                        ask.package,
                        list(&lines)
                    ));
                }
            }
        }
    }

    /// Whether a build is for the CUDA that is asked for, where that is blamed.
    fn is_of_wanted_line(&self, build: &Build) -> bool {
        let wanted = self.request.cuda_line.as_ref().filter(|_| self.blames("cuda"));
        let newest = || build.line().map(|line| self.request.problem.newest_of(line));
        wanted.is_none_or(|wanted| newest().is_some_and(|line| wanted.admits(&line)))
    }

    /// What comes along with blamed packages, where that is for some Pythons only.
    fn pythons_of_pinned(&mut self) {
        let (problem, request) = (self.request.problem, self.request);
        // Beside a framework that is blamed too: those for it.
        let blamed: Vec<&str> = request.frameworks.iter().map(|ask| ask.package).filter(|it| self.blames(it)).collect();
        let left = self.left.clone();
        let beside = |of: &Package<'c>| {
            let mut rows = RowSet::default();
            let frameworks = left.iter().filter(|build| blamed.contains(&&*build.package));
            frameworks.for_each(|build| rows.add(&of.accepting(&build.package, &build.version)));
            rows
        };
        let asked = self.asked_python();
        self.companions_say(|row| {
            let package = problem.package(&row.package)?;
            let at = package.place_of(row)?;
            let mut told: Vec<String> = Vec::new();
            for one in problem.along(package)[at].iter().filter(|one| one.is_everywhere()) {
                let of = problem.package(one.package)?;
                let mut beside = beside(of);
                beside.retain(&one.releases);
                let rows = if beside.is_empty() { &one.releases } else { &beside };
                // What has the Python that is asked for is no reason.
                if asked.as_ref().is_some_and(|line| of.accepting_python(line).meets(rows)) {
                    continue;
                }
                let newest = of.releases[rows.rows().next()?];
                // Each variant has a row of its own, of some of which not every file was seen.
                let of_newest = rows.rows().map(|row| of.releases[row]).filter(|row| row.version == newest.version);
                let Some(lines) = pythons_of(of_newest) else { continue };
                told.push(format!("{} {}, for Python {lines}", newest.package, newest.version));
            }
            // Triton is torch's own, where anything else tells as much.
            let is_triton = |text: &String| text.starts_with(TRITON);
            if !told.iter().all(is_triton) {
                told.retain(|text| !is_triton(text));
            }
            (!told.is_empty()).then(|| format!("requires {}", told.join("; ")))
        });
    }

    /// What blamed packages require of ordinary ones, where that is for other Pythons than the one asked for.
    fn pythons_of_ordinary(&mut self) {
        let problem = self.request.problem;
        let Some(line) = self.asked_python() else { return };
        let mut facts = Vec::new();
        self.companions_say(|row| {
            let package = problem.package(&row.package)?;
            let at = package.place_of(row)?;
            // What is for other Pythons itself has told so.
            if !package.accepting_python(&line).has(at) {
                return None;
            }
            let mut needs = Vec::new();
            for (asks, theirs) in package.refused_by(problem, &row.version, &line) {
                facts.extend([asks, theirs]);
                let is_for =
                    if theirs.found_in == FoundIn::Metadata { "requires" } else { "has nothing but wheels for" };
                needs.push(format!("{} {}, which {is_for} Python {}", asks.of, asks.needs, theirs.needs));
            }
            (!needs.is_empty()).then(|| format!("requires {}", needs.join("; ")))
        });
        for asks in facts {
            let read = asks.read.as_ref().map_or("", |version| version.as_str());
            let source = self.request.catalog.source_of(&asks.source, read, &asks.package, "");
            self.fact(asks.name(), source);
        }
    }

    /// Builds that have wheels for the Python in question, of which what their extra pins has none.
    fn pins_lack_wheels(&mut self, builds: &[&'c Build]) {
        let bound: Vec<&Build> = builds.iter().copied().filter(|build| !build.extra_pythons.is_empty()).collect();
        let lines = distinct(bound.iter().flat_map(|build| build.extra_pythons.iter()));
        let lines: Vec<&str> = lines.into_iter().map(|line| line.as_str()).collect();
        let Some(extra) = bound.first().and_then(|build| build.extra.as_ref()) else { return };
        let package = &bound[0].package;
        let is_plain = |row: &Build| row.version == bound[0].version && row.variant.ends_with(PLAIN);
        let plain = match self.request.catalog.builds.of(package).iter().any(is_plain) {
            true => {
                "; without the extra it is taken where `toolkit` and `cudnn` of the target name those of the system"
            }
            false => "",
        };
        self.say(format!("what {package}[{extra}] pins has wheels for Python {} only{plain}", list(&lines)));
        for build in bound.iter().rev().take(2) {
            let source = build.pins_source.as_ref().unwrap_or(&build.source);
            self.fact(build_id(build), self.request.catalog.origin_of(*build, source));
        }
    }
}

/// The Pythons of some rows of one release, in words: those that any of them has. None where one is for every newer one.
fn pythons_of<'c>(rows: impl Iterator<Item = &'c Companion>) -> Option<String> {
    let mut seen: Vec<Version> = Vec::new();
    for row in rows {
        let text = row.python.as_ref().filter(|text| !text.starts_with(">="))?;
        for line in text.split("||").map(str::trim) {
            match Version::parse(line) {
                Ok(line) => seen.push(line),
                Err(_) => return Some(text.to_string()),
            }
        }
    }
    let lines: Vec<&str> = distinct(&seen).into_iter().map(Version::as_str).collect();
    (!lines.is_empty()).then(|| list(&lines))
}

/// `3.12 was`, `3.12 and 3.13 were`, `none was`
fn seen_words(lines: &[&str]) -> String {
    match lines {
        [] => "none was".to_string(),
        [one] => format!("{one} was"),
        several => format!("{} were", list(several)),
    }
}
