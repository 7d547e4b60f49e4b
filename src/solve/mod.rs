//! L3, solving: the spec and the catalog compiled to a network of finite tables, its best answer, or PubGrub's proof that
//! there is none.
//!
//! A machine on its way from gpuenv.toml to an answer:
//!
//! ```text
//! [target.a]   [target.b]   [target.c]    as they are written
//!  Reading      Reading      Reading      the lines as values, every name looked up
//!   TargetRequest, one for each            the reading with the target's name and its machine
//!      \           /            |
//!        Machine             Machine      what reads the same, once, with what was found out about it:
//!                                          `Described` with the rules that speak of it, and the kinds of its GPUs
//!         Class               Class       the targets of one machine for which the same rules are set aside
//!             \              /
//!                  Group                   the classes that share a stack
//!  TargetSolution      TargetSolution      what was chosen for a class
//!   TargetAnswer, one for each             the same with the target's name
//! ```
//!
//! Its `Platform` is what tells which wheels it takes: the processor, and a system for which wheels are made by themselves.

mod arch_lists;
mod beyond;
pub mod brought;
pub mod bundled_torch;
pub mod by_pip;
pub mod coinstall;
pub mod compile;
pub mod demand;
pub mod described;
pub mod driver;
pub mod driver_row;
mod drives;
pub mod engine;
mod excepted;
pub mod facts;
pub mod failing;
pub mod finished;
pub mod fits;
pub mod followers;
pub mod framework;
pub mod heeded;
pub mod held;
mod hosted;
pub mod image;
mod in_image;
pub mod installed;
pub mod installs;
pub mod kept;
pub mod kernel;
pub mod kits;
mod labelled;
pub mod libraries;
mod local;
pub mod machine;
pub mod modules;
pub mod network;
mod older;
pub mod ordinary;
pub mod own;
pub mod parts;
pub mod pieces;
pub mod platform;
pub mod problem;
pub mod reading;
pub mod recommended;
pub mod release;
pub mod request;
mod required;
pub mod resolve;
pub mod rowset;
pub mod rules;
mod runtime_image;
pub mod services;
pub mod solution;
mod stack;
pub mod suppress;
pub mod thirds;
pub mod unknowns;
pub mod unread;
mod unread_sources;
mod unseen;
mod unsupported_os;
pub mod values;
pub mod variants;
pub mod wants;
pub mod warnings;
pub mod windows;
