//! One package that a file asks for: into `[stack]`, into `[packages]`, or left out with the reason.

use super::super::{Manifest, Wanted, conda, is_variant, ordinary};
use super::versions::{constraint, extra_variant, known_releases};
use super::{
    AND_CUDA, APEX, COMES, COMES_ALONG, FRAMEWORKS, Kind, Merged, NVIDIAS, NVIDIAS_APEX, OVERRIDDEN, TORCH, UNTOLD,
    claim, is_exact, other_maker, place,
};
use crate::spec;
use crate::types::{Constraint, Specifier, variant};

/// Why a package is left out that holds code for a CUDA, and is not the one of which that is known.
const OF_OWN_INDEX: &str = "another build than that of the public index, from an index of its own: install it from there behind what the lock names";

impl<'c> Merged<'c> {
    pub(super) fn package(&mut self, manifest: &'c Manifest, wanted: Wanted, variant: Option<String>) {
        let file = manifest.name.as_str();
        let name = self.name_of(&wanted).to_string();
        if let Some(why) = self.met(&name, &wanted).or_else(|| self.of_own_index(file, &name, &wanted)) {
            return self.leave(file, wanted.line, &wanted.written, why);
        }
        if !self.is_chosen(&wanted) {
            let has_each = conda::OF_EACH_CUDA.contains(&name.as_str()) && manifest.kind == Kind::Conda;
            return match has_each || !self.names_of(&name).is_empty() {
                true => self.of_each_cuda.push((manifest, wanted)),
                false => self.beside(file, &name, wanted),
            };
        }
        let is_framework = FRAMEWORKS.contains(&name.as_str());
        if wanted.is_over && !is_framework {
            return self.over.push((manifest, wanted));
        }
        let label = variant::parts(wanted.version.trim_start_matches('=')).1;
        if let Some(whose) = label.and_then(other_maker).filter(|_| is_framework) {
            return self.leave(file, wanted.line, &wanted.written, format!("it is built for {whose}"));
        }
        if let Some(label) = label.filter(|it| !is_framework && !is_variant(it) && wanted.address.is_none()) {
            let why = format!("taken without its build `+{label}`, which lies on an index of its own");
            self.leave(file, wanted.line, &wanted.written, why);
        }
        let (known, is_told) = (known_releases(&name, self.catalog), variant.is_some());
        let variant = variant.filter(|_| name == TORCH);
        let variant = self.of_wheels(file, &wanted, variant, &known);
        let is_cpu =
            is_framework && (wanted.name.ends_with("-cpu") || wanted.extras.iter().any(|extra| extra == "cpu"));
        let variant = if is_cpu { Some("cpu".to_string()) } else { variant };
        let is_with_cuda = |extra: &String| extra == AND_CUDA || extra_variant(extra).is_some();
        let is_for_gpu = wanted.is_of_conda || wanted.name.ends_with("-gpu");
        if is_framework && (is_for_gpu || wanted.extras.iter().any(is_with_cuda)) {
            self.with_cuda.insert(name.clone());
        }
        let said = constraint(&name, &wanted, variant, &known);
        let Some(constraint) = said.and_then(|said| self.with_label(&name, said, label)) else {
            let why = "its version is not written as gpuenv.toml can say it".to_string();
            return self.leave(file, wanted.line, &wanted.written, why);
        };
        if let Some(why) = self.of_conda_alone(&name, &constraint).filter(|_| wanted.is_of_conda && !is_framework) {
            return self.leave(file, wanted.line, &wanted.written, why.to_string());
        }
        if wanted.is_elsewhere {
            let told = if is_told { "whose wheels may be others" } else { UNTOLD };
            self.leave(file, wanted.line, &wanted.written, format!("taken without its index, {told}"));
        }
        self.leave_address(file, &wanted);
        self.leave_extras(file, &name, &wanted);
        let mut note = match manifest.kind {
            Kind::UvLock => format!("{}, as locked there", place(file, wanted.line)),
            _ => place(file, wanted.line),
        };
        if let Some(group) = &wanted.group {
            note += &format!(", of the extra or group `{group}`");
        }
        self.is_renewed |= name == TORCH && (wanted.is_renewed || wanted.is_forced) && constraint.single().is_none();
        // A condition on a build says where that build is, not what else would do.
        let is_exact = is_exact(&name, &constraint) || wanted.marker.is_some() && constraint.pins_variant();
        self.stack.push(&name, claim(constraint, is_exact, file, wanted, note));
    }

