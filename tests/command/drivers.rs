//! Drivers, from spec to lock: which release is the least, which cuda-compat package may stand before which driver,
//! and what a range promises.

use std::sync::atomic::{AtomicUsize, Ordering};

use gpuenv::catalog::BUILTIN;
use serde_json::Value;

use crate::common::sandbox::Sandbox;

/// What a spec comes to: its lock as JSON, or the culprits.
fn locked(spec: &str) -> Result<Value, Vec<String>> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let sandbox = Sandbox::new(&format!("driver-{}", COUNT.fetch_add(1, Ordering::Relaxed)), spec);
    match sandbox.json(&["lock"]) {
        (0, document) => Ok(document),
        (1, document) => {
            let culprits = document["culprits"].as_array().unwrap();
            Err(culprits.iter().map(|key| key.as_str().unwrap().to_string()).collect())
        }
        (code, document) => panic!("exit {code}: {document:#}\n{spec}"),
    }
}

fn one(stack: &str, target: &str) -> String {
    format!("[stack]\n{stack}\n[target.t]\n{target}\n")
}

/// The driver of the only target: its minimum, its mode, the cuda-compat package.
#[derive(Debug, PartialEq)]
struct Told {
    minimum: String,
    mode: String,
    cuda: String,
    compat: Option<String>,
}

fn told(torch: &str, gpu: &str, driver: &str) -> Result<Told, Vec<String>> {
    told_of(torch, &format!("gpu = {gpu}\ndriver = \"{driver}\""))
}

fn told_of(torch: &str, target: &str) -> Result<Told, Vec<String>> {
    let document = locked(&one(&format!("torch = \"{torch}\""), target))?;
    let driver = &document["targets"]["t"]["driver"];
    let text = |key: &str| driver[key].as_str().map(str::to_string);
    let word = |key: &str| text(key).unwrap_or_else(|| panic!("{document:#}"));
    Ok(Told { minimum: word("minimum"), mode: word("mode"), cuda: word("cuda"), compat: text("compat") })
}

/// The cuda-compat package of an answer; none of a conflict of torch and driver.
fn compat(torch: &str, gpu: &str, driver: &str) -> Option<String> {
    match told(torch, gpu, driver) {
        Ok(Told { mode, compat, .. }) => {
            assert_eq!(mode == "forward-compat", compat.is_some(), "{torch} {gpu} {driver}");
            Some(compat.unwrap_or_else(|| mode.clone()))
        }
        Err(culprits) => {
            assert_eq!(culprits, ["stack.torch", "target.t.driver"], "{torch} {gpu} {driver}");
            None
        }
    }
}

const A100: &str = "\"A100-PCIE-40GB\"";

mod cuda_compat {
    use super::*;

    #[test]
    fn stands_before_the_branches_and_patch_levels_that_are_named() {
        // cuda-compat-13-0 names 535 from 535.86 on, 550 from 550.54, 565, 570, 575; no other branch between them.
        let package = Some("cuda-compat-13-0".to_string());
        for (driver, expected) in [
            ("525.147.05", None),
            ("535.54.03", None),
            ("535.86.05", package.clone()),
            ("535.183.01", package.clone()),
            ("545.23.06", None),
            ("550.40.07", None),
            ("550.54.14", package.clone()),
            ("560.28.03", None),
            ("565.57.01", package.clone()),
            ("570.86.15", package.clone()),
            ("575.51.02", package),
            ("580.65.06", Some("native".to_string())),
        ] {
            assert_eq!(compat("2.9.0+cu130", A100, driver), expected, "{driver}");
        }
    }

    #[test]
    fn is_never_of_the_branch_that_the_driver_is_of() {
        // 580.50 is older than what CUDA 13 asks for; its own branch's package would be 13.0.
        assert_eq!(compat("2.9.0+cu130", A100, "580.50"), Some("cuda-compat-13-1".to_string()));
        assert_eq!(told("2.9.0+cu130", A100, "580").unwrap().compat, None, "a branch has its later patch levels");
    }

