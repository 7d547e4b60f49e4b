//! What a text says beside a sound table: that CUDA does not work, which packages are there, that it is of Windows or of two
//! states of a host.

use gpuenv::catalog::{BUILTIN, GpuMatch};
use gpuenv::lock::Lock;
use gpuenv::verify::Status::{Fail, Pass, Unknown, Warn};

use crate::common::judge::lock;
use crate::pasted::{ends, judged, passes, sound, table};

fn stack(lines: &str, gpu: &str) -> Lock {
    lock(&format!("[stack]\n{lines}\n[target.t]\ngpu = \"{gpu}\"\n"))
}

/// `lock` refuses every GPU under a driver of a branch after its last, and so does `verify`.
#[test]
fn a_driver_past_the_last_branch_of_a_gpu_does_not_drive_it() {
    for (gpu, torch, python) in [
        ("Tesla K80", "1.12.1+cu113", "3.9"),
        ("NVIDIA GeForce GTX 960", "2.3.1+cu118", "3.9"),
        ("NVIDIA GeForce GTX 1080", "2.3.1+cu118", "3.9"),
        ("Tesla V100-SXM2-32GB", "2.3.1+cu118", "3.9"),
    ] {
        let lock = stack(&format!("torch = \"{torch}\"\npython = \"{python}\""), gpu);
        let GpuMatch::Found(rows) = BUILTIN.gpu(gpu) else { panic!("{gpu}") };
        let last = rows[0].last_branch.unwrap().major();
        for branch in BUILTIN.branches.iter().filter(|row| row.branch.major() >= last && row.cuda.is_some()) {
            let mut releases = BUILTIN.drivers.iter().filter(|row| row.version.major() == branch.branch.major());
            let driver = releases.next_back().unwrap().version;
            let text = table(driver.as_str(), branch.cuda.unwrap().as_str(), gpu);
            match branch.branch.major() > last {
                true => ends(&lock, &text, "driver-minimum", Fail, &format!("R{last} is the last branch")),
                false => passes(&lock, &text),
            }
        }
    }
    // Windows numbers the releases of R580 further.
    let lock = stack("torch = \"2.3.1+cu118\"\npython = \"3.9\"", "GTX 1080");
    passes(&lock, &table("581.29", "13.0", "NVIDIA GeForce GTX 1080"));
    let works = "PyTorch version: 2.3.1+cu118\nIs CUDA available: True\n";
    passes(&lock, &format!("{works}{}", table("590.48.01", "13.1", "NVIDIA GeForce GTX 1080")));
}

/// A text that says that CUDA does not work passes nothing, however sound its table is.
#[test]
fn an_error_beside_a_sound_table_is_told() {
    let lock = stack("torch = \"2.6.0+cu124\"\npython = \"3.11\"", "RTX 3090");
    passes(&lock, &sound());
    for (line, status, id) in [
        ("RuntimeError: CUDA error: no kernel image is available for execution on the device", Unknown, "probe"),
        ("[  1.5] NVRM: Xid (PCI:0000:01:00): 79, pid=0, GPU has fallen off the bus.", Unknown, "probe"),
        (">>> torch.cuda.is_available()\nUserWarning: of something\nFalse", Fail, "torch-available"),
        ("$ python -c \"import torch; print(torch.cuda.is_available())\"\nFalse", Fail, "torch-available"),
        ("In [2]: torch.cuda.device_count()\nOut[2]: 0", Fail, "torch-available"),
        (">>> print(torch.version.cuda)\nNone", Fail, "torch-available"),
        ("torch.cuda.is_available(): False", Fail, "torch-available"),
        (">>> torch.__version__\n'2.5.1+cpu'", Fail, "python-package"),
        (">>> torch.cuda.is_available()\nFalse\n>>> torch.cuda.is_available()\nTrue", Unknown, "torch-available"),
    ] {
        ends(&lock, &format!("{}{line}\n", sound()), id, status, "");
    }
    for line in [
        // What compiles is nothing to a lock that compiles nothing.
        "bash: nvcc: command not found",
        ">>> torch.cuda.is_available()\nTrue",
        ">>> torch.__version__\n'2.6.0+cu124'",
        ">>> jax.devices()\n[CpuDevice(id=0)]",
        "print(numpy.__version__)\nprint(torch.__version__)\n1.26.4\n2.6.0+cu124",
        "assert torch.__version__ >= \"1.8\"",
        "if torch.cuda.is_available():\n    device = 'cuda'",
    ] {
        passes(&lock, &format!("{}{line}\n", sound()));
    }
    let jax = stack("jax = \"0.4.30\"\npython = \"3.11\"", "RTX 3090");
    ends(&jax, &format!("{}>>> jax.devices()\n[CpuDevice(id=0)]\n", sound()), "probe", Unknown, "CpuDevice");
    let printed = "jax:    0.4.31\njaxlib: 0.4.31\njax.devices (1 total, 1 local): [CudaDevice(id=0)]\n";
    ends(&jax, &format!("{}{printed}", sound()), "python-package", Fail, "0.4.31");
    let tensorflow = stack("tensorflow = \"2.15.1\"\npython = \"3.11\"", "RTX 3090");
    let listed = "tf.config.list_physical_devices('GPU')";
    ends(&tensorflow, &format!("{}>>> {listed}\n[]\n", sound()), "probe", Unknown, "lists no GPU");
    passes(&tensorflow, &format!("{}>>> {listed}\n[PhysicalDevice(name='/physical_device:GPU:0')]\n", sound()));
}

