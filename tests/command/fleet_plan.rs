//! `gpuenv fleet plan`: against every choice tried out on random small fleets, and what it tells in every format.

use std::fs;
use std::time::Instant;

use gpuenv::catalog::BUILTIN;
use gpuenv::fleet::plan::{self, Inventory, Plan};
use gpuenv::host;
use gpuenv::report::schema;
use gpuenv::solve::compile::Locked;
use gpuenv::solve::engine::Steps;
use gpuenv::solve::problem::Problem;
use gpuenv::solve::request::Request;
use gpuenv::solve::resolve::{Resolution, is_solvable, resolve};
use gpuenv::spec;
use serde_json::{Value, json};

use crate::common::judge::healthy;
use crate::common::sandbox::Sandbox;
use crate::common::validate;

/// A host as records tell it.
#[derive(Debug, Clone, PartialEq)]
struct Machine {
    gpu: &'static str,
    cc: &'static str,
    driver: String,
    os: &'static str,
    arch: &'static str,
}

/// Boards, with drivers that most of them could have.
const GPUS: &[(&str, &str, &str, &[&str])] = &[
    ("NVIDIA H100 NVL", "9.0", "x86_64", &["525.60.13", "535.104.05", "550.54.15", "570.124.06"]),
    ("NVIDIA A100-SXM4-80GB", "8.0", "x86_64", &["470.57.02", "525.116.03", "535.183.01", "560.35.05"]),
    ("NVIDIA A100-PCIE-40GB", "8.0", "x86_64", &["450.80.02", "535.104.05", "550.54.14"]),
    ("Tesla V100-SXM2-32GB", "7.0", "x86_64", &["450.80.02", "470.82.01", "535.104.05", "580.65.06"]),
    ("Tesla T4", "7.5", "x86_64", &["418.40.04", "515.65.01", "570.124.06"]),
    ("Tesla K80", "3.7", "x86_64", &["450.80.02", "470.57.02", "470.82.01"]),
    ("NVIDIA B200", "10.0", "x86_64", &["550.54.15", "570.124.06", "580.65.06"]),
    ("NVIDIA GeForce RTX 5090", "12.0", "x86_64", &["570.124.06", "580.65.06"]),
    ("NVIDIA GeForce RTX 3090", "8.6", "x86_64", &["470.82.01", "525.60.13", "550.54.14"]),
    ("NVIDIA GH200 480GB", "9.0", "aarch64", &["535.104.05", "570.124.06"]),
];
const SYSTEMS: &[&str] = &["ubuntu22.04", "ubuntu20.04", "rhel8", "ubuntu24.04"];
/// What is asked for.
const STACKS: &[&str] = &[
    "torch = \"*\"",
    "torch = \">=2.4\"",
    "torch = \"2.7\"\npython = \"3.11\"",
    "torch = \"<=2.1\"\ntorchvision = \"*\"",
    "torch = \"*\"\ncuda = \"12\"",
    "tensorflow = \"*\"",
    "jax = \"*\"\npython = \"3.12\"",
    "torch = \"*\"\ntensorflow = \"*\"",
    "cuda = \"12\"\ncudnn = \"9\"",
];
const TARGETS: &[&str] = &["", "forward-compat = \"never\"\n", "image = \"nvidia/cuda\"\nos = \"ubuntu22.04\"\n"];

/// Numbers that look like chance and are the same on every machine.
struct Chance(u64);

impl Chance {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % count as u64) as usize
    }

    fn machine(&mut self) -> Machine {
        let (gpu, cc, arch, drivers) = GPUS[self.below(GPUS.len())];
        let driver = drivers[self.below(drivers.len())].to_string();
        Machine { gpu, cc, driver, os: SYSTEMS[self.below(SYSTEMS.len())], arch }
    }
}

impl Machine {
    fn record(&self) -> Value {
        json!({ "format": 1, "platform": { "system": "linux", "arch": self.arch, "os": self.os },
                "nvml": { "driver": self.driver, "gpus": [{ "index": 0, "name": self.gpu, "compute_capability": self.cc }] } })
    }

    /// The same as a target that somebody writes.
    fn target(&self, name: &str, common: &str) -> String {
        let os = if common.contains("image") { String::new() } else { format!("os = \"{}\"\n", self.os) };
        let (gpu, driver, arch) = (self.gpu, &self.driver, self.arch);
        format!("[target.{name}]\ngpu = \"{gpu}\"\ndriver = \"{driver}\"\narch = \"{arch}\"\n{os}{common}")
    }
}

