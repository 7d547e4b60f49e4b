//! The command as users and scripts meet it: exit codes, streams, files.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::sandbox::Sandbox;

const SPEC: &str = r#"
[stack]
torch = ">=2.4,<2.6"
python = "3.11"

[target.prod]
gpu = ["A100-PCIE-40GB", "H100 NVL"]
os = "ubuntu22.04"
"#;

const CONFLICT: &str = r#"
[stack]
torch = "1.12.1+cu102"

[target.prod]
gpu = "A100-PCIE-40GB"
"#;

/// A folder that is gone after the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn with(name: &str, spec: &str) -> Folder {
        let folder = Folder::new(name);
        folder.write("gpuenv.toml", spec);
        folder
    }

    fn locked(name: &str) -> Folder {
        let folder = Folder::with(name, SPEC);
        folder.run(&["lock"]).exits(0);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn lock(&self) -> String {
        self.read("gpuenv.lock")
    }

    fn command(&self, args: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpuenv"));
        command
            .current_dir(&self.0)
            .args(args)
            .stdin(Stdio::null())
            .env_remove("NO_COLOR")
            .env("SOURCE_DATE_EPOCH", "0");
        command
    }

    fn run(&self, args: &[impl AsRef<OsStr>]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    /// Runs with `--format json` and insists on one document.
    fn json(&self, args: &[&str]) -> (i32, serde_json::Value) {
        let ran = self.run(&[args, &["--format", "json"]].concat());
        let document = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        (ran.code, document)
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::set_permissions(&self.0, fs::Permissions::from_mode(0o755));
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[derive(Debug)]
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Ran {
    fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    #[track_caller]
    fn says(self, part: &str) -> Ran {
        // Lines are wrapped for a screen wherever they grow too long.
        let words = self.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(self.stderr.contains(part) || words.contains(part), "{part:?} in {self:?}");
        self
    }
}

fn as_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0)
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

// What is printed where

#[test]
fn locking_says_what_changed_on_stderr() {
    let folder = Folder::with("streams", SPEC);
    let first = folder.run(&["lock"]).exits(0).says("locked 1 target").says("torch").says("2.5.1+cu");
    assert_eq!(first.stdout, "");
    folder.run(&["lock"]).exits(0).says("gpuenv.lock is up to date");
}

#[test]
fn json_is_one_document_whatever_happens() {
    let folder = Folder::with("json", SPEC);
    let (code, document) = folder.json(&["lock"]);
    assert_eq!((code, document["status"].as_str()), (0, Some("ok")));
    assert!(document["stack"]["torch"].as_str().unwrap().starts_with("2.5.1+cu"), "{document}");
    assert_eq!(document["targets"]["prod"]["gpus"][0]["coverage"], "native");
    assert!(document["warnings"].is_array() && document["targets"]["prod"]["driver"]["minimum"].is_string());

    let (code, document) = folder.json(&["export", "env", "--shell", "fish"]);
    assert_eq!((code, document["status"].as_str(), document["text"].is_string()), (0, Some("ok"), true), "{document}");
    let (code, document) = folder.json(&["export", "json"]);
    assert_eq!((code, document["stack"]["python"].as_str()), (0, Some("3.11")));

    folder.write("gpuenv.toml", CONFLICT);
    let (code, document) = folder.json(&["lock", "--check"]);
    assert_eq!((code, document["status"].as_str()), (1, Some("stale")));
    let (code, document) = folder.json(&["lock"]);
    assert_eq!((code, document["status"].as_str()), (1, Some("conflict")));
    assert_eq!(document["culprits"], document["conflicts"][0]["culprits"]);

    folder.write("gpuenv.toml", "[stack]\ntorhc = \"2\"\n[target.a]\ngpu = \"H100 NVL\"\n");
    let (code, document) = folder.json(&["lock"]);
    let error = &document["errors"][0];
    assert_eq!((code, document["status"].as_str(), error["span"]["line"].as_u64()), (2, Some("error"), Some(2)));
    for (args, wanted) in [
        (&["lock", "--bogus"][..], 2),
        (&["nonsense"], 2),
        (&[], 2),
        (&["export", "nonsense"], 2),
        (&["--version"], 0),
        (&["lock", "--help"], 0),
        (&["lock", "--spec", "nowhere.toml"], 4),
    ] {
        let (code, document) = folder.json(args);
        assert_eq!(code, wanted, "{args:?}");
        assert!(document["status"].is_string());
    }
    let errors = folder.json(&["lock", "--spec=nowhere.toml"]).1;
    assert_eq!(errors["errors"][0]["code"], "not-found");
}

#[test]
fn the_version_names_the_catalog() {
    let ran = Folder::new("version").run(&["--version"]).exits(0);
    let wanted = format!("gpuenv {} (catalog {})\n", env!("CARGO_PKG_VERSION"), gpuenv::catalog::BUILTIN.version);
    assert_eq!(ran.stdout, wanted);
}

#[test]
fn colours_only_where_they_are_wanted() {
    let folder = Folder::with("color", CONFLICT);
    let colored = |command: &mut Command| Ran::of(command.output().unwrap()).exits(1).stderr.contains('\x1b');
    assert!(!colored(&mut folder.command(&["lock"])), "not to a pipe");
    assert!(colored(&mut folder.command(&["lock", "--color", "always"])));
    assert!(colored(folder.command(&["lock", "--color=always"]).env("NO_COLOR", "1")), "asked for by name");
    assert!(!colored(folder.command(&["lock"]).env("NO_COLOR", "1")));
    assert!(!colored(&mut folder.command(&["lock", "--color", "never"])));
    // And they change nothing else: neither where lines break nor how much is said.
    let said = |color: &str| folder.run(&["lock", "--color", color]).exits(1).stderr;
    let painted = said("always");
    let plain = painted.split("\x1b[").enumerate();
    let plain: String = plain.map(|(at, part)| if at == 0 { part } else { part.split_once('m').unwrap().1 }).collect();
    assert_eq!(plain, said("never"));
}

#[test]
fn nothing_hostile_of_a_spec_reaches_the_terminal() {
    let hostile =
        "[stack]\ntorch = \"2.5\u{9b}31m\u{202e}\"\n\"to\\u001b[31mrch\" = \"1\"\n[target.a]\ngpu = \"X\\u0007\"\n";
    let folder = Folder::with("hostile", hostile);
    let ran = folder.run(&["lock"]).exits(2);
    let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!ran.stderr.contains(bad), "{:?}", ran.stderr);
    let ran = folder.run(&["lock", "--spec", "\u{1b}[31m\u{9b}.toml"]).exits(4);
    assert!(!ran.stderr.contains(bad), "{:?}", ran.stderr);
    assert!(!folder.run(&["\u{1b}[31m\u{9b}"]).exits(2).stderr.contains(bad));
}

#[test]
fn a_conflict_marks_the_clashing_lines_and_fits_a_screen() {
    let ran = Folder::with("conflict", CONFLICT).run(&["lock"]).exits(1);
    assert!(ran.stderr.contains("torch = \"1.12.1+cu102\"") && ran.stderr.contains("gpuenv.toml:"), "{}", ran.stderr);
    assert!(ran.stderr.lines().count() <= 30, "{}", ran.stderr);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = Folder::locked("pipe");
    for args in [&["export", "json"][..], &["lock", "--help"], &["lock", "--format", "json"]] {
        let mut child = folder.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        Ran::of(child.wait_with_output().unwrap()).exits(0);
    }
}

#[test]
fn a_full_disk_is_told() {
    let folder = Folder::locked("full");
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let mut command = folder.command(&["export", "json"]);
    Ran::of(command.stdout(full).output().unwrap()).exits(4).says("stdout cannot be written");
}

// Finding and reading files

#[test]
fn the_spec_is_looked_for_in_parents_and_the_lock_lies_beside_it() {
    let folder = Folder::with("parents", SPEC);
    fs::create_dir_all(folder.path("a/b")).unwrap();
    let below = |args: &[&str]| Ran::of(folder.command(args).current_dir(folder.path("a/b")).output().unwrap());
    below(&["lock"]).exits(0);
    assert!(folder.path("gpuenv.lock").exists());
    below(&["export", "requirements"]).exits(0);
    fs::write(folder.path("a/gpuenv.toml"), "[stack]\n").unwrap();
    below(&["export", "requirements"]).exits(2).says("../gpuenv.lock does not exist");
    below(&["lock"]).exits(2).says("../gpuenv.toml");
}

#[test]
fn a_missing_spec_is_told_in_words() {
    let folder = Folder(PathBuf::from("/"));
    let ran = folder.run(&["lock"]);
    std::mem::forget(folder);
    ran.exits(2).says("gpuenv.toml not found here or in any parent");
    Folder::new("missing").run(&["lock", "--spec", "nowhere.toml"]).exits(4).says("nowhere.toml cannot be read");
}

#[test]
fn only_regular_files_are_read() {
    let folder = Folder::locked("regular");
    fifo(&folder.path("pipe"));
    symlink("pipe", folder.path("link")).unwrap();
    fs::create_dir(folder.path("folder")).unwrap();
    let begun = Instant::now();
    for name in ["pipe", "link", "folder", "/dev/zero"] {
        folder.run(&["lock", "--spec", name]).exits(4).says(name);
        folder.run(&["lock", "--lock", name]).exits(4).says(name);
        folder.run(&["lock", "--fresh", "--lock", name]).exits(4).says(name);
        folder.run(&["export", "env", "--lock", name]).exits(4).says(name);
    }
    // What calls itself one, and is made up by the kernel as it is read.
    folder.run(&["lock", "--spec", "/proc/self/environ"]).exits(2).says("no file of a project");
    folder.run(&["export", "env", "--lock", "/proc/self/environ"]).exits(2).says("no file of a project");
    assert!(begun.elapsed() < Duration::from_secs(20));
    symlink("gpuenv.toml", folder.path("good")).unwrap();
    folder.run(&["lock", "--spec", "good"]).exits(0);
}

#[test]
fn a_huge_spec_is_refused_before_it_is_read() {
    let folder = Folder::new("huge");
    let file = fs::File::create(folder.path("gpuenv.toml")).unwrap();
    file.set_len(100 << 20).unwrap();
    folder.run(&["lock"]).exits(2).says("4 MiB");
    folder.write("gpuenv.toml", SPEC);
    let file = fs::File::create(folder.path("gpuenv.lock")).unwrap();
    file.set_len(100 << 20).unwrap();
    folder.run(&["lock"]).exits(2).says("32 MiB");
}

#[test]
fn files_that_may_not_be_read_or_written_are_named() {
    if as_root() {
        return;
    }
    let folder = Folder::locked("permissions");
    fs::set_permissions(folder.path("gpuenv.toml"), fs::Permissions::from_mode(0o000)).unwrap();
    folder.run(&["lock"]).exits(4).says("gpuenv.toml cannot be read: Permission denied");
    folder.write("free.toml", "[stack]\ntorch = \"2.4\"\n[target.a]\ngpu = \"H100 NVL\"\n");
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o555)).unwrap();
    folder.run(&["lock", "--spec", "free.toml"]).exits(4).says("gpuenv.lock cannot be written");
}

