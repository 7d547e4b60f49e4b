//! A stream of JSON documents cut into its documents: one a line or over many lines, and one that is broken costs
//! itself alone.

/// No host is larger; a list of a whole cluster's nodes is.
const CAP: usize = 256 << 20;

/// A document, or what was none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The line it begins on, counted from one.
    pub line: usize,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether its braces are closed.
    pub whole: bool,
}

/// Cuts what it is given line by line.
#[derive(Debug, Default)]
pub struct Splitter {
    line: usize,
    begun: usize,
    bytes: Vec<u8>,
    depth: usize,
    in_text: bool,
    escaped: bool,
}

impl Splitter {
    /// Takes a line with its end; gives the document that it completes, and one that it shows to be broken.
    pub fn line(&mut self, line: &[u8], pieces: &mut Vec<Piece>) {
        self.line += 1;
        // Inside a document that is printed over many lines nothing begins at the margin.
        if !self.bytes.is_empty() && (line.starts_with(b"{") || self.bytes.len() > CAP) {
            pieces.push(self.taken(false));
        }
        if self.bytes.is_empty() {
            if line.iter().all(u8::is_ascii_whitespace) {
                return;
            }
            self.begun = self.line;
        }
        self.follow(line);
        self.bytes.extend_from_slice(line);
        if self.depth == 0 {
            pieces.push(self.taken(true));
        }
    }

    /// What is left when nothing more comes.
    pub fn end(&mut self) -> Option<Piece> {
        (!self.bytes.is_empty()).then(|| self.taken(false))
    }

    fn taken(&mut self, whole: bool) -> Piece {
        let bytes = std::mem::take(&mut self.bytes);
        (self.depth, self.in_text, self.escaped) = (0, false, false);
        Piece { line: self.begun, bytes, whole }
    }

    /// Counts the braces that are open.
    fn follow(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.in_text {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_text = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<(usize, String, bool)> {
        let (mut splitter, mut pieces) = (Splitter::default(), Vec::new());
        text.split_inclusive('\n').for_each(|line| splitter.line(line.as_bytes(), &mut pieces));
        pieces.extend(splitter.end());
        let told = |piece: Piece| (piece.line, String::from_utf8(piece.bytes).unwrap().trim().to_string(), piece.whole);
        pieces.into_iter().map(told).collect()
    }

    #[test]
    fn documents_are_cut_out_of_lines() {
        let one = |line: usize, text: &str, whole| (line, text.to_string(), whole);
        assert_eq!(cut("{\"a\":1}\n\n{\"b\":2}\n"), [one(1, "{\"a\":1}", true), one(3, "{\"b\":2}", true)]);
        assert_eq!(cut("{\n \"a\": \"}\\\"{\"\n}\n{}"), [one(1, "{\n \"a\": \"}\\\"{\"\n}", true), one(4, "{}", true)]);
        assert_eq!(cut("{\"a\":[1\n{\"b\":2}\n"), [one(1, "{\"a\":[1", false), one(2, "{\"b\":2}", true)]);
        assert_eq!(cut("garbage\n{}\n{\"a"), [one(1, "garbage", true), one(2, "{}", true), one(3, "{\"a", false)]);
    }
}
