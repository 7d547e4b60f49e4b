//! Many texts as one, and where each of them ends.

/// Texts that lie one behind the other.
#[derive(Debug, Clone, Copy)]
pub struct Parts {
    /// All of them.
    pub all: &'static str,
    /// Where each ends, as [`ends`] tells it.
    pub ends: &'static [u8],
}

/// Texts of which one tells where it begins, in four bytes, the lowest first; two bytes are the length of each.
const BLOCK: usize = 8;
/// Bytes for these.
const STRIDE: usize = 4 + 2 * BLOCK;

impl Parts {
    pub(super) fn count(self) -> usize {
        self.ends.len() / STRIDE * BLOCK + (self.ends.len() % STRIDE).saturating_sub(4) / 2
    }

    /// One of them; none where there is none, or its end cannot be one.
    pub(super) fn get(self, at: usize) -> Option<&'static str> {
        let (start, lengths) = self.ends.get(at / BLOCK * STRIDE..)?.split_first_chunk()?;
        // A loop without closures: every text of every row that is read passes here.
        let (mut start, mut length) = (u32::from_le_bytes(*start) as usize, 0);
        for bytes in lengths.get(..2 * (at % BLOCK + 1))?.as_chunks().0 {
            start += length;
            length = usize::from(u16::from_le_bytes(*bytes));
        }
        self.all.get(start..start + length)
    }
}

/// Where each of these ends when they lie one behind the other, as [`Parts`] holds it. None is longer than 65,535 bytes.
pub fn ends(texts: &[&str]) -> Vec<u8> {
    let (mut bytes, mut start) = (Vec::new(), 0);
    for block in texts.chunks(BLOCK) {
        bytes.extend((start as u32).to_le_bytes());
        for text in block {
            bytes.extend(u16::try_from(text.len()).expect("no text of a catalog is that long").to_le_bytes());
            start += text.len();
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_where_it_was_put() {
        let texts: Vec<String> = (0..19).map(|number| "é".repeat(number % 5)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let parts = Parts { all: texts.concat().leak(), ends: ends(&texts).leak() };
        assert_eq!(parts.count(), 19);
        assert_eq!((0..19).map(|at| parts.get(at).unwrap()).collect::<Vec<_>>(), texts);
        assert_eq!((parts.get(19), parts.get(24), parts.get(1000)), (None, None, None));
        let cut = Parts { ends: &parts.ends[..3], ..parts };
        assert_eq!((cut.count(), cut.get(0)), (0, None));
    }
}