/// A build of conda's is what its name says, and a list in another form is read or told.
#[test]
fn packages_are_read_out_of_every_list_or_it_is_told() {
    let torch = stack("torch = \"2.5.1+cu124\"\npython = \"3.12\"", "RTX 3090");
    for (rows, status) in [
        ("pytorch 2.5.1 py3.12_cuda12.4_cudnn9.1.0_0 pytorch", Pass),
        ("pytorch 2.5.1 cuda126_mkl_py312_h30b5a27_0 conda-forge", Fail),
        ("pytorch 2.5.1 py3.12_cpu_0 pytorch", Fail),
        ("pytorch 2.5.1 cpu_generic_py312_hdfc5ba1_2 conda-forge", Fail),
        ("pytorch=2.5.1=py3.12_cpu_0", Fail),
        ("https://conda.anaconda.org/pytorch/linux-64/pytorch-2.5.1-py3.12_cpu_0.tar.bz2", Fail),
        ("[{\"name\": \"numpy\", \"version\": \"2.1.2\"}, {\"name\": \"torch\", \"version\": \"2.5.1+cpu\"}]", Fail),
        ("Successfully installed filelock-3.17.0 torch-2.5.1+cpu", Fail),
        ("Successfully installed filelock-3.17.0 torch-2.5.1+cu124", Pass),
        ("torch v2.5.1+cu118\n├── filelock v3.17.0", Fail),
        (" + filelock==3.17.0\n + torch==2.5.1+cpu", Fail),
        ("pytorch  2.4.1  cpu_generic_py312_hdfc5ba1  30 MiB  conda  https://conda.anaconda.org/", Unknown),
        ("│ torch │ 2.4.1   │          │", Unknown),
        ("torch   2.4.1   2.6.0  wheel", Unknown),
        ("│ torch │ 2.5.1+cu124 │          │", Pass),
    ] {
        let verdict = judged(&torch, &format!("{}{rows}\n", sound()));
        assert_eq!(verdict.status, status, "{rows}\n{verdict:#?}");
    }
    let tensorflow = stack("tensorflow = \"2.10.1\"\npython = \"3.10\"", "RTX 3090");
    for (row, status) in [
        ("tensorflow 2.10.1 mkl_py310h1c7b6b5_0", Fail),
        ("tensorflow-rocm 2.10.1", Fail),
        // CUDA's build of the same release.
        ("tensorflow-gpu 2.10.1", Warn),
        ("tensorflow-gpu 2.9.1", Fail),
    ] {
        ends(&tensorflow, &format!("{}{row}\n", sound()), "python-package", status, "");
    }
    let jax = stack("jax = \"0.4.30\"\npython = \"3.10\"", "RTX 3090");
    let rows = "jax 0.4.30 pyhd8ed1ab_0 conda-forge\njaxlib 0.4.30 cpu_py310h6ba2ee4_0 conda-forge\n";
    ends(&jax, &format!("{}{rows}", sound()), "python-package", Fail, "");
}

