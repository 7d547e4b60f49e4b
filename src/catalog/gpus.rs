//! GPU products by the names people and nvidia-smi use.
//!
//! A name is tried as a whole first ("RTX 3090" is not the RTX 3090 Ti), then as a family ("Tesla V100" is
//! every product it begins). Several products are one answer as long as they agree in what decides anything:
//! compute capability, market, last driver branch and CPU architecture.

use std::borrow::Cow;

use super::lookup::{SUGGESTIONS, nearest};
use super::names::{apart, fold, hits, index, is_brand, is_number, without_maker, written};
use super::rows::{Class, Gpu, Toolkit};
use super::tables::Catalog;
use crate::types::{Cc, CpuArch, Version};

/// Names of more words are not looked through for one of a product.
const MOST_WORDS: usize = 12;

/// What a name in `gpu` means.
#[derive(Debug, Clone, PartialEq)]
pub enum GpuMatch<'c> {
    /// These products, which agree in everything that matters; each must be served.
    Found(Vec<&'c Gpu>),
    /// A bare compute capability, `sm_90` or `9.0`: no product, so no class.
    Bare(Cc),
    /// `none`: no GPU.
    Cpu,
    /// Products that differ in what matters.
    Ambiguous(Vec<&'c Gpu>),
    /// No product; these names come nearest.
    Unknown(Vec<&'c str>),
}

impl Catalog {
    /// Whether there are GPUs of a compute capability, or a compiler for them.
    pub fn knows_capability(&self, cc: Cc) -> bool {
        let compiled = |row: &Toolkit| row.sass.iter().any(|arch| arch.cc == cc);
        self.gpus.iter().any(|gpu| gpu.cc == cc) || self.toolkits.iter().any(compiled)
    }

    /// The processor that every product of a compute capability comes with; none where some come without one.
    pub fn cpu_of(&self, cc: Cc) -> Option<CpuArch> {
        let mut processors = self.gpus.iter().filter(|gpu| gpu.cc == cc).map(|gpu| gpu.cpu);
        let first = processors.next()??;
        processors.all(|other| other == Some(first)).then_some(first)
    }

    /// Why a part of a board that is known is none that runs CUDA, and what to name instead.
    ///
    /// Sources: <https://docs.nvidia.com/ai-enterprise/release-6/latest/appendix/vgpu.html> (the C series is for compute; A and
    /// B are for applications and desktops) and
    /// <https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html> (boards with MIG).
    pub fn without_cuda(&self, name: &str) -> Option<&'static str> {
        let is_known = |board: &str| self.products(board).is_some();
        if vgpu(name).is_some_and(|(board, series)| matches!(series, 'A' | 'B') && is_known(board)) {
            return Some(
                "vGPU types of the series A and B run no CUDA: use a type of series C or Q, and name that one here",
            );
        }
        board_of_mig(name).filter(|board| is_known(board)).map(|_| {
            "this board has no MIG instances: the largest data-centre boards since the A100 have, and RTX PRO Blackwell boards; \
             name the whole board"
        })
    }

    /// Finds the products a name means.
    pub fn gpu(&self, name: &str) -> GpuMatch<'_> {
        let name = name.trim();
        if name.eq_ignore_ascii_case("none") {
            return GpuMatch::Cpu;
        }
        if let Ok(cc) = Cc::parse(&name.to_lowercase()) {
            return GpuMatch::Bare(cc);
        }
        match self.boards(name) {
            Some(gpus) if agree(&gpus) && !has_namesakes(&gpus) => GpuMatch::Found(gpus),
            Some(gpus) => GpuMatch::Ambiguous(gpus),
            None => GpuMatch::Unknown(self.suggestions(name)),
        }
    }

    /// The boards that a name is of: theirs, a part of theirs, or theirs with a size.
    pub(super) fn boards(&self, name: &str) -> Option<Vec<&Gpu>> {
        let found = self.products(name).or_else(|| {
            let boards = self.products(board_of_mig(name)?)?;
            boards.iter().all(|board| has_mig(board)).then_some(boards)
        });
        let found = found.or_else(|| {
            let board = vgpu(name).filter(|(_, series)| matches!(series, 'C' | 'Q'))?.0;
            // `RTX6000` is the Quadro RTX 6000: types of the RTX 6000 Ada have its whole name.
            let boards = self.named_in_full(board).or_else(|| self.products(board))?;
            boards.iter().all(|board| has_vgpu(board)).then_some(boards)
        });
        found.or_else(|| self.products(without_size(name)?))
    }

    fn products(&self, name: &str) -> Option<Vec<&Gpu>> {
        // nvidia-smi cuts long names short: "NVIDIA RTX PRO 1000 Blac...".
        if let Some(start) = name.strip_suffix("...") {
            let words = fold(start);
            let begins = |product: Vec<String>| product.join(" ").starts_with(&words.join(" "));
            return some(self.gpus.iter().filter(|gpu| words.len() > 1 && written(gpu).any(begins)).collect());
        }
        let wanted = without_maker(&fold(name)).join(" ");
        if wanted.is_empty() {
            return None;
        }
        let hits = hits(&self.names(), &wanted);
        match self.gpus_at(hits.whole) {
            // Two products of one name are not told apart by it, however alike they are.
            Some(gpus) if has_namesakes(&gpus) => Some(gpus),
            // "Titan" is a brand, whose boards may have a generation's name before it or none.
            Some(gpus) if is_brand(&wanted) && !gpus.iter().any(|gpu| is_called(gpu, &wanted)) => {
                self.gpus_at(hits.family)
            }
            // "H100" is a product of its own, but who says it means the family; "RTX 3090" never does.
            Some(gpus) if agree(&gpus) && gpus.iter().all(|gpu| gpu.class == Class::Datacenter) => {
                let same = |gpu: &&Gpu| gpu.class == Class::Datacenter && gpu.cc == gpus[0].cc;
                let members: Vec<&Gpu> = self.gpus_at(hits.family).into_iter().flatten().filter(same).collect();
                Some(if agree(&members) && !members.is_empty() { members } else { gpus })
            }
            Some(gpus) => Some(gpus),
            None => self.with_plain(name, self.gpus_at(hits.family)),
        }
    }

    /// A family, and the board of that name without a size: of the RTX 3050 6GB drivers tell the laptop's size alone.
    fn with_plain<'c>(&'c self, name: &str, family: Option<Vec<&'c Gpu>>) -> Option<Vec<&'c Gpu>> {
        let mut family = family?;
        let plain = without_size(name).map(|plain| without_maker(&fold(plain)).join(" "));
        let boards = plain.and_then(|plain| self.gpus_at(hits(&self.names(), &plain).whole)).unwrap_or_default();
        let others = boards.into_iter().filter(|board| board.class != Class::Datacenter && !family.contains(board));
        family.extend(others.collect::<Vec<_>>());
        Some(family)
    }

    /// The products that are called so, words for a brand before it aside.
    fn named_in_full(&self, name: &str) -> Option<Vec<&Gpu>> {
        self.gpus_at(hits(&self.names(), &without_maker(&fold(name)).join(" ")).called)
    }

    /// The index of names. Rows that were added since the catalog was put in order are not in the one that it has.
    fn names(&self) -> Cow<'_, str> {
        match &*self.gpu_index {
            "" => Cow::Owned(index(&self.gpus)),
            index => Cow::Borrowed(index),
        }
    }

    fn gpus_at(&self, at: Vec<usize>) -> Option<Vec<&Gpu>> {
        some(at.into_iter().filter_map(|at| self.gpus.get(at)).collect())
    }

    /// What a name that is almost one most likely means: the products that have all of its words in another order
    /// (`RTX 6000 Pro`); that it begins when blanks do not count (`RTXPro6000D`); or that some of its words name, whatever
    /// stands around them: `GB300 NVL72` is a rack of GB300, `MSI GeForce RTX 4090 Gaming X Trio` what a shop sells.
    fn almost(&self, name: &str) -> Vec<&str> {
        let folded = fold(name);
        let wanted = without_maker(&folded);
        if !is_numbered(&wanted.concat()) {
            return Vec::new();
        }
        let has_all = |gpu: &&Gpu| written(gpu).any(|product| wanted.iter().all(|word| product.contains(word)));
        let reordered: Vec<&Gpu> = self.gpus.iter().filter(has_all).collect();
        if !reordered.is_empty() {
            return shortest(reordered);
        }
        let squeezed = wanted.concat();
        let begins = |gpu: &&Gpu| without_maker(&fold(&gpu.name)).concat().starts_with(&squeezed);
        let begun: Vec<&Gpu> = self.gpus.iter().filter(begins).collect();
        if !begun.is_empty() {
            return shortest(begun);
        }
        // A slip in each word is nearer than a shorter name among them: `GeFroce 1080 Tii` is no 1080.
        let is_slip = |gpu: &&Gpu| {
            let product = fold(&gpu.name);
            wanted.iter().all(|word| product.iter().any(|own| is_near_word(word, own)))
        };
        let slips: Vec<&Gpu> = self.gpus.iter().filter(is_slip).collect();
        if !slips.is_empty() {
            return shortest(slips);
        }
        self.within(name).map_or(Vec::new(), shortest)
    }

    /// The products that the most words of a name in a row are the whole name of.
    fn within(&self, name: &str) -> Option<Vec<&Gpu>> {
        let words: Vec<&str> = name.split_whitespace().take(MOST_WORDS).collect();
        let runs = (1..words.len()).rev().flat_map(|many| words.windows(many));
        // A brand alone names nothing.
        runs.map(|run| run.join(" ")).filter(|run| is_numbered(run)).find_map(|run| self.named_in_full(&run))
    }

    fn suggestions(&self, name: &str) -> Vec<&str> {
        let wanted = apart(&without_maker(&fold(name)).join(" "));
        let meant = self.almost(name);
        if !meant.is_empty() {
            return meant;
        }
        let all = self.gpus.iter().map(|gpu| (apart(&without_maker(&fold(&gpu.name)).join(" ")), &*gpu.name));
        let near = nearest(&wanted, all.filter(|(product, _)| is_like(&wanted, product)));
        if !near.is_empty() {
            return near;
        }
        // What people call a product may be like nothing that drivers do.
        let aliases = self.gpus.iter().flat_map(|gpu| gpu.aliases.iter());
        let aliases = aliases.map(|alias| (without_maker(&fold(alias)).join(" "), &**alias));
        nearest(&wanted, aliases.filter(|(alias, _)| is_like(&wanted, alias)))
    }
}

