//! What questions that choose from the same rows have in common: which rows go together, and which a class can have.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use crate::solve::choice::Rows;
use crate::solve::class::Class;
use crate::solve::platform::Platform;
use crate::solve::rowset::RowSet;
use crate::solve::world::{Recall, Table, World};

use super::RuleBook;
use super::known::memo;

/// What decides, beside the rows, which of two tables go together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Bond<'c> {
    /// Nothing: releases are of one version each.
    Parts,
    /// Releases have wheels for some Pythons.
    Pythons {
        /// The machines they are for.
        platforms: Vec<Platform<'c>>,
        /// Whether Pythons count that were seen with another build of the release only.
        unknown: bool,
        /// Whether the law about it holds.
        held: bool,
    },
    /// Releases of a package accept some versions.
    Accepts {
        /// Of this.
        of: &'c str,
        /// Whether the law about it holds.
        held: bool,
    },
    /// Releases of a package are made for some builds of a framework.
    MadeFor {
        /// The framework.
        framework: &'c str,
        /// The machines of which nobody has said what system they have.
        unsaid: Vec<Platform<'c>>,
        /// The rules that hold nowhere.
        off: Vec<String>,
    },
    /// What a class asks, as one text.
    Class(Arc<str>),
}

/// Two lists of rows by their addresses, and what decides which of them go together.
pub(super) type Between<'c> = (usize, usize, Bond<'c>);

/// Which rows of a list a class can have, as far as anybody has asked.
#[derive(Debug, Default)]
pub struct Judged {
    asked: RowSet,
    fit: RowSet,
}

impl Judged {
    /// Leaves the rows of a table that the class can have; `find` finds out about one that nobody has asked about.
    pub fn keep(this: &Mutex<Judged>, world: &mut World, table: Table, find: impl Fn(usize) -> bool) {
        let judged = RefCell::new(this.lock().unwrap_or_else(PoisonError::into_inner));
        world.keep(table, |row| {
            let judged = &mut **judged.borrow_mut();
            if !judged.asked.has(row) {
                judged.asked.insert(row);
                if find(row) {
                    judged.fit.insert(row);
                }
            }
            judged.fit.has(row)
        });
    }
}

impl<'c> RuleBook<'c> {
    /// Which rows of two lists go together, if both are lists that questions share.
    pub fn recall<A, B>(&self, from: &Rows<A>, to: &Rows<B>, by: Bond<'c>) -> Arc<Recall> {
        let Some((from, to)) = from.address().zip(to.address()) else { return Arc::default() };
        let key = (from, to, by);
        memo(&self.known.relations, &key, || (key.clone(), Arc::default()))
    }

    /// Which rows of a list a class can have, if it is one that questions share. `by` is what decides it beside these.
    pub fn judged<T>(&self, rows: &Rows<T>, class: &Class<'_, '_>, by: &str) -> Arc<Mutex<Judged>> {
        let Some(list) = rows.address() else { return Arc::default() };
        let asked = format!("{list}{by}{}", class.identity);
        self.known.judged.or_find(&asked, Arc::default)
    }
}
