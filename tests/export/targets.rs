//! Which target is meant, and when that has to be said.

use miette::Diagnostic;

use gpuenv::export::{ExportError, FORMATS, Options, format};

use crate::{locks, render, render_for};

use gpuenv::lock::Lock;

#[test]
fn where_the_results_differ_a_target_must_be_named() {
    let needed = Err(ExportError::TargetNeeded(vec!["ci".into(), "lab".into()]));
    for name in ["env", "requirements", "dockerfile"] {
        let mut lock = locks::mixed();
        lock.target.get_mut("lab").unwrap().image = Some("nvidia/cuda:12.4.1-devel-ubuntu22.04".into());
        assert_eq!(render(name, &lock), needed, "{name}");
        assert!(render_for(name, &lock, "lab").is_ok(), "{name}");
    }
}

#[test]
fn equal_results_need_no_target() {
    let mut lock = locks::container();
    let twin = lock.target["prod"].clone();
    lock.target.insert("stage".into(), twin);
    lock.wheel[0].targets.push("stage".into());
    let mut of_all = 0;
    for format in FORMATS {
        let [prod, stage] = ["prod", "stage"].map(|target| render_for(format.name, &lock, target));
        match render(format.name, &lock) {
            Err(ExportError::TargetNeeded(_)) => assert_ne!(prod, stage, "{}", format.name),
            Ok(_) => of_all += 1,
            // It knows no address of the wheel.
            Err(error) => assert_eq!((format.name, error.code()), ("pylock", "unknown-address")),
        }
    }
    assert!(of_all >= 12, "{of_all}");
}

#[test]
fn unknown_names_come_with_suggestions() {
    let help = |error: ExportError| error.help().map(|help| help.to_string());
    let meant = |name: &str| Some(format!("did you mean `{name}`?"));
    assert_eq!(help(render_for("env", &locks::container(), "prdo").unwrap_err()), meant("prod"));
    let elsewhere = render_for("env", &locks::container(), "elsewhere").unwrap_err();
    assert!(elsewhere.to_string().contains("it has prod"), "{elsewhere}");
    assert_eq!(help(elsewhere), None);
    assert_eq!(help(format("dockrfile").unwrap_err()), meant("dockerfile"));
}

/// Whoever sets a rule about drivers aside has GPUs all the same.
#[test]
fn a_gpu_is_handed_on_where_nothing_is_asked_of_its_driver() {
    let with = |change: fn(&mut Lock)| {
        let mut lock = locks::container();
        lock.target.get_mut("prod").unwrap().driver = None;
        change(&mut lock);
        lock
    };
    let named = with(|_| ());
    let unsaid = with(|lock| lock.target.get_mut("prod").unwrap().gpu.clear());
    let cpu = locks::without_gpu(locks::container());
    for (name, word) in [
        ("compose", "capabilities: [\"gpu\"]"),
        ("devcontainer", "--gpus=all"),
        ("kubernetes", "nvidia.com/gpu: \"1\""),
        ("slurm", "--gres=gpu:1"),
        ("dockerfile", "NVIDIA_VISIBLE_DEVICES"),
        ("apptainer", "NVIDIA_VISIBLE_DEVICES"),
        ("github-actions", "--gpus all"),
        ("pixi", "system-requirements"),
    ] {
        for (lock, expected) in [(&named, true), (&unsaid, true), (&cpu, false)] {
            let text = render(name, lock).unwrap();
            assert_eq!(text.contains(word), expected, "{name}\n{text}");
            assert!(!text.contains("driver-version") && !text.contains("driver>="), "{name}\n{text}");
        }
    }
    assert!(render("kubernetes", &named).unwrap().contains("nvidia.com/gpu.compute.major"));
}

/// A cuda-compat is chosen for one branch: a later one runs the lock only if it brings the CUDA itself.
#[test]
fn branches_above_that_of_a_compat_package_are_not_admitted() {
    let mut lock = locks::container();
    let target = lock.target.get_mut("prod").unwrap();
    target.driver = Some(locks::driver("forward-compat"));
    target.driver.as_mut().unwrap().minimum = Some("470.57.02".into());
    let text = render("kubernetes", &lock).unwrap();
    let after = |key: &str| {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let at = lines.iter().enumerate().filter(|(_, line)| line.contains(key)).map(|(at, _)| at);
        at.map(|at| format!("{} {}", lines[at + 1], lines[at + 3])).collect::<Vec<_>>()
    };
    let branch = after("cuda.driver-version.major");
    assert!(branch.iter().all(|one| one == "operator: \"In\" - \"470\"") && !branch.is_empty(), "{text}");
    assert_eq!(
        after("cuda.runtime-version.major"),
        ["operator: \"Gt\" - \"12\"", "operator: \"In\" - \"12\""],
        "{text}"
    );
    let text = render("dockerfile", &lock).unwrap();
    assert!(text.contains("cuda>=12.0,arch>=9.0 driver>=470.57.02,driver<471,arch>=9.0"), "{text}");
}

/// Pods go to no branch of drivers on which the image is not started, though later ones start it.
#[test]
fn branches_that_the_image_excepts_are_not_admitted() {
    let mut lock = locks::container();
    let driver = lock.target.get_mut("prod").unwrap().driver.as_mut().unwrap();
    (driver.minimum, driver.except) = (Some("535.43.02".into()), vec!["545".into(), "555".into()]);
    let text = render("kubernetes", &lock).unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| line.contains("\"NotIn\"")).unwrap_or_else(|| panic!("{text}"));
    assert!(
        lines[at - 1].contains("cuda.driver-version.major") && lines[at + 2..at + 4] == ["- \"545\"", "- \"555\""],
        "{text}"
    );
    let options = Options { target: Some("prod".into()), ..Options::default() }.with("dra", "");
    let text = format("kubernetes").unwrap().render(&lock, &options).unwrap();
    assert!(text.contains("compareTo(semver('545.0.0')) < 0 || "), "{text}");
}

#[test]
fn every_export_is_the_same_text_each_time() {
    for format in FORMATS.iter().filter(|format| format.name != "pylock") {
        assert_eq!(render(format.name, &locks::container()), render(format.name, &locks::container()));
        assert!(render(format.name, &locks::container()).unwrap().ends_with('\n'));
    }
}

/// Targets are found by their names' order, in which a lock need not have stayed.
#[test]
fn a_list_of_targets_that_somebody_turned_round_says_the_same() {
    let written = include_str!("../../examples/mixed-fleet/gpuenv.lock");
    let turned = written.replace("[\"hopper\", \"volta\"]", "[\"volta\", \"hopper\"]");
    assert_ne!(turned, written);
    let [written, turned] = [written, &turned].map(|text| gpuenv::lock::parse(text).unwrap());
    for target in ["hopper", "volta"] {
        let [written, turned] = [&written, &turned].map(|lock| render_for("requirements", lock, target).unwrap());
        assert_eq!(turned, written, "{target}");
    }
}