fn is_numbered(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
}

/// Whether a word is another but for one slip of the pen; a number has to be the same.
fn is_near_word(word: &str, other: &str) -> bool {
    word == other || !is_numbered(word) && strsim::damerau_levenshtein(word, other) <= 1
}

/// Whether a slip of the pen may part two names: boards are told apart by their numbers, and a GTX 1050 is no A100.
fn is_like(wanted: &str, product: &str) -> bool {
    fn numbers(name: &str) -> impl Iterator<Item = &str> {
        name.split(' ').filter(|word| word.contains(|c: char| c.is_ascii_digit()))
    }
    numbers(wanted).all(|one| numbers(product).any(|other| strsim::damerau_levenshtein(one, other) <= 1))
}

/// Whether a product is called by exactly these words, its maker's name aside.
fn is_called(gpu: &Gpu, words: &str) -> bool {
    written(gpu).any(|product| without_maker(&product).join(" ") == words)
}

fn some(gpus: Vec<&Gpu>) -> Option<Vec<&Gpu>> {
    (!gpus.is_empty()).then_some(gpus)
}

/// The names of a few products, the shortest first, each once.
fn shortest(gpus: Vec<&Gpu>) -> Vec<&str> {
    let mut names: Vec<&str> = gpus.into_iter().map(|gpu| &*gpu.name).collect();
    names.sort_by_key(|name| (name.len(), *name));
    names.dedup();
    names.truncate(SUGGESTIONS);
    names
}

