//! Which tables a request means: releases by variants for each GPU, GPUs by variants for a release, drivers by variants
//! for both, or GPU generations by releases where nothing is said.

use crate::catalog::rows::{Branch, Gpu};
use crate::catalog::{Catalog, GpuMatch};
use crate::solve::framework::Framework;
use crate::solve::problem::Problem;
use crate::solve::release::Release;
use crate::solve::request::Request;
use crate::spec::{SpecError, Target, Written};
use crate::types::{Constraint, CpuArch, Version, distinct, sort_by_key};

use super::cell::Machine;
use super::model::{Axis, Cell, Matrix, Panel, State};

/// What a matrix is asked for.
#[derive(Debug, Clone, Default)]
pub struct MatrixRequest {
    /// The framework.
    pub package: String,
    /// GPUs, a table each.
    pub gpus: Vec<String>,
    /// Which release.
    pub version: Option<Constraint>,
    /// The driver of the hosts.
    pub driver: Option<Constraint>,
    /// The processor, where the GPU does not imply it.
    pub arch: Option<CpuArch>,
    /// Every release, not the newest of each minor alone.
    pub all: bool,
}

/// Why there is no matrix.
#[derive(Debug, Clone)]
pub enum Refusal {
    /// A name that means nothing.
    Names(Vec<SpecError>),
    /// No release is what is asked for.
    NoRelease,
}

/// The products that are named of a generation.
const NAMED: usize = 4;

/// The matrix that is asked for.
pub fn matrix<'c>(request: &MatrixRequest, problem: &'c Problem<'c>) -> Result<Matrix, Refusal> {
    let framework = problem.framework(&request.package).ok_or(Refusal::NoRelease)?;
    let maker = Maker { request, problem, framework };
    let panels = match (request.gpus.as_slice(), &request.version) {
        ([], None) => vec![maker.overview()?],
        ([], Some(_)) => vec![maker.by_generation()?],
        (gpus, None) => gpus.iter().map(|gpu| maker.by_release(gpu)).collect::<Result<_, _>>()?,
        (gpus, Some(_)) => gpus.iter().map(|gpu| maker.by_driver(gpu)).collect::<Result<_, _>>()?,
    };
    let driver = request.driver.as_ref().map(|driver| driver.as_str().to_string());
    let arch = request.arch.unwrap_or(CpuArch::X86_64).as_str().to_string();
    let title = match &driver {
        Some(driver) => format!("{} with driver {driver}", request.package),
        None => request.package.clone(),
    };
    Ok(Matrix { package: request.package.clone(), title, driver, arch, panels })
}

struct Maker<'r, 'c> {
    request: &'r MatrixRequest,
    problem: &'c Problem<'c>,
    framework: &'c Framework<'c>,
}

