//! DESCRIPTION.md, what package indexes show: the README without what needs the rest of the project beside it, since an
//! index has neither its files nor its picture. `readme::commands_say_what_is_shown` holds it to the README, or writes it.

use std::fs;
use std::path::Path;

/// Stands for what the README says of installing.
const INSTALL: &str = "\
## Install

```sh
pip install gpuenv            # or, without installing: uvx gpuenv lock
cargo install --locked gpuenv # Rust 1.92 or later
```

Linux (glibc 2.17 or later), macOS and Windows; `gpuenv probe` of this machine and `gpuenv verify` are for Linux only.

`gpuenv help COMMAND` shows the options of a command with examples, `gpuenv explain CODE` what a warning, an error, a rule or
a check means, `gpuenv man` prints manual pages. Tutorials, how-tos and the reference are in the folder `docs` of the source.
";

/// Sections that lead to other files.
const ELSEWHERE: [&str; 2] = ["## Install\n", "## Documentation\n"];

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// What is wrong with the file, unless it is to be written.
pub fn checked() -> Option<String> {
    let (made, kept) = (of_readme(&read("README.md")), read("DESCRIPTION.md"));
    if made == kept {
        return None;
    }
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("DESCRIPTION.md"), made).unwrap();
        return None;
    }
    Some(format!("DESCRIPTION.md is not what is made of README.md\n{made}"))
}

/// The README as an index can show it.
fn of_readme(readme: &str) -> String {
    let mut sections = readme.split("\n## ");
    let head = sections.next().expect("a page begins");
    let mut made = without_links(head);
    for section in sections.map(|section| format!("## {section}")) {
        let section = match ELSEWHERE.iter().position(|head| section.starts_with(head)) {
            Some(0) => INSTALL.to_string(),
            Some(_) => continue,
            None => without_links(&section),
        };
        made = format!("{}\n\n{section}", made.trim_end());
    }
    format!("{}\n", made.trim_end())
}

/// Prose without pictures and with the words of links alone; a link in brackets of its own goes with them.
fn without_links(text: &str) -> String {
    let mut plain: String = text.split_inclusive('\n').filter(|line| !line.starts_with("![")).collect();
    while let Some(middle) = plain.find("](") {
        let start = plain[..middle].rfind('[').expect("a link begins");
        let end = middle + plain[middle..].find(')').expect("a link ends") + 1;
        if plain[..start].ends_with('(') && plain[end..].starts_with(')') {
            let before = plain[..start - 1].trim_end().len();
            plain.replace_range(before..=end, "");
        } else {
            let words = plain[start + 1..middle].to_string();
            plain.replace_range(start..end, &words);
        }
    }
    plain
}

#[test]
fn it_leads_nowhere_in_the_project() {
    let text = read("DESCRIPTION.md");
    assert!(!text.contains("](") && !text.contains("docs/"), "a link or a file that an index has not");
    let [crate_, wheel] = ["Cargo.toml", "pyproject.toml"].map(|name| read(name).parse::<toml::Table>().unwrap());
    assert_eq!(crate_["package"]["readme"].as_str(), Some("DESCRIPTION.md"));
    assert_eq!(wheel["project"]["readme"].as_str(), Some("DESCRIPTION.md"));
    let links = "A [page](p.md) ([more](docs/m.md)).\n![picture](p.svg)\n[stack]\n";
    assert_eq!(without_links(links), "A page.\n[stack]\n");
}
