//! Every kind of bad input that was thought of: the exit code, and a message that says what is wrong, where, and what to
//! do. Whatever it is, the run ends soon, takes little memory, prints nothing on stdout and changes no file.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io::{BufWriter, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::checkout::{Place, Ran};
use crate::common::parallel;

/// A gpuenv.toml on which nothing is wrong.
const GOOD: &str = "[stack]\ntorch = \"2.5.1\"\n[target.t]\ngpu = \"T4\"\n";
const OVERLAID: &str = "[stack]\ntorch = \"2.5.1\"\n[target.t]\ngpu = \"T4\"\n[catalog]\noverlays = [\"site.toml\"]\n";
const SOURCE: &str =
    "[[source]]\nid = \"acme\"\nat = \"https://acme.example\"\nkind = \"measured\"\nseen = \"2026-11-22\"\n";

/// What a file holds. What is large is made while it is written: what a process is said to have held begins with what this
/// one holds.
#[derive(Default)]
struct Text {
    head: Vec<u8>,
    part: Vec<u8>,
    times: usize,
    tail: Vec<u8>,
}

impl<T: AsRef<[u8]>> From<T> for Text {
    fn from(text: T) -> Text {
        Text { head: text.as_ref().to_vec(), ..Text::default() }
    }
}

impl Text {
    fn swollen(head: &str, part: &str, times: usize, tail: &str) -> Text {
        Text { head: head.into(), part: part.into(), times, tail: tail.into() }
    }

    fn write(&self, path: &Path) {
        let mut file = BufWriter::new(fs::File::create(path).unwrap());
        let parts = std::iter::repeat_n(&self.part, self.times);
        let all = [&self.head].into_iter().chain(parts).chain([&self.tail]);
        all.for_each(|part| file.write_all(part).unwrap());
        file.flush().unwrap();
    }
}

