//! Kernels on every GPU a CUDA process sees: loaded, launched, their results compared with this program's own.

mod foreign;
pub mod image;
pub mod nvrtc;
pub mod prebuilt;
