//! L3, solving: the spec and the catalog compiled to a network of finite tables, its best answer, or PubGrub's proof that
//! there is none.

mod arch_lists;
pub mod bundled_torch;
pub mod coinstall;
pub mod compile;
pub mod driver;
pub mod engine;
pub mod fits;
pub mod held;
pub mod image;
pub mod installed;
pub mod installs;
pub mod libraries;
pub mod machine;
pub mod modules;
pub mod network;
pub mod ordinary;
pub mod own;
pub mod pieces;
pub mod platform;
pub mod problem;
pub mod recommended;
pub mod release;
pub mod request;
pub mod resolve;
pub mod rowset;
pub mod services;
pub mod solution;
mod stack;
pub mod suppress;
pub mod thirds;
pub mod unknowns;
pub mod unread;
mod unseen;
mod unsupported_os;
pub mod warnings;
pub mod windows;
