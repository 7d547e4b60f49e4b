//! The inputs a lock was solved for, in one spelling: what is equal here cannot make a lock stale.

use std::collections::BTreeMap;

use super::keys::{self, Table};
use super::{OwnBuild, Runtime, Spec, Target};
use crate::types::CpuArch;

impl Spec {
    /// Every input that bears on the answer: key and canonical text. Defaults are left out, and
    /// `requires-gpuenv` too, for it asks about the tool.
    pub fn inputs(&self) -> BTreeMap<String, String> {
        let mut inputs = BTreeMap::new();
        for (name, constraint) in &self.stack {
            let own = self.own.iter().find(|own| own.package == *name);
            let text = own.map_or_else(|| constraint.value.canonical(), OwnBuild::canonical);
            inputs.insert(format!("stack.{name}"), text);
        }
        for (name, asked) in &self.packages {
            inputs.insert(format!("packages.{name}"), asked.value.to_string());
        }
        // With `cuda-extensions = false` the table is as good as absent; otherwise its presence is an input.
        if let Some(build) = self.build.as_ref().filter(|build| build.cuda_extensions) {
            inputs.insert("build.cuda-extensions".into(), "true".into());
            put(&keys::BUILD, build, "build.", &mut inputs);
        }
        for target in self.targets.iter() {
            target.put(&mut inputs);
        }
        put(&keys::RESOLVE, &self.resolve, "resolve.", &mut inputs);
        put(&keys::CATALOG, self, "catalog.", &mut inputs);
        for one in &self.overrides {
            let aim = one.target.as_ref().map_or_else(String::new, |target| format!("@{}", target.value));
            inputs.insert(format!("override.{}{aim}", one.rule.value), one.reason.value.clone());
        }
        inputs
    }
}

impl Target {
    fn put(&self, inputs: &mut BTreeMap<String, String>) {
        let prefix = ["target.", &self.name, "."].concat();
        let before = inputs.len();
        put(&keys::TARGET, self, &prefix, inputs);
        // Where a product implies another, the lock is another one.
        if self.arch.as_ref().is_some_and(|arch| arch.value == CpuArch::X86_64) {
            inputs.remove(&[&prefix, "arch"].concat());
        }
        let key = prefix + "runtime";
        let runtime = inputs.remove(&key);
        let default = if self.image.is_some() { Runtime::Container } else { Runtime::BareMetal };
        // A target that says nothing must still show in the lock, or adding one would go unnoticed.
        if inputs.len() == before || self.runtime() != default {
            inputs.insert(key, runtime.unwrap_or_else(|| "bare-metal".to_string()));
        }
    }
}

fn put<O>(table: &Table<O>, owner: &O, prefix: &str, inputs: &mut BTreeMap<String, String>) {
    for key in table.keys {
        if let Some(text) = key.slot.input(owner) {
            inputs.insert([prefix, key.name].concat(), text);
        }
    }
}
