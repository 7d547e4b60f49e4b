//! One pass over a text that finds the required literals of all patterns, so that only what can match is tried.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::AhoCorasick;

use crate::types::distinct;

use super::pattern::Pattern;

/// A log repeats itself: what comes later than so many times adds nothing.
const SEEN: usize = 4096;

/// The required literals of a list of patterns. A pattern is named by its place in that list.
pub struct LiteralIndex {
    automaton: AhoCorasick,
    lengths: Vec<usize>,
    /// The literals of each pattern.
    of_pattern: Vec<Vec<usize>>,
    /// The patterns of each literal.
    of_literal: Vec<Vec<usize>>,
}

/// Where the literals stand in one text.
pub struct Hits {
    /// The starts of each literal, in order.
    starts: Vec<Vec<usize>>,
}

impl LiteralIndex {
    /// Prepares the literals of patterns.
    pub fn new<'p>(patterns: impl Iterator<Item = &'p Pattern>) -> LiteralIndex {
        let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut literals, mut of_pattern, mut of_literal) = (Vec::new(), Vec::new(), Vec::<Vec<usize>>::new());
        for (pattern, own) in patterns.map(|pattern| &pattern.literals).enumerate() {
            let mut numbers = Vec::with_capacity(own.len());
            for literal in own {
                let id = *ids.entry(literal).or_insert(literals.len());
                if id == literals.len() {
                    literals.push(literal.as_str());
                    of_literal.push(Vec::new());
                }
                of_literal[id].push(pattern);
                numbers.push(id);
            }
            of_pattern.push(numbers);
        }
        let lengths = literals.iter().map(|literal| literal.len()).collect();
        let automaton = AhoCorasick::new(literals).expect("a few thousand short words");
        LiteralIndex { automaton, lengths, of_pattern, of_literal }
    }

    /// Looks for all literals in a text in lower case.
    pub fn search(&self, lower: &str) -> Hits {
        let mut starts = vec![Vec::new(); self.lengths.len()];
        for found in self.automaton.find_overlapping_iter(lower) {
            let own: &mut Vec<usize> = &mut starts[found.pattern()];
            if own.len() < SEEN {
                own.push(found.start());
            }
        }
        Hits { starts }
    }

    /// The patterns that can match, in order.
    pub fn candidates(&self, hits: &Hits) -> Vec<usize> {
        let seen = hits.starts.iter().zip(&self.of_literal).filter(|(starts, _)| !starts.is_empty());
        distinct(seen.flat_map(|(_, patterns)| patterns.iter().copied()))
    }

    /// Where the literals of a pattern stand, in order.
    pub fn places(&self, pattern: usize, hits: &Hits) -> Vec<Range<usize>> {
        let mut places: Vec<Range<usize>> = Vec::new();
        for &literal in &self.of_pattern[pattern] {
            places.extend(hits.starts[literal].iter().map(|&start| start..start + self.lengths[literal]));
        }
        crate::types::sort_by_key(&mut places, |place| (place.start, place.end));
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_match_is_a_candidate() {
        let patterns = ["driver too old", "driver", "(?:nvcc|ptxas) fatal", "no such"].map(Pattern::normalised);
        let index = LiteralIndex::new(patterns.iter());
        let hits = index.search("adriver,fatal,driver");
        assert_eq!(index.candidates(&hits), [1, 2]);
        assert_eq!(index.places(1, &hits), [1..7, 14..20]);
    }
}
