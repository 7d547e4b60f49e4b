//! The machine code and the PTX that travel in this program, so that a host without any toolkit is really tested.
//!
//! By which compiler each file was made stands in `prebuilt/made.toml`: always the oldest that knows the architecture,
//! because the drivers of its major release and of every later one load it. `tests/machine/kernels.rs` makes them again.

use std::sync::LazyLock;

use crate::types::{Arch, Cc};

/// The programs.
pub const SOURCE: &str = include_str!("kernels.cu");

/// PTX that any driver compiles for any GPU since Kepler: it claims the oldest ISA that knows its target, which is all
/// that the assembler asks for.
pub fn ptx() -> &'static str {
    CODE.get(..PTX).and_then(|ptx| std::str::from_utf8(ptx).ok()).unwrap_or_default()
}

// The length of the PTX (`PTX`), the number of each architecture with the length of its machine code (`CUBINS`), and all of
// them in that order, packed by the build script (`PACKED`): the files differ in little, and together shrink to a tenth.
include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// The PTX and the machine code of all architectures, unpacked when they are first asked for.
static CODE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let whole = PTX + CUBINS.iter().map(|(_, length)| length).sum::<usize>();
    miniz_oxide::inflate::decompress_to_vec_with_limit(PACKED, whole).unwrap_or_default()
});

/// The architectures there is machine code for, in ascending order.
pub fn archs() -> impl DoubleEndedIterator<Item = Arch> {
    CUBINS.iter().map(|(number, _)| Arch::base(Cc::new(number / 10, number % 10)))
}

/// The machine code for exactly this architecture, without a suffix.
pub fn cubin(cc: Cc) -> Option<&'static [u8]> {
    let at = CUBINS.iter().position(|(number, _)| u32::from(*number) == cc.number())?;
    let start = PTX + CUBINS[..at].iter().map(|(_, length)| length).sum::<usize>();
    CODE.get(start..start + CUBINS[at].1)
}
