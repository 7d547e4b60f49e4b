//! `gpuenv fleet`: many hosts in one answer, from every kind of source, in every format; the jobs that gather them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Instant;

use gpuenv::report::schema;
use serde_json::{Value, json};

use crate::common::judge::{healthy, with};
use crate::common::sandbox::Sandbox;
use crate::common::{tools, validate};

const SPEC: &str = "[stack]\ntorch = \"2.5.1\"\npython = \"3.11\"\n[target.h100]\ngpu = \"H100 NVL\"\n[target.a100]\ngpu = \"A100-SXM4-80GB\"\n[target.ci]\ngpu = \"none\"\n[resolve]\nshare = \"versions\"\n";

fn sandbox(name: &str) -> Sandbox {
    let sandbox = Sandbox::new(name, SPEC);
    sandbox.run(&["lock"]).exits(0);
    sandbox
}

fn old() -> Value {
    with(&[("/nvml/driver", json!("470.57.02")), ("/module/version", json!("470.57.02"))])
}

fn named(name: &str, record: &Value) -> String {
    json!({ "host": name, "record": record }).to_string()
}

#[track_caller]
fn fits(name: &str, document: &Value) {
    let known: Value = serde_json::from_str(&schema::find(name).unwrap().text()).unwrap();
    let wrong = validate::errors(&known, document);
    assert!(wrong.is_empty(), "{wrong:#?}\n{document:#}");
}

#[test]
fn hosts_that_do_not_pass_are_annotated() {
    let sandbox = sandbox("fleet-github");
    let lines = format!("{}\n{}\n{}\n", named("good", &healthy()), named("old", &old()), named("odd", &json!("x")));
    fs::write(sandbox.path("hosts.ndjson"), lines).unwrap();
    let ran = sandbox.run(&["fleet", "check", "hosts.ndjson", "--format", "github"]).exits(1);
    let told: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(told.len(), 2, "{}", ran.out);
    assert!(told[0].starts_with("::error title=driver-") && told[0].contains("::old: "), "{}", told[0]);
    assert!(told[1].starts_with("::warning title=") && told[1].contains("::odd"), "{}", told[1]);
}

/// What `srun -l gpuenv probe --format ndjson` prints, and a list of records as `jq -s` makes it.
#[test]
fn labelled_lines_and_lists_of_records_are_read() {
    let sandbox = sandbox("fleet-labelled");
    let pretty = serde_json::to_string_pretty(&healthy()).unwrap().replace('\n', "\n2: ");
    let labelled = format!(
        "0: {}\n2: {pretty}\n1: {}\nsrun: error: node9: task 3: Exited with exit code 1\n",
        healthy(),
        named("node1", &old())
    );
    fs::write(sandbox.path("srun.txt"), labelled).unwrap();
    let list = json!([{ "host": "a", "record": healthy() }, { "host": "b", "record": old() }, 7, healthy()]);
    fs::write(sandbox.path("list.json"), list.to_string()).unwrap();
    fs::write(sandbox.path("pretty.json"), serde_json::to_string_pretty(&list).unwrap()).unwrap();
    let told = |source: &str| -> Vec<(String, String)> {
        let ran = sandbox.run(&["fleet", "check", source, "--format", "csv"]).exits(1);
        let part = |line: &str, at: usize| line.split(',').nth(at).unwrap().to_string();
        ran.out.lines().skip(1).map(|line| (part(line, 0), part(line, 1))).collect()
    };
    let of = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        all.iter().map(|(host, status)| (host.to_string(), status.to_string())).collect()
    };
    let wanted = [("0", "pass"), ("2", "pass"), ("node1", "fail"), ("node9", "unknown")];
    assert_eq!(told("srun.txt"), of(&wanted));
    // As PowerShell writes what it redirects.
    let utf16: Vec<u8> = format!("\u{feff}{}\r\n{}\r\n", named("a", &healthy()), named("b", &old()))
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    fs::write(sandbox.path("windows.txt"), utf16).unwrap();
    assert_eq!(told("windows.txt"), of(&[("a", "pass"), ("b", "fail")]));
    let elements = [("a", "pass"), ("b", "fail"), ("list:1", "unknown"), ("list:1", "pass")];
    assert_eq!(told("list.json"), of(&elements));
    let hosts: Vec<String> = told("pretty.json").into_iter().map(|(_, status)| status).collect();
    assert_eq!(hosts, ["pass", "fail", "unknown", "pass"]);
}

