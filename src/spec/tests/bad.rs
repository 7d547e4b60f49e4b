//! Files that are refused: the code, the text under the span, and what the help says.

use super::super::parse;
use super::{FULL, assert_tame, errors};

/// A valid frame, so that each fragment is wrong alone.
fn framed(fragment: &str) -> String {
    let mut source = String::new();
    if !fragment.contains("[stack]") {
        source.push_str("stack.torch = \"*\"\n");
    }
    source.push_str(fragment);
    if !fragment.contains("target") {
        source.push_str("\n[target.frame]\n");
    }
    source
}

/// Fragment, code, text under the span, a piece of message or help.
const BAD: &[(&str, &str, &str, &str)] = &[
    // Unknown keys, and what was meant.
    ("[targets.x]\n[target.x]", "unknown-key", "targets", "[target.NAME]"),
    ("torch = '2'", "unknown-key", "torch", "[stack]"),
    ("[torch]\nversion = '2'", "unknown-key", "torch", "[stack]"),
    ("cuda-version = '12'", "unknown-key", "cuda-version", "`cuda = '12'` under `[stack]`"),
    ("[project]\nname = 'x'", "unknown-key", "project", "[stack]"),
    ("[resolv]", "unknown-key", "resolv", "did you mean `resolve`?"),
    ("[target.a]\ngpus = 'A100'", "unknown-key", "gpus", "write `gpu = 'A100'`"),
    ("[target.a]\ndriver_cuda = '12.2'", "unknown-key", "driver_cuda", "did you mean `driver-cuda`?"),
    ("[target.a]\ntorch = '2.5'", "unknown-key", "torch", "[stack]"),
    ("[target.a]\ncuda-version = '12.2'", "unknown-key", "cuda-version", "driver-cuda"),
    ("[target.a]\nhostname = 'x'", "unknown-key", "hostname", "known keys: gpu, driver"),
    ("[target.a]\nos.name = 'ubuntu'", "type", "os", "must be a string"),
    ("[target]\ngpu = 'A100'\n[target.a]", "unknown-key", "gpu", "[target.prod]"),
    ("[stack]\npytorch = '2.5'", "unknown-key", "pytorch", "write `torch = '2.5'`"),
    ("[stack]\ntorch='*'\ndriver = '535'", "unknown-key", "driver", "[target.NAME]"),
    ("[build]\nArch_List = '8.0'", "unknown-key", "Arch_List", "did you mean `arch-list`?"),
    ("[resolve]\nprefer_newest = true", "unknown-key", "prefer_newest", "known keys: share"),
    ("[catalog]\noverlay = 'x.toml'", "unknown-key", "overlay", "overlays"),
    ("[[override]]\nid = 'r'\nrule = 'r'\nreason = 'x'", "unknown-key", "id", "write `rule = 'r'`"),
    ("\"a\\u001b[31m\" = 1", "unknown-key", "\"a\\u001b[31m\"", "`a\\u{1b}[31m`"),
    // Types: numbers keep the spelling of the file.
    ("[stack]\ncuda = 12.10", "type", "12.10", "cuda = \"12.10\""),
    ("[stack]\ncuda = 12", "type", "12", "cuda = \"12\""),
    ("[stack]\ntorch = true", "type", "true", "write a string, `torch = \"…\"`"),
    ("[stack]\ntorch = 2024-01-01", "type", "2024-01-01", "a date"),
    ("[stack]\ntorch = ['2.5']", "type", "['2.5']", "one string"),
    ("[stack]\ntorch = { version = '2.5' }", "own-build", "torch", "cuda = \"12.6\""),
    ("[target.a]\ndriver = 535", "type", "535", "driver = \"535\""),
    ("[target.a]\ntoolkit = [11.8, 12.10]", "type", "11.8", "toolkit = [\"11.8\", \"12.10\"]"),
    ("[target.a]\ntoolkit = 12.10", "type", "12.10", "toolkit = \"12.10\""),
    ("[target.a]\ngpu = [['A100']]", "type", "['A100']", "list of strings"),
    ("[target.a]\ngpu = ['A100', 9.0]", "type", "9.0", "gpu = [\"A100\", \"9.0\"]"),
    ("[build]\nptx = 'true'", "type", "'true'", "ptx = true"),
    ("[build]\nptx = 'yes'", "type", "'yes'", "true or false"),
    ("[resolve]\nallow-experimental = 1", "type", "1", "allow-experimental = true"),
    ("stack = 'torch'\n[target.a]", "duplicate", "stack", "twice"),
    ("build = true", "type", "true", "[build]"),
    ("[[target]]\ngpu = 'x'", "type", "[[target]]", "[target.NAME]"),
    ("target.a = 'A100'", "type", "'A100'", "[target.NAME]"),
    ("[override]\nrule = 'r'\nreason = 'x'", "type", "[override]", "[[override]]"),
    ("[catalog]\noverlays = 'x.toml'", "type", "'x.toml'", "[\"x.toml\"]"),
    ("[catalog]\noverlays = [1]", "type", "1", "must be a string"),
    // Names.
    ("[stack]\n\"-x\" = '*'", "name", "\"-x\"", "invalid package name"),
    ("[stack]\n\"a b\" = '*'", "name", "\"a b\"", "package name"),
    ("[target.\"a b\"]", "name", "\"a b\"", "invalid target name"),
    ("[target.\"\"]", "name", "\"\"", "invalid target name"),
    ("[stack]\nflash-attn = '*'\nFlash_Attn = '2'", "duplicate", "Flash_Attn", "line 2"),
    // Constraints.
    ("requires-gpuenv = 'new'", "constraint", "'new'", "version requirement"),
    ("[stack]\ntorch = ''", "constraint", "''", "missing"),
    ("[stack]\ntorch = '=>2'", "constraint", "'=>2'", "write `torch = \">=2\"`"),
    ("[stack]\ntorch = '>=2.5+cu124'", "constraint", "'>=2.5+cu124'", "no order"),
    ("[stack]\npython = '+cu124'", "constraint", "'+cu124'", "not a wheel"),
    ("[target.a]\ndriver = '535+cu124'", "constraint", "'535+cu124'", "not a wheel"),
    ("[stack]\ntorch = \"2.4\\u001b\"", "value", "\"2.4\\u001b\"", "\\u{1b}"),
    ("[stack]\ntorch = '^2.5'", "constraint", "'^2.5'", "write `torch = \">=2.5,<3\"`"),
    ("[stack]\ntorch = 'latest'", "constraint", "'latest'", "write `torch = \"*\"`"),
    ("[stack]\ntorch = 'torch==1.13.1'", "constraint", "'torch==1.13.1'", "write `torch = \"==1.13.1\"`"),
    ("[target.a]\ndriver = '535-550'", "constraint", "'535-550'", "write `driver = \">=535,<=550\"`"),
    ("[target.a]\ndriver = ['535', 'new']", "constraint", "'new'", "not a version"),
    ("[target.a]\ndriver = []", "value", "[]", "empty list"),
    // Values.
    ("[build]\narch-list = '86;90'", "arch-list", "'86;90'", "\"8.6;9.0\""),
    ("[build]\narch-list = ''", "arch-list", "''", "at least one"),
    ("[target.a]\ngpu = ''", "value", "''", "empty"),
    ("[target.a]\ngpu = []", "value", "[]", "empty list"),
    ("[target.a]\ngpu = ['A100', ' ']", "value", "' '", "empty"),
    ("[target.a]\ngpu = ['A100', 'none']", "value", "['A100', 'none']", "\"none\" beside products"),
    ("[target.a]\ngpu = 'H100, A100'", "value", "'H100, A100'", "write `gpu = [\"H100\", \"A100\"]`"),
    ("[packages]\npython = '3.11'", "stack-package", "'3.11'", "under [stack]: `python = \"3.11\"`"),
    ("[packages]\ncuda = '12'", "stack-package", "'12'", "under [stack]: `cuda = \"12\"`"),
    ("[target.a]\ngpu = 'MI300X'", "unknown-gpu", "'MI300X'", "AMD"),
    ("[target.a]\ngpu = \"A\\u0007\"", "value", "\"A\\u0007\"", "cannot be seen"),
    ("[target.a]\ngpu = \"A1\\u200b00\"", "value", "\"A1\\u200b00\"", "type it anew: `A100`"),
    ("[target.a]\ndriver = nan", "type", "nan", "write a string, `driver = \"…\"`, or drop the key"),
    ("[target.a]\ndriver = 1e400", "type", "1e400", "write a string, `driver = \"…\"`, or drop the key"),
    ("[target.a]\ngpu = \"A\\u202e\"", "value", "\"A\\u202e\"", "cannot be seen"),
    ("[target.a]\ndriver-cuda = '12'", "value", "'12'", "two components"),
    ("[target.a]\ndriver-cuda = '12.4.1'", "value", "'12.4.1'", "two components"),
    ("[target.a]\nglibc = '>=2.31'", "value", "'>=2.31'", "not a range"),
    ("[target.a]\ngcc = 'gcc-9'", "value", "'gcc-9'", "write `gcc = \"9\"`"),
    ("[target.a]\ntoolkit = '12'", "value", "'12'", "major and minor"),
    ("[target.a]\ntoolkit = []", "value", "[]", "empty list"),
    (
        "[target.a]\nruntime = 'docker'",
        "value",
        "'docker'",
        "expected \"container\" or \"bare-metal\" use \"container\"",
    ),
    ("[target.a]\nruntime = 'bare_metal'", "value", "'bare_metal'", "did you mean \"bare-metal\"?"),
    ("[target.a]\nforward-compat = 'always'", "value", "'always'", "\"auto\" or \"never\""),
    ("[target.a]\narch = 'x86'", "value", "'x86'", "x86_64"),
    ("[target.a]\nos = ' '", "value", "' '", "empty"),
    ("[resolve]\nshare = 'all'", "value", "'all'", "\"stack\", \"versions\" or \"none\""),
    ("[resolve]\nprefer = 'new'", "value", "'new'", "\"newest\""),
    ("[catalog]\noverlays = ['']", "value", "''", "empty"),
    ("[target.a]\nimage = 'Nvidia/Cuda'", "image", "'Nvidia/Cuda'", "lower case"),
    ("[target.a]\nimage = 'nvidia/cuda:'", "image", "'nvidia/cuda:'", "a tag"),
    // What excludes, lacks or repeats.
    ("[target.a]\ndriver-cuda = '12.2'\ndriver = '535'", "exclusive", "'535'", "exclude each other"),
    ("[target.a]\nimage = 'a/b'\nruntime = 'bare-metal'", "exclusive", "'a/b'", "bare-metal"),
    // What is installed there, misused.
    ("[target.a]\nkernel-module = 'openn'", "value", "'openn'", "did you mean \"open\"?"),
    ("[target.a]\nkernel-module = true", "type", "true", "write a string"),
    ("[target.a]\ngpu = 'none'\nkernel-module = 'open'", "exclusive", "'open'", "drop `kernel-module`"),
    ("[target.a]\nclang = 17", "type", "17", "clang = \"17\""),
    ("[target.a]\nclang = 'clang-17'", "value", "'clang-17'", "write `clang = \"17\"`"),
    ("[target.a]\ngcc = '12'\nclang = '17'", "exclusive", "'17'", "one host compiler"),
    ("[target.a]\ncompat = 12.9", "type", "12.9", "compat = \"12.9\""),
    ("[target.a]\ncompat = 'cuda-compat-12-9'", "value", "'cuda-compat-12-9'", "write `compat = \"12.9\"`"),
    ("[target.a]\ncompat = '12.9.1'", "value", "'12.9.1'", "write `compat = \"12.9\"`"),
    ("[target.a]\ncompat = '575'", "value", "'575'", "goes to `driver`"),
    ("[target.a]\ngpu = 'none'\ncompat = '12.9'", "exclusive", "'12.9'", "drop `compat`"),
    ("[target.a]\ncuda-compat = '12.9'", "unknown-key", "cuda-compat", "write `compat = '12.9'`"),
    ("[target.a]\ncudnn = '>=9'", "value", "'>=9'", "not a range"),
    ("[target.a]\nimage-requires = 'cuda>=12.8'", "exclusive", "'cuda>=12.8'", "needs a container"),
    ("[target.a]\nimage = 'a/b'\nimage-requires = 'cuda 12.8'", "value", "'cuda 12.8'", "not a condition"),
    ("[target.a]\nimage = 'a/b'\nimage-requires = 'cuda>=new'", "value", "'cuda>=new'", "not a condition"),
    ("[target.a]\nplatform = 'windows'", "value", "'windows'", "use \"wsl2\""),
    ("[target.a]\nplatform = 'wsl2'\nkernel-module = 'open'", "exclusive", "'open'", "drop `kernel-module`"),
    ("[target.a]\nplatform = 'wsl2'\ndriver = '570.86.15'", "exclusive", "'570.86.15'", "two numbers"),
    ("[[override]]\nrule = 'r'", "missing", "[[override]]", "`reason`"),
    ("[[override]]\nreason = 'x'", "missing", "[[override]]", "`rule`"),
    ("[[override]]\nrule = 'r'\nreason = ' '", "value", "' '", "empty"),
    ("[target.lab]\n[[override]]\nrule = 'r'\nreason = 'x'\ntarget = 'lap'", "value", "'lap'", "did you mean \"lab\"?"),
    ("[[override]]\nrule='r'\nreason='x'\n[[override]]\nrule=\"r\"\nreason='y'", "duplicate", "\"r\"", "twice"),
    // TOML itself.
    ("[stack]\ntorch = 2.5.1", "toml-syntax", "2.5.1", "torch = \"2.5.1\""),
    ("[stack]\ntorch = >=2.4,<3 # why", "toml-syntax", ">=2.4,<3", "torch = \">=2.4,<3\""),
    ("[stack]\ntorch = 2.5.1+cu124", "toml-syntax", "2.5.1+cu124", "torch = \"2.5.1+cu124\""),
    ("[target.a]\ndriver = 525.116.03", "toml-syntax", "525.116.03", "driver = \"525.116.03\""),
    ("[target.a]\ngpu = none", "toml-syntax", "none", "gpu = \"none\""),
    ("[target.a]\ngpu = “A100”", "toml-syntax", "“A100”", "gpu = \"A100\""),
    ("[target.a]\ngpu =", "toml-syntax", "", "missing"),
    ("[build]\nptx = True", "toml-syntax", "True", "ptx = true"),
    ("[target.a]\ngpu : 'A100'", "toml-syntax", "", "`=`"),
    ("[target.a]\ngpu = ['A100'", "toml-syntax", "", "`]`"),
    ("[target.a\ngpu = 'A100'", "toml-syntax", "", "header"),
    ("[target.a]\ngpu = \"A100", "toml-syntax", "", "not closed"),
    ("[target.a]\ngpu = 'A'\ngpu = 'B'", "duplicate", "gpu", "line 4"),
    ("[target.a]\n[target.a]", "duplicate", "a", "twice"),
    ("[target.a]\n<<<<<<< HEAD\ngpu = 'A'\n=======\ngpu = 'B'\n>>>>>>> x", "merge-marker", "<<<<<<< HEAD", "line 3"),
    ("[target.a]\n=======\ngpu = 'B'", "merge-marker", "=======", "resolve the merge"),
    ("[target.a]\ngpu = 'B'\n>>>>>>> theirs", "merge-marker", ">>>>>>> theirs", "line 4"),
    ("torch = 2.5.1\n[[override]]\nrule = 'r'\nreason = \"\"\"\n=======\n\"\"\"", "toml-syntax", "2.5.1", "quotes"),
];