    #[test]
    fn below_its_base_there_is_none() {
        let v100 = "\"V100\"";
        for (torch, driver, expected) in [
            ("1.12.1+cu113", "418.39", None),
            ("1.12.1+cu113", "418.40.04", Some("cuda-compat-11-3")),
            ("1.12.1+cu113", "440.33.01", Some("cuda-compat-11-3")),
            ("2.3.1+cu118", "440.33.01", None),
            ("2.3.1+cu118", "450.51.05", Some("cuda-compat-11-8")),
        ] {
            assert_eq!(compat(torch, v100, driver).as_deref(), expected, "{torch} {driver}");
        }
    }

    #[test]
    fn its_own_libcuda_must_drive_the_gpu() {
        // 470 is the last branch for Kepler, cuda-compat-11-8 is made from 520.
        assert_eq!(compat("2.3.1+cu118", "\"V100\"", "450.51.05").as_deref(), Some("cuda-compat-11-8"));
        assert_eq!(compat("2.3.1+cu118", "\"Tesla K80\"", "450.51.05"), None);
        assert_eq!(compat("1.12.1+cu113", "\"Tesla K80\"", "418.226.00").as_deref(), Some("cuda-compat-11-3"));
    }

    #[test]
    fn the_driver_below_it_must_drive_the_gpu_too() {
        let culprits = told("2.3.1+cu118", "\"H100 PCIe\"", "470.57.02").unwrap_err();
        assert_eq!(culprits, ["target.t.gpu", "target.t.driver"]);
    }

    #[test]
    fn takes_data_centre_boards_alone_and_each_of_them() {
        assert!(told("2.9.0+cu130", A100, "550.54.15").unwrap().compat.is_some());
        for gpu in ["\"RTX 3090\"", "\"sm_80\"", "[\"A100-PCIE-40GB\", \"RTX 3090\"]"] {
            assert_eq!(compat("2.9.0+cu130", gpu, "550.54.15"), None, "{gpu}");
        }
    }

    #[test]
    fn is_for_hosts_whose_driver_is_given() {
        let free = told_of("2.9.0+cu130", &format!("gpu = {A100}")).unwrap();
        assert_eq!((free.mode.as_str(), free.minimum.as_str()), ("native", "580.65.06"));
        let bounded = told("2.9.0+cu130", A100, "<=575").unwrap_err();
        assert_eq!(bounded, ["stack.torch", "target.t.driver"]);
        let never = format!("gpu = {A100}\ndriver = \"550.54.15\"\nforward-compat = \"never\"");
        assert!(told_of("2.9.0+cu130", &never).is_err());
    }

    #[test]
    fn the_minimum_is_the_oldest_driver_of_its_branch_that_takes_the_same_package() {
        for (driver, minimum) in
            [("550.54.15", "550.54.14"), ("575.51.02", "575.51.02"), ("535", "535.86.05"), ("550", "550.54.14")]
        {
            let told = told("2.9.0+cu130", A100, driver).unwrap();
            assert_eq!(told.minimum, minimum, "{driver}");
        }
    }
}

mod betas {
    use super::*;

    fn is_beta(version: &str) -> bool {
        let row = BUILTIN.drivers.iter().find(|row| row.version.as_str() == version);
        row.unwrap_or_else(|| panic!("{version} is no release")).beta
    }

    /// Branch 455 opens with a beta, at which a rule about boards of capability 8.6 begins.
    #[test]
    fn nobody_is_sent_to_one() {
        assert!(is_beta("455.22.04"));
        for target in [
            "gpu = \"sm_86\"".to_string(),
            "gpu = \"RTX 3090\"".to_string(),
            "gpu = \"sm_86\"\ndriver = \"<=455\"".to_string(),
            "gpu = \"RTX A6000\"\ndriver = \"<=455\"".to_string(),
            "gpu = \"RTX 3090\"\ndriver = \"455\"".to_string(),
        ] {
            let minimum = told_of("1.8.1+cu111", &target).unwrap().minimum;
            assert_eq!(minimum, "455.23.04", "{target}");
        }
    }

