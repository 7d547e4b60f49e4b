//! pip: its requirement lists, and the words of its command line.

use super::order::List;
use super::{Found, cuda_of_index, extras, is_variant, own_of, requirement, torch_of_page, variant_of};

/// Options of `pip install` and of `uv pip install`, `uv pip sync` and `uv add` whose value says nothing of what is installed,
/// those of older releases too (pip 19 to 26, uv 0.13); others whose value counts are read below.
const VALUED: &str = "\
    --abi --all-releases --allow-insecure-host --bounds --branch --build --build-dir --build-option --cache-dir --cert \
    --client-cert --color --concurrent-builds --concurrent-downloads --concurrent-installs --config-file \
    --config-setting --config-settings --config-settings-package --default-timeout --directory --exclude-newer \
    --exclude-newer-package --excludes --exists-action --fork-strategy --format --global-option --hash \
    --implementation --index-strategy --install-option --keyring-provider --link-mode --local-log --log --log-file \
    --marker --no-binary --no-binary-package --no-build-isolation-package --no-build-package --no-editable-package \
    --no-install-package --no-sources-package --only-binary --only-final --optional --output-format --package \
    --platform --prefix --prerelease --prerelease-package --progress-bar --project --proxy --python --python-platform \
    --python-version --refresh-package --reinstall-package --report --requirements-from-script --resolution \
    --resume-retries --retries --rev --root --root-user-action --script --source --source-dir --source-directory --src \
    --tag --target --timeout --trusted-host --upgrade-group --upgrade-package --upgrade-strategy --uploaded-prior-to \
    --use-deprecated --use-feature -C -P -m -p -t";

/// Files that bound what is installed, or say what it is made with.
const FILES: &str = "\
    --build-constraint --build-constraints --constraint --constraints --override --overrides --requirement \
    --requirements -b -c -r";

/// Why pip itself is no package of a stack.
pub(super) const INSTALLS: &str = "it installs the others, and is none of the stack's";

const CUDA_OF_PAGE: &str = "its CUDA is taken, and not the wheels that lie there: name it to the installer, too";
const ANY_INDEX: &str =
    "an index that does not tell which CUDA its wheels are for; for what it alone has, name it to the installer, too";
const OTHER_GPUS: &str = "wheels for other GPUs than NVIDIA's, which gpuenv knows alone";

/// A requirements.txt.
pub(super) fn requirements(text: &str) -> Found {
    let mut found = Found::default();
    for (line, text) in joined(text, '\\') {
        let text = without_comment(&text);
        let (asked, options) = parted(text.trim());
        let words: Vec<String> = options.split_whitespace().map(str::to_string).collect();
        words_of_pip(&words, line, &mut found);
        if !asked.is_empty() {
            package(asked, line, &mut found);
        }
    }
    found.wanted.iter_mut().for_each(|wanted| wanted.owned_by(&found.owns));
    found
}

/// A requirement and the options on its line, of which either may be missing: `torch==2.0.1 -f https://…`, hashes. What
/// pip reads on a line of its own only is meant all the same.
fn parted(text: &str) -> (&str, &str) {
    let begins = |(at, _): &(usize, &str)| *at == 0 || text[..*at].ends_with(char::is_whitespace);
    let at = text.match_indices('-').find(begins).map_or(text.len(), |(at, _)| at);
    (text[..at].trim_end(), &text[at..])
}

/// The words behind `pip install`.
pub(super) fn words_of_pip(words: &[String], line: usize, found: &mut Found) {
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let (option, glued) = option(word);
        let mut value = || glued.map(str::to_string).or_else(|| words.next().map(str::to_string)).unwrap_or_default();
        match option.as_str() {
            "--extra-index-url" | "-i" | "--index-url" | "--index" | "--default-index" | "--pypi-url" | "-f"
            | "--find-links" => index(&value(), &option, line, found),
            "--torch-backend" => backend(&value(), &option, line, found),
            "-e" | "--editable" => {
                let what = value();
                let why = match what.contains("://") {
                    true => "it comes from an address, of which the version is not known",
                    false => "a package of this project or of a folder",
                };
                project(&what, line, found);
                found.leave(line, &format!("{option} {what}"), why);
            }
            "--extra" | "--group" => found.installs.extend(extras::of_option(&value())),
            option if is_of(FILES, option) => {
                let file = value();
                let is_bound = !["-r", "--requirement", "--requirements"].contains(&option);
                found.file(line, format!("{option} {file}"), &file, is_bound);
            }
            option if is_of(VALUED, option) => drop(value()),
            // An argument that is empty is a value all the same where an option takes one.
            "" => {}
            option if option.starts_with('-') => {}
            // `uv pip sync requirements.txt`
            file if [".txt", ".in", ".toml", ".lock"].iter().any(|ending| file.ends_with(ending)) => {
                found.file(line, file.to_string(), file, false);
            }
            _ => {
                project(word, line, found);
                package(word, line, found);
            }
        }
    }
}

