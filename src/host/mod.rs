//! L2, a host as it was observed: what probes saw and what people pasted, one record for both.
//!
//! The record says what was seen, with the path, symbol or error code it rests on, and judges nothing: that is
//! [`crate::verify`]'s. It holds no serial number and no name of a home; UUIDs can be made anonymous.

pub mod anonymous;
pub mod curesult;
pub mod environment;
pub mod labels;
pub mod packages;
pub mod paste;
mod read;
pub mod record;
pub mod signs;
pub mod tegra;

pub use read::{ReadError, decode, read_any};
pub use record::{
    ApiError, BY_SMI, Cdi, Compat, Compiler, Container, CudaDevice, Gpu, IMPORT_TORCH, Kernel, KernelModule, Libcuda,
    Library, Mig, Node, Nvml, OF_A_HANDLE, Origin, Outcome, PciGpu, Platform, Probe, ProbeStatus, Python, Record,
    Shadowed, System, Toolkit, Torch,
};