// The lock

/// What only the catalog can tell of a spec is told of it whether there is a lock or not.
#[test]
fn check_tells_mistakes_of_the_spec_before_it_misses_a_lock() {
    let folder = Folder::with("check-mistakes", SPEC);
    for (more, code) in [
        ("[target.new]\ngpu = \"Vodoo 2\"\n", "unknown-gpu"),
        ("[[silence]]\nwarning = \"vodoo\"\nreason = \"r\"\n", "unknown-warning"),
        ("[[override]]\nrule = \"vodoo\"\nreason = \"r\"\n", "unknown-rule"),
    ] {
        folder.write("gpuenv.toml", format!("{SPEC}{more}"));
        folder.run(&["lock", "--check"]).exits(2).says(&format!("error[{code}]"));
    }
}

#[test]
fn check_says_whether_the_lock_is_current_and_changes_nothing() {
    let folder = Folder::with("check", SPEC);
    folder.run(&["lock", "--check"]).exits(1).says("gpuenv.lock does not exist");
    assert!(!folder.path("gpuenv.lock").exists());
    folder.run(&["lock"]).exits(0);
    let (lock, then) = (folder.lock(), fs::metadata(folder.path("gpuenv.lock")).unwrap().modified().unwrap());
    folder.run(&["lock", "--check"]).exits(0);
    folder.write("gpuenv.toml", format!("# a remark\n{}", SPEC.replace(" = ", "   =  ")));
    folder.run(&["lock", "--check"]).exits(0);
    folder.run(&["lock"]).exits(0);
    assert_eq!(fs::metadata(folder.path("gpuenv.lock")).unwrap().modified().unwrap(), then, "not rewritten");
    folder.write("gpuenv.toml", SPEC.replace("<2.6", "<2.5"));
    folder.run(&["lock", "--check"]).exits(1).says("`stack.torch` was `>=2.4,<2.6` and is now `>=2.4,<2.5`");
    assert_eq!(folder.lock(), lock);
}

