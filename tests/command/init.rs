//! `gpuenv init`, and `gpuenv probe --from`, as users run them.

use std::fs;
use std::path::Path;

use gpuenv::report::schema;
use serde_json::Value;

use crate::common::sandbox::Sandbox;
use crate::common::validate;

/// An excerpt of <https://github.com/sgl-project/sglang/issues/27487>: the newest header.
const B200: &str = "\
| NVIDIA-SMI 610.43.02              KMD Version: 610.43.02     CUDA UMD Version: 13.3     |
|   0  NVIDIA B200                    On  |   00000000:63:00.0 Off |                    0 |
| N/A   26C    P0            139W / 1000W |       0MiB / 183359MiB |      0%      Default |
|                                         |                        |             Disabled |
";

/// A folder without a gpuenv.toml.
fn empty(name: &str) -> Sandbox {
    let sandbox = Sandbox::new(name, "");
    fs::remove_file(sandbox.path("gpuenv.toml")).unwrap();
    sandbox
}

#[track_caller]
fn fits(name: &str, document: &Value) {
    let schema: Value = serde_json::from_str(&schema::find(name).expect(name).text()).expect(name);
    let wrong = validate::errors(&schema, document);
    assert!(wrong.is_empty(), "{name}: {wrong:#?}\n{document:#}");
}

fn fixture(id: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/hosts/{id}.json")).to_string_lossy().into_owned()
}

#[test]
fn without_options_it_writes_a_spec_that_locks_as_it_is() {
    let sandbox = empty("init-bare");
    sandbox.run(&["init"]).exits(0).says("created gpuenv.toml").says("then run `gpuenv lock`");
    let spec = sandbox.spec();
    for key in ["\ntorch ", "\n# gpu ", "\n# driver", "\n# image", "\n# os ", "\n# [build]"] {
        assert!(spec.contains(key), "{key}: {spec}");
    }
    sandbox.run(&["lock"]).exits(0);
    // Every hint is right: without the marks it is a spec.
    let bold: Vec<&str> = spec.lines().skip(2).map(|line| line.strip_prefix("# ").unwrap_or(line)).collect();
    sandbox.write(&bold.join("\n"));
    sandbox.run(&["lock", "--fresh"]).exits(0);
}

#[test]
fn a_help_names_options_that_there_are() {
    let sandbox = empty("init-cuda");
    let typed = ["init", "--gpu", "RTX 4090", "--driver", "CUDA 12.8"];
    sandbox.run(&typed).exits(2).says("help: write `--driver-cuda \"12.8\"`");
    sandbox.run(&["init", "--gpu", "RTX 4090", "--driver-cuda", "12.8"]).exits(0);
    assert!(sandbox.spec().contains("driver-cuda = \"12.8\""), "{}", sandbox.spec());
    sandbox
        .run(&["target", "add", "x", "--gpu", "A100", "--driver", "CUDA 12.8"])
        .exits(2)
        .says("--driver-cuda \"12.8\"");
}

#[test]
fn a_file_is_not_replaced_unasked() {
    let sandbox = Sandbox::new("init-there", "mine");
    sandbox.run(&["init"]).exits(2).says("exists already").says("--force");
    assert_eq!(sandbox.spec(), "mine");
    sandbox.run(&["init", "-o", "other.toml"]).exits(0);
    sandbox.run(&["init", "--spec", "other.toml"]).exits(2);
    sandbox.run(&["init", "--force", "--gpu", "RTX 3091"]).exits(2);
    assert_eq!(sandbox.spec(), "mine", "a mistake writes nothing");
    sandbox.run(&["init", "--force"]).exits(0);
    sandbox.run(&["lock"]).exits(0);
    let ran = sandbox.run(&["init", "-o", "-"]).exits(0);
    assert_eq!(ran.out, sandbox.spec());
    sandbox.run(&["init", "-o", "no/such/folder/gpuenv.toml"]).exits(4);
}

