//! gpuenv: lock GPU, driver, CUDA, cuDNN, PyTorch wheel and image into one consistent, sourced answer.

pub mod catalog;
pub mod cli;
pub mod coverage;
pub mod diagnose;
pub mod explain;
pub mod export;
pub mod lock;
pub mod report;
pub mod solve;
pub mod spec;
pub mod words;
