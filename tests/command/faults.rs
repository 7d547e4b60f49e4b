//! What becomes of files when a run is killed, when a disk is full or read-only, and when two run at once: each is the
//! old one or the new one, whole, and what a killed run leaves behind is swept by the next.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use crate::common::checkout::{Place, Ran};
use crate::common::parallel;
use crate::common::tracer::{self, Call, Then};

const SPEC: &str = "[stack]\ntorch = \"2.5.1\"\npython = \"3.11\"\n[target.prod]\ngpu = \"A100-PCIE-40GB\"\n";
const CONFLICT: &str = "[stack]\ntorch = \"1.12.1+cu102\"\n[target.prod]\ngpu = \"A100-PCIE-40GB\"\n";
const EXPORTS: &str = "[export]\nuv = \"pyproject.toml\"\nrequirements = \"requirements.txt\"\n";
const PYPROJECT: &str = "[project]\nname = \"theirs\"\nversion = \"1\"\n";

/// Files by name.
type Files = BTreeMap<String, String>;

/// A command that writes: its name, its arguments, and the files that it finds.
type Written<'f> = (&'static str, &'static [&'static str], &'f [(&'f str, &'f str)]);

/// A command that writes, and what it finds.
struct Case {
    name: &'static str,
    args: &'static [&'static str],
    /// The checkout before it.
    before: Files,
    /// The checkout after it.
    after: Files,
    /// Its system calls, counted from one: that which makes the first file, the last that renames one, and the last.
    first: usize,
    renamed: usize,
    last: usize,
}

fn files(place: &Place) -> Files {
    let entries = fs::read_dir(place.path("checkout")).unwrap().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    files.map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())).collect()
}

fn lay(place: &Place, wanted: &Files) {
    for name in files(place).keys() {
        place.remove(&format!("checkout/{name}"));
    }
    for (name, text) in wanted {
        place.write(&format!("checkout/{name}"), text);
    }
}

/// What a killed run may leave.
fn is_litter(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".tmp")
}

/// The commands that write. None: runs cannot be traced here.
fn cases(test: &str) -> Option<Vec<Case>> {
    let place = Place::with(&format!("{test}-lock"), SPEC);
    place.run(&["lock"]).exits(0);
    let lock = place.read("checkout/gpuenv.lock");
    let newer = SPEC.replace("2.5.1", "2.6.0");
    let with_exports = format!("{SPEC}{EXPORTS}");
    let written = "# This file was written by gpuenv\n";
    let commands: [Written; 6] = [
        ("lock", &["lock", "--fresh"], &[("gpuenv.toml", &newer), ("gpuenv.lock", &lock)]),
        ("first", &["lock"], &[("gpuenv.toml", SPEC)]),
        (
            "export",
            &["export"],
            &[
                ("gpuenv.toml", &with_exports),
                ("gpuenv.lock", &lock),
                ("pyproject.toml", PYPROJECT),
                ("requirements.txt", ""),
            ],
        ),
        ("init", &["init", "--force", "--gpu", "T4", "--torch", "2.5.1"], &[("gpuenv.toml", written)]),
        ("add", &["add", "torchvision"], &[("gpuenv.toml", SPEC), ("gpuenv.lock", &lock)]),
        ("fix", &["lock", "--apply-fix", "1"], &[("gpuenv.toml", CONFLICT), ("gpuenv.lock", &lock)]),
    ];
    let case = |(name, args, before): &Written| {
        let before: Files = before.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
        let place = Place::new(&format!("{test}-{name}"));
        lay(&place, &before);
        let (mut count, mut first, mut renamed) = (0, None, 0);
        let look = |call: &Call| {
            count += 1;
            if call.creates() && first.is_none() {
                first = Some(count);
            }
            if call.renames() {
                renamed = count;
            }
            Then::Go
        };
        match tracer::run(&mut place.command("checkout", args), look) {
            Ok(code) => assert_eq!(code, Some(0), "{name}"),
            Err(error) => {
                println!("skipped: runs cannot be traced here: {error}");
                return None;
            }
        }
        let first = first.unwrap_or_else(|| panic!("{name} makes no file"));
        assert!(renamed > first, "{name} renames nothing");
        let after = files(&place);
        assert!(before != after && !after.keys().any(|name| is_litter(name)), "{name}: {:?}", after.keys());
        Some(Case { name, args, before, after, first, renamed, last: count })
    };
    commands.iter().map(case).collect()
}

