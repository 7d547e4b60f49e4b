//! What compilers, CMake and installers print when something is built, and what is near to it and means another thing.

use gpuenv::catalog::BUILTIN;
use gpuenv::diagnose;

fn codes(text: &str) -> Vec<String> {
    diagnose::diagnose(text, &BUILTIN).findings.into_iter().map(|one| one.code).collect()
}

/// Each text, and the first finding of it; none where there is to be none.
fn lead_to(texts: &[(&str, Option<&str>)]) {
    for (text, code) in texts {
        assert_eq!(codes(text).first().map(String::as_str), *code, "{text}");
    }
}

const CL: &str = "x\\cpp_extension.py:305: UserWarning: Error checking compiler version for cl: [WinError 2] The system cannot find the file specified\n";
const NVCC: &str = "/tmp/x/setup.py:113: UserWarning: causal_conv1d was requested, but nvcc was not found.\n";

/// A failure that names no cause comes of what the build warned of; one that names another does not.
#[test]
fn a_build_that_does_not_say_why_it_failed_failed_for_what_it_warned_of() {
    let minor = "x\\cpp_extension.py:813: UserWarning: The detected CUDA version (11.8) has a minor version mismatch with the version that was used to compile PyTorch (11.6). Most likely this shouldn't be a problem.\n";
    let bare = "building 'a._C' extension\nerror: [WinError 2] The system cannot find the file specified\nERROR: Failed building wheel for a\n";
    for (text, code) in [
        (format!("{CL}{bare}"), Some("msvc-not-found")),
        (format!("{CL}{minor}{bare}"), Some("msvc-not-found")),
        (
            format!("{NVCC}NameError: name 'bare_metal_version' is not defined\nerror: metadata-generation-failed"),
            Some("toolkit-missing"),
        ),
        (format!("{NVCC}NameError: name 'nvcc_flags' is not defined"), Some("toolkit-missing")),
        (format!("{NVCC}error: metadata-generation-failed"), Some("toolkit-missing")),
        (format!("{NVCC}ModuleNotFoundError: No module named 'wheel'\nerror: metadata-generation-failed"), None),
        (
            format!(
                "{NVCC}urllib.error.URLError: <urlopen error [Errno 110] Connection timed out>\nerror: metadata-generation-failed"
            ),
            None,
        ),
        (format!("{CL}OSError: [Errno 28] No space left on device\nERROR: Failed building wheel for a"), None),
        (CL.replace("cpp_extension", "x") + "NameError: name 'model' is not defined", None),
    ] {
        lead_to(&[(&text, code)]);
    }
    assert!(!codes("NameError: name 'bare_metal' is not defined").contains(&"toolkit-missing".to_string()));
}

/// PyTorch's list of architectures is empty in every form that a traceback has.
#[test]
fn source_lines_may_stand_between_a_frame_and_its_error() {
    lead_to(&[
        (
            "No CUDA runtime is found, using CUDA_HOME='/usr/local/cuda'\n/x/torch/utils/cpp_extension.py in _get_cuda_arch_flags(cflags)\n   1605         arch_list = sorted(arch_list)\n-> 1606         arch_list[-1] += '+PTX'\n   1607     else:\nIndexError: list index out of range",
            Some("torch-arch-list-empty"),
        ),
        (
            "  File \"/x/torch/utils/cpp_extension.py\", line 1986, in _get_cuda_arch_flags\nIndexError: list index out of range",
            Some("torch-arch-list-empty"),
        ),
        ("  File \"/x/setup.py\", line 19, in flags\nIndexError: list index out of range", None),
    ]);
}