/// The kinds of sources, mixed in one run.
#[test]
fn hosts_of_every_source_are_judged_together() {
    let sandbox = sandbox("fleet-sources");
    fs::create_dir_all(sandbox.path("racks/b")).unwrap();
    fs::write(sandbox.path("racks/node1.json"), serde_json::to_string_pretty(&healthy()).unwrap()).unwrap();
    fs::write(sandbox.path("racks/b/node2.json"), old().to_string()).unwrap();
    fs::write(sandbox.path("racks/.hidden"), "no host").unwrap();
    let lines =
        [named("node3", &healthy()), named("node4", &old()), "{\"broken\": ".to_string(), healthy().to_string()];
    fs::write(sandbox.path("more.ndjson"), lines.join("\n")).unwrap();
    let labels = |product: &str, driver: &str| {
        json!({ "nvidia.com/gpu.product": product, "nvidia.com/gpu.count": "2", "nvidia.com/gpu.compute.major": "8",
                "nvidia.com/gpu.compute.minor": "0", "nvidia.com/cuda.driver-version.full": driver, "kubernetes.io/arch": "amd64" })
    };
    let node = |name: &str, labels: Value| json!({ "kind": "Node", "metadata": { "name": name, "labels": labels } });
    let list = json!({ "apiVersion": "v1", "items": [node("kube1", labels("NVIDIA-A100-SXM4-80GB", "550.54.15")),
        node("kube2", labels("NVIDIA-A100-SXM4-80GB-SHARED", "418.40.04"))], "kind": "List" });
    fs::write(sandbox.path("nodes.json"), serde_json::to_string_pretty(&list).unwrap()).unwrap();
    let csv = "gpu7: name, driver_version, compute_cap\ngpu7: NVIDIA A100-SXM4-80GB, 550.54.15, 8.0\n\
               gpu8: name, driver_version, compute_cap\ngpu8: NVIDIA A100-SXM4-80GB, 418.40.04, 8.0\n";
    fs::write(sandbox.path("pdsh.txt"), csv).unwrap();
    let args = ["fleet", "check", "racks", "more.ndjson", "nodes.json", "pdsh.txt"];
    let ran = sandbox.run(&[&args[..], &["--format", "ndjson"]].concat()).exits(1);
    let told: Vec<(String, String, String)> = ran
        .out
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            fits("fleet-host", &line);
            let text = |name: &str| line[name].as_str().unwrap_or("-").to_string();
            (text("host"), text("status"), text("target"))
        })
        .collect();
    let expected = [
        ("node2", "fail", "h100"),
        ("node1", "pass", "h100"),
        ("node3", "pass", "h100"),
        ("node4", "fail", "h100"),
        ("more:3", "unknown", "-"),
        ("more:4", "pass", "h100"),
        ("kube1", "pass", "a100"),
        ("kube2", "fail", "a100"),
        ("gpu7", "pass", "a100"),
        ("gpu8", "fail", "a100"),
    ];
    let told: Vec<(&str, &str, &str)> = told.iter().map(|(a, b, c)| (a.as_str(), b.as_str(), c.as_str())).collect();
    assert_eq!(told, expected);
}

#[test]
fn hosts_are_grouped_by_cause_and_remedy() {
    let sandbox = sandbox("fleet-groups");
    let mut lines: Vec<String> = (0..30).map(|at| named(&format!("new{at}"), &healthy())).collect();
    lines.extend((0..20).map(|at| named(&format!("old{at}"), &old())));
    fs::write(sandbox.path("all.ndjson"), lines.join("\n") + "\n").unwrap();
    let (code, told) = sandbox.json(&["fleet", "check", "all.ndjson"]);
    fits("fleet", &told);
    assert_eq!((code, &told["status"], &told["hosts"]), (1, &json!("fail"), &json!(50)));
    assert_eq!(told["counts"], json!({ "fail": 20, "pass": 30, "unknown": 0 }));
    let first = &told["groups"][0];
    assert_eq!((&first["count"], &first["status"]), (&json!(20), &json!("fail")));
    assert!(first["causes"][0]["hint"].as_str().unwrap().contains("driver"), "{first:#}");
    assert_eq!(told["drivers"]["470.57.02"], json!(20));
    let human = sandbox.run(&["fleet", "check", "all.ndjson"]).exits(1);
    let human =
        human.tells("20 hosts: driver-m").tells("old0, old1").tells("and 15 more").tells("FAIL: 20 of 50 hosts");
    assert!(human.out.lines().count() < 30, "{}", human.out);
    sandbox.run(&["fleet", "check", "all.ndjson", "-v"]).exits(1).tells("old19");
    let csv = sandbox.run(&["fleet", "check", "all.ndjson", "--format", "csv"]).exits(1).out;
    assert_eq!((csv.lines().count(), csv.lines().next()), (51, Some("host,status,target,check,found,action,do")));
    let page = sandbox.run(&["fleet", "check", "all.ndjson", "--format", "html"]).exits(1).out;
    assert!(page.starts_with("<!doctype html>") && page.contains("<svg") && page.contains("470.57.02"));
    assert!(
        !page.contains("http://") && !page.contains("https://") && !page.contains("<script"),
        "it needs no network"
    );
    sandbox.run(&["fleet", "check", "all.ndjson", "--format", "html", "-o", "fleet.html"]).exits(1).says("");
    assert!(fs::read_to_string(sandbox.path("fleet.html")).unwrap().starts_with(&page));
    sandbox.run(&["lock", "--format", "csv"]).exits(2).says("no `--format csv`");
}