#[test]
fn each_mistake_has_its_code_and_its_place() {
    for (fragment, code, under, words) in BAD {
        let source = framed(fragment);
        let errors = errors(&source);
        let [error] = errors.as_slice() else { panic!("one error expected:\n{source}\n{errors:#?}") };
        assert_eq!((error.code, &source[error.span.clone()]), (*code, *under), "{source}\n{error:?}");
        let said = format!("{} {}", error.message, error.help.as_deref().unwrap_or_default());
        assert!(said.contains(words), "{source}\n{said}");
    }
}

#[test]
fn an_empty_question_says_what_to_add() {
    for source in ["", "# nothing", "[stack]\n[target]\n", "[build]\ncuda-extensions = false"] {
        let errors = errors(source);
        assert_eq!(errors.iter().map(|error| error.code).collect::<Vec<_>>(), ["missing", "missing"], "{source}");
        assert!(errors[0].help.as_ref().unwrap().contains("[stack]"));
        assert!(errors[1].help.as_ref().unwrap().contains("[target.prod]"));
    }
}

/// What stands in the wrong table is one mistake: that the right table lacks it goes without saying.
#[test]
fn a_key_in_the_wrong_table_is_one_mistake() {
    for (source, help) in [
        ("torch = \"2.5\"\n", "move it under `[stack]`"),
        ("[target.a]\ntorch = \"2.5\"\n", "move it under `[stack]`"),
        (
            "[dependencies]\ntorch = \"2.5\"\n",
            "write it as `[stack]`; what gpuenv does not choose belongs under `[packages]`",
        ),
        ("[exports]\nuv = \"pyproject.toml\"\n", "write it as `[export]`"),
        ("[stack]\ntorch = \"2.5\"\ngpu = \"L4\"\n", "move it under `[target.NAME]`"),
    ] {
        let errors = errors(source);
        assert_eq!(errors.len(), 1, "{source}: {errors:#?}");
        assert_eq!(errors[0].help.as_deref(), Some(help), "{source}");
    }
}