    #[test]
    fn no_board_and_no_cuda_has_one_for_its_minimum() {
        let torch = ["1.4.0+cu100", "1.8.1+cu102", "1.9.1+cu111", "1.13.1+cu117", "2.5.1+cu124", "2.9.0+cu130"];
        let boards = ["V100", "T4", "A100", "RTX 3070", "A40", "RTX 4090", "H100", "L40S", "B200", "RTX 5090"];
        let mut seen = 0;
        for (torch, gpu) in torch.iter().flat_map(|torch| boards.iter().map(move |gpu| (torch, gpu))) {
            if let Ok(told) = told_of(torch, &format!("gpu = \"{gpu}\"")) {
                assert!(!is_beta(&told.minimum), "{torch} {gpu}: {}", told.minimum);
                seen += 1;
            }
        }
        assert!(seen > 30, "{seen}");
    }

    #[test]
    fn the_first_listing_of_a_board_is_a_hint() {
        let board = "gpu = [{ name = \"NVIDIA X100\", cc = \"8.6\", class = \"workstation\", architecture = \"Ampere\", \
                     first_driver = \"470.56.05\", source = \"acme\", driver_source = \"acme\" }]\n";
        let source = "source = [{ id = \"acme\", at = \"https://wiki.acme.example/\", kind = \"measured\", seen = \"2026-11-18\" }]\n";
        let spec = one("torch = \"1.13.1+cu117\"", "gpu = \"X100\"") + "[catalog]\noverlays = [\"site.toml\"]\n";
        let sandbox = Sandbox::new("driver-first-listing", &spec);
        std::fs::write(sandbox.path("site.toml"), format!("{source}{board}")).unwrap();
        let (code, document) = sandbox.json(&["lock"]);
        // What the generation needs binds; that the board stands in a later list is said.
        assert_eq!((code, &document["targets"]["t"]["driver"]["minimum"]), (0, &"455.23.04".into()), "{document:#}");
        let codes: Vec<&str> =
            document["warnings"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect();
        assert!(codes.contains(&"gpu-not-listed"), "{document:#}");
    }

    #[test]
    fn hosts_that_have_one_are_judged_by_it() {
        // Every 525.47 is a beta from before CUDA 12 was out.
        assert_eq!(told("2.5.1+cu124", "\"RTX 3090\"", "525.47").unwrap_err(), ["stack.torch", "target.t.driver"]);
        assert_eq!(told("2.5.1+cu124", "\"RTX 3090\"", "525.47.35").unwrap_err(), ["stack.torch", "target.t.driver"]);
        assert_eq!(told("2.5.1+cu124", "\"RTX 3090\"", "535.43.08").unwrap().mode, "minor-version");
    }
}

/// The drivers of a list all occur: it holds where each of them does by itself.
mod lists {
    use super::*;

    const A100: &str = "gpu = \"A100-SXM4-80GB\"\n";
    const TORCH: &str = "torch = \"2.9.0+cu130\"\npython = \"3.12\"";

    fn told(name: &str, stack: &str, target: &str) -> (i32, String) {
        let ran =
            Sandbox::new(&format!("list-{name}"), &one(stack, target)).with(&["lock", "-v"], &[("COLUMNS", "400")]);
        (ran.code, ran.err.clone())
    }

    #[test]
    fn a_list_holds_where_each_of_its_drivers_does() {
        let v100 = "gpu = \"V100-SXM2-16GB\"\n";
        let image = format!("{A100}image = \"ghcr.io/me/x:1\"\nimage-requires = \"driver>=535,driver<536\"\n");
        let older = "torch = \"2.6.0\"";
        for (stack, target, drivers) in [
            // cuda-compat-13-0 is for 535, 550 from 550.54 on, 565, 570 and 575.
            (TORCH, A100, &["535", "560", "550.40.07", "550.54.14", ">=580,<581", "535.54.03"][..]),
            (older, v100, &["535", "590", ">=575", "620"]),
            (older, &image, &["535", "550", "535.104.05"]),
            (older, "gpu = \"RTX 3090\"\n", &["470", "525", "590"]),
        ] {
            let holds = |driver: &str| locked(&one(stack, &format!("{target}driver = {driver}"))).is_ok();
            let alone: Vec<bool> = drivers.iter().map(|driver| holds(&format!("\"{driver}\""))).collect();
            for (at, first) in drivers.iter().enumerate() {
                // Of each pair one order.
                let is_asked = |other: usize| (at + other) % 2 == usize::from(other > at);
                for (other, second) in drivers.iter().enumerate().filter(|(other, _)| *other != at && is_asked(*other))
                {
                    let list = format!("[\"{first}\", \"{second}\"]");
                    assert_eq!(holds(&list), alone[at] && alone[other], "{target}{list}");
                }
            }
        }
    }

