//! A JSON list of documents, `[{"host": …}, …]`, cut into its elements as it is read: a fleet's is too large to hold.

use super::split::{CAP, Piece, Text};

/// Cuts what it is given in any portions.
#[derive(Debug)]
pub struct Elements {
    line: usize,
    begun: usize,
    bytes: Vec<u8>,
    /// How many brackets of the element are open.
    open: usize,
    text: Text,
}

impl Default for Elements {
    fn default() -> Self {
        Elements { line: 1, begun: 1, bytes: Vec::new(), open: 0, text: Text::default() }
    }
}

impl Elements {
    /// Takes some bytes; gives the elements that they complete.
    pub fn take(&mut self, bytes: &[u8], pieces: &mut Vec<Piece>) {
        let mut from = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            self.line += usize::from(byte == b'\n');
            let between = self.open == 0 && !self.text.goes_on();
            if between && (byte.is_ascii_whitespace() || b",[]".contains(&byte)) {
                self.bytes.extend_from_slice(&bytes[from..at]);
                from = at + 1;
                // What is no document ends with a comma.
                if !byte.is_ascii_whitespace() && !self.bytes.is_empty() {
                    self.hand(true, pieces);
                }
                continue;
            }
            if self.bytes.is_empty() && from == at {
                self.begun = self.line;
            }
            if self.follow(byte) {
                self.bytes.extend_from_slice(&bytes[from..=at]);
                from = at + 1;
                self.hand(true, pieces);
            }
        }
        self.bytes.extend_from_slice(&bytes[from..]);
        if self.bytes.len() > CAP {
            self.hand(false, pieces);
        }
    }

    /// What is left when nothing more comes.
    pub fn end(&mut self, pieces: &mut Vec<Piece>) {
        if !self.bytes.is_empty() {
            self.hand(false, pieces);
        }
    }

    /// Follows the brackets; whether an element ends here.
    fn follow(&mut self, byte: u8) -> bool {
        if self.text.holds(byte) {
            return false;
        }
        match byte {
            b'{' | b'[' => self.open += 1,
            b'}' | b']' => {
                self.open = self.open.saturating_sub(1);
                return self.open == 0;
            }
            _ => {}
        }
        false
    }

    fn hand(&mut self, whole: bool, pieces: &mut Vec<Piece>) {
        let bytes = std::mem::take(&mut self.bytes);
        (self.open, self.text) = (0, Text::default());
        pieces.push(Piece { line: self.begun, bytes, whole, name: None });
    }
}

#[cfg(test)]
mod tests;
