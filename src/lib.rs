//! gpuenv: lock GPU, driver, CUDA, cuDNN, PyTorch wheel and image into one consistent, sourced answer.
//!
//! # The house
//!
//! A spec and a catalog of facts go in at the bottom, a lock and its renderings come out at the top. Modules import
//! from storeys below their own only; `tests/house/tidy.rs` holds them to it.
//!
//! | storey | module | does | must not know |
//! |---|---|---|---|
//! | L5 desk | `cli` | reads what is typed, opens files, hands on | how an answer is found |
//! | | [`page`] | the same for a page in a browser: texts in, texts out | files, and who shows what it answers |
//! | | [`task`] | what a command does between reading and telling | where texts come from and go |
//! | | [`report`] | prints, and nobody else does: people on stderr, data on stdout | how what it tells was found |
//! | L4 outside | `probe` | looks at this machine and writes down what it saw | what would be right |
//! | | [`fleet`] | many hosts at once: their classes, and the fewest stacks for all | where the records came from |
//! | | [`verify`] | judges a host's record against a lock, one file a topic | where the record came from |
//! | | [`matrix`] | what runs on what, every cell a question of its own | how it will be drawn |
//! | | [`export`] | renders a lock for other tools, one file a format | the spec, the catalog, the solver |
//! | L3 reasoning | [`lock`] | an answer with everything that forced it; what is stale | that it lies on a disk |
//! | | [`explain`] | which written lines clash, why, and which changes were seen to help | how it will be printed |
//! | | [`diagnose`] | what an error message means and what to change | who pasted it |
//! | | [`init`] | a spec to begin with, from a host or from flags | whether it has an answer |
//! | | [`solve`] | the best answer, or that there is none | file formats, the lock's included |
//! | L2 facts | [`catalog`] | what exists and what it needs, each row with its source | any question asked of it |
//! | | [`artifact`] | what a library or wheel holds and needs, out of its bytes | where the bytes lie |
//! | | [`host`] | a host as it was observed, or as somebody described it | any lock |
//! | | [`spec`] | gpuenv.toml as values that remember where they stand | whether what they name exists |
//! | L1 law | [`coverage`] | which GPU runs which code, the one rule that is code | releases and products |
//! | | [`warning`] | every kind of warning: its code, its sentence | when it is given |
//! | | [`meaning`] | what the codes of errors, warnings and checks mean | who gives them |
//! | L0 types | [`types`] | versions, constraints, architectures | everything else |
//! | | [`nearest`] | what was probably meant by a word that does not exist | what the words are |
//! | | [`log_prefix`] | what terminals, loggers and forums put around a line | what the line says |
//!
//! `cli` and `probe` need a host and stand behind the feature `host`; everything else runs in a browser too.
//!
//! Below [`report`] and `probe` nothing touches files, processes, the environment or the clock. No version number of NVIDIA's or
//! PyTorch's stands in this folder: facts live in `catalog/*.toml`, which `catalog/build.rs` packs into
//! [`catalog::BUILTIN`] with the row types and lints of [`catalog`] itself.
//!
//! # The way of a request
//!
//! [`spec::parse`] → [`solve::request::Request`] (names looked up in the catalog) → [`solve::compile::Plan`] (premises,
//! variables and relations, joined from the parts of [`solve::problem::Problem`]) → [`solve::engine::solve`] (PubGrub) →
//! [`solve::solution::Solution`] → [`lock::Lock`] → [`export`]. Where there is no answer, [`explain::conflicts`] asks the same
//! with keys masked out or changed. `docs/architecture.md` tells it with an example; whoever wants to follow it from the
//! outside starts at `cli::run`.

// A function is read at one sight (clippy.toml); a test may be a table.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod artifact;
pub mod catalog;
#[cfg(feature = "host")]
pub mod cli;
pub mod coverage;
pub mod diagnose;
pub mod explain;
pub mod export;
pub mod fleet;
pub mod host;
pub mod init;
pub mod lock;
pub mod log_prefix;
pub mod matrix;
pub mod meaning;
pub mod nearest;
pub mod page;
#[cfg(all(feature = "host", target_os = "linux"))]
pub mod probe;
#[cfg(all(feature = "host", not(target_os = "linux")))]
#[path = "probe/elsewhere.rs"]
pub mod probe;
pub mod report;
pub mod solve;
pub mod spec;
pub mod task;
pub mod types;
pub mod verify;
pub mod warning;