/// Whether two of the products have one name, blanks and case aside.
fn has_namesakes(gpus: &[&Gpu]) -> bool {
    let plain = |name: &str| name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let mut names: Vec<String> = gpus.iter().map(|gpu| plain(&gpu.name)).collect();
    names.sort();
    names.windows(2).any(|pair| pair[0] == pair[1])
}

/// Whether products agree in what decides anything.
fn agree(gpus: &[&Gpu]) -> bool {
    fn key(gpu: &Gpu) -> (Cc, bool, Option<&Version>, Option<CpuArch>) {
        (gpu.cc, gpu.class == Class::Datacenter, gpu.last_branch.as_ref(), gpu.cpu)
    }
    gpus.windows(2).all(|pair| key(pair[0]) == key(pair[1]))
}

/// The board that a MIG instance is a part of: `NVIDIA A100-SXM4-80GB MIG 1g.10gb` is a slice of an A100, and in labels of
/// Kubernetes' nodes `NVIDIA-A100-SXM4-80GB-MIG-1g.10gb`.
fn board_of_mig(name: &str) -> Option<&str> {
    let (board, instance) = name.rsplit_once(" MIG ").or_else(|| name.rsplit_once("-MIG-"))?;
    // `1c.3g.40gb` is a compute instance, `1g.10gb+me` has the media engines.
    let (slices, size) = instance.trim().split_once("g.")?;
    let slices = slices.rsplit_once("c.").map_or(slices, |(_, slices)| slices);
    let (memory, _) = size.split_once("gb")?;
    let is_one = |number: &str| !number.is_empty() && is_number(number);
    (is_one(slices) && is_one(memory)).then_some(board)
}

