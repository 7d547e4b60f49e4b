//! A newer catalog as data: an old program answers with it like a new one, and whatever is wrong with a file leaves
//! everything as it was.

use std::fs;
use std::io::Cursor;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use gpuenv::catalog::rows::{Driver, ErrorSignature, Rule};
use gpuenv::catalog::{BUILTIN, Catalog, packed};
use gpuenv::lock::{self, Renewed, Upgrade, renew};
use gpuenv::solve::engine::Steps;
use gpuenv::solve::problem::Problem;
use gpuenv::solve::request::Request;
use gpuenv::spec;
use gpuenv::types::{CpuArch, Version};
use minisign::KeyPair;

use crate::common::sandbox::{Ran, Sandbox};

pub const SPEC: &str =
    "[stack]\ntorch = \"*\"\n[target.a]\ngpu = \"H100 NVL\"\ndriver = \">=580\"\nos = \"ubuntu22.04\"\n";

/// A version that is so many years later than the built-in catalog's.
fn later(years: u32) -> String {
    let (year, rest) = BUILTIN.version.split_once('.').unwrap();
    format!("{}.{rest}", year.parse::<u32>().unwrap() + years)
}

/// The built-in catalog and what was published since: a torch, a driver, a rule, a message.
pub fn newer(years: u32) -> Catalog {
    let mut catalog = BUILTIN.clone();
    catalog.version = later(years).into();
    catalog.digest = "ab".repeat(32).into();
    let torch =
        catalog.builds.iter().filter(|row| row.package == "torch" && row.default && row.arch == CpuArch::X86_64);
    let mut added = torch.max_by_key(|row| row.version).unwrap().clone();
    added.version = Version::parse("2.99.0").unwrap();
    catalog.builds.to_mut().push(added);
    let last: &Driver = catalog.drivers.last().unwrap();
    let driver =
        Driver { version: Version::parse(&format!("{}.999", last.version.prefix(2))).unwrap(), ..last.clone() };
    catalog.drivers.to_mut().push(driver);
    let rule = Rule { id: "test-rule".into(), ..catalog.rules[0].clone() };
    catalog.rules.to_mut().push(rule);
    let message = ErrorSignature {
        code: "test-message".into(),
        patterns: vec!["the zorglub of this machine has exploded".into()].into(),
        ..catalog.diagnoses.iter().find(|row| row.with.is_empty() && row.not.is_empty()).unwrap().clone()
    };
    catalog.diagnoses.to_mut().push(message);
    catalog.sort();
    catalog
}

/// A sandbox with a data folder of its own and a key that the program trusts.
pub struct Site {
    sandbox: Sandbox,
    key: KeyPair,
}