/// The number of a call as the case counts them. How often a busy machine lets a run wait before it makes its first file is
/// not always the same, so that they are counted from there.
#[derive(Default)]
struct Count {
    calls: usize,
    writes: bool,
}

impl Count {
    fn at(&mut self, call: &Call, case: &Case) -> usize {
        self.calls = match self.writes {
            true => self.calls + 1,
            false if call.creates() => case.first,
            false => (self.calls + 1).min(case.first - 1),
        };
        self.writes |= call.creates();
        self.calls
    }
}

/// Every file is what it was or what it was to become, and nothing else is there.
#[track_caller]
fn assert_whole(now: &Files, case: &Case, about: &str) {
    for name in case.before.keys() {
        assert!(now.contains_key(name), "{about}: {name} is gone");
    }
    for (name, text) in now.iter().filter(|(name, _)| !is_litter(name)) {
        let whole = [&case.before, &case.after].iter().any(|files| files.get(name) == Some(text));
        assert!(whole, "{about}: {name} is neither the old one nor the new one:\n{text}");
    }
}

#[test]
fn a_kill_at_any_point_leaves_whole_files_and_the_next_run_sweeps() {
    let Some(cases) = cases("killed") else { return };
    // Every call while files are written; with all cases, every call of the run.
    let range = |case: &Case| if parallel::full() { 1..=case.last } else { case.first..=case.renamed };
    let points: Vec<(&Case, usize)> =
        cases.iter().flat_map(|case| range(case).map(move |point| (case, point))).collect();
    let littered = parallel::each(&points, |(case, point)| {
        let about = format!("{} killed before call {point}", case.name);
        let place = Place::new(&format!("killed-{}-{point}", case.name));
        lay(&place, &case.before);
        let mut count = Count::default();
        let kill = |call: &Call| if count.at(call, case) == *point { Then::Kill } else { Then::Go };
        let code = tracer::run(&mut place.command("checkout", case.args), kill).unwrap();
        // Before its first file and behind its last a run may make fewer calls than the one that was counted.
        assert!(code.is_none() || !(case.first..=case.renamed).contains(point), "{about}: {code:?}");
        let now = files(&place);
        assert_whole(&now, case, &about);
        // The run after it: the same once more, or for an edit that was half done, a lock.
        let again = Ran::of(&mut place.command("checkout", case.args));
        if again.code != 0 {
            place.run(&["lock"]).exits(0);
        }
        assert_eq!(files(&place), case.after, "{about}: {again:?}");
        usize::from(now.keys().any(|name| is_litter(name)))
    });
    assert!(littered.iter().sum::<usize>() > 0, "no kill was near enough to leave anything");
    println!("{} kills, {} of them left litter", points.len(), littered.iter().sum::<usize>());
    assert!(!parallel::full() || points.len() >= 200, "{} kills", points.len());
}

/// Calls for memory, threads and signals say nothing of files when they fail; closing a folder does not fail.
fn is_of_files(call: &Call) -> bool {
    let others = [
        libc::SYS_close,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_brk,
        libc::SYS_madvise,
        libc::SYS_mprotect,
        libc::SYS_futex,
        libc::SYS_clone3,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigaction,
        libc::SYS_sigaltstack,
        libc::SYS_exit_group,
    ];
    !others.contains(&call.number)
}

