//! Many texts as one, and where each of them ends.

/// Texts that lie one behind the other.
#[derive(Debug, Clone, Copy)]
pub struct Parts {
    /// All of them.
    pub all: &'static str,
    /// Where each ends, four bytes each, the lowest first.
    pub ends: &'static [u8],
}

impl Parts {
    pub(super) fn count(self) -> usize {
        self.ends.len() / 4
    }

    fn end(self, at: usize) -> Option<usize> {
        Some(u32::from_le_bytes(*self.ends.get(4 * at..)?.first_chunk()?) as usize)
    }

    /// One of them; none where there is none, or its end cannot be one.
    pub(super) fn get(self, at: usize) -> Option<&'static str> {
        let start = if at == 0 { 0 } else { self.end(at - 1)? };
        self.all.get(start..self.end(at)?)
    }
}

/// Where each of these ends when they lie one behind the other, as [`Parts`] holds it.
pub fn ends(texts: &[&str]) -> Vec<u8> {
    let ends = texts.iter().scan(0, |end, text| {
        *end += text.len() as u32;
        Some(*end)
    });
    ends.flat_map(u32::to_le_bytes).collect()
}
