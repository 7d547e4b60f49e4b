//! Targets that ask for the same thing are one class: a thousand equal machines cost what one does.

use std::fmt::Write;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::catalog::rows::{Class as Market, Subject};
use crate::words::Version;

use super::question::{DriverAsk, GpuAsk, Gpus, ImageAsk, Question, TargetAsk};
use super::rulebook::{Bond, Needs};

/// Targets with equal needs.
#[derive(Debug, Clone)]
pub struct Class<'q, 'c> {
    /// The first of them, which speaks for all.
    pub target: &'q TargetAsk<'c>,
    /// All that it asks, as one text.
    pub identity: Arc<str>,
    /// Positions in the question's list of targets.
    pub members: Vec<usize>,
    /// The GPUs it names, one for each kind that rules can tell apart, with the rules that speak of them.
    pub gpus: Vec<GpuRules<'q, 'c>>,
    /// The rules that keep something from its host compiler or C library.
    pub host: Vec<&'q Needs<'c>>,
}

/// A GPU and the rules about it that hold for its target.
#[derive(Debug, Clone)]
pub struct GpuRules<'q, 'c> {
    /// The GPU.
    pub gpu: &'q GpuAsk<'c>,
    /// What it needs of a CUDA line.
    pub cuda: Vec<&'q Needs<'c>>,
    /// What it needs of a driver.
    pub driver: Vec<&'q Needs<'c>>,
    /// The rules that keep some cuDNN releases from it.
    pub cudnn: Vec<&'q Needs<'c>>,
}

impl<'c> Class<'_, 'c> {
    /// All that it asks, as what decides which rows go together on its machines.
    pub fn bond(&self) -> Bond<'c> {
        Bond::Class(self.identity.clone())
    }
}

/// The classes of a question's targets, in the order of their first members.
pub fn classes<'q, 'c>(question: &'q Question<'c>) -> Vec<Class<'q, 'c>> {
    let mut at: FxHashMap<Arc<str>, usize> = FxHashMap::default();
    let mut classes: Vec<Class> = Vec::new();
    for (position, target) in question.targets.iter().enumerate() {
        let identity: Arc<str> = identity(question, target).into();
        let class = *at.entry(identity.clone()).or_insert(classes.len());
        if class == classes.len() {
            let (gpus, host) = (gpu_rules(question, target), host_rules(question, target));
            classes.push(Class { target, identity, members: Vec::new(), gpus, host });
        }
        classes[class].members.push(position);
    }
    classes
}

/// What rules can tell products of one capability apart by.
fn kind<'a>(gpu: &'a GpuAsk<'_>) -> Option<(Market, Option<&'a Version>)> {
    gpu.row.map(|row| (row.class, row.first_driver.as_ref()))
}

/// The GPUs a target names, one for each kind that rules can tell apart, with the rules that speak of them.
pub fn gpu_rules<'q, 'c>(question: &'q Question<'c>, target: &'q TargetAsk<'c>) -> Vec<GpuRules<'q, 'c>> {
    let mut kinds: Vec<GpuRules> = Vec::new();
    for gpu in target.named_gpus() {
        let like = |known: &GpuRules| known.gpu.cc == gpu.cc && kind(known.gpu) == kind(gpu);
        if kinds.iter().any(like) {
            continue;
        }
        let rules = |object| {
            let about = question.rules.about(Subject::Gpu, &gpu.cc_version, object);
            about.filter(|needs| question.holds(&needs.row.id, &target.name)).collect()
        };
        let of_cudnn = question.rules.between(Subject::Cudnn, Subject::Gpu);
        let refusing = of_cudnn.filter(|needs| !needs.needs.admits(&gpu.cc_version));
        let cudnn = refusing.filter(|needs| question.holds(&needs.row.id, &target.name)).collect();
        kinds.push(GpuRules { gpu, cuda: rules(Subject::Cuda), driver: rules(Subject::Driver), cudnn });
    }
    kinds
}

/// The rules that hold for a target and that its host compiler or C library breaks.
fn host_rules<'q, 'c>(question: &'q Question<'c>, target: &TargetAsk<'c>) -> Vec<&'q Needs<'c>> {
    let parts = [(Subject::Glibc, target.glibc), (Subject::Gcc, target.gcc)];
    let known = parts.into_iter().filter_map(|(object, has)| Some((object, has?)));
    let broken = known.flat_map(|(object, has)| question.rules.on(object).filter(move |rule| !rule.needs.admits(&has)));
    broken.filter(|rule| question.holds(&rule.row.id, &target.name)).collect()
}

/// Everything of a target that the solver looks at, as one text.
pub fn identity(question: &Question<'_>, target: &TargetAsk<'_>) -> String {
    let mut text = format!("{:?}|{}|", target.runtime, target.arch);
    match &target.gpus {
        Gpus::Unsaid => text.push('?'),
        Gpus::Cpu => text.push_str("cpu"),
        Gpus::These(gpus) => gpus.iter().for_each(|gpu| {
            let _ = write!(text, "{}/{},", gpu.name, gpu.cc);
        }),
    }
    let _ = match &target.driver {
        DriverAsk::Free(None) => write!(text, "|free"),
        DriverAsk::Free(Some(bound)) => write!(text, "|free {bound}"),
        DriverAsk::Exact(version) => write!(text, "|={version}"),
        DriverAsk::AtWorst(constraint) => write!(text, "|at worst {constraint}"),
        DriverAsk::Cuda(version) => write!(text, "|cuda {version}"),
    };
    let _ = match &target.image {
        ImageAsk::No => write!(text, "|"),
        ImageAsk::Choose(repository) => write!(text, "|{repository}"),
        ImageAsk::Known(image) => write!(text, "|{}:{}", image.repository, image.tag),
        ImageAsk::NoSuchTag(image) | ImageAsk::Unchecked(image) => write!(text, "|{image:?}"),
    };
    let mut say = |part: &str| {
        text.push('|');
        text.push_str(part);
    };
    say(target.os.map_or("", |os| &os.id));
    say(target.glibc.as_ref().map_or("", Version::as_str));
    say(target.gcc.as_ref().map_or("", Version::as_str));
    say(if target.toolkits.is_some() { "has" } else { "" });
    target.toolkits.iter().flatten().for_each(|toolkit| say(toolkit.as_str()));
    say(if target.forward_compat { "forward" } else { "" });
    let off = question.off.iter().filter(|off| off.target.as_ref().is_none_or(|name| *name == target.name));
    off.for_each(|off| say(&off.rule));
    text
}
