//! What nvidia-smi prints: tables, logs, lists and queries.

use super::*;

pub(super) const TABLE: &str = "
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 610.43.02              KMD Version: 610.43.02     CUDA UMD Version: 13.3     |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA RTX PRO 6000 Blac...    On  |   00000000:63:00.0 Off |                    0 |
| N/A   26C    P0            139W / 1000W |       0MiB / 183359MiB |      0%   E. Process |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA A100-SXM4-40GB          Off |   00000000:0A:00.0 Off |                   On |
| N/A   30C    P0             42W /  400W |      45MiB /  40536MiB |     N/A      Default |
|                                         |                        |              Enabled |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| MIG devices:                                                                            |
+------------------+----------------------------------+-----------+-----------------------+
| GPU  GI  CI  MIG |                     Memory-Usage |        Vol|        Shared         |
|      ID  ID  Dev |                       BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |
|==================+==================================+===========+=======================|
|  1    3   0   0  |              13MiB / 19968MiB    | 28      0 |  2   0    1    0    0 |
|                  |               2MiB / 32767MiB    |           |                       |
+------------------+----------------------------------+-----------+-----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|    0   N/A  N/A            1234      C   python                                 1000MiB |
+-----------------------------------------------------------------------------------------+
";

#[test]
fn the_table_of_nvidia_smi() {
    let record = host(TABLE);
    assert_eq!((driver(&record), cuda(&record).as_str()), ("610.43.02", "13.3"));
    assert_eq!(gpus(&record), ["NVIDIA RTX PRO 6000 Blac...", "NVIDIA A100-SXM4-40GB"]);
    let gpus = &record.nvml.as_ref().unwrap().gpus;
    assert_eq!(gpus[0].pci.as_deref(), Some("0000:63:00.0"));
    assert_eq!(gpus[0].memory, Some(183_359 << 20));
    assert_eq!(gpus[0].compute_mode.as_deref(), Some("exclusive-process"));
    assert_eq!((gpus[0].mig, gpus[0].persistence), (Some(false), Some(true)));
    assert_eq!((gpus[1].mig, gpus[1].persistence), (Some(true), Some(false)));
    assert_eq!(gpus[1].memory_used, Some(45 << 20));
    assert_eq!(gpus[1].instances.len(), 1);
    assert_eq!(gpus[1].instances[0].memory, Some(19_968 << 20));
    // Another block knows the whole name.
    let record = host(&format!(
        "{TABLE}\nGPU 0: NVIDIA RTX PRO 6000 Blackwell Server Edition (UUID: GPU-00000000-0000-0000-0000-000000000001)"
    ));
    assert_eq!(record.nvml.unwrap().gpus[0].name.as_deref(), Some("NVIDIA RTX PRO 6000 Blackwell Server Edition"));
}

#[test]
fn older_tables() {
    let record = host(
        "+------------------------------------------------------+
| NVIDIA-SMI 331.62     Driver Version: 331.62         |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|===============================+======================+======================|
|   0  GeForce GTX 680     Off  | 0000:03:00.0     N/A |                  N/A |
| 30%   35C  N/A     N/A /  N/A |      9MiB /  4095MiB |     N/A      Default |
+-------------------------------+----------------------+----------------------+",
    );
    assert_eq!((driver(&record), cuda(&record).as_str()), ("331.62", ""));
    assert_eq!(gpus(&record), ["GeForce GTX 680"]);
    let gpu = &record.nvml.as_ref().unwrap().gpus[0];
    assert_eq!((gpu.pci.as_deref(), gpu.mig), (Some("0000:03:00.0"), None));

    let windows = host(
        "  | NVIDIA-SMI 517.48       Driver Version: 517.48       CUDA Version: 11.7     |
  | GPU  Name            TCC/WDDM | Bus-Id        Disp.A | Volatile Uncorr. ECC |
  |   0  NVIDIA GeForce ... WDDM  | 00000000:0A:00.0  On |                  N/A |
  |  0%   31C    P8    16W / 250W |    576MiB / 11264MiB |      0%      Default |",
    );
    assert_eq!(gpus(&windows), ["NVIDIA GeForce ..."]);
    assert_eq!(windows.platform.system, Some(System::Windows));

    // Under WSL2 nvidia-smi is of another release than the driver.
    let wsl = host("| NVIDIA-SMI 545.46     Driver Version: 546.80       CUDA Version: ERR!     |");
    assert_eq!((driver(&wsl), cuda(&wsl).as_str()), ("546.80", ""));
    assert_eq!(wsl.platform.system, Some(System::Wsl));
}