#[test]
fn a_corrected_or_withdrawn_fact_makes_the_lock_stale_and_is_named() {
    let folder = Folder::locked("facts");
    let lock = folder.lock();
    let fact = lock.lines().find(|line| line.contains("id = \"torch-2.5.1")).unwrap();
    let digest = fact.split("digest = \"").nth(1).unwrap().split('"').next().unwrap();
    folder.write("gpuenv.lock", lock.replace(digest, "0000000000000000"));
    folder.run(&["lock", "--check"]).exits(1).says("corrected `torch-2.5.1");
    // Of a lock that was made with the catalog at hand somebody has edited it.
    let other = lock.replace("id = \"torch-2.5.1", "id = \"torch-2.5.1.withdrawn");
    folder.write("gpuenv.lock", other.replace("catalog.version = \"2026.", "catalog.version = \"2025."));
    folder.run(&["lock", "--check"]).exits(1).says("withdrawn `torch-2.5.1.withdrawn");
    folder.run(&["lock"]).exits(0);
    assert_eq!(folder.lock(), lock);
}

#[test]
fn a_later_catalog_alone_does_not_make_a_lock_stale() {
    let folder = Folder::locked("catalog");
    let text = folder.lock().replace(&*gpuenv::catalog::BUILTIN.digest, "0000").replace("2026.", "2025.");
    folder.write("gpuenv.lock", &text);
    folder.run(&["lock", "--check"]).exits(0);
    folder.run(&["lock"]).exits(0);
    assert_eq!(folder.lock(), text);
}

