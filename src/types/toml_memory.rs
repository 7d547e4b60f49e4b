//! How much memory reading a text of TOML takes, told before it is read: each small table takes a thousand bytes, and a
//! stranger's text of a megabyte may hold a hundred thousand of them.

/// No text that takes more is read. A lock of ten thousand targets, the most that a spec may have, takes 162 MB by this
/// count, which is rather too high.
pub const MOST: usize = 175_000_000;

/// What a word, a string, a blank or a sign takes that is read.
const TOKEN: usize = 46;
/// What a table takes that holds anything.
const TABLE: usize = 960;
/// What an entry of a table takes.
const ENTRY: usize = 180;
/// What a list takes that holds anything.
const LIST: usize = 230;
/// What an entry of a list takes.
const ITEM: usize = 60;

/// The bytes that reading a text takes.
pub fn memory(text: &str) -> usize {
    // A string over several lines may hold a quote that ends none: there all counts that looks like TOML.
    let knows_strings = !text.contains("\"\"\"") && !text.contains("'''");
    let (mut before, mut depth) = ("", 0_usize);
    let mut bytes = text.len();
    for line in text.split('\n') {
        let seen = Seen::of(line, knows_strings);
        bytes += TOKEN * (1 + seen.tokens);
        // Within a list or an inline table each line may belong to another table.
        let stands_free = knows_strings && depth == 0;
        bytes += match seen.is_header() {
            true => ENTRY + seen.dots * TABLE,
            false if stands_free => seen.signs + seen.dots.saturating_sub(shared(before, line)) * TABLE,
            false => seen.signs + seen.dots * TABLE,
        };
        // What follows a header is the first entry of its table.
        bytes += if seen.has_value && before.trim_start().starts_with('[') { TABLE } else { 0 };
        before = if stands_free { line } else { before };
        depth = (depth + seen.opens).saturating_sub(seen.ends);
    }
    bytes
}

/// What stands in a line outside of strings and comments.
#[derive(Default)]
struct Seen {
    tokens: usize,
    /// What its signs begin takes, the dots of its key aside.
    signs: usize,
    /// The dots of its key.
    dots: usize,
    has_value: bool,
    has_comma: bool,
    opens: usize,
    ends: usize,
    /// Its first and its last sign that is no blank.
    outermost: Option<[u8; 2]>,
}

impl Seen {
    fn of(line: &str, knows_strings: bool) -> Seen {
        let mut seen = Seen::default();
        let (mut quote, mut before) = (None, Kind::Sign);
        let mut each = line.bytes();
        while let Some(byte) = each.next() {
            match quote {
                Some(b'"') if byte == b'\\' => drop(each.next()),
                Some(end) if byte == end => quote = None,
                Some(_) => {}
                None => {
                    let kind = Kind::of(byte);
                    seen.tokens += usize::from(kind == Kind::Sign || kind != before);
                    before = kind;
                    seen.take(byte, kind);
                    quote = Some(byte).filter(|byte| knows_strings && matches!(byte, b'"' | b'\''));
                    if knows_strings && byte == b'#' {
                        break;
                    }
                }
            }
        }
        seen
    }

    fn take(&mut self, byte: u8, kind: Kind) {
        if kind != Kind::Blank {
            self.outermost = Some([self.outermost.map_or(byte, |[first, _]| first), byte]);
        }
        match byte {
            b'.' if !self.has_value => self.dots += 1,
            b'.' | b'{' => self.signs += TABLE,
            b'[' => self.signs += LIST,
            b'=' => self.signs += ENTRY,
            b',' => self.signs += ITEM,
            _ => {}
        }
        self.has_value |= byte == b'=';
        self.has_comma |= byte == b',';
        self.opens += usize::from(matches!(byte, b'[' | b'{'));
        self.ends += usize::from(matches!(byte, b']' | b'}'));
    }

    /// `[name]` or `[[name]]`: no list looks like it that holds more than one entry.
    fn is_header(&self) -> bool {
        self.outermost == Some(*b"[]") && !self.has_comma && !self.has_value && self.opens < 3
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Blank,
    Word,
    Sign,
}

impl Kind {
    fn of(byte: u8) -> Kind {
        match byte {
            b' ' | b'\t' => Kind::Blank,
            b'-' | b'_' => Kind::Word,
            _ if byte.is_ascii_alphanumeric() => Kind::Word,
            _ => Kind::Sign,
        }
    }
}

/// How many tables of a dotted key were opened by the one before: `target.prod` of `target.prod.os` behind `target.prod.gpu`.
fn shared(before: &str, line: &str) -> usize {
    let parts = before.split('.').zip(line.split('.'));
    parts.take_while(|(one, other)| one == other && !one.contains(['"', '\'', '='])).count()
}

#[cfg(test)]
mod tests;
