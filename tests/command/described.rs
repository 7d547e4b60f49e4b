//! Hosts that somebody describes in a text: what is not told apart is not passed, and what the text tells is believed.

use std::fs;

use crate::common::sandbox::Sandbox;

/// What a host says, the exit code, and what is told of it.
type Said<'t> = (&'t str, i32, &'t [&'t str]);

fn verified(name: &str, spec: &str, said: &[Said<'_>]) {
    let place = Sandbox::new(name, spec);
    place.run(&["lock"]).exits(0);
    for (text, code, words) in said {
        fs::write(place.path("host.txt"), text).unwrap();
        let ran = place.with(&["verify", "--host", "host.txt"], &[("COLUMNS", "400")]);
        assert_eq!(ran.code, *code, "{text}\n{}{}", ran.out, ran.err);
        for word in *words {
            assert!(ran.out.contains(word), "{word}: {text}\n{}", ran.out);
        }
    }
}

const TORCH: &str = "[stack]\ntorch = \"2.6.0+cu124\"\npython = \"3.11\"\n[target.prod]\ngpu = \"RTX 3090\"\n";

/// What ends in one host of a fleet, which is then not passed.
const NOT_TOLD_APART: &[&str] = &[
    "n1\nNVIDIA GeForce RTX 3090, 550.120\nn2\nTesla K80, 550.120\n",
    "n1\nNVIDIA GeForce RTX 3090, 550.120\nn2\nbash: nvidia-smi: command not found\n",
    "NVIDIA GeForce RTX 3090, 550.120\nssh: connect to host n3 port 22: Connection refused\n",
    "[1] 10:00:00 [SUCCESS] n1\nNVIDIA GeForce RTX 3090, 550.120\n[2] 10:00:01 [SUCCESS] n2\nNVIDIA GeForce RTX 3090, 550.120\n",
    "==> n1 <==\nNVIDIA GeForce RTX 3090, 550.120\n==> n2 <==\nNVIDIA GeForce RTX 3090, 550.120\n",
    "n1: NVIDIA GeForce RTX 3090, 550.120\n---------------\nn[2-3] (2)\n---------------\nNVIDIA GeForce RTX 3090, 550.120\n",
    "NAME   STATUS   LABELS\nk1   Ready   nvidia.com/gpu.count=1,nvidia.com/gpu.product=Tesla-K80\n\
     k2   Ready   nvidia.com/cuda.driver-version.full=550.120,nvidia.com/gpu.product=NVIDIA-GeForce-RTX-3090\n",
    "kind: Node\nlabels:\n  nvidia.com/gpu.product: NVIDIA-GeForce-RTX-3090\n  nvidia.com/cuda.driver-version.full: 550.120\nname: k1\n\
     kind: Node\nname: k2\n",
    "| NVIDIA-SMI 550.120  Driver Version: 550.120  CUDA Version: 12.4 |\nGPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-1)\n\
     | NVIDIA-SMI 550.120  Driver Version: 550.120  CUDA Version: 12.4 |\n",
];

#[test]
fn a_fleet_loses_no_host() {
    let place = Sandbox::new("described-fleet", TORCH);
    place.run(&["lock"]).exits(0);
    let check = |text: &str| {
        fs::write(place.path("all.txt"), text).unwrap();
        place.with(&["fleet", "check", "all.txt"], &[("COLUMNS", "400")])
    };
    for text in NOT_TOLD_APART {
        check(text).exits(3).tells("which line is whose is not told");
    }
    // One host's rows, below the command that printed them.
    check("$ nvidia-smi --query-gpu=name,driver_version --format=csv,noheader\nNVIDIA GeForce RTX 3090, 550.120\n")
        .exits(0);
    // Colours of ansible, and the ranks of mpirun.
    let coloured = "\x1b[33mn21 | CHANGED | rc=0 >>\x1b[0m\n\x1b[33mNVIDIA GeForce RTX 3090, 550.120\x1b[0m\n\
                    \x1b[31mn22 | UNREACHABLE! => {\x1b[0m\n\x1b[31m    \"msg\": \"Failed\"\x1b[0m\n\x1b[31m}\x1b[0m\n";
    check(coloured).exits(3).tells("n21").tells("n22");
    let ranks = "[1,0]<stdout>:NVIDIA GeForce RTX 3090, 550.120\n[1,1]<stdout>:Tesla K80, 550.120\n";
    check(ranks).exits(1).tells("pass    1 host").tells("fail    1 host");
}

#[test]
fn columns_are_read_by_their_names() {
    let h200 = "[stack]\ntorch = \"2.6.0+cu124\"\n[target.prod]\ngpu = \"H200\"\n";
    let header = "name, index, driver_version, inforom.oem, compute_cap, fabric.clusterUuid\n";
    verified(
        "described-columns",
        h200,
        &[
            (&format!("{header}NVIDIA H200, 0, 590.48.01, 2.1, 9.0, 0000\n"), 0, &["NVIDIA H200 (9.0)"]),
            // Without a header a number may be what a sensor measures.
            ("0, NVIDIA H200, 590.48.01, 31.2, 24576\n", 0, &["NVIDIA H200 (9.0)"]),
            ("NVIDIA H200, 590.48.01, 9.0\n", 0, &["NVIDIA H200 (9.0)"]),
        ],
    );
}

const LOG: &str = "==============NVSMI LOG==============\nDriver Version : 550.120\nCUDA Version : 12.4\nAttached GPUs : 1\n\
                   GPU 00000000:01:00.0\n    Product Name : NVIDIA H100 80GB HBM3\n    Fabric\n        State : ";

#[test]
fn a_fabric_is_sound_when_its_registration_succeeded() {
    let with = |state: &str, status: &str| format!("{LOG}{state}\n        Status : {status}\n");
    verified(
        "described-fabric",
        "[stack]\ntorch = \"2.6.0+cu124\"\n[target.prod]\ngpu = \"H100 80GB HBM3\"\n",
        &[
            (&with("Completed", "Success"), 0, &["gpu-fabric"]),
            (&with("Completed", "Failure"), 1, &["failed (Failure)"]),
            (&with("In Progress", "N/A"), 1, &["in-progress", "CUDA waits for the fabric"]),
            (&with("Not Started", "N/A"), 1, &["not-started"]),
            (&with("N/A", "N/A"), 0, &[]),
        ],
    );
}

const SMI: &str = "NVIDIA GeForce RTX 3090, 550.120\n";

#[test]
fn what_computes_on_the_cpu_is_no_locked_build() {
    let jax = "[stack]\njax = \"0.4.30+cu12\"\npython = \"3.11\"\n[target.prod]\ngpu = \"RTX 3090\"\n";
    let lists = |rest: &str| format!("{SMI}jax 0.4.30\njaxlib 0.4.30\n{rest}");
    verified(
        "described-jax",
        jax,
        &[
            (&lists(""), 1, &["jax-cuda12-plugin 0.4.30", "JAX computes on the CPU"]),
            (&lists("jax-cuda12-plugin 0.4.28\n"), 1, &["jax-cuda12-plugin 0.4.28"]),
            (&lists("jax-cuda12-plugin 0.4.30\njax-cuda12-pjrt 0.4.30\n"), 0, &[]),
            (&format!("{SMI}jax 0.4.30\n"), 0, &[]),
            (&format!("{SMI}jax 0.4.30\njaxlib 0.5.1\njax-cuda12-plugin 0.5.1\n"), 1, &["jaxlib 0.5.1"]),
        ],
    );
    verified(
        "described-tensorflow",
        "[stack]\ntensorflow = \"2.15.1\"\n[target.prod]\ngpu = \"RTX 3090\"\n",
        &[(
            &format!("{SMI}tensorflow-cpu 2.15.1\n"),
            1,
            &["tensorflow-cpu 2.15.1", "both hold the module `tensorflow`"],
        )],
    );
    verified(
        "described-onnx",
        "[stack]\nonnxruntime-gpu = \"1.20.2\"\n[target.prod]\ngpu = \"RTX 3090\"\n",
        &[
            (&format!("{SMI}onnxruntime 1.20.1\n"), 1, &["both hold the module `onnxruntime`"]),
            (&format!("{SMI}onnxruntime 1.20.1\nonnxruntime-gpu 1.20.2\n"), 3, &["unknown python-package"]),
        ],
    );
}

#[test]
fn the_libraries_that_torch_pins_are_compared() {
    let beside = |library: &str| format!("{SMI}torch 2.6.0\n{library}\n");
    verified(
        "described-pins",
        TORCH,
        &[
            (&beside("nvidia-nvjitlink-cu12 12.1.105"), 1, &["nvidia-nvjitlink-cu12 12.4.127"]),
            (&beside("nvidia-nvjitlink-cu12 12.4.127"), 0, &[]),
            (&beside("nvidia-nccl-cu12 2.18.1"), 1, &["library-nccl"]),
            (&beside("nvidia-cudnn-cu12 9.0.0.312"), 1, &["library-cudnn"]),
            (&beside("nvidia-cudnn-cu12 9.5.1.17"), 0, &["warn    library-cudnn"]),
            (&beside("nvidia-cudnn-cu13 9.10.0.56"), 0, &["both write the same files", "warn    python-package"]),
            (&beside("nvidia-cublas-cu12 12.1.3.1"), 0, &["nvidia-cublas-cu12 12.4.5.8"]),
        ],
    );
}

#[test]
fn what_a_host_is_drafted_as_holds_there() {
    let place = Sandbox::new("described-draft", "");
    let host = format!("{SMI}Python version: 3.11.11 (64-bit runtime)\ntorch 2.6.0+cu124\nvllm 0.8.5\n");
    fs::write(place.path("host.txt"), host).unwrap();
    place.run(&["init", "--host", "host.txt", "-o", "a.toml"]).exits(0);
    let drafted = fs::read_to_string(place.path("a.toml")).unwrap();
    assert!(drafted.contains("0.8.5,<0.8.5.post1"), "{drafted}");
    place.run(&["lock", "--spec", "a.toml"]).exits(0);
    let ran = place.run(&["verify", "--spec", "a.toml", "--host", "host.txt"]);
    assert!(!ran.out.contains("fail    python-package"), "{}", ran.out);
}

/// A Jetson's driver is the one that the lock was made for, whatever minor the stack is of.
#[test]
fn a_driver_that_was_locked_for_is_no_failure() {
    let thor =
        "[stack]\ntorch = \"*\"\n[target.prod]\ngpu = \"Jetson AGX Thor\"\narch = \"aarch64\"\ndriver = \"580.00\"\n";
    let table = "| NVIDIA-SMI 580.00  Driver Version: 580.00  CUDA Version: 13.0 |\n\
                 |   0  NVIDIA Thor                   N/A  |   N/A              N/A |                  N/A |\n\
                 | N/A   N/A    N/A              N/A /  N/A |          Not Supported |      N/A         N/A |\n";
    verified("described-thor", thor, &[(table, 0, &["pass    driver-minimum"])]);
}

/// Installers drop the zero before a number of a local label.
#[test]
fn a_label_is_compared_as_installers_do() {
    let own = "[stack]\ntorch = { version = \"2.6.0a0+ecf3bae40a.nv25.01\", cuda = \"12.8\", arch-list = \"8.6\" }\n\
               [target.prod]\ngpu = \"RTX 3090\"\n";
    let host = "PyTorch version: 2.6.0a0+ecf3bae40a.nv25.01\nCUDA used to build PyTorch: 12.8\nIs CUDA available: True\n\
                GPU models and configuration: GPU 0: NVIDIA GeForce RTX 3090\nNvidia driver version: 570.86.10\n\
                [pip3] torch==2.6.0a0+ecf3bae40a.nv25.1\n";
    verified("described-label", own, &[(host, 0, &["pass    python-package"])]);
}

/// What `gpuenv lock` refuses as a system is none that a host may have.
#[test]
fn wheels_for_glibc_do_not_load_on_musl() {
    let host = "PyTorch version: 2.6.0+cu124\nOS: Alpine Linux v3.19 (x86_64)\nIs CUDA available: True\n\
                GPU models and configuration: GPU 0: NVIDIA GeForce RTX 3090\nNvidia driver version: 570.86.10\n";
    verified("described-musl", TORCH, &[(host, 1, &["fail    platform-glibc", "musl"])]);
}

/// Of two A100 one is set to MIG and has no instances: CUDA shows the other.
#[test]
fn a_gpu_that_no_process_gets_is_left_alone() {
    let table = "| NVIDIA-SMI 550.120  Driver Version: 550.120  CUDA Version: 12.4 |\n\
         |   0  NVIDIA A100-SXM4-80GB          On  |   00000000:07:00.0 Off |                    0 |\n\
         | N/A   30C    P0              60W / 400W |      0MiB /  81920MiB |      0%      Default |\n\
         |                                         |                        |             Disabled |\n\
         |   1  NVIDIA A100-SXM4-80GB          On  |   00000000:0F:00.0 Off |                   On |\n\
         | N/A   30C    P0              60W / 400W |      0MiB /  81920MiB |     N/A      Default |\n\
         |                                         |                        |              Enabled |\n\
         | MIG devices: |\n|  No MIG devices found |\n";
    let spec = "[stack]\ntorch = \"2.6.0+cu124\"\n[target.prod]\ngpu = \"A100-SXM4-80GB\"\n";
    let alone = table.replace("             Disabled |", "              Enabled |");
    let closed = table
        .replace("     N/A      Default", "     N/A   Prohibited")
        .replace("              Enabled", "             Disabled");
    verified(
        "described-left-alone",
        spec,
        &[
            (table, 0, &["warn    gpu-mig"]),
            (&alone, 1, &["fail    gpu-mig"]),
            (&closed, 0, &["warn    gpu-compute-mode"]),
        ],
    );
}