#[test]
fn an_edited_lock_is_noticed() {
    let folder = Folder::locked("edited");
    let lock = folder.lock();
    folder.write("gpuenv.lock", lock.replace("stack.python = \"3.11\"", "stack.python = \"3.12\""));
    folder.run(&["lock", "--check"]).exits(1).says("edited");
    folder.run(&["lock"]).exits(0);
    assert_eq!(folder.lock(), lock);
}

#[test]
fn a_relock_keeps_what_still_holds() {
    let folder = Folder::with("relock", &SPEC.replace("<2.6", "<2.5"));
    folder.run(&["lock"]).exits(0);
    assert!(folder.lock().contains("stack.torch = \"2.4.1+"));
    folder.write("gpuenv.toml", SPEC);
    folder.run(&["lock"]).exits(0);
    assert!(folder.lock().contains("stack.torch = \"2.4.1+"), "kept");
    folder.run(&["lock", "--upgrade-package", "python"]).exits(0);
    assert!(folder.lock().contains("stack.torch = \"2.4.1+"), "kept");
    folder.run(&["lock", "--upgrade-package", "torch=2.5.0"]).exits(0).says("-> 2.5.0+");
    folder.run(&["lock", "--check"]).exits(0);
    folder.run(&["lock", "--upgrade-package", "torch"]).exits(0).says("2.5.0+").says("-> 2.5.1+");
    folder.run(&["lock", "--upgrade-package", "torch=2.4.0"]).exits(0);
    folder.run(&["lock", "--upgrade"]).exits(0).says("-> 2.5.1+");
    let best = folder.lock();
    folder.run(&["lock", "--upgrade-package", "torch=2.7"]).exits(2).says("gpuenv add torch==2.7");
    assert_eq!(folder.lock(), best, "what the spec excludes writes nothing");
    folder.run(&["lock", "--upgrade-package", "numpy"]).exits(2).says("`numpy` is neither");
    folder.run(&["lock", "--upgrade-package", "torch=>>1"]).exits(2);
    folder.run(&["lock", "--check", "--fresh"]).exits(2);
    fs::remove_file(folder.path("gpuenv.lock")).unwrap();
    folder.run(&["lock"]).exits(0);
    assert_eq!(folder.lock(), best, "an upgrade is as good as a fresh lock");
}

