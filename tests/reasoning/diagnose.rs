//! What real programs printed and what must be read out of it; what must be claimed by nobody; and what a message
//! goes through before it is pasted.
//!
//! The component of a message is the part that must change, as far as its text tells:
//!
//! - `driver`: the driver, its libraries (libcuda, NVML, nvenc), kernel modules and packages; no driver or device in
//!   reach; PTX newer than the driver; numbers 3, 35, 36, 100, 222, 802, 803, 804, 999.
//! - `gpu`: the program, not PyTorch, holds nothing for this GPU or for any, or asks for another. `torch`: PyTorch's own
//!   arch list or kernel image; its build without CUDA; extensions, companions and JAX releases of another release; a
//!   release or a platform without a wheel; conda builds that clash.
//! - `python`: no wheel, or an older release than those offered, for this Python; its headers; NumPy newer than what uses
//!   it, or of another major than what was compiled against it; pynvml older than what asks it. `glibc`, `gcc` (any host compiler).
//! - `toolkit`: nvcc, ptxas, headers, CUDA_HOME, bitsandbytes' binaries. `library-path`: a CUDA library that is
//!   missing, doubled or of another release; providers of ONNX Runtime. `cudnn` and `nccl`: those two, alone.
//! - `container-runtime`: what brings the GPU into a container. `image`: tags, and images of another architecture.
//! - `hardware`: ECC, a lost GPU, Xids of the device, ordinals that do not exist, busy devices, MIG.
//! - `other`: the number of a CUDA error that says nothing of versions (700, 719, 801).
//! - `unrelated`: memory, networks, data; a package that is merely absent, but for those that must fit torch (flash-attn)
//!   or are needed to build for it (ninja); Xids of a program (13, 31, 43, 45); pip's
//!   conflicts about ranges that ordinary packages ask for; Vulkan, OpenGL and GPUs of other makers; listings and logs without a fault.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use gpuenv::catalog::BUILTIN;
use gpuenv::diagnose::{self, Value, Verdict};

use crate::common::parallel;

/// Messages whose cause stands in their thread, not in their text: the text alone leads to another component.
const NOT_IN_THE_TEXT: &[(&str, &str)] = &[
    ("e803-nvdocker1256-mxnet", "nothing in the text says that it was printed in a container"),
    ("nvrtc-footstep2", "nothing in the text says that torch compiles: hashcat and Julia print the same line"),
];

/// The share of values that must be read out, in percent.
const VALUES: usize = 95;

pub(super) struct Message {
    pub(super) id: String,
    component: String,
    /// The row's name, where more than the component is to be told.
    code: Option<String>,
    pub(super) raw: String,
    extract: toml::Table,
}

/// All messages of tests/messages.
pub(super) static MESSAGES: LazyLock<Vec<Message>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let table: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
        let text = |key: &str| table[key].as_str().unwrap().to_string();
        Message {
            id: path.file_stem().unwrap().to_str().unwrap().into(),
            component: text("component"),
            code: table.get("code").and_then(|code| code.as_str()).map(str::to_string),
            raw: text("raw"),
            extract: table.get("extract").and_then(|extract| extract.as_table()).cloned().unwrap_or_default(),
        }
    };
    parallel::each(&paths, read)
});

/// What each of them, untouched, is diagnosed as.
static VERDICTS: LazyLock<Vec<Verdict>> = LazyLock::new(|| parallel::each(&MESSAGES, |message| diagnose(&message.raw)));

/// The messages that a finding is wanted for, each with its verdict.
fn faults() -> impl Iterator<Item = (&'static Message, &'static Verdict)> {
    MESSAGES.iter().zip(VERDICTS.iter()).filter(|(message, _)| message.component != "unrelated")
}

/// Further wordings: what they lead to, and their text.
fn wordings() -> impl Iterator<Item = (&'static str, String)> {
    let lines = include_str!("../wordings.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once('|').unwrap()).map(|(meant, text)| (meant, text.replace("\\n", "\n")))
}

fn diagnose(text: &str) -> Verdict {
    diagnose::diagnose(text, &BUILTIN)
}

fn component(verdict: &Verdict) -> &'static str {
    verdict.findings.first().map_or("none", |first| first.component)
}

/// A value as one text, to compare.
fn found(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::List(list) => list.join("|"),
    }
}