/// Windows itself runs no wheel for Linux; the Linux inside has a persistence mode.
#[test]
fn a_log_of_windows_is_not_of_the_linux_inside() {
    let lock = stack("torch = \"2.1.2+cu118\"\npython = \"3.10\"", "RTX 2080");
    let log = |persistence: &str| {
        format!(
            "<nvidia_smi_log>\n<driver_version>516.59</driver_version>\n<cuda_version>11.7</cuda_version>\n\
             <gpu id=\"00000000:0A:00.0\">\n<product_name>NVIDIA GeForce RTX 2080</product_name>\n\
             <persistence_mode>{persistence}</persistence_mode>\n<current_dm>WDDM</current_dm>\n</gpu>\n</nvidia_smi_log>\n"
        )
    };
    ends(&lock, &log("N/A"), "platform-system", Unknown, "Windows");
    passes(&lock, &log("Enabled"));
    let table = table("551.23", "12.4", "NVIDIA GeForce RTX 2080").replace("Off  |", "WDDM |");
    ends(&lock, &table, "platform-system", Unknown, "Windows");
}

/// R430 began with another CUDA than it went on with.
#[test]
fn the_cuda_of_a_release_is_its_own() {
    let lock = stack("torch = \"1.6.0+cu101\"\npython = \"3.8\"", "RTX 2080 Ti");
    for (driver, cuda) in [("430.26", "10.2"), ("430.50", "10.1")] {
        let verdict = judged(&lock, &table(driver, cuda, "GeForce RTX 2080 Ti"));
        assert!(
            verdict.status == Pass && verdict.checks.iter().all(|check| check.id != "forward-compat"),
            "{verdict:#?}"
        );
    }
    ends(&lock, &table("430.50", "10.2", "GeForce RTX 2080 Ti"), "forward-compat", Fail, "804");
}

/// What a text tells in two ways fails and passes nothing, in whichever order.
#[test]
fn a_text_of_two_states_decides_nothing() {
    let lock = stack("torch = \"2.6.0+cu124\"\npython = \"3.11\"", "RTX 3090");
    let old = table("470.82.01", "11.4", "NVIDIA GeForce RTX 3090");
    for text in [format!("{old}after the upgrade:\n{}", sound()), format!("{}before:\n{old}", sound())] {
        assert_eq!(judged(&lock, &text).status, Unknown, "{text}");
    }
    // The driver is told in one way, and too old.
    let packages = format!("{old}torch 2.6.0+cu124\ntorch 2.5.1+cu124\n");
    ends(&lock, &packages, "driver-minimum", Fail, "");
}

/// `ERR!` in the column of MIG is of an nvidia-smi that asks an older driver.
#[test]
fn a_driver_that_does_not_know_mig_is_not_sick() {
    let lock = stack("torch = \"1.6.0+cu101\"\npython = \"3.7\"", "T4");
    let text = |own: &str| {
        format!(
            "| NVIDIA-SMI {own}       Driver Version: 418.67       CUDA Version: 10.1     |\n\
             |   0  Tesla T4            Off  | 00000000:00:04.0 Off |                    0 |\n\
             | N/A   75C    P0    33W /  70W |    229MiB / 15079MiB |      0%      Default |\n\
             |                               |                      |                 ERR! |\n"
        )
    };
    passes(&lock, &text("455.38"));
    ends(&lock, &text("418.67"), "gpu-health", Unknown, "ERR!");
}

/// A GPU in an exclusive mode serves who holds it, and the next process takes another.
#[test]
fn gpus_that_others_hold_alone_are_taken() {
    let lock = stack("torch = \"2.0.1+cu117\"\npython = \"3.10\"", "V100");
    let text = |processes: &str| {
        let gpu = |index: u64| {
            format!(
                "|   {index}  Tesla V100-SXM2...  On   | 00000000:0{index}:00.0 Off |                    0 |\n\
                 | N/A   66C    P0   253W / 300W |   9000MiB / 16152MiB |     98%   E. Process |\n"
            )
        };
        format!(
            "| NVIDIA-SMI 450.80.02    Driver Version: 450.80.02    CUDA Version: 11.0     |\n{}{}+---+\n\n\
             | Processes:                                                       GPU Memory |\n{processes}+---+\n",
            gpu(0),
            gpu(1)
        )
    };
    let held =
        |index: u64| format!("|    {index}     6934      C   python                                      8990MiB |\n");
    let id = "gpu-compute-mode";
    ends(&lock, &text(&(held(0) + &held(1))), id, Fail, "in use by 1");
    ends(&lock, &text(&held(0)), id, Warn, "");
    ends(&lock, &text(&(held(0) + &held(1)).replace(" C   python", " G   Xorg")), id, Warn, "");
    ends(&lock, &text(&(held(0) + &held(1)).replace("python", "nvidia-cuda-mps-server")), id, Warn, "");
}
