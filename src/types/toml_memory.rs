//! How much memory reading a text of TOML takes, told before it is read: each small table takes a thousand bytes, and a
//! stranger's text of a megabyte may hold a hundred thousand of them.

/// No text that takes more is read. A lock of ten thousand targets, the most that a spec may have, takes 201 MB by this
/// count, which is rather too high, and 136 MB when it is read.
pub const MOST: usize = 205_000_000;

/// What a table takes that holds anything.
const TABLE: usize = 1300;
/// What a table's header takes.
const HEADER: usize = 320;
/// What the first entries of a list take.
const LIST: usize = 320;
/// What an entry of a table takes.
const ENTRY: usize = 240;
/// What an entry of a list takes.
const ITEM: usize = 160;
/// What any other mark takes, line ends among them: each begins or ends a token.
const MARK: usize = 55;

/// The bytes that reading a text takes.
pub fn memory(text: &str) -> usize {
    // A string over several lines may hold a quote that ends none: there all counts that looks like TOML.
    let knows_strings = !text.contains("\"\"\"") && !text.contains("'''");
    let mut before = "";
    let mut bytes = text.len();
    for line in text.split('\n') {
        let outside = if knows_strings { outside_of_strings(line) } else { line.to_string() };
        let (key, value) = outside.split_at(outside.find('=').unwrap_or(outside.len()));
        let holds_tables = line.contains(['[', '{']);
        bytes += MARK + marks(value);
        if is_header(&outside) {
            bytes += HEADER + key.matches('.').count() * TABLE;
        } else {
            let shared = if holds_tables { 0 } else { shared(before, line) };
            let dots = key.matches('.').count();
            bytes += dots.saturating_sub(shared) * TABLE + marks(key) - dots * TABLE;
        }
        // What follows a header is the first entry of its table.
        bytes += if before.trim_start().starts_with('[') && !value.is_empty() { TABLE } else { 0 };
        before = if is_header(&outside) || !holds_tables { line } else { "" };
    }
    bytes
}

/// A line without what its strings hold.
fn outside_of_strings(line: &str) -> String {
    let mut outside = String::new();
    let mut quote = None;
    let mut each = line.chars();
    while let Some(c) = each.next() {
        match quote {
            Some('"') if c == '\\' => drop(each.next()),
            Some(end) if c == end => quote = None,
            Some(_) => {}
            None => {
                outside.push(c);
                quote = Some(c).filter(|c| matches!(c, '"' | '\''));
            }
        }
    }
    outside
}

/// `[name]` or `[[name]]`: no list looks like it that holds more than one entry.
fn is_header(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('[') && line.ends_with(']') && !line.contains([',', '=']) && line.matches('[').count() < 3
}

/// How many tables of a dotted key were opened by the one before: `target.prod` of `target.prod.os` behind `target.prod.gpu`.
fn shared(before: &str, line: &str) -> usize {
    let parts = before.split('.').zip(line.split('.'));
    parts.take_while(|(one, other)| one == other && !one.contains(['"', '\'', '='])).count()
}

/// What the marks in a text take.
fn marks(text: &str) -> usize {
    text.bytes().map(mark).sum()
}

/// What one byte outside of strings takes.
fn mark(byte: u8) -> usize {
    match byte {
        b'{' | b'.' => TABLE,
        b'[' => LIST,
        b'=' => ENTRY,
        b',' => ITEM,
        _ if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') => 0,
        _ => MARK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_tables_and_lists_weigh_what_they_take() {
        let many = |part: &str| part.repeat(1000);
        for (text, least) in [
            (format!("x = [{}]", many("{a=1},")), 1_400_000),
            (format!("x = [{}]", many("{a.b.c=1},")), 3_700_000),
            (format!("x = [{}]", many("[[[[]]]],")), 1_200_000),
            (format!("x = [{}]", many("1,")), 155_000),
            (many("[[a]]\nb=1\n"), 1_500_000),
            (many("a.b=1\nc.d=1\n"), 2_600_000),
            (many("#\n"), 104_000),
            (format!("x = [\"\"\" \" ' \"\"\", {}]", many("{},")), 1_300_000),
            (format!("x = ['\"', {}]", many("{},")), 1_300_000),
            (format!("x = [{{\n{}", many("a.b=1},{\n")), 2_600_000),
        ] {
            assert!(memory(&text) > least, "{} for {}", memory(&text), &text[..30]);
        }
    }

    #[test]
    fn long_strings_and_keys_of_one_table_weigh_little() {
        let address = "a = \"https://a.example/{b}/[c].d.e.f.g.whl\"\n";
        assert!(memory(&address.repeat(100)) < 60_000);
        assert!(memory(&"target.prod.driver.a = 1\ntarget.prod.driver.b = 1\n".repeat(100)) < 150_000);
        assert!(memory(&"[[retract]]\n".repeat(300_000)) < MOST);
        let spec: String = (0..10_000).map(|at| format!("[target.t{at}]\ngpu = \"T4\"\n")).collect();
        assert!(memory(&spec) < MOST / 4, "{}", memory(&spec));
    }
}
