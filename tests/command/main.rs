//! The program, asked as users and scripts ask it: each module is a topic.

#[path = "../common/mod.rs"]
mod common;

mod acceptance;
mod bad_input;
mod beyond;
mod borders;
mod captures;
mod catalog_older;
mod catalog_update;
mod cli;
mod diagnose_host;
mod diff;
mod drivers;
mod edit;
mod ends;
mod explain;
mod facts;
mod faults;
mod fleet;
mod fleet_plan;
mod from;
mod from_lines;
mod from_the_system;
mod grounds;
mod init;
mod inspect;
mod many;
mod matrix;
mod neighbours;
mod once_wrong;
mod open_world;
mod outputs;
mod overlay_choices;
mod overlay_words;
mod overlays;
mod own_builds;
mod packages;
mod pasted;
mod plain_output;
mod project;
mod relocks;
mod schema;
mod several;
mod shell;
mod slips;
