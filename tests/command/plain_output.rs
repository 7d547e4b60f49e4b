//! Nothing that a terminal would obey, or a reader be fooled by, reaches either stream, wherever it comes from and in
//! whatever format.

use std::process::Stdio;

use gpuenv::types::name::is_unseen;

use crate::common::checkout::{Place, Ran};

/// A title, a colour that is none of ours, a colour by its C1 spelling, text that runs backwards, breaks of lines, marks that
/// hide, a tag.
const HOSTILE: &str =
    "a\u{1b}]0;x\u{7}\u{1b}[2J\u{1b}[8m\u{9b}31m\u{202e}b\u{2066}\u{2028}\u{2029}\u{85}\u{ad}\u{feff}\u{7f}\u{e0041}c";
/// The colours that gpuenv and its snippets have.
const COLORS: [&str; 11] = ["0", "2", "31", "32", "1;31", "1;33", "1;36", "32;1", "33;1", "35;1", "36;1;4"];

const SPEC: &str = "[stack]\ntorch = \"2.5.1\"\npython = \"3.11\"\n[target.prod]\ngpu = \"H100 NVL\"\n";

/// The same in a language that cannot hold it as it is: JSON's and TOML's spelling by numbers.
fn by_number(text: &str) -> String {
    text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()
}

fn by_toml_number(text: &str) -> String {
    text.chars().map(|c| format!("\\U{:08x}", u32::from(c))).collect()
}

/// What a text file may hold of it without being refused as none.
fn visible_controls() -> String {
    HOSTILE.chars().filter(|c| !c.is_ascii_control()).collect()
}

fn without_colors(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_string();
    for part in parts {
        match part.split_once('m').filter(|(color, _)| COLORS.contains(color)) {
            Some((_, rest)) => plain += rest,
            None => plain += &format!("\u{1b}[{part}"),
        }
    }
    plain
}

/// Whether who runs jobs and reads their logs obeys a line; of annotations it is to.
fn is_command(line: &str, annotated: bool) -> bool {
    let is_annotation = annotated && ["::error ", "::warning "].iter().any(|ours| line.starts_with(ours));
    let marks = ["##[", "##vso[", "##teamcity["];
    marks.iter().any(|mark| line.contains(mark)) || line.trim_start().starts_with("::") && !is_annotation
}

/// Runs in every format, with colours and without, and looks at all that is printed. Files are as they were. Colours are for
/// people: no document and no annotation has any.
#[track_caller]
fn is_plain(place: &Place, args: &[&str], stdin: Option<&str>) {
    let colored = ["--color", "always"];
    for (more, color) in
        [(&[][..], &[][..]), (&[], &colored), (&["--format", "json"], &colored), (&["--format", "github"], &colored)]
    {
        let all = [args, more, color].concat();
        let mut command = place.command("checkout", &all);
        let ran = match stdin {
            None => Ran::of(&mut command),
            Some(text) => {
                place.write("stdin", text);
                Ran::of(command.stdin(Stdio::from(std::fs::File::open(place.path("stdin")).unwrap())))
            }
        };
        for (text, is_data) in [(&ran.out, more.contains(&"json")), (&ran.err, false)] {
            // What a command says to people beside its annotations may be coloured.
            let shown = |line: &str| match color.is_empty() || is_data || line.starts_with("::") {
                true => line.to_string(),
                false => without_colors(line),
            };
            let text = text.lines().map(shown).collect::<Vec<_>>().join("\n");
            let bad: Vec<char> = text.chars().filter(|c| is_unseen(*c) && !matches!(c, '\n' | '\t')).collect();
            assert!(bad.is_empty(), "{all:?}: {bad:?} in {text:?}");
            let is_github = more.contains(&"github");
            let obeyed: Vec<&str> = text.lines().filter(|line| is_command(line, is_github)).collect();
            assert!(obeyed.is_empty() && !text.contains("hunter2"), "{all:?}: {obeyed:?} in {text:?}");
        }
        if more.contains(&"json") {
            let document: Result<serde_json::Value, _> = serde_json::from_str(&ran.out);
            assert!(document.is_ok(), "{all:?}: {ran:?}");
        }
        assert!([0, 1, 2, 3, 4].contains(&ran.code), "{all:?}: {ran:?}");
    }
}

#[test]
fn of_a_spec() {
    let place = Place::with("plain-spec", SPEC);
    let (raw, number) = (visible_controls(), by_toml_number(HOSTILE));
    for spec in [
        SPEC.replace("2.5.1", &raw),
        SPEC.replace("2.5.1", &number),
        SPEC.replace("torch =", &format!("\"{number}\" =")),
        SPEC.replace("H100 NVL", &format!("H100 {raw}")),
        SPEC.replace("prod", &format!("\"{number}\"")),
        format!("{SPEC}x = 1 # {raw}\n"),
        format!("# {raw}\n{SPEC}\"{number}\" = {{ a = 1 }}\n"),
        format!("{SPEC}[[override]]\nrule = \"{raw}\"\nreason = \"{raw}\"\n"),
        format!("{SPEC}[catalog]\noverlays = [\"{raw}\"]\n"),
        format!("{SPEC}{raw}"),
    ] {
        place.write("checkout/gpuenv.toml", &spec);
        for args in [&["lock"][..], &["explain"], &["lock", "--check"]] {
            is_plain(&place, args, None);
        }
    }
}