/// The cells of rows, each a machine and the builds that it is asked of, by the name of their column.
type Row<'r, 'c> = (String, Machine<'c>, Vec<(String, &'r Release<'c>)>);

impl<'c> Maker<'_, 'c> {
    /// A machine with this GPU; with a driver in place of the one that is asked for.
    fn machine(&self, gpu: &str, driver: Option<&str>) -> Result<Machine<'c>, Refusal> {
        self.machine_with(gpu, driver, None)
    }

    /// The same with a system.
    fn machine_with(&self, gpu: &str, driver: Option<&str>, os: Option<&str>) -> Result<Machine<'c>, Refusal> {
        let written = |text: &str| Written { value: vec![text.to_string()], text: text.to_string(), span: 0..0 };
        let parsed = driver.and_then(|driver| Constraint::parse(driver).ok()).or(self.request.driver.clone());
        let target = Target {
            name: "host".to_string(),
            gpu: Some(written(gpu)),
            driver: parsed.clone().map(|value| Written { text: value.as_str().to_string(), value, span: 0..0 }),
            arch: self.request.arch.map(|value| Written { text: value.as_str().to_string(), value, span: 0..0 }),
            os: os.map(|os| Written { value: os.to_string(), text: os.to_string(), span: 0..0 }),
            ..Target::default()
        };
        let (mut spec, _) = crate::spec::parse_part("[stack]\n");
        spec.targets = [target.clone()].into_iter().collect();
        let (request, _) = Request::new(&spec, self.problem).map_err(Refusal::Names)?;
        let driver = parsed.map(|driver| driver.as_str().to_string());
        Ok(Machine { problem: self.problem, target, request, gpu: gpu.to_string(), driver })
    }

    /// The versions that are shown, newest first.
    fn versions(&self, machine: Option<&Machine<'c>>) -> Vec<&'c Version> {
        let has_build = |release: &Release<'c>| match machine {
            Some(machine) => machine.build(release).is_some(),
            None => is_published(release),
        };
        let mut versions: Vec<&Version> = Vec::new();
        for (at, version) in self.framework.versions.iter().enumerate() {
            let mut releases = self.framework.of_version[at].rows().map(|row| &self.framework.releases[row]);
            let shown = releases.any(|release| !release.is_cpu() && has_build(release)) && !version.is_prerelease();
            // Versions come newest first.
            let newer = versions.last().is_some_and(|last| last.prefix(2) == version.prefix(2));
            if shown && (self.request.all || !newer) {
                versions.push(version);
            }
        }
        versions
    }

    /// The builds with CUDA of a version, of those that are asked for.
    fn releases(&self, version: &Version) -> Vec<&'c Release<'c>> {
        let wanted = self.request.version.as_ref();
        let asked = |release: &&Release<'c>| {
            *release.version == *version
                && !release.is_cpu()
                && is_published(release)
                && wanted.is_none_or(|wanted| wanted.admits_build(release.version, release.variant))
        };
        self.framework.releases.iter().filter(asked).collect()
    }

    /// The newest version that is asked for.
    fn version(&self) -> Result<&'c Version, Refusal> {
        let has_general = |release: &Release<'c>| release.builds().next().is_some();
        let known = self.framework.versions.iter().copied();
        let mut admitted = known.filter(|version| self.releases(version).into_iter().any(has_general));
        admitted.next().ok_or(Refusal::NoRelease)
    }

    fn by_variant(&self, versions: &[&'c Version]) -> Vec<(String, &'c Release<'c>)> {
        let releases = versions.iter().flat_map(|version| self.releases(version));
        releases.map(|release| (release.variant.to_string(), release)).collect()
    }

    /// Releases by variants, on one GPU.
    fn by_release(&self, gpu: &str) -> Result<Panel, Refusal> {
        let versions = self.versions(Some(&self.machine(gpu, None)?));
        let mut rows: Vec<Row> = Vec::new();
        for version in versions {
            rows.push((version.to_string(), self.machine(gpu, None)?, self.by_variant(&[version])));
        }
        Ok(self.panel(&title_of(self.problem.catalog, gpu), (Axis::Releases, Axis::Variants), rows))
    }

    /// GPU generations by the variants of one release.
    fn by_generation(&self) -> Result<Panel, Refusal> {
        let version = self.version()?;
        let mut rows: Vec<Row> = Vec::new();
        for (label, gpu) in generations(self.problem.catalog) {
            rows.push((label, self.machine(&gpu, None)?, self.by_variant(&[version])));
        }
        let title = format!("{} {version}", self.framework.package);
        Ok(self.panel(&title, (Axis::Gpus, Axis::Variants), rows))
    }

    /// Drivers by the variants of one release, on one GPU.
    fn by_driver(&self, gpu: &str) -> Result<Panel, Refusal> {
        let version = self.version()?;
        let mut rows: Vec<Row> = Vec::new();
        let machine = self.machine(gpu, None)?;
        if let Some(driver) = &self.request.driver {
            rows.push((driver.as_str().to_string(), machine, self.by_variant(&[version])));
        } else if machine.has_system_driver() {
            return self.by_system(gpu, version);
        } else {
            for driver in newest_of_branches(self.problem.catalog) {
                let machine = self.machine(gpu, Some(driver.as_str()))?;
                rows.push((driver.to_string(), machine, self.by_variant(&[version])));
            }
            return self.until_none_runs(gpu, version, rows);
        }
        let title = format!("{} {version} on {}", self.framework.package, title_of(self.problem.catalog, gpu));
        Ok(self.panel(&title, (Axis::Drivers, Axis::Variants), rows))
    }

    /// Releases of JetPack by the variants of one release, on boards whose driver comes with it.
    fn by_system(&self, gpu: &str, version: &'c Version) -> Result<Panel, Refusal> {
        let mut rows: Vec<Row> = Vec::new();
        for os in self.problem.catalog.oses.iter().rev().filter(|os| os.cuda.is_some()) {
            let machine = self.machine_with(gpu, None, Some(&os.id))?;
            if machine.boards().all(|cc| os.boards.contains(&cc)) {
                rows.push((os.id.to_string(), machine, self.by_variant(&[version])));
            }
        }
        let title = format!("{} {version} on {}", self.framework.package, title_of(self.problem.catalog, gpu));
        Ok(self.panel(&title, (Axis::Systems, Axis::Variants), rows))
    }

    /// The newest drivers, down to the first on which nothing runs: nothing runs on older ones.
    fn until_none_runs(&self, gpu: &str, version: &Version, rows: Vec<Row<'_, 'c>>) -> Result<Panel, Refusal> {
        let title = format!("{} {version} on {}", self.framework.package, title_of(self.problem.catalog, gpu));
        let mut kept: Vec<Row> = Vec::new();
        let mut has_run = false;
        for row in rows {
            let mut cells = row.2.iter().filter_map(|(_, release)| row.1.cell(self.framework.package, release));
            let runs = cells.any(|cell| cell.state != State::No);
            kept.push(row);
            if has_run && !runs {
                break;
            }
            has_run |= runs;
        }
        Ok(self.panel(&title, (Axis::Drivers, Axis::Variants), kept))
    }

    /// GPU generations by releases, each by the best of its variants.
    fn overview(&self) -> Result<Panel, Refusal> {
        let versions = self.versions(None);
        let mut rows: Vec<Row> = Vec::new();
        for (label, gpu) in generations(self.problem.catalog) {
            let mut asked = Vec::new();
            for version in &versions {
                asked.extend(self.releases(version).into_iter().map(|release| (version.to_string(), release)));
            }
            rows.push((label, self.machine(&gpu, None)?, asked));
        }
        Ok(self.panel(self.framework.package, (Axis::Gpus, Axis::Releases), rows))
    }

    fn panel(&self, title: &str, (rows_are, columns_are): (Axis, Axis), rows: Vec<Row<'_, 'c>>) -> Panel {
        let mut columns: Vec<(Option<Version>, String)> = Vec::new();
        for (column, release) in rows.iter().flat_map(|(_, _, asked)| asked) {
            let line = if columns_are == Axis::Variants { release.line } else { Some(*release.version) };
            if !columns.iter().any(|(_, known)| known == column) {
                columns.push((line, column.clone()));
            }
        }
        columns.sort_unstable();
        let mut panel = Panel {
            title: title.to_string(),
            rows_are,
            columns_are,
            rows: Vec::new(),
            columns: columns.into_iter().map(|(_, column)| column).collect(),
            cells: Vec::new(),
        };
        for (label, machine, asked) in rows {
            let mut cells: Vec<Option<Cell>> = vec![None; panel.columns.len()];
            for (column, release) in asked {
                let Some(at) = panel.columns.iter().position(|known| *known == column) else { continue };
                // Releases of one version come preferred first: of two that run alike the first stays.
                let rank = |cell: &Cell| (cell.state, cell.compat.is_some());
                if let Some(cell) = machine.cell(self.framework.package, release)
                    && cells[at].as_ref().is_none_or(|known| rank(&cell) < rank(known))
                {
                    cells[at] = Some(cell);
                }
            }
            if cells.iter().any(Option::is_some) {
                panel.rows.push(label);
                panel.cells.push(cells);
            }
        }
        let used: Vec<bool> =
            (0..panel.columns.len()).map(|at| panel.cells.iter().any(|row| row[at].is_some())).collect();
        let keep = |at: &mut usize| {
            *at += 1;
            used[*at - 1]
        };
        let mut at = 0;
        panel.columns.retain(|_| keep(&mut at));
        for row in &mut panel.cells {
            let mut at = 0;
            row.retain(|_| keep(&mut at));
        }
        panel
    }
}