impl Site {
    pub fn new(name: &str, spec: &str) -> Site {
        let sandbox = Sandbox::new(&format!("update-{name}"), spec);
        // A project of its own: what lies beside it is not its.
        fs::create_dir_all(sandbox.path("project/.git")).unwrap();
        fs::write(sandbox.path("project/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::rename(sandbox.path("gpuenv.toml"), sandbox.path("project/gpuenv.toml")).unwrap();
        Site { sandbox, key: KeyPair::generate_unencrypted_keypair().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.sandbox.path(name)
    }

    pub fn installed(&self, version: &str) -> PathBuf {
        self.path(&format!("data/gpuenv/catalogs/{version}.catalog"))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpuenv"));
        command.current_dir(self.path("project")).args(args).stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).env("SOURCE_DATE_EPOCH", "0").env("COLUMNS", "200").env_remove("GPUENV_REPORT");
        command.env("XDG_DATA_HOME", self.path("data")).env("GPUENV_TEST_CATALOG_KEY", self.key.pk.to_base64());
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        ran(self.command(args).spawn().unwrap())
    }

    /// Writes a file, signed with a key.
    fn file(&self, name: &str, bytes: &[u8], key: &KeyPair) -> String {
        let signature = minisign::sign(Some(&key.pk), &key.sk, Cursor::new(bytes), Some("a test"), None).unwrap();
        self.plain(name, &[bytes, signature.into_string().as_bytes()].concat())
    }

    fn plain(&self, name: &str, bytes: &[u8]) -> String {
        fs::write(self.path(name), bytes).unwrap();
        self.path(name).to_str().unwrap().to_string()
    }

    /// Writes the file of a catalog as a maintainer would.
    pub fn packed(&self, catalog: &Catalog) -> String {
        self.file(&format!("{}.published", catalog.version), &packed::pack(catalog, packed::SMALL).unwrap(), &self.key)
    }

    fn lock(&self) -> String {
        fs::read_to_string(self.path("project/gpuenv.lock")).unwrap()
    }

    /// The version that answers, as every command sees it.
    #[track_caller]
    pub fn answers_with(&self, version: &str) {
        self.run(&["catalog"]).exits(0).tells(&format!("catalog {version}:"));
        let document: serde_json::Value =
            serde_json::from_str(&self.run(&["catalog", "update", "--format", "json"]).exits(0).out).unwrap();
        let used: Vec<_> =
            document["catalogs"].as_array().unwrap().iter().filter(|one| one["in_use"] == true).collect();
        assert_eq!(used.len(), 1, "{document}");
        assert_eq!(used[0]["version"], version);
    }
}

fn ran(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// What a program with this catalog built in locks.
fn lock_of(catalog: &Catalog, text: &str) -> String {
    let spec = spec::parse(text).unwrap();
    let rules = Problem::new(catalog);
    let (request, _) = Request::new(&spec, &rules).unwrap();
    let Renewed::Lock(lock, _) = renew(&spec, &request, None, &Upgrade::Nothing, &Steps::new(1_000_000)) else {
        panic!("there is an answer");
    };
    lock::to_text(&lock)
}

#[test]
fn an_old_program_with_a_newer_catalog_answers_like_a_new_one() {
    let site = Site::new("answers", SPEC);
    site.run(&["lock"]).exits(0);
    assert_eq!(site.lock(), lock_of(&BUILTIN, SPEC));
    let newer = newer(1);
    let file = site.packed(&newer);
    let told = site.run(&["catalog", "update", &file]).exits(0);
    told.says(&format!("Installed catalog {} (was {})", newer.version, BUILTIN.version)).says("gpuenv lock --upgrade");
    site.answers_with(&newer.version);
    site.run(&["--version"])
        .exits(0)
        .tells(&format!("(catalog {}, installed; {} is built in)", newer.version, BUILTIN.version));
    // What is locked stays, and what is made anew knows what is new.
    site.run(&["lock", "--check"]).exits(0);
    assert_eq!(site.lock(), lock_of(&BUILTIN, SPEC));
    site.run(&["lock", "--fresh"]).exits(0);
    assert_eq!(site.lock(), lock_of(&newer, SPEC));
    assert!(site.lock().contains("2.99.0"));
    // Rules and messages travel with it.
    site.run(&["explain", "test-rule"]).exits(0);
    site.run(&["diagnose", "the zorglub of this machine has exploded"]).exits(0).tells("test-message");
    // A second time changes nothing.
    let about = fs::metadata(site.installed(&newer.version)).unwrap().modified().unwrap();
    site.run(&["catalog", "update", &file]).exits(0).says("is in use already");
    assert_eq!(fs::metadata(site.installed(&newer.version)).unwrap().modified().unwrap(), about);
}

/// A change of a file's bytes, and what is said of it.
type Case = (&'static str, Vec<u8>, &'static str);

#[test]
fn whatever_is_wrong_with_a_file_leaves_everything_as_it_was() {
    let site = Site::new("refused", SPEC);
    let newer = newer(1);
    let good = packed::pack(&newer, packed::SMALL).unwrap();
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = good.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    let of = |catalog: Catalog| packed::pack(&catalog, packed::SMALL).unwrap();
    let mut broken = newer.clone();
    broken.drivers.to_mut()[0].date = Some("yesterday".into());
    let other_index = Catalog { gpu_index: "none".into(), ..newer.clone() };
    let half = good.len() / 2;
    let signed: Vec<Case> = vec![
        ("future", with(8, &(packed::READER.0 + 1).to_le_bytes()), "install a newer gpuenv"),
        ("past", with(8, &0u16.to_le_bytes()), "does not read any more"),
        ("checksum", with(half, &[!good[half]]), "does not match its checksum"),
        ("reader", of(Catalog { reader: ">=99".into(), ..newer.clone() }), "it requires gpuenv >=99"),
        ("older", of(Catalog { version: "2020.01.01".into(), ..newer.clone() }), "add `--rollback 2020.01.01`"),
        ("lint", of(broken), "`yesterday` is not a date"),
        ("index", of(other_index), "the index of GPU names"),
        ("short", good[..packed::HEADER + 10].to_vec(), "its end is missing"),
        ("text", b"[[driver]]\nversion = \"1\"\n".to_vec(), "it is not a catalog file"),
    ];
    for (name, bytes, says) in signed {
        let file = site.file(name, &bytes, &site.key);
        site.run(&["catalog", "update", &file]).exits(2).says(says).says("help: ");
    }
    let whole = fs::read(site.file("whole", &good, &site.key)).unwrap();
    let mut changed = whole.clone();
    changed[half] ^= 1;
    let plain: Vec<Case> = vec![
        ("empty", Vec::new(), "it is not a catalog file"),
        ("unsigned", good.clone(), "it is not signed"),
        ("changed", changed, "its content is not what was signed"),
        ("cut", whole[..whole.len() - 40].to_vec(), "its signature cannot be read"),
        ("half", whole[..half].to_vec(), "its end is missing"),
        ("followed", [&whole[..], b"\n# more\n"].concat(), "something follows its signature"),
        ("endless", [whole, vec![b'\n'; 9 << 20]].concat(), "its signature cannot be read"),
    ];
    for (name, bytes, says) in plain {
        let told = site.run(&["catalog", "update", &site.plain(name, &bytes)]).exits(2).says(says).says("help: ");
        told.says(&format!("catalog {} goes on answering", BUILTIN.version));
    }
    let stranger = KeyPair::generate_unencrypted_keypair().unwrap();
    let told = site.run(&["catalog", "update", &site.file("stranger", &good, &stranger)]).exits(2);
    told.says("signed with a key that this gpuenv does not know");
    site.run(&["catalog", "update", "no-such-file"]).exits(4).says("cannot be read");
    site.run(&["catalog", "update", "."]).exits(4).says("is a folder");
    assert!(!site.path("data").exists());
    site.answers_with(&BUILTIN.version);
}

#[test]
fn a_damaged_installed_catalog_is_told_and_the_built_in_one_answers() {
    let site = Site::new("damaged", SPEC);
    let newer = newer(1);
    site.run(&["catalog", "update", &site.packed(&newer)]).exits(0);
    let place = site.installed(&newer.version);
    let whole = fs::read(&place).unwrap();
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    let mut future = whole.clone();
    let format = packed::READER.0 + 1;
    future[8..10].copy_from_slice(&format.to_le_bytes());
    let other = packed::pack(&Catalog { version: later(2).into(), ..newer.clone() }, packed::SMALL).unwrap();
    for (bytes, says) in [
        (changed, "does not match its checksum"),
        (future, &*format!("has format {format}")),
        (whole[..1000].to_vec(), "its end is missing"),
        (Vec::new(), "cannot be used"),
        (other, "it holds catalog"),
    ] {
        fs::write(&place, bytes).unwrap();
        let told = site.run(&["lock", "--fresh"]).exits(0).says("catalog-unusable").says(says);
        told.says(&format!("The built-in catalog {} answers", BUILTIN.version));
        assert!(site.run(&["lock", "--format", "json"]).exits(0).out.contains("\"catalog-unusable\""));
        let annotated = site.run(&["lock", "--format", "github"]).exits(0).out;
        assert!(annotated.contains("::warning") && annotated.contains("catalog-unusable"), "{annotated}");
        assert_eq!(site.lock(), lock_of(&BUILTIN, SPEC));
        site.answers_with(&BUILTIN.version);
    }
    // One that is older and intact answers before the built-in one.
    let between = Catalog { version: later(1).into(), ..newer.clone() };
    let newest = Catalog { version: later(2).into(), ..newer.clone() };
    for one in [&between, &newest] {
        fs::write(site.installed(&one.version), packed::pack(one, packed::SMALL).unwrap()).unwrap();
    }
    fs::write(site.installed(&newest.version), &whole[..1000]).unwrap();
    let told = site.run(&["lock", "--fresh"]).exits(0).says("catalog-unusable");
    told.says(&format!("The installed catalog {} answers", between.version));
    site.answers_with(&between.version);
    // What is told to do helps.
    site.run(&["catalog", "update", "--rollback", "built-in"]).exits(0);
    assert!(!site.run(&["lock"]).exits(0).err.contains("catalog-unusable"));
    site.run(&["catalog", "update", &site.packed(&newer)]).exits(0);
    site.answers_with(&newer.version);
}

#[test]
fn the_catalog_of_somebody_else_is_checked_every_time() {
    let site = Site::new("foreign", SPEC);
    let newer = newer(1);
    site.run(&["catalog", "update", &site.packed(&newer)]).exits(0);
    let place = site.installed(&newer.version);
    if chown(&place, Some(65_534), None).is_err() {
        // Only root can give a file away.
        return;
    }
    site.answers_with(&newer.version);
    // Sound, but nobody has signed it.
    let other = packed::pack(&Catalog { digest: "cd".repeat(32).into(), ..newer.clone() }, packed::SMALL).unwrap();
    fs::write(&place, &other).unwrap();
    site.run(&["lock"]).exits(0).says("catalog-unusable").says("it is not your file, and it is not signed");
    site.answers_with(&BUILTIN.version);
    // Of one's own nothing is asked but that it is whole.
    chown(&place, Some(0), None).unwrap();
    site.answers_with(&newer.version);
}

#[test]
fn an_installed_catalog_that_is_older_than_the_built_in_one_is_not_asked() {
    let site = Site::new("outgrown", SPEC);
    let old = site.installed("2020.01.01");
    fs::create_dir_all(old.parent().unwrap()).unwrap();
    fs::write(&old, "whatever").unwrap();
    assert!(!site.run(&["lock"]).exits(0).err.contains("catalog-unusable"));
    site.answers_with(&BUILTIN.version);
}

#[test]
fn an_older_catalog_answers_only_when_it_is_named() {
    let site = Site::new("rollback", SPEC);
    let (first, second) = (newer(1), newer(2));
    site.run(&["catalog", "update", &site.packed(&first)]).exits(0);
    site.run(&["catalog", "update", &site.packed(&second)]).exits(0);
    site.answers_with(&second.version);
    let told = site.run(&["catalog", "update", &site.packed(&first)]).exits(2);
    told.says(&format!("add `--rollback {}`", first.version));
    site.answers_with(&second.version);
    site.run(&["catalog", "update", "--rollback", "2020.01.01"]).exits(2).says("is not installed").says(&first.version);
    site.run(&["catalog", "update", "--rollback", &first.version]).exits(0).says(&format!("was {}", second.version));
    site.answers_with(&first.version);
    assert!(!site.installed(&second.version).exists());
    // Nothing is removed for one that cannot answer.
    site.run(&["catalog", "update", &site.packed(&second)]).exits(0);
    let whole = fs::read(site.installed(&first.version)).unwrap();
    fs::write(site.installed(&first.version), &whole[..1000]).unwrap();
    let told = site.run(&["catalog", "update", "--rollback", &first.version]).exits(2);
    told.says("catalog-damaged").says("nothing was removed");
    site.answers_with(&second.version);
    fs::write(site.installed(&first.version), whole).unwrap();
    site.run(&["catalog", "update", "--rollback", &first.version]).exits(0);
    site.answers_with(&first.version);
    // With a file its version has to be named as well.
    site.run(&["catalog", "update", &site.packed(&second)]).exits(0);
    fs::remove_file(site.installed(&first.version)).unwrap();
    let file = site.packed(&first);
    site.run(&["catalog", "update", &file, "--rollback", &second.version]).exits(2).says("holds catalog");
    site.run(&["catalog", "update", &file, "--rollback", &first.version]).exits(0);
    site.answers_with(&first.version);
    // What an earlier gpuenv left behind is older than what is built in.
    fs::write(site.installed("2020.01.01"), "").unwrap();
    site.run(&["catalog", "update", "--rollback", "2020.01.01"])
        .exits(2)
        .says("cannot be removed")
        .says("the projects that name it (`version = \"2020.01.01\"` under [catalog])");
    site.answers_with(&first.version);
    site.run(&["catalog", "update", "--rollback", &BUILTIN.version]).exits(0);
    site.answers_with(&BUILTIN.version);
}

#[test]
fn a_project_says_which_catalogs_may_answer() {
    let newer = newer(1);
    let wants = |what: &str| format!("{SPEC}[catalog]\nversion = \"{what}\"\n");
    let site = Site::new("pinned", &wants(&format!(">={}", newer.version)));
    site.run(&["lock"]).exits(2).says("catalog-version").says("gpuenv catalog update FILE");
    site.run(&["catalog", "update", &site.packed(&newer)]).exits(0);
    site.run(&["lock"]).exits(0);
    // Of several the newest that is admitted, be it the built-in one: nothing needs to be removed for a project.
    let newest = self::newer(2);
    site.run(&["catalog", "update", &site.packed(&newest)]).exits(0);
    for (wanted, answers) in [
        (newer.version.to_string(), &newer.version),
        (format!("<{}", newer.version), &BUILTIN.version),
        (">2020".to_string(), &newest.version),
    ] {
        fs::write(site.path("project/gpuenv.toml"), wants(&wanted)).unwrap();
        site.run(&["lock", "--fresh"]).exits(0);
        site.answers_with(answers);
    }
    fs::write(site.path("project/gpuenv.toml"), wants("<2020")).unwrap();
    site.run(&["lock"]).exits(2).says("name in full one that is installed");
}

#[test]
fn a_lock_of_a_newer_catalog_is_kept_and_said_so() {
    let site = Site::new("newer-lock", SPEC);
    let newer = newer(1);
    site.run(&["catalog", "update", &site.packed(&newer)]).exits(0);
    site.run(&["lock"]).exits(0);
    let made = site.lock();
    site.run(&["catalog", "update", "--rollback", "built-in"]).exits(0);
    site.run(&["lock"]).exits(0).says("lock-newer-catalog").says("it was kept as it is");
    site.run(&["lock", "--check"]).exits(0).says("lock-newer-catalog");
    assert!(!site.run(&["export", "requirements"]).exits(0).err.contains("stale-lock"));
    site.run(&["lock", "--upgrade"]).exits(2).says("nothing was written").says("gpuenv lock --fresh");
    site.run(&["add", "torchvision"]).exits(2).says("nothing was written");
    fs::write(site.path("project/gpuenv.toml"), SPEC.replace("580", "590")).unwrap();
    site.run(&["lock", "--check"]).exits(1).says("target.a.driver");
    site.run(&["lock"]).exits(2).says("lock-newer-catalog");
    // What brings it up to date is no plain `gpuenv lock`, which would be refused.
    site.run(&["lock", "--check"]).exits(1).says("is at hand").says("install the newer catalog");
    assert_eq!(site.lock(), made);
    site.run(&["lock", "--fresh"]).exits(0);
    assert_eq!(site.lock(), lock_of(&BUILTIN, &SPEC.replace("580", "590")));
}

#[test]
fn two_updates_at_once_do_not_disturb_each_other() {
    let site = Site::new("two", SPEC);
    let (first, second) = (newer(1), newer(2));
    let files = [site.packed(&first), site.packed(&second), site.packed(&second)];
    let running: Vec<Child> =
        files.iter().map(|file| site.command(&["catalog", "update", file]).spawn().unwrap()).collect();
    for (child, at) in running.into_iter().zip(0..) {
        let ran = ran(child);
        // The older one may come too late.
        assert!(ran.code == 0 || (at == 0 && ran.err.contains("catalog-older")), "{ran:?}");
    }
    site.answers_with(&second.version);
    let names = fs::read_dir(site.path("data/gpuenv/catalogs")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| name.to_str().unwrap().ends_with(".catalog")));
}

#[test]
fn a_kill_leaves_the_old_catalog_or_the_new_one() {
    let site = Site::new("killed", SPEC);
    let newer = newer(1);
    let file = site.packed(&newer);
    for delay in 0..12 {
        let mut child = site.command(&["catalog", "update", &file]).spawn().unwrap();
        thread::sleep(Duration::from_millis(delay * 60));
        child.kill().unwrap();
        child.wait().unwrap();
        let told = site.run(&["catalog"]).exits(0);
        assert!(!told.err.contains("catalog-unusable"), "{told:?}");
    }
    // What one that was killed in the middle has left is swept by the next.
    let left = site.installed(&newer.version).with_file_name(format!(".{}.catalog.999999-0.tmp", newer.version));
    fs::create_dir_all(left.parent().unwrap()).unwrap();
    fs::write(&left, &fs::read(&file).unwrap()[..1000]).unwrap();
    let _ = fs::remove_file(site.installed(&newer.version));
    site.answers_with(&BUILTIN.version);
    site.run(&["catalog", "update", &file]).exits(0);
    assert!(!left.exists());
    site.answers_with(&newer.version);
}

/// A curl that writes down how it was called and hands out a file.
fn fake_curl(site: &Site, folder: &str, script: &str) -> String {
    let folder = site.path(folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("curl"), format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(folder.join("curl"), fs::Permissions::from_mode(0o755)).unwrap();
    folder.to_str().unwrap().to_string()
}

#[test]
fn a_catalog_is_fetched_from_https_alone_and_only_when_it_is_named() {
    let site = Site::new("fetched", SPEC);
    let newer = newer(1);
    let (file, log) = (site.packed(&newer), site.path("log"));
    let script = format!("echo \"$HTTPS_PROXY $@\" > {}; cat {file}", log.display());
    let path = format!("{}:/usr/bin:/bin", fake_curl(&site, "bin", &script));
    let update = |address: &str, path: &str| {
        let mut command = site.command(&["catalog", "update", address]);
        ran(command.env("PATH", path).env("HTTPS_PROXY", "http://proxy.example:3128").spawn().unwrap())
    };
    for address in ["http://example.org/c", "file:///etc/passwd", "ftp://example.org/c", "https://example.org/a b"] {
        update(address, &path).exits(2).says("is not an https:// address");
    }
    // Nothing but this very command fetches.
    for args in [&["lock"][..], &["catalog"], &["catalog", "update"], &["catalog", "update", &file]] {
        let mut command = site.command(args);
        ran(command.env("PATH", &path).spawn().unwrap()).exits(0);
    }
    assert!(!log.exists());
    site.run(&["catalog", "update", "--rollback", "built-in"]).exits(0);
    update("https://example.org/c", &path).exits(0).says("Installed catalog");
    let called = fs::read_to_string(&log).unwrap();
    for part in
        ["http://proxy.example:3128 --disable", "--proto =https --proto-redir =https", "-- https://example.org/c"]
    {
        assert!(called.contains(part), "{called}");
    }
    site.answers_with(&newer.version);
}

#[test]
fn a_fetch_that_fails_is_told_and_ends_soon() {
    let site = Site::new("offline", SPEC);
    let update = |path: &str| {
        ran(site.command(&["catalog", "update", "https://127.0.0.1:9/c"]).env("PATH", path).spawn().unwrap())
    };
    for (folder, script, says) in [
        ("refused", "echo 'curl: (7) Failed to connect' >&2; exit 7", "(7) Failed to connect"),
        ("silent", "exit 22", "curl ended with"),
        (
            "certificate",
            "printf '\\nWarning: x\\ncurl: (60) SSL certificate problem: self-signed certificate\\nMore details here\\nhow to fix it\\n' >&2; exit 60",
            "could not be fetched: (60) SSL certificate problem: self-signed certificate",
        ),
        ("unsigned", "printf 'no such thing\\nbye\\n' >&2; exit 2", "curl ended with no such thing"),
        ("endless", "cat /dev/zero", "it is larger than 8 MiB"),
        ("page", "echo '<html>'", "it is not a catalog file"),
    ] {
        let told = update(&format!("{}:/usr/bin:/bin", fake_curl(&site, folder, script))).says(says).says("help: ");
        assert_eq!(told.code, if folder == "page" { 2 } else { 4 }, "{told:?}");
    }
    update("/nonexistent").exits(4).says("there is no curl on the PATH");
    // A checkout's own is not run.
    let own = fake_curl(&site, "project/bin", "touch ../ran");
    update(&own).exits(4).says("there is no curl on the PATH");
    assert!(!site.path("ran").exists() && !site.path("data").exists());
}