#[test]
fn what_is_typed_is_written_and_checked() {
    let sandbox = empty("init-typed");
    let all = "init --target prod --gpu A100-PCIE-40GB --gpu RTX-3090 --driver 535 --image nvidia/cuda --os ubuntu22.04 \
               --arch x86_64 --torch >=2.4,<2.8 --python 3.11 --build";
    sandbox.run(&all.split_whitespace().collect::<Vec<_>>()).exits(0);
    let spec = sandbox.spec();
    for line in ["[target.prod]", "[build]", "gpu    = [\"A100-PCIE-40GB\", \"RTX-3090\"]", "\"535\""] {
        assert!(spec.contains(line), "{line}: {spec}");
    }
    sandbox.run(&["lock"]).exits(0);
    for (args, wanted) in [
        (&["--gpu", "RTX 3091"][..], "invalid value for `--gpu`: unknown GPU `RTX 3091`"),
        (&["--gpu", "RTX 3091"], "NVIDIA GeForce RTX 3090"),
        (&["--gpu", "RTX 3091"], "`--gpu \"sm_86\"`"),
        (&["--gpu", "H100, A100"], "`--gpu \"H100\" --gpu \"A100\"`"),
        (&["--gpu", "MI300X"], "`--gpu`: `MI300X` is not an NVIDIA GPU"),
        (&["--torch", "2..5"], "constraint"),
        (&["--driver", "new"], "driver"),
        (&["--arch", "sparc"], "x86_64"),
        (&["--target", "a b"], "invalid target name"),
        (&["--target", "x]\ngpu = \"none\"\n[target.y"], "invalid target name"),
        (&["--torch", "1\"\n[target.y]\ngpu = \"none"], "constraint"),
        (&["--gpu", "\u{1b}[31mRTX"], "cannot be seen"),
        (&["--detect", "--host", "x"], "cannot be used with"),
    ] {
        let ran = sandbox.run(&[&["init", "--force"], args].concat()).exits(2).says(wanted);
        assert!(!ran.err.contains('\u{1b}'), "{ran:?}");
        // No place in a file that nobody has written.
        assert!(!args.contains(&"--target") || !ran.err.contains("gpuenv.toml"), "{ran:?}");
    }
    assert_eq!(sandbox.spec(), spec);
    // What is known of an unlisted system is little, and that is told.
    sandbox.run(&["init", "--os", "ubunto22.04", "-o", "-"]).exits(0).says("os-not-listed");
    // A contradiction is a true statement: the spec is written, and it is told.
    sandbox
        .run(&["init", "--force", "--gpu", "RTX 5090", "--torch", "2.0.1"])
        .exits(0)
        .says("`torch = \"2.0.1\"` is incompatible");
    sandbox.run(&["lock"]).exits(1);
}

#[test]
fn the_commands_that_come_next_work() {
    let sandbox = empty("init-next");
    let spec = "[stack]\ntorch = \"2.5\"\n[target.ci]\ngpu = \"none\"\n[target.train]\ngpu = \"H100\"\ndriver = \"550\"\n\
                image = \"nvidia/cuda\"\n";
    fs::write(sandbox.path("gpuenv.toml"), spec).unwrap();
    fs::write(sandbox.path("requirements.txt"), "numpy\n").unwrap();
    let ran = sandbox.run(&["lock"]).exits(0).says("you have 550");
    let next = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    let commands: Vec<&str> = next.split('`').filter_map(|part| part.strip_prefix("gpuenv export ")).collect();
    assert_eq!(commands.len(), 3, "{next}");
    assert!(commands[0].starts_with("dockerfile --target train "), "{next}");
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        sandbox.run(&[&["export"], &words[..]].concat()).exits(0);
    }
    // What is the user's stays.
    assert_eq!(fs::read_to_string(sandbox.path("requirements.txt")).unwrap(), "numpy\n");
}

#[test]
fn a_pasted_host_becomes_a_spec() {
    let sandbox = empty("init-host");
    fs::write(sandbox.path("paste.txt"), B200).unwrap();
    sandbox.run(&["init", "--host", "paste.txt"]).exits(0);
    let spec = sandbox.spec();
    for line in ["gpu    = \"NVIDIA B200\"", "driver = \"610.43.02\"", "as nvidia-smi tells it", "torch = \"*\""] {
        assert!(spec.contains(line), "{line}: {spec}");
    }
    sandbox.run(&["lock"]).exits(0);
    // What is typed counts more.
    sandbox
        .run(&["init", "--host", "paste.txt", "--force", "--driver", "580", "--torch", "2.9", "--target", "node"])
        .exits(0);
    let spec = sandbox.spec();
    assert!(spec.contains("driver = \"580\"") && !spec.contains("610.43") && spec.contains("[target.node]"), "{spec}");
    for id in ["vllm-pr18272-a100-gcp", "vllm-3744-gh200-480gb", "metategra-pr2088-agx-orin", "vllm-17448-vgpu-48gb"] {
        sandbox.run(&["init", "--host", &fixture(id), "--force"]).exits(0).says("then run `gpuenv lock`");
        sandbox.run(&["lock", "--fresh"]).exits(0);
    }
    sandbox.run(&["init", "--host", &fixture("vllm-7680-a100-80gb-pcie"), "--force"]).exits(0).says("+cpu");
    sandbox.run(&["init", "--host", &fixture("vllm-pr18272-a100-gcp"), "--build", "--force"]).exits(0);
    assert!(sandbox.spec().contains("toolkit") && sandbox.spec().contains("gcc"), "{}", sandbox.spec());
}

