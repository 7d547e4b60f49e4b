//! The inputs a lock was solved for, in one spelling: what is equal here cannot make a lock stale.

use std::collections::BTreeMap;

use super::value::list_text;
use super::{ForwardCompat, Prefer, Runtime, Share, Spec, Target};
use crate::words::{Constraint, Version};

impl Spec {
    /// Every input that bears on the answer: key and canonical text. Defaults are left out, and
    /// `requires-gpuenv` too, for it asks about the tool.
    pub fn inputs(&self) -> BTreeMap<String, String> {
        let mut inputs = BTreeMap::new();
        let mut put = |key: String, text: String| {
            inputs.insert(key, text);
        };
        for (name, constraint) in &self.stack {
            put(format!("stack.{name}"), without_blanks(&constraint.value));
        }
        // With `cuda-extensions = false` the table is as good as absent; otherwise its presence is an input.
        if let Some(build) = self.build.as_ref().filter(|build| build.cuda_extensions) {
            put("build.cuda-extensions".into(), "true".into());
            if build.ptx {
                put("build.ptx".into(), "true".into());
            }
            if let Some(list) = &build.arch_list {
                put("build.arch-list".into(), list.value.torch());
            }
        }
        for target in &self.targets {
            for (key, text) in target.inputs() {
                put(["target.", &target.name, ".", key].concat(), text);
            }
        }
        match self.resolve.share {
            Share::Stack => {}
            Share::Versions => put("resolve.share".into(), "versions".into()),
            Share::None => put("resolve.share".into(), "none".into()),
        }
        if self.resolve.prefer == Prefer::OldestDriver {
            put("resolve.prefer".into(), "oldest-driver".into());
        }
        if self.resolve.allow_experimental {
            put("resolve.allow-experimental".into(), "true".into());
        }
        if !self.overlays.is_empty() {
            // In file order: a later overlay may amend an earlier one.
            let paths: Vec<&str> = self.overlays.iter().map(|path| path.value.as_str()).collect();
            put("catalog.overlays".into(), list_text(&paths));
        }
        for one in &self.overrides {
            let aim = one.target.as_ref().map_or_else(String::new, |target| format!("@{}", target.value));
            put(format!("override.{}{aim}", one.rule.value), one.reason.value.clone());
        }
        inputs
    }
}

impl Target {
    fn inputs(&self) -> Vec<(&'static str, String)> {
        let mut inputs = Vec::with_capacity(4);
        let mut put = |key, text: Option<String>| inputs.extend(text.map(|text| (key, text)));
        put("gpu", self.gpu.as_ref().map(|gpu| sorted(gpu.value.iter().map(String::as_str).collect())));
        put("driver", self.driver.as_ref().map(|driver| without_blanks(&driver.value)));
        put("driver-cuda", self.driver_cuda.as_ref().map(|version| version.value.to_string()));
        put("os", self.os.as_ref().map(|os| os.value.clone()));
        put("arch", self.arch.as_ref().map(|arch| arch.value.to_string()));
        put("image", self.image.as_ref().map(|image| image.value.to_string()));
        put("forward-compat", (self.forward_compat == ForwardCompat::Never).then(|| "never".to_string()));
        put("glibc", self.glibc.as_ref().map(|version| version.value.to_string()));
        put("gcc", self.gcc.as_ref().map(|version| version.value.to_string()));
        let toolkits = |toolkits: &Vec<Version>| sorted(toolkits.iter().map(Version::as_str).collect());
        put("toolkit", self.toolkit.as_ref().map(|written| toolkits(&written.value)));
        let default = if self.image.is_some() { Runtime::Container } else { Runtime::BareMetal };
        // A target that says nothing must still show in the lock, or adding one would go unnoticed.
        if inputs.is_empty() || self.runtime() != default {
            let runtime = match self.runtime() {
                Runtime::Container => "container",
                Runtime::BareMetal => "bare-metal",
            };
            inputs.push(("runtime", runtime.to_string()));
        }
        inputs
    }
}

/// One name or a list of one mean the same, and so does any order.
fn sorted<S: AsRef<str> + Ord>(mut names: Vec<S>) -> String {
    names.sort();
    names.dedup();
    list_text(&names)
}

/// Blanks separate nothing in a constraint.
fn without_blanks(constraint: &Constraint) -> String {
    constraint.as_str().split_whitespace().collect::<Vec<_>>().concat()
}
