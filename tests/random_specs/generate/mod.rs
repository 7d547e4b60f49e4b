//! Random specs over the whole catalog: what people write into a gpuenv.toml, and what they do with its lock.
//!
//! A seed makes a case: files and the runs of `gpuenv lock` that follow each other, with changes of the files between
//! them. The same seed makes the same case as long as the catalog is the same. About half of the cases solve: each is
//! made around one published build (its era), from which values stray as often as the case is wild.

mod astray;
mod era;
mod machine;
mod overlay;
mod packages;
mod random;
mod sheet;
mod steps;

pub use steps::{Case, Step, case};
