//! Machines in the network: for each class of targets a toolkit, an image and a driver.

use std::rc::Rc;

use crate::catalog::rows::{Companion, Image, Subject, TORCH, Toolkit};
use crate::spec::Share;
use crate::types::Version;

use super::{Choice, ForwardCompat, Framework, Group, Local, Plan};
use crate::solve::bundled_torch;
use crate::solve::demand::{self, Bearing};
use crate::solve::driver::{self, DriverNeed};
use crate::solve::driver_row::DriverRow;
use crate::solve::heeded;
use crate::solve::image::{self, Images, Inside};
use crate::solve::machine::Machine;
use crate::solve::network::{Order, Says, Var};
use crate::solve::platform::Takes;
use crate::solve::request::ImageRequest;
use crate::solve::rowset::RowSet;
use crate::solve::rules::{Needs, law};

/// What a row of a variable needs of a driver.
type NeedsOf<'q> = Box<dyn Fn(usize) -> Vec<DriverNeed> + 'q>;

impl<'q, 'c> Plan<'q, 'c> {
    /// A toolkit and an image for each class, then the drivers, and last what caps them.
    pub(super) fn add_machines(&mut self) {
        let count = self.classes.len();
        self.locals = vec![Local::default(); count];
        let inside = self.request.inside_images();
        for class in 0..count {
            self.locals[class].toolkit = self.toolkit(class);
            if let Some((image, images)) = self.image(class, &inside) {
                self.locals[class].image = Some(image);
                self.locals[class].images = images;
            }
        }
        for class in 0..count {
            self.locals[class].driver = self.driver(class);
        }
        for class in 0..count {
            self.locals[class].others = self.other_drivers(class);
        }
        for group in std::mem::take(&mut self.groups) {
            for &class in &group.classes {
                self.relate_toolkit(class, &group);
                self.add_sources(class, &group);
                self.relate_image(class, &group);
                self.relate_driver(class, &group);
                self.add_witness(class, &group);
            }
            self.groups.push(group);
        }
    }