    /// One environment has one cuda-compat: that which all listed drivers take.
    #[test]
    fn listed_drivers_share_one_cuda_compat() {
        let locked = locked(&one(TORCH, &format!("{A100}driver = [\"550.54.14\", \"535\", \"580\"]"))).unwrap();
        let driver = &locked["targets"]["t"]["driver"];
        assert_eq!((&driver["minimum"], &driver["compat"]), (&"535.86.05".into(), &"cuda-compat-13-0".into()));
    }

    /// A container starts on each branch that is listed, from the release on that the package takes.
    #[test]
    fn exports_admit_every_listed_branch() {
        let image = "image = \"nvidia/cuda\"\nos = \"ubuntu22.04\"\n";
        let requires = |name: &str, drivers: &str| {
            let sandbox =
                Sandbox::new(&format!("list-{name}"), &one(TORCH, &format!("{A100}{image}driver = {drivers}")));
            sandbox.run(&["lock"]).exits(0);
            sandbox.run(&["lock", "--check"]).exits(0);
            let out = sandbox.run(&["export", "dockerfile"]).exits(0).out.clone();
            let (_, requires) = out.split_once("NVIDIA_REQUIRE_CUDA=\"").unwrap();
            requires.split('"').next().unwrap().replace(",arch>=8.0", "")
        };
        let (native, first) = ("cuda>=13.0", "driver>=535.86.05,driver<536");
        assert_eq!(requires("one", "\"535\""), format!("{native} {first}"));
        let several = format!("{native} {first} driver>=550.54.14,driver<551 driver>=565.57.01,driver<566");
        // What brings the CUDA by itself needs no package.
        assert_eq!(requires("several", "[\"565\", \"535\", \"580\", \"550\"]"), several);
        assert_eq!(requires("native", "[\"580\", \"590\"]"), "driver>=580.65.06");
    }

    #[test]
    fn the_driver_that_does_not_hold_is_named_and_left_out_by_a_fix() {
        for (name, drivers, says, fix) in [
            (
                "newer",
                "[\"535\", \"560\"]",
                "`driver` lists 560, which means any release of it; the oldest, 560.28.03,",
                "to 535",
            ),
            (
                "older",
                "[\"525\", \"535\"]",
                "`driver` lists 525, which means any release of it; the oldest, 525.53,",
                "to 535",
            ),
            (
                "exact",
                "[\"535.104.05\", \"550.40.07\", \"565\"]",
                "driver 550.40.07 supports CUDA up to 12.4",
                "to [\"535.104.05\", \"565\"]",
            ),
        ] {
            let (code, told) = told(name, TORCH, &format!("{A100}driver = {drivers}"));
            assert!(code == 1 && told.contains(says), "{told}");
            assert!(told.contains(&format!("change driver from {drivers} {fix}")), "{told}");
            // No range that admits the one that does not hold takes the place of the list.
            assert!(!told.contains("to >=53") && !told.contains("to 535."), "{told}");
        }
        // `>=` promises the oldest and no later one.
        assert!(locked(&one("torch = \"2.6.0\"", "gpu = \"V100-SXM2-16GB\"\ndriver = \">=535\"")).is_ok());
    }

    #[test]
    fn a_lock_of_a_list_stays_as_it_is() {
        let spec = one(TORCH, &format!("{A100}driver = [\"565\", \"535\"]"));
        let sandbox = Sandbox::new("list-relock", &spec);
        sandbox.run(&["lock"]).exits(0).says("you have 535 or 565");
        sandbox.run(&["lock", "--check"]).exits(0);
        sandbox.write(&spec.replace("\"565\", \"535\"", "\"565\", \"560\", \"535\""));
        sandbox.run(&["lock"]).exits(1);
        sandbox.run(&["lock", "--check"]).exits(1);
    }
}

mod ranges {
    use super::*;