/// <https://github.com/NVIDIA/TensorRT-LLM/issues/4275>, <https://github.com/pytorch/pytorch/issues/84550>; Colab once had
/// an nvidia-smi of a newer branch than its driver.
#[test]
fn two_numbers_of_one_branch_are_of_wsl() {
    for (own, driver, is_wsl) in [
        ("575.55.01", "576.40", true),
        ("515.65.01", "516.94", true),
        ("560.28.03", "560.76", true),
        ("575.55.01", "575.55.01", false),
        ("455.45.01", "418.67", false),
        ("535.98", "545.46", false),
        ("515.57", "515.57", false),
        ("535.104.05", "535.129.03", false),
    ] {
        let seen = host(&format!("| NVIDIA-SMI {own}    Driver Version: {driver}    CUDA Version: 12.2     |"));
        assert_eq!(seen.platform.system == Some(System::Wsl), is_wsl, "{own} {driver}");
    }
}

/// <https://github.com/vllm-project/vllm/issues/41848>
#[test]
fn a_gpu_without_its_uuid_is_read_above_its_instance() {
    let seen = host(
        "GPU 0: NVIDIA H100 80GB HBM3\n  MIG 2g.20gb Device 0: (UUID: MIG-377e0049-554c-540b-93c6-d0976f8426cb)\n",
    );
    assert_eq!(gpus(&seen), ["NVIDIA H100 80GB HBM3"]);
}

#[test]
fn the_log_of_nvidia_smi() {
    let text = "==============NVSMI LOG==============

Timestamp                                 : Thu Feb  3 13:18:48 2022
Driver Version                            : 510.06
CUDA Version                              : 11.6

Attached GPUs                             : 2
GPU 00000000:01:00.0
    Product Name                          : NVIDIA A100-SXM4-80GB
    Persistence Mode                      : Enabled
    MIG Mode
        Current                           : Enabled
        Pending                           : Disabled
    MIG Device
        Index                             : 0
        FB Memory Usage
            Total                         : 9728 MiB
            Used                          : 6 MiB
    Driver Model
        Current                           : WDDM
    Serial Number                         : 1234567890123
    GPU UUID                              : GPU-00000000-0000-0000-0000-000000000001
    GPU Virtualization Mode
        Virtualization Mode               : Pass-Through
        Host VGPU Mode                    : N/A
    FB Memory Usage
        Total                             : 81920 MiB
        Used                              : 12 MiB
    BAR1 Memory Usage
        Total                             : 131072 MiB
    Compute Mode                          : Exclusive_Process
    Fabric
        State                             : Completed
        Status                            : Success

GPU 00000000:02:00.0
    Product Name                          : Tesla T4
";
    let record = host(text);
    assert_eq!(formats(&record), ["nvidia-smi -q"]);
    assert_eq!((driver(&record), cuda(&record).as_str()), ("510.06", "11.6"));
    assert_eq!(gpus(&record), ["NVIDIA A100-SXM4-80GB", "Tesla T4"]);
    let nvml = record.nvml.as_ref().unwrap();
    assert_eq!(nvml.count, Some(2));
    let gpu = &nvml.gpus[0];
    assert_eq!(gpu.memory, Some(81_920 << 20));
    assert_eq!(gpu.compute_mode.as_deref(), Some("exclusive-process"));
    assert_eq!((gpu.mig, gpu.instances.len()), (Some(true), 1));
    assert_eq!(gpu.instances[0].memory, Some(9728 << 20));
    assert_eq!(gpu.virtualization.as_deref(), Some("pass-through"));
    assert_eq!(gpu.fabric.as_deref(), Some("completed"));
    assert_eq!(record.platform.system, Some(System::Wsl), "the driver is that of Windows");
    assert!(!serde_json::to_string(&record).unwrap().contains("1234567890123"));

    let new = text
        .replace("Driver Version    ", "KMD Version       ")
        .replace("CUDA Version      ", "CUDA UMD Version  ")
        .replace("510.06", "610.43.02");
    assert_eq!((driver(&host(&new)), cuda(&host(&new)).as_str()), ("610.43.02", "11.6"));
}

