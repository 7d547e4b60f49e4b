//! What is worked out once, under the values that it depends on.

use std::cell::RefCell;
use std::fmt;
use std::hash::Hash;
use std::rc::Rc;

use rustc_hash::FxHashMap;

/// Results by what they depend on.
pub struct Kept<K, V: ?Sized>(RefCell<FxHashMap<K, Rc<V>>>);

impl<K, V: ?Sized> Default for Kept<K, V> {
    fn default() -> Self {
        Kept(RefCell::default())
    }
}

impl<K: Hash + Eq, V: ?Sized> Kept<K, V> {
    /// What is known under a key, found if it is not.
    pub fn get<R: Into<Rc<V>>>(&self, key: K, find: impl FnOnce() -> R) -> Rc<V> {
        self.of_key(key, |_| find())
    }

    /// What is known under a key, found from the key alone if it is not: nothing else can make a difference.
    pub fn of_key<R: Into<Rc<V>>>(&self, key: K, find: impl FnOnce(&K) -> R) -> Rc<V> {
        if let Some(known) = self.0.borrow().get(&key) {
            return known.clone();
        }
        // Finding may ask for other keys.
        let found: Rc<V> = find(&key).into();
        self.0.borrow_mut().insert(key, found.clone());
        found
    }

    /// How many results there are.
    pub fn count(&self) -> usize {
        self.0.borrow().len()
    }
}

impl<K, V: ?Sized> fmt::Debug for Kept<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").finish_non_exhaustive()
    }
}