#[test]
fn the_exit_code_says_how_the_worst_host_ended() {
    let sandbox = sandbox("fleet-exits");
    let write = |text: &str| fs::write(sandbox.path("h.ndjson"), text).unwrap();
    let check = |args: &[&str], code: i32| sandbox.run(&[&["fleet", "check", "h.ndjson"], args].concat()).exits(code);
    write(&named("a", &healthy()));
    check(&[], 0).tells("PASS: the host can run the lock");
    write(&format!("{}\nnot a record\n", named("a", &healthy())));
    check(&[], 3).tells("UNKNOWN");
    write(&format!("{}\n{{\n{}\n", named("a", &healthy()), named("b", &old())));
    check(&[], 1).tells("FAIL");
    for nothing in
        ["\n\n", "{\"kind\":\"List\",\"items\":[]}", "{\"apiVersion\":\"v1\",\"items\":[],\"kind\":\"List\"}"]
    {
        write(nothing);
        check(&[], 2).says("no host");
    }
    sandbox.run(&["fleet", "check", "nowhere.ndjson"]).exits(4);
    sandbox.run(&["fleet", "check", "h.ndjson", "--target", "x"]).exits(2);
    // What a shell said before the first record costs nothing more than itself.
    write(&format!("bash: gpuenv: command not found\n{}\n{}\n", named("a", &healthy()), named("b", &old())));
    let told = check(&["--format", "csv"], 1).out;
    assert!(told.contains("\na,pass,h100") && told.contains("\nb,fail,h100") && told.contains("h:1,unknown"), "{told}");
    // A dead driver is not hidden behind the target for the CPU, unless that is what is asked.
    let dead = json!({ "format": 1, "platform": { "arch": "x86_64" }, "pci": [{ "address": "0000:65:00.0" }] });
    write(&named("dead", &dead));
    check(&[], 1);
    let (_, told) = sandbox.json(&["fleet", "check", "h.ndjson", "--target", "ci"]);
    assert_eq!(told["groups"][0]["target"], json!("ci"));
    sandbox.run(&["fleet", "check", "h.ndjson", "--against", "gpuenv.toml"]).exits(1).says("");
    // A lock that is out of date judges, and says so.
    sandbox.write(&SPEC.replace("3.11", "3.12"));
    write(&named("a", &healthy()));
    check(&[], 0).says("out of date").says("gpuenv lock");
}

/// What one host is told alone it is told in a fleet, whatever its neighbours are.
#[test]
fn a_host_is_judged_in_a_fleet_as_by_itself() {
    let sandbox = sandbox("fleet-alike");
    let changes: [(&str, Value); 7] = [
        ("/environment/CUDA_VISIBLE_DEVICES", json!("GPU-00000000-0000-0000-0000-000000000001")),
        ("/nvml/driver", json!("470.57.02")),
        ("/libcuda/fault", json!({ "at": "cuInit", "code": 999 })),
        ("/nvml/gpus/0/fault", json!({ "at": "nvmlDeviceGetMemoryInfo", "code": 15 })),
        ("/nvml/gpus/0/memory_used", json!(99_000_000_000_u64)),
        ("/platform/arch", json!("aarch64")),
        ("/python/packages/torch", json!("2.4.1+cu124")),
    ];
    let hosts: Vec<Value> =
        std::iter::once(healthy()).chain(changes.iter().map(|change| with(std::slice::from_ref(change)))).collect();
    let lines: Vec<String> = hosts.iter().enumerate().map(|(at, host)| named(&format!("h{at}"), host)).collect();
    fs::write(sandbox.path("all.ndjson"), lines.join("\n")).unwrap();
    let ran = sandbox.run(&["fleet", "check", "all.ndjson", "--format", "ndjson"]);
    for (line, host) in ran.out.lines().zip(&hosts) {
        fs::write(sandbox.path("one.json"), host.to_string()).unwrap();
        let (line, one) =
            (serde_json::from_str::<Value>(line).unwrap(), sandbox.json(&["verify", "--host", "one.json"]).1);
        assert_eq!((&line["status"], &line["target"]), (&one["status"], &one["target"]), "{line:#}");
        let failed = one["checks"]
            .as_array()
            .unwrap()
            .iter()
            .find(|check| check["status"] == one["status"] && one["status"] != "pass");
        assert_eq!(line["causes"][0]["check"], failed.map_or(Value::Null, |check| check["id"].clone()));
    }
}

/// Nothing hostile of a source reaches a terminal, a spreadsheet or a page.
#[test]
fn names_of_hosts_are_made_harmless() {
    let sandbox = sandbox("fleet-hostile");
    let evil = "=cmd|' /C calc'!A0\u{1b}[31m<script>";
    fs::write(sandbox.path("h.ndjson"), named(evil, &old())).unwrap();
    for format in ["human", "csv", "html", "json", "ndjson"] {
        let out = sandbox.run(&["fleet", "check", "h.ndjson", "--format", format]).exits(1).out;
        assert!(!out.contains('\u{1b}') && (format != "html" || !out.contains("<script>")), "{format}: {out}");
        assert!(format != "csv" || !out.contains("\n="), "{out}");
    }
}

