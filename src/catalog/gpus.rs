//! GPU products by the names people and nvidia-smi use.
//!
//! A name is tried as a whole first ("RTX 3090" is not the RTX 3090 Ti), then as a family ("Tesla V100" is
//! every product it begins). Several products are one answer as long as they agree in what decides anything:
//! compute capability, last driver branch and CPU architecture.

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
    /// No product; [`Catalog::near_gpus`] knows which names come nearest.
    Unknown,
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
        if vgpu(name).is_some_and(|(board, _, series)| matches!(series, 'A' | 'B') && is_known(board)) {
            return Some(
                "vGPU types of the series A and B run no CUDA: use a type of series C or Q, and name that one here",
            );
        }
        let boards = self.products(mig(name)?.0)?;
        Some(match boards.iter().all(|board| has_mig(board)) {
            true => {
                "this board has no such MIG instance: they have 1, 2, 3, 4 or 7 slices and no more memory than the board; \
                 write what `nvidia-smi -L` prints, or the whole board"
            }
            false => {
                "this board has no MIG instances: the largest data-centre boards since the A100 have, and RTX PRO Blackwell \
                 boards; name the whole board"
            }
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
            None => GpuMatch::Unknown,
        }
    }

    /// The boards that a name is of: theirs, a part of theirs, or theirs with a size.
    pub(super) fn boards(&self, name: &str) -> Option<Vec<&Gpu>> {
        let found = self.products(name).or_else(|| {
            let (board, slices, memory) = mig(name)?;
            let boards = self.products(board)?;
            let is_one = SLICES.contains(&slices) && may_have(&boards, memory);
            (is_one && boards.iter().all(|board| has_mig(board))).then_some(boards)
        });
        let found = found.or_else(|| {
            let (board, size, _) = vgpu(name).filter(|(.., series)| matches!(series, 'C' | 'Q'))?;
            // `RTX6000` is the Quadro RTX 6000: types of the RTX 6000 Ada have its whole name.
            let boards = self.named_in_full(board).or_else(|| self.products(board))?;
            (may_have(&boards, size) && boards.iter().all(|board| has_vgpu(board))).then_some(boards)
        });
        let found = found.or_else(|| self.products(without_size(name)?)).or_else(|| self.mobile(name));
        found.or_else(|| self.of_system(name)).or_else(|| self.either(name))
    }

    /// The boards of a system that is called after them: those of HGX are those of the DGX of that name, and NVL and a number tell
    /// how many GPUs NVLink joins, `GB300 NVL72`.
    ///
    /// Source: <https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html>.
    fn of_system(&self, name: &str) -> Option<Vec<&Gpu>> {
        let words: Vec<&str> = name.split_whitespace().filter(|word| !word.eq_ignore_ascii_case("nvidia")).collect();
        match words.as_slice() {
            [hgx, board @ ..] if hgx.eq_ignore_ascii_case("hgx") => {
                self.named_in_full(&format!("DGX {}", board.join(" ")))
            }
            [board, joined] => {
                let count = joined.get(..3).filter(|nvl| nvl.eq_ignore_ascii_case("nvl")).map(|_| &joined[3..])?;
                (!count.is_empty() && is_number(count)).then(|| self.named_in_full(board))?
            }
            _ => None,
        }
    }

    /// Boards of one chip that pci.ids names together and `lspci` prints so: `Quadro RTX 6000/8000`.
    fn either(&self, name: &str) -> Option<Vec<&Gpu>> {
        let (first, others) = name.split_once('/')?;
        let (series, _) = first.trim_end().rsplit_once(' ')?;
        let others = others.split('/').map(|other| format!("{series} {}", other.trim()));
        let each = [first.to_string()].into_iter().chain(others).map(|name| self.named_in_full(&name));
        Some(each.collect::<Option<Vec<_>>>()?.concat())
    }

    /// The boards of a laptop's name as pci.ids has it and `lspci` prints it, `GeForce RTX 4060 Max-Q / Mobile`: the driver's
    /// list calls them `Laptop GPU`, and the older ones as the desktop's.
    fn mobile(&self, name: &str) -> Option<Vec<&Gpu>> {
        let lower = name.to_ascii_lowercase();
        let ends = [" mobile", " max-q / mobile"].into_iter().filter_map(|end| lower.find(end));
        let board = &name[..ends.min()?];
        self.products(&format!("{board} Laptop GPU")).or_else(|| self.products(board))
    }

    /// Whether a name is that of a MIG instance of a board.
    pub fn is_instance(&self, name: &str) -> bool {
        mig(name.trim()).is_some() && self.products(name).is_none()
    }

    /// Whether a name is that of a vGPU type which runs CUDA.
    pub fn is_vgpu(&self, name: &str) -> bool {
        self.products(name).is_none() && vgpu(name.trim()).is_some_and(|(.., series)| matches!(series, 'C' | 'Q'))
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
    /// stands around them: `rack of GB300`, or what a shop sells, `MSI GeForce RTX 4090 Gaming X Trio`.
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
        let (within, begins) = (self.within(name), self.begun_by(wanted));
        let more = |within: &(usize, _)| begins.as_ref().is_none_or(|begins| within.0 >= begins.0);
        within.filter(more).or(begins).map_or(Vec::new(), |(_, products)| shortest(products))
    }

    /// What a name means once letters that look like digits are some, in a number: `A1OO`, `RTX 4O9O`.
    fn with_digits(&self, name: &str) -> Option<Vec<&Gpu>> {
        let mut in_number = false;
        let digit = |letter: char| {
            let read = match letter {
                'O' | 'o' if in_number => '0',
                'I' | 'l' if in_number => '1',
                other => other,
            };
            in_number = read.is_ascii_digit();
            read
        };
        let read: String = name.chars().map(digit).collect();
        (read != name).then(|| self.boards(&read))?
    }

    /// The products that the most words of a name in a row are the whole name of, and how many.
    fn within(&self, name: &str) -> Option<(usize, Vec<&Gpu>)> {
        let words = name.split([' ', '-']).filter(|word| !word.is_empty());
        let words: Vec<&str> = words.take(MOST_WORDS).collect();
        let runs = (1..words.len()).rev().flat_map(|many| words.windows(many));
        // A brand alone names nothing.
        let named = |run: &[&str]| Some((run.len(), self.named_in_full(&run.join(" "))?));
        runs.filter(|run| is_numbered(&run.concat())).find_map(named)
    }

    /// The products that begin with the most words with which a name begins, and how many: `A100-SXM6-160GB` is like an A100.
    fn begun_by(&self, wanted: &[String]) -> Option<(usize, Vec<&Gpu>)> {
        // Neither a brand alone says what is meant.
        let tells = |many: &usize| *many > 1 || is_numbered(&wanted[0]);
        (1..wanted.len().min(MOST_WORDS)).rev().filter(tells).find_map(|many| {
            let is_begun = |gpu: &&Gpu| written(gpu).any(|name| without_maker(&name).starts_with(&wanted[..many]));
            Some((many, some(self.gpus.iter().filter(is_begun).collect())?))
        })
    }

    /// The names that come nearest to one that means no product. It looks through all of them, and takes a hundred times
    /// as long as to see that there is none.
    pub fn near_gpus(&self, name: &str) -> Vec<&str> {
        let name = name.trim();
        let wanted = apart(&without_maker(&fold(name)).join(" "));
        let meant = self.with_digits(name).map_or_else(|| self.almost(name), shortest);
        if !meant.is_empty() {
            return meant;
        }
        let all = self.gpus.iter().map(|gpu| (apart(&without_maker(&fold(&gpu.name)).join(" ")), &*gpu.name));
        let mut near = nearest(&wanted, all.filter(|(product, _)| is_like(&wanted, product)));
        // What is called by fewer words that nobody wrote comes first: a 4090 Ti is rather a 4090 than a 4090 D.
        let words: Vec<&str> = wanted.split(' ').collect();
        near.sort_by_cached_key(|name| {
            let product = apart(&without_maker(&fold(name)).join(" "));
            let is_strange = |word: &&str| !words.iter().any(|one| is_near_word(one, word)) && !is_brand(word);
            product.split(' ').filter(is_strange).count()
        });
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
    names.sort_unstable_by_key(|name| (name.len(), *name));
    names.dedup();
    names.truncate(SUGGESTIONS);
    names
}