/// What only the target with the letter has is no lack of the GPU, unless the target is of another generation.
#[test]
fn an_instruction_is_refused_by_the_target_the_gpu_or_the_version_of_ptx() {
    let refused =
        |what: &str, target: &str| format!("ptxas a.ptx, line 2; error : {what} not supported on .target '{target}'");
    for (what, target, code) in [
        ("Instruction 'wgmma.fence'", "sm_90", "ptx-target-without-letter"),
        ("Instruction 'wgmma.fence'", "sm_120", "ptx-feature-missing"),
        ("Instruction 'tcgen05.alloc'", "sm_100", "ptx-target-without-letter"),
        ("Instruction 'tcgen05.alloc'", "sm_120", "ptx-feature-missing"),
        ("Instruction 'cvt with .e2m1x2'", "sm_120", "ptx-target-without-letter"),
        ("Feature '.kind::mxf4'", "sm_120", "ptx-target-without-letter"),
        ("Feature '.kind::mxf4'", "sm_120a", "ptx-feature-missing"),
        ("Instruction 'tensormap.replace'", "sm_90", "ptx-target-without-letter"),
        ("Instruction 'tensormap.replace'", "sm_80", "ptx-feature-missing"),
    ] {
        assert_eq!(codes(&refused(what, target)), [code], "{what} {target}");
    }
    let version = "ptxas a.ptx, line 3; error : Feature 'WGMMA' requires PTX ISA .version 8.0 or later\n";
    assert_eq!(
        codes(&(version.to_string() + &refused("Instruction 'wgmma.fence'", "sm_90"))),
        ["ptx-version-unsupported"]
    );
    let target = "ptxas: Feature 'cvt with .e4m3x2' requires .target sm_90 or higher\n";
    assert_eq!(codes(target), ["gpu-below-requirement"]);
    assert_eq!(codes(&format!("{target}{version}")), ["ptx-version-unsupported"]);
}

#[test]
fn what_a_compiler_or_linker_misses_is_told_by_what_ran() {
    lead_to(&[
        (
            "/usr/lib/clang/4.0/include/__clang_cuda_runtime_wrapper.h:66:2: error: \"Unsupported CUDA version!\"",
            Some("clang-older-than-cuda"),
        ),
        ("error: Unsupported CUDA version 9.1 detected, you need CUDA 10.1.", Some("cuda-release-required")),
        (
            "clang: error: cannot find libdevice for sm_86; provide path to different CUDA installation via '--cuda-path', or pass '-nocudalib'",
            Some("clang-older-than-cuda"),
        ),
        ("Couldn't find libdevice directory ${CUDA_DIR}/nvvm/libdevice", Some("libdevice-missing")),
        ("/usr/bin/ld: a.o: undefined reference to `cudaBindTexture'", Some("toolkit-removed-interface")),
        ("/usr/bin/ld: a.o: undefined reference to `cudaGetTextureObjectResourceDesc'", Some("cuda-link-flag-missing")),
        (
            "a.o: undefined reference to `cudaBindTexture'\na.o: undefined reference to `cudaMalloc'",
            Some("cuda-link-flag-missing"),
        ),
        ("x.cpp:3:10: fatal error: cuda_runtime.h: No such file or directory", Some("toolkit-missing")),
        (
            "x.cpp:3:10: fatal error: cuda_runtime.h: No such file or directory\nCuda compilation tools, release 12.4, V12.4.131",
            Some("cuda-headers-not-given"),
        ),
        (
            "/usr/local/cuda-9.0/bin/nvcc -c ../../src/network_cudnn.cu -o n.o\ncc1plus: fatal error: cuda_runtime.h: No such file or directory",
            Some("cuda-headers-not-given"),
        ),
        (
            "g++ -I/usr/local/cuda-9.0/include x.cpp\nx.cpp:3:10: fatal error: cuda_runtime.h: No such file or directory\nsh: nvcc: not found",
            Some("toolkit-missing"),
        ),
        (
            "OffsetCalculator.cuh:8:37: fatal error: THC/THCIntegerDivider.cuh: No such file or directory",
            Some("torch-headers-missing"),
        ),
        (
            "scale_kernel.cu:1:29: fatal error: torch/extension.h: No such file or directory",
            Some("torch-headers-missing"),
        ),
        ("a.cpp:1:10: fatal error: torchlight/extension.h: No such file or directory", None),
    ]);
}

