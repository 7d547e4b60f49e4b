//! What was probably meant by a word that does not exist.

/// Longer words are no slips of the pen, and comparing them costs time.
pub const MAX_COMPARED: usize = 40;

/// The known word that is nearest, if it is near.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if word.len() > MAX_COMPARED {
        return None;
    }
    let folded = word.to_lowercase().replace('_', "-");
    // A short word is none of a long one's misspellings: torchao is no torchaudio.
    let most = |candidate: &str| (candidate.len().min(folded.len()) / 3).max(1);
    known
        .into_iter()
        // Each letter more is a slip: most words need no comparing.
        .filter(|candidate| candidate.chars().count().abs_diff(folded.chars().count()) <= most(candidate))
        .map(|candidate| (strsim::damerau_levenshtein(&folded, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= most(candidate))
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        assert_eq!(nearest("drivre", ["driver", "arch"]), Some("driver"));
        assert_eq!(nearest("Driver_CUDA", ["driver", "driver-cuda"]), Some("driver-cuda"));
        assert_eq!(nearest("colour", ["driver", "arch"]), None);
        assert_eq!(nearest("torchao", ["torchaudio", "torchvision"]), None);
        assert_eq!(nearest(&"x".repeat(1 << 20), ["x"]), None);
    }
}
