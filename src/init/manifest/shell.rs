//! A line of the shell in a Dockerfile, as words: first as they are written, since what a quote holds is no end of a command,
//! and only filled in (`dockerfile/values.rs`) as what programs are given.

/// What stands before the here-document that a RUN begins, and what ends it: `EOF` of `<<EOF`, `<<-"EOF"`.
pub(super) fn here_document(rest: &str) -> Option<(&str, String)> {
    let (before, word) = rest.split_once("<<")?;
    let word = word.strip_prefix('-').unwrap_or(word).split_whitespace().next()?.trim_matches(['"', '\'']);
    let is_name = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then(|| (before, word.to_string()))
}

/// Whether what follows `<<` are commands, and not the text of a file (`cat <<EOF > x`).
pub(super) fn is_shell(before: &str) -> bool {
    before.split_whitespace().all(|word| word.starts_with('-') || ["bash", "sh"].contains(&file_name(word)))
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a word of a command sets a variable.
pub(super) fn is_variable(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The Python by whose number a command names it: `python3.10 -m venv`, `uv venv --python 3.10`, `uv sync -p 3.10`.
pub(super) fn python_of(words: &[String]) -> Option<String> {
    let is_one = |pair: &&[String]| file_name(&pair[0]).starts_with("python3.") && pair[1] == "-m";
    if let Some(pair) = words.windows(2).find(is_one) {
        return Some(file_name(&pair[0]).to_string());
    }
    // `Miniconda3-py311_24.1.2-0-Linux-x86_64.sh`
    let of_conda = |word: &String| {
        let (_, release) = file_name(word).split_once("conda3-py3")?;
        Some(format!("python3.{}", release.split_once('_')?.0))
    };
    if let Some(python) = words.iter().find_map(of_conda) {
        return Some(python);
    }
    let at = words.iter().position(|word| ["venv", "virtualenv", "sync"].contains(&file_name(word)))?;
    let mut options = words[at + 1..].iter();
    let value = options.find_map(|word| match word.split_once('=') {
        Some(("--python", value)) => Some(Some(value.to_string())),
        _ if ["--python", "-p"].contains(&word.as_str()) => Some(None),
        _ => None,
    })?;
    let value = value.or_else(|| options.next().cloned())?;
    Some(format!("python{}", file_name(&value).trim_start_matches("python")))
}

/// An environment that a command makes.
#[derive(Debug, Clone)]
pub(super) struct Made {
    /// The last part of its path, or its name.
    pub name: String,
    /// Whether conda makes it, with a Python of its own.
    pub by_conda: bool,
    /// Whether it sees the packages around it.
    pub is_open: bool,
}

/// What makes one: `conda create -n x`, `uv venv`, `python -m venv /x`, `virtualenv /x`.
pub(super) fn makes_environment(words: &[String]) -> Option<Made> {
    let at = words.iter().position(|word| ["venv", "virtualenv", "create"].contains(&file_name(word)))?;
    let before: Vec<&str> = words[..at].iter().map(|word| file_name(word)).collect();
    let by_conda = before.iter().any(|word| is_conda(word));
    let makes = match file_name(&words[at]) {
        "create" => by_conda,
        _ => before.last().is_none_or(|last| ["-m", "uv"].contains(last)),
    };
    let (mut name, mut rest) = (None, words[at + 1..].iter());
    while let Some(word) = rest.next() {
        let (option, glued) = word.split_once('=').map_or((word.as_str(), None), |(one, value)| (one, Some(value)));
        let mut value = || glued.or_else(|| rest.next().map(String::as_str));
        match option {
            "-n" | "--name" | "-p" | "--prefix" if by_conda => name = value(),
            "-c" | "--channel" | "-f" | "--file" | "-p" | "--python" | "--prompt" => drop(value()),
            option if option.starts_with('-') || by_conda => {}
            path => name = Some(path),
        }
    }
    let name = environment(name.unwrap_or(".venv")).to_string();
    let is_open = words.iter().any(|word| word == "--system-site-packages");
    makes.then_some(Made { name, by_conda, is_open })
}

/// What an environment is called by its path: `/opt/conda/envs/x`, `/x/`.
pub(super) fn environment(path: &str) -> &str {
    file_name(path.trim_end_matches('/'))
}

pub(super) fn is_conda(program: &str) -> bool {
    ["conda", "mamba", "micromamba"].contains(&file_name(program))
}

/// The environment that a command enters, or writes down to be entered: `conda activate x`, `. /x/bin/activate`.
pub(super) fn activates(words: &[String]) -> Option<&str> {
    let parts = words.iter().flat_map(|word| word.split(|c: char| c.is_whitespace() || "\\;&\"'".contains(c)));
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let by_path = parts.iter().find_map(|part| part.strip_suffix("/bin/activate"));
    let by_name = || parts.windows(2).find(|pair| file_name(pair[0]) == "activate").map(|pair| pair[1]);
    by_path.or_else(by_name).map(environment).filter(|_| !parts.contains(&"alias"))
}

/// The words of a command: a line of the shell, or a list in JSON, which may hold one.
pub(super) fn command(rest: &str) -> Vec<String> {
    match serde_json::from_str::<Vec<String>>(rest.trim()) {
        Ok(list) => match &list[..] {
            [_, option, line, ..] if option.starts_with('-') && option.ends_with('c') => words(line),
            _ => list.iter().map(|word| quoted(word)).collect(),
        },
        Err(_) => words(rest),
    }
}

/// The line that a shell is given as a word: `bash -lc "…"`, `su x -c "…"`, `conda run -n x bash -c "…"`.
pub(super) fn line_within(words: &[String]) -> Option<&str> {
    const SHELLS: [&str; 7] = ["ash", "bash", "dash", "runuser", "sh", "su", "zsh"];
    let shell = words.iter().position(|word| SHELLS.contains(&file_name(word)))?;
    let is_one = |word: &&String| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    let is_named = words[..shell].iter().any(|word| ["install", "add", "create"].contains(&word.as_str()));
    let at = words.iter().skip(shell).take_while(|_| !is_named).position(|word| is_one(&word))?;
    words.get(shell + at + 1).map(String::as_str)
}

/// A text as a word that stands for nothing but itself.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// What ends a word and parts commands.
const OPERATORS: &str = ";&|()";

/// The words of a line as a shell parts them, each as it is written, with its quotes; what ends a command is a word of its own.
pub(super) fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut rest) = (Vec::<String>::new(), String::new(), line);
    while let Some(c) = rest.chars().next() {
        // The rest is a comment of the shell's.
        if c == '#' && word.is_empty() {
            break;
        }
        // `2>&1`
        let is_operator = OPERATORS.contains(c) && !(c == '&' && word.ends_with('>'));
        if !is_operator && !c.is_whitespace() {
            let (piece, behind) = rest.split_at(piece(rest, 0));
            word += piece;
            rest = behind;
            continue;
        }
        rest = &rest[c.len_utf8()..];
        let is_new = !word.is_empty();
        words.extend(is_new.then(|| std::mem::take(&mut word)));
        match words.last_mut() {
            _ if !is_operator => {}
            // `&&`, `||` and `;;`
            Some(last) if !is_new && ";&|".contains(c) && *last == c.to_string() => last.push(c),
            _ => words.push(c.to_string()),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    without_redirections(words)
}

/// Quotes and braces within each other take the stack of the program, and none nest this deep.
pub(super) const MOST_DEEP: usize = 20;

/// How long the first part of a word is: a letter, or what stands in quotes, in braces or in parentheses behind a `$`.
pub(super) fn piece(text: &str, depth: usize) -> usize {
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return 0 };
    let next = letters.next();
    let begun = first.len_utf8() + next.map_or(0, char::len_utf8);
    match (first, next) {
        ('\\', _) => begun,
        ('\'' | '`', _) => text[1..].find(first).map_or(text.len(), |end| end + 2),
        _ if depth == MOST_DEEP => first.len_utf8(),
        ('"', _) => closed(text, 1, '"', depth),
        ('$', Some('{')) => closed(text, 2, '}', depth),
        ('$', Some('(')) => closed(text, 2, ')', depth),
        _ => first.len_utf8(),
    }
}

/// Where the mark ends that closes what begins there.
fn closed(text: &str, begin: usize, mark: char, depth: usize) -> usize {
    let (mut at, mut open) = (begin, 0_usize);
    while let Some(c) = text[at..].chars().next() {
        match c {
            _ if c == mark && open == 0 => return at + 1,
            '(' if mark == ')' => open += 1,
            ')' if mark == ')' => open -= 1,
            _ => {}
        }
        // Between double quotes single ones are letters.
        at += if c == '\'' && mark == '"' { 1 } else { piece(&text[at..], depth + 1) };
    }
    text.len()
}

/// What stands between the marks that a piece begins and ends with.
pub(super) fn inside(piece: &str) -> &str {
    let rest = piece.get(1..).unwrap_or_default();
    piece.chars().next().and_then(|mark| rest.strip_suffix(mark)).unwrap_or(rest)
}

/// A word without its quotes, for people.
pub(super) fn bare(word: &str) -> String {
    let (mut out, mut rest) = (String::new(), word);
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(piece(rest, 0));
        match piece.chars().next() {
            Some('\\') => out += &piece[1..],
            Some('"' | '\'') => out += inside(piece),
            _ => out += piece,
        }
        rest = behind;
    }
    out
}