/// A GPU with its capability: `NVIDIA H100 NVL (9.0, Hopper)`.
fn title_of(catalog: &Catalog, gpu: &str) -> String {
    match catalog.gpu(gpu) {
        GpuMatch::Found(rows) => {
            let name = if rows.len() == 1 { rows[0].name.to_string() } else { gpu.to_string() };
            format!("{name} ({}, {})", rows[0].cc, rows[0].architecture)
        }
        _ => gpu.to_string(),
    }
}

/// Compute capabilities with the products that have them, the newest first, each with a way to ask for it.
fn generations(catalog: &Catalog) -> Vec<(String, String)> {
    let capabilities = distinct(catalog.gpus.iter().map(|gpu| gpu.cc));
    let mut found = Vec::new();
    for cc in capabilities.into_iter().rev() {
        let products: Vec<&Gpu> = catalog.gpus.iter().filter(|gpu| gpu.cc == cc).collect();
        let architecture = products.first().map_or("", |gpu| &*gpu.architecture);
        found.push((format!("{cc} {architecture} ({})", examples(&products)), format!("sm_{}", cc.number())));
    }
    found
}

/// A few products of many, for data centres first.
fn examples(products: &[&Gpu]) -> String {
    let mut sorted: Vec<&&Gpu> = products.iter().collect();
    sort_by_key(&mut sorted, |gpu| (gpu.class != crate::catalog::rows::Class::Datacenter, gpu.name.len()));
    let mut names: Vec<&str> = Vec::new();
    // `A100D-1-10C` and `6000D-84` are slices of a board.
    let is_slice = |gpu: &&&Gpu| {
        let last = gpu.name.rsplit('-').next().unwrap_or_default();
        gpu.name.contains('-') && last.trim_end_matches(['A', 'B', 'C', 'Q']).bytes().all(|byte| byte.is_ascii_digit())
    };
    for gpu in sorted.into_iter().filter(|gpu| !is_slice(gpu)) {
        let name = ["NVIDIA ", "Tesla ", "GeForce "]
            .iter()
            .fold(&*gpu.name, |name, maker| name.strip_prefix(maker).unwrap_or(name));
        let first = name.split([' ', '-']).next().unwrap_or(name);
        let is_new = names.iter().all(|known| known.split([' ', '-']).next() != Some(first) || first.len() < 4);
        if is_new && names.len() < NAMED {
            names.push(name);
        }
    }
    names.join(", ")
}

/// The newest release of each driver branch, the newest branch first.
fn newest_of_branches(catalog: &Catalog) -> Vec<Version> {
    let newest = |branch: &Branch| catalog.drivers_of(&branch.branch).next_back().map(|row| row.version);
    catalog.branches.iter().rev().filter_map(newest).collect()
}

/// Whether it can be installed: what stands in images alone is none to choose from.
fn is_published(release: &Release<'_>) -> bool {
    release.builds().chain(release.for_systems()).any(|build| !build.is_in_image())
}
