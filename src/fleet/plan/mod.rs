//! What to do with a fleet: the fewest stacks that serve it, the one that serves most of it, and which drivers to raise
//! so that one serves all.
//!
//! The hosts bring GPUs, driver, system and processor; everything else is a target of the spec. Hosts that are alike are
//! one class, classes that no law tells apart one kind, and every question is the spec's own, asked of other kinds.

mod ask;
mod cover;
mod inventory;
mod kinds;
mod make;
mod model;
mod raise;

pub use cover::EXACT;
pub use inventory::{Essence, Inventory, essence};
pub use make::plan;
pub use model::{HostClass, Plan, Raise, Stack, Unserved, Upgrade};
