//! Why code of a GPU's own major does not run on it: integrated GPUs (Jetson) and the others of a generation load each
//! their own.

use crate::coverage::{self, Tegra};
use crate::types::{Arch, Suffix};

use super::Explainer;

impl Explainer<'_, '_> {
    /// That a blamed GPU does not load some machine code which its number alone would let it load.
    pub(super) fn integrated(&mut self, code: &[Arch]) {
        let catalog = self.request.catalog;
        let runs = |code: Arch, gpu| coverage::sass_runs(code, gpu, Tegra::Apart);
        let capabilities = self.blamed_gpus().into_iter().map(|gpu| gpu.gpu.cc);
        let unserved = capabilities.filter(|&gpu| !code.iter().any(|&code| runs(code, gpu)));
        let is_near = |code: &&Arch, gpu| code.suffix == Suffix::None && coverage::is_number_enough(code.cc, gpu);
        let refused = |gpu| Some((gpu, *code.iter().rfind(|code| is_near(code, gpu))?));
        let Some((gpu, code)) = unserved.filter_map(refused).next() else { return };
        let says = if coverage::is_integrated(code.cc) {
            format!("machine code for {code}, an integrated GPU (Jetson), runs on no other")
        } else {
            let unified = catalog.tegra_settled();
            let unless = unified.map(|cuda| format!(" unless CUDA {cuda} or newer compiled it")).unwrap_or_default();
            format!(
                "an integrated GPU (Jetson) of {gpu} does not load machine code for {code}{unless}, only that for {gpu}"
            )
        };
        self.say(says);
    }
}