    fn toolkit(&mut self, class: usize) -> Option<Choice<&'c Toolkit>> {
        let request = self.request;
        let build = request.build.as_ref()?;
        let class_ = self.classes[class].clone();
        // Beside a CPU build there is no CUDA code to compile; beside the CUDA build that all share there is.
        let apart = request.share == Share::Versions || request.targets.iter().all(|target| target.is_cpu());
        if class_.target.is_cpu() && apart && !request.frameworks.is_empty() {
            return None;
        }
        let rows = request.problem.toolkits();
        let key = class_.target.key("toolkit");
        let var =
            self.variable(&rows, (Order::Ascending, vec![Says::Machine(class)]), &key, |row| row.version.as_str());
        self.add_toolkit_clause(var, &rows, class_.target.toolkits.as_deref());
        let mut admitted = RowSet::first(rows.len());
        let refused = class_.machine().refused_toolkits(request.problem, build.arch_list.as_ref());
        refused.apply(&mut admitted, &class_.off);
        self.given[class].push((var, admitted));
        Some(Choice { var, rows })
    }

    fn image(&mut self, class: usize, inside: &Inside<'_>) -> Option<(Choice<&'c Image>, Rc<Images<'c>>)> {
        let request = self.request;
        let class_ = self.classes[class].clone();
        let asked = &class_.target.reading;
        if matches!(asked.image, ImageRequest::No | ImageRequest::Unchecked(_) | ImageRequest::UnseenTag(..)) {
            return None;
        }
        let images = request.problem.images(class_.machine(), inside, &class_.off);
        let rows = images.rows.clone();
        let var =
            self.variable(&rows, (Order::Ascending, vec![Says::Machine(class)]), &class_.target.key("image"), |row| {
                &*row.tag
            });
        let chosen = matches!(asked.image, ImageRequest::Choose(_));
        let admitted = match chosen && !self.policy.unknown {
            true => images.known.clone(),
            false => RowSet::first(rows.len()),
        };
        let admitted = self.leave_out_unstarted(class, &images, admitted);
        self.given[class].push((var, admitted));
        if let Some(wanted) = &request.cuda {
            let follows = chosen && (request.frameworks.is_empty() || request.build.is_some());
            if follows || wanted.depth() > 2 {
                let of_line = RowSet::filter(rows.len(), |row| wanted.admits(&rows[row].cuda));
                self.clause("cuda", vec![(var, of_line)]);
            }
        }
        Some((Choice { var, rows }, images))
    }

    /// An image that starts on none of the drivers that the hosts have is none for them, whichever of them it is.
    fn leave_out_unstarted(&self, class: usize, images: &Images<'c>, mut admitted: RowSet) -> RowSet {
        let (request, class_) = (self.request, &self.classes[class]);
        let asked = &class_.target.reading;
        if asked.is_cpu() || !asked.pins_driver() || class_.off.has(law::id::IMAGE_REQUIRE) {
            return admitted;
        }
        let drivers = self.drivers_of(class);
        admitted.subtract(&class_.machine().unstarted(request.problem, images, &drivers));
        admitted
    }

    fn driver(&mut self, class: usize) -> Option<Choice<DriverRow<'c>>> {
        let class_ = self.classes[class].clone();
        if class_.target.is_cpu() {
            return None;
        }
        let rows = class_.machine().drivers(self.request.problem).rows.clone();
        let admitted = self.drivers_of(class);
        let key = class_.target.key("driver");
        let var =
            self.variable(&rows, (Order::Ascending, vec![Says::Machine(class)]), &key, |row| row.version.as_str());
        self.given[class].push((var, admitted));
        Some(Choice { var, rows })
    }

    /// The other drivers that are listed for a class, one for each.
    fn other_drivers(&mut self, class: usize) -> Vec<(Rc<Machine<'c>>, Choice<DriverRow<'c>>)> {
        if self.classes[class].target.is_cpu() {
            return Vec::new();
        }
        let machines = self.request.problem.others(self.classes[class].machine());
        let mut others = Vec::new();
        for machine in machines.iter() {
            let rows = machine.drivers(self.request.problem).rows.clone();
            let admitted = self.drivers_on(class, machine);
            let because = vec![Says::Machine(class)];
            let var = self.network.variable(rows.len(), Order::Ascending, RowSet::default(), because);
            self.given[class].push((var, admitted));
            others.push((machine.clone(), Choice { var, rows }));
        }
        others
    }

    /// The drivers that a class may have under the policy.
    pub(super) fn drivers_of(&self, class: usize) -> RowSet {
        self.drivers_on(class, self.classes[class].machine())
    }

    /// The same on one of its machines, where several drivers are listed.
    fn drivers_on(&self, class: usize, machine: &Machine<'c>) -> RowSet {
        let forward = match self.policy.forward_compat {
            ForwardCompat::Nobody => false,
            ForwardCompat::All => true,
            ForwardCompat::These(these) => these.contains(&class),
        };
        let class = &self.classes[class];
        let drivers = machine.drivers(self.request.problem);
        let admitted = drivers.admitted(&class.off, forward);
        match self.policy.driver_cap.filter(|_| !class.target.pins_driver()) {
            Some(cap) => admitted.filtered(&|row| drivers.rows[row].version <= *cap),
            None => admitted,
        }
    }

    fn relate_toolkit(&mut self, class: usize, group: &Group<'c>) {
        let Some(toolkit) = self.locals[class].toolkit.clone() else { return };
        for release in &group.releases {
            let extends = self.extending(
                class,
                release.framework,
                toolkit.rows.clone(),
                self.classes[class].target.machine.clone(),
            );
            self.network.relate(release.var, toolkit.var, extends);
        }
        for (companion, ask) in group.companions.iter().zip(&self.request.companions) {
            let Some(compiles) = self.compiling(class, ask.package) else { continue };
            let (releases, rows) = (companion.rows.clone(), toolkit.rows.clone());
            self.network.relate(companion.var, toolkit.var, move |row| {
                RowSet::filter(rows.len(), |at| compiles(releases[row], rows[at]))
            });
        }
        self.relate_libraries(group, &toolkit);
    }

    /// The toolkits with which extensions of a release of a framework are compiled for a class, on a machine with its compilers.
    pub(super) fn extending(
        &self,
        class: usize,
        framework: &'c Framework<'c>,
        toolkits: Rc<[&'c Toolkit]>,
        machine: Rc<Machine<'c>>,
    ) -> impl Fn(usize) -> RowSet + use<'q, 'c> {
        let (request, class) = (self.request, self.classes[class].clone());
        move |row| {
            let mut rows = RowSet::first(toolkits.len());
            let release = &framework.releases[row];
            // Of what was made for a single system, and nobody has seen, the CUDA is not known.
            let on = class.target.platform;
            if !on.is_one_system() || !framework.is_unseen(release, on) {
                machine.refused_extensions(request.problem, release, request.archs()).apply(&mut rows, &class.off);
            }
            for rule in machine.against_compilers_of(framework.package).filter(|rule| !class.off.has(rule.id)) {
                if rule.range.admits(release.version) {
                    rows = rows.filtered(&|at| !rule.speaks_of_toolkit(&toolkits[at].version));
                }
            }
            rows
        }
    }

    /// Whether a toolkit is one for a release of a package; none where no rule of it asks for any.
    pub(super) fn compiling(
        &self,
        class: usize,
        package: &str,
    ) -> Option<impl Fn(&Companion, &Toolkit) -> bool + use<'q, 'c>> {
        let (class, archs) = (self.classes[class].clone(), self.request.archs());
        let rules = self.rules_that_hold(package, Subject::Toolkit, &class.off);
        (!rules.is_empty()).then_some(move |release: &Companion, toolkit: &Toolkit| {
            let gpus = || class.machine().kinds.iter().map(|kind| &kind.gpu.cc_version);
            let speaks = |rule: &Needs| rule.speaks_of(&release.version, gpus(), archs);
            !heeded::takes_toolkit(release)
                || rules.iter().all(|rule| !speaks(rule) || rule.needs.admits(&toolkit.version))
        })
    }

    fn relate_image(&mut self, class: usize, group: &Group<'c>) {
        let Some(image) = self.locals[class].image.clone() else { return };
        let request = self.request;
        let images = self.locals[class].images.clone();
        self.relate_torch_inside(class, group, &image);
        for release in &group.releases {
            let (class, framework, images) = (self.classes[class].clone(), release.framework, images.clone());
            self.network.relate(release.var, image.var, move |row| {
                let (target, release) = (class.target, &framework.releases[row]);
                let mut rows = RowSet::first(images.rows.len());
                let Some(build) = release.on(target.platform) else {
                    // What nobody has seen is made for every system.
                    return if framework.is_unseen(release, target.platform) { rows } else { RowSet::default() };
                };
                if let Some(needs) = build.glibc.filter(|_| !class.off.has(law::id::GLIBC)) {
                    rows.retain(&images.with_glibc(needs, target.glibc));
                }
                if !class.off.has(law::id::IMAGE_HOLDS) {
                    rows.retain(&images.serving(request.catalog, &target.reading, request.cudnn.as_ref(), build));
                }
                if target.platform.takes == Takes::Either && !class.off.has(law::id::IMAGE_OS) {
                    rows.retain(&images.of_systems(request.catalog, &build.systems));
                }
                rows
            });
        }
        // What pip brings is of another release of a major than what an image that is named holds, where it has to be.
        let brought = matches!(self.classes[class].target.image, ImageRequest::Known(_)) && self.brings_cuda();
        let running = group.cuda(class).map(|cuda| (cuda, brought));
        // Of some images only the line is known.
        for (cuda, brought) in running.into_iter().chain(self.locals[class].toolkit.as_ref().map(|one| (one, false))) {
            let (toolkits, images) = (cuda.rows.clone(), image.rows.clone());
            self.network.relate(cuda.var, image.var, move |row| {
                let release = &toolkits[row].version;
                let binds = |image: &Image| if brought { image.cuda.prefix(1) } else { image.cuda };
                RowSet::filter(images.len(), |at| release.cmp_prefix(&binds(images[at])).is_eq())
            });
        }
    }

    /// An image that holds torch is where that torch runs, with the Python that it is installed for.
    fn relate_torch_inside(&mut self, class: usize, group: &Group<'c>, image: &Choice<&'c Image>) {
        let class_ = self.classes[class].clone();
        if class_.off.has(law::id::IMAGE_TORCH) || image.rows.iter().all(|row| row.torch.is_none()) {
            return;
        }
        let on = class_.target.platform;
        // Of the build in a chosen image something is read; in one that is named it may be one that nobody has read.
        let is_chosen = matches!(class_.target.image, ImageRequest::Choose(_));
        let may_be_unread = self.policy.possible && !is_chosen;
        for release in group.releases.iter().filter(|release| release.framework.package == TORCH) {
            let holding = bundled_torch::holding(release.framework, on, &image.rows);
            let (framework, images, held) = (release.framework, image.rows.clone(), holding.clone());
            self.network.relate(release.var, image.var, move |row| {
                let release = &framework.releases[row];
                let build = release.on(on);
                RowSet::filter(images.len(), |at| {
                    let inside = images[at].torch.as_deref();
                    let unread = inside.filter(|_| may_be_unread && !held.has(at));
                    let may_be_inside = |inside: &str| match build {
                        Some(build) => bundled_torch::may_be_inside(inside, build),
                        None => release.version.as_str() == inside,
                    };
                    // A build of one's own may be laid over an image that is named; one to choose offers its own alone.
                    let is_laid_over = !(is_chosen && release.is_own() && inside.is_some());
                    let runs = build.map_or(inside.is_none(), |build| bundled_torch::runs_in(images[at], build));
                    let runs = runs && is_laid_over;
                    runs || unread.is_some_and(may_be_inside)
                })
            });
            if self.is_python_of_image_asked(class) {
                let read = RowSet::filter(image.rows.len(), |at| !holding.has(at) || image.rows[at].python.is_some());
                self.clause("python", vec![(image.var, read)]);
            }
            if let Some(python) = &self.python {
                let (lines, images) = (python.rows.clone(), image.rows.clone());
                let line_of = |image: &Image| image.python.map(|version| version.prefix(2));
                self.network.relate(python.var, image.var, move |row| {
                    let has = |image: &Image| line_of(image).is_none_or(|line| line == lines[row].version);
                    RowSet::filter(images.len(), |at| !holding.has(at) || has(images[at]))
                });
            }
        }
    }

    /// Whether the Python that is written has to be that of an image which is chosen: one that nobody has read does not meet
    /// it. Of an image that is named, what is written tells it.
    fn is_python_of_image_asked(&self, class: usize) -> bool {
        let is_chosen = matches!(self.classes[class].target.image, ImageRequest::Choose(_));
        self.request.python.is_some() && is_chosen && !self.policy.possible
    }

    /// What needs a driver: releases, a CUDA of the system, what a toolkit compiles, and images.
    fn relate_driver(&mut self, class: usize, group: &Group<'c>) {
        let Some(driver) = self.locals[class].driver.clone() else { return };
        self.relate_driver_on(class, group, self.classes[class].target.machine.clone(), &driver);
        for (machine, other) in self.locals[class].others.clone() {
            self.relate_driver_on(class, group, machine, &other);
            // One environment, one cuda-compat.
            let (own, others) = (driver.rows.clone(), other.rows.clone());
            self.network.relate(driver.var, other.var, move |row| {
                let added = own[row].added().map(|compat| compat.cuda);
                RowSet::filter(others.len(), |at| others[at].added().is_none_or(|compat| Some(compat.cuda) == added))
            });
        }
    }

    fn relate_driver_on(
        &mut self,
        class: usize,
        group: &Group<'c>,
        machine: Rc<Machine<'c>>,
        driver: &Choice<DriverRow<'c>>,
    ) {
        let (request, all) = (self.request, driver.rows.len());
        for (from, need) in self.needs_of_drivers(class, group) {
            let (class, machine) = (self.classes[class].clone(), machine.clone());
            self.network.relate(from, driver.var, move |row| {
                let mut rows = RowSet::first(all);
                for need in need(row) {
                    machine.refused_by(request.problem, need).apply(&mut rows, &class.off);
                }
                rows
            });
        }
        if let Some(image) = self.locals[class].image.clone() {
            let class = self.classes[class].clone();
            if class.off.has(law::id::IMAGE_REQUIRE) {
                return;
            }
            self.network.relate(image.var, driver.var, move |row| {
                let key = demand::of_image(request.catalog, Bearing::of(&class.target.reading), image.rows[row]);
                RowSet::first(all).minus(&machine.refused_by_image(request.problem, key))
            });
        }
    }

    /// The first CUDA whose nvJitLink links what a package that is asked for compiles while it runs, whichever of its releases.
    fn links_from(&self) -> Option<Version> {
        let asked = self.packages.iter().zip(&self.request.companions);
        let first = asked.map(|(package, ask)| {
            let admitted = package.releases.iter().filter(|row| ask.constraint.admits(&row.version));
            admitted.map(|row| row.nvjitlink).min().flatten()
        });
        first.max().flatten()
    }

    /// The variables whose rows need a driver of a class, and what each of them needs.
    fn needs_of_drivers(&self, class: usize, group: &Group<'c>) -> Vec<(Var, NeedsOf<'q>)> {
        let request = self.request;
        let mut needs: Vec<(Var, NeedsOf)> = Vec::new();
        for release in &group.releases {
            let of_releases = self.classes[class].machine().needs_of(release.framework);
            needs.push((release.var, Box::new(move |row| vec![of_releases.of(row)])));
        }
        if let Some(cuda) = group.cuda(class) {
            let (rows, links_from) = (cuda.rows.clone(), self.links_from());
            needs.push((cuda.var, Box::new(move |row| driver::needs_of_cuda(rows[row], links_from))));
        }
        let machine = self.classes[class].machine();
        for companion in &group.companions {
            let of_rows = machine.needs_of_package(request.problem, &companion.rows);
            if !of_rows.is_empty() {
                needs.push((companion.var, Box::new(move |row| of_rows[row].clone())));
            }
        }
        if let Some(toolkit) = &self.locals[class].toolkit {
            let (class, rows) = (self.classes[class].clone(), toolkit.rows.clone());
            let list = request.build.as_ref().and_then(|build| build.arch_list.as_ref());
            needs.push((toolkit.var, Box::new(move |row| vec![class.machine().need_of_toolkit(rows[row], list)])));
        }
        needs
    }

    /// Where minimums are capped and the hosts' driver is given, a driver below the cap must do as well.
    fn add_witness(&mut self, class: usize, group: &Group<'c>) {
        let request = self.request;
        let class_ = self.classes[class].clone();
        let Some(cap) = self.policy.driver_cap.filter(|_| !class_.target.is_cpu() && class_.target.pins_driver())
        else {
            return;
        };
        let mut rows = driver::of_generation(request.problem, class_.machine(), &class_.off);
        rows.retain(|row| row.version <= *cap);
        let rows: Rc<[DriverRow]> = rows.into();
        let var = self.network.variable(rows.len(), Order::Ascending, RowSet::default(), vec![Says::Machine(class)]);
        for (from, need) in self.needs_of_drivers(class, group) {
            let (class, rows) = (class_.clone(), rows.clone());
            self.network.relate(from, var, move |row| {
                let needs = need(row).into_iter();
                let met: Vec<_> = needs.map(|need| driver::met_by(request.problem, need, &class.off)).collect();
                RowSet::filter(rows.len(), |at| met.iter().all(|met| met(&rows[at])))
            });
        }
        if let Some(image) = self.locals[class].image.clone().filter(|_| !class_.off.has(law::id::IMAGE_REQUIRE)) {
            self.network.relate(image.var, var, move |row| {
                let key = demand::of_image(request.catalog, Bearing::of(&class_.target.reading), image.rows[row]);
                let starts = image::starts_on(request.problem, class_.machine(), key);
                RowSet::filter(rows.len(), |at| starts(&rows[at]))
            });
        }
    }
}