fn wanted(value: &toml::Value) -> String {
    match value {
        toml::Value::Array(list) => list.iter().map(wanted).collect::<Vec<_>>().join("|"),
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[test]
fn every_message_leads_to_its_component() {
    let mut wrong = Vec::new();
    for (message, verdict) in faults() {
        let excused = NOT_IN_THE_TEXT.iter().any(|(id, _)| *id == message.id);
        if (component(verdict) == message.component) == excused {
            wrong.push(format!("{}: {} instead of {}", message.id, component(verdict), message.component));
        }
        let code = verdict.findings.first().map(|first| &first.code);
        if message.code.is_some() && message.code.as_ref() != code {
            wrong.push(format!("{}: {code:?} instead of {:?}", message.id, message.code));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// A pattern that no real text needs is a guess: it goes. What a user asks in their own words has no message.
#[test]
fn every_pattern_is_matched_by_some_message() {
    let written = wordings().map(|(_, text)| text).chain([DRIVER_BEHIND.to_owned()]);
    let texts: Vec<String> = faults().map(|(message, _)| message.raw.clone()).chain(written).collect();
    let matched = parallel::each(&texts, |text| diagnose::matched_patterns(text));
    let matched: BTreeSet<(&str, &str)> = matched.into_iter().flatten().collect();
    let patterns = BUILTIN.diagnoses.iter().flat_map(|row| row.patterns.iter().map(|pattern| (&*row.code, &**pattern)));
    let unmatched: Vec<(&str, &str)> = patterns.filter(|pattern| !matched.contains(pattern)).collect();
    assert!(unmatched.is_empty(), "{} patterns are matched by no message: {unmatched:#?}", unmatched.len());
}

#[test]
fn other_wordings_lead_to_their_component() {
    let wordings: Vec<(&str, String)> = wordings().collect();
    let verdicts = parallel::each(&wordings, |(_, text)| diagnose(text));
    let mut wrong = Vec::new();
    for ((meant, text), verdict) in wordings.iter().zip(&verdicts) {
        let (wanted, values) = meant.split_once(';').unwrap_or((meant, ""));
        if component(verdict) != wanted {
            wrong.push(format!("{} instead of {wanted}: {text}", component(verdict)));
        }
        for (key, value) in values.split(';').filter_map(|pair| pair.split_once('=')) {
            let first = verdict.findings.first();
            let read = first.and_then(|first| first.extract.get(key)).map(found).unwrap_or_default();
            if read != value {
                wrong.push(format!("{key} {read:?} instead of {value}: {text}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn values_are_read_out() {
    let (mut read, mut missed) = (0, Vec::new());
    for (message, verdict) in MESSAGES.iter().zip(VERDICTS.iter()) {
        let first = verdict.findings.first();
        for (key, value) in &message.extract {
            let found = first.and_then(|first| first.extract.get(key)).map(found).unwrap_or_default();
            match found == wanted(value) {
                true => read += 1,
                false => missed.push(format!("{} {key}: {found:?} instead of {value}", message.id)),
            }
        }
    }
    let all = read + missed.len();
    assert!(read * 100 >= VALUES * all, "{read} of {all}: {missed:#?}");
}

/// Beside the messages and near misses stand tests/data/unrelated.txt: what compilers, package managers, networks and
/// the software of other makers' GPUs print, a text between each two lines of `====`.
#[test]
fn unrelated_texts_are_claimed_by_nobody() {
    let codes = |verdict: &Verdict| -> Vec<String> { verdict.findings.iter().map(|one| one.code.clone()).collect() };
    let mut claimed: Vec<(&str, Vec<String>)> = Vec::new();
    for (message, verdict) in MESSAGES.iter().zip(VERDICTS.iter()) {
        if message.component == "unrelated" {
            claimed.push((&message.id, codes(verdict)));
        }
    }
    let others = include_str!("../data/unrelated.txt").split("====\n");
    let texts: Vec<&str> = NEAR_MISSES.iter().copied().chain(others).collect();
    claimed.extend(texts.iter().copied().zip(parallel::each(&texts, |text| codes(&diagnose(text)))));
    claimed.retain(|(_, codes)| !codes.is_empty());
    assert_eq!(claimed, []);
}

/// Texts that hold the words of messages and mean none of them.
const NEAR_MISSES: &[&str] = &[
    "Downloading torch-2.5.1-cp311-cp311-manylinux1_x86_64.whl (906.4 MB)\n ━━━━━━━━━━━━━ 906.4/906.4 MB 12.1 MB/s eta 0:00:00",
    "Collecting nvidia-cudnn-cu12==9.1.0.70\n  Using cached nvidia_cudnn_cu12-9.1.0.70-py3-none-manylinux2014_x86_64.whl",
    "Successfully installed nvidia-nccl-cu12-2.21.5 torch-2.5.1 triton-3.1.0",
    "====== 120 passed, 4 skipped, 2 warnings in 33.10s ======\nSKIPPED [1] test_gpu.py:12: needs two devices",
    "node1:123:456 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.2<0>\nnode1:123:456 [0] NCCL INFO cudaDriverVersion 12040\nNCCL version 2.21.5+cuda12.4",
    "node1:77:77 [0] misc/socket.cc:452 NCCL WARN socketProgress: Connection closed by remote peer",
    "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE) ran for 1800123 milliseconds before timing out.",
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total capacity; 9.5 GiB already allocated)",
    "RuntimeError: CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported at some other API call",
    "RuntimeError: cuda runtime error (59) : device-side assert triggered at /pytorch/aten/src/THC/generic/THCTensorMath.cu:26",
    "error: 'CUresult' was not declared in this scope",
    "wandb: Synced 5 W&B file(s), 0 media file(s)\nwandb: GPU 0: NVIDIA A100-SXM4-40GB utilisation 93%",
    "usb 1-1: new high-speed USB device number 4 using xhci_hcd\nEXT4-fs (nvme0n1p2): mounted filesystem with ordered data mode",
    "nvidia 0000:01:00.0: enabling device (0000 -> 0003)\nnvidia: module license 'NVIDIA' taints kernel.",
    "HTTPError: HTTP Error 500: Internal Server Error",
    "make: *** [Makefile:12: all] Error 2",
    "Your pip version 19.0 is too old, please upgrade to 21.3 or later",
    "ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
    "ImportError: /usr/lib/libcurl.so.4: undefined symbol: curl_easy_strerror, version CURL_4",
    "ERROR: Could not find a version that satisfies the requirement requests==9.9 (from versions: 2.0, 2.31)\nERROR: No matching distribution found for requests==9.9",
    "ValueError: Expected input batch_size (32) to match target batch_size (16).",
    "2024-05-01 10:00:00.1: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1613] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 22000 MB memory:  -> device: 0, name: NVIDIA A10G, pci bus id: 0000:00:1e.0, compute capability: 8.6",
    "slurmstepd: error: *** JOB 991 ON gpu03 CANCELLED AT 2024-02-01T00:00:00 DUE TO TIME LIMIT ***",
    "error: This document says: operation not supported by the discussion forum",
    "warnings.filterwarnings(\"ignore\", category=UserWarning, message=\"Can't initialize NVML\")",
    "WARNING: You are using pip version 19.2.3, however version 23.0.1 is available.\nYou should consider upgrading via the 'pip install --upgrade pip' command.",
    "ERROR: Could not find a version that satisfies the requirement requests==9.9 (from versions: 2.0)\nWARNING: You are using pip version 19.2.3, however version 23.0.1 is available.",
    "PS C:\\x> pip install tritonclient\nERROR: Could not find a version that satisfies the requirement tritonclient (from versions: none)\nERROR: No matching distribution found for tritonclient",
    "ERROR: No matching distribution found for mypackage==1.0.0.dev20221120",
    "shmget: Error while creating shared memory segment!",
    "Because pywin32==306 has no `sys_platform == 'linux'`-compatible wheels and you require pywin32==306, we can conclude that your requirements are unsatisfiable.",
    "conda install -c pytorch scipy\nUnsatisfiableError: The following specifications were found to be incompatible with your system:\n  - feature:/linux-64::__glibc==2.31=0",
    "WARNING: The requested image's platform (linux/amd64) does not match the detected host platform (linux/arm64/v8) and no specific platform was requested",
    "Allocate failed due to rpc error: code = Unavailable desc = connection refused, which is unexpected\n  intel.com/sgx: 1",
    "[ERROR] Command not found: squashfuse, see https://github.com/vasi/squashfuse",
    "error LNK2019: unresolved external symbol __imp_RegisterBinary referenced in function main",
    "[   23.09] misc dxg: dxgk: dxgkio_query_adapter_info: Ioctl failed: -2\n[   23.11] WSL (1) WARNING: /usr/share/zoneinfo/Europe/Minsk not found. Is the tzdata package installed?",
    "main.o: undefined reference to `cudaWarpAffine(float*, int)'\ncollect2: error: ld returned 1 exit status",
    "/usr/bin/ld: libfoo.so: error adding symbols: file in wrong format\ncollect2: error: ld returned 1 exit status",
    "/usr/bin/ld: skipping incompatible /usr/lib32/libcudart.so when searching for -lcudart",
    "LINK : fatal error LNK1104: cannot open file 'python311.lib'",
    "$ sudo apt install nginx\nE: Unable to correct problems, you have held broken packages.",
    "- package perl-libs-5.26 from appstream is filtered out by modular filtering",
    "FileNotFoundError: Could not find module 'C:\\x\\geos_c.dll' (or one of its dependencies). Try using the full path with constructor syntax.",
    "pi@raspberrypi:~ $ docker run x\nexec /bin/sh: exec format error",
    "| NVIDIA-SMI 550.54.14    Driver Version: 550.54.14   CUDA Version: 12.4 |\n| 30%   41C    P8   20W / 450W |  10MiB / 24564MiB |      0%      Default |\n$ ./a.out\nSegmentation fault (core dumped)",
    "GPU: AMD Radeon RX 7600\nmisc dxg: dxgk: dxgkio_query_adapter_info: Ioctl failed: -22",
];

/// Whose GPU it is, is decided once for a text: AMD's where one is named and none of NVIDIA's, however far from the error.
/// A machine can hold GPUs of two makers, and its log tell of both.
#[test]
fn another_makers_gpu_hides_nothing_of_nvidias() {
    let amd = "agent 1: gfx1100, AMD Radeon RX 7900";
    let error = "no kernel image is available for execution on the device";
    let log = |head: &str, lines: usize| format!("{head}\n{}{error}", "epoch 1 step 10 loss 0.5\n".repeat(lines));
    for lines in [2, 60] {
        let verdict = diagnose(&log(amd, lines));
        assert!(verdict.findings.is_empty() && verdict.aside.is_some_and(|aside| aside.means.contains("AMD")));
        let both = format!("{amd}\nGPU 1: NVIDIA GeForce RTX 3090");
        assert_eq!(diagnose(&log(&both, lines)).findings.len(), 1);
    }
    // What fails on any machine is told: the Python of a build for ROCm.
    let pip = "AMD Radeon RX 7900\nERROR: Could not find a version that satisfies the requirement torch==1.13.0 (from versions: 2.2.0, 2.3.0)";
    assert_eq!(component(&diagnose(pip)), "python");
}

/// What happens to a message on its way, and how it looks then.
type Change = (&'static str, fn(&str) -> String);

const CHANGES: &[Change] = &[
    ("quoted", |raw| each_line(raw, |line| format!("> {line}"))),
    ("compose", |raw| each_line(raw, |line| format!("trainer-1  | {line}"))),
    ("rank", |raw| each_line(raw, |line| format!("[rank0]: {line}"))),
    ("srun", |raw| each_line(raw, |line| format!("  3: {line}"))),
    ("workflow", |raw| each_line(raw, |line| format!("build\tRun tests\t2025-03-18T00:00:52.0131040Z {line}"))),
    ("numbered", |raw| {
        let lines = raw.lines().enumerate().map(|(at, line)| format!("{:>6}\t{line}", at + 7));
        lines.collect::<Vec<_>>().join("\n")
    }),
    ("records", |raw| each_line(raw, |line| serde_json::json!({ "level": "error", "msg": line }).to_string())),
    ("coloured", |raw| each_line(raw, |line| format!("\x1b[31m{line}\x1b[0m"))),
    ("windows", |raw| raw.replace('\n', "\r\n")),
    ("entities", |raw| raw.replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")),
    ("unquoted", |raw| raw.replace(['\'', '"', '`'], "")),
    ("typographic", |raw| raw.replace('\'', "’").replace('"', "”")),
    ("indented", |raw| each_line(raw, |line| format!("\t    {line}  "))),
    ("wrapped", |raw| {
        let chars: Vec<char> = raw.chars().collect();
        chars.chunks(97).map(|part| part.iter().collect::<String>()).collect::<Vec<_>>().join("\n")
    }),
    ("buried", |raw| format!("{}\n{raw}\n{}", "step 1 loss 0.5\n".repeat(400), "bye\n".repeat(400))),
];

fn each_line(raw: &str, edit: impl Fn(&str) -> String) -> String {
    raw.lines().map(edit).collect::<Vec<_>>().join("\n")
}

/// A message must survive what happens to it on its way: each change is made to every message.
#[test]
fn messages_are_recognised_however_they_were_pasted() {
    let faults: Vec<(&Message, &Verdict)> = faults().collect();
    for (name, change) in CHANGES {
        let led = parallel::each(&faults, |(message, _)| component(&diagnose(&change(&message.raw))));
        let lost = faults.iter().zip(led).filter(|((_, verdict), led)| component(verdict) != *led);
        let lost: Vec<&str> = lost.map(|((message, _), _)| message.id.as_str()).collect();
        assert!(lost.len() <= 2, "{name}: {lost:?}");
    }
}

#[test]
fn hostile_texts_end_soon() {
    let repeated = |text: &str| text.repeat((1 << 18) / text.len());
    for text in [
        "Found GPU0 ",
        "GLIBC_",
        "compute capability ",
        "\\n",
        "\x1b[",
        "%20",
        "|",
        "é",
        "libcudnn.so.",
        "(",
        "if you get “x",
        "if you get 'x ",
    ] {
        diagnose(&repeated(text));
    }
}

/// The command: what it is given, how it ends, its two streams.
fn run(args: &[&str], stdin: &[u8]) -> (Option<i32>, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gpuenv"))
        .arg("diagnose")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that does not read its input closes it early.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

const OLD_DRIVER: &str = "RuntimeError: The NVIDIA driver on your system is too old (found version 11040).";
/// What a user asks, in words of their own.
const DRIVER_BEHIND: &str = "nvidia-smi shows 11.4 and torch 2.6.0+cu124 is installed";

#[test]
fn the_command_reads_its_argument_or_stdin() {
    for (args, stdin) in [(vec![OLD_DRIVER], ""), (vec![], OLD_DRIVER), (vec!["-"], OLD_DRIVER)] {
        let (code, stdout, stderr) = run(&args, stdin.as_bytes());
        assert_eq!((code, stderr.as_str()), (Some(0), ""));
        assert!(
            stdout.contains("driver[driver-too-old]") && stdout.contains("found in the text: CUDA 11.4\n"),
            "{stdout}"
        );
    }
    assert_eq!(run(&["torch 2.5.1 is a fine release"], b"").0, Some(3));
    assert_eq!(run(&[], b" \n").0, Some(2));
    // As PowerShell writes it into a file.
    let wide: Vec<u8> = [0xfeff].into_iter().chain(OLD_DRIVER.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    assert_eq!(run(&[], &wide).0, Some(0));
}

#[test]
fn the_name_of_a_log_is_noticed() {
    let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("diagnose-{}.log", std::process::id()));
    fs::write(&log, OLD_DRIVER).unwrap();
    let (code, stdout, stderr) = run(&[log.to_str().unwrap()], b"");
    fs::remove_file(&log).unwrap();
    assert_eq!(code, Some(0));
    assert!(
        stdout.contains("driver-too-old")
            && stderr.split_whitespace().collect::<Vec<_>>().join(" ").contains("is a file: its text"),
        "{stderr}"
    );
    let (code, _, stderr) = run(&["no-such.log"], b"");
    assert!(code == Some(3) && stderr.contains("there is no file `no-such.log` here"), "{stderr}");
    let (code, _, stderr) = run(&["tests"], b"");
    assert!(code == Some(3) && stderr.contains("`tests` is a folder"), "{stderr}");
    // A pipe that has a name, as `<(command)` gives one.
    #[cfg(unix)]
    {
        let (code, stdout, stderr) = run(&["/dev/stdin"], OLD_DRIVER.as_bytes());
        assert!(code == Some(0) && stdout.contains("driver-too-old") && stderr.is_empty(), "{stderr}");
    }
    // A log of which nothing is known was read all the same.
    fs::write(&log, "epoch 1 step 10 loss 0.5").unwrap();
    let (code, _, stderr) = run(&[log.to_str().unwrap()], b"");
    fs::remove_file(&log).unwrap();
    assert!(code == Some(3) && !stderr.contains("there is no file"), "{stderr}");
}

/// Of a long log its beginning and its end are read.
#[test]
fn a_long_log_is_read_at_both_ends() {
    let noise = "epoch 1 step 10 loss 0.5 lr 0.001 on cuda:0\n".repeat((6 << 20) / 44);
    for log in [format!("{OLD_DRIVER}\n{noise}"), format!("{noise}{OLD_DRIVER}")] {
        let (code, stdout, stderr) = run(&[], log.as_bytes());
        assert_eq!(code, Some(0));
        assert!(stdout.contains("driver-too-old") && stderr.contains("stdin is longer than 4 MiB"), "{stderr}");
    }
    let (code, _, stderr) = run(&["--format", "json"], noise.as_bytes());
    assert_eq!((code, stderr.as_str()), (Some(3), ""));
}

#[test]
fn json_has_the_shape_that_is_promised() {
    let document = |args: &[&str], stdin: &[u8]| -> (Option<i32>, serde_json::Value) {
        let (code, stdout, stderr) = run(&[args, &["--format", "json"]].concat(), stdin);
        assert_eq!(stderr, "");
        (code, serde_json::from_str(&stdout).unwrap())
    };
    let (code, known) = document(&[], OLD_DRIVER.as_bytes());
    assert_eq!((code, known["status"].as_str()), (Some(0), Some("recognised")));
    let first = &known["findings"][0];
    assert_eq!((first["code"].as_str(), first["component"].as_str()), (Some("driver-too-old"), Some("driver")));
    assert_eq!(first["extract"]["cuda_found"], "11.4");
    assert!(first["meaning"].is_string() && first["remedies"].as_array().is_some_and(|remedies| remedies.len() > 1));
    let (code, unknown) = document(&["Driver Version: 535.54.03"], b"");
    assert_eq!((code, unknown["status"].as_str()), (Some(3), Some("unknown")));
    assert_eq!(unknown["findings"].as_array().map(Vec::len), Some(0));
    assert_eq!(unknown["extract"]["driver"], "535.54.03");
}

#[test]
fn nothing_hostile_is_repeated() {
    let text = "Found GPU0 NVIDIA\u{202e} \u{9b}31mX which is of cuda capability 3.0. Unknown CUDA arch (\u{1b}[31m9.0) or GPU not supported";
    let (code, stdout, stderr) = run(&[], &[text.as_bytes(), b"\xff\xfe\0"].concat());
    assert_eq!(code, Some(0));
    let hostile = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!stdout.contains(hostile) && !stderr.contains(hostile), "{stdout:?}");
}

/// What is said of a message beside what its text says itself: the code, words that stand there, and words that do not.
#[test]
fn what_is_said_does_not_contradict_the_text() {
    for (id, code, says, hides) in [
        (
            "xf-seine21-mac",
            "xformers-built-for-other-torch",
            "the torch that is installed, 2.0.1",
            "nstall torch 2.0.1",
        ),
        ("xf-pia30-cut", "xformers-built-for-other-torch", "in place of 2.1.2+cpu", "pair with torch"),
        ("nvcc-arch50-samples382-cuda13", "nvcc-arch-unknown", "Take compute_50 off the list", "from CUDA 8.0"),
        ("nvcc-archempty-torchmcubes18", "nvcc-arch-malformed", "no toolkit knows it", "too new"),
        ("nvcc-archptx-ingp536", "nvcc-arch-malformed", "no toolkit knows it", "too new"),
        ("ort-g2pw1-cpu", "onnxruntime-without-cuda", "install onnxruntime-gpu alone", "LD_LIBRARY_PATH"),
        ("nctk-rpc-1675", "container-driver-silent", "nvidia-persistenced", "not loaded"),
        ("wsl-nvdocker1508-rpc", "container-driver-silent", "nvidia-persistenced", "not load"),
        ("numba-monoflex52-cudatoolkit", "numba-toolkit-unknown", "does not know", "libdevice"),
    ] {
        let message = MESSAGES.iter().find(|message| message.id == id).unwrap();
        let finding = &diagnose(&message.raw).findings[0];
        let told = format!("{} {}", finding.meaning, finding.remedies.join(" "));
        assert_eq!(finding.code, code, "{id}: {told}");
        assert!(told.contains(says) && !told.contains(hides), "{id}: {told}");
    }
}

/// What a command in a remedy installs is a package of the catalog, never a name made out of a file's.
#[test]
fn commands_name_packages_of_the_catalog_only() {
    let remedies = |text: &str| diagnose(text).findings[0].remedies.join("\n");
    let missing = |module: &str| {
        format!("ImportError: /x/{module}.cpython-310-x86_64-linux-gnu.so: undefined symbol: _ZN3c104cuda9SetDeviceEi")
    };
    for module in ["_torch_sox", "_ext", "my_ops"] {
        assert!(!remedies(&missing(module)).contains("pip install"), "{module}");
    }
    assert!(remedies(&missing("flash_attn_2_cuda")).contains("--no-binary flash-attn flash-attn`"));
    // Of these the index holds wheels alone, or a source of long ago: pip would take that.
    for module in ["sgl_kernel/common_ops", "torchvision/_C", "bitsandbytes/_C", "torchao/_C"] {
        let told = remedies(&missing(&format!("site-packages/{module}")));
        assert!(!told.contains("--no-binary ") && told.contains("from its repository"), "{module}: {told}");
    }
}

/// What nvidia-smi, nvcc and torch say of CUDA are three things, and only their majors can clash.
#[test]
fn versions_told_side_by_side_are_answered() {
    let codes = |text: &str| -> Vec<String> { diagnose(text).findings.into_iter().map(|found| found.code).collect() };
    let outputs = "| NVIDIA-SMI 570.86.15   Driver Version: 570.86.15   CUDA Version: 12.8 |\n\
                   Cuda compilation tools, release 11.5, V11.5.119\n>>> torch.version.cuda\n'12.4'\n";
    for text in ["nvidia-smi says 12.8, nvcc 11.5, torch 12.4", outputs] {
        assert_eq!(codes(text), ["toolkit-not-of-torch"], "{text}");
        let finding = &diagnose(text).findings[0];
        assert!(finding.meaning.contains("built for CUDA 12.4, runs without any nvcc"), "{}", finding.meaning);
        assert!(finding.meaning.contains("here it is of 11.5"), "{}", finding.meaning);
    }
    assert_eq!(codes(DRIVER_BEHIND), ["torch-newer-than-driver"]);
    // A label may stand behind its number, and a driver's release tells what the driver offers.
    for text in [
        "CUDA 12.8 (nvidia-smi), CUDA 11.5 (nvcc), torch 2.6.0+cu124",
        "12.8 from nvidia-smi, 11.5 from nvcc, torch 2.6.0+cu124",
        "driver 570.86.15, 11.5 in nvcc, torch 2.6.0+cu124",
    ] {
        assert_eq!(codes(text), ["toolkit-not-of-torch"], "{text}");
    }
    let behind = "CUDA 11.4 (nvidia-smi), CUDA 12.4 (nvcc), torch 2.6.0+cu124";
    assert_eq!(codes(behind), ["torch-newer-than-driver"]);
    // Nothing clashes here, and an error that stands beside the versions is not theirs.
    for text in ["nvidia-smi says 12.8, nvcc 12.4, torch 12.1", "nvidia-smi says 12.8 and nvcc says 11.5"] {
        assert_eq!(codes(text), [""; 0], "{text}");
        assert!(diagnose(text).aside.unwrap().means.contains("mean different things and need not be equal"), "{text}");
    }
    assert_eq!(codes("nvcc 11.5, torch 12.4\nZeroDivisionError: division by zero"), [""; 0]);
}

#[test]
fn the_header_of_newer_nvidia_smi_is_read() {
    let header = "| NVIDIA-SMI 610.43.02              KMD Version: 610.43.02     CUDA UMD Version: 13.3     |";
    let extract = diagnose(header).extract;
    assert_eq!(extract.get("cuda_found").map(found), Some("13.3".into()));
    let ignored = diagnose(
        "Ignored the following versions that require a different python version: 1.26.4 Requires-Python <3.13",
    )
    .extract;
    assert_eq!(ignored.get("python"), None);
    assert_eq!(extract.get("driver").map(found), Some("610.43.02".into()));
}

/// As `python -m torch.utils.collect_env` prints them: <https://github.com/pytorch/pytorch/issues/43058>,
/// <https://github.com/pytorch/pytorch/issues/30071>, and of a newer torch.
#[test]
fn a_driver_too_old_for_torch_is_seen_among_versions() {
    let printed = |torch: &str, cuda: &str, available: &str, driver: &str| {
        format!(
            "PyTorch version: {torch}\nIs debug build: No\nCUDA used to build PyTorch: {cuda}\n\nPython version: 3.7\n\
             Is CUDA available: {available}\nGPU models and configuration: GPU 0: Tesla V100-PCIE-16GB\n\
             Nvidia driver version: {driver}\ncuDNN version: Could not collect\n"
        )
    };
    for (text, behind) in [
        (printed("1.6.0", "10.2", "No", "418.67"), true),
        (printed("1.3.1", "10.1.243", "No", "410.48"), true),
        (printed("2.5.1+cu124", "12.4", "False", "470.256.02"), true),
        // By minor-version compatibility this driver does, and that one works.
        (printed("2.5.1+cu124", "12.4", "False", "525.147.05"), false),
        (printed("1.6.0", "10.2", "Yes", "418.67"), false),
    ] {
        let verdict = diagnose(&text);
        let codes: Vec<&str> = verdict.findings.iter().map(|one| one.code.as_str()).collect();
        assert_eq!(codes == ["torch-needs-newer-driver"], behind, "{codes:?}: {text}");
        assert!(behind || codes.is_empty(), "{codes:?}: {text}");
    }
    let told = diagnose(&printed("2.5.1+cu124", "12.4", "False", "470.256.02")).findings.remove(0);
    assert!(told.meaning.contains("Driver 470.256.02 offers CUDA 11.4, torch was built for CUDA 12.4"), "{told:?}");
}

/// A finding that reads the same words as a weightier one, or the number of its error, says nothing more.
#[test]
fn one_fault_is_told_once() {
    for (text, codes) in [
        ("Failed to initialize NVML: Driver/library version mismatch", &["nvml-mismatch"][..]),
        (
            "fabric manager NVIDIA GPU driver interface version 535.104.05 don't match with driver version 535.129.03.\nError 802: system not yet initialized",
            &["fabric-manager-failed"],
        ),
        (
            "CudaSupportError: Error at driver init: \n[3] Call to cuInit results in CUDA_ERROR_NOT_INITIALIZED:",
            &["cuda-not-initialised"],
        ),
        (
            "numba.cuda.cudadrv.error.CudaSupportError: Error at driver init: \n[500] Call to cuInit results in CUDA_ERROR_NOT_FOUND:",
            &["wsl-cuda-in-container"],
        ),
        (
            "└─ tensorflow =2.17.0 *cuda* is not installable because there are no viable options\n   └─ tensorflow 2.17.0 would require\n      └─ __cuda =* *, which is missing on the system.",
            &["conda-sees-no-driver"],
        ),
        (
            "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown.",
            &["nvml-library-missing"],
        ),
        (
            "triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error\n`ptxas` stderr:\nptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'",
            &["triton-ptxas-too-old"],
        ),
        (
            "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'\nInternal Triton PTX codegen error\ntriton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error",
            &["triton-ptxas-too-old"],
        ),
        (
            "triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error\n`ptxas` stderr:\nptxas /tmp/a.ptx, line 606; error   : Feature '.tile::gather4 with destination state space as .shared::cluster' not supported on .target 'sm_120a'\nptxas fatal   : Ptx assembly aborted due to errors",
            &["ptx-feature-missing"],
        ),
        (
            "THCudaCheck FAIL file=/pytorch/aten/src/THC/THCCachingHostAllocator.cpp line=271 error=4 : unspecified launch failure\nRuntimeError: cuda runtime error (4) : unspecified launch failure at /pytorch/aten/src/THC/THCCachingHostAllocator.cpp:271",
            &["launch-failure"],
        ),
        (
            "Error at driver init: Call to cuInit results in CUDA_ERROR_NO_DEVICE (<CUresult.CUDA_ERROR_NO_DEVICE: 100>)",
            &["no-device"],
        ),
        (
            "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 34: CUDA driver is a stub library",
            &["cuda-stub-library"],
        ),
        (
            "nvidia-container-cli: initialization error: WSL environment detected but no adapters were found: unknown.",
            &["wsl-without-adapter"],
        ),
        (
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\nNVRM: API mismatch: the client 'nvidia-smi' has the version 595.84,\nbut this kernel module has the version 595.71.05.",
            &["nvml-mismatch"],
        ),
        (
            "torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/NCCLUtils.cpp:93, invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version 2.28.9\nncclInvalidUsage: This usually reflects invalid usage of NCCL library.\nLast error:\nDuplicate GPU detected : rank 1 and rank 0 both on CUDA device 60",
            &["nccl-duplicate-gpu"],
        ),
        (
            "Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 2: out of memory",
            &["cuda-start-memory-short"],
        ),
        (
            "cupy_backends.cuda.libs.nvrtc.NVRTCError: NVRTC_ERROR_COMPILATION (6)\n\ncupy.cuda.compiler.CompileException: /x/nvidia/cu13/include/cublas_api.h(68): catastrophic error: cannot open source file \"stdint.h\"\n  #include <stdint.h>",
            &["cupy-host-header"],
        ),
        (
            "vllm 0.6.3 requires torch==2.4.0, but you have torch 2.2.0 which is incompatible.\nvllm 0.6.3 requires torchvision==0.19, but you have torchvision 0.17.0 which is incompatible.",
            &["packages-want-other-torch"],
        ),
    ] {
        let verdict = diagnose(text);
        let seen: Vec<&str> = verdict.findings.iter().map(|one| one.code.as_str()).collect();
        assert_eq!(seen, codes, "{text}");
    }
}

/// The Python that a text tells of has no wheels of the newest torch; a GPU's first one may be experimental.
#[test]
fn torch_is_advised_for_the_python_at_hand() {
    let warning =
        "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.";
    let told = |python: &str| {
        let text =
            format!("/usr/lib/python{python}/site-packages/torch/cuda/__init__.py:235: UserWarning: \n{warning}");
        let finding = diagnose(&text).findings.remove(0);
        (finding.meaning, finding.remedies.join("\n"))
    };
    let ((old, remedies), (new, _)) = (told("3.9"), told("3.12"));
    assert!(old.contains("newest release for Python 3.9 with code for it is torch 2.8.0"), "{old}");
    assert!(remedies.contains("the first for Python 3.9 with code for the GPU is torch 2.7.0+cu128"), "{remedies}");
    assert!(new.contains("for Python 3.12") && !new.contains("torch 2.8.0"), "{new}");
}

/// What is advised can be installed where the GPU is: builds that lie in images cannot, and a board has a processor.
#[test]
fn torch_is_advised_for_the_processor_of_the_board() {
    let told = |gpu: &str| {
        let text = format!("{gpu} is not compatible with the current PyTorch installation.");
        let finding = diagnose(&text).findings.remove(0);
        finding.meaning + &finding.remedies.join("\n")
    };
    let of = |gpu: &str, names: &[&str]| {
        let told = told(gpu);
        assert!(names.iter().all(|name| told.contains(name)) && !told.contains("cu123"), "{told}");
    };
    of(
        "Orin with CUDA capability sm_87",
        &["Install torch 2.", "variant cu126 for NVIDIA JetPack 6.1 and NVIDIA JetPack 6.2"],
    );
    of("Xavier with CUDA capability sm_72", &["cu114 for NVIDIA JetPack 5.1"]);
    of("NVIDIA Thor with CUDA capability sm_110", &["Install torch 2.", "variant cu13"]);
}

/// A text can print the errors of two faults: each finding has the number of its own.
#[test]
fn a_number_is_not_given_to_another_fault() {
    for (text, code, number) in [
        ("cudaSetDevice err: 35\nRuntimeError: CUDA error: no kernel image is available", "no-kernel-image-torch", 209),
        (
            "cuInit err: 999\nCUDA error (803): system has unsupported display driver",
            "driver-combination-unsupported",
            803,
        ),
        ("cuda driver library failed to get device context 46time=2024-12-31T01:21:28.358", "device-unavailable", 46),
    ] {
        let verdict = diagnose(text);
        let first = verdict.findings.iter().find(|found| found.code == code).unwrap_or_else(|| panic!("{verdict:?}"));
        assert_eq!(first.extract.get("cuda_error").map(found), Some(number.to_string()), "{text}");
    }
}

/// Answers that were once wrong: what they must be, and what they must not say.
#[test]
fn what_is_to_be_changed_is_not_mistaken() {
    for (text, code, not) in [
        ("E: Unable to locate package nvidia-driver-535", "driver-package-not-found", "purge"),
        (
            "ERROR: ggml-cuda was compiled without support for the current GPU architecture.",
            "build-without-gpu-code",
            "newer generation",
        ),
        (
            "CUDA backend for DNN module requires CC 5.3 or higher.  Please remove\n  unsupported architectures from CUDA_ARCH_BIN option.",
            "arch-list-below-requirement",
            "Use a GPU",
        ),
        (
            "ImportError: Failure finding \"libcudss.so\": No such file: libcudss.so*",
            "separate-library-missing",
            "It belongs to CUDA",
        ),
        (
            "cupy.cuda.compiler.CompileException: /tmp/x.cu(1): catastrophic error: cannot open source file \"cuda_fp16.h\"",
            "cupy-headers-missing",
            "nvcc",
        ),
        (
            "cupy/cuda-12.4/cuda_fp16.h(129): catastrophic error: cannot open source file \"vector_types.h\"",
            "cupy-headers-missing",
            "nvcc",
        ),
        (
            "PTXASError: PTXAS error: Internal Triton PTX codegen error\n`ptxas` stderr:\nptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'",
            "triton-ptxas-too-old",
            "off the list",
        ),
        (
            "  File \"/home/x/lib/python3.10/site-packages/flash_attn/flash_attn_interface.py\", line 8, in <module>\n    import flash_attn_2_cuda as flash_attn_cuda\nImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
            "extension-of-other-cuda",
            "LD_LIBRARY_PATH",
        ),
        (
            "AssertionError: Torch not compiled with CUDA enabled\n  File \"/Users/me/venv/lib/python3.11/site-packages/torch/cuda/__init__.py\"",
            "torch-on-macos",
            "CUDA build",
        ),
        ("AttributeError: module 'torch' has no attribute 'cuda'", "torch-is-not-torch", "other release"),
        ("AttributeError: module 'torch' has no attribute 'zeros'", "torch-is-not-torch", "other release"),
        ("AttributeError: module 'torch' has no attribute 'zeros_like'", "torch-of-other-release", "PYTHONPATH"),
        (
            "CUDADriverError: CUDA_ERROR_INVALID_ADDRESS_SPACE: operation not supported on global/shared address space",
            "kernel-address-space",
            "raise the driver",
        ),
        ("AttributeError: module 'tensorflow' has no attribute '__version__'", "torch-is-not-torch", "TensorFlow 1"),
        ("ModuleNotFoundError: No module named 'torch._six'", "torch-of-other-release", "PYTHONPATH"),
        ("ValueError: Unknown CUDA arch (sm_90) or GPU not supported", "torch-arch-list-malformed", "newer PyTorch"),
        (
            "ValueError: Your setup doesn't support bf16/gpu. You need to assign use_cpu if you want to train the model on CPU.",
            "torch-without-cuda",
            "float16",
        ),
        (
            "ValueError: Your setup doesn't support bf16/gpu. You need to assign use_cpu if you want to train the model on CPU. You need Ampere+ GPU with cuda>=11.0.",
            "gpu-below-requirement",
            "without CUDA",
        ),
        (
            "docker run --rm --gpus all nvidia/cuda:13.1.0-base-ubuntu24.04 nvidia-smi\nFailed to initialize NVML: Unknown Error",
            "nvml-unknown-error",
            "has lost its GPU",
        ),
        // Half installed packages of one release are no two that exclude each other; nor is a package of rpm apt's.
        (
            "nvidia-utils-570 depends on libnvidia-compute-570 (= 570.86.15-0ubuntu1); however:\n  Package libnvidia-compute-570 is not installed.\n\ndpkg: error processing package nvidia-utils-570 (--install):",
            "driver-package-alone",
            "purge",
        ),
        (
            "dpkg: nvidia-driver-535 depends on libnvidia-gl-535 (= 535.183.01); however:\n  Version of libnvidia-gl-535 on system is 535.171.04.\n\ndpkg: error processing package nvidia-driver-535 (--configure):",
            "driver-packages-conflict",
            "dnf",
        ),
        (
            "package nvidia-driver-3:560.35.03-1.fc39.x86_64 from cuda-fedora39-x86_64 requires nvidia-kmod-common = 3:560.35.03, but none of the providers can be installed",
            "driver-rpms-conflict",
            "apt-get",
        ),
        (
            "package kmod-nvidia-latest-dkms-3:550.54.14-1.el9.x86_64 from cuda-rhel9-x86_64 requires dkms, but none of the providers can be installed",
            "driver-needs-module-builder",
            "Remove",
        ),
        (
            "ERROR: An NVIDIA kernel module 'nvidia-uvm' appears to already be loaded in your kernel.\nERROR: Installation has failed.  Please see the file '/var/log/nvidia-installer.log' for details.",
            "kernel-module-in-use",
            "headers",
        ),
        (
            "ERROR: Unable to build the NVIDIA kernel module.\nERROR: Installation has failed.  Please see the file '/var/log/nvidia-installer.log'",
            "kernel-module-not-built",
            "toolkit",
        ),
        (
            "CMake Error in CMakeLists.txt:\n  CUDA_ARCHITECTURES is empty for target \"cmTC_4f57c\".",
            "cmake-cuda-compiler",
            "CMP0104",
        ),
        (
            "CMake Error in CMakeLists.txt:\n  CUDA_ARCHITECTURES is empty for target \"Common\".",
            "cmake-architectures-unset",
            "CMakeError.log",
        ),
        (
            "Could not load dynamic library 'libcupti.so.11.2'; dlerror: libcupti.so.11.2: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /usr/local/cuda/lib64",
            "tensorflow-profiler-library",
            "without the GPU",
        ),
        (
            "Could not load dynamic library 'libcublas.so.10'; dlerror: libcublas.so.10: cannot open shared object file: No such file or directory\nCould not load dynamic library 'libcupti.so.10.1'; dlerror: libcupti.so.10.1: cannot open shared object file: No such file or directory",
            "tensorflow-library-missing",
            "profiler",
        ),
        (
            "ImportError: libcupti.so.11.7: cannot open shared object file: No such file or directory",
            "cuda-library-missing",
            "profiler",
        ),
        (
            "Because there is no version of nvidia-cublas-cu12==12.4.5.8 and torch==2.6.0 depends on nvidia-cublas-cu12==12.4.5.8, we can conclude that torch==2.6.0 cannot be used.",
            "uv-first-index",
            "cuXXX",
        ),
        (
            "tmp.cu:(.text+0x3a9): undefined reference to `__cudaRegisterFatBinaryEnd'\ntmp.cu:(.text+0x4d8): undefined reference to `cudaLaunchKernel'",
            "cuda-link-flag-missing",
            "newer nvcc",
        ),
        (
            "| NVIDIA-SMI 560.27                 Driver Version: 560.70         CUDA Version: 12.6     |\n| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\nSegmentation fault (core dumped)",
            "nvidia-smi-crashed",
            "headers",
        ),
        ("main.o: undefined reference to `cublasCreate_v2@libcublas.so.11'", "cuda-symbol-missing", "-lcublas"),
        (
            "AttributeError: module 'torch.cuda' has no attribute 'is_bf16_supported'",
            "torch-of-other-release",
            "misspel",
        ),
        (
            "ImportError: /x/_torch_sox.cpython-36m-x86_64-linux-gnu.so: undefined symbol: _ZN2at19UndefinedTensorImpl10_singletonE",
            "extension-abi-mismatch",
            "torch-sox",
        ),
    ] {
        let verdict = diagnose(text);
        assert_ne!(verdict.findings[0].extract.get("package").map(found), Some("torch-sox".into()));
        let first = &verdict.findings[0];
        assert_eq!(first.code, code, "{text}");
        let told = format!("{} {}", first.meaning, first.remedies.join(" "));
        assert!(!told.contains(not), "{told}");
    }
}

/// A driver that does not know the GPU of the text runs no torch on it, and GeForce boards take no cuda-compat.
#[test]
fn what_the_gpu_excludes_is_not_proposed() {
    for (gpu, keeps, compat) in [
        ("RTX 5090", false, false),
        ("NVIDIA B200", false, true),
        ("RTX 4090", true, false),
        ("NVIDIA L40S", true, true),
    ] {
        let old = "RuntimeError: The NVIDIA driver on your system is too old (found version 12040).";
        let first = diagnose(&format!("GPU 0: {gpu} (UUID: GPU-8932f937-d72c-4106-c12f-20bd9faed9f6)\n{old}"))
            .findings
            .remove(0);
        let told = first.remedies.join(" ");
        assert_eq!(told.contains("Or keep the driver"), keeps, "{gpu}: {told}");
        assert_eq!(told.contains("cuda-compat"), compat, "{gpu}: {told}");
    }
}

/// What messages of tests/messages are told, and what they are not: no wheel that no index serves, no driver of another
/// system, no index that the text names, no other release of what was loaded too early.
#[test]
fn what_is_advised_is_of_the_text() {
    for (id, says, not) in [
        ("pip-fingerprint7-cu113", "Ask for one of these: cpu, cu117, cu118;", "cu114"),
        ("pip-chatanything3-mac", "On macOS ask for torch without a label", "--index-url"),
        ("pip-pt91543-cu117", "Use a Python", "--index-url"),
        ("pip-sadtalker850", "Use a Python", "--index-url"),
        ("require-petric27-windows", "570.65 or later", "570.26"),
        ("wsl-require-forwin11024", "raise the NVIDIA driver in Windows to 460.82 or later", "460.27"),
        ("sox-audio1461-wavpack", "Install SoX", "releases that are installed"),
        ("import-lut28-libc10", "Write `import torch` before", "exactly this release"),
    ] {
        let at = MESSAGES.iter().position(|message| message.id == id).unwrap();
        let first = &VERDICTS[at].findings[0];
        let told = format!("{} {}", first.meaning, first.remedies.join(" "));
        assert!(told.contains(says) && !told.contains(not), "{id}: {told}");
    }
    let arm = "Linux aarch64\nERROR: Could not find a version that satisfies the requirement torch==2.0.0+cu113 (from versions: 2.0.0, 2.6.0)";
    let told = diagnose(arm).findings[0].remedies.join(" ");
    assert!(told.contains("Ask for one of these: cpu;"), "{told}");
    let wsl = "Linux PC 5.15.167.4-microsoft-standard-WSL2\n";
    for (text, says, not) in [
        (
            "The NVIDIA driver on your system is too old (found version 11060)",
            "NVIDIA driver in Windows",
            "cuda-compat",
        ),
        ("CUDA unknown error - this may be due to an incorrectly set up environment", "wsl --update", "modprobe"),
        ("ImportError: libcuda.so.1: cannot open shared object file", "In Windows, install the driver", "On the host"),
    ] {
        let told = diagnose(&format!("{wsl}{text}")).findings[0].remedies.join(" ");
        assert!(told.contains(says) && !told.contains(not), "{text}: {told}");
    }
    let typed = "/x/site-packages/flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationESs\n>>> quit()";
    let symbol = found(&diagnose(typed).findings[0].extract["symbol"]);
    assert_eq!(symbol, "_ZN3c105ErrorC2ENS_14SourceLocationESs");
}

/// Nothing that an installer lists tells that a release never was; the catalog does.
#[test]
fn a_release_that_was_never_published_is_told_as_such() {
    let list = "(from versions: 2.2.0, 2.2.1, 2.3.0, 2.4.0, 2.4.1, 2.5.0, 2.5.1, 2.6.0)";
    for (asked, says) in [
        ("torch==2.4.7", &["torch 2.4.7 was never published on PyPI", "the nearest are 2.4.1 and 2.5.0"][..]),
        ("torch==2.5.1+cu128", &["torch 2.5.1 was never published as +cu128", "cpu, cu118, cu121, cu124"]),
    ] {
        let text = format!("ERROR: Could not find a version that satisfies the requirement {asked} {list}\n");
        let verdict = diagnose::diagnose(&text, &BUILTIN);
        let first = &verdict.findings[0];
        let told = format!("{} {}", first.meaning, first.remedies.join(" "));
        assert_eq!(first.code, "no-such-release", "{told}");
        assert!(says.iter().all(|part| told.contains(part)) && !told.contains("interpreter"), "{told}");
    }
    // The Python of this text has no wheels of older releases.
    let text = "ERROR: Could not find a version that satisfies the requirement torch==1.8.2+cu111 (from versions: 2.0.0, 2.0.1, 2.1.0)\n";
    let told = diagnose(text).findings[0].remedies.join(" ");
    let says = told.contains("the nearest is 2.0.0;") && told.contains("an older Python");
    assert!(says && !told.contains("1.8.1"), "{told}");
}

/// As torch 2.13 and 2.14 warn: <https://github.com/pytorch/pytorch/issues/172629> and what its release prints.
#[test]
fn a_warning_of_torch_is_held_against_its_build() {
    let warning = |gpu: &str, cc: &str, torch: &str| {
        format!(
            "UserWarning: Found GPU0 {gpu} which is of compute capability (CC) {cc}.\n\
             The following list shows the CCs this version of PyTorch was built for and the hardware CCs it supports:\n\
             - 7.5 which supports hardware CC >=7.5,<8.0\n\
             Your installed torch=={torch} does not include kernels for this GPU. Reinstall the same version against a \
             CUDA build that does, e.g.:\n  For CUDA 12.6 use pip install torch --index-url https://download.pytorch.org/whl/cu126\n\
             torch.AcceleratorError: CUDA error: no kernel image is available for execution on the device\n"
        )
    };
    for (gpu, cc, torch, says) in [
        ("NVIDIA GeForce RTX 5060 Ti", "12.0", "2.13.0+cu126", "Install torch 2.13.0, variant cu130."),
        ("NVIDIA GeForce GTX 1050", "6.1", "2.14.0+cu130", "Install torch 2.14.0, variant cu126."),
        ("NVIDIA GB10", "12.1", "2.13.0+cu130", "Leave it"),
    ] {
        let verdict = diagnose(&warning(gpu, cc, torch));
        let codes: Vec<&str> = verdict.findings.iter().map(|one| one.code.as_str()).collect();
        let first = &verdict.findings[0];
        assert_eq!(codes, ["torch-dropped-gpu"], "{gpu}");
        assert_eq!(first.extract.get("torch").map(found).as_deref(), Some(torch));
        assert!(first.remedies[0].starts_with(says), "{gpu}: {first:?}");
        assert_eq!(first.meaning.contains("holds no code"), !says.starts_with("Leave"), "{gpu}: {}", first.meaning);
    }
}

/// TensorFlow whose PTX the driver refuses: <https://github.com/tensorflow/tensorflow/issues/99592>.
#[test]
fn nobody_waits_for_ptx_that_was_refused() {
    let warned = "TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0. CUDA kernels will be jit-compiled from PTX, which could take 30 minutes or longer.\n";
    let refused = "W tensorflow/compiler/mlir/tools/kernel_gen/tf_gpu_runtime_wrappers.cc:40] 'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'\n";
    let codes = |text: &str| -> Vec<String> { diagnose(text).findings.into_iter().map(|found| found.code).collect() };
    assert_eq!(codes(warned), ["jit-from-ptx"]);
    assert_eq!(codes(&format!("{warned}{refused}")), ["build-without-gpu-code"]);
}

/// What an installer does not find where it did not reach its index, and what a library says after a kernel failed.
#[test]
fn what_follows_from_another_fault_is_not_told() {
    let cut_off = "WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7ff99f4f7970>: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/torch/\n";
    let none = "ERROR: Could not find a version that satisfies the requirement torch (from versions: none)\n";
    let some =
        "ERROR: Could not find a version that satisfies the requirement torch==2.2.7 (from versions: 2.2.0, 2.3.0)\n";
    let verdict = diagnose(&format!("{cut_off}{none}"));
    assert!(verdict.findings.is_empty() && verdict.aside.unwrap().means.contains("did not reach its index"));
    // It listed releases, so it did reach it.
    assert_eq!(diagnose(&format!("{cut_off}{some}")).findings[0].code, "no-such-release");
    let fault = "RuntimeError: CUDA error: an illegal memory access was encountered\nRuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED\n";
    assert_eq!(diagnose(fault).findings[0].code, "kernel-fault");
}
