//! What is typed, or lies in a file, by a slip: the words that tell it.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::common::checkout::{Place, Ran};

const SPEC: &str = "[stack]\ntorch = \"2.5.1\"\n[target.prod]\ngpu = \"T4\"\n";

/// Runs with these bytes on stdin.
fn fed(place: &Place, args: &[&str], bytes: &[u8]) -> Ran {
    let mut command = place.command("checkout", args);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    // Who refuses the first bytes does not read the rest.
    let _ = child.stdin.take().unwrap().write_all(bytes);
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_slip_in_a_spec_is_told_by_what_was_written() {
    let place = Place::with("slips-spec", &SPEC.replace("T4", "sm_-1"));
    let ran = place.run(&["lock"]).exits(2).says("`sm_-1` is not a compute capability").says("gpu = \"sm_90\"");
    ran.hides("did you mean");
    // CMake's spelling of a capability, and torch's of a list.
    place.write("checkout/gpuenv.toml", &SPEC.replace("T4", "90"));
    place.run(&["lock"]).exits(2).says("write `gpu = \"sm_90\"`").hides("did you mean");
    place.write("checkout/gpuenv.toml", &SPEC.replace("\"2.5.1\"", "\"!=2.5.1+cu124\""));
    place.run(&["lock"]).exits(2).says("write `torch = \"!=2.5.1\"`").hides(",+cu124");
    place.write("checkout/gpuenv.toml", &format!("{SPEC}[build]\narch-list = [\"8.0\", \"8.6\"]\n"));
    place.run(&["lock"]).exits(2).says("arch-list = \"8.0;8.6\"");
    place.write("checkout/gpuenv.toml", &format!("{SPEC}[export]\nrequirements = \"../x\"\n"));
    let ran = place.run(&["lock"]).exits(2).says("the file `../x` of [export] does not lie below gpuenv.toml");
    ran.hides("`file`");
    place.write("checkout/gpuenv.toml", &format!("{SPEC}[export]\nrequirements = \"-x\"\n"));
    place.run(&["lock"]).exits(2).says("`-x` of [export] begins with `-`").says("write `./-x`");
    // What belongs under [stack] is no better with an operator.
    place.write("checkout/gpuenv.toml", &format!("{SPEC}[packages]\ntorchvision = \"0.20\"\n"));
    place.run(&["lock"]).exits(2).says("error[stack-package]").says("move it under [stack]: `torchvision = \"0.20\"`");
    // What is offered in the place of another type is read as if it stood there.
    for (written, offered) in [
        ("1.26", "write `numpy = \"==1.26.*\"`"),
        ("{ version = \">=1.26\", extras = [\"a\"] }", "write `numpy = \"[a]>=1.26\"`"),
        ("{ version = \"^1.26\" }", "write `numpy = \">=1.26,<2\"`"),
        ("{ git = \"https://github.com/a/b\" }", "write one string: `numpy = \"…\"`"),
        ("\">=1.26; python_version < '3.12'\"", "write `numpy = \">=1.26\"`; else leave the line out"),
        ("\"@ https://example.com/a.whl\"", "leave the line out and install it behind the export"),
    ] {
        place.write("checkout/gpuenv.toml", &format!("{SPEC}[packages]\nnumpy = {written}\n"));
        place.run(&["lock"]).exits(2).says(offered).hides("VALUE");
    }
    // A dot too few.
    place.write("checkout/gpuenv.toml", &SPEC.replace("2.5.1", "2.51"));
    place.run(&["lock"]).exits(1).says("was 2.5.1 meant?");
    place.write("checkout/gpuenv.toml", &format!("{SPEC}driver = \"5500\"\n"));
    place.run(&["lock"]).exits(0).says("was 550 meant?");
    // What pip knows is taken.
    place.write("checkout/gpuenv.toml", &format!("{SPEC}[packages]\nnumpy = \"===1.26.4\"\n"));
    place.run(&["lock"]).exits(0);
    assert!(place.run(&["export", "requirements"]).exits(0).out.contains("numpy===1.26.4"));
    place.write("checkout/gpuenv.toml", &format!("{SPEC}os = \"ubunut22.04\"\n"));
    place.run(&["lock", "--dry-run"]).exits(0).says("did you mean `ubuntu22.04`?");
    fs::write(place.path("checkout/gpuenv.toml"), [0; 200]).unwrap();
    place.run(&["lock"]).exits(2).says("error[encoding]").says("line 1 holds a NUL byte").hides("quotes");
}

#[test]
fn a_slip_on_the_command_line_is_told_shortly() {
    let place = Place::with("slips-line", SPEC);
    let ran = place.run(&["explain", &"x".repeat(100_000)]).exits(2).says("error[unknown-topic]");
    assert!(ran.err.len() < 1_000, "{} bytes", ran.err.len());
    place.run(&["lock"]).exits(0);
    let ran = place.run(&["diff", "gpuenv.toml", "gpuenv.lock"]).exits(2).says("name two locks, or revisions of git");
    ran.hides("to make it anew from gpuenv.toml");
    let (code, told) = place.json(&["help", "lock"]);
    assert!(code == 0 && told["text"].as_str().unwrap().contains("gpuenv.lock"), "{told}");
    assert!(place.run(&["help", "fleet", "check", "--color", "never"]).exits(0).out.contains("Judge every host"));
    // A job in a document is its text.
    let (code, told) = place.json(&["fleet", "job", "slurm"]);
    assert!(code == 0 && told["format"] == "slurm", "{told}");
    assert!(told["text"].as_str().unwrap().starts_with("#!/bin/bash\n"), "{told}");
    // A version behind a blank is none of a package, and what is told of a target is none either.
    place.run(&["add", "torch", "2.5.1"]).exits(2).says("without a blank: `NAME==2.5.1`");
    place
        .run(&["add", "driver==550"])
        .exits(2)
        .says("`driver` is not a package, but a key of a target")
        .says("under [target.NAME]");
    place.run(&["add", "os"]).exits(2).says("`os` is not a package");
    place.run(&["add", "cuda==12.4", "--dry-run"]).exits(0);
}

#[test]
fn nothing_is_found_in_what_is_no_text() {
    let place = Place::new("slips-binary");
    let mut state = 7_u32;
    let mut noise: Vec<u8> = (0..20_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    noise.extend(b" T4 ");
    let ran = fed(&place, &["diagnose"], &noise).exits(2).says("error[unrecognised]").says("stdin is not text");
    ran.hides("found in the text");
    // A log that was cut off while it was written, and colours, are text.
    let log = b"\0\0\0\0\0\0\0\0\0\0\0\0\x1b[31mCUDA error: no kernel image is available for execution on the device\x1b[0m\n";
    fed(&place, &["diagnose"], log).exits(0);
}

#[test]
fn a_project_is_read_from_a_pipe() {
    let place = Place::new("slips-pipe");
    for (text, wanted) in [
        (
            "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN apt-get install -y python3.9\nRUN pip install torch==2.5.1\n",
            "python = \"3.9\"",
        ),
        ("torch==2.5.1\nnumpy>=1.26\n", "torch = \"2.5.1\""),
        ("[project]\nname = \"x\"\nversion = \"1\"\ndependencies = [\"torch==2.5.1\"]\n", "torch = \"2.5.1\""),
        ("dependencies:\n  - pytorch=2.5.1\n  - python=3.11\n", "python = \"3.11\""),
    ] {
        for from in ["-", "/dev/stdin"] {
            let ran = fed(&place, &["init", "--from", from, "--gpu", "T4", "-o", "-"], text.as_bytes()).exits(0);
            let spec = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(spec.contains(wanted), "{wanted}: {ran:?}");
        }
    }
    let ran = fed(&place, &["init", "--from", "-", "-o", "-"], b"it does not work\n").exits(2);
    ran.says("it is not known what kind of file this is").says("write it to a file of one of these names");
}

#[test]
fn what_belongs_to_another_option_or_tool_is_told_with_what_to_type() {
    let place = Place::with("slips-options", SPEC);
    place.run(&["lock", "--quiet"]).exits(0);
    place.write("checkout/host.json", "{}");
    for name in ["requirements.txt", "reqs", "poetry.lock"] {
        place.write(&format!("checkout/{name}"), "torch==2.5.1\n");
    }
    place.run(&["init", "--from", ".", "-o", "-"]).exits(4).says("write `--from ./requirements.txt`");
    place.write("checkout/list.txt", "torch==2.5.1\n");
    place.write("checkout/smi.txt", "GPU 0: Tesla T4 (UUID: GPU-00000000-0000-0000-0000-000000000001)\n");
    place.write("checkout/pyproject.toml", "[project]\nname = \"x\"\nversion = \"1\"\n");
    for (typed, says) in [
        (&["-v"][..], "write `-V`"),
        (&["--verbose"], "gpuenv lock --verbose"),
        (&["lock", "--json"], "`--format json`"),
        (&["lock", "-n"], "`--dry-run`"),
        (&["lock", "--target", "prod"], "all targets are locked together"),
        (&["lock", "--spec", "requirements.txt"], "`gpuenv init --from requirements.txt`"),
        (&["export", "uv", "requirements"], "one format"),
        (&["init", "--torch", "nightly", "-o", "-"], "under [stack], as in `torch = {"),
        (&["init", "--from", "https://example.com/requirements.txt", "-o", "-"], "download the file"),
        (&["init", "--from", "reqs", "-o", "-"], "`gpuenv init --from - < reqs`"),
        (&["init", "--from", "poetry.lock", "-o", "-"], "`poetry export"),
        (&["lock", "-U"], "`--upgrade`"),
        (&["lock", "torch"], "`--upgrade-package torch`"),
        (&["lock", "gpuenv.toml"], "`--spec gpuenv.toml`"),
        (&["lock", "--apply-fix", "-1"], "`--apply-fix` takes no number below zero"),
        (&["lock", "--lock", "-"], "`--lock gpuenv.lock`"),
        (&["init", "-y"], "nothing is asked"),
        (&["init", "torch"], "`--torch \"*\"`"),
        (&["init", "H100"], "`--gpu \"H100\"`"),
        (&["init", "requirements.txt"], "`--from requirements.txt`"),
        (&["init", "--cuda", "12.4"], "`--driver-cuda VERSION`"),
        (&["init", "--torchvision", "0.20"], "`gpuenv add NAME`"),
        (&["target", "add", "x", "--gpu", "H100", "--cuda", "12.4"], "`--driver-cuda VERSION`"),
        (&["target", "add", "lab", "H100"], "`--gpu \"H100\"`"),
        (&["add", "-r", "requirements.txt"], "`gpuenv init --from FILE`"),
        (&["verify", "prod"], "`--target prod`"),
        (&["verify", "host.json"], "`--host host.json`"),
        (&["probe", "host.json"], "`--from host.json`"),
        (&["probe", "--host", "host.json"], "`--from FILE`"),
        (&["matrix", "H100"], "`--gpu \"H100\"`"),
        (&["matrix", "--gpu", "cpu"], "leave `--gpu` out"),
        (&["init", "RTX", "4090"], "`--gpu \"RTX 4090\"`"),
        (&["init", "--gpu", "RTX", "4090", "--torch", "*"], "`--gpu \"RTX 4090\"`"),
        (&["target", "add", "lab", "--gpu=RTX", "4090"], "`--gpu \"RTX 4090\"`"),
        (&["matrix", "--gpu", "Quadro", "RTX", "5000"], "`--gpu \"Quadro RTX 5000\"`"),
        (&["init", "--torch", ">=2.4,", "<2.8"], "`--torch \">=2.4, <2.8\"`"),
        (&["init", "gpuenv.toml"], "`--spec gpuenv.toml`"),
        (&["init", "poetry.lock"], "`--from poetry.lock`"),
        (&["init", "list.txt"], "`--from list.txt`"),
        (&["init", "smi.txt"], "`--host smi.txt`"),
        (&["verify", "gpuenv.lock"], "`--lock gpuenv.lock`"),
        (&["verify", "gone.json"], "`--host gone.json`"),
        (&["lock", "--spec", "pyproject.toml"], "`gpuenv init --from pyproject.toml`"),
        (&["add", "requirements.txt"], "`gpuenv init --from requirements.txt`"),
        (&["add", "my_ops-1.0-py3-none-any.whl"], "is a file"),
        (&["init", "--from", "-", "--host", "-"], "`--from -` and `--host -` both read it"),
        (&["diagnose", "-", "--host", "-"], "both read it"),
        (&["explain", "target.nope.driver"], "there is no target `nope`"),
        (&["export", "slurm", "--gres", ""], "What to ask for, as the site names it"),
        (&["diagnose", "CUDA", "error"], "into quotes"),
        (&["explain", " "], "it is empty"),
        (&["catalog", "search", " "], "it is empty"),
        (&["verify", "--host", "gpuenv.toml"], "gpuenv.toml is a gpuenv.toml"),
        (&["verify", "--host", "gpuenv.lock"], "gpuenv.lock is a lock"),
    ] {
        place.run(typed).exits(2).says(says).hides("did you mean");
    }
    let (code, told) = place.json(&["verify", "--junit", "-"]);
    assert_eq!((code, told["errors"][0]["help"].as_str()), (2, Some("name a file for one of them")));
    // What is the name of something is no misspelling of something else.
    place.run(&["matrix", "--package", "torchvision"]).exits(2).hides("did you mean");
    place.run(&["export", "env", "-o", "."]).exits(4).says("it is a folder").says("name a file in it");
}

/// Commands and options are found wherever they are, and names of several words need no quotes.
#[test]
fn what_lies_deeper_is_found() {
    let place = Place::new("slips-deeper");
    for (word, meant) in [
        ("plan", "fleet plan"),
        ("inspect", "catalog inspect"),
        ("from", "init --from"),
        ("graph", "explain --graph"),
        ("overlay", "catalog inspect --overlay"),
    ] {
        place.run(&[word]).exits(2).says(&format!("did you mean `gpuenv {meant}`?"));
    }
    place.run(&["edit"]).exits(2).says("gpuenv add PACKAGE");
    assert!(place.run(&["catalog", "show", "RTX", "5090"]).exits(0).out.contains("12.0"));
    assert!(place.run(&["catalog", "show", "torch", "2.8"]).exits(0).out.contains("torch-2.8.0"));
    // Of a thing that is known nothing else is near.
    let show = |name: &str| place.run(&["catalog", "show", name]).exits(2);
    show("torch@2.8.0+cu999").says("torch@2.8.0+cu128").hides("2.9");
    show("torch-2.8").says("did you mean `torch@2.8`?");
    show("driver@12.4").says("did you mean `cuda@12.4`?");
    show("driver@999").hides("did you mean").hides("nearest");
    show("torch 99").hides("torchio");
    show("image@nvidia/cuda:nope").hides("centos");
    show("transformers").says("under [packages]");
}

/// A word that is the name of several things is told of each.
#[test]
fn a_name_of_several_things_is_told_of_each() {
    let place = Place::new("slips-names");
    for (name, kind, of_rows) in [("toolkit", "check toolkit", "toolkit 13"), ("image", "error image", "image pytorch")]
    {
        let ran = place.run(&["explain", name]).exits(0);
        assert!(ran.out.contains(kind) && ran.out.contains(of_rows), "{}", ran.out);
    }
    let ran = place.run(&["explain", "newer-than-catalog"]).exits(0);
    assert!(ran.out.contains("warning newer") && ran.out.contains("error newer"), "{}", ran.out);
    let ran = place.run(&["explain", "overlay"]).exits(0);
    assert!(ran.out.contains("source = [{"), "{}", ran.out);
    place.write("checkout/gpuenv.toml", SPEC);
    place.run(&["explain", "toolkit"]).exits(0).says("`toolkit` is a check, too");
}

/// A file of which nothing is understood is no empty one.
#[test]
fn a_file_of_which_nothing_is_understood_is_told() {
    let place = Place::new("slips-nothing");
    place.write("checkout/Dockerfile", "# ours\nRUN pip install torch==2.4\n");
    place.write("checkout/requirements.txt", "");
    let from = |file: &str| place.run(&["init", "--from", file, "-o", "-"]).exits(0);
    from("Dockerfile")
        .says("Dockerfile:1 `# ours`: nothing of this file was understood, which is read as a Dockerfile");
    from("requirements.txt").says("requirements.txt:1").says("nothing of this file was understood");
}

/// Only a package can be a build of one's own.
#[test]
fn a_part_of_the_stack_is_no_build() {
    let place = Place::with("slips-parts", &SPEC.replace("\"2.5.1\"", "\"2.5.1\"\npython = { version = \"3.12\" }"));
    place.run(&["lock"]).exits(2).says("`python` must be a string, not a table").says("write `python = \"3.12\"`");
    let file = format!("{SPEC}[export]\nrequirements = \"{{target}}/{{x}}.txt\"\n");
    place.write("checkout/gpuenv.toml", &file);
    place.run(&["lock"]).exits(2).says("{target}/{x}.txt");
    place.write(
        "checkout/gpuenv.toml",
        &format!("{SPEC}[export]\nrequirements = {{ file = \"r.txt\", hashes = \"yes\" }}\n"),
    );
    place.run(&["lock"]).exits(2).says("`true`");
}

/// A number that nobody is known to have is told, whatever it decides.
#[test]
fn numbers_that_nobody_has_are_told() {
    for (line, says) in [
        ("toolkit = \"12.99\"", "no CUDA toolkit 12.99 as far as the catalog"),
        ("toolkit = [\"12.8\", \"12.8.9\"]", "no CUDA toolkit 12.8.9 as far as the catalog"),
        ("gcc = \"99\"", "no gcc 99 as far as the catalog"),
    ] {
        let place = Place::with("slips-numbers", &format!("{SPEC}{line}\n"));
        let ran = place.run(&["lock", "--dry-run"]).exits(0).says("newer-than-catalog");
        assert!(ran.err.split_whitespace().collect::<Vec<_>>().join(" ").contains(says), "{}", ran.err);
    }
    let place = Place::with("slips-numbers", &format!("{SPEC}toolkit = \"12.8\"\ngcc = \"13.3\"\n"));
    place.run(&["lock", "--dry-run"]).exits(0).hides("newer-than-catalog");
}

/// Of the readings of a number without a dot, the one that a GPU of the catalog has.
#[test]
fn a_number_without_a_dot_is_a_capability_that_there_is() {
    assert!(gpuenv::catalog::BUILTIN.gpus.iter().all(|gpu| gpu.cc.major > 1), "1.x is no reading otherwise");
    for (written, meant) in [("12", "12.0"), ("86", "8.6"), ("120", "12.0"), ("8.0;10", "8.0;10.0")] {
        let place = Place::with("slips-undotted", &format!("{SPEC}[build]\narch-list = \"{written}\"\n"));
        place.run(&["lock"]).exits(2).says(&format!("write `arch-list = \"{meant}\"`"));
    }
}

/// What is looked at in an image and in a folder depends on what is named.
#[test]
fn what_is_named_too_vaguely_is_told() {
    let place = Place::with("slips-vague", SPEC);
    place.write("checkout/smi.txt", "GPU 0: Tesla T4 (UUID: GPU-00000000-0000-0000-0000-000000000001)\n");
    let ran = place.run(&["verify", "--host", "smi.txt", "--image", "nvidia/cuda"]).exits(3);
    assert!(ran.out.contains("`nvidia/cuda:TAG`"), "{}", ran.out);
    place.write("checkout/empty/notes", "");
    place.run(&["probe", "--root", "empty"]).exits(0).says("empty holds none of sys, proc, dev, etc and usr");
}

/// A driver that a spec does not take is none for a matrix either: nothing would run on it.
#[test]
fn a_matrix_takes_the_drivers_that_a_spec_takes() {
    let place = Place::new("slips-matrix");
    let ran = place.run(&["matrix", "--gpu", "H100", "--driver", "12.4"]).exits(2);
    ran.says("is a version of CUDA, not of a driver").says("\"Driver Version\"").hides("driver-cuda");
    place.run(&["matrix", "--gpu", "H100", "--driver", "R550"]).exits(0);
    place.run(&["matrix", "--gpu", "H100", "-o", "x.html"]).exits(0);
    assert!(place.read("checkout/x.html").starts_with("<!"), "the name of the file says its format");
    place.run(&["matrix", "--gpu", "H100", "-o", "x.csv"]).exits(0);
    assert!(place.read("checkout/x.csv").starts_with("package,build,gpu,driver,"));
}

/// Whoever registers a package of that name would have it installed.
#[test]
fn a_gpu_is_no_package() {
    let place = Place::with("slips-add", SPEC);
    for gpu in ["H100", "RTX4090"] {
        place
            .run(&["add", gpu])
            .exits(2)
            .says("is a GPU, and `gpuenv add` takes packages")
            .says("gpuenv target add NAME --gpu");
        assert_eq!(place.read("checkout/gpuenv.toml"), SPEC);
    }
    place.run(&["add", "h100==1.0"]).exits(0).says("not in the catalog");
}

/// What Slurm or Kubernetes would refuse, after the queue at the latest, is no job.
#[test]
fn no_job_is_printed_that_cannot_run() {
    let place = Place::with("slips-jobs", SPEC);
    place.run(&["lock", "--quiet"]).exits(0);
    let slurm = |more: &[&str]| place.run(&[&["fleet", "job", "slurm"], more].concat());
    slurm(&["--gpuenv", ""]).exits(2).says("`--gpuenv` is empty").says("leave the option out");
    for gres in ["gpu:", "gpu:-1", "gpu:0", ":8", "gpu:h100:8:9", "8", ""] {
        slurm(&["--gres", gres]).exits(2).says("`--gres` cannot be").says("--gres gpu:h100:8");
        place.run(&["export", "slurm", "--gres", gres]).exits(2);
    }
    for gres in ["gpu", "gpu:8", "gpu:h100:8", "gpu:a100_3g.20gb:1", "gpu:1,shard:4"] {
        slurm(&["--gres", gres]).exits(0);
        place.run(&["export", "slurm", "--gres", gres]).exits(0);
    }
    slurm(&["--partition", "GPU_A100,gpu.long"]).exits(0);
    place.run(&["export", "slurm", "--partition", "GPU_A100"]).exits(0);
    slurm(&["--partition", ""]).exits(2).says("--partition gpu");
    place
        .run(&["export", "slurm", "--venv", "v", "--container", "c.sif"])
        .exits(2)
        .says("--venv cannot stand beside --container");
    let pods = |more: &[&str]| place.run(&[&["fleet", "job", "kubernetes"], more].concat());
    for (option, value) in
        [("--namespace", "A_B"), ("--runtime-class", "A_B"), ("--image", "X/Y:@"), ("--namespace", "a-")]
    {
        let image: &[&str] = if option == "--image" { &[] } else { &["--image", "a/b:1"] };
        pods(&[image, &[option, value]].concat()).exits(2).says("cannot be").says("write it as in");
    }
    pods(&["--image", "localhost:5000/a/b", "--namespace", "gpu-2", "--runtime-class", "nvidia"]).exits(0);
}

/// What is advised is taken by the reader of that very key.
#[test]
fn advice_is_read_before_it_is_given() {
    let place = Place::new("slips-advice");
    for (wrong, advice) in [
        ("torch = [\"2.4\", \"2.5\"]", "torch = \"2.4 || 2.5\""),
        ("torch = [\">=2.4\", \"<2.6\"]", "torch = \">=2.4,<2.6\""),
        ("cuda = \"cuda-12.4\"", "cuda = \"12.4\""),
        ("nccl = \"nccl-2.20\"", "nccl = \"2.20\""),
        ("python = \"cp310\"", "python = \"3.10\""),
        ("torch = \"cuda12.1\"", "torch = \"+cu121\""),
        ("torch = \"cu121\"", "torch = \"+cu121\""),
        ("torch = \"https://download.pytorch.org/whl/cu121\"", "torch = \"+cu121\""),
        ("torch = \"cuda\"", "torch = \"*\""),
        ("torch = \"cu12\"", "torch = \"*\""),
        ("tensorflow = \"2.15[and-cuda]\"", "tensorflow = \"2.15\""),
        ("toolkit = \"cu124\"", "toolkit = \"12.4\""),
        ("driver-cuda = \"cu124\"", "driver-cuda = \"12.4\""),
    ] {
        let spec = |line: &str| match line.starts_with("toolkit") || line.starts_with("driver") {
            true => format!("[stack]\ntorchvision = \"*\"\n[target.t]\ngpu = \"L4\"\n{line}\n"),
            false => format!("[stack]\n{line}\n[target.t]\ngpu = \"L4\"\n"),
        };
        place.write("checkout/gpuenv.toml", &spec(wrong));
        place.run(&["lock"]).exits(2).says(&format!("`{advice}`"));
        let (_, errors) = gpuenv::spec::parse_part(&spec(advice));
        assert!(
            errors.iter().all(|error| error.help.as_ref().is_none_or(|help| !help.contains("write"))),
            "{errors:?}"
        );
    }
    place.write("checkout/gpuenv.toml", &SPEC.replace("gpu =", "toolkit = \"cuda12\"\ngpu ="));
    place.run(&["lock"]).exits(2).hides("toolkit = \"12\"");
    for (spec, says) in [
        ("[stack]\ntorch = \"2,4\"\n[target.t]\ngpu = \"L4\"\n", "for a release write `2.4`"),
        ("[stack]\ntorch = \"*\"\n[target.t]\ngpu = \"sm_8.9\"\n", "write `gpu = \"sm_89\"`"),
        ("[stack]\ntorch = \"*\"\n[target.t]\ngpu = \"T4 or L4\"\n", "write `gpu = [\"T4\", \"L4\"]`"),
        ("[stack]\ntorch = \"*\"\n[target.t]\ngpu = \"L4\"\ngpus = 2\n", "how many GPUs there are changes nothing"),
        ("[stack]\ntorch = \"*\"\n[build]\ncuda = true\n[target.t]\ngpu = \"L4\"\n", "write `cuda = \""),
        ("[stack]\ntorch = \"*\"\n[dependencies]\ntransformers = \"*\"\n[target.t]\ngpu = \"L4\"\n", "`[packages]`"),
        ("[stack]\ntorch = { version = \"^2.4\" }\n[target.t]\ngpu = \"L4\"\n", "`\">=2.4,<3\"`"),
    ] {
        place.write("checkout/gpuenv.toml", spec);
        place.run(&["lock"]).exits(2).says(says);
    }
}

/// A word that another reader understands is no package.
#[test]
fn words_of_other_readers_are_added_as_no_packages() {
    let place = Place::with("slips-words", SPEC);
    for (word, says) in [
        ("cu124", "gpuenv add torch+cu124"),
        ("cuda12", "gpuenv add cuda==12"),
        ("cudnn8", "gpuenv add cudnn==8"),
        ("ampere", "a generation of GPUs"),
        ("sm_90", "--gpu"),
        ("ubuntu22.04", "--os"),
        ("nvcc", "--toolkit"),
        ("nvidia-driver", "--driver"),
        ("cv2", "gpuenv add opencv-python"),
        ("PIL", "gpuenv add pillow"),
        ("sklearn", "gpuenv add scikit-learn"),
        ("tensorflow-gpu", "gpuenv add tensorflow"),
        ("tensorflow-cpu", "gpuenv add tensorflow+cpu"),
        ("tensorflow-cpu==2.16.1", "gpuenv add tensorflow==2.16.1+cpu"),
        ("pytorch>=2.4", "gpuenv add \"torch>=2.4\""),
        ("pytorch-cuda=12.1", "gpuenv add cuda==12.1"),
        ("pytorch-cuda==12.1", "gpuenv add cuda==12.1"),
    ] {
        place.run(&["add", word]).exits(2).says(says);
    }
    assert_eq!(place.read("checkout/gpuenv.toml"), SPEC);
    place.run(&["add", "--dry-run", "sklearn==0.0"]).exits(0);
}
