//! L3, solving: the spec and the catalog compiled to a network of finite tables, its best answer, or PubGrub's proof that
//! there is none.

pub mod answer;
mod arch_lists;
pub mod compile;
pub mod driver;
mod elsewhere;
pub mod engine;
pub mod fits;
pub mod image;
pub mod inside;
pub mod installed;
pub mod installs;
pub mod machine;
pub mod modules;
pub mod network;
pub mod ordinary;
pub mod own;
pub mod pieces;
pub mod platform;
pub mod problem;
pub mod question;
pub mod recommended;
pub mod release;
pub mod resolve;
pub mod rowset;
pub mod services;
pub mod shared;
pub mod silence;
pub mod unknowns;
mod unseen;
pub mod warnings;
pub mod windows;