/// Words as people read them.
pub(super) fn shown(words: &[String]) -> String {
    words.iter().map(|word| bare(word)).collect::<Vec<_>>().join(" ")
}

/// What parts a command from the one before it where a parenthesis opens behind `||`.
pub(super) const OR_OPEN: &str = "||(";

/// A command of a line.
#[derive(Clone, Copy)]
pub(super) struct Command<'w> {
    /// What parts it from the one before: `&&`, `||`, or nothing that tells whether it runs.
    pub parted: &'w str,
    pub words: &'w [String],
    /// The file that it writes to; empty for none.
    pub writes: &'w str,
    /// What ends it.
    pub end: &'w str,
}

/// The commands among the words of a line.
pub(super) fn commands(words: &[String]) -> Vec<Command<'_>> {
    let (mut commands, mut parted, mut begin) = (Vec::new(), ";", 0);
    for at in (0..=words.len()).filter(|at| words.get(*at).is_none_or(|word| is_end(word))) {
        let end = words.get(at).map_or(";", String::as_str);
        if at > begin || end == ";;" {
            let own = &words[begin..at];
            let (words, writes) = match own.split_last().map(|(last, rest)| (rest, target(last))) {
                Some((rest, Some(writes))) => (rest, writes),
                _ => (own, ""),
            };
            commands.push(Command { parted: std::mem::replace(&mut parted, ";"), words, writes, end });
        }
        begin = at + 1;
        match end {
            "&&" | "||" => parted = end,
            "(" if parted == "||" => parted = OR_OPEN,
            // A parenthesis beside it changes nothing.
            _ => {}
        }
    }
    commands
}

