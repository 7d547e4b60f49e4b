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
    assert_eq!(record.platform.system, None, "WSL2 shows the driver model of Windows too");
    assert!(!serde_json::to_string(&record).unwrap().contains("1234567890123"));

    let new = text
        .replace("Driver Version    ", "KMD Version       ")
        .replace("CUDA Version      ", "CUDA UMD Version  ")
        .replace("510.06", "610.43.02");
    assert_eq!((driver(&host(&new)), cuda(&host(&new)).as_str()), ("610.43.02", "11.6"));
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

#[test]
fn gpus_that_are_lost_are_told() {
    let fault = |text: &str, at: usize| host(text).nvml.unwrap().gpus[at].fault.as_ref().and_then(|fault| fault.code);
    let csv = "name, driver_version, compute_cap, fan.speed [%], ecc.mode.current
NVIDIA H100 NVL, 550.54.15, 9.0, [Unknown Error], Enabled
NVIDIA H100 NVL, 550.54.15, 9.0, [GPU is lost], [GPU is lost]";
    assert_eq!((fault(csv, 0), fault(csv, 1)), (None, Some(15)));
    let table = TABLE.replace(
        "|      45MiB /  40536MiB |     N/A      Default |",
        "|  GPU is lost           |     ERR!        ERR! |",
    );
    assert_ne!(table, TABLE);
    assert_eq!((fault(&table, 0), fault(&table, 1)), (None, Some(15)));
    let fan = TABLE.replace("| N/A   30C ", "|ERR!   30C ");
    assert_ne!(fan, TABLE);
    assert_eq!(fault(&fan, 1), None);
    for (words, code) in [("Not Found", Some(6)), ("GPU requires reset", Some(16)), ("Something new", None)] {
        let nvml =
            host(&format!("Unable to determine the device handle for GPU1: 0000:41:00.0: {words}\n")).nvml.unwrap();
        let fault = nvml.fault.unwrap();
        assert_eq!((fault.code, fault.message.as_deref()), (code, Some(words)));
    }
}