/// Whether two of the products have one name, blanks and case aside.
fn has_namesakes(gpus: &[&Gpu]) -> bool {
    let plain = |name: &str| name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let mut names: Vec<String> = gpus.iter().map(|gpu| plain(&gpu.name)).collect();
    names.sort_unstable();
    names.windows(2).any(|pair| pair[0] == pair[1])
}

/// Whether products agree in what decides anything. What data-centre boards alone may do is left out where others bear the
/// name too, for each of them must be served.
fn agree(gpus: &[&Gpu]) -> bool {
    fn key(gpu: &Gpu) -> (Cc, Option<&Version>, Option<CpuArch>) {
        (gpu.cc, gpu.last_branch.as_ref(), gpu.cpu)
    }
    gpus.windows(2).all(|pair| key(pair[0]) == key(pair[1]))
}

/// So many slices a MIG instance may have, of the seven of a board. Source: the profiles of each board in
/// <https://docs.nvidia.com/datacenter/tesla/mig-user-guide/>.
const SLICES: [u32; 5] = [1, 2, 3, 4, 7];

/// Whether one of some boards may have so many GB: of those whose names tell their memory one has, or no name tells it.
fn may_have(boards: &[&Gpu], size: u32) -> bool {
    let words =
        |board: &&Gpu| board.name.split([' ', '-']).filter_map(|word| word.strip_suffix("GB")?.parse().ok()).max();
    let told: Vec<u32> = boards.iter().filter_map(words).collect();
    told.is_empty() || told.iter().any(|memory| *memory >= size)
}