/// Something bad.
struct Bad {
    /// What is said of it where the test fails.
    name: String,
    /// Files of the checkout beside or in place of a good gpuenv.toml and its lock.
    files: Vec<(&'static str, Text)>,
    args: Vec<&'static str>,
    code: i32,
    /// What the message holds: what, where, what to do.
    says: Vec<&'static str>,
}

fn bad(files: Vec<(&'static str, Text)>, args: &[&'static str], code: i32, says: &[&'static str]) -> Bad {
    let beginning = |text: &[u8]| String::from_utf8_lossy(&text[..text.len().min(300)]).into_owned();
    let of_files: Vec<String> =
        files.iter().map(|(_, text)| beginning(if text.times > 0 { &text.part } else { &text.head })).collect();
    let name = format!("{args:?} {}", of_files.join("\n").chars().take(300).collect::<String>());
    Bad { name, files, args: args.to_vec(), code, says: says.to_vec() }
}

/// A whole gpuenv.toml.
fn spec(text: &str, says: &[&'static str]) -> Bad {
    bad(vec![("gpuenv.toml", text.into())], &["lock"], 2, says)
}

/// What is asked of torch, on line 2.
fn torch(value: &str, says: &[&'static str]) -> Bad {
    let place: &[&str] = &["gpuenv.toml:2:"];
    spec(&format!("[stack]\ntorch = {value}\n[target.t]\ngpu = \"T4\"\n"), &[place, says].concat())
}

/// Lines after those of a good target.
fn more(lines: &str, says: &[&'static str]) -> Bad {
    let place: &[&str] = &["gpuenv.toml:"];
    spec(&format!("{GOOD}{lines}\n"), &[place, says].concat())
}

/// A lock in which a text stands for another.
fn lock(lock: &str, from: &str, to: &str, args: &[&'static str], says: &[&'static str]) -> Bad {
    let edited = lock.replacen(from, to, 1);
    assert!(edited != lock, "{from:?} is not in the lock");
    bad(vec![("gpuenv.lock", edited.into())], args, 2, says)
}

/// An overlay.
fn overlay(text: &str, says: &[&'static str]) -> Bad {
    bad(vec![("gpuenv.toml", OVERLAID.into()), ("site.toml", text.into())], &["lock"], 2, says)
}

/// A record or a pasted text.
fn host(text: &[u8], says: &[&'static str]) -> Bad {
    bad(vec![("host", text.into())], &["probe", "--from", "host"], 2, says)
}

/// What is typed.
fn typed(args: &[&'static str], code: i32, says: &[&'static str]) -> Bad {
    bad(Vec::new(), args, code, says)
}

#[rustfmt::skip]
fn of_specs() -> Vec<Bad> {
    vec![
        spec("", &["`[stack]` is empty", "no target", "torch = \"*\""]),
        spec("[stack]\ntorch = \"2\"\n", &["no target", "[target.prod]"]),
        spec("[target.t]\ngpu = \"T4\"\n", &["`[stack]` is empty", "under `[stack]`"]),
        spec("stack = \"torch\"\n", &["`stack` must be a table, not a string", "gpuenv.toml:1:9", "`[stack]`"]),
        spec("[stack]\ntorch = \"2\"\n[[target]]\ngpu = \"T4\"\n", &["`target` must be a table, not a list", "gpuenv.toml:3:1", "`[target.NAME]`"]),
        spec("[stack]\ntorch = \"2\"\n[target]\ngpu = \"T4\"\n", &["outside any machine", "gpuenv.toml:4:1", "[target.prod]"]),
        spec("torch = \"2.5\"\n[target.t]\ngpu = \"T4\"\n", &["unknown key `torch`", "gpuenv.toml:1:1", "move it under `[stack]`"]),
        spec("[stack]\ntorch == \"2.5\"\n", &["one `=` too many", "gpuenv.toml:2:8", "write `KEY = \"VALUE\"`"]),
        spec("[stack]\ntorch \"2.5\"\n", &["a key has no value", "gpuenv.toml:2:7", "with `=` between"]),
        spec("[stack]\ntorch = 2.5.1\n", &["not between quotes", "gpuenv.toml:2:9", "write `torch = \"2.5.1\"`"]),
        spec("[stack]\ntorch = \"2.5\n", &["a string is not closed", "gpuenv.toml:2:", "close it with `\"`"]),
        spec("stack:\n  torch: 2.5\n", &["`stack` is followed by `:`", "gpuenv.toml:1:", "KEY = \"VALUE\""]),
        spec("{\"stack\": {}}", &["gpuenv.toml: line 1: this is not TOML", "each line is `KEY = \"VALUE\"`"]),
        spec("[stack]\ntorch = \"2.5\"\ntorch = \"2.6\"\n", &["`torch` is written twice", "gpuenv.toml:3:1", "keep one"]),
        spec("[stack]\ntorch = \"2.5\"\n[stack]\n", &["`stack` is written twice", "gpuenv.toml:3:2", "keep one"]),
        spec("<<<<<<< ours\n[stack]\n=======\n>>>>>>> theirs\n", &["merge", "gpuenv.toml:1:"]),
        spec("[stack]\ntorch = \"2.5\"\n[tagret.t]\ngpu = \"T4\"\n", &["unknown key `tagret`", "gpuenv.toml:3:2", "did you mean `target`?"]),
        spec("[stack]\ntroch = \"2.5\"\n[target.t]\ngpu = \"T4\"\n", &["unknown package `troch`", "gpuenv.toml:2:9", "did you mean `torch`?"]),
        spec("[stack]\npython = \"3.13t\"\n[target.t]\ngpu = \"T4\"\n", &["is not a version", "free-threaded Pythons are not solved for; with the GIL write `python = \"3.13\"`"]),
        spec("[stack]\ntorch = \"2.5\"\n[target.t]\ngpu = \"GeForce GTX 750\"\n", &["is ambiguous: GPUs of that name differ", "sm_50 (NVIDIA GeForce GTX 750 of Maxwell)"]),
        spec("[stack]\nnumpy = \"*\"\n[target.t]\ngpu = \"T4\"\n", &["`numpy` is an ordinary package", "gpuenv.toml:2:9", "[packages]"]),
        spec(&format!("requires-gpuenv = \">=99\"\n{GOOD}"), &["requires gpuenv >=99", "gpuenv.toml:1:19", "install a gpuenv"]),
        spec(&format!("requires-gpuenv = \"yes\"\n{GOOD}"), &["`yes` is not a version requirement", "gpuenv.toml:1:19", "\">=0.1\""]),
        bad(vec![("gpuenv.toml", b"[stack]\ntorch = \"\xff\"\n".into())], &["lock"], 2, &["not UTF-8", "line 2", "save it again as UTF-8"]),
        bad(vec![("gpuenv.toml", vec![0; 1000].into())], &["lock"], 2, &["gpuenv.toml", "help:"]),
        bad(vec![("gpuenv.toml", Text::swollen("", "#", 5 << 20, ""))], &["lock"], 2, &["gpuenv.toml", "4 MiB", "check that it is a gpuenv.toml"]),
        torch("2.5", &["must be a string, not a number", "write `torch = \"2.5\"`"]),
        torch("true", &["must be a string, not a boolean", "write a string"]),
        torch("[\">=2.5\", \"<2.8\"]", &["must be a string, not a list", "write one string: `torch = \">=2.5,<2.8\"`"]),
        torch("\"\"", &["a constraint is missing", "write \"*\" for any version"]),
        torch("\">=\"", &["a version is missing", "write a version"]),
        torch("\">>2\"", &["`>>` is not an operator", "one of >= > <="]),
        torch("\"=>2.5\"", &["`=>` is not an operator", "write `torch = \">=2.5\"`"]),
        torch("\"^2.5\"", &["is not a version", "write `torch = \">=2.5,<3\"`"]),
        torch("\"latest\"", &["`latest` is not a version", "write `torch = \"*\"`"]),
        torch("\"nightly\"", &["`nightly` is not a version", "describe the one that you have"]),
        torch("\">2.4<2.6\"", &["is not a version", "write `torch = \">2.4,<2.6\"`"]),
        torch("'2.5.1", &["a string is not closed", "close it with `'` on the line where it begins"]),
        torch("\"2.x\"", &["`2.x` is not a version", "write `torch = \"2\"`"]),
        torch("\"v2.5\"", &["`v2.5` is not a version", "write `torch = \"2.5\"`"]),
        torch("\"torch==2.5\"", &["is not a version", "write `torch = \"==2.5\"`"]),
        torch("\">=2.4 <2.6\"", &["is not a version", "write `torch = \">=2.4,<2.6\"`"]),
        torch("\"2.5 or 2.6\"", &["is not a version", "write `torch = \"2.5 || 2.6\"`"]),
        torch("\"2.5.\"", &["is not a version", "write `torch = \"2.5\"`"]),
        torch("\"2.5,\"", &["a constraint is missing beside", "write `torch = \"2.5\"`"]),
        torch("\"<2.5+cu118\"", &["a wheel variant has no order", "write `torch = \"<2.5,+cu118\"`"]),
        torch("\"99999999999999999999\"", &["is not a version: a number in it is too large", "write a version"]),
        spec(&format!("[stack]\ntorch = \"2.5.1\"\n{}a = 1\n[target.t]\ngpu = \"T4\"\n", "a.".repeat(200)), &["line 3", "gpuenv.toml:3:1"]),
        spec("[stack]\n[target.t]\ngpu = \"T4\"\n", &["`[stack]` is empty", "gpuenv.toml:1:8"]),
        spec("[stack]\ntorch = \"2.5.1\"\n", &["no target", "gpuenv.toml:2:16"]),
        torch("{ }", &["`version` is missing in the build of torch", "write `version ="]),
        torch("{ version = \">=2.8\" }", &["is not a version of a wheel", "for a release write"]),
        torch("{ version = \"2.8.0\", cuda = \"cu126\" }", &["the name of a wheel variant", "write `cuda = \"12.6\"`"]),
        torch("{ version = \"2.8.0\", url = \"http://x/y.whl\" }", &["not the https:// address", "it ends in `.whl`"]),
        torch("{ version = \"2.8.0\", colour = \"red\" }", &["unknown key `colour` in [stack.torch]", "known keys: version"]),
        torch("\"2.5.1+CU124\"", &["write `torch = \"2.5.1+cu124\"`"]),
        torch("\"[2.5,2.7)\"", &["write `torch = \">=2.5,<2.7\"`"]),
        spec("[stack]\ntorch = \"2.5.1\"\ncuda = \"cu124\"\n[target.t]\ngpu = \"T4\"\n", &["gpuenv.toml:3:", "write `cuda = \"12.4\"`"]),
        spec("[stack]\ntorch = \"2.5.1\"\nnvcc = \"*\"\n[target.t]\ngpu = \"T4\"\n", &["unknown key `nvcc`", "write `toolkit = [\"11.8\", \"12.4\"]` under `[target.NAME]`"]),
        spec("[stack]\ntorch = \"2.5.1\"\nnvidia-cudnn-cu12 = \"9.1\"\n[target.t]\ngpu = \"T4\"\n", &["unknown package", "write `cudnn = \"9.1\"`"]),
        more("[packages]\njaxlib = \"*\"", &["`jaxlib` is chosen as `jax`", "move it under [stack]: `jax = \"*\"`"]),
        more("[packages]\njax-cuda12-plugin = \"==0.4.35\"", &["chosen as `jax`", "under [stack]: `jax = \"==0.4.35\"`"]),
        more("[packages]\ntensorflow-gpu = \">=2.15\"", &["chosen as `tensorflow`", "`tensorflow = \">=2.15\"`"]),
        more("[packages]\ncupy = \"*\"", &["by a name for each major of CUDA", "`cupy-cuda12x = \"*\"`"]),
        more("[packages]\ntorchvision = \"*\"", &["gpuenv chooses the version of `torchvision`", "move it under [stack]"]),
        more("[packages]\nnumpy = \"newest please\"", &["is not a version as packages have them", "what pip takes"]),
    ]
}

#[rustfmt::skip]
fn of_targets() -> Vec<Bad> {
    let target = |lines: &str, says: &[&'static str]| {
        spec(&format!("[stack]\ntorch = \"2.5.1\"\n[target.t]\n{lines}\n"), &[&["gpuenv.toml:"], says].concat())
    };
    vec![
        target("gpu = \"\"", &["`gpu` is empty", "drop the key"]),
        target("gpu = []", &["`gpu` is an empty list", "\"none\" for CPU only"]),
        target("gpu = 4090", &["must be a string, not a number", "write `gpu = \"4090\"`"]),
        target("gpu = \"RTX 4009\"", &["unknown GPU `RTX 4009`", "did you mean", "RTX 4090"]),
        target("gpu = \"MI300X\"", &["one of AMD", "gpu = \"none\""]),
        target("gpu = \"H100, A100\"", &["names several GPUs", "write `gpu = [\"H100\", \"A100\"]`"]),
        target("gpu = [\"none\", \"T4\"]", &["\"none\" beside products", "a target of their own"]),
        target("gpu = \"8x H100\"", &["more than the name of a GPU", "write `gpu = \"H100\"`"]),
        target("gpu = \"cuda:0\"", &["`cuda:0` is a device of CUDA", "`nvidia-smi -L`"]),
        target("gpu = \"NVIDIA GeForce ...\"", &["is ambiguous", "cuts names off", "`nvidia-smi -L`"]),
        target("gpu = \"GA102 [GeForce RTX 3090] (rev a1)\"", &["more than the name", "write `gpu = \"GeForce RTX 3090\"`"]),
        target("gpu = \"cpu\"", &["`cpu` is not a GPU", "write `gpu = \"none\"`"]),
        target("gpu = \"rack of GB300\"", &["did you mean NVIDIA GB300?", "`gpu = \"sm_103\"`"]),
        target("gpu = \"RTX 6000 Pro\"", &["did you mean NVIDIA RTX Pro 6000", "`gpu = \"sm_120\"`"]),
        target("gpu = \"Hopper\"", &["unknown GPU `Hopper`", "this is a generation", "`gpu = \"sm_90\"`"]),
        target("gpu = \"p4d.24xlarge\"", &["a type of machine, not a GPU", "`nvidia-smi -L`"]),
        target("gpu = \"RTX 3091\"", &["unknown GPU", "`gpu = \"sm_86\"` is that of NVIDIA GeForce RTX 3090"]),
        // Around that number boards are of several capabilities, and some of a board that is not known are sold with two chips.
        target("gpu = \"GTX 865M\"", &["did you mean", "query-gpu=compute_cap"]),
        // A board of another generation tells nothing of the capability.
        target("gpu = \"B30A\"", &["unknown GPU", "did you mean", "query-gpu=compute_cap"]),
        target("gpu = \"GTX 860M\"", &["is ambiguous: GPUs of that name differ", "sm_30 (", "sm_50 ("]),
        target("os = \"22.04\"", &["unknown os `22.04`", "did you mean `ubuntu22.04`?"]),
        target("gpus = \"T4\"", &["unknown key `gpus`", "write `gpu = \"T4\"`"]),
        more("driver = \"535.104.05-1\"", &["is not a version", "write `driver = \"535.104.05\"`"]),
        more("driver = \"latest\"", &["`latest` is not a version", "write `driver = \"*\"`"]),
        more("driver = \"nvidia-driver-535\"", &["is not a version", "write `driver = \"535\"`"]),
        more("driver = \"CUDA 12.2\"", &["is not a version", "write `driver-cuda = \"12.2\"`"]),
        more("driver = \"32.0.15.6636\"", &["how Windows numbers driver 566.36", "`platform = \"wsl2\"`"]),
        more("image = \"https://hub.docker.com/r/nvidia/cuda\"", &["the address of a page", "write \"nvidia/cuda\""]),
        more("image = \"hub.docker.com/r/nvidia/cuda\"", &["the address of a page", "write \"nvidia/cuda\""]),
        more("image = \"12.4\"", &["is not an image reference: it is a number", "write \"nvidia/cuda\""]),
        more("driver = \"12.4\"", &["a version of CUDA, not of a driver", "`driver-cuda = \"12.4\"`"]),
        more("driver = \"550\"\ndriver-cuda = \"12.4\"", &["exclude each other", "keep `driver`"]),
        more("driver-cuda = \"550\"", &["is a driver, not a version of CUDA", "write `driver = "]),
        more("os = \"ubuntu-22.04\"", &["unknown os", "did you mean `ubuntu22.04`?"]),
        more("os = \"CentOS Linux 7 (Core)\"", &["unknown os `CentOS Linux 7 (Core)`", "did you mean `centos7`?"]),
        more("os = \"Ubuntu 18.04.6 LTS\"", &["unknown os", "did you mean `ubuntu18.04`?"]),
        more("os = \"Debian GNU/Linux 10 (buster)\"", &["unknown os", "did you mean `debian10`?"]),
        more("os = \"DGX OS 6\"", &["unknown os `DGX OS 6`", "did you mean `dgxos6`? It is judged as Ubuntu 22.04 LTS"]),
        more("os = \"Linux Mint 21.3\"", &["did you mean `linuxmint21`? It is judged as Ubuntu 22.04 LTS"]),
        more("os = \"ubuntu22\"", &["unknown os `ubuntu22`", "name its release: `ubuntu22.10`, `ubuntu22.04`"]),
        more("os = \"jetpack6\"", &["unknown os `jetpack6`", "name its release: `jetpack6.2`, `jetpack6.1`"]),
        more("os = \"$(touch X)\"", &["`os` cannot be", "letters, digits"]),
        more("arch = \"arm\"", &["invalid `arch` `arm`", "use \"aarch64\""]),
        more("runtime = \"docker\"", &["invalid `runtime` `docker`", "use \"container\""]),
        more("platform = \"windows\"", &["invalid `platform`", "use \"wsl2\""]),
        more("forward-compat = true", &["must be a string, not a boolean", "write a string"]),
        more("driver-policy = \"newest\"", &["expected \"any\", \"production\" or \"long-term\""]),
        more("image = \"nvidia cuda\"", &["is not an image reference", "`nvidia/cuda:TAG`"]),
        more("image = \"nvidia/cuda@sha256:12\"", &["64 lower-case hexadecimal digits", "@sha256:DIGEST"]),
        more("runtime = \"bare-metal\"\nimage = \"nvidia/cuda\"", &["`image` needs a container", "drop one of the two"]),
        more("image-requires = \"hello\"", &["`hello` is not a condition", "expected cuda, driver"]),
        more("gcc = \"clang\"", &["`clang` is not a version", "write `clang ="]),
        more("glibc = \">=2.31\"", &["is not a version", "one version is expected"]),
        more("toolkit = [\"a\"]", &["`a` is not a version", "write the number alone"]),
        more("[target.\"a b\"]\ngpu = \"T4\"", &["invalid target name `a b`", "letters, digits"]),
        more("[build]\narch-list = \"Hopper\"", &["`Hopper` is not an architecture: a compute capability such as \"8.6\""]),
        target("gpu = \"T4\"\ndriver-cuda = \"535\"", &["`535` is a driver, not a version of CUDA", "write `driver = \"535\"`"]),
        more("[build]\narch-list = \"75\"", &["undotted architectures", "write \"7.5\""]),
        more("[build]\nptx = \"yes\"", &["`ptx` must be true or false", "write `ptx = true`"]),
        more("[resolve]\nshare = \"all\"", &["expected \"stack\", \"versions\" or \"none\"", "write `share = \"stack\"`"]),
        more("[resolve]\nprefer = \"oldest\"", &["invalid `prefer`", "did you mean \"oldest-driver\"?"]),
        more("[[silence]]\nwarning = \"driver-end-of-life\"", &["`reason` is missing", "add `reason ="]),
        more("[[override]]\nrule = \"cuda-12-drivers\"\nreason = \"x\"", &["unknown rule", "did you mean `cuda-12-driver`?"]),
        more("[[override]]\nrule = \"nope\"\nreason = \"x\"", &["unknown rule `nope`", "help: write the id of a rule"]),
        more("[override]\nrule = \"x\"", &["must be a list of tables", "write `[[override]]`"]),
        more("[[silence]]\nwarning = \"driver-end-of-life\"\nreason = \"\"", &["`reason` is empty", "nobody can judge later", "name the ticket"]),
        more("[[override]]\nrule = \"cuda-12-driver\"\nreason = \" \"", &["`reason` is empty", "nobody can judge later"]),
        more("[export]\nenv = \"dir/\"", &["the file `dir/` of [export] is the name of a folder", "write the file in it too"]),
        more("[export]\nenv = \".\"", &["the file `.` of [export] is the name of a folder"]),
        more("[export]\nenv = { file = \"{target}/./\" }", &["the file `{target}/./` of [export] is the name of a folder"]),
        more("[export]\nuv = \"../x.toml\"", &["does not lie below gpuenv.toml", "docker/Dockerfile"]),
        more("[catalog]\noverlays = \"x.toml\"", &["must be a list of files", "[\"x.toml\"]"]),
        more("[catalog]\nversion = \">=2099.1.1\"", &["the catalog at hand is", "install a newer one"]),
    ]
}

#[rustfmt::skip]
fn of_locks(good: &str) -> Vec<Bad> {
    let (env, fresh): (&[&str], _) = (&["export", "env"], "`gpuenv lock --fresh`");
    vec![
        bad(vec![("gpuenv.lock", "".into())], env, 2, &["gpuenv.lock is empty", "run `gpuenv lock` first"]),
        bad(vec![("gpuenv.lock", b"\xff\xfe".into())], env, 2, &["gpuenv.lock", "UTF-16", fresh]),
        bad(vec![("gpuenv.lock", good[..good.len() / 2].into())], env, 2, &["gpuenv.lock: line", fresh]),
        lock(good, "version = 2", "version = 99", &["lock", "--fresh"], &["format 99", "install a newer gpuenv"]),
        bad(vec![("gpuenv.lock", b"<<<<<<< ours\nversion = 2\n=======\nversion = 99\n>>>>>>> theirs\n".into())], &["lock", "--fresh"], 2, &["format 99", "install a newer gpuenv"]),
        lock(good, "version = 2", "version = 0", env, &["never was a format 0", "line 1", fresh]),
        lock(good, "version = 2", "version = -1", env, &["expected a whole number", "line 2", fresh]),
        lock(good, "version = 2", "version = 2\ncolour = 1", env, &["unknown field `colour`", "line 3", fresh]),
        lock(good, "\nstack.", "\n<<<<<<< ours\nstack.", &["lock"], &["merge-conflict marker", "line", "resolve the conflicts in gpuenv.toml"]),
        lock(good, "2.5.1+cu124", "$(touch X)", env, &["`stack.torch` of this lock", "is not a version", fresh]),
        lock(good, "https://download", "http://download", &["export", "requirements"], &["not the https:// address", fresh]),
        typed(&["export", "env", "--lock", "nowhere.lock"], 4, &["nowhere.lock does not exist", "run `gpuenv lock --lock nowhere.lock` first"]),
        typed(&["lock", "--fresh", "--lock", "gpuenv.toml"], 2, &["gpuenv.toml cannot be both", "--lock"]),
        bad(vec![("notes.txt", b"torch = 2\n".into())], &["lock", "--lock", "notes.txt"], 2, &["notes.txt is not a lock, and gpuenv did not write it", "name another file with --lock"]),
        bad(vec![("notes.txt", b"torch = 2\n".into())], &["lock", "--fresh", "--lock", "notes.txt"], 2, &["notes.txt is not a lock"]),
        bad(vec![("other.toml", GOOD.into())], &["lock", "--fresh", "--force", "--lock", "other.toml"], 2, &["other.toml is a spec, and not a lock", "--spec other.toml"]),
        bad(vec![("other.toml", GOOD.into())], &["verify", "--quick", "--lock", "other.toml"], 2, &["other.toml is a spec", "--spec other.toml"]),
        typed(&["lock", "--spec", "gpuenv.lock", "--lock", "x.lock"], 2, &["gpuenv.lock is a lock, and not a spec", "name its gpuenv.toml"]),
        typed(&["lock", "--spec", "-"], 4, &["- cannot be read", "a spec is read from a file"]),
        bad(vec![("Cargo.lock", b"# by cargo\nversion = 4\n".into())], &["lock", "--fresh", "--lock", "Cargo.lock"], 2, &["Cargo.lock is not a lock"]),
        bad(vec![("x.lock", b"\xff\xfe\x00".into())], &["lock", "--fresh", "--lock", "x.lock"], 2, &["x.lock is not a lock"]),
    ]
}

#[rustfmt::skip]
fn of_overlays() -> Vec<Bad> {
    let driver = |lines: &str, says: &[&'static str]| overlay(&format!("{SOURCE}[[driver]]\nsource = \"acme\"\n{lines}\n"), says);
    vec![
        overlay("x = \n", &["site.toml:1:", "line 1", "gpuenv explain overlay"]),
        overlay("[[pakage]]\nname = \"x\"\n", &["no kind of row called `pakage`", "site.toml:1:", "an overlay holds"]),
        overlay("driver = 1\n", &["`driver` must be a list of rows", "site.toml:1:", "[[driver]]"]),
        overlay("[[driver]]\nversion = \"570.26.7\"\n", &["missing field `source`", "site.toml:1:", "the id of a source"]),
        overlay("[[driver]]\nversion = \"570.26.7\"\nsource = \"nope\"\n", &["source `nope` does not exist", "site.toml:1:", "`[[source]]`"]),
        driver("version = \"570.26.7\"\ncolour = \"red\"", &["unknown field `colour`", "site.toml:6:", "catalog/*.toml"]),
        driver("", &["missing field `version`", "site.toml:6:", "gpuenv explain overlay"]),
        driver("version = \"new\"", &["`new` is not a version", "site.toml:6:", "gpuenv explain overlay"]),
        driver("version = 570", &["expected a string", "site.toml:6:", "gpuenv explain overlay"]),
        driver("version = \"550.54.14\"", &["already in the built-in catalog", "site.toml:6", "`replace = true`"]),
        driver("version = \"570.99.99\"\nreplace = true", &["that this row could replace", "site.toml:9:", "drop `replace`"]),
        overlay("[[source]]\nid = \"a\"\nat = \"https://a.example\"\nkind = \"rumour\"\nseen = \"2026-11-22\"\n", &["unknown variant `rumour`", "site.toml:1:", "gpuenv explain overlay"]),
        bad(vec![("gpuenv.toml", OVERLAID.into())], &["lock"], 4, &["site.toml cannot be read", "gpuenv.toml:6:", "relative to gpuenv.toml"]),
    ]
}

#[rustfmt::skip]
fn of_hosts() -> Vec<Bad> {
    let (schema, known) = ("`gpuenv schema host`", "gpuenv reads the outputs of");
    vec![
        host(b"", &["host: it is empty", "`gpuenv probe --format json`"]),
        host(b"{}", &["does not say its `format`", "host:1:1", schema]),
        host(b"{\"format\": 99}", &["format 99", "read it with the gpuenv that wrote it"]),
        host(b"{\"format\": \"1\"}", &["expected a whole number", "host:1:", schema]),
        host(b"{\"format\": 1, \"colour\": 1}", &["unknown field `colour`", "host:1:", schema]),
        host(b"{\"format\": 1,", &["EOF while parsing", "host:1:", schema]),
        host(b"{\"format\": 1}{\"format\": 1}", &["trailing characters", "host:1:", schema]),
        host(b"[]", &["host: this text describes no host", known]),
        host(b"hello world\n", &["host: this text describes no host", known, "`gpuenv diagnose`"]),
        bad(vec![("host", Text::swollen("", "}\n", 500_000, ""))], &["probe", "--from", "host"], 2, &["host: this text has more than 200000 lines", "give the part that describes the host"]),
        host(b"\x7fELF\x02\x01\x00\xff", &["this text describes no host", known]),
        bad(vec![("host", Text::swollen("", " ", 17 << 20, ""))], &["probe", "--from", "host"], 2, &["host is larger than 16 MiB", "the part that describes the host"]),
        typed(&["probe", "--from", "nowhere"], 4, &["nowhere cannot be read"]),
        typed(&["fleet", "check", "nowhere"], 4, &["nowhere cannot be read"]),
        typed(&["fleet", "check"], 2, &["the sources hold no host", "`gpuenv fleet job slurm`"]),
        bad(vec![("host", b"{\"apiVersion\": \"v1\", \"items\": [], \"kind\": \"List\"}".into())], &["fleet", "check", "host"], 2, &["the sources hold no host"]),
    ]
}

#[rustfmt::skip]
fn of_commands() -> Vec<Bad> {
    vec![
        typed(&["frobnicate"], 2, &["unknown command `frobnicate`", "`gpuenv --help`"]),
        typed(&["install", "torch"], 2, &["unknown command `install`", "gpuenv does not install"]),
        typed(&["catalog", "lint"], 2, &["unknown command `lint`", "`gpuenv catalog check FILE`"]),
        typed(&["catalog", "refresh"], 2, &["unknown command `refresh`", "`gpuenv catalog update FILE`"]),
        typed(&["catalog", "rollback"], 2, &["`gpuenv catalog update --rollback VERSION`"]),
        typed(&["catalog", "nope"], 2, &["unknown command `nope`", "`gpuenv catalog --help`"]),
        typed(&["fleet", "chekc"], 2, &["unknown command `chekc`", "`gpuenv fleet check`"]),
        typed(&["lock", "--frsh"], 2, &["unknown option `--frsh` for `gpuenv lock`", "did you mean `--fresh`?"]),
        typed(&["lock", "--frobnicate"], 2, &["unknown option `--frobnicate`", "`gpuenv lock --help`"]),
        typed(&["completions", "tcsh"], 2, &["invalid value 'tcsh'", "run `gpuenv help completions`"]),
        typed(&["lock", "--help", "--format", "yaml"], 2, &["help has no `--format yaml`", "use one of: human, json"]),
        typed(&["help", "lock", "--format=yaml"], 2, &["help has no `--format yaml`", "use one of: human, json"]),
        typed(&["lock", "--format", "yaml"], 2, &["this command has no `--format yaml`", "use one of: human, json"]),
        typed(&["lock", "--apply-fix", "x"], 2, &["--apply-fix", "expected a number", "`gpuenv help lock`"]),
        typed(&["lock", "--apply-fix", "1"], 2, &["nothing to fix", "run `gpuenv lock`"]),
        typed(&["lock", "--upgrade-package", "nope"], 2, &["`nope` is neither in the lock nor under [stack]", "the packages are"]),
        typed(&["lock", "--upgrade-package", "torch="], 2, &["a version is missing behind `=`", "`--upgrade-package torch`"]),
        typed(&["lock", "--fresh", "--check"], 2, &["'--fresh' cannot be used with '--check'"]),
        typed(&["lock", "--spec", "."], 4, &[". is a folder"]),
        typed(&["lock", "--spec", "nowhere.toml"], 4, &["nowhere.toml cannot be read"]),
        typed(&["add", "../x"], 2, &["`../x` is not a package", "write a package, `torch`"]),
        typed(&["add", "torch=="], 2, &["a constraint is missing", "torch==2.5.1"]),
        typed(&["remove", "nope"], 2, &["`nope` is not in [stack] or [packages] of gpuenv.toml", "what is there: torch"]),
        typed(&["target", "add", "t", "--gpu", "T4"], 2, &["has a target `t` already", "choose another name"]),
        typed(&["target", "add", "q", "--gpu", "XYZ"], 2, &["unknown GPU `XYZ`", "compute capability"]),
        typed(&["init"], 2, &["gpuenv.toml exists already", "--force"]),
        typed(&["init", "--force", "--gpu", "RTX 4009"], 2, &["`--gpu`: unknown GPU", "did you mean"]),
        typed(&["init", "--force", "--from", "nowhere.txt"], 4, &["nowhere.txt cannot be read"]),
        bad(vec![("notes.md", "hello".into())], &["init", "--force", "--from", "notes.md"], 2, &["--from notes.md", "requirements.txt, pyproject.toml"]),
        typed(&["lock", "--upgrade-package", "torch=2.9"], 2, &["--upgrade-package torch=2.9: gpuenv.toml says `torch = \"2.5.1\"`", "`gpuenv add torch==2.9`"]),
        typed(&["catalog", "--format", "csv"], 2, &["this command has no `--format csv`", "use one of: human, json, github"]),
        bad(vec![("pyproject.toml", "x = ".into())], &["init", "--force", "--from", "pyproject.toml"], 2, &["pyproject.toml:1 cannot be read", "nothing was written"]),
        typed(&["explain", "nonsense"], 2, &["`nonsense` is neither a key", "`stack.torch`"]),
        typed(&["export", "pip"], 2, &["invalid value 'pip'", "`gpuenv export requirements`"]),
        typed(&["explain", "target.q.gpu"], 2, &["there is no target `q`", "there are: t"]),
        typed(&["matrix", "--torch", "99"], 2, &["no build with CUDA of torch 99", "`gpuenv catalog show torch`"]),
        typed(&["schema", "nope"], 2, &["unknown schema `nope`", "the schemas are"]),
        typed(&["catalog", "show", "nope"], 2, &["knows nothing of `nope`", "`gpuenv catalog search WORDS`"]),
        typed(&["catalog", "inspect", "gpuenv.toml"], 2, &["neither a wheel nor a shared library", "name a .so file"]),
        typed(&["diff", "a", "b"], 2, &["`a` is neither a file nor a revision of git", "name a file, or a revision"]),
        typed(&["export"], 2, &["gpuenv.toml has no [export]", "`gpuenv export uv`"]),
        typed(&["export", "nonsense"], 2, &["invalid value 'nonsense'", "requirements, dockerfile"]),
        typed(&["export", "env", "--target", "q"], 2, &["no target `q`", "it has t"]),
        typed(&["export", "uv", "--gres", "x"], 2, &["no option --gres", "help: leave it out: uv has no options of its own"]),
        typed(&["export", "slurm", "--gres", "a'b"], 2, &["--gres takes", "`gpuenv export --help`"]),
        typed(&["export", "env", "--shell", "direnv", "--deactivate"], 2, &["--deactivate cannot stand beside --shell direnv: direnv undoes", "help: leave --deactivate out"]),
        typed(&["export", "requirements", "--hashes", "--constraints"], 2, &["--hashes cannot stand beside --constraints", "help: leave --hashes out"]),
        typed(&["catalog", "inspect", "/dev/null"], 4, &["/dev/null is not a regular file", "help: name a .so file"]),
        bad(vec![("requirements.txt", b"torch==2.5\xff\n".into())], &["init", "--force", "--from", "requirements.txt"], 2, &["requirements.txt: this file is not UTF-8", "save it again as UTF-8"]),
        spec("[stack]\ntorch = \"2.5\" x\n", &["gpuenv.toml:2:", "help: "]),
        typed(&["export", "requirements", "--gres", "x"], 2, &["no option --gres", "it has --hashes"]),
        typed(&["export", "env", "-o", "nowhere/x"], 4, &["nowhere/x cannot be written", "make the folder nowhere first"]),
        typed(&["export", "env", "-o", "."], 4, &[". cannot be written", "it is a folder", "name a file in it"]),
        bad(vec![("pyproject.toml", Text::swollen("", "#", 16 << 20, "\n[tool.mine]\nx = 1\n"))], &["export", "uv", "-o", "pyproject.toml"], 2, &["pyproject.toml is larger than 16 MiB", "make it shorter"]),
        typed(&["verify", "--target", "q", "--quick"], 2, &["no target `q`", "the targets are: t"]),
        typed(&["diagnose"], 2, &["no text to diagnose", "pipe a log"]),
    ]
}

/// Files that are small and would take gigabytes or minutes if they were read as they stand.
#[rustfmt::skip]
fn of_swollen(good: &str) -> Vec<Bad> {
    let tables = |head: &str, count: usize| Text::swollen(&format!("{head}x = ["), "{a.b=1},", count, "]\n");
    let lists = |head: &str, count: usize| Text::swollen(&format!("{head}x = ["), "[[[[[[]]]]]],", count, "]\n");
    let from = |name: &'static str, text: Text, says: &[&'static str]| bad(vec![(name, text)], &["init", "--force", "--from", name], 2, says);
    let names = |before: &str, ends: &str, count: usize| (0..count).map(|at| format!("{before}a{at}{ends}")).collect::<String>();
    let unknown: String = (0..1_500).map(|at| format!("[target.t{at}]\ngpu = \"A100x{at}\"\n")).collect();
    vec![
        bad(vec![("gpuenv.toml", tables("", 400_000))], &["lock"], 2, &["holds more tables and values than are read", "check that it is a gpuenv.toml"]),
        bad(vec![("gpuenv.toml", lists("", 200_000))], &["lock"], 2, &["holds more tables and values than are read"]),
        bad(vec![("gpuenv.toml", unknown.into())], &["lock"], 2, &["unknown GPU `A100x0`", "did you mean", "more errors"]),
        bad(vec![("gpuenv.lock", lists(good, 2_000_000))], &["export", "env"], 2, &["gpuenv.lock: this lock holds more tables and values than are read", "`gpuenv lock --fresh`"]),
        bad(vec![("gpuenv.toml", OVERLAID.into()), ("site.toml", tables("", 400_000))], &["lock"], 2, &["holds more tables and values than are read", "[catalog] takes several overlays"]),
        bad(vec![("pyproject.toml", tables("[tool]\n", 100_000))], &["export", "uv", "-o", "pyproject.toml"], 2, &["holds more tables and values than are read", "with -o"]),
        from("uv.lock", tables("", 400_000), &["uv.lock:1 cannot be read: it holds more tables"]),
        from("pyproject.toml", tables("[tool]\n", 120_000), &["pyproject.toml:1 cannot be read: it holds more tables"]),
        from("environment.yml", Text::swollen("", "- ", 100_000, ""), &["environment.yml:1 cannot be read", "nested too deeply"]),
        from("environment.yml", Text::swollen("", "? ", 100_000, ""), &["environment.yml:1 cannot be read", "nested too deeply"]),
        from("environment.yml", Text::swollen("", "#", 600 << 10, ""), &["environment.yml:1 cannot be read: it is larger than 512 KiB"]),
        from("environment.yml", format!("dependencies:\n{}", names("- ", "\n", 40_000)).into(), &["environment.yml:5002 cannot be read: it lists more than 5000 packages"]),
        from("requirements.txt", names("", "\n", 300_000).into(), &["requirements.txt:5001 cannot be read: it lists more than 5000 packages"]),
        from("requirements.txt", Text::swollen("", "-r more.txt\n", 100_000, ""), &["requirements.txt:5001 cannot be read"]),
        from("Dockerfile", format!("FROM a\nRUN pip install {}\n", names(" ", "", 70_000)).into(), &["Dockerfile:2 cannot be read: it lists more than 5000 packages"]),
        from("Dockerfile", Text::swollen("", "FROM a\n", 70_000, ""), &["Dockerfile:501 cannot be read: it has more than 500 stages"]),
    ]
}

/// What each file holds, in short.
fn files(place: &Place) -> BTreeMap<String, u64> {
    let digest = |path: &Path| {
        let (mut file, mut bytes, mut hasher) = (fs::File::open(path).unwrap(), [0; 64 << 10], DefaultHasher::new());
        while let count @ 1.. = file.read(&mut bytes).unwrap() {
            hasher.write(&bytes[..count]);
        }
        hasher.finish()
    };
    let entries = fs::read_dir(place.path("checkout")).unwrap().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    files.map(|entry| (entry.file_name().into_string().unwrap(), digest(&entry.path()))).collect()
}

/// What is wrong with how it was answered, if anything is, and how much memory that took, in KiB.
fn wrong(bad: &Bad, place: &Place) -> (Option<String>, i64) {
    for (name, text) in &bad.files {
        text.write(&place.path("checkout").join(name));
    }
    let before = files(place);
    let mut command = place.command("checkout", &bad.args);
    let (ran, took, memory) = measured(command.env("COLUMNS", "100"));
    let told = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    let missing: Vec<_> = bad.says.iter().filter(|part| !told.contains(**part)).collect();
    // Nothing else is what a program reads on stdout.
    let is_helped = told.contains("help: ");
    let faults = [
        (ran.code != bad.code, format!("exit code {} for {}", ran.code, bad.code)),
        (!missing.is_empty(), format!("does not say {missing:?}")),
        (!is_helped, "does not say what to do".to_string()),
        (!ran.out.is_empty(), format!("prints {:?}", ran.out)),
        (took > Duration::from_secs(2), format!("takes {took:?}")),
        (files(place) != before, "changes a file".to_string()),
        (ran.err.chars().any(|c| c.is_control() && c != '\n'), "prints control characters".to_string()),
    ];
    let faults: Vec<String> = faults.into_iter().filter(|(is, _)| *is).map(|(_, what)| what).collect();
    let told = (!faults.is_empty()).then(|| format!("{}\n  {}\n{}", bad.name, faults.join("\n  "), ran.err));
    (told, memory)
}

#[test]
fn bad_input_is_answered_with_what_where_and_what_to_do() {
    let place = Place::with("bad-good", GOOD);
    place.run(&["lock"]).exits(0);
    let good = place.read("checkout/gpuenv.lock");
    let tables =
        [of_specs(), of_targets(), of_locks(&good), of_overlays(), of_hosts(), of_commands(), of_swollen(&good)];
    let table: Vec<Bad> = tables.into_iter().flatten().collect();
    let numbered: Vec<(usize, &Bad)> = table.iter().enumerate().collect();
    let found = parallel::each(&numbered, |(at, bad)| {
        let place = Place::with(&format!("bad-{at}"), GOOD);
        place.write("checkout/gpuenv.lock", &good);
        wrong(bad, &place)
    });
    let most = found.iter().map(|(_, memory)| *memory).max().unwrap_or_default();
    let found: Vec<String> = found.into_iter().filter_map(|(wrong, _)| wrong).collect();
    assert!(found.is_empty(), "{} of {}:\n\n{}", found.len(), table.len(), found.join("\n"));
    assert!(table.len() >= 150, "{} kinds", table.len());
    println!("{} kinds of bad input, {} MB at most", table.len(), most / 1024);
    assert!(most < 200 * 1024, "a run took {} MB", most / 1024);
}

/// Runs a command to its end, and tells the time that it computed, whatever else the machine does, and the most memory that it
/// held, in KiB.
#[expect(clippy::zombie_processes, reason = "wait4 waits for it, which tells its memory too")]
fn measured(command: &mut Command) -> (Ran, Duration, i64) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut out, mut err) = (String::new(), String::new());
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    thread::scope(|scope| {
        scope.spawn(|| stdout.read_to_string(&mut out).unwrap());
        stderr.read_to_string(&mut err).unwrap();
    });
    let mut status = 0;
    // SAFETY: all zeroes are a value of this plain structure.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let pid = child.id() as libc::pid_t;
    // SAFETY: the child is ours, nobody else waits for it, and the number and the structure are ours to write to.
    assert_eq!(unsafe { libc::wait4(pid, &mut status, 0, &mut usage) }, pid);
    let code = ExitStatus::from_raw(status).code().unwrap_or(-1);
    let micros = |time: libc::timeval| (time.tv_sec * 1_000_000 + time.tv_usec).cast_unsigned();
    let took = Duration::from_micros(micros(usage.ru_utime) + micros(usage.ru_stime));
    (Ran { code, out, err }, took, usage.ru_maxrss)
}