#[test]
fn of_a_conflict_and_a_fix_beside_hostile_comments() {
    let conflict = "[stack]\ntorch = \"1.12.1+cu102\" # RAW\n[target.prod]\ngpu = \"A100-PCIE-40GB\" # RAW\n";
    let place = Place::with("plain-conflict", &conflict.replace("RAW", &visible_controls()));
    is_plain(&place, &["lock"], None);
    is_plain(&place, &["lock", "--apply-fix", "1"], None);
}

#[test]
fn of_an_overlay_and_a_lock() {
    let place = Place::with("plain-overlay", &format!("{SPEC}[catalog]\noverlays = [\"site.toml\"]\n"));
    let (raw, number) = (visible_controls(), by_toml_number(HOSTILE));
    for overlay in [
        format!("\"{number}\" = []\n"),
        format!("driver = [{{ version = \"{raw}\", source = \"x\" }}]\n"),
        format!("driver = [{{ version = \"1.2\", \"{number}\" = \"x\" }}]\n"),
        format!("[[retract]]\nrule = \"{raw}\"\nreason = \"x\"\n"),
        format!("x = # {raw}\n"),
    ] {
        place.write("checkout/site.toml", &overlay);
        is_plain(&place, &["lock"], None);
        is_plain(&place, &["catalog", "check", "site.toml"], None);
    }
    place.write("checkout/site.toml", "");
    place.run(&["lock"]).exits(0);
    let lock = place.read("checkout/gpuenv.lock");
    for text in [
        lock.replace("\"3.11\"", &format!("\"{number}\"")),
        lock.replace("stack.torch", &format!("stack.\"{number}\"")),
        lock.replace("version = 1\n", &format!("version = 1\n\"{number}\" = 2\n")),
        format!("{lock}override = [{{ rule = \"x\", reason = \"{number}\" }}]\n"),
        format!("{lock}{raw}"),
    ] {
        place.write("checkout/gpuenv.lock", &text);
        for args in
            [&["lock", "--check"][..], &["export", "json"], &["export", "env"], &["verify", "--quick"], &["explain"]]
        {
            is_plain(&place, args, None);
        }
    }
}

#[test]
fn of_a_record_or_a_pasted_text() {
    let place = Place::with("plain-record", SPEC);
    place.run(&["lock"]).exits(0);
    let number = by_number(HOSTILE);
    for record in [
        format!("{{\"format\": 1, \"{number}\": 1}}"),
        format!("{{\"format\": 1, \"platform\": {{ \"os\": \"{number}\", \"kernel\": \"{number}\" }}}}"),
        format!(
            "{{\"format\": 1, \"nvml\": {{ \"path\": \"{number}\", \"gpus\": [{{ \"index\": 0, \"name\": \"{number}\" }}] }}}}"
        ),
        format!("{{\"format\": 1, \"environment\": {{ \"LD_LIBRARY_PATH\": \"{number}\" }}}}"),
        format!("{{\"format\": \"{number}\"}}"),
    ] {
        place.write("checkout/host.json", &record);
        let all: [&[&str]; 4] = [
            &["probe", "--from", "host.json"],
            &["verify", "--host", "host.json"],
            &["verify", "--host", "host.json", "--verbose"],
            &["init", "--host", "host.json", "-o", "-"],
        ];
        all.iter().for_each(|args| is_plain(&place, args, None));
        place.run(&["probe", "--from", "host.json", "-o", "again.json"]);
        if place.has("checkout/again.json") {
            let again = place.read("checkout/again.json");
            assert!(again.chars().all(|c| c == '\n' || !is_unseen(c)), "{again:?}");
            place.remove("checkout/again.json");
        }
    }
    for text in [
        format!("OSError: libcudart.so.12{HOSTILE}: cannot open shared object file: No such file or directory"),
        format!("ImportError: /x/{HOSTILE}.so: undefined symbol: {HOSTILE}"),
        format!("RuntimeError: CUDA error: no kernel image {HOSTILE}\nNVIDIA driver {HOSTILE}"),
    ] {
        is_plain(&place, &["diagnose"], Some(&text));
        is_plain(&place, &["verify", "--host", "-"], Some(&text));
        is_plain(&place, &["probe", "--from", "-"], Some(&format!("{text}\nGPU 0: NVIDIA {HOSTILE} (UUID: x)\n")));
    }
}

