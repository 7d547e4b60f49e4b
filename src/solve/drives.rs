//! The CUDA of an answer as a driver serves it: what needs one, and by which mechanism it has it.

use crate::catalog::rows::TORCH;
use crate::types::{DriverMode, Version};

use super::driver::{self, DriverNeed};
use super::driver_row::DriverRow;
use super::in_image::{self, Brings, OwnCuda};
use super::machine::Machine;
use super::problem::Problem;
use super::rowset::RowSet;
use super::solution::TargetSolution;

impl<'c> TargetSolution<'c> {
    fn brings(&self) -> Brings {
        let cuda = !self.builds.is_empty() || self.cuda.or(self.toolkit).is_some();
        Brings { torch: self.build(TORCH).is_some(), cuda }
    }

    /// What its image has run by itself.
    pub fn own_cuda(&self, problem: &Problem<'c>, machine: &Machine<'c>) -> Option<OwnCuda<'c>> {
        in_image::own_cuda(problem, machine, self.image?, self.brings())
    }

    /// The line of CUDA of that.
    pub fn own_line(&self) -> Option<Version> {
        self.image.filter(|image| in_image::is_own(image, self.brings())).map(|image| image.cuda.prefix(2))
    }

    /// What its packages need of a driver, and its image if any driver runs what that has run by itself.
    pub fn driver_needs(&self, problem: &Problem<'c>, machine: &Machine<'c>, off: &RowSet) -> Vec<DriverNeed> {
        let own = self.own_cuda(problem, machine).filter(|_| !machine.reading.is_jetson());
        let runs = |own: &OwnCuda<'c>| {
            driver::of_generation(problem, machine, off).iter().any(driver::met_by(problem, own.need, off))
        };
        let of_packages = driver::needs_of_packages(problem, (&self.companions, self.cuda), machine);
        of_packages.chain(own.filter(runs).map(|own| own.need)).collect()
    }

    /// Whether a driver's own CUDA version is that of everything chosen, or newer.
    pub(super) fn is_native(&self, driver: &DriverRow<'_>) -> bool {
        let Some(cuda) = driver.branch.cuda.as_ref().filter(|_| driver.compat.is_none()) else { return false };
        let lines = self.builds.iter().filter_map(|build| build.line()).chain(self.own_line());
        let releases = self.toolkit.iter().chain(self.cuda.iter()).map(|toolkit| toolkit.version.prefix(2));
        let pieces = self.pieces.iter().map(|pieces| pieces.toolkit.version.prefix(2));
        lines.chain(releases).chain(pieces).all(|line| line <= *cuda)
    }

    /// The mechanism by which the driver serves the stack.
    pub fn mode(&self) -> DriverMode {
        match &self.driver {
            Some(DriverRow { compat: Some(_), .. }) => DriverMode::ForwardCompat,
            _ if self.native_driver => DriverMode::Native,
            _ => DriverMode::MinorVersion,
        }
    }

    /// Whether the driver that the hosts have does not run what the image has run by itself: a newer one has to come.
    pub fn is_beyond_driver(&self) -> bool {
        let beyond = |driver: &DriverRow<'_>| self.minimum.is_some_and(|minimum| minimum > driver.version);
        self.driver.as_ref().is_some_and(beyond)
    }
}
