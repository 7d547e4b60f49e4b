//! The facts behind a clash, told in plain sentences.
use super::{Asker, Conflict};
use crate::spec::Spec;
pub fn tell(_asker: &Asker<'_, '_>, _spec: &Spec, culprits: &[String]) -> Conflict {
    Conflict { code: None, culprits: culprits.to_vec(), explanation: Vec::new(), facts: Vec::new() }
}