/// CMake goes on behind what is only for a project's developers.
#[test]
fn what_cmake_warns_of_is_no_fault() {
    let empty = "CUDA_ARCHITECTURES is empty for target \"faiss\".\n";
    let policy = "CMake Warning (dev) in faiss/CMakeLists.txt:\n  Policy CMP0104 is not set\n  ";
    let warning = format!(
        "{policy}{empty}This warning is for project developers.  Use -Wno-dev to suppress it.\n-- Generating done"
    );
    lead_to(&[
        (&warning, None),
        (&format!("CMake Error in CMakeLists.txt:\n  {empty}"), Some("cmake-architectures-unset")),
        (
            "CMake Error at CMakeDetermineCUDACompiler.cmake:277 (message):\n  CMAKE_CUDA_ARCHITECTURES must be non-empty if set.",
            Some("cmake-architectures-unset"),
        ),
        (
            "CMake Error at kokkos_arch.cmake:462 (MESSAGE):\n  CUDA enabled but no NVIDIA GPU architecture currently enabled and\n  auto-detection failed.  Please give one -DKokkos_ARCH_{..}=ON' to enable an",
            Some("cmake-architectures-unset"),
        ),
        (
            "compile errors in chipStar like:\nmathcalls.h:83:1: error: exception specification in declaration does not match previous declaration\n   83 | __MATHCALL_VEC (cospi,, (_Mdouble_ __x));",
            None,
        ),
    ]);
}

/// Of a chain of packages the last that is not met is the reason.
#[test]
fn the_last_link_of_a_chain_is_the_reason() {
    let akmods = "  - package akmod-nvidia-3:520.56.06-1.fc37.x86_64 requires akmods, but none of the providers can be installed\n";
    let kernel = "  - package akmods-0.5.7-9.fc37.noarch requires (kernel-devel-matched if kernel-core), but none of the providers can be installed";
    assert_eq!(codes(akmods), ["driver-needs-module-builder"]);
    assert_eq!(codes(&format!("{akmods}{kernel}")), ["kernel-module-not-built"]);
}

/// nvidia-smi is brought into a container, and is missing there for another reason than on a host.
#[test]
fn nvidia_smi_is_missing_in_a_container_or_on_a_host() {
    lead_to(&[
        (
            "Error: crun: executable file `nvidia-smi` not found in $PATH: No such file or directory",
            Some("container-without-nvidia-smi"),
        ),
        ("/.singularity.d/actions/exec: line 9: exec: nvidia-smi: not found", Some("container-without-nvidia-smi")),
        (
            "Error: error validating toolkit installation: exec: \"nvidia-smi\": executable file not found in $PATH",
            Some("container-without-nvidia-smi"),
        ),
        ("bash: nvidia-smi: command not found", Some("nvidia-smi-missing")),
        (
            "time=x level=warn msg=\"exec: \\\"nvidia-smi\\\": executable file not found in $PATH\"",
            Some("nvidia-smi-missing"),
        ),
        (
            "nvidia 0000:01:00.0: Direct firmware load for nvidia/550.76/gsp_ga10x.bin failed with error -2",
            Some("gsp-firmware-missing"),
        ),
    ]);
}

/// A name ends where another thing begins.
#[test]
fn what_follows_a_gpu_is_no_part_of_its_name() {
    for (text, gpu) in [
        ("srun --gres=gpu:A100:1 ls -l /dev/nvidia{0..7}", Some("A100")),
        (
            "unable to get device name: failed to find device with id '10fa'\\n\\nall NVIDIA character devices.\\nThe existence",
            None,
        ),
        ("Device name: NVIDIA GeForce RTX 3060, compute", Some("NVIDIA GeForce RTX 3060")),
    ] {
        let read = diagnose::diagnose(&format!("a\n{text}\nb"), &BUILTIN).extract;
        assert_eq!(read.get("gpu").map(ToString::to_string).as_deref(), gpu, "{text}");
    }
}
