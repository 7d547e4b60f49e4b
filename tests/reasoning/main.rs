//! The library, asked for answers: what a spec's words mean, what is chosen, what is warned of, what a message means.

#[path = "../common/mod.rs"]
mod common;

mod absence;
mod advice;
mod answers;
mod builds;
mod companions;
mod diagnose;
mod growth;
mod images;
mod nearby;
mod notices;
mod properties;
mod scenarios;
mod semantics;
mod situations;
mod told;
mod warned;
