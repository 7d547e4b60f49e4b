//! L4, the probes: they look at the machine, each in its own small way, and write down what they saw. They judge
//! nothing: that is [`crate::verify`]'s.
//!
//! Whatever loads a foreign library or runs foreign code does so in a child process with a time limit
//! ([`child`]), because drivers hang, crash and lie; this process never loads one.

pub mod child;
pub mod compilers;
pub mod curesult;
pub mod loader;
pub mod program;
pub mod scene;
pub mod toolkits;

use crate::host::{How, Probe, Record, record};

pub use scene::{Depth, Scene, Wish};

use child::Teller;

/// A probe: it looks, and writes what it saw into the record, a [`crate::host::Probe`] of its own included.
pub type Look = fn(scene: &Scene, record: &mut Record);

/// A probe that runs in a child: it reads its request, tells what it does and what it learnt.
pub type Inside = fn(request: &str, teller: &mut Teller) -> Result<(), String>;

/// Every probe with the depth from which on it is made, cheapest first. Later ones read what earlier ones wrote.
pub const PROBES: &[(&str, Depth, Look)] =
    &[("toolkits", Depth::Usual, toolkits::look), ("compilers", Depth::Usual, compilers::look)];

/// Every probe that runs in a child, by the name it is called with.
pub const INSIDE: &[(&str, Inside)] = &[];

/// The word that makes this program a child: `gpuenv __probe NAME`.
pub const CHILD: &str = "__probe";

/// Looks at the machine as deeply as wished. `now` hears the name of each probe before it begins.
pub fn observe(scene: &Scene, mut now: impl FnMut(&str)) -> Record {
    let mut record = Record { format: record::FORMAT, ..Record::default() };
    for (name, depth, look) in PROBES {
        if *depth <= scene.wish.depth {
            now(name);
            look(scene, &mut record);
        }
    }
    record
}

/// How a probe that needs no child ended.
fn probe(name: &str, ended: How) -> Probe {
    Probe { name: name.to_string(), ended, detail: None, millis: None }
}
