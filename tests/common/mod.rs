//! What tests of all kinds need: the command in a folder, the solver asked, hosts judged, texts held against files.
#![allow(dead_code)] // Each program of tests uses its own part.

pub mod cases;
pub mod checkout;
pub mod fake;
pub mod golden;
pub mod judge;
pub mod parallel;
pub mod practice;
pub mod published;
pub mod sandbox;
pub mod solver;
pub mod synthetic;
pub mod tools;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub mod tracer;
pub mod validate;
