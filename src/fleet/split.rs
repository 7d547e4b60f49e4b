//! A stream of JSON documents cut into its documents: one a line or over many lines, and one that is broken costs
//! itself alone.

/// More of one document is not read: a host takes kilobytes, and a list of thousands of nodes less than this.
pub const CAP: usize = 64 << 20;

/// A document, or what was none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The line it begins on, counted from one.
    pub line: usize,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether its braces are closed.
    pub whole: bool,
    /// The name that another program wrote before its lines.
    pub name: Option<String>,
}

/// Whether a JSON text is open.
#[derive(Debug, Clone, Copy, Default)]
pub struct Text {
    open: bool,
    escaped: bool,
}

impl Text {
    /// Whether one goes on.
    pub fn goes_on(self) -> bool {
        self.open
    }

    /// Follows a byte; whether it belongs to a text that was open before it.
    pub fn holds(&mut self, byte: u8) -> bool {
        let held = self.open;
        match byte {
            _ if !held => self.open = byte == b'"',
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = true,
            b'"' => self.open = false,
            _ => {}
        }
        held
    }
}

/// Cuts what it is given line by line.
#[derive(Debug, Default)]
pub struct Splitter {
    line: usize,
    begun: usize,
    bytes: Vec<u8>,
    /// The brackets that are open.
    open: Vec<u8>,
    text: Text,
    /// The last byte that was no blank.
    last: u8,
    /// Where an element of a list began at the margin, as a document does: its line, and its place in the bytes.
    doubt: Option<(usize, usize)>,
}

impl Splitter {
    /// Takes a line with its end; gives the document that it completes, and one that it shows to be broken.
    pub fn line(&mut self, line: &[u8], pieces: &mut Vec<Piece>) {
        self.line += 1;
        self.take(line, true, pieces);
    }

    fn take(&mut self, line: &[u8], may_be_element: bool, pieces: &mut Vec<Piece>) {
        if !self.bytes.is_empty() && (line.starts_with(b"{") || self.bytes.len() > CAP) {
            // Inside a document that is printed over many lines only the elements of a list begin at the margin.
            let is_element = self.open.last() == Some(&b'[') && b"[,".contains(&self.last) && !self.text.goes_on();
            if is_element && may_be_element && self.bytes.len() <= CAP {
                self.doubt.get_or_insert((self.line, self.bytes.len()));
            } else {
                self.cut(pieces);
            }
        }
        if self.bytes.is_empty() {
            if line.iter().all(u8::is_ascii_whitespace) {
                return;
            }
            self.begun = self.line;
        }
        self.follow(line);
        self.bytes.extend_from_slice(line);
        if self.open.is_empty() {
            pieces.push(self.taken(true));
        }
    }

    /// What is left when nothing more comes.
    pub fn end(&mut self, pieces: &mut Vec<Piece>) {
        if !self.bytes.is_empty() {
            self.cut(pieces);
        }
    }

    /// Gives what is broken. What began like a document in it was one, and costs nothing more than itself.
    fn cut(&mut self, pieces: &mut Vec<Piece>) {
        let Some((line, at)) = self.doubt else { return pieces.push(self.taken(false)) };
        let rest = self.bytes.split_off(at);
        pieces.push(self.taken(false));
        let now = std::mem::replace(&mut self.line, line);
        for line in rest.split_inclusive(|byte| *byte == b'\n') {
            self.take(line, false, pieces);
            self.line += 1;
        }
        if !self.bytes.is_empty() {
            pieces.push(self.taken(false));
        }
        self.line = now;
    }

    fn taken(&mut self, whole: bool) -> Piece {
        let bytes = std::mem::take(&mut self.bytes);
        self.open.clear();
        (self.text, self.doubt) = (Text::default(), None);
        Piece { line: self.begun, bytes, whole, name: None }
    }

    /// Follows the brackets that open and close.
    fn follow(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.text.holds(byte) {
                continue;
            }
            match byte {
                b'{' | b'[' => self.open.push(byte),
                b'}' | b']' => drop(self.open.pop()),
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                self.last = byte;
            }
        }
    }
}

#[cfg(test)]
mod tests;