/// A machine for which gpuenv has nothing becomes a draft with a word.
#[test]
fn a_host_of_others_is_told_to_be_one() {
    let text = |torch: &str, os: &str| {
        format!("Collecting environment information...\nPyTorch version: {torch}\nOS: {os}\nPython version: 3.11.9\n")
    };
    let sandbox = empty("init-others");
    for (torch, os, says) in [
        ("2.4.0+rocm6.1", "Ubuntu 22.04.4 LTS (x86_64)", "is built for AMD's GPUs"),
        ("2.4.0", "macOS 14.5 (arm64)", "runs macOS 14.5, and what gpuenv locks runs on Linux"),
    ] {
        fs::write(sandbox.path("host.txt"), text(torch, os)).unwrap();
        sandbox.run(&["init", "--host", "host.txt", "-o", "-"]).exits(0).says(says);
    }
    fs::write(sandbox.path("host.txt"), text("2.4.0+cu121", "Ubuntu 22.04.4 LTS (x86_64)")).unwrap();
    let ran = sandbox.run(&["init", "--host", "host.txt", "-o", "-"]).exits(0);
    assert!(!ran.err.contains("change the target"), "{}", ran.err);
}

#[test]
fn this_host_becomes_a_spec() {
    let sandbox = empty("init-detect");
    sandbox.run(&["init", "--detect"]).exits(0).says("created gpuenv.toml");
    assert!(sandbox.spec().contains("[target.host]"), "{}", sandbox.spec());
}

#[test]
fn documents_fit_their_schema() {
    let sandbox = empty("init-json");
    let (code, document) = sandbox.json(&["init"]);
    fits("init", &document);
    assert_eq!(
        (code, document["file"].as_str(), &document["conflicts"]),
        (0, Some("gpuenv.toml"), &Value::Array(vec![]))
    );
    let (_, document) = sandbox.json(&["init", "-o", "-", "--gpu", "RTX 5090", "--torch", "2.0.1"]);
    fits("init", &document);
    assert!(document["file"].is_null() && document["conflicts"][0]["culprits"].is_array());
    fits("error", &sandbox.json(&["init"]).1);
    fits("error", &sandbox.json(&["probe", "--from", "nowhere"]).1);
}