/// Whether a word ends a command.
fn is_end(word: &str) -> bool {
    ["&&", "||", ";;"].contains(&word) || word.len() == 1 && OPERATORS.contains(word)
}

/// The file that a word writes to, if it does: `>r.txt`. `>=2` is none.
fn target(word: &str) -> Option<&str> {
    let target = word.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(">>").trim_start_matches('>');
    let is_one = word.len() > target.len() && word[..word.len() - target.len()].contains('>');
    (is_one && !target.starts_with('=')).then_some(target)
}

/// Words with the file that a command writes to, as one word behind all others: `>r.txt`. Devices and what is reported, as in
/// `2>log`, are none.
fn without_redirections(words: Vec<String>) -> Vec<String> {
    let (mut kept, mut writes): (Vec<String>, Option<String>) = (Vec::new(), None);
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if let Some(file) = target(&word) {
            let is_output = word.starts_with(['>', '1']);
            let file = if file.is_empty() { words.next().unwrap_or_default() } else { file.to_string() };
            writes = Some(format!(">{file}"))
                .filter(|_| is_output && !file.starts_with('&') && !file.starts_with("/dev/"))
                .or(writes);
            continue;
        }
        kept.extend(writes.take_if(|_| is_end(&word)));
        kept.push(word);
    }
    kept.extend(writes);
    kept
}