/// The board that a MIG instance is a part of, its slices and its GB: `NVIDIA A100-SXM4-80GB MIG 1g.10gb` is a slice of an
/// A100, and in labels of Kubernetes' nodes `NVIDIA-A100-SXM4-80GB-MIG-1g.10gb`.
fn mig(name: &str) -> Option<(&str, u32, u32)> {
    let (board, instance) = name.rsplit_once(" MIG ").or_else(|| name.rsplit_once("-MIG-"))?;
    // `1c.3g.40gb` is a compute instance, `1g.10gb+me` has the media engines.
    let (slices, size) = instance.trim().split_once("g.")?;
    let slices = slices.rsplit_once("c.").map_or(slices, |(_, slices)| slices);
    let (memory, _) = size.split_once("gb")?;
    Some((board, slices.parse().ok()?, memory.parse().ok()?))
}

/// The board behind a vGPU type, the type's GB, and its series: `GRID A100X-40C` is a slice of an A100X, `L40S-48C` of an L40S,
/// `A100D-1-10C` one that MIG makes.
fn vgpu(name: &str) -> Option<(&str, u32, char)> {
    let (board, profile) = name.rsplit_once('-')?;
    let profile = profile.strip_suffix("ME").unwrap_or(profile);
    let series = profile.chars().last().filter(|series| matches!(series, 'A' | 'B' | 'C' | 'Q'))?;
    let size = &profile[..profile.len() - 1];
    let is_profile = !size.is_empty() && is_number(size);
    let board = board.strip_prefix("NVIDIA ").unwrap_or(board);
    let board = board.strip_prefix("GRID ").unwrap_or(board);
    let whole = board.rsplit_once('-').filter(|(_, slices)| slices.len() == 1 && is_number(slices));
    is_profile.then_some((whole.map_or(board, |(whole, _)| whole), size.parse().ok()?, series))
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
    let size = sized.strip_suffix(['B', 'b']).unwrap_or(sized).strip_suffix(['G', 'g']).map(str::trim_end);
    let plain = size.map(|size| size.trim_end_matches(|c: char| c.is_ascii_digit()));
    let plain = plain.filter(|plain| plain.ends_with([' ', '(']) && size != Some(*plain));
    let plain = plain.map_or(board, |plain| plain.trim_end_matches([' ', '(']));
    (plain != name).then_some(plain)
}

#[cfg(test)]
mod tests;
