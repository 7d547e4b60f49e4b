//! A mount whose server is gone holds whoever asks it for ever: it costs its own time, and not more than was promised.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::sandbox::{Ran, Sandbox};
use crate::common::{fake, parallel};

const SPEC: &str = "[stack]\ntorch = \"2.5.1\"\n[target.a100]\ngpu = \"A100-SXM4-40GB\"\n";

/// What is promised of a look at a machine on which something hangs.
const PROMISED: Duration = Duration::from_secs(5);

/// How often a run that took longer is tried: another test may have held the machine, but not each time.
const TRIES: usize = 3;

/// Whatever asks for something below /dead waits for ever, and for a name that ends in DEAD_LINK, as a link to there does;
/// DEAD_FOLDER is where one stands.
const SOURCE: &str = r#"
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>

    static void meet(const char *path) {
      const char *here = getenv("DEAD_FOLDER"), *link = getenv("DEAD_LINK");
      const char *end = path && link ? strstr(path, link) : 0;
      while (end && !end[strlen(link)]) pause();
      while (path && (!strncmp(path, "/dead", 5) || (here && path[0] != '/' && path[0]))) pause();
    }
    #define REAL(name, type) ((type)dlsym(RTLD_NEXT, name))

    char *realpath(const char *path, char *out) {
      meet(path);
      return REAL("realpath", char *(*)(const char *, char *))(path, out);
    }
    int open64(const char *path, int flags, unsigned mode) {
      meet(path);
      return REAL("open64", int (*)(const char *, int, unsigned))(path, flags, mode);
    }
    int statx(int at, const char *path, int flags, unsigned mask, void *out) {
      meet(path);
      return REAL("statx", int (*)(int, const char *, int, unsigned, void *))(at, path, flags, mask, out);
    }
    void *opendir(const char *path) {
      meet(path);
      return REAL("opendir", void *(*)(const char *))(path);
    }
    ssize_t readlink(const char *path, char *out, size_t size) {
      meet(path);
      return REAL("readlink", ssize_t (*)(const char *, char *, size_t))(path, out, size);
    }
    char *getcwd(char *out, size_t size) {
      const char *here = getenv("DEAD_FOLDER");
      return here ? strncpy(out, here, size) : REAL("getcwd", char *(*)(char *, size_t))(out, size);
    }
"#;

/// A machine of which everything below /dead is gone.
struct Place {
    sandbox: Sandbox,
    preload: String,
}

impl Place {
    fn new(name: &str) -> Option<Place> {
        let preload = fake::library_of(name, SOURCE, "libdead.so")?;
        let sandbox = Sandbox::new(name, SPEC);
        sandbox.run(&["lock"]).exits(0);
        Some(Place { sandbox, preload: preload.to_str().unwrap().to_string() })
    }

    /// Runs it, and says how long that took.
    fn run(&self, args: &[&str], variables: &[(&str, &str)]) -> (Ran, Duration) {
        let always = [("COLUMNS", "400"), ("LD_PRELOAD", &self.preload)];
        let once = || {
            let began = Instant::now();
            let ran = self.sandbox.with(args, &[&always, variables].concat());
            (ran, began.elapsed())
        };
        let mut runs = (0..TRIES).map(|_| once()).skip_while(|(_, took)| *took >= PROMISED);
        runs.next().unwrap_or_else(once)
    }
}

fn probe<'d>(document: &'d Value, name: &str) -> &'d Value {
    document["probes"].as_array().unwrap().iter().find(|probe| probe["name"] == name).unwrap()
}

#[test]
fn a_folder_of_the_environment_is_left_out() {
    let Some(place) = Place::new("probe-dead-variable") else { return };
    for name in ["PATH", "CUDA_HOME", "VIRTUAL_ENV"] {
        let (ran, took) = place.run(&["probe", "--quick", "--format", "json"], &[(name, "/dead/x:/usr/bin:/bin")]);
        let told: Value = serde_json::from_str(&ran.exits(0).out).unwrap();
        assert!(took < PROMISED, "{name}: {took:?}");
        let folders = probe(&told, "folders");
        assert_eq!(folders["ended"], "timed-out", "{told:#}");
        assert!(folders["detail"].as_str().unwrap().starts_with("/dead/x, "), "{told:#}");
    }
}

/// An environment is made of links to an interpreter that lies elsewhere.
#[test]
fn an_environment_without_its_interpreter_is_left_out() {
    let Some(place) = Place::new("probe-dead-python") else { return };
    let environment = place.sandbox.path("venv");
    let environment = environment.to_str().unwrap();
    let (ran, took) =
        place.run(&["verify", "--quick"], &[("VIRTUAL_ENV", environment), ("DEAD_LINK", "venv/bin/python")]);
    assert!(took < PROMISED, "{took:?}");
    ran.exits(3).tells("folders timed out").tells("venv, which the environment names,");
}

/// gpuenv looks there for catalogs that were installed, and whether a folder is somebody's home.
#[test]
fn a_home_or_data_folder_is_done_without() {
    let Some(place) = Place::new("probe-dead-home") else { return };
    for name in ["HOME", "XDG_DATA_HOME"] {
        for args in [&["probe", "--quick"][..], &["verify", "--quick"], &["lock", "--check"]] {
            let (ran, took) = place.run(args, &[(name, "/dead/user")]);
            assert!(took < PROMISED, "{name} {args:?}: {took:?}");
            assert!([0, 3].contains(&ran.code), "{ran:?}");
            if name == "XDG_DATA_HOME" {
                ran.says("does not answer: catalogs that were installed there are not used");
            }
        }
    }
}

#[test]
fn what_was_named_or_stood_in_is_told() {
    let Some(place) = Place::new("probe-dead-named") else { return };
    let asks: [&[&str]; 6] = [
        &["verify", "--quick", "--lock", "/dead/gpuenv.lock"],
        &["verify", "--quick", "--lock=/dead/gpuenv.lock"],
        &["verify", "--quick", "--against", "/dead/x"],
        &["probe", "--quick", "--root", "/dead/x"],
        &["probe", "--quick", "-o", "/dead/x"],
        &["fleet", "job", "slurm", "--quick", "-o", "/dead/x"],
    ];
    parallel::waiting(&asks, |args| {
        let (ran, took) = place.run(args, &[]);
        assert!(took < PROMISED, "{args:?}: {took:?}");
        ran.exits(4).says("does not answer: the file system that it lies on hangs");
    });
    parallel::waiting(&["gpuenv.lock", "gpuenv.toml"], |name| {
        let (ran, took) = place.run(&["verify", "--quick"], &[("DEAD_LINK", name)]);
        assert!(took < PROMISED, "{name}: {took:?}");
        ran.exits(4).says(&format!("{name} does not answer: the file system that it lies on hangs"));
    });
    let (ran, took) = place.run(&["verify", "--quick"], &[("DEAD_FOLDER", "/dead/project")]);
    assert!(took < PROMISED, "{took:?}");
    ran.exits(4).says("the current folder does not answer").says("change to another folder");
}