/// The board behind a vGPU type, and the type's series: `GRID A100X-40C` is a slice of an A100X, `L40S-48C` of an L40S,
/// `A100D-1-10C` one that MIG makes.
fn vgpu(name: &str) -> Option<(&str, char)> {
    let (board, profile) = name.rsplit_once('-')?;
    let profile = profile.strip_suffix("ME").unwrap_or(profile);
    let series = profile.chars().last().filter(|series| matches!(series, 'A' | 'B' | 'C' | 'Q'))?;
    let size = &profile[..profile.len() - 1];
    let is_profile = !size.is_empty() && is_number(size);
    let board = board.strip_prefix("NVIDIA ").unwrap_or(board);
    let board = board.strip_prefix("GRID ").unwrap_or(board);
    let whole = board.rsplit_once('-').filter(|(_, slices)| slices.len() == 1 && is_number(slices));
    is_profile.then_some((whole.map_or(board, |(whole, _)| whole), series))
}

/// Whether a board can be split into MIG instances.
fn has_mig(board: &Gpu) -> bool {
    match board.cc.number() {
        80 | 90 | 100 | 103 => board.class == Class::Datacenter,
        120 => matches!(board.class, Class::Datacenter | Class::Workstation),
        _ => false,
    }
}

/// Whether a board has vGPU types: those for games and mining have none.
fn has_vgpu(board: &Gpu) -> bool {
    !matches!(board.class, Class::Geforce | Class::Titan | Class::Mining)
}

