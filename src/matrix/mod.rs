//! L4, what runs on what: releases, variants, GPUs and drivers against each other, every cell a question that
//! [`crate::solve`] answers as it answers `gpuenv lock`.

mod cell;
mod model;
mod view;

pub use model::{Axis, Cell, Matrix, Panel, State, python_range};
pub use view::{MatrixRequest, Refusal, matrix};