/// A fleet: machines, each so many times, and what is asked of them.
struct Fleet {
    stack: &'static str,
    common: &'static str,
    machines: Vec<(Machine, usize)>,
}

impl Fleet {
    fn random(chance: &mut Chance, most: usize) -> Fleet {
        let mut machines: Vec<(Machine, usize)> = Vec::new();
        for _ in 0..1 + chance.below(most) {
            let machine = chance.machine();
            if machines.iter().all(|(known, _)| *known != machine) {
                machines.push((machine, 1 + chance.below(5)));
            }
        }
        Fleet { stack: STACKS[chance.below(STACKS.len())], common: TARGETS[chance.below(TARGETS.len())], machines }
    }

    fn spec(&self) -> String {
        format!(
            "[stack]\n{}\n[target.prod]\ngpu = \"A100\"\nos = \"ubuntu22.04\"\n{}",
            self.stack,
            self.common.replace("os = \"ubuntu22.04\"\n", "")
        )
    }

    fn plan(&self) -> Plan {
        let mut inventory = Inventory::default();
        let spec = spec::parse(&self.spec()).unwrap();
        for (at, (machine, count)) in self.machines.iter().enumerate() {
            for host in 0..*count {
                let record = host::read_any(&machine.record().to_string()).unwrap();
                inventory.add(format!("{at}-{host}"), plan::essence(record, &spec.targets[0], &BUILTIN));
            }
        }
        plan::plan(&spec, &spec.targets[0], &Problem::new(&BUILTIN), inventory, Steps::LIMIT).unwrap()
    }

    /// The spec that somebody would write for some of the machines.
    fn written(&self, machines: &[Machine], stack: &str) -> String {
        let mut text = format!("[stack]\n{stack}\n");
        for (at, machine) in machines.iter().enumerate() {
            text += &machine.target(&format!("m{at}"), self.common);
        }
        text
    }

    fn is_served(&self, machines: &[Machine], stack: &str) -> bool {
        let text = self.written(machines, stack);
        let (spec, problem) = (spec::parse(&text).unwrap_or_else(|e| panic!("{text}{e:?}")), Problem::new(&BUILTIN));
        let (request, _) = Request::new(&spec, &problem).unwrap_or_else(|e| panic!("{text}{e:?}"));
        is_solvable(&request, &Steps::default()).unwrap()
    }

    /// Whether machines are served by their own driver, without cuda-compat before it.
    fn is_served_plainly(&self, machines: &[Machine], stack: &str) -> bool {
        let text = self.written(machines, stack);
        let never = "\nforward-compat = \"never\"\narch = ";
        let text = if text.contains("forward-compat") { text } else { text.replace("\narch = ", never) };
        let (spec, problem) = (spec::parse(&text).unwrap_or_else(|e| panic!("{text}{e:?}")), Problem::new(&BUILTIN));
        let (request, _) = Request::new(&spec, &problem).unwrap_or_else(|e| panic!("{text}{e:?}"));
        is_solvable(&request, &Steps::default()).unwrap()
    }