/// Lines are wrapped before any word, so one that begins with `::` must not be a command there either.
#[test]
fn nothing_is_a_command_to_whoever_reads_the_log() {
    let place = Place::with("plain-log", SPEC);
    place.run(&["lock"]).exits(0);
    for before in (0..80).step_by(4) {
        let text = format!("{} ::set-output name=x::PWN ##[set-output name=y]PWN ##vso[z]PWN", "a".repeat(before));
        let record = format!(
            "{{\"format\": 1, \"nvml\": {{ \"driver\": \"570.133.20\", \"gpus\": [{{ \"index\": 0, \"name\": \"{text}\" }}] }}}}"
        );
        place.write("checkout/host.json", &record);
        is_plain(&place, &["verify", "--host", "host.json"], None);
    }
    is_plain(&place, &["probe", "--from", "host.json"], None);
    is_plain(&place, &["fleet", "check", "host.json"], None);
    is_plain(
        &place,
        &["diagnose"],
        Some("::error::x\n##[error]OSError: libcudart.so.12: cannot open shared object file"),
    );
    for torch in ["##[set-output name=deploy]yes", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ::stop-commands::x"] {
        place.write("checkout/gpuenv.toml", &SPEC.replace("2.5.1", torch));
        is_plain(&place, &["lock", "--check"], None);
    }
    let reason = "[[override]]\nrule = \"cuda-12-driver\"\nreason = \"\"\"x\n::set-env name=a::##[add-path]b\"\"\"\n";
    place.write("checkout/gpuenv.toml", &format!("{SPEC}{reason}"));
    place.run(&["lock"]).exits(0);
    for format in ["json", "env", "uv", "requirements", "markdown", "dockerfile"] {
        is_plain(&place, &["export", format], None);
    }
}

/// Who may read a log need not be who may read gpuenv.toml.
#[test]
fn no_password_is_printed() {
    let place = Place::new("plain-password");
    let spec = |build: &str| SPEC.replace("\"2.5.1\"", &format!("{{ version = \"2.5.1\", cuda = \"12.4\", {build} }}"));
    let user = "u".repeat(40);
    for build in [
        "index = \"https://ci:hunter2@pypi.corp.example/simple\"".to_string(),
        "index = \"https://hunter2@pypi.corp.example/simple\"".to_string(),
        // Neither where the line nor where what is quoted of it is cut.
        format!("index = \"https://{user}:hunter2hunter2hunter2@pypi.corp.example/simple\""),
        "url = \"https://ci:hunter2@pypi.corp.example/torch.whl\"".to_string(),
    ] {
        place.write("checkout/gpuenv.toml", &spec(&build));
        is_plain(&place, &["lock"], None);
        place.run(&["lock"]).exits(2).says("holds a user name or a password");
    }
    let rows = "source = [{ id = \"acme\", at = \"https://ci:hunter2@acme.example\", kind = \"measured\", seen = \"2026-11-22\" }]\n";
    place.write("checkout/site.toml", rows);
    place.write("checkout/gpuenv.toml", &format!("{SPEC}[catalog]\noverlays = [\"site.toml\"]\n"));
    is_plain(&place, &["catalog", "check", "site.toml"], None);
    is_plain(&place, &["lock"], None);
}

#[test]
fn of_what_is_typed() {
    let place = Place::with("plain-typed", SPEC);
    place.run(&["lock"]).exits(0);
    for args in [
        &["explain", HOSTILE][..],
        &["catalog", "show", HOSTILE],
        &["catalog", "search", HOSTILE],
        &["catalog", "check", HOSTILE],
        &["export", HOSTILE],
        &["export", "env", "--target", HOSTILE],
        &["verify", "--target", HOSTILE],
        &["verify", "--image", HOSTILE, "--host", "gpuenv.toml"],
        &["lock", "--spec", HOSTILE],
        &["lock", "--lock", HOSTILE],
        &["lock", "--upgrade-package", HOSTILE],
        &["schema", HOSTILE],
        &["init", "--gpu", HOSTILE, "-o", "-"],
        &["init", "--target", HOSTILE, "-o", "-"],
        &["diagnose", HOSTILE],
        &["probe", "--root", HOSTILE],
        &[HOSTILE],
        &["lock", HOSTILE],
    ] {
        is_plain(&place, args, None);
    }
}

/// Of a record and of a pasted text no more is quoted than tells which value it is.
#[test]
fn what_others_wrote_is_not_printed_without_end() {
    let place = Place::with("plain-long", &SPEC.replace("gpu =", "os = \"ubuntu22.04\"\ngpu ="));
    place.run(&["lock"]).exits(0);
    let long = "x".repeat(100_000);
    place.write("checkout/host.json", &format!("{{\"format\": 1, \"platform\": {{\"os\": \"{long}\"}}}}"));
    place.write("checkout/error.txt", &format!("libtorch_cuda.so: undefined symbol: cudnn{long}"));
    for args in [&["verify", "--host", "host.json", "--verbose"][..], &["diagnose", "error.txt"]] {
        for more in [&[][..], &["--format", "github"]] {
            let ran = place.run(&[args, more].concat());
            assert!(ran.out.contains("xxx") && !ran.out.contains(&"x".repeat(5000)), "{args:?}: {ran:?}");
        }
    }
}
