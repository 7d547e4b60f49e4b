//! The Linux kernel that a driver needs, where the system of a machine comes with an older one.

use std::rc::Rc;

use crate::catalog::rows::Subject;
use crate::spec::Runtime;
use crate::types::Version;

use super::request::{Request, TargetRequest};
use super::rules::Needs;

/// The rule by which the kernel that a target's system comes with is too old for a driver. Only of bare metal: the system of a
/// container is that of its image, and Linux inside Windows has a kernel of Microsoft's.
pub fn too_old<'a, 'c>(
    request: &'a Request<'c>,
    asked: &TargetRequest<'_>,
    driver: &Version,
) -> Option<&'a Rc<Needs<'c>>> {
    let is_own = asked.runtime == Runtime::BareMetal && !asked.windows_driver;
    let kernel = asked.os.filter(|_| is_own)?.kernel?;
    let mut rules = request.rules.between(Subject::Driver, Subject::Kernel);
    rules.find(|rule| {
        rule.range.admits(driver) && !rule.needs.admits(&kernel) && request.holds(&rule.row.id, &asked.name)
    })
}