/// The board without what shops write behind it and drivers do not: its memory, `RTX 3060 12GB`, or that it is a kit.
fn without_size(name: &str) -> Option<&str> {
    let kits = [" Developer Kit", " Engineering Reference Developer Kit", " Module"];
    let board = kits.iter().fold(name, |name, kit| name.strip_suffix(kit).unwrap_or(name));
    let sized = board.strip_suffix(')').unwrap_or(board);
    let size = sized.strip_suffix("GB").or(sized.strip_suffix("gb")).map(str::trim_end);
    let plain = size.map(|size| size.trim_end_matches(|c: char| c.is_ascii_digit()));
    let plain = plain.filter(|plain| plain.ends_with([' ', '(']) && size != Some(*plain));
    let plain = plain.map_or(board, |plain| plain.trim_end_matches([' ', '(']));
    (plain != name).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::super::BUILTIN;
    use super::*;

    fn cc(name: &str) -> String {
        match BUILTIN.gpu(name) {
            GpuMatch::Found(gpus) => gpus[0].cc.to_string(),
            GpuMatch::Bare(cc) => format!("bare {cc}"),
            GpuMatch::Cpu => "cpu".into(),
            GpuMatch::Ambiguous(gpus) => format!("ambiguous: {:?}", gpus.iter().map(|g| &g.name).collect::<Vec<_>>()),
            GpuMatch::Unknown(near) => format!("unknown, near {near:?}"),
        }
    }

    fn names(name: &str) -> Vec<&'static str> {
        match BUILTIN.gpu(name) {
            GpuMatch::Found(gpus) => gpus.into_iter().map(|gpu| &*gpu.name).collect(),
            other => panic!("{name}: {other:?}"),
        }
    }

    /// Names as they stand in nvidia-smi output and reports of real machines.
    const REAL: &[(&str, &str)] = &[
        ("2.1", "NVS 4200M"),
        ("3.0", "GeForce GT 750M, Quadro K2000"),
        ("3.5", "Tesla K40m, Tesla K40, K20X"),
        ("3.7", "Tesla K80"),
        ("3.0", "GRID K1, GRID K2, GeForce GTX 870M"),
        ("5.0", "Tesla M10, M10, GRID M10-8Q"),
        ("5.2", "Tesla M60, Quadro M2000"),
        ("5.3", "NVIDIA Tegra X1, Jetson Nano"),
        ("6.0", "Tesla P100-PCIE-16GB, Tesla P100, P100"),
        ("6.1", "NVIDIA GeForce GTX 1050, NVIDIA GeForce GTX 1050 Ti, NVIDIA GeForce GTX 1060 6GB, GTX 1060 6GB"),
        ("6.1", "NVIDIA GeForce GTX 1080, NVIDIA GeForce GTX 1080 Ti, GTX1080Ti, NVIDIA P104-100"),
        ("6.1", "TITAN Xp, TITAN X (Pascal)"),
        ("7.0", "Tesla V100, Tesla V100-PCIE-16GB, Tesla V100-PCIE-32GB, Tesla V100-SXM2-32GB, V100"),
        ("7.0", "Tesla V100S-PCIE-32GB, TITAN V"),
        ("7.5", "GeForce GTX 1660 Ti, NVIDIA GeForce GTX 1660 Ti, GeForce RTX 2080 Ti, NVIDIA GeForce RTX 2080 Ti"),
        ("7.5", "NVIDIA GeForce RTX 2060, NVIDIA GeForce RTX 2070, NVIDIA GeForce RTX 2070 SUPER"),
        ("7.5", "NVIDIA GeForce RTX 2080 Super, NVIDIA TITAN RTX, Quadro RTX 6000, Quadro RTX 8000, Tesla T4, T4"),
        ("8.0", "A100, NVIDIA A100-PCIE-40GB, A100-SXM4-40GB, NVIDIA A100-SXM4-80GB, NVIDIA A100 80GB PCIe"),
        ("8.0", "NVIDIA A100-SXM-64GB, NVIDIA A800-SXM4-80GB, NVIDIA A30, GRID A100X-40C, NVIDIA PG509-210"),
        ("8.6", "NVIDIA A10, A10, NVIDIA A10G, NVIDIA A16, RTX A6000, NVIDIA RTX A6000, A6000, NVIDIA A40"),
        ("8.6", "NVIDIA GeForce RTX 3050 Laptop GPU, NVIDIA GeForce RTX 3050 Ti Laptop GPU, NVIDIA GeForce RTX 3060"),
        ("8.6", "NVIDIA GeForce RTX 3060 Laptop GPU, NVIDIA GeForce RTX 3070 Laptop GPU, NVIDIA GeForce RTX 3080"),
        ("8.6", "NVIDIA GeForce RTX 3080 Ti, NVIDIA GeForce RTX 3090, RTX 3090, NVIDIA GeForce RTX 3090 Ti, RTX3090"),
        ("8.7", "Orin, NVIDIA Orin, Jetson AGX Orin, Jetson Orin, Jetson Orin Nano"),
        ("8.9", "NVIDIA GeForce RTX 4060, NVIDIA GeForce RTX 4060 Ti, NVIDIA GeForce RTX 4070 Laptop GPU"),
        ("8.9", "NVIDIA GeForce RTX 4080, NVIDIA GeForce RTX 4080 Laptop GPU, NVIDIA GeForce RTX 4080 SUPER"),
        (
            "8.9",
            "NVIDIA GeForce RTX 4090, NVIDIA GeForce RTX 4090 D, NVIDIA L4, L4, NVIDIA L20, NVIDIA L40, NVIDIA L40S",
        ),
        ("8.9", "NVIDIA L40S-48C, NVIDIA RTX 4000 Ada Generation, NVIDIA RTX 4500 Ada Generation"),
        ("8.9", "NVIDIA RTX 5000 Ada Generation, NVIDIA RTX 6000 Ada Generation, RTX 6000 Ada"),
        ("9.0", "H100, NVIDIA H100, H100 NVL, NVIDIA H100 PCIe, NVIDIA H100 80GB HBM3, NVIDIA H200, NVIDIA H800"),
        ("9.0", "GH200, NVIDIA GH200 480GB, GH200 480GB, NVIDIA GH200 144G HBM3e"),
        ("10.0", "NVIDIA B200, GB200"),
        ("10.3", "B300, GB300"),
        ("11.0", "NVIDIA Thor, Thor, Jetson AGX Thor"),
        (
            "12.0",
            "NVIDIA GeForce RTX 5070, NVIDIA GeForce RTX 5080 Laptop GPU, NVIDIA GeForce RTX 5090, RTX 5090, 5090",
        ),
        ("12.0", "NVIDIA GeForce RTX 5060 Ti, NVIDIA RTX PRO 5000 Blackwell"),
        ("12.0", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition, NVIDIA RTX PRO 6000 Blackwell Max-Q"),
        ("12.0", "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition, NVIDIA RTX PRO 1000 Blac..."),
        ("12.1", "NVIDIA GB10, GB10, DGX Spark"),
        ("7.0", "DGX-2, GRID V100D-32C, GRID V100DX-16Q, V100S-8Q"),
        (
            "7.5",
            "Tesla T10, GTX 1660 Ti Max-Q, NVIDIA GeForce GTX 1660 Ti with Max-Q Design, RTX 2080 Max-Q, GRID T4-16C",
        ),
        ("8.0", "DGX A100, NVIDIA DGX A100, GRID A100D-40C, NVIDIA A100D-80C, GRID A100D-1-10C, GRID A100DX-40C"),
        ("8.0", "NVIDIA A100-SXM4-80GB MIG 1g.10gb, A100-SXM4-40GB MIG 1c.3g.20gb, NVIDIA A30 MIG 2g.12gb+me"),
        (
            "9.0",
            "DGX H100, DGX H200, NVIDIA H100 80GB HBM3 MIG 1g.10gb+me, NVIDIA-H100-80GB-HBM3-MIG-1g.10gb, NVIDIA H100XM-80C, NVIDIA H100L-94C",
        ),
        ("10.0", "DGX B200"),
        ("bare 9.0", "sm_90, 9.0, SM_90"),
        ("cpu", "none, None"),
    ];

    #[test]
    fn real_names_are_found() {
        for (wanted, list) in REAL {
            for name in list.split(", ") {
                assert_eq!(cc(name), *wanted, "{name}");
            }
        }
    }

    #[test]
    fn names_of_different_silicon_are_ambiguous() {
        for name in [
            "RTX 5000",
            "RTX 4000",
            "RTX 6000",
            "GTX 750",
            "GT 730",
            "GeForce GT 740M",
            "TITAN X",
            "NVIDIA GeForce ...",
        ] {
            assert!(matches!(BUILTIN.gpu(name), GpuMatch::Ambiguous(_)), "{name}: {}", cc(name));
        }
    }

    #[test]
    fn whole_names_win_over_families_and_families_are_whole_words() {
        assert_eq!(names("RTX 3090"), ["NVIDIA GeForce RTX 3090"]);
        assert_eq!(names("A10"), ["NVIDIA A10"]);
        assert_eq!(names("L40"), ["NVIDIA L40"]);
        assert!(names("H100").len() > 3 && names("H100").contains(&"NVIDIA H100 NVL"));
        assert!(names("Tesla V100").iter().all(|name| name.starts_with("Tesla V100-")));
    }

    #[test]
    fn a_family_is_every_product_that_its_name_begins() {
        assert!(cc("Titan").starts_with("ambiguous") && cc("GTX TITAN") == "3.5" && cc("TITAN Black") == "3.5");
        assert!(cc("RTX PRO 6000").starts_with("ambiguous") && cc("RTX PRO 6000 Blackwell").starts_with("ambiguous"));
        let sxm = names("A100 SXM");
        assert!(sxm.contains(&"NVIDIA A100-SXM4-40GB") && sxm.contains(&"NVIDIA A100-SXM-64GB"), "{sxm:?}");
        assert_eq!(names("RTX 3050 6GB"), ["NVIDIA GeForce RTX 3050 6GB Laptop GPU", "NVIDIA GeForce RTX 3050"]);
        // A vGPU type has the whole name of its board.
        assert_eq!(names("GRID RTX6000-4Q"), ["Quadro RTX 6000"]);
        assert_eq!(names("NVIDIA RTXA6000-48Q"), ["NVIDIA RTX A6000"]);
    }

    #[test]
    fn unknown_names_are_not_guessed() {
        for name in ["", "NVIDIA", "RTX", "NVIDIA vGPU-48GB", "L20-2-PCIE-48GB-48GB-L-H-V", "Radeon VII", "-", "..."] {
            assert!(!matches!(BUILTIN.gpu(name), GpuMatch::Found(_)), "{name:?}: {}", cc(name));
        }
        for name in
            ["NVIDIA A100-SXM4-80GB MIG", "RTX 3090 MIG 1g.gb", "NVIDIA GeForce RTX 3090-8Q", "MIG 1g.10gb", "DGX-1"]
        {
            assert!(!matches!(BUILTIN.gpu(name), GpuMatch::Found(gpus) if gpus.len() == 1), "{name:?}: {}", cc(name));
        }
        // A board is told apart by its number.
        for name in ["DGX A400X", "Tesla T109", "GTX A1007"] {
            let GpuMatch::Unknown(near) = BUILTIN.gpu(name) else { panic!("{name} is found") };
            assert!(!near.iter().any(|one| one.contains("1050") || one.contains("T1000")), "{name}: {near:?}");
        }
        let GpuMatch::Unknown(near) = BUILTIN.gpu("RTX 3091") else { panic!("found") };
        assert_eq!(near[0], "NVIDIA GeForce RTX 3090");
        for (name, board) in [("4090ti", "NVIDIA GeForce RTX 4090"), ("h100sxm", "NVIDIA H100")] {
            let GpuMatch::Unknown(near) = BUILTIN.gpu(name) else { panic!("{name} is found") };
            assert!(near[0].starts_with(board), "{name}: {near:?}");
        }
        for (name, board) in [
            ("RTX 6000 Pro", "NVIDIA RTX Pro 6000"),
            ("RTXPro6000D", "NVIDIA RTX PRO 6000D"),
            ("GB300 NVL72", "NVIDIA GB300"),
            ("GB200 NVL72", "NVIDIA GB200"),
            ("A100-SXM-80GB", "NVIDIA A100-SXM4-80GB"),
            ("MSI GeForce RTX 4090 Gaming X Trio", "NVIDIA GeForce RTX 4090"),
            ("ASUS TUF 3080", "NVIDIA GeForce RTX 3080"),
            ("EVGA 3090 FTW3", "NVIDIA GeForce RTX 3090"),
            ("Gigabyte AORUS RTX 4080 Super Master 16G", "NVIDIA GeForce RTX 4080 SUPER"),
            ("ZOTAC GAMING GeForce RTX 3060 Ti Twin Edge", "NVIDIA GeForce RTX 3060 Ti"),
            ("PNY RTX A6000", "NVIDIA RTX A6000"),
        ] {
            let GpuMatch::Unknown(near) = BUILTIN.gpu(name) else { panic!("{name} is found") };
            assert!(near[0].to_lowercase().starts_with(&board.to_lowercase()), "{name}: {near:?}");
        }
        let GpuMatch::Unknown(near) = BUILTIN.gpu("Jetson AGX Orino") else { panic!("found") };
        assert_eq!(near[0], "Jetson AGX Orin");
    }

    #[test]
    fn what_shops_write_behind_a_name_is_no_other_board() {
        for (name, board) in [
            ("RTX 4060 Ti 16GB", "NVIDIA GeForce RTX 4060 Ti"),
            ("RTX 3060 12 GB", "NVIDIA GeForce RTX 3060"),
            ("L4 (24GB)", "NVIDIA L4"),
            ("GTX 1060 6GB", "NVIDIA GeForce GTX 1060 6GB"),
            ("Jetson AGX Orin 64GB", "Orin"),
            ("NVIDIA Jetson AGX Orin Developer Kit", "Orin"),
            ("Jetson Orin Nano 8GB Developer Kit", "Orin"),
        ] {
            assert_eq!(names(name), [board], "{name}");
        }
        for name in ["64GB", "RTX GB", "RTX 3091 24GB", "Developer Kit"] {
            assert!(matches!(BUILTIN.gpu(name), GpuMatch::Unknown(_)), "{name}: {}", cc(name));
        }
    }

    #[test]
    fn a_capability_may_imply_a_processor() {
        let of = |text: &str| BUILTIN.cpu_of(Cc::parse(text).unwrap());
        assert_eq!(of("11.0"), Some(CpuArch::Aarch64));
        assert_eq!(of("8.7"), Some(CpuArch::Aarch64));
        assert_eq!((of("9.0"), of("10.3"), of("13.0")), (None, None, None));
    }

    #[test]
    fn arm_products_say_so() {
        for name in ["GH200", "GB200", "GB300", "GB10", "Orin", "NVIDIA Thor", "Jetson Nano"] {
            let GpuMatch::Found(gpus) = BUILTIN.gpu(name) else { panic!("{name}") };
            assert!(gpus.iter().all(|gpu| gpu.cpu == Some(CpuArch::Aarch64)), "{name}");
        }
    }
}
