//! The picture of the README is what the program prints: a conflict, and the lock after a fix.
//! `UPDATE_EXAMPLES=1 cargo test --test book picture::` draws it anew.

use std::fs;
use std::path::Path;

use anstyle_svg::Term;

use crate::common::golden;
use crate::common::sandbox::Sandbox;

const SPEC: &str = "\
[stack]
torch  = \"2.9.0+cu130\"

[target.laptop]
gpu    = \"RTX 4090\"
driver = \"550\"
";

/// Colours that can be told from the ground (4.5 to 1 or more), in place of those of a terminal of 1987.
const COLOURS: &[(&str, &str)] = &[
    ("#AAAAAA", "#e6edf3"),
    ("#000000", "#0d1117"),
    ("#00AAAA", "#79c0ff"),
    ("#00AA00", "#7ee787"),
    ("#AA00AA", "#d2a8ff"),
    ("#AA0000", "#ff7b72"),
    ("#AA5500", "#e3b341"),
    ("opacity: 0.4", "opacity: 0.75"),
];

#[test]
fn the_picture_shows_what_is_printed() {
    let sandbox = Sandbox::new("picture", SPEC);
    let mut seen = String::new();
    for (args, code) in
        [(&["lock"][..], 1), (&["lock", "--apply-fix", "1"], 0), (&["export", "uv", "-o", "pyproject.toml"], 0)]
    {
        let ran = sandbox.run(&[args, &["--color", "always"]].concat());
        assert_eq!(ran.code, code, "{ran:?}");
        seen += &format!("\x1b[2m$\x1b[0m \x1b[1mgpuenv {}\x1b[0m\n{}{}\n", args.join(" "), ran.out, ran.err);
    }
    let drawn = Term::new().render_svg(seen.trim_end());
    let drawn = COLOURS.iter().fold(drawn, |drawn, (old, new)| drawn.replace(old, new));
    let title =
        "<title>gpuenv lock shows why torch 2.9.0+cu130 and driver 550 are incompatible, and applies a fix</title>";
    let end_of_tag = drawn.find('>').unwrap() + 1;
    let drawn = format!("{}\n  {title}{}", &drawn[..end_of_tag], &drawn[end_of_tag..]);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/terminal.svg");
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        fs::write(&path, &drawn).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        golden::about(&kept) == golden::about(&drawn),
        "UPDATE_EXAMPLES=1 cargo test --test book picture:: draws it anew"
    );
}
