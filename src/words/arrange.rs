//! Sorting where size counts more than speed: the standard library's sort is compiled anew for each type and each order,
//! 6 kB a time and a hundred times over. Here it is compiled once, for positions, whatever these are of.

use std::cmp::Ordering;

/// Sorts lists. Equal items keep their order.
pub trait Arrange<T> {
    /// In ascending order.
    fn arrange(&mut self)
    where
        T: Ord;

    /// By a key, which is worked out once for each item.
    fn arrange_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K);

    /// By a comparison.
    fn arrange_by(&mut self, compare: impl Fn(&T, &T) -> Ordering);
}

impl<T> Arrange<T> for [T] {
    fn arrange(&mut self)
    where
        T: Ord,
    {
        self.arrange_by(T::cmp);
    }

    fn arrange_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K) {
        let keys: Vec<K> = self.iter().map(key).collect();
        put(self, order(keys.len(), &|one, other| keys[one].cmp(&keys[other])));
    }

    fn arrange_by(&mut self, compare: impl Fn(&T, &T) -> Ordering) {
        put(self, order(self.len(), &|one, other| compare(&self[one], &self[other])));
    }
}

/// The positions in order.
fn order(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|&one, &other| compare(one, other));
    order
}

/// Puts to each place the item that stood at the position named for it.
fn put<T>(items: &mut [T], mut order: Vec<usize>) {
    for at in 0..items.len() {
        let mut from = order[at];
        // What stood before this place has been swapped onwards: follow it.
        while from < at {
            from = order[from];
        }
        order[at] = from;
        items.swap(at, from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_standard_library_sorts() {
        let mut seed = 7u32;
        for len in 0..40 {
            let next = |seed: &mut u32| {
                *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *seed >> 28
            };
            let items: Vec<(u32, usize)> = (0..len).map(|at| (next(&mut seed), at)).collect();
            let (mut ours, mut theirs) = (items.clone(), items);
            theirs.sort_by_key(|item| item.0);
            ours.arrange_by_key(|item| item.0);
            assert_eq!(ours, theirs);
            theirs.sort_by(|one, other| other.cmp(one));
            ours.arrange_by(|one, other| other.cmp(one));
            assert_eq!(ours, theirs);
            theirs.sort();
            ours.arrange();
            assert_eq!(ours, theirs);
        }
    }
}