/// A disk that is full, a network file system without locks, a folder that cannot be listed: whatever fails, once.
#[test]
fn a_call_that_fails_costs_no_file_and_leaves_no_litter() {
    if !tracer::can_fail() {
        println!("skipped: calls cannot be made to fail on this processor");
        return;
    }
    let Some(cases) = cases("failing") else { return };
    let points: Vec<(&Case, usize)> =
        cases.iter().flat_map(|case| (case.first..=case.renamed).map(move |point| (case, point))).collect();
    let told = parallel::each(&points, |(case, point)| {
        let place = Place::new(&format!("failing-{}-{point}", case.name));
        lay(&place, &case.before);
        let (mut count, mut failed) = (Count::default(), None);
        let fail = |call: &Call| {
            if count.at(call, case) == *point && is_of_files(call) {
                failed = Some(call.number);
                return Then::Fail(if call.number == libc::SYS_flock { libc::ENOLCK } else { libc::ENOSPC });
            }
            Then::Go
        };
        let code = tracer::run(&mut place.command("checkout", case.args), fail).unwrap();
        let Some(failed) = failed else { return false };
        let about = format!("{}: call {point}, of number {failed}, fails", case.name);
        let now = files(&place);
        assert_whole(&now, case, &about);
        assert!(!now.keys().any(|name| is_litter(name)), "{about}: {:?}", now.keys());
        match code {
            Some(0) => assert_eq!(now, case.after, "{about}"),
            Some(4) => assert!(case.name == "export" || now == case.before, "{about}: half of it was done"),
            other => panic!("{about}: {other:?}"),
        }
        code == Some(4)
    });
    assert!(told.contains(&true), "nothing that failed was told");
}

/// A limit on the size of files ends a run by a signal, unless whoever started it ignores that one, as Python does.
#[test]
fn a_limit_on_the_size_of_files_leaves_the_old_lock() {
    let place = Place::with("fsize", SPEC);
    place.run(&["lock"]).exits(0);
    let old = files(&place);
    place.write("checkout/gpuenv.toml", &SPEC.replace("2.5.1", "2.6.0"));
    let limited = |is_ignored: bool| {
        let mut command = place.command("checkout", &["lock"]);
        // SAFETY: two system calls, which the child may make between fork and exec.
        unsafe {
            command.pre_exec(move || {
                let limit = libc::rlimit { rlim_cur: 1000, rlim_max: 1000 };
                libc::setrlimit(libc::RLIMIT_FSIZE, &limit);
                libc::signal(libc::SIGXFSZ, if is_ignored { libc::SIG_IGN } else { libc::SIG_DFL });
                Ok(())
            });
        }
        let ran = Ran::of(&mut command);
        assert_eq!(place.read("checkout/gpuenv.lock"), old["gpuenv.lock"], "{ran:?}");
        ran
    };
    assert_eq!(limited(false).code, -1, "it ends by a signal");
    limited(true).exits(4).says("gpuenv.lock cannot be written: File too large");
    assert!(!files(&place).keys().any(|name| is_litter(name)), "what the signal left is swept");
    place.run(&["lock"]).exits(0);
}

/// A small file system of its own that is gone after the test. None: only root may mount one, and not everywhere.
struct Small(std::path::PathBuf);

impl Small {
    fn mount(place: &Place) -> Option<Small> {
        let at = place.path("checkout");
        let options = ["-t", "tmpfs", "-o", "size=64k", "tmpfs"];
        let ran = Command::new("mount").args(options).arg(&at).stderr(Stdio::null()).status();
        if ran.is_ok_and(|status| status.success()) {
            return Some(Small(at));
        }
        println!("skipped: no file system can be mounted here");
        None
    }