/// A project in a folder: what it asks for is installed, with the extras that are named.
fn project(word: &str, line: usize, found: &mut Found) {
    found.installs.extend(extras::of_folder(word));
    if let Some(folder) = extras::folder(word) {
        found.list(List { line, file: folder.to_string(), is_project: true, ..List::default() });
    }
}

/// Whether the value of an option says nothing of what is installed.
pub(super) fn says_nothing(option: &str) -> bool {
    is_of(VALUED, option)
}

fn is_of(options: &str, option: &str) -> bool {
    options.split_whitespace().any(|one| one == option)
}

/// The option that a word is, and the value within it: `--python=3.11`, `-rbase.txt`, `-qr`; any other word is itself.
fn option(word: &str) -> (String, Option<&str>) {
    if word.starts_with("--") {
        return word.split_once('=').map_or((word.to_string(), None), |(name, value)| (name.to_string(), Some(value)));
    }
    let Some(letters) = word.strip_prefix('-') else { return (word.to_string(), None) };
    let takes_value = |letter: char| {
        let option = format!("-{letter}");
        ["-e", "-f", "-i"].contains(&option.as_str()) || is_of(VALUED, &option) || is_of(FILES, &option)
    };
    match letters.char_indices().find(|(_, letter)| takes_value(*letter)) {
        Some((at, letter)) => {
            let rest = letters[at + letter.len_utf8()..].trim_start_matches('=');
            (format!("-{letter}"), Some(rest).filter(|rest| !rest.is_empty()))
        }
        None => (word.to_string(), None),
    }
}

/// uv's way to name the index of PyTorch; `auto` leaves it to the machine, as gpuenv does.
pub(super) fn backend(name: &str, option: &str, line: usize, found: &mut Found) {
    match name {
        "auto" => {}
        _ if is_variant(name) => found.variant = found.variant.take().or(Some(name.to_string())),
        _ => found.leave(line, &format!("{option} {name}"), OTHER_GPUS),
    }
}

/// A requirement, or why it is none.
pub(super) fn package(text: &str, line: usize, found: &mut Found) {
    match requirement::read(text, line) {
        // `pip install --upgrade pip`
        Ok(wanted) if wanted.name == "pip" => found.leave(line, text, INSTALLS),
        Ok(wanted) => found.want(wanted),
        Err(why) => found.leave(line, text, why),
    }
}

/// An index or a page of wheels.
pub(super) fn index(address: &str, option: &str, line: usize, found: &mut Found) {
    let written = format!("{option} {address}");
    let is_page = ["-f", "--find-links"].contains(&option) && !address.contains("download.pytorch.org");
    let jetpack = address.split('/').find_map(|folder| folder.strip_prefix("jp")?.parse::<u8>().ok());
    found.jetpack = found.jetpack.take().or_else(|| Some((format!("jetpack{}.", jetpack?), line)));
    found.pages.extend(torch_of_page(address).map(|torch| (torch, line)));
    match variant_of(address) {
        None if address.is_empty() => {}
        None if cuda_of_index(address).is_some() => {
            found.variant = found.variant.take().or(cuda_of_index(address));
            found.leave(line, &written, CUDA_OF_PAGE);
        }
        Some(variant) => {
            found.variant = found.variant.take().or(Some(variant));
            let why = match is_page {
                _ if address.contains("/nightly/") => {
                    "an index of nightlies, and releases are taken: write the version of a nightly under [stack]"
                }
                true => CUDA_OF_PAGE,
                false => return,
            };
            found.leave(line, &written, why);
        }
        None if address.contains("rocm") => {
            found.leave(line, &written, OTHER_GPUS);
        }
        None if is_page => {
            found.leave(line, &written, "a page of wheels, which the lock does not name: name it to the installer, too")
        }
        None => match own_of(address) {
            Some(own) => {
                found.leave(
                    line,
                    &written,
                    format!("an index of wheels for CUDA {}: name it to the installer, too", own.1),
                );
                found.owns.push(own);
            }
            None => found.leave(line, &written, ANY_INDEX),
        },
    }
}

/// Lines with those that go on in the next one joined, each with the number of its first.
pub(super) fn joined(text: &str, mark: char) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (at, line) in text.lines().enumerate() {
        // A comment ends with its line.
        let is_comment = line.trim_start().starts_with('#');
        let next = line.trim_end().strip_suffix(mark).filter(|_| !is_comment);
        let part = next.unwrap_or(line);
        match lines.last_mut().filter(|_| goes_on) {
            // A comment between the parts of a command is none of them.
            Some(_) if is_comment => continue,
            Some((_, text)) => {
                text.push(' ');
                text.push_str(part.trim());
            }
            None => lines.push((at + 1, part.to_string())),
        }
        goes_on = next.is_some();
    }
    lines
}

/// A `#` at the start or behind a blank begins a comment; in an address it does not.
fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with('#') {
        return "";
    }
    line.split(" #").next().unwrap_or(line)
}