/// Time grows with the hosts, not with their square: what is alike is judged once.
#[test]
fn twenty_thousand_hosts_are_soon_judged() {
    let sandbox = sandbox("fleet-many");
    let drivers = ["550.54.15", "535.104.05", "470.57.02"];
    let mut text = String::new();
    for at in 0..20_000 {
        let changes = [("/nvml/driver", json!(drivers[at % 3])), ("/nvml/gpus/0/uuid", json!(format!("GPU-{at:08x}")))];
        if at < 300 {
            text += &(named(&format!("n{at}"), &with(&changes)) + "\n");
        }
    }
    let block = text.clone();
    for _ in 1..20_000 / 300 {
        text += &block;
    }
    fs::write(sandbox.path("h.ndjson"), &text).unwrap();
    let began = Instant::now();
    let (_, told) = sandbox.json(&["fleet", "check", "h.ndjson"]);
    println!("{} hosts, {} bytes took {:?}", told["hosts"], text.len(), began.elapsed());
    assert!(told["hosts"].as_u64().unwrap() > 19_000 && told["groups"].as_array().unwrap().len() <= 6);
    assert!(began.elapsed().as_secs() < 60);
}

/// A file that nobody wrote into, or a link that leads nowhere, is a host of which nothing is known.
#[test]
fn a_record_that_is_not_there_does_not_lose_its_host() {
    let sandbox = sandbox("fleet-empty");
    fs::create_dir_all(sandbox.path("hosts")).unwrap();
    let put = |name: &str, text: &str| fs::write(sandbox.path(name), text).unwrap();
    put("hosts/good.json", &healthy().to_string());
    put("hosts/node8.json", "");
    put("hosts/node9.json", " \n\n");
    put("rack.json", &old().to_string());
    for (name, to) in [("again", "good.json"), ("rack", "../rack.json"), ("lost", "nowhere"), ("up", "..")] {
        std::os::unix::fs::symlink(to, sandbox.path(&format!("hosts/{name}"))).unwrap();
    }
    let told = |args: &[&str], code: i32| -> Vec<String> {
        let ran = sandbox.run(&[&["fleet", "check", "--format", "csv"], args].concat()).exits(code);
        ran.out.lines().skip(1).map(|line| line.split(',').take(2).collect::<Vec<_>>().join(" ")).collect()
    };
    let all = ["good pass", "lost unknown", "node8 unknown", "node9 unknown", "rack fail", "up unknown"];
    assert_eq!(told(&["hosts"], 1), all);
    assert_eq!(told(&["hosts/good.json", "hosts/node8.json"], 3), ["good pass", "node8 unknown"]);
    // Nor does a source with no host in it.
    fs::create_dir_all(sandbox.path("none/.git")).unwrap();
    put("none.json", "{\"kind\": \"List\", \"items\": []}");
    put("list.json", "[]");
    for source in ["none.json", "list.json", "none", "-"] {
        let name = if source == "-" { "stdin" } else { source };
        assert_eq!(told(&["hosts/good.json", source], 3), ["good pass", &format!("{name} unknown")]);
        sandbox.run(&["fleet", "check", source]).exits(2).says("the sources hold no host");
        sandbox.run(&["fleet", "plan", "hosts/good.json", source, "--target", "h100"]).exits(3);
    }
    // What is named twice is read once, and what is left out of a folder is told.
    assert_eq!(told(&["hosts/good.json", "hosts/good.json"], 0), ["good pass"]);
    put("none/.h.json", &healthy().to_string());
    let ran = sandbox.run(&["fleet", "check", "hosts/good.json", "none"]).exits(3);
    ran.says("note: not read in the folders: none/.git (hidden), none/.h.json (hidden)");
    sandbox.run(&["fleet", "check", "none"]).exits(2).says("no host; not read in the folders: none/.git (hidden), ");
}