    #[test]
    fn a_range_promises_its_oldest_branch_and_no_later_one() {
        for driver in [">=525", "570 || 525", ">=525,<580", ">=525.60.13"] {
            let culprits = told("2.7.1", "\"RTX 5090\"", driver).unwrap_err();
            assert_eq!(culprits, ["target.t.gpu", "target.t.driver"], "{driver}");
        }
        assert_eq!(told("2.7.1", "\"RTX 5090\"", "575 || 570").unwrap().cuda, "12.8");
        // cu124 would do on 535, which is not the oldest that is admitted.
        assert!(told("2.5.1+cu124", "\"RTX 3090\"", "535 || 470").is_err());
    }

    #[test]
    fn releases_between_two_turning_points_are_hosts_as_well() {
        // Nothing changes between 525.60.13 and 525.85, so no rule names a release within these.
        for driver in [">=525.78.01,<525.85.05", ">525.60.13,<525.85", "525.78"] {
            let told = told("2.5.1+cu124", "\"RTX 3090\"", driver).unwrap_or_else(|keys| panic!("{driver}: {keys:?}"));
            assert_eq!((told.minimum.as_str(), told.cuda.as_str()), ("525.60.13", "12.0"), "{driver}");
        }
    }

    #[test]
    fn of_branches_that_nobody_lists_the_lowest_counts() {
        // 526 is judged as 525, 531 as 530.
        for driver in ["526 || 531", "531 || 526", ">=526,<527 || >=531,<532"] {
            assert_eq!(told("2.5.1+cu124", "\"RTX 3090\"", driver).unwrap().cuda, "12.0", "{driver}");
        }
        assert_eq!(told("2.5.1+cu124", "\"RTX 3090\"", "531").unwrap().cuda, "12.1");
        for driver in ["516 || 531", "531 || 516"] {
            let culprits = told("2.5.1+cu124", "\"RTX 3090\"", driver).unwrap_err();
            assert_eq!(culprits, ["stack.torch", "target.t.driver"], "{driver}");
        }
    }
}

/// A range leaves a choice, be no branch within it in support.
#[test]
fn within_a_range_the_newest_release_is_recommended() {
    for (at, (driver, branch, until)) in [
        ("driver = \"535\"", "535", "2026-06"),
        ("driver = \"<=535\"", "535", "2026-06"),
        ("driver = \"<580\"", "570", "2026-02"),
        // Of those within it 555 is a new-feature branch.
        ("driver = \">=535,<560\"", "550", "2025-04-17"),
        ("driver = \">=535\"", "595", "2027-03"),
        ("driver = \"535\"\ndriver-policy = \"long-term\"", "535", "2026-06"),
    ]
    .into_iter()
    .enumerate()
    {
        let spec = one("torch = \"*\"", &format!("gpu = \"A100-PCIE-40GB\"\n{driver}"));
        let document = locked(&spec).unwrap();
        let recommended = &document["targets"]["t"]["driver"]["recommended"];
        assert_eq!((&recommended["branch"], &recommended["until"]), (&branch.into(), &until.into()), "{driver}");
        let ends = if *until < *BUILTIN.day().as_str() { "support ended" } else { "supported until" };
        let ran = Sandbox::new(&format!("ranged-{at}"), &spec).run(&["lock"]);
        let said = ran.out + &ran.err;
        assert!(said.contains(&format!("(R{branch}, {ends} {until})")), "{said}");
    }
    // Be it that no branch in support drives the GPU, or that none within the range is known to list each board of the name.
    for (gpu, driver, release) in [("K80", "", "470.256.02"), ("A100", "driver = \"450\"", "450.")] {
        let document = locked(&one("torch = \"*\"", &format!("gpu = \"{gpu}\"\n{driver}"))).unwrap();
        let recommended = &document["targets"]["t"]["driver"]["recommended"]["release"];
        assert!(recommended.as_str().is_some_and(|it| it.starts_with(release)), "{gpu}: {document:#}");
    }
    for driver in ["535.183.01", "550\"\ndriver-policy = \"long-term", "555\"\ndriver-policy = \"production"] {
        let spec = one("torch = \"*\"", &format!("gpu = \"A100-PCIE-40GB\"\ndriver = \"{driver}\""));
        assert!(locked(&spec).unwrap()["targets"]["t"]["driver"].get("recommended").is_none(), "{driver}");
    }
}
