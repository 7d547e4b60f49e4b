//! What is known and no matter of versions: a text that no finding claims can tell of memory that ran out, of a kernel
//! that refused what it was given, of processes and tensors in the wrong place. It stands in `asides.toml`.

use std::ops::Range;

use super::signatures::Match;

/// What such a text tells.
#[derive(Debug, PartialEq, Eq)]
pub struct Aside {
    /// What programs print, in lower case and without blanks.
    words: &'static [&'static str],
    /// What makes something else of the words where they go on like this.
    but: &'static [&'static str],
    /// The same where it stands shortly before them.
    behind: &'static [&'static str],
    /// What the text must hold as well; empty for nothing.
    with: &'static str,
    /// What it means.
    pub means: &'static str,
    /// What helps.
    pub help: &'static str,
    /// Words of findings that only follow from it, without blanks; empty for none.
    follows: &'static [&'static str],
}

/// How far before words something else can stand that they are about.
const SHORTLY: usize = 60;

include!(concat!(env!("OUT_DIR"), "/asides.rs"));

impl Aside {
    /// What a row leaves out.
    const EMPTY: Aside = Aside { words: &[], but: &[], behind: &[], with: "", means: "", help: "", follows: &[] };

    /// What a program says of what it lacks before it goes on another way.
    pub const NOTICE: Aside = Aside {
        means: "what gpuenv knows of this text are notices, no faults: the program went on after them",
        help: "look for the error behind them",
        ..Aside::EMPTY
    };

    /// Where the GPU is not NVIDIA's.
    pub const OTHER_MAKER: Aside = Aside {
        means: "the text is of a GPU that is not NVIDIA's (AMD's, Intel's or another): gpuenv knows NVIDIA's alone, and CUDA runs on \
                no other",
        help: "take the program's build for that GPU (ROCm, XPU) or for the CPU; if it is one, see what it says about this GPU",
        ..Aside::EMPTY
    };

    /// Versions that are told without a fault.
    pub const VERSIONS: Aside = Aside {
        means: "these versions mean different things and need not be equal: nvidia-smi shows the newest CUDA that the driver \
                supports, torch brings the CUDA libraries it was built for, and nvcc only compiles",
        help: "change nothing to run torch; to compile extensions for it, nvcc must be of the CUDA major that torch was built for",
        ..Aside::EMPTY
    };

    /// What a normalised text in lower case tells.
    pub fn told(lower: &str) -> Option<&'static Aside> {
        Aside::all_told(lower).next()
    }

    /// All that it tells.
    pub fn all_told(lower: &str) -> impl Iterator<Item = &'static Aside> {
        ASIDES.iter().filter(move |aside| aside.stands_in(lower))
    }

    /// Whether a finding only follows from it. An installer that lists the releases which the finding is about has reached
    /// its index.
    fn leads_to(&self, found: &Match, lower: &str) -> bool {
        let lists = found.row.offered.is_some() && found.extract.contains_key("versions_offered");
        let says = |place: &Range<usize>| self.follows.iter().any(|words| lower[place.clone()].contains(words));
        !lists && !found.places.is_empty() && found.places.iter().all(says)
    }

    fn stands_in(&self, lower: &str) -> bool {
        lower.contains(self.with) && self.words.iter().any(|words| self.says(words, lower))
    }

    /// Whether words stand in a text and do not go on to mean something else.
    fn says(&self, words: &str, lower: &str) -> bool {
        lower.match_indices(words).any(|(at, _)| {
            let (rest, before) =
                (&lower[at + words.len()..], &lower[lower.floor_char_boundary(at.saturating_sub(SHORTLY))..at]);
            !self.but.iter().any(|but| rest.starts_with(but)) && !self.behind.iter().any(|word| before.contains(word))
        })
    }
}

/// Drops the findings that only follow from what the text tells besides, and says what that is.
pub fn drop_consequences(matches: &mut Vec<Match>, lower: &str) -> Option<&'static Aside> {
    let mut cause = None;
    let causes = ASIDES.iter().chain(CAUSES).filter(|aside| !aside.follows.is_empty());
    if matches.is_empty() {
        return None;
    }
    for aside in causes.filter(|aside| aside.stands_in(lower)) {
        let before = matches.len();
        matches.retain(|found| !aside.leads_to(found, lower));
        if matches.len() < before && !aside.means.is_empty() {
            cause = cause.or(Some(aside));
        }
    }
    cause
}