/// Nor is one that may not be read, be it a file or a folder.
#[test]
fn a_record_that_may_not_be_read_does_not_lose_the_others() {
    let sandbox = sandbox("fleet-forbidden");
    fs::create_dir_all(sandbox.path("hosts/rack")).unwrap();
    fs::write(sandbox.path("hosts/good.json"), healthy().to_string()).unwrap();
    fs::write(sandbox.path("hosts/mine.json"), healthy().to_string()).unwrap();
    let forbid = |mode: u32| {
        for name in ["hosts/mine.json", "hosts/rack"] {
            fs::set_permissions(sandbox.path(name), fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    forbid(0);
    // Root reads whatever it wants, unless that is taken from it.
    let is_root = fs::File::open(sandbox.path("hosts/mine.json")).is_ok();
    let program = env!("CARGO_BIN_EXE_gpuenv");
    let mut command = Command::new(if is_root { "setpriv" } else { program });
    if is_root {
        command.args(["--bounding-set", "-dac_override,-dac_read_search", program]);
    }
    let out = command.args(["fleet", "check", "hosts", "--format", "csv"]).current_dir(sandbox.path("")).output();
    forbid(0o755);
    let out = out.unwrap();
    let lines = String::from_utf8(out.stdout).unwrap();
    let told: Vec<_> =
        lines.lines().skip(1).map(|line| line.split(',').take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(told, ["good pass", "mine unknown", "rack unknown"], "{}", String::from_utf8_lossy(&out.stderr));
    assert_eq!(out.status.code(), Some(3));
}

#[test]
fn the_job_for_slurm_runs_on_each_node() {
    let sandbox = sandbox("fleet-slurm");
    let script =
        sandbox.run(&["fleet", "job", "slurm", "--partition", "gpu", "--nodes", "4", "--gres", "gpu:8"]).exits(0).out;
    assert!(script.contains("#SBATCH --partition=gpu\n") && script.contains("#SBATCH --gres=gpu:8\n"), "{script}");
    // A stand-in for srun runs its command as one node would.
    // The task of the node c is killed before it writes a word.
    let hostnames = "#!/bin/bash\n[ \"$1 $2 $3\" = 'show hostnames a,b,c' ] && printf 'a\\nb\\nc\\n'\n";
    let fake = "#!/bin/bash\n: >gpuenv-fleet-7/c.ndjson\nfor node in a b; do out=$(echo \"$2\" | sed \"s/--output=//; s/%t/$node/\"); err=$(echo \"$3\" | sed \"s/--error=//; s/%t/$node/\"); SLURMD_NODENAME=$node \"${@:4}\" >\"$out\" 2>\"$err\"; done\n";
    let bin = sandbox.path("bin");
    fs::create_dir(&bin).unwrap();
    let probe = format!("#!/bin/bash\nexec {} \"$@\"\n", env!("CARGO_BIN_EXE_gpuenv"));
    for (name, text) in [("srun", fake), ("scontrol", hostnames), ("gpuenv", &probe)] {
        fs::write(bin.join(name), text).unwrap();
        assert!(Command::new("chmod").arg("755").arg(bin.join(name)).status().unwrap().success());
    }
    fs::write(sandbox.path("job.sh"), &script).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.arg("job.sh")
        .current_dir(sandbox.path(""))
        .env("PATH", path)
        .env("SLURM_JOB_ID", "7")
        .env("SLURM_JOB_NODELIST", "a,b,c");
    let output = bash.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let (_, told) = sandbox.json(&["fleet", "check", "gpuenv-fleet-7.ndjson"]);
    let mut names: Vec<&str> = told["groups"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|group| group["hosts"].as_array().unwrap())
        .map(|name| name.as_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["a", "b", "c"], "{told:#}");
    let csv = sandbox.run(&["fleet", "check", "gpuenv-fleet-7.ndjson", "--format", "csv"]).out;
    assert!(csv.lines().any(|line| line.starts_with("c,unknown,")), "{csv}");
    assert!(!sandbox.path("gpuenv-fleet-7/c.ndjson").exists());
    sandbox.run(&["fleet", "job", "slurm", "--partition", "x; rm -rf /"]).exits(2);
}

#[test]
fn the_job_for_kubernetes_carries_the_lock() {
    let sandbox = sandbox("fleet-kube");
    sandbox.run(&["fleet", "job", "kubernetes"]).exits(2).says("--image");
    let text = sandbox.run(&["fleet", "job", "kubernetes", "--image", "registry.example/gpuenv:0.1"]).exits(0).out;
    assert!(text.contains("kind: ConfigMap") && text.contains("kind: DaemonSet"), "{text}");
    if let Some(reader) = tools::find("kubernetes-validate") {
        let accepts = |text: &str| {
            fs::write(sandbox.path("fleet.yaml"), text).unwrap();
            let mut command = Command::new(&reader);
            command.arg("--strict").arg(sandbox.path("fleet.yaml")).output().unwrap().status.success()
        };
        assert!(accepts(&text) && !accepts(&text.replace("runtimeClassName", "runtimeClass")), "{text}");
    }
    let lock = fs::read_to_string(sandbox.path("gpuenv.lock")).unwrap();
    let carried: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("    ")).collect();
    assert!(lock.lines().filter(|line| !line.is_empty()).all(|line| carried.contains(&line)));
    let command = text.lines().find_map(|line| line.trim().strip_prefix("command: ")).unwrap();
    let command: Vec<String> = serde_json::from_str(command).unwrap();
    let script = command[2].replace("/gpuenv/gpuenv.lock", "gpuenv.lock").replace("; sleep infinity", "");
    let script = script.replace("'gpuenv'", env!("CARGO_BIN_EXE_gpuenv"));
    let ran =
        Command::new("sh").arg("-c").arg(script).env("NODE_NAME", "n1").current_dir(sandbox.path("")).output().unwrap();
    let line: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    assert_eq!((&line["host"], &line["record"]["format"]), (&json!("n1"), &json!(1)));
}

/// A node whose probe failed is a host of its name, not a broken line.
#[test]
fn a_host_whose_probe_failed_is_named() {
    let sandbox = sandbox("fleet-failed");
    let lines = ["{\"host\":\"node7\",\"record\":null}".to_string(), named("node8", &healthy())];
    fs::write(sandbox.path("ff.ndjson"), lines.join("\n")).unwrap();
    let told = sandbox.run(&["fleet", "check", "ff.ndjson", "--format", "csv"]).exits(3).out;
    assert!(told.contains("\nnode7,unknown,") && told.contains("`gpuenv probe` failed on this host"), "{told}");
    assert!(told.contains("\nnode8,pass,h100"), "{told}");
}

/// What kubectl and its filters print is one document, however its lines are broken; whether a node without labels of a
/// GPU has one is known where node feature discovery ran, to `check` and to `plan` alike.
#[test]
fn nodes_without_gpus_are_judged_by_what_labels_show() {
    let sandbox = sandbox("fleet-nodes");
    let node =
        |name: &str, labels: Value| json!({ "metadata": { "name": name, "labels": labels }, "status": {} }).to_string();
    let seen = json!({ "feature.node.kubernetes.io/cpu-model.vendor_id": "Intel", "kubernetes.io/arch": "amd64" });
    let gpu = json!({ "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", "nvidia.com/gpu.compute.major": "8",
        "nvidia.com/gpu.compute.minor": "0", "nvidia.com/cuda.driver-version.full": "550.54.15", "nvidia.com/gpu.count": "8",
        "kubernetes.io/arch": "amd64" });
    let list = |nodes: &[String]| {
        format!("{{\"apiVersion\":\"v1\",\"items\":[\n{}\n],\"kind\":\"List\"}}\n", nodes.join(",\n"))
    };
    let plan = "[stack]\ntorch = \"2.5.1\"\n[target.any]\ngpu = \"none\"\n";
    fs::write(sandbox.path("plan.toml"), plan).unwrap();
    fs::write(sandbox.path("nodes.json"), list(&[node("gpu-1", gpu.clone()), node("cpu-1", seen)])).unwrap();
    let told = sandbox.run(&["fleet", "check", "nodes.json", "--format", "csv"]).exits(0).out;
    assert!(told.contains("gpu-1,pass,a100") && told.contains("cpu-1,pass,ci"), "{told}");
    sandbox.run(&["fleet", "plan", "--spec", "plan.toml", "nodes.json"]).exits(0).tells("no GPU");
    let held = sandbox.run(&["fleet", "check", "nodes.json", "--target", "a100"]).exits(3);
    held.tells("this host has no NVIDIA GPU: name a target with `gpu = \"none\"`");
    let untold = list(&[node("cpu-2", json!({ "kubernetes.io/arch": "amd64" }))]);
    fs::write(sandbox.path("untold.json"), untold).unwrap();
    let held = sandbox.run(&["fleet", "check", "untold.json", "--target", "a100"]).exits(3);
    let held = held.tells("the node offers no NVIDIA GPU and no label names one").out;
    assert!(!held.contains("pasted"), "{held}");
    // Of instances of MIG the labels count those, and not the cards.
    let mut cut = gpu.clone();
    cut["nvidia.com/gpu.product"] = json!("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb");
    fs::write(sandbox.path("nodes.json"), list(&[node("gpu-1", cut.clone())])).unwrap();
    let told = sandbox.run(&["fleet", "check", "nodes.json", "--format", "csv"]).exits(0).out;
    assert!(told.contains("gpu-1,pass,a100"), "{told}");
    let labels = cut.as_object().unwrap().iter().map(|(name, value)| format!("{name}={}\n", value.as_str().unwrap()));
    fs::write(sandbox.path("node.txt"), labels.collect::<String>()).unwrap();
    let (_, told) = sandbox.json(&["probe", "--from", "node.txt"]);
    let gpus = told["nvml"]["gpus"].as_array().unwrap();
    assert_eq!((gpus.len(), &gpus[0]["mig"]), (1, &json!(true)), "{told:#}");
    assert_eq!(gpus[0]["instances"].as_array().unwrap().len(), 8);
    assert_eq!(gpus[0]["instances"][7]["profile"], "1g.10gb");
    let (_, told) = sandbox.json(&["verify", "--host", "node.txt", "--target", "a100"]);
    let found = |check: &&Value| check["id"] == "gpu-mig" && check["found"] == "8 x 1g.10gb";
    assert!(told["checks"].as_array().unwrap().iter().find(found).is_some(), "{told:#}");
    // What no pod gets, and what a node said before it fell silent, is no GPU that works.
    let status = |status: Value| {
        let mut node: Value = serde_json::from_str(&node("gpu-1", gpu.clone())).unwrap();
        node["status"] = status;
        fs::write(sandbox.path("nodes.json"), list(&[node.to_string()])).unwrap();
        let exit = if node["status"]["exit"] == json!(0) { 0 } else { 3 };
        sandbox.run(&["fleet", "check", "nodes.json", "--format", "csv"]).exits(exit).out
    };
    let of = |amount: &str| json!({ "nvidia.com/gpu": amount, "cpu": "64" });
    let ready = |ready: &str| json!([{ "type": "Ready", "status": ready }]);
    status(json!({ "exit": 0, "capacity": of("8"), "allocatable": of("8"), "conditions": ready("True") }));
    assert!(status(json!({ "capacity": of("8"), "allocatable": of("6") })).contains("device plugin"));
    assert!(status(json!({ "capacity": of("0") })).contains("device plugin"));
    assert!(status(json!({ "capacity": of("8"), "conditions": ready("Unknown") })).contains("not ready"));
    assert!(status(json!({ "nodeInfo": { "operatingSystem": "windows" } })).contains("Linux"));
    let bare = node("cpu-1", json!({ "kubernetes.io/arch": "amd64" }));
    fs::write(sandbox.path("nodes.json"), list(&[bare])).unwrap();
    let told = sandbox.run(&["fleet", "check", "nodes.json", "--format", "csv"]).exits(3).out;
    assert!(told.contains("cpu-1,unknown,ci,target-choice"), "{told}");
    sandbox
        .run(&["fleet", "plan", "--spec", "plan.toml", "nodes.json"])
        .exits(3)
        .tells("does not tell whether it has a GPU");
}

/// What labels tell of MIG and of sharing is judged, and what they leave open is said.
#[test]
fn labels_of_instances_and_of_shared_gpus_are_judged_by_what_they_tell() {
    let sandbox = sandbox("fleet-mig");
    let node = |more: Value, capacity: Value| {
        let mut labels = json!({ "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", "nvidia.com/gpu.count": "8",
            "nvidia.com/gpu.replicas": "1", "nvidia.com/gpu.memory": "81920", "kubernetes.io/arch": "amd64",
            "nvidia.com/gpu.compute.major": "8", "nvidia.com/gpu.compute.minor": "0",
            "nvidia.com/cuda.driver-version.full": "550.54.15", "nvidia.com/mig.strategy": "mixed" });
        more.as_object().unwrap().iter().for_each(|(name, value)| labels[format!("nvidia.com/{name}")] = value.clone());
        let status = json!({ "capacity": capacity, "allocatable": capacity });
        json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n1", "labels": labels }, "status": status })
    };
    let check = |node: &Value, exit: i32| {
        fs::write(sandbox.path("node.json"), node.to_string()).unwrap();
        sandbox.run(&["fleet", "check", "node.json", "--target", "a100"]).exits(exit)
    };
    let parts = json!({ "mig-1g.10gb.count": "7", "mig-1g.10gb.product": "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb" });
    let some = node(parts.clone(), json!({ "nvidia.com/gpu": "7", "nvidia.com/mig-1g.10gb": "7" }));
    check(&some, 0).tells("gpu-mig: a process gets one instance");
    let mut all = parts;
    all["gpu.replicas"] = json!("0");
    check(&node(all.clone(), json!({ "nvidia.com/mig-1g.10gb": "7" })), 0).tells("gpu-mig");
    let none = json!({ "gpu.replicas": "0" });
    check(&node(none, json!({ "nvidia.com/gpu": "0" })), 1).tells("without instances");
    let invalid = json!({ "gpu.product": "NVIDIA-A100-SXM4-80GB-MIG-INVALID", "gpu.count": "0", "gpu.replicas": "0" });
    check(&node(invalid, json!({ "nvidia.com/gpu": "0" })), 3).tells("MIG-INVALID").tells("`single`");
    let shared = json!({ "gpu.product": "NVIDIA-A100-SXM4-80GB-SHARED", "gpu.replicas": "4" });
    check(&node(shared, json!({ "nvidia.com/gpu": "32" })), 0);
    let two = node(json!({}), json!({ "nvidia.com/gpu": "9" }));
    check(&two, 3).tells("8 of the 9").tells("of several products they name one");
    // The same as text, beside what nvidia-smi says of the same GPUs.
    let told = |node: &Value| {
        let labels = node["metadata"]["labels"].as_object().unwrap().iter();
        labels.map(|(name, value)| format!("{name}={}\n", value.as_str().unwrap())).collect::<String>()
    };
    let smi = "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-00000000-0000-0000-0000-000000000001)\n";
    for (text, gpus) in [(told(&two), 8), (format!("{smi}{}", told(&two)), 8), (told(&two).replace('\n', ","), 8)] {
        fs::write(sandbox.path("node.txt"), text).unwrap();
        let (_, told) = sandbox.json(&["probe", "--from", "node.txt"]);
        let quarrels = |told: &Value| told["probes"].as_array().unwrap().iter().any(|probe| probe["ended"] != "done");
        assert!(told["nvml"]["gpus"].as_array().unwrap().len() == gpus && !quarrels(&told), "{told:#}");
    }
}

#[test]
fn what_cannot_be_is_refused_with_the_same_codes_everywhere() {
    let sandbox = sandbox("fleet-refused");
    for nodes in ["0", "x", "4-2", "2-0"] {
        sandbox.run(&["fleet", "job", "slurm", "--nodes", nodes]).exits(2).says("`--nodes` expects a number");
    }
    for nodes in ["8", "2-8", "2,4", "2-8:2"] {
        sandbox.run(&["fleet", "job", "slurm", "--nodes", nodes]).exits(0).tells(&format!("--nodes={nodes}"));
    }
    sandbox.run(&["fleet", "chek"]).exits(2).says("did you mean `gpuenv fleet check`?");
    let asks: [&[&str]; 4] = [
        &["verify", "--host", "h.json"],
        &["export", "uv"],
        &["fleet", "check", "h.json"],
        &["fleet", "job", "kubernetes", "--image", "x"],
    ];
    fs::write(sandbox.path("h.json"), healthy().to_string()).unwrap();
    for args in asks {
        sandbox.run(&[args, &["--lock", "none.lock"]].concat()).exits(4).says("none.lock does not exist");
    }
    fs::remove_file(sandbox.path("gpuenv.lock")).unwrap();
    for args in asks {
        sandbox.run(args).exits(2).says("gpuenv.lock does not exist");
    }
}

/// What a host or an engine said in place of a report is told, not which reports there are.
#[test]
fn the_answer_of_a_host_that_described_nothing_is_quoted() {
    let sandbox = sandbox("fleet-answers");
    let gpu = "NVIDIA H100 NVL, 595.71.05, 9.0";
    for (text, quoted) in [
        (
            format!("n3: {gpu}\nn4: ssh: connect to host n4 port 22: Connection timed out\n"),
            "`ssh: connect to host n4 port 22: Connection timed out`",
        ),
        (
            format!("n21:\n    {gpu}\nn22:\n    Minion did not return. [Not connected]\n"),
            "`Minion did not return. [Not connected]`",
        ),
    ] {
        fs::write(sandbox.path("hosts.txt"), text).unwrap();
        let ran = sandbox.run(&["fleet", "check", "hosts.txt"]).exits(3);
        assert!(!ran.out.contains("describes no host"), "{}", ran.out);
        let words = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(quoted), "{words}");
    }
    // A row without a header is a GPU's by its driver and capability, whatever its board is called.
    fs::write(sandbox.path("hosts.txt"), "n1: Some Unknown GPU, 570.124.06, 9.0\nn2: two, 3.1, words\n").unwrap();
    let (_, told) = sandbox.json(&["fleet", "check", "hosts.txt"]);
    let text = told.to_string();
    assert!(!text.contains("answered `Some Unknown GPU") && text.contains("answered `two, 3.1, words`"), "{told:#}");
}

/// An engine's job takes the options of that engine, and what comes next names it.
#[test]
fn a_job_is_told_what_comes_next_and_refuses_what_another_engine_has() {
    let sandbox = sandbox("fleet-job-options");
    for (typed, option) in [
        (&["slurm", "--image", "x/y"][..], "has no `--image`"),
        (&["slurm", "--runtime-class", "nvidia"], "has no `--runtime-class`"),
        (&["kubernetes", "--image", "x/y", "--nodes", "3"], "has no `--nodes`"),
        (&["kubernetes", "--image", "x/y", "--partition", "p"], "has no `--partition`"),
    ] {
        sandbox.run(&[&["fleet", "job"], typed].concat()).exits(2).says(option).says("leave it out");
    }
    sandbox.run(&["fleet", "job", "slurm", "--nodes", "8", "-o", "fleet.sh"]).exits(0).says("next: sbatch fleet.sh");
    let kubernetes = ["fleet", "job", "kubernetes", "--image", "x/y", "-o", "fleet.yaml"];
    sandbox.run(&kubernetes).exits(0).says("next: kubectl apply -f fleet.yaml");
    sandbox.run(&["fleet", "job", "slurm"]).exits(0).tells("#SBATCH --nodes=1");
}

/// A file that is named twice, or again by its folder, holds its hosts once.
#[test]
fn a_source_that_is_named_twice_is_judged_once() {
    let sandbox = sandbox("fleet-twice");
    fs::create_dir(sandbox.path("hosts")).unwrap();
    fs::write(sandbox.path("hosts/g1.json"), healthy().to_string()).unwrap();
    fs::write(sandbox.path("hosts/g2.json"), healthy().to_string()).unwrap();
    for (sources, count) in [
        (&["hosts/g1.json", "hosts/g1.json"][..], 1),
        (&["hosts/g1.json", "hosts"], 2),
        (&["hosts", "./hosts/g2.json"], 2),
        (&["hosts/g1.json", "hosts/g2.json"], 2),
    ] {
        let ran = sandbox.run(&[&["fleet", "check", "--format", "csv"], sources].concat());
        assert_eq!(ran.out.lines().count(), count + 1, "{sources:?}: {}", ran.out);
    }
}

/// What opens and cannot be read costs the host of that file alone.
#[test]
fn a_file_that_cannot_be_read_costs_its_own_host() {
    let sandbox = sandbox("fleet-unread");
    fs::create_dir(sandbox.path("hosts")).unwrap();
    fs::write(sandbox.path("hosts/h1.json"), healthy().to_string()).unwrap();
    std::os::unix::fs::symlink("/proc/self/mem", sandbox.path("hosts/h9.json")).unwrap();
    let ran = sandbox.run(&["fleet", "check", "hosts", "--format", "csv"]).exits(3);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines.len() == 3 && lines[1].starts_with("h1,pass,"), "{}", ran.out);
    assert!(lines[2].starts_with("h9,unknown,") && lines[2].contains("cannot be read"), "{}", ran.out);
    // Named alone there is nothing else to judge.
    sandbox.run(&["fleet", "check", "hosts/h9.json"]).exits(4).says("cannot be read").says("help:");
    sandbox.run(&["fleet", "check", "/dev/zero"]).exits(4).says("not a regular file").says("help:");
}
