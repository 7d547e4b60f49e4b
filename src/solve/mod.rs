//! L3, solving: the spec and the catalog compiled to a closed world, its best answer, and why there is none.

pub mod rowset;
pub mod world;