    fn read_only(&self) {
        let ran = Command::new("mount").args(["-o", "remount,ro"]).arg(&self.0).status().unwrap();
        assert!(ran.success());
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// As much as fits.
fn fill(path: &Path) {
    use std::io::Write;
    let mut file = fs::File::create(path).unwrap();
    while file.write_all(&[b' '; 1024]).is_ok() {}
}

#[test]
fn a_full_disk_and_a_read_only_one_leave_what_was_there() {
    let place = Place::new("small");
    let Some(small) = Small::mount(&place) else { return };
    place.write("checkout/gpuenv.toml", &format!("{SPEC}{EXPORTS}"));
    place.run(&["lock"]).exits(0);
    place.write("checkout/gpuenv.toml", &format!("{}{EXPORTS}", SPEC.replace("2.5.1", "2.6.0")));
    fill(&place.path("checkout/filler"));
    let full = files(&place);
    let commands: [&[&str]; 4] =
        [&["lock"], &["add", "torchvision"], &["export", "uv", "-o", "x.toml"], &["init", "--force", "--gpu", "T4"]];
    for args in commands {
        place.run(args).exits(4).says("cannot be written: No space left on device");
        assert_eq!(files(&place), full, "{args:?}");
    }
    place.remove("checkout/filler");
    let whole = files(&place);
    small.read_only();
    for args in commands {
        place.run(args).exits(4).says("cannot be written: Read-only file system");
        assert_eq!(files(&place), whole, "{args:?}");
    }
    place.run(&["export", "env"]).exits(0);
    place.run(&["lock", "--check"]).exits(1);
}

/// Who may write into a folder may put another file in the place of one: it stays whose it was, and one that is marked
/// read-only stays as it is.
#[test]
fn a_file_keeps_its_owner_and_is_not_replaced_against_its_mode() {
    let place = Place::with("owner", SPEC);
    place.run(&["lock"]).exits(0);
    let lock = place.path("checkout/gpuenv.lock");
    // Only root can give a file away.
    let is_given = chown(&lock, Some(65_534), Some(65_533)).is_ok();
    place.write("checkout/gpuenv.toml", &SPEC.replace("2.5.1", "2.6.0"));
    place.run(&["lock"]).exits(0);
    let about = fs::metadata(&lock).unwrap();
    assert!(!is_given || (about.uid(), about.gid()) == (65_534, 65_533), "{about:?}");
    fs::set_permissions(&lock, fs::Permissions::from_mode(0o444)).unwrap();
    place.run(&["lock"]).exits(0);
    place.write("checkout/gpuenv.toml", SPEC);
    place.run(&["lock"]).exits(4).says("gpuenv.lock cannot be written: it is marked read-only").says("chmod u+w");
    place.run(&["lock", "--check"]).exits(1);
}

/// `docker run -v "$PWD/gpuenv.lock:/work/gpuenv.lock"`
#[test]
fn a_file_that_is_a_mount_point_is_told_as_such() {
    let place = Place::with("mounted", SPEC);
    place.run(&["lock"]).exits(0);
    place.write("beside.lock", &place.read("checkout/gpuenv.lock"));
    place.write("checkout/gpuenv.toml", &SPEC.replace("2.5.1", "2.6.0"));
    let lock = place.path("checkout/gpuenv.lock");
    let bind = |args: &[&OsStr]| Command::new(args[0]).args(&args[1..]).output().is_ok_and(|ran| ran.status.success());
    // Only root can mount.
    let beside = place.path("beside.lock");
    if !bind(&["mount".as_ref(), "--bind".as_ref(), beside.as_ref(), lock.as_ref()]) {
        return;
    }
    let ran = place.run(&["lock"]);
    assert!(bind(&["umount".as_ref(), lock.as_ref()]));
    ran.exits(4).says("it is a mount point").says("mount the folder that it lies in");
}

#[test]
fn edits_and_exports_at_once_leave_whole_files() {
    let place = Place::with("at-once", &format!("{SPEC}{EXPORTS}"));
    place.run(&["lock"]).exits(0);
    let commands: [&[&str]; 4] = [&["add", "torchvision"], &["add", "xformers"], &["export"], &["lock", "--fresh"]];
    for _ in 0..3 {
        thread::scope(|scope| {
            let place = &place;
            for args in commands {
                scope.spawn(move || {
                    let ran = Ran::of(&mut place.command("checkout", args));
                    assert!(
                        ran.code == 0
                            || ran.err.contains("changed by somebody else")
                            || ran.err.contains("out of date"),
                        "{args:?} {ran:?}"
                    );
                });
            }
        });
        place.run(&["lock"]).exits(0);
        place.run(&["export"]).exits(0);
        assert_eq!(
            files(&place).into_keys().collect::<Vec<_>>(),
            ["gpuenv.lock", "gpuenv.toml", "pyproject.toml", "requirements.txt"]
        );
    }
}

/// Three that add a package each, and a fourth that locks.
#[test]
fn edits_at_once_are_all_kept() {
    for round in 0..6 {
        let place = Place::with(&format!("turns-{round}"), SPEC);
        place.run(&["lock"]).exits(0);
        let commands: [&[&str]; 4] = [
            &["add", "torchvision"],
            &["add", "torchaudio"],
            &["lock"],
            &["target", "add", "lab", "--gpu", "A100-PCIE-40GB"],
        ];
        thread::scope(|scope| {
            let place = &place;
            for args in commands {
                scope.spawn(move || Ran::of(&mut place.command("checkout", args)).exits(0));
            }
        });
        let spec = place.read("checkout/gpuenv.toml");
        assert!(["torchvision", "torchaudio", "[target.lab]"].iter().all(|one| spec.contains(one)), "{spec}");
        place.run(&["lock", "--check"]).exits(0);
        assert_eq!(files(&place).into_keys().collect::<Vec<_>>(), ["gpuenv.lock", "gpuenv.toml"]);
    }
}

/// Whoever holds the folder is waited for, up to a bound; whoever only reads does not wait.
#[test]
fn a_project_that_is_held_is_not_edited_and_nobody_waits_for_ever() {
    let place = Place::with("held", SPEC);
    place.run(&["lock"]).exits(0);
    let before = files(&place);
    let holder = fs::File::open(place.path("checkout")).unwrap();
    holder.lock().unwrap();
    for args in [&["lock", "--check"][..], &["export", "env"], &["add", "torchvision", "--dry-run"], &["explain"]] {
        place.run(args).exits(0);
    }
    if tracer::can_fail() {
        for args in [&["add", "torchvision"][..], &["lock"], &["init", "--force", "--gpu", "T4"]] {
            let mut pauses = 0;
            // No pause takes time.
            let hurry = |call: &Call| {
                let is_pause = [libc::SYS_nanosleep, libc::SYS_clock_nanosleep].contains(&call.number);
                pauses += usize::from(is_pause);
                if is_pause { Then::Fail(0) } else { Then::Go }
            };
            match tracer::run(&mut place.command("checkout", args), hurry) {
                Ok(code) => assert_eq!((code, pauses), (Some(4), 2400), "{args:?}"),
                Err(error) => println!("skipped: runs cannot be traced here: {error}"),
            }
            assert_eq!(files(&place), before, "{args:?}");
        }
    }
    // `flock . gpuenv add torchvision`: who holds it has started the run.
    let handed_on = holder.as_raw_fd();
    let mut command = place.command("checkout", &["add", "torchvision"]);
    // SAFETY: one system call, which the child may make between fork and exec.
    unsafe {
        command.pre_exec(move || match libc::fcntl(handed_on, libc::F_SETFD, 0) {
            -1 => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        });
    }
    Ran::of(&mut command).exits(0);
    drop(holder);
    place.run(&["add", "torchaudio"]).exits(0);
}

/// Some network file systems know no locks; the comparison is left there.
#[test]
fn where_nothing_can_be_locked_edits_go_on() {
    if !tracer::can_fail() {
        println!("skipped: calls cannot be made to fail on this processor");
        return;
    }
    let place = Place::with("lockless", SPEC);
    for args in [&["lock"][..], &["add", "torchvision"], &["init", "--force", "--gpu", "T4", "--torch", "2.5.1"]] {
        let refuse = |call: &Call| match call.number == libc::SYS_flock {
            true => Then::Fail(libc::EBADF),
            false => Then::Go,
        };
        match tracer::run(&mut place.command("checkout", args), refuse) {
            Ok(code) => assert_eq!(code, Some(0), "{args:?}"),
            Err(error) => println!("skipped: runs cannot be traced here: {error}"),
        }
    }
}
