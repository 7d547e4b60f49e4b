//! The system that a text was printed on, where what to change differs from one to another.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::value::{Extract, text};

/// What only Windows prints: paths with a drive, its libraries, its errors and its compiler.
static WINDOWS: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r#"(?i)(?:^|[^a-z0-9])[a-z]:(?:\\|/)+[a-z0-9_]|[a-z0-9_]\.dll\b|\bWinError \d|\bWindowsPath\(|\bcl\.exe\b|\bvcvars|'where', 'cl'|compiler version for cl:|\bwin_amd64\b|\bLNK\d{4}\b"#,
    )
});

/// What a Unix prints: paths from its root, and Windows' own Linux.
static UNIX: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r"(?:^|[^A-Za-z0-9_./\\-])/(?:usr|home|root|opt|mnt|lib|lib64|data|tmp|var|workspace|Users)/|(?i:\bwsl|manylinux|\blinux_x86_64)",
    )
});

fn ascii(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).multi_line(true).build().expect("a constant")
}

/// More of them decide nothing.
const COUNTED: usize = 200;

/// Whether a plain text was printed on Windows, as far as the most of its paths tell.
fn is_windows(plain: &str) -> bool {
    let count = |of: &Regex| of.find_iter(plain.as_bytes()).take(COUNTED).count();
    count(&WINDOWS) > count(&UNIX)
}

/// The system or processor that a plain text is of, where it is not the usual one.
pub fn told(plain: &str) -> Option<&'static str> {
    let is_arm = || plain.contains("aarch64") && !plain.contains("x86_64");
    if is_windows(plain) { Some("Windows") } else { is_arm().then_some("aarch64") }
}

/// Whether what was read out of a text is of Windows.
pub fn is_of_windows(extract: &Extract) -> bool {
    text(extract, "platform").is_some_and(|platform| platform.to_ascii_lowercase().starts_with("win"))
}

/// The words of means that only Linux has.
const LINUX_MEANS: &[&str] = &[
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LIBRARY_PATH",
    "ldconfig",
    "apt-get",
    "apt-cache",
    "build-essential",
    "dkms",
    "dmesg",
    "modprobe",
    "nouveau",
    "nvidia_uvm",
    "sudo",
    "/usr/",
    "libcuda.so",
    "-dev package",
];

/// Whether a sentence tells of means that Windows does not have.
pub fn is_of_linux_alone(sentence: &str) -> bool {
    LINUX_MEANS.iter().any(|word| sentence.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_is_told_by_its_paths() {
        for (text, wanted) in [
            ("Could not load dynamic library 'cudart64_110.dll'; dlerror: cudart64_110.dll not found", true),
            ("E:\\anaconda3\\lib\\cpp_extension.py:184: [WinError 2]", true),
            ("linked by target in directory D:/Cproject/opencv", true),
            ("CalledProcessError: Command '['where', 'cl']' returned non-zero exit status 1.", true),
            ("see https://example.com/x and git:/x", false),
            ("File \"/usr/lib/python3/x.py\", line 3\nFile \"/home/u/y.py\": C:\\mnt", false),
            ("WSL: nvcuda.dll beside /usr/lib/wsl/lib", false),
            ("libcudart.so.12: cannot open shared object file", false),
        ] {
            assert_eq!(is_windows(text), wanted, "{text}");
        }
    }
}