#[test]
fn all_mistakes_of_a_file_come_at_once_in_file_order() {
    let source = "[stack]\ntorch = 2.4\ncuda = '=>12'\n[target.z]\ngpus = 'A'\n[target.a]\ndriver = 535\n[bulid]\n";
    let found: Vec<_> = errors(source).into_iter().map(|error| (error.code, &source[error.span])).collect();
    let expected =
        [("type", "2.4"), ("constraint", "'=>12'"), ("unknown-key", "gpus"), ("type", "535"), ("unknown-key", "bulid")];
    assert_eq!(found, expected);
}

#[test]
fn broken_toml_hides_neither_its_like_nor_what_stands_before() {
    let source = "[stack]\nnccl = 2\ntorch = >=2.4\n[target.a]\ndriver = 525.60.13\ngpus = 'x'\n";
    let found: Vec<_> = errors(source).into_iter().map(|error| (error.code, &source[error.span])).collect();
    assert_eq!(found, [("type", "2"), ("toml-syntax", ">=2.4"), ("toml-syntax", "525.60.13")]);
}

#[test]
fn limits_are_kept() {
    let name = "x".repeat(65);
    let many: Vec<String> = (0..257).map(|n| format!("'G{n}'")).collect();
    for (source, code) in [
        (format!("[build]\n[target.{name}]"), "name"),
        (format!("[build]\n[target.a]\ngpu = [{}]", many.join(",")), "value"),
        (format!("[build]\n[target.a]\ngpu = '{}'", "G".repeat(300)), "value"),
        (format!("[stack]\ntorch = '{}'\n[target.a]", ">".repeat(100_000)), "value"),
    ] {
        let errors = errors(&source);
        assert_eq!(errors[0].code, code);
        assert!(errors[0].message.chars().count() < 200, "{}", errors[0].message);
    }
    let fits = format!("[build]\n[target.{}]\ngpu = [{}]", "x".repeat(64), many[..256].join(","));
    assert!(parse(&fits).is_ok());
}

