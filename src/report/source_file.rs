//! A file that was read, and places in it.

/// A file that was read.
#[derive(Debug, Clone, Default)]
pub struct SourceFile {
    /// Its name as the user would write it.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl SourceFile {
    /// The line and column of a byte, counted from one.
    pub(super) fn position(&self, at: usize) -> (usize, usize) {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = 1 + before.matches('\n').count();
        (line, 1 + before[line_start..].chars().count())
    }
}