#[test]
fn locks_of_another_format_are_not_touched() {
    let folder = Folder::with("newer", SPEC);
    let newer = "version = 99\nshape = \"unheard of\"\n";
    folder.write("gpuenv.lock", newer);
    for args in [&["lock"][..], &["lock", "--check"], &["lock", "--upgrade"], &["export", "env"]] {
        folder.run(args).exits(2).says("format 99");
        assert_eq!(folder.lock(), newer);
    }
}

#[test]
fn a_fresh_lock_is_the_way_out_of_a_broken_one() {
    let folder = Folder::locked("broken");
    let good = folder.lock();
    let marked = good.replacen("\nstack.torch", "\n<<<<<<< ours\nstack.torch", 1);
    for (text, says) in [
        (marked.as_str(), "merge-conflict marker"),
        ("stack = {", "line 1"),
        ("version = 1\n", "cannot be read"),
        (&good.replace("\nstack.torch", "\ncolour.torch"), "colour"),
        ("\u{1b}]0;title\u{7}", "cannot be read"),
    ] {
        folder.write("gpuenv.lock", text);
        folder.run(&["lock"]).exits(2).says(says).says("--fresh");
        assert_eq!(folder.lock(), text);
        folder.run(&["lock", "--fresh"]).exits(0);
        assert_eq!(folder.lock(), good);
    }
    folder.write("gpuenv.lock", b"\xff\xfe\x00");
    folder.run(&["lock"]).exits(2).says("--fresh");
}

#[test]
fn the_order_of_a_spec_does_not_matter() {
    let two = "[target.b]\ngpu = \"H100 NVL\"\n[target.a]\ngpu = [\"L4\", \"A100-PCIE-40GB\"]\n[stack]\npython = \"3.11\"\ntorch = \"2.5\"\n";
    let swapped = "[stack]\ntorch = \"2.5\"\npython = \"3.11\"\n[target.a]\ngpu = [\"A100-PCIE-40GB\", \"L4\"]\n[target.b]\ngpu = \"H100 NVL\"\n";
    let (one, other) = (Folder::with("order-1", two), Folder::with("order-2", swapped));
    one.run(&["lock"]).exits(0);
    other.run(&["lock"]).exits(0);
    assert_eq!(one.lock(), other.lock());
}

#[test]
fn targets_with_stacks_of_their_own_carry_them_whole() {
    let spec = "[stack]\ntorch = \"2.5.1\"\n[target.gpu]\ngpu = \"L4\"\n[target.cpu]\ngpu = \"none\"\n[target.another]\ngpu = \"T4\"\n";
    for share in ["versions", "none"] {
        let folder = Folder::with(share, &format!("{spec}[resolve]\nshare = \"{share}\"\n"));
        let (_, document) = folder.json(&["lock"]);
        assert_eq!(document["targets"]["cpu"]["stack"]["torch"], "2.5.1+cpu", "{document}");
        for gpu in ["gpu", "another"] {
            assert!(document["targets"][gpu]["stack"]["torch"].as_str().unwrap().starts_with("2.5.1+cu"), "{document}");
        }
        assert!(document["stack"]["torch"].is_null() && document["stack"]["python"].is_string());
        folder.run(&["lock", "--check"]).exits(0);
        folder.run(&["export", "requirements"]).exits(2).says("`--target another`, `--target cpu` or `--target gpu`");
        folder.run(&["export", "requirements", "--target", "cpu"]).exits(0);
    }
}