#[test]
fn a_paste_becomes_a_record() {
    let sandbox = empty("probe-from");
    fs::write(sandbox.path("paste.txt"), B200).unwrap();
    let (code, record) = sandbox.json(&["probe", "--from", "paste.txt"]);
    fits("host", &record);
    assert_eq!((code, record["origin"].as_str()), (0, Some("pasted")));
    assert_eq!(record["nvml"]["gpus"][0]["name"], "NVIDIA B200");
    // PowerShell's `>` writes UTF-16.
    let wide: Vec<u8> = format!("\u{feff}{B200}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(sandbox.path("wide.txt"), wide).unwrap();
    assert_eq!(sandbox.json(&["probe", "--from", "wide.txt"]).1, record);
    // A record is read back as it is.
    fs::write(sandbox.path("record.json"), record.to_string()).unwrap();
    assert_eq!(sandbox.json(&["probe", "--from", "record.json"]).1, record);
    for id in ["vllm-pr18272-a100-gcp", "vllm-37096-gh200-144g-hbm3e", "nvdocker-1352-titanv-windows"] {
        fits("host", &sandbox.json(&["probe", "--from", &fixture(id)]).1);
        sandbox.run(&["probe", "--from", &fixture(id)]).exits(0);
    }
}

#[test]
fn what_is_no_host_is_refused() {
    let sandbox = empty("probe-bad");
    for (text, wanted) in [
        (&b""[..], "is empty"),
        (b"\xff\xfe", "is empty"),
        (b"hello \x1b[31m world", "this text describes no host"),
        (b"{\"format\": 99}", "format 99"),
        (b"{\"format\": 1,\n  \"colour\": \"red\"}", "unknown field `colour`"),
        (b"{\"format\": 1, \"platform\": {\"glibc\": \"new\"}}", "`new` is not a version"),
        (b"{", "EOF"),
    ] {
        fs::write(sandbox.path("text"), text).unwrap();
        let ran = sandbox.run(&["probe", "--from", "text"]).exits(2).says(wanted);
        assert!(!ran.err.contains('\u{1b}') && ran.out.is_empty(), "{ran:?}");
        sandbox.run(&["init", "--host", "text"]).exits(2).says(wanted);
    }
    let (_, error) = sandbox.json(&["probe", "--from", "-"]);
    assert_eq!(error["errors"][0]["code"], "no-text");
    fs::write(sandbox.path("text"), b"{\"format\": 1,\n  \"colour\": \"red\"}").unwrap();
    let (_, error) = sandbox.json(&["probe", "--from", "text"]);
    assert_eq!(error["errors"][0]["span"]["line"], 2);
    sandbox.run(&["probe", "--from", "nowhere"]).exits(4);
    fs::write(sandbox.path("large"), vec![b'x'; (16 << 20) + 1]).unwrap();
    sandbox.run(&["probe", "--from", "large"]).exits(2).says("larger than 16 MiB");
}

/// A collect_env of a Jetson, shortened: <https://github.com/vllm-project/vllm/issues/6063>.
fn jetson(kernel: &str, ubuntu: &str, cuda: &str) -> String {
    format!(
        "Collecting environment information...\nPyTorch version: N/A\nOS: Ubuntu {ubuntu} LTS (aarch64)\n\
         Python platform: Linux-{kernel}-tegra-aarch64-with-glibc2.29\nIs CUDA available: N/A\n\
         CUDA runtime version: {cuda}\n"
    )
}

/// What runs on a Jetson turns on its JetPack, and the wheels of Arm servers run on none before the seventh.
#[test]
fn a_jetson_has_a_jetpack() {
    let sandbox = empty("init-jetson");
    let init = |text: &str, more: &[&str]| {
        fs::write(sandbox.path("paste.txt"), text).unwrap();
        sandbox.run(&[&["init", "--host", "paste.txt", "--force"][..], more].concat())
    };
    // <https://github.com/pytorch/pytorch/issues/143861>, <https://github.com/vllm-project/vllm/issues/6063>
    for (kernel, ubuntu, cuda, os) in [
        ("5.15.122", "22.04.3", "12.2.140", "\"jetpack6.0\""),
        ("5.10.216", "20.04.6", "11.4.315", "\"jetpack5.1\"  # a Jetson with this JetPack or jetpack5.0"),
        ("6.8.12", "24.04.3", "13.2.1", "\"jetpack7.2\""),
    ] {
        init(&jetson(kernel, ubuntu, cuda), &[]).exits(0);
        let spec: String =
            sandbox.spec().lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect();
        let os = os.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(spec.contains(&format!("os = {os}")), "{spec}");
    }
    // Its system decides it: <https://github.com/rt-net/JetsonNano_DT_SPI/issues/9>.
    let released = |release: &str| {
        format!("Linux x 4.9.140-tegra #1 SMP aarch64 GNU/Linux\n# {release}, GCID: 1, EABI: aarch64\n")
    };
    init(&released("R35 (release), REVISION: 3.1"), &[]).exits(0);
    assert!(sandbox.spec().contains("\"jetpack5.1\""), "{}", sandbox.spec());
    sandbox.run(&["lock"]).exits(0);
    sandbox.run(&["verify", "--host", "paste.txt"]).tells("pass    platform-os").tells("pass    driver-minimum");
    init(&released("R32 (release), REVISION: 3.1"), &[]).exits(2).says("l4t32.3.1").says("--os").says("jetpack4.4");
    // Where nothing decides it, somebody has to say it.
    let open = jetson("5.15.122", "22.04.3", "Could not collect");
    init(&open, &[]).exits(2).says("is a Jetson").says("jetpack6.0, jetpack6.1, jetpack6.2");
    init(&open, &["--os", "jetpack6.1"]).exits(0);
    assert!(sandbox.spec().contains("\"jetpack6.1\""), "{}", sandbox.spec());
    // A report that calls the system Ubuntu is of the machine that was locked for.
    init(&jetson("5.15.122", "22.04.3", "12.2.140"), &[]).exits(0);
    sandbox.run(&["lock", "--fresh"]).exits(0);
    sandbox.run(&["verify", "--host", "paste.txt"]).tells("pass    platform-os").tells("`deviceQuery`");
}

/// WSL 1 has a kernel of Windows' own and no GPU: <https://github.com/ShivamShrirao/diffusers/issues/18>.
#[test]
fn wsl_1_has_no_gpu() {
    let sandbox = empty("init-wsl1");
    for (kernel, is_first) in [("4.4.0-19041-Microsoft", true), ("4.19.128-microsoft-standard", false)] {
        let text = format!(
            "- Platform: Linux-{kernel}-x86_64-with-glibc2.31\n- Python version: 3.9.13\n\
             - PyTorch version (GPU?): 1.12.1+cu116 (False)\n"
        );
        fs::write(sandbox.path("paste.txt"), text).unwrap();
        let told = sandbox.run(&["init", "--host", "paste.txt", "--force"]).exits(0);
        assert_eq!(told.err.contains("WSL 1"), is_first, "{}", told.err);
        sandbox.run(&["lock", "--fresh"]).exits(0);
        let told = sandbox.run(&["verify", "--host", "paste.txt"]);
        assert_eq!(told.out.contains("fail    platform-system"), is_first, "{}", told.out);
    }
}

/// As `conda list` prints an environment.
const CONDA: &str = "\
# packages in environment at /home/user/miniconda3/envs/ml:
#
# Name                    Version                   Build  Channel
_libgcc_mutex             0.1                        main
cudatoolkit               11.3.1               h2bc3f7f_2
numpy                     1.21.5           py38he7a7128_1
python                    3.8.13               h12debd9_0
pytorch                   1.11.0          py3.8_cuda11.3_cudnn8.2.0_0    pytorch
torchvision               0.12.0               py38_cu113    pytorch
";

/// A draft of a host holds all that runs there and can be locked, not only its frameworks.
#[test]
fn what_runs_on_a_host_is_taken_with_its_packages() {
    let sandbox = empty("init-packages");
    let init = |text: &str, more: &[&str]| {
        fs::write(sandbox.path("paste.txt"), text).unwrap();
        sandbox.run(&[&["init", "--host", "paste.txt", "--force"], more].concat()).exits(0);
        sandbox.spec().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let spec = init(CONDA, &["--gpu", "A6000"]);
    for line in ["torch = \"1.11.0+cu113\"", "torchvision = \"0.12.0\"", "python = \"3.8\""] {
        assert!(spec.contains(line), "{line}: {spec}");
    }
    sandbox.run(&["lock", "--fresh"]).exits(0);
    let vllm = "PyTorch version: 2.4.0+cu121\nPython version: 3.10.14\nGPU 0: NVIDIA A100-SXM4-80GB\n\
                Nvidia driver version: 535.183.06\n[pip3] torch==2.4.0\n[pip3] torchvision==0.19.0\n\
                [pip3] triton==3.0.0\nvLLM Version: 0.6.3.post1\n";
    let spec = init(vllm, &[]);
    assert!(spec.contains("vllm = \"0.6.3.post1\"") && spec.contains("torchvision = \"0.19.0\""), "{spec}");
    // torch brings its Triton.
    assert!(!spec.contains("triton"), "{spec}");
    sandbox.run(&["lock", "--fresh"]).exits(0);
    // What cannot be locked is named.
    let spec = init("vllm==0.99.0\ntorch==2.6.0+rocm6.2\ntorchvision==0.21.0+rocm6.2\n", &["--gpu", "A100"]);
    for line in ["# vllm = \"0.99.0\"", "# torchvision = \"0.21.0+rocm6.2\""] {
        assert!(spec.contains(line), "{line}: {spec}");
    }
    // What is typed is what must run.
    let spec = init(CONDA, &["--gpu", "A6000", "--torch", "2.8"]);
    assert!(spec.contains("torch = \"2.8\"") && !spec.contains("torchvision"), "{spec}");
}

/// A Jetson is compiled on where nothing is said of what must run there, and only there.
#[test]
fn a_jetson_for_which_torch_is_typed_compiles_nothing() {
    let sandbox = empty("init-jetson-typed");
    fs::write(sandbox.path("paste.txt"), jetson("5.15.122", "22.04.3", "12.2.140")).unwrap();
    let init = |more: &[&str]| {
        sandbox.run(&[&["init", "--host", "paste.txt", "--force"], more].concat()).exits(0);
        sandbox.spec()
    };
    assert!(init(&[]).contains("[build]  # nothing that can be locked was seen there"));
    assert!(!init(&["--torch", "*"]).contains("[build]"));
    assert!(init(&["--torch", "*", "--build"]).contains("[build]\n"));
}

/// An owner of a laptop reads the number of a driver for Windows, and Linux there is a platform of its own.
#[test]
fn linux_inside_windows_is_typed_or_hinted_at() {
    let sandbox = empty("init-wsl2");
    let init = |driver: &str, more: &[&str]| {
        let typed = ["init", "--gpu", "RTX 4090", "--driver", driver, "--force"];
        let ran = sandbox.run(&[&typed[..], more].concat()).exits(0);
        ran.err.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for number in ["566.36", "566", "551.61", "572.83", "580.88"] {
        let told = init(number, &[]);
        assert!(told.contains("under WSL2 write `platform = \"wsl2\"`"), "{number}: {told}");
        assert!(!init(number, &["--platform", "wsl2"]).contains("WSL2 write"), "{number}");
    }
    // Numbers of Linux.
    for number in ["550.54.15", "535.43.99", "580", "580.65", "999.1", ">=566"] {
        assert!(!init(number, &[]).contains("WSL2 write"), "{number}");
    }
    init("566.36", &["--platform", "wsl2"]);
    assert!(sandbox.spec().contains("platform = \"wsl2\""), "{}", sandbox.spec());
    sandbox.run(&["lock"]).exits(0);
    sandbox.run(&["init", "--platform", "wsl", "--force"]).exits(2).says("--platform");
}

/// A processor for which there are no wheels is told where the spec is made: the lock knows nothing of it.
#[test]
fn a_processor_without_wheels_is_told() {
    let sandbox = empty("ppc64le");
    let host =
        "Linux n1 5.14.0-70.el9.ppc64le #1 SMP ppc64le ppc64le ppc64le GNU/Linux\nTesla V100-SXM2-16GB, 535.86.10\n";
    fs::write(sandbox.path("host.txt"), host).unwrap();
    sandbox.run(&["init", "--host", "host.txt"]).exits(0).says("a processor, ppc64le, for which no wheels are known");
}

/// What a project's own pyproject.toml keeps from being written is named at once, and not advised before.
#[test]
fn an_export_that_would_be_refused_is_not_advised() {
    let sandbox = Sandbox::new("taken", "[stack]\ntorch = \"2.6\"\ntorchvision = \"*\"\n[target.a]\ngpu = \"A100\"\n");
    let project = "[project]\nname = \"x\"\nversion = \"1\"\n\n[tool.uv.sources]\ntorch = { index = \"own\" }\n\
                   torchvision = { index = \"own\" }\n\n[[tool.uv.index]]\nname = \"own\"\n\
                   url = \"https://download.pytorch.org/whl/cu124\"\nexplicit = true\n";
    fs::write(sandbox.path("pyproject.toml"), project).unwrap();
    let ran = sandbox.run(&["lock"]).exits(0).says("gpuenv export requirements -o requirements.txt");
    assert!(!ran.err.contains("export uv"), "{}", ran.err);
    let ran = sandbox.run(&["export", "uv", "-o", "pyproject.toml"]).exits(2);
    ran.says("tool.uv.sources.torch`").says("tool.uv.sources.torchvision`").says("remove those keys");
}

/// The warning and the exports say the same of a build: that of deepspeed does without torch, that of flash-attn does not.
#[test]
fn isolation_is_told_as_it_is_exported() {
    let spec = "[stack]\ntorch = \"2.6\"\ndeepspeed = \"*\"\nflash-attn = \"2.8.3\"\n[target.a]\ngpu = \"A100\"\n";
    let sandbox = Sandbox::new("isolation", spec);
    let (_, told) = sandbox.json(&["lock"]);
    let warnings = told["warnings"].as_array().unwrap();
    let of = |name: &str| {
        let is_it = |one: &&Value| one["code"] == "source-only" && one["message"].as_str().unwrap().starts_with(name);
        warnings.iter().find(is_it).unwrap_or_else(|| panic!("{name}: {told:#}"))["message"].to_string()
    };
    assert!(!of("deepspeed").contains("--no-build-isolation") && of("flash-attn").contains("--no-build-isolation"));
}

/// Windows is answered alike under either key, and ends as `lock` does: a system that is known is not supported yet.
#[test]
fn windows_is_answered_alike() {
    let sandbox = empty("windows");
    for (option, code) in [("--os", 3), ("--platform", 2)] {
        let ran = sandbox.run(&["init", "--gpu", "A100", option, "windows"]).exits(code);
        ran.says("gpuenv solves for Linux").says("Windows driver as");
    }
}