    /// The frameworks that `lock` chooses for some machines.
    fn locked(&self, machines: &[Machine]) -> String {
        let spec = spec::parse(&self.written(machines, self.stack)).unwrap();
        let problem = Problem::new(&BUILTIN);
        let (request, _) = Request::new(&spec, &problem).unwrap();
        let Resolution::Solution(answer) = resolve(&request, &Locked::new(), &Steps::default()) else { panic!() };
        let builds = answer.targets[0].builds.iter();
        builds
            .map(|build| format!("{} {}+{}", build.package, build.version, build.variant))
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn of(&self, positions: impl Iterator<Item = usize>) -> Vec<Machine> {
        positions.map(|at| self.machines[at].0.clone()).collect()
    }

    /// The machine that a class of a plan is.
    fn position(&self, plan: &Plan, class: usize) -> usize {
        plan.classes[class].hosts[0].split('-').next().unwrap().parse().unwrap()
    }
}

/// Whom one stack serves, by asking of every set of machines.
fn served_sets(fleet: &Fleet) -> Vec<u32> {
    let count = fleet.machines.len();
    let bits = |set: u32| (0..count).filter(move |at| set >> at & 1 == 1);
    let sets: Vec<u32> = (1..1u32 << count).filter(|&set| fleet.is_served(&fleet.of(bits(set)), fleet.stack)).collect();
    for &set in &sets {
        for part in (1..set).filter(|part| part & !set == 0) {
            assert!(
                sets.contains(&part),
                "{part:b} of {set:b} is not served\n{}",
                fleet.written(&fleet.of(bits(set)), fleet.stack)
            );
        }
    }
    sets
}

/// The fewest of some sets that hold everything that any of them holds.
fn fewest(sets: &[u32], all: u32, count: usize) -> usize {
    fn go(sets: &[u32], left: u32, most: usize) -> bool {
        left == 0
            || most > 0
                && sets.iter().any(|set| {
                    set & left != 0 && set >> left.trailing_zeros() & 1 == 1 && go(sets, left & !set, most - 1)
                })
    }
    (0..=count).find(|&most| go(sets, all, most)).unwrap()
}

#[test]
fn plans_of_small_fleets_are_those_that_trying_everything_finds() {
    let mut chance = Chance(20_261_122);
    let (mut several, mut refused) = (0, 0);
    for round in 0..24 {
        let mut fleet = Fleet::random(&mut chance, 4);
        if round % 3 == 0 {
            // No release holds code for both.
            fleet.stack = STACKS[0];
            for (at, driver) in [(5, "470.82.01"), (6, "570.124.06")] {
                let (gpu, cc, arch, _) = GPUS[at];
                let machine = Machine { gpu, cc, driver: driver.to_string(), os: "ubuntu20.04", arch };
                if fleet.machines.iter().all(|(known, _)| *known != machine) {
                    fleet.machines.push((machine, 2));
                }
            }
        }
        let plan = fleet.plan();
        let about =
            || format!("round {round}\n{}{plan:#?}", fleet.written(&fleet.of(0..fleet.machines.len()), fleet.stack));
        let sets = served_sets(&fleet);
        let all: u32 = sets.iter().fold(0, |all, set| all | set);
        let weight = |set: u32| {
            (0..fleet.machines.len()).filter(|at| set >> at & 1 == 1).map(|at| fleet.machines[at].1).sum::<usize>()
        };
        let wanted = fewest(&sets, all, fleet.machines.len());
        assert_eq!((plan.fewest.len(), plan.at_least), (wanted, wanted), "{}", about());
        let most = sets.iter().map(|&set| weight(set)).max().unwrap_or(0);
        assert_eq!((plan.most.as_ref().map_or(0, |most| most.hosts), plan.at_most), (most, most), "{}", about());
        // Every stack serves whom it names, as `lock` would choose it, and every machine has one or none does.
        let mut held = 0;
        for stack in plan.fewest.iter().chain(&plan.most) {
            let machines = fleet.of(stack.classes.iter().map(|&class| fleet.position(&plan, class)));
            let locked = fleet.locked(&machines);
            assert!(locked.is_empty() || locked == stack.title, "{locked}\n{}", about());
        }
        for stack in &plan.fewest {
            // In a container machines that differ in their system alone are one class.
            for host in stack.classes.iter().flat_map(|&class| &plan.classes[class].hosts) {
                held |= 1 << host.split('-').next().unwrap().parse::<u32>().unwrap();
            }
        }
        assert_eq!(held, all, "{}", about());
        let unserved: usize = plan.unserved.iter().map(|one| one.hosts).sum();
        assert_eq!(unserved + weight(all), plan.hosts, "{}", about());
        assert!(plan.unserved.iter().all(|one| !one.why.is_empty()), "{}", about());
        (several, refused) = (several + usize::from(wanted > 1), refused + usize::from(unserved > 0));
    }
    assert!(
        several > 3 && refused > 3,
        "{several} fleets with several stacks, {refused} with hosts that nothing serves"
    );
}

/// The first framework of a title as a line of `[stack]`.
fn pinned(title: &str, stack: &str) -> String {
    let (name, version) = title.split(", ").next().unwrap().split_once(' ').unwrap();
    let others: Vec<&str> = stack.lines().filter(|line| !line.starts_with(&format!("{name} "))).collect();
    format!("{name} = \"=={version}\"\n{}", others.join("\n"))
}

/// What each step says is so, and nothing less would do for its stack.
#[test]
fn drivers_are_raised_as_far_as_a_stack_needs_and_no_further() {
    let mut chance = Chance(4_711);
    let mut steps = 0;
    for round in 0..24 {
        let mut fleet = Fleet::random(&mut chance, 4);
        if fleet.stack.starts_with("cuda") {
            fleet.stack = "torch = \"*\"";
        }
        let plan = fleet.plan();
        let mut before = plan.most.as_ref().map_or((0, String::new()), |most| (most.hosts, most.title.clone()));
        for step in &plan.upgrades {
            let about = || {
                format!("round {round} {step:#?}\n{}", fleet.written(&fleet.of(0..fleet.machines.len()), fleet.stack))
            };
            assert!(step.then.hosts > before.0 || step.then.title != before.1, "{}", about());
            let machine = |class: usize, leave: Option<usize>| {
                let mut machine = fleet.machines[fleet.position(&plan, class)].0.clone();
                let raise = step.raises.iter().enumerate().find(|(_, raise)| raise.classes.contains(&class));
                if let Some((at, raise)) = raise.filter(|(at, _)| leave != Some(*at)) {
                    assert_eq!(raise.from, machine.driver, "{at}");
                    machine.driver = raise.to.clone();
                }
                machine
            };
            let raised: Vec<Machine> = step.then.classes.iter().map(|&class| machine(class, None)).collect();
            assert_eq!(fleet.locked(&raised), step.then.title, "{}", about());
            // Without a raise its hosts cannot run that stack by their driver.
            for (at, raise) in step.raises.iter().enumerate() {
                assert!(number(&raise.to) > number(&raise.from), "{}", about());
                for &class in &raise.classes {
                    let alone = [machine(class, Some(at))];
                    assert!(!fleet.is_served_plainly(&alone, &pinned(&step.then.title, fleet.stack)), "{}", about());
                }
            }
            before = (step.then.hosts, step.then.title.clone());
            steps += 1;
        }
    }
    assert!(steps > 8, "{steps} steps");
}

fn number(driver: &str) -> Vec<u32> {
    driver.split('.').map(|part| part.parse().unwrap()).collect()
}

const SPEC: &str = "[stack]\ntorch = \">=2.5\"\n[target.prod]\ngpu = \"H100 NVL\"\n[target.other]\ngpu = \"none\"\n";

fn named(name: &str, record: &Value) -> String {
    json!({ "host": name, "record": record }).to_string()
}

fn host(gpu: &'static str, cc: &'static str, driver: &str, os: &'static str) -> Value {
    Machine { gpu, cc, driver: driver.to_string(), os, arch: "x86_64" }.record()
}

/// A fleet of all kinds: two that one stack serves, one whose driver is too old for all, one of which nothing is known.
fn mixed() -> String {
    let mut lines: Vec<String> = Vec::new();
    for at in 0..30 {
        lines.push(named(&format!("new{at}"), &host("NVIDIA H100 NVL", "9.0", "570.124.06", "ubuntu22.04")));
    }
    for at in 0..12 {
        lines.push(named(&format!("mid{at}"), &host("NVIDIA A100-SXM4-80GB", "8.0", "535.104.05", "ubuntu22.04")));
    }
    for at in 0..3 {
        lines.push(named(&format!("old{at}"), &host("Tesla T4", "7.5", "418.40.04", "ubuntu20.04")));
    }
    lines.join("\n") + "\n"
}

/// A GPU that is lost is a GPU: nobody says that the host has none, or that nothing is known.
#[test]
fn a_lost_gpu_is_told() {
    let sandbox = Sandbox::new("plan-lost", SPEC);
    let table = "name, driver_version, compute_cap";
    let text = format!(
        "n1: {table}\nn1: NVIDIA H100 NVL, 550.54.15, 9.0\nn2: {table}\nn2: [GPU is lost], [GPU is lost], [GPU is lost]\n"
    );
    fs::write(sandbox.path("lost.txt"), text).unwrap();
    let ran = sandbox.run(&["fleet", "plan", "lost.txt", "--target", "prod"]).exits(3);
    ran.tells("does not answer: NVML_ERROR_GPU_IS_LOST").tells("n2");
    // The same beside another of that host's.
    let rows = "n1: NVIDIA H100 NVL, 550.54.15, 9.0\nn1: [GPU is lost], [GPU is lost], [GPU is lost]\n";
    fs::write(sandbox.path("beside.txt"), format!("n1: {table}\n{rows}")).unwrap();
    let ran = sandbox.run(&["fleet", "plan", "beside.txt", "--target", "prod"]).exits(3);
    let ran = ran.tells("does not answer: NVML_ERROR_GPU_IS_LOST");
    assert!(!ran.out.contains("without a name"), "{}", ran.out);
}

/// What contradicts itself is no host to plan for, in whichever order it says so, nor is one whose driver does not answer.
#[test]
fn a_host_that_contradicts_itself_is_not_planned_for() {
    let sandbox = Sandbox::new("plan-contradicts", SPEC);
    let gpu = "NVIDIA H100 NVL, 550.54.15, 9.0";
    let other = "NVIDIA H100 NVL, 525.60.13, 9.0";
    for (lines, word) in [
        ([gpu, other], "names two hosts"),
        ([other, gpu], "names two hosts"),
        ([gpu, "No devices were found"], "names two hosts"),
        (["No devices were found", gpu], "names two hosts"),
        ([gpu, "Failed to initialize NVML: Driver/library version mismatch"], "does not answer"),
        (["NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", gpu], "does not answer"),
    ] {
        let [one, then] = lines;
        fs::write(sandbox.path("h.txt"), format!("n1: {one}\nn2: {gpu}\nn1: {then}\n")).unwrap();
        sandbox.run(&["fleet", "plan", "h.txt", "--target", "prod"]).exits(3).tells("1 of 2 hosts").tells(word);
        fs::write(sandbox.path("one.txt"), format!("{one}\n{then}\n")).unwrap();
        sandbox.run(&["init", "--host", "one.txt", "-o", "-"]).exits(0).says(word);
    }
    // A host in two blocks said both.
    let rule = "---------------";
    let blocks = format!("{rule}\nn1\n{rule}\n{gpu}\n{rule}\nn[1-2]\n{rule}\n{other}\n");
    fs::write(sandbox.path("blocks.txt"), blocks).unwrap();
    sandbox.run(&["fleet", "plan", "blocks.txt", "--target", "prod"]).exits(3).tells("1 of 2 hosts");
}

/// A reason that holds a host's number is told of each with its own, the processor is the one that comes with the product, and
/// what of a stack fails on its hosts is told as `gpuenv lock` does.
#[test]
fn hosts_are_told_their_own_numbers() {
    let sandbox =
        Sandbox::new("plan-own", "[stack]\ntorch = \"==2.9.0+cu128\"\n[target.a]\nforward-compat = \"never\"\n");
    let hosts = "n1: Tesla T4, 450.248.02, 7.5\nn2: Quadro RTX 8000, 460.106.00, 7.5\n\
                 n3: NVIDIA GH200 480GB, 570.124.06, 9.0\nn4: NVIDIA B300 SXM6 AC, 580.95.05, 10.3\n";
    fs::write(sandbox.path("h.txt"), hosts).unwrap();
    let ran = sandbox.run(&["fleet", "plan", "h.txt", "--format", "csv"]).exits(1);
    let line = |host: &str| ran.out.lines().find(|line| line.starts_with(host)).unwrap().to_string();
    assert!(line("n1").contains("450.248.02 supports") && !line("n1").contains("460.106.00"), "{}", ran.out);
    assert!(line("n2").contains("460.106.00 supports") && !line("n2").contains("450.248.02"), "{}", ran.out);
    assert!(line("n3").contains(",aarch64,") && line("n4").contains(",x86_64,"), "{}", ran.out);
    let human = sandbox.run(&["fleet", "plan", "h.txt"]).exits(1);
    human
        .tells("driver 450.248.02 supports")
        .tells("driver 460.106.00 supports")
        .tells("warning:")
        .tells("next: write a");
}

/// Hosts whose driver is that of Windows are raised to a branch: which releases Windows has of it is not known.
#[test]
fn drivers_of_windows_are_raised_to_a_branch() {
    let spec = "[stack]\ntorch = \"2.8.0\"\n[target.a]\ngpu = \"RTX 4070 Laptop\"\nplatform = \"wsl2\"\n";
    let sandbox = Sandbox::new("plan-windows", spec);
    let record = json!({ "format": 1, "platform": { "system": "wsl", "arch": "x86_64", "os": "ubuntu22.04" },
        "nvml": { "driver": "517.00", "gpus": [{ "index": 0, "name": "NVIDIA GeForce RTX 4070 Laptop GPU", "compute_capability": "8.9" }] } });
    fs::write(sandbox.path("h.json"), record.to_string()).unwrap();
    let (code, told) = sandbox.json(&["fleet", "plan", "h.json"]);
    let to = told["upgrades"][0]["raises"][0]["to"].as_str().unwrap_or_default();
    assert!(code == 1 && !to.is_empty() && !to.contains('.'), "{told:#}");
}

/// The template may be of WSL2; a host of Linux brings a driver of Linux, which is judged by Linux's numbers.
#[test]
fn a_host_of_linux_is_none_of_wsl2_whatever_the_template_says() {
    let spec =
        "[stack]\ntorch = \"2.6.0+cu124\"\n[target.a]\ngpu = \"RTX 3090\"\nos = \"ubuntu22.04\"\nplatform = \"wsl2\"\n";
    let sandbox = Sandbox::new("plan-not-windows", spec);
    // CUDA 12 needs 525.60.13 on Linux, and 528.33 on Windows.
    for (system, driver, code) in [
        (json!("linux"), "525.105.17", 0),
        (Value::Null, "525.105.17", 0),
        (json!("linux"), "470.82.01", 1),
        (json!("wsl"), "528.33", 0),
        (json!("wsl"), "527.41", 1),
        (Value::Null, "527.41", 1),
    ] {
        let record = json!({ "format": 1, "platform": { "system": system, "arch": "x86_64", "os": "ubuntu22.04" },
            "nvml": { "driver": driver, "gpus": [{ "index": 0, "name": "NVIDIA GeForce RTX 3090", "compute_capability": "8.6" }] } });
        fs::write(sandbox.path("h.json"), record.to_string()).unwrap();
        let (ended, told) = sandbox.json(&["fleet", "plan", "h.json"]);
        assert_eq!(ended, code, "{system} {driver}: {told:#}");
    }
}

/// A host that needs a package first is not served as it is: `gpuenv fleet check` passes it once that is there.
#[test]
fn a_plan_that_rests_on_cuda_compat_says_so() {
    let sandbox = Sandbox::new("plan-compat", "[stack]\ntorch = \"==2.5.1+cu124\"\n[target.a]\n");
    let hosts = "n1: NVIDIA A100-PCIE-40GB, 470.57.02\nn2: NVIDIA A100-PCIE-40GB, 550.54.15\n";
    fs::write(sandbox.path("hosts.txt"), hosts).unwrap();
    let told = sandbox.run(&["fleet", "plan", "hosts.txt"]).exits(0);
    let told =
        told.tells("1 host with cuda-compat-12-4 installed").tells("all 2 hosts with the drivers that they have");
    let told = told.tells("with one stack; 1 host needs the cuda-compat package named above.");
    assert!(!told.out.contains("as they are"), "{}", told.out);
    fs::write(sandbox.path("hosts.txt"), hosts.replace("470.57.02", "525.60.13")).unwrap();
    sandbox.run(&["fleet", "plan", "hosts.txt"]).exits(0).tells("all 2 hosts as they are:").tells("with one stack.");
}

#[test]
fn a_plan_is_told_in_every_format() {
    let sandbox = Sandbox::new("plan-formats", SPEC);
    fs::write(sandbox.path("h.ndjson"), mixed()).unwrap();
    let args = ["fleet", "plan", "h.ndjson", "--target", "prod"];
    let (code, told) = sandbox.json(&args);
    let known: Value = serde_json::from_str(&schema::find("fleet-plan").unwrap().text()).unwrap();
    let wrong = validate::errors(&known, &told);
    assert!(wrong.is_empty(), "{wrong:#?}\n{told:#}");
    assert_eq!((code, &told["status"], &told["hosts"]), (1, &json!("some"), &json!(45)), "{told:#}");
    assert_eq!(told["fewest"]["stacks"][0]["hosts"], json!(42));
    let old = &told["unserved"][0];
    assert_eq!((&old["hosts"], &old["proven"]), (&json!(3), &json!(true)));
    assert!(old["why"].to_string().contains("418.40.04"), "{old:#}");
    // In the end all 45 run one stack, and nobody's driver goes down.
    let last = told["upgrades"].as_array().unwrap().last().unwrap();
    assert_eq!(last["then"]["hosts"], json!(45), "{told:#}");
    let human = sandbox.run(&args).exits(1);
    let human = human
        .tells("1 stack runs on 42 of 45 hosts")
        .tells("NVIDIA H100 NVL")
        .tells("raise 3 hosts from 418.40.04 to")
        .tells("raise 45 hosts to");
    human.tells("FAIL: 3 of 45 hosts").tells("help: with driver");
    let csv = sandbox.run(&[&args[..], &["--format", "csv"]].concat()).exits(1).out;
    assert_eq!(csv.lines().count(), 46);
    assert!(
        csv.lines().any(|line| line.starts_with("new0,NVIDIA H100 NVL,570.124.06,ubuntu22.04,x86_64,1,torch")),
        "{csv}"
    );
    let page = sandbox.run(&[&args[..], &["--format", "html"]].concat()).exits(1).out;
    assert!(page.starts_with("<!doctype html>") && page.contains("<svg") && page.contains("418.40.04"));
    assert!(
        !page.contains("http://") && !page.contains("https://") && !page.contains("<script"),
        "it needs no network"
    );
    sandbox.run(&[&args[..], &["--format", "html", "-o", "plan.html"]].concat()).exits(1).says("");
    assert!(fs::read_to_string(sandbox.path("plan.html")).unwrap().starts_with(&page));
}

/// A stack's driver is told as what each host needs: none is shown below that it is not good for.
#[test]
fn a_driver_that_only_some_hosts_need_is_told_so() {
    let sandbox = Sandbox::new("plan-drivers", &SPEC.replace(">=2.5", "2.7.1+cu118"));
    let hosts = [("NVIDIA H100 NVL", "9.0", "525.60.13"), ("Tesla V100-SXM2-16GB", "7.0", "450.80.02")];
    let lines = hosts.map(|(gpu, cc, driver)| named(gpu, &host(gpu, cc, driver, "ubuntu22.04")));
    fs::write(sandbox.path("h.ndjson"), lines.join("\n")).unwrap();
    let told = sandbox.run(&["fleet", "plan", "h.ndjson", "--target", "prod"]).exits(0);
    told.tells("driver 450.80.02 or newer").tells("(520.56.06 for some of them)");
}

/// Builds of one release for older CUDAs are of the same stack where each target may have its own: no driver is raised
/// for the sake of a variant.
#[test]
fn no_driver_is_raised_for_nothing() {
    let spec = "[stack]\ntorch = \"2.6\"\n[target.prod]\ngpu = \"A100\"\nos = \"ubuntu22.04\"\n[resolve]\nshare = \"versions\"\n";
    let sandbox = Sandbox::new("plan-versions", spec);
    let hosts = [
        ("NVIDIA A100-SXM4-40GB", "8.0", "535.183.01"),
        ("Tesla V100-SXM2-16GB", "7.0", "470.82.01"),
        ("NVIDIA H100 80GB HBM3", "9.0", "550.54.15"),
    ];
    let plan = |hosts: &[(&'static str, &'static str, &str)]| {
        let lines = hosts.iter().map(|(gpu, cc, driver)| named(gpu, &host(gpu, cc, driver, "ubuntu22.04")));
        fs::write(sandbox.path("h.ndjson"), lines.collect::<Vec<_>>().join("\n")).unwrap();
        sandbox.json(&["fleet", "plan", "h.ndjson"]).1
    };
    let all = plan(&hosts);
    assert_eq!((&all["most"]["stack"]["hosts"], &all["upgrades"]), (&json!(3), &json!([])), "{all:#}");
    // Of three hosts only the one is raised that needs it.
    sandbox.write(&spec.replace("2.6", "2.9"));
    let all = plan(&hosts[..2].iter().chain(&[("NVIDIA A10", "8.6", "418.40.04")]).copied().collect::<Vec<_>>());
    for step in all["upgrades"].as_array().unwrap() {
        for raise in step["raises"].as_array().unwrap() {
            assert_ne!(raise["from"], json!("535.183.01"), "{all:#}");
        }
    }
}

#[test]
fn the_exit_code_says_whether_all_are_served() {
    let sandbox = Sandbox::new("plan-exits", "[stack]\ntorch = \"2.5.1\"\n[target.prod]\ngpu = \"H100 NVL\"\n");
    let write = |text: &str| fs::write(sandbox.path("h.ndjson"), text).unwrap();
    let plan = |code: i32| sandbox.run(&["fleet", "plan", "h.ndjson"]).exits(code);
    write(&named("a", &healthy()));
    plan(0).tells("PASS: every host can run the spec, with one stack");
    write(&format!("{}\n{{\"broken\": \n", named("a", &healthy())));
    plan(3).tells("UNKNOWN").tells("cut off");
    let dead = json!({ "format": 1, "platform": { "arch": "x86_64", "system": "linux" }, "pci": [{ "address": "0000:65:00.0" }] });
    write(&named("dead", &dead));
    plan(3).tells("its driver did not answer");
    let empty = json!({ "format": 1, "platform": { "arch": "x86_64", "system": "linux", "os": "ubuntu22.04" } });
    write(&named("cpu", &empty));
    plan(0).tells("no GPU");
    write(&format!("{}\n{{\"broken\": \n", named("old", &host("Tesla T4", "7.5", "418.40.04", "ubuntu22.04"))));
    plan(1).tells("FAIL");
    write("\n");
    plan(2).says("no host");
    write(&named("a", &healthy()));
    sandbox.run(&["fleet", "plan", "h.ndjson", "--target", "x"]).exits(2).says("no target `x`");
    sandbox.run(&["fleet", "plan", "h.ndjson", "--format", "ndjson"]).exits(2).says("no `--format ndjson`");
    sandbox.write(SPEC);
    plan(2).says("several targets").says("prod, other");
}

/// The system of a container is the image's: the hosts' own does not count there.
#[test]
fn in_containers_the_system_of_hosts_does_not_count() {
    let sandbox = Sandbox::new(
        "plan-container",
        "[stack]\ntorch = \"2.8.0\"\n[target.prod]\ngpu = \"A100\"\nos = \"ubuntu22.04\"\n",
    );
    let record = host("NVIDIA A100-SXM4-80GB", "8.0", "580.65.06", "centos7");
    fs::write(sandbox.path("h.ndjson"), named("old", &record)).unwrap();
    sandbox.run(&["fleet", "plan", "h.ndjson"]).exits(1).tells("glibc");
    sandbox.write(&(sandbox.spec() + "image = \"nvidia/cuda\"\n"));
    sandbox.run(&["fleet", "plan", "h.ndjson"]).exits(0);
}

/// Names of hosts and GPUs come from anybody.
#[test]
fn what_sources_hold_is_made_harmless() {
    let sandbox = Sandbox::new("plan-hostile", "[stack]\ntorch = \"2.5.1\"\n[target.prod]\ngpu = \"H100 NVL\"\n");
    let evil = "=cmd|' /C calc'!A0\u{1b}[31m<script>";
    let mut strange = host("x", "9.0", "550.54.15", "ubuntu22.04");
    strange["nvml"]["gpus"][0]["name"] = json!(evil);
    strange["nvml"]["gpus"][0]["compute_capability"] = Value::Null;
    let lines =
        [named(evil, &healthy()), named("b", &strange), named(evil, &host("Tesla T4", "7.5", "418.40.04", "rhel8"))];
    fs::write(sandbox.path("h.ndjson"), lines.join("\n")).unwrap();
    for format in ["human", "csv", "html", "json"] {
        let out = sandbox.run(&["fleet", "plan", "h.ndjson", "-v", "--format", format]).exits(1).out;
        assert!(!out.contains('\u{1b}') && (format != "html" || !out.contains("<script>")), "{format}: {out}");
        assert!(format != "csv" || !out.contains("\n="), "{out}");
    }
}

/// Thousands of hosts of hundreds of classes: told with the bound, soon.
#[test]
fn large_fleets_are_planned_with_a_bound() {
    let mut chance = Chance(99);
    let mut inventory = Inventory::default();
    let spec = spec::parse("[stack]\ntorch = \"*\"\n[target.prod]\ngpu = \"A100\"\n").unwrap();
    for at in 0..2_000 {
        let record = host::read_any(&chance.machine().record().to_string()).unwrap();
        inventory.add(format!("n{at}"), plan::essence(record, &spec.targets[0], &BUILTIN));
    }
    let began = Instant::now();
    let plan = plan::plan(&spec, &spec.targets[0], &Problem::new(&BUILTIN), inventory, Steps::LIMIT).unwrap();
    println!("{} hosts, {} classes, {} kinds: {:?}", plan.hosts, plan.classes.len(), plan.kinds, began.elapsed());
    assert!(plan.classes.len() > 100 && plan.kinds > plan::EXACT, "{} {}", plan.classes.len(), plan.kinds);
    assert!(plan.at_least >= 2 && plan.at_least <= plan.fewest.len(), "{} {}", plan.at_least, plan.fewest.len());
    assert!(plan.most.as_ref().unwrap().hosts <= plan.at_most);
    assert!(!plan.upgrades.is_empty() && !plan.gave_up);
}

/// Where each kind of host has a variant of its own, a driver that changes the variant alone is no reason to raise it.
#[test]
fn nobody_raises_a_driver_for_another_variant_of_the_same_release() {
    let spec = "[stack]\ntorch = \"2.6\"\n[target.gpu]\ngpu = \"A100\"\n[resolve]\nshare = \"versions\"\n";
    let sandbox = Sandbox::new("plan-variants", spec);
    fs::write(
        sandbox.path("hosts.txt"),
        "n1: NVIDIA A100-SXM4-40GB, 535.183.01\nn2: NVIDIA A100-SXM4-40GB, 470.82.01\nn3: Tesla T4, 450.80.02\n",
    )
    .unwrap();
    let (code, plan) = sandbox.json(&["fleet", "plan", "hosts.txt"]);
    assert_eq!((code, &plan["upgrades"]), (0, &json!([])), "{plan:#}");
}