#[test]
fn overrides_are_recorded_if_they_matter_and_warned_of_if_not() {
    let with = |spec: &str, rule: &str| format!("{spec}\n[[override]]\nrule = \"{rule}\"\nreason = \"a test\"\n");
    let folder = Folder::with("override", &with(SPEC, "cuda-8.0-driver"));
    folder.run(&["lock"]).exits(0).says("warning[unused-override]");
    assert!(!folder.lock().contains("override = ["));

    let old = SPEC.replace("os = ", "driver = \"450.51.05\"\nforward-compat = \"never\"\nos = ");
    let old = old.replace(", \"H100 NVL\"", "").replace(">=2.4,<2.6", "2.5.1");
    folder.write("gpuenv.toml", &old);
    folder.run(&["lock"]).exits(1);
    folder.write("gpuenv.toml", with(&old, "cuda-12-driver"));
    let ran = folder.run(&["lock"]).exits(0);
    assert!(!ran.stderr.contains("unused-override"), "{ran:?}");
    assert!(folder.lock().contains("rule = \"cuda-12-driver\", reason = \"a test\""));
    folder.run(&["lock", "--check"]).exits(0);
}

#[test]
fn a_spec_may_ask_for_a_later_gpuenv() {
    let folder = Folder::new("requires");
    folder.write("gpuenv.toml", format!("requires-gpuenv = \">=99\"\n{SPEC}"));
    folder.run(&["lock"]).exits(2).says("requires gpuenv >=99").says(env!("CARGO_PKG_VERSION"));
    folder.write("gpuenv.toml", format!("requires-gpuenv = \">=0.1\"\n{SPEC}"));
    folder.run(&["lock"]).exits(0);
}

// Writing