/// A Jetson's GPU is on no bus, and what drives it may not tell its release.
#[test]
fn a_jetsons_table_is_read() {
    let text = "
+---------------------------------------------------------------------------------------+
| NVIDIA-SMI 540.3.0                Driver Version: N/A          CUDA Version: 12.2     |
|-----------------------------------------+----------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |         Memory-Usage | GPU-Util  Compute M. |
|                                         |                      |               MIG M. |
|=========================================+======================+======================|
|   0  Orin (nvgpu)                  N/A  | N/A              N/A |                  N/A |
| N/A   N/A  N/A               N/A /  N/A | Not Supported        |     N/A          N/A |
|                                         |                      |                  N/A |
+-----------------------------------------+----------------------+----------------------+
| Processes:                                                                            |
";
    let record = host(text);
    assert_eq!((gpus(&record), cuda(&record).as_str()), (vec!["Orin (nvgpu)"], "12.2"));
    let nvml = record.nvml.as_ref().unwrap();
    assert_eq!((&nvml.driver, nvml.gpus[0].mig, &nvml.gpus[0].compute_mode), (&None, None, &None));
    assert_eq!((record.platform.system, nvml.gpus[0].fault.is_none()), (Some(System::Tegra), true));
    let newer = host(&text.replace("Version: N/A    ", "Version: 540.4.0"));
    assert_eq!((driver(&newer), gpus(&newer)), ("540.4.0", vec!["Orin (nvgpu)"]));
}

#[test]
fn lists_and_queries_of_nvidia_smi() {
    let record = host(
        "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-00000000-0000-0000-0000-000000000001)
  MIG 3g.20gb     Device  0: (UUID: MIG-00000000-0000-0000-0000-000000000002)
  MIG 1g.5gb      Device  1: (UUID: MIG-00000000-0000-0000-0000-000000000003)
GPU 1: Tesla T4 (UUID: GPU-00000000-0000-0000-0000-000000000004)",
    );
    let nvml = record.nvml.as_ref().unwrap();
    assert_eq!(nvml.gpus[0].instances[1].uuid.as_deref(), Some("MIG-00000000-0000-0000-0000-000000000003"));
    assert!(nvml.gpus[1].uuid.as_deref().unwrap().ends_with('4') && nvml.gpus[1].mig.is_none());

    let record = host(
        "index, name, driver_version, memory.total [MiB], compute_cap
0, NVIDIA GeForce RTX 3090, 535.129.03, 24576 MiB, 8.6
2, NVIDIA H100 PCIe, 535.129.03, 81559 MiB, 9.0
done, thanks",
    );
    assert_eq!(driver(&record), "535.129.03");
    assert_eq!(gpus(&record), ["NVIDIA GeForce RTX 3090", "NVIDIA H100 PCIe"]);
    let gpus = &record.nvml.as_ref().unwrap().gpus;
    assert_eq!((gpus[1].index, gpus[1].compute_capability.unwrap().to_string().as_str()), (2, "9.0"));
}

/// The faults of a text's GPUs, each as its code, 0 where it has none.
fn faults(text: &str) -> Vec<Option<i64>> {
    let gpus = host(text).nvml.unwrap().gpus;
    gpus.iter().map(|gpu| gpu.fault.as_ref().map(|fault| fault.code.unwrap_or(0))).collect()
}

/// What every GPU tells that works is told by one that answers; a fan, a sensor or a counter may be broken on it.
#[rustfmt::skip]
#[test]
fn gpus_that_do_not_answer_are_told_whatever_the_form() {
    for (what, with, fault) in [
        ("| N/A   30C    P0             42W", "|ERR!   30C    P0             42W", None),
        ("| N/A   30C    P0             42W", "|ERR!  ERR!    P0          ERR! ", None),
        // https://github.com/NVIDIA/dcgm-exporter/issues/313
        ("| N/A   30C    P0             42W", "|ERR!  ERR!  ERR!              N/A", Some(0)),
        ("45MiB /  40536MiB", "ERR! / ERR!", Some(0)),
        ("45MiB /  40536MiB", "GPU is lost", Some(15)),
        ("45MiB /  40536MiB", "Unknown Error", Some(999)),
        ("N/A      Default", "N/A         ERR!", Some(0)),
        ("             Enabled", "                ERR!", Some(0)),
        ("NVIDIA A100-SXM4-40GB          Off |", "ERR!                         ERR!|", Some(0)),
    ] {
        let table = TABLE.replace(what, with);
        assert_ne!(table, TABLE, "{what}");
        assert_eq!(faults(&table), [None, fault], "{with}");
    }
    // https://github.com/NVIDIA/dcgm-exporter/issues/319
    let log = |key: &str, value: &str| {
        format!("==============NVSMI LOG==============\n\nDriver Version : 535.161.08\nAttached GPUs : 1\n\
                 GPU 00000000:00:16.0\n    Product Name : NVIDIA A10G\n    {key} : {value}\n")
    };
    let xml = |name: &str, value: &str| {
        format!("<nvidia_smi_log><driver_version>535.161.08</driver_version><attached_gpus>1</attached_gpus>\
                 <gpu id=\"00000000:00:16.0\"><product_name>NVIDIA A10G</product_name><{name}>{value}</{name}></gpu>")
    };
    let csv = |field: &str, value: &str| format!("name, uuid, driver_version, {field}\nNVIDIA A10G, GPU-1, 535.161.08, [{value}]\n");
    for (texts, fault) in [
        ([log("Product Brand", "Unknown Error"), xml("product_brand", "Unknown Error"), csv("memory.total [MiB]", "Unknown Error")], Some(999)),
        ([log("Compute Mode", "Unknown Error"), xml("compute_mode", "Unknown Error"), csv("compute_mode", "Unknown Error")], Some(999)),
        ([log("Fan Speed", "GPU is lost"), xml("fan_speed", "GPU is lost"), csv("fan.speed [%]", "GPU is lost")], Some(15)),
        ([log("VBIOS Version", "GPU requires reset"), xml("pstate", "GPU requires reset"), csv("pstate", "GPU requires reset")], Some(16)),
        ([log("Fan Speed", "Unknown Error"), xml("fan_speed", "Unknown Error"), csv("fan.speed [%]", "Unknown Error")], None),
    ] {
        for text in texts {
            assert_eq!(faults(&text), [fault], "{text}");
        }
    }
    // Without a header.
    for (row, fault) in [
        ("[GPU is lost], [GPU is lost]", Some(15)),
        ("1, [GPU requires reset], [GPU requires reset]", Some(16)),
        ("NVIDIA H100 NVL, [Unknown Error]", Some(999)),
        ("NVIDIA H100 NVL, 550.54.15, [GPU is lost]", Some(15)),
        ("NVIDIA H100 NVL, 550.54.15, [Unknown Error]", None),
    ] {
        assert_eq!(faults(&format!("NVIDIA H100 NVL, 550.54.15\n{row}\n")), [None, fault], "{row}");
    }
    assert_eq!(host("NVIDIA H100 NVL, 550.54.15\nseen, [GPU is lost]\n").nvml.unwrap().gpus.len(), 1);
}

