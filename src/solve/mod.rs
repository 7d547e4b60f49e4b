//! L3, solving: the spec and the catalog compiled to a closed world, its best answer, and why there is none.

pub mod answer;
mod asked;
pub mod choice;
pub mod class;
pub mod codes;
mod companion;
pub mod driver;
mod elsewhere;
pub mod fits;
mod hardware;
pub mod image;
pub mod inside;
pub mod lifetime;
pub mod plan;
pub mod platform;
pub mod question;
pub mod release;
pub mod resolve;
pub mod rowset;
pub mod rulebook;
pub mod shared;
pub mod silence;
pub mod warnings;
pub mod world;
