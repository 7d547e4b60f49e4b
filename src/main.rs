//! The command: run, print, exit code.

fn main() {}
