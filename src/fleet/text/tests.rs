//! Tests of `fleet::text`.

use super::*;

#[test]
fn prefixed_lines_are_many_hosts() {
    let csv = "node1: name, driver_version, compute_cap\nnode2: name, driver_version, compute_cap\n\
               node1: NVIDIA H100 NVL, 550.54.15, 9.0\nnode2: Tesla T4, 535.104.05, 7.5\n";
    let hosts = of_text(csv, "all.csv").collect::<Vec<_>>();
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["node1", "node2"]);
    let driver = hosts[1].record.as_ref().unwrap().nvml.as_ref().unwrap().driver;
    assert_eq!(driver.unwrap().as_str(), "535.104.05");
    let one = "OS: Ubuntu 22.04.3 LTS (x86_64)\nPyTorch version: 2.5.1+cu124\nNvidia driver version: 550.54.15\n";
    assert_eq!(of_text(one, "report.txt").next().unwrap().name, "report.txt");
    assert!(of_text("nothing\n", "x").all(|host| host.record.is_err()));
}

/// ClusterShell's `clush -bL` folds the hosts that said one thing, line by line (`Display._print_lines`).
#[test]
fn lines_that_many_hosts_said_are_each_ones() {
    let drivers = |text: &str| -> Vec<(String, Option<String>)> {
        let driver = |host: Host| host.record.ok()?.nvml?.driver.map(|driver| driver.to_string());
        of_text(text, "all").map(|host| (host.name.clone(), driver(host))).collect()
    };
    let of = |wanted: &[(&str, &str)]| -> Vec<(String, Option<String>)> {
        wanted.iter().map(|(name, driver)| (name.to_string(), Some(driver.to_string()))).collect()
    };
    let folded = "n[1-2]: name, driver_version\nn[1-2]: NVIDIA A100-SXM4-80GB, 550.54.15\n";
    assert_eq!(drivers(folded), of(&[("n1", "550.54.15"), ("n2", "550.54.15")]));
    assert_eq!(drivers("n[1-2]: NVIDIA A100-SXM4-80GB, 550.54.15\n"), of(&[("n1", "550.54.15"), ("n2", "550.54.15")]));
    let head = "n1,n[3-4]: name, driver_version\n";
    let parted = "n1: NVIDIA A100-SXM4-80GB, 550.54.15\nn[3-4]: Tesla T4, 535.104.05\n";
    let wanted = of(&[("n1", "550.54.15"), ("n3", "535.104.05"), ("n4", "535.104.05")]);
    assert_eq!(drivers(&format!("{head}{parted}")), wanted);
    let many = "n[1-60000]: NVIDIA A100-SXM4-80GB, 550.54.15\n".repeat(64);
    assert_eq!(of_text(&many, "all").count(), 1, "what nobody wrote is not made");
}

#[test]
fn the_minions_of_salt_are_hosts() {
    let salt = "a1:\n    NVIDIA H100 NVL, 550.54.15\na2:\n    Minion did not return. [No response]\n\
                a3:\n    /bin/sh: nvidia-smi: not found\na4.example:\n    Tesla T4, 535.104.05\n";
    let ends: Vec<(String, bool)> = of_text(salt, "all").map(|host| (host.name, host.record.is_ok())).collect();
    let wanted = [("a1", true), ("a2", false), ("a3", false), ("a4.example", true)];
    assert_eq!(ends, wanted.map(|(name, read)| (name.to_string(), read)));
    let report = "Driver:\n    CUDA Version: 12.4\nelse\n";
    assert_eq!(of_text(report, "report.txt").next().unwrap().name, "report.txt");
}

#[test]
fn a_dead_host_costs_itself_alone() {
    let ends = |text: &str| -> Vec<(String, bool)> {
        of_text(text, "all").map(|host| (host.name, host.record.is_ok())).collect()
    };
    let good = |name: &str| format!("{name}: NVIDIA H100 NVL, 550.54.15, 9.0\n");
    let of = |wanted: &[(&str, bool)]| -> Vec<(String, bool)> {
        wanted.iter().map(|(name, read)| (name.to_string(), *read)).collect()
    };
    let dead = "node1: bash: nvidia-smi: command not found\n".to_string();
    assert_eq!(ends(&(dead.clone() + &good("node2"))), of(&[("node1", false), ("node2", true)]));
    let dead = good("node2") + "pdsh@mgmt: node9: ssh exited with exit code 255\n";
    assert_eq!(ends(&dead), of(&[("node2", true), ("node9", false)]));
    let many: String = (10..30).map(|at| good(&format!("n{at}"))).collect();
    let stray = ends(&(many + "Killed\nKilled\n"));
    assert_eq!((stray.len(), stray.last().unwrap()), (21, &("all:21".to_string(), false)));
}