#[test]
fn what_a_gpu_needs_is_told_whatever_the_form() {
    let needs = |text: &str| {
        let gpu = &host(text).nvml.unwrap().gpus[0];
        (gpu.recovery.clone(), gpu.remapping_failed)
    };
    let log =
        |lines: &str| format!("=====NVSMI LOG=====\nGPU 00000000:00:16.0\n    Product Name : NVIDIA A10G\n{lines}\n");
    let wanted = |recovery: &str| Some(recovery.to_string());
    let reset = "    GPU Reset Status\n        Reset Required : Yes\n        Drain and Reset Recommended : N/A";
    let rows = "    Remapped Rows\n        Pending : Yes\n        Remapping Failure Occurred : Yes";
    assert_eq!(needs(&log(reset)), (wanted("reset"), None));
    assert_eq!(needs(&log(rows)), (None, Some(true)));
    assert_eq!(needs(&log("    GPU Recovery Action : Drain and Reset")), (wanted("drain-and-reset"), None));
    assert_eq!(needs(&log("    GPU Recovery Action : None")), (None, None));
    let xml = "<nvidia_smi_log><gpu id=\"00000000:00:16.0\"><gpu_reset_status><reset_required>Requested functionality has \
               been deprecated</reset_required></gpu_reset_status><gpu_recovery_action>Reboot</gpu_recovery_action>\
               <remapped_rows><remapped_row_failure>No</remapped_row_failure></remapped_rows></gpu></nvidia_smi_log>";
    assert_eq!(needs(xml), (wanted("reboot"), Some(false)));
    let csv = "name, driver_version, reset_status.reset_required, gpu_recovery_action\nNVIDIA A10G, 535.161.08, No, Drain P2P\n";
    assert_eq!(needs(csv), (wanted("drain-p2p"), None));
}

/// The product of a vGPU's licence is not the GPU's. Seen in <https://github.com/NVIDIA/gpu-operator/issues/220>.
#[test]
fn a_licence_has_a_product_of_its_own() {
    let record = host(
        "==============NVSMI LOG==============
Driver Version                            : 550.54.15
GPU 00000000:17:00.0
    Product Name                          : GRID A100-10C
    vGPU Software Licensed Product
        Product Name                      : NVIDIA Virtual Compute Server
        License Status                    : Unlicensed (Unrestricted)
",
    );
    assert_eq!((gpus(&record), formats(&record)), (vec!["GRID A100-10C"], vec!["nvidia-smi -q"]));
}

#[test]
fn sentences_about_one_gpu_are_told() {
    for (words, code) in [("Not Found", Some(6)), ("GPU requires reset", Some(16)), ("Something new", None)] {
        let nvml =
            host(&format!("Unable to determine the device handle for GPU1: 0000:41:00.0: {words}\n")).nvml.unwrap();
        let fault = nvml.fault.unwrap();
        assert_eq!((fault.code, fault.message.as_deref()), (code, Some(words)));
    }
}