#[test]
fn hostile_files_end_quickly() {
    let bombs = [
        format!("a = {}", "[".repeat(100_000)),
        format!("a = {}", "{a=".repeat(100_000)),
        "[".repeat(100_000),
        format!("{}a = 1", "a.".repeat(100_000)),
        "=".repeat(1 << 20),
        "\u{1}".repeat(1 << 20),
        "a\n".repeat(100_000),
        format!("{} = 1", "k".repeat(4_000_000)),
        format!("[stack]\ntorch = '{}'", "9".repeat(4_000_000)),
        format!("[stack]\n{} = '*'", "k".repeat(4_000_000)),
        (0..100_000).map(|n| format!("k{n} = 1\n")).collect(),
        (0..100_000).map(|n| format!("[stack.k{n}]\n")).collect(),
        (0..50_000).map(|n| format!("[[override]]\ntarget = 't{n}'\n")).collect(),
        "<<<<<<< x\n>>>>>>> y\n".repeat(100_000),
        "=======\n".repeat(500_000),
        "=======\n".repeat(30_000),
        "#".repeat((4 << 20) + 1),
    ];
    for bomb in bombs {
        let start = std::time::Instant::now();
        let errors = parse(&bomb).unwrap_err();
        let took = start.elapsed();
        // Twice the promise: tests run unoptimised and beside each other.
        assert!(took.as_secs_f64() < 2.0, "{took:?}: {}…", &bomb[..20]);
        assert!(errors.len() <= 201);
        assert_tame(&bomb, &errors);
    }
}

#[test]
fn spans_of_errors_fit_with_carriage_returns() {
    let source = FULL.replace("\"525.116.03\"", "525").replace('\n', "\r\n");
    let errors = errors(&source);
    assert_eq!(&source[errors[0].span.clone()], "525");
    let source = FULL.replace("\"525.116.03\"", "525.116.03").replace('\n', "\r\n");
    let errors = super::errors(&source);
    assert_eq!((errors.len(), &source[errors[0].span.clone()]), (1, "525.116.03"));
}
