//! A line of the shell in a Dockerfile, as words.

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
            _ => list,
        },
        Err(_) => words(rest),
    }
}

/// The words of a line as a shell parts them.
pub(super) fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut any) = (Vec::new(), String::new(), None, false);
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.push(c),
            None if c == '"' || c == '\'' => (quote, any) = (Some(c), true),
            // The rest is a comment of the shell's.
            None if c == '#' && !any && word.is_empty() => break,
            // `2>&1`
            None if c == '&' && word.ends_with('>') => word.push(c),
            // What ends a command is a word of its own.
            None if ";&|()".contains(c) => {
                if any || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                match words.last_mut() {
                    // `&&` and `||`
                    Some(last) if "&|".contains(c) && *last == c.to_string() => last.push(c),
                    _ if "&|".contains(c) => words.push(c.to_string()),
                    _ => words.push(";".to_string()),
                }
                any = false;
            }
            None if c.is_whitespace() => {
                if any || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            None => word.push(c),
        }
    }
    if any || !word.is_empty() {
        words.push(word);
    }
    without_redirections(words)
}

/// The commands among the words of a line, each with what parts it from the one before.
pub(super) fn commands(words: &[String]) -> Vec<(&str, &[String])> {
    let (mut commands, mut parted, mut begin) = (Vec::new(), ";", 0);
    for (at, word) in words.iter().enumerate().filter(|(_, word)| [";", "&", "|", "&&", "||"].contains(&word.as_str()))
    {
        if at > begin {
            commands.push((std::mem::replace(&mut parted, ";"), &words[begin..at]));
        }
        begin = at + 1;
        // A parenthesis beside it changes nothing.
        if word.len() > 1 {
            parted = word;
        }
    }
    if begin < words.len() {
        commands.push((parted, &words[begin..]));
    }
    commands
}

/// Words without where a command writes to: `> /dev/null`, `2>log`. `>=2` is none.
fn without_redirections(words: Vec<String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let target =
            word.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(">>").trim_start_matches('>');
        let is_one = word.len() > target.len() && word[..word.len() - target.len()].contains('>');
        match is_one && !target.starts_with('=') {
            true if target.is_empty() => drop(words.next()),
            true => {}
            false => kept.push(word),
        }
    }
    kept
}
