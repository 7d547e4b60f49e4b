//! The picture of the README is what the program prints: a conflict, and the lock after a fix.
//! `UPDATE_EXAMPLES=1 cargo test --test picture` draws it anew.

#[path = "common/desk.rs"]
mod desk;
#[path = "common/golden.rs"]
mod golden;

use std::fs;
use std::path::Path;

use anstyle_svg::Term;
use desk::Desk;

const SPEC: &str = "\
[stack]
torch  = \"2.9.0+cu130\"

[target.laptop]
gpu    = \"RTX 4090\"
driver = \"550\"
";

#[test]
fn the_picture_shows_what_is_printed() {
    let desk = Desk::new("picture", SPEC);
    let mut seen = String::new();
    for (args, code) in
        [(&["lock"][..], 1), (&["lock", "--apply-fix", "1"], 0), (&["export", "uv", "-o", "pyproject.toml"], 0)]
    {
        let ran = desk.run(&[args, &["--color", "always"]].concat());
        assert_eq!(ran.code, code, "{ran:?}");
        seen += &format!("\x1b[2m$\x1b[0m \x1b[1mgpuenv {}\x1b[0m\n{}{}\n", args.join(" "), ran.out, ran.err);
    }
    let drawn = Term::new().render_svg(seen.trim_end());
    let title =
        "<title>gpuenv lock shows why torch 2.9.0+cu130 and driver 550 are incompatible, and applies a fix</title>";
    let end_of_tag = drawn.find('>').unwrap() + 1;
    let drawn = format!("{}\n  {title}{}", &drawn[..end_of_tag], &drawn[end_of_tag..]);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/terminal.svg");
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        fs::write(&path, &drawn).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(golden::about(&kept) == golden::about(&drawn), "UPDATE_EXAMPLES=1 cargo test --test picture draws it anew");
}
