//! The machine code and the PTX that travel in this program, so that a host without any toolkit is really tested.
//!
//! By which compiler each file was made stands in `prebuilt/made.toml`: always the oldest that knows the architecture,
//! because the drivers of its major release and of every later one load it. `tests/kernels.rs` makes them again.

use crate::words::{Arch, Cc};

/// The programs.
pub const SOURCE: &str = include_str!("kernels.cu");

/// PTX that any driver compiles for any GPU since Kepler: it claims the oldest ISA that knows its target, which is all
/// that the assembler asks for.
pub const PTX: &str = include_str!("prebuilt/compute_35.ptx");

macro_rules! cubins {
    ($($number:literal)*) => {
        &[$(($number, include_bytes!(concat!("prebuilt/sm_", $number, ".cubin")))),*]
    };
}

/// The number of each architecture with its machine code.
const CUBINS: &[(u8, &[u8])] = cubins!(35 37 50 52 53 60 61 62 70 72 75 80 86 87 88 89 90 100 101 103 107 110 120 121);

/// The architectures there is machine code for, in ascending order.
pub fn archs() -> impl DoubleEndedIterator<Item = Arch> {
    CUBINS.iter().map(|(number, _)| Arch::base(Cc::new(number / 10, number % 10)))
}

/// The machine code for exactly this architecture, without a suffix.
pub fn cubin(cc: Cc) -> Option<&'static [u8]> {
    CUBINS.iter().find(|(number, _)| u32::from(*number) == cc.number()).map(|(_, bytes)| *bytes)
}