    /// What gpuenv does not choose: it goes to `[packages]`, or is told of. A part of JAX says which CUDA that is for.
    fn beside(&mut self, file: &str, name: &str, wanted: Wanted) {
        if wanted.is_library || wanted.is_vague && !self.is_read(name) {
            return self.libraries.push((wanted.line, wanted.written));
        }
        if let Some(asked) = of_jax(&wanted).and_then(|variant| Constraint::parse(&format!("+{variant}")).ok()) {
            let why = format!("`jax` is taken for its CUDA (`{}`), and pins it", asked.as_str());
            self.leave(file, wanted.line, &wanted.written, why);
            let note = place(file, wanted.line);
            return self.stack.push("jax", claim(asked, false, file, wanted, note));
        }
        if name.starts_with(NVIDIAS) {
            return self.nvidias.push((file.to_string(), wanted));
        }
        self.aside(file, name, wanted);
    }

    /// What goes to `[packages]`, or is told of.
    pub(super) fn aside(&mut self, file: &str, name: &str, wanted: Wanted) {
        self.of_wheel(file, &wanted);
        let text = self.ordinary(name, &wanted);
        match text.as_ref().map(|text| Specifier::split(text)) {
            Ok(Some((name, asked))) => {
                if wanted.is_over && wanted.is_locked {
                    self.leave(file, wanted.line, &wanted.written, OVERRIDDEN.to_string());
                }
                let is_exact = asked.comparisons.iter().any(|one| one.starts_with("==") && !one.ends_with('*'));
                let note = place(file, wanted.line);
                self.packages.push(name, claim(asked, is_exact, file, wanted, note));
            }
            Ok(None) => {}
            Err(why) => self.leave(file, wanted.line, &wanted.written, why.clone()),
        }
    }

    /// What `[packages]` holds of a package that the catalog does not have; an error says why nothing.
    fn ordinary(&self, name: &str, wanted: &Wanted) -> Result<String, String> {
        if COMES_ALONG.iter().any(|start| name.starts_with(start)) {
            return Err(COMES.to_string());
        }
        if name == APEX {
            return Err(NVIDIAS_APEX.to_string());
        }
        // Builds with a label of their own lie on no public index.
        if wanted.is_elsewhere || wanted.version.contains('+') {
            return Err("it comes from an index of its own: [packages] names what the public one has".to_string());
        }
        ordinary::requirement(wanted)
    }

    /// Why a package is left out that holds code for a CUDA of its own and is not the public index's, of which the catalog tells.
    fn of_own_index(&mut self, file: &str, name: &str, wanted: &Wanted) -> Option<String> {
        let of_it = wanted.own_cuda.as_ref().map(|cuda| (cuda.clone(), place(file, wanted.line)));
        let is_own = (of_it.is_some() || wanted.is_elsewhere) && !FRAMEWORKS.contains(&name) && self.has_own_cuda(name);
        self.own_cuda = self.own_cuda.take().or(of_it.filter(|_| is_own));
        is_own.then(|| OF_OWN_INDEX.to_string())
    }

    /// What such a package loads is of one major of CUDA: where no line names another, the stack is for that.
    pub(super) fn cuda_of_own_index(&mut self) {
        let is_told = self.stack.has("cuda") || self.stack.of(TORCH).any(Constraint::pins_variant);
        if let Some((cuda, at)) = self.own_cuda.take().filter(|_| !is_told) {
            self.ask_for("cuda", &cuda, format!("{at}, whose index is for it"));
        }
    }
}

/// The variant that a part of JAX is of: `jax-cuda12-plugin`, jaxlib 0.4.10+cuda12.cudnn88.
fn of_jax(wanted: &Wanted) -> Option<String> {
    let label = variant::parts(&wanted.version).1.filter(|_| wanted.name == "jaxlib");
    label
        .or_else(|| wanted.name.strip_prefix("jax-").filter(|_| wanted.name.starts_with(spec::other_names::OF_JAX)))
        .and_then(extra_variant)
}