#[test]
fn a_linked_lock_is_written_where_it_lies_with_its_permissions() {
    let folder = Folder::with("symlink", SPEC);
    fs::create_dir(folder.path("real")).unwrap();
    folder.write("real/lock", "");
    fs::set_permissions(folder.path("real/lock"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real/lock", folder.path("gpuenv.lock")).unwrap();
    folder.run(&["lock", "--fresh"]).exits(0);
    assert!(fs::symlink_metadata(folder.path("gpuenv.lock")).unwrap().is_symlink());
    assert!(folder.read("real/lock").contains("stack.torch"));
    assert_eq!(fs::metadata(folder.path("real/lock")).unwrap().permissions().mode() & 0o777, 0o640);
    fs::remove_file(folder.path("real/lock")).unwrap();
    folder.run(&["lock"]).exits(0);
    assert!(folder.path("real/lock").exists(), "a dangling link is filled");
    fs::remove_file(folder.path("gpuenv.lock")).unwrap();
    symlink("gpuenv.lock", folder.path("gpuenv.lock")).unwrap();
    folder.run(&["lock", "--fresh"]).exits(4).says("ring");
}

#[test]
fn a_folder_that_is_not_there_is_an_io_error() {
    let folder = Folder::with("nofolder", SPEC);
    folder.run(&["lock", "--lock", "nowhere/gpuenv.lock"]).exits(4).says("nowhere/gpuenv.lock cannot be written");
    folder.run(&["lock"]).exits(0);
    folder.run(&["export", "json", "-o", "nowhere/x"]).exits(4);
    let ran = folder.run(&["export", "json", "-o", "out.json"]).exits(0);
    assert_eq!(ran.stdout, "");
    assert!(folder.read("out.json").starts_with('{'));
    assert_eq!(folder.run(&["export", "json", "-o", "-"]).exits(0).stdout, folder.read("out.json"));
}

#[test]
fn a_kill_leaves_the_old_lock_or_the_new_one_and_the_next_run_sweeps() {
    let folder = Folder::with("kill", SPEC);
    let old_spec = SPEC.replace("<2.6", "<2.5");
    folder.run(&["lock", "--fresh"]).exits(0);
    let new = folder.lock();
    folder.write("gpuenv.toml", &old_spec);
    folder.run(&["lock", "--fresh"]).exits(0);
    let old = folder.lock();
    for round in 0..60 {
        folder.write("gpuenv.toml", if round % 2 == 0 { SPEC } else { &old_spec });
        let mut child =
            folder.command(&["lock", "--fresh"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(250 * (round % 40)));
        let _ = child.kill();
        child.wait().unwrap();
        let now = folder.lock();
        assert!(now == old || now == new, "round {round}: {} bytes", now.len());
    }
    folder.write(".gpuenv.lock.1-0.tmp", "left behind");
    folder.write(".gpuenv.lock.mine.tmp", "not ours");
    fs::remove_file(folder.path("gpuenv.lock")).unwrap();
    folder.run(&["lock"]).exits(0);
    assert_eq!(folder.names(), [".gpuenv.lock.mine.tmp", "gpuenv.lock", "gpuenv.toml"]);
}

#[test]
fn two_at_once_do_not_disturb_each_other() {
    let folder = Folder::with("twice", SPEC);
    let spawn = || folder.command(&["lock", "--fresh"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    for _ in 0..10 {
        let _ = fs::remove_file(folder.path("gpuenv.lock"));
        let children: Vec<_> = (0..4).map(|_| spawn()).collect();
        for child in children {
            Ran::of(child.wait_with_output().unwrap()).exits(0);
        }
        assert_eq!(folder.names(), ["gpuenv.lock", "gpuenv.toml"]);
    }
}

#[test]
fn a_spec_on_a_slow_pipe_is_no_reason_to_wait() {
    let folder = Folder::new("stdin");
    let mut command = folder.command(&["lock", "--spec", "/dev/stdin"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let _ = stdin.write_all(b"[stack]\n");
    Ran::of(child.wait_with_output().unwrap()).exits(4);
}

/// A format that a command does not have is refused with those that it has, be it another command's or nobody's.
#[test]
fn a_format_is_refused_with_those_of_the_command() {
    let sandbox = Sandbox::new("cli-formats", "");
    for (typed, has) in [
        (
            &["verify", "--format", "junit"][..],
            "use one of: human, json, github; `--junit FILE` is an option of its own",
        ),
        (&["verify", "--format=junit"], "use one of: human, json, github"),
        (&["lock", "--format", "yaml"], "use one of: human, json, github"),
        (&["lock", "--format", "htm"], "use one of: human, json, github"),
        (&["lock", "--format", "csv"], "use one of: human, json, github"),
        (&["matrix", "--format", "yaml"], "use one of: human, json, github, csv, html, svg"),
    ] {
        let ran = sandbox.run(typed).exits(2).says(has);
        assert!(ran.err.contains("this command has no `--format") && !ran.err.contains("ndjson"), "{}", ran.err);
    }
    sandbox.run(&["lock", "--format", "jsn"]).exits(2).says("did you mean `json`?");
}

/// The lines that are left out of a drawing stand under the bar of the others, however long the file is.
#[test]
fn lines_that_are_left_out_stand_under_the_others() {
    let spec = format!(
        "[stack]\ntorch = \"2.8.0+cu128\"\n\n\n[target.a]\ngpu = \"L4\"\ndriver = \"450\"\n{}",
        "# more\n".repeat(20)
    );
    let told = Sandbox::new("cli-drawing", &spec).run(&["lock"]).exits(1).err;
    let bars: Vec<usize> = told.lines().filter(|line| line.contains(" | ")).filter_map(|line| line.find('|')).collect();
    assert!(told.contains("| ...") && bars.len() > 2 && bars.iter().all(|bar| *bar == bars[0]), "{told}");
}
