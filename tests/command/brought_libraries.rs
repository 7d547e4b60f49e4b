//! CUDA's libraries and NCCL that packages bring along, or what those bring: they stand in the lock, of the CUDA that it names or
//! of the nearest later one where somebody asks for that.

use crate::common::cases::{Case, case, hold};

const CASES: &[Case] = &[
    // What a package brings along binds CUDA's libraries as it does itself. Source: METADATA of libcudf-cu12 26.10.2 (nvJitLink
    // >=12.9,<13), libcudf-cu13 26.10.2 (>=13.3,<14), libkvikio-cu12 26.10.0 (cuFile), libcuvs-cu12 26.10.0 (NCCL).
    case(
        "cudf-cu12 = \"26.10.2\"",
        "gpu = \"A100\"\ndriver = \"550\"",
        0,
        &[
            "lock: { package = \"cuda-toolkit\", version = \"12.4.1\"",
            "lock: nvidia-nvjitlink-cu12\", version = \"12.9.41\"",
            "lock: nvidia-cufile-cu12\", version = \"1.11",
            "!lock: nvidia-nvjitlink-cu12==12.4.127",
            "(native)",
        ],
    ),
    case(
        "cudf-cu13 = \"26.10.2\"",
        "gpu = \"A100\"\ndriver = \"580\"",
        0,
        &["lock: nvidia-nvjitlink\", version = \"13.3.33\"", "(native)"],
    ),
    case(
        "cudf-cu13 = \"26.6\"",
        "gpu = \"A100\"\ndriver = \"580\"",
        0,
        &["lock: nvidia-nvjitlink\", version = \"13.0.88\""],
    ),
    case(
        "cudf-cu12 = \"25.12\"",
        "gpu = \"A100\"\ndriver = \"550\"",
        0,
        &[
            "lock: nvidia-cuda-runtime-cu12\", version = \"12.4.127\"",
            "lock: nvidia-nvjitlink-cu12\", version = \"12.9.41\"",
        ],
    ),
    case("cudf-cu12 = \"24.12\"", "gpu = \"A100\"\ndriver = \"550\"", 0, &["!lock: nvidia-nvjitlink-cu12\", version"]),
    case("rmm-cu12 = \"26.10\"", "gpu = \"A100\"\ndriver = \"550\"", 0, &["!lock: \"nvidia-nvjitlink"]),
    // Source: METADATA of nvidia-nvimgcodec-cu13 0.9.0.20, whose extra `all` DALI asks for (nvJPEG, of whatever release).
    case(
        "nvidia-dali-cuda130 = \"2.4.0\"",
        "gpu = \"A100\"\ndriver = \"580\"",
        0,
        &["lock: nvidia-nvjpeg\", version = \"13.0.1.86\""],
    ),
    case(
        "nvidia-dali-cuda120 = \"2.4.0\"\ntorch = \"2.6.0+cu124\"",
        "gpu = \"A100\"\ndriver = \"550\"",
        0,
        &["lock: nvidia-nvjpeg-cu12\", version = \"12.3.1.117\"", "!lock: nvidia-cublas-cu12\", version"],
    ),
    // Source: METADATA of xgboost 3.4.1 (nvidia-nccl-cu13) and 3.2.0 (nvidia-nccl-cu12), of whatever release.
    case(
        "xgboost = \"3.2.0\"",
        "gpu = \"A100\"\ndriver = \"550\"",
        0,
        &["lock: { package = \"nvidia-nccl-cu12\"", "nccl"],
    ),
    case("xgboost = \"3.2.0\"\nnccl = \"2.27\"", "gpu = \"A100\"", 0, &["lock: nvidia-nccl-cu12\", version = \"2.27."]),
    case("xgboost = \"3.4.1\"\ntorch = \"2.14.1\"", "gpu = \"A100\"", 0, &["!lock: { package = \"nvidia-nccl"]),
    case("xgboost = \"3.2.0\"", "gpu = \"none\"", 0, &["!lock: { package = \"nvidia-nccl"]),
    // Source: METADATA of sglang 0.5.23 (humming-kernels[cu13]==0.1.12, which asks for any nvcc), nvidia-nvshmem-cu13 3.7.2.
    case(
        "sglang = \"0.5.23\"",
        "gpu = \"A100\"\ndriver = \"580\"",
        0,
        &[
            "lock: nvidia-cuda-nvcc\", version = \"13.0.88\"",
            "lock: nvidia-nvvm\", version = \"13.0.88\"",
            "!lock: { package = \"nvidia-cuda-runtime\"",
        ],
    ),
    case(
        "torch = \"2.15.0\"",
        "gpu = \"A100\"\ndriver = \"595\"",
        0,
        &["lock: nvidia-cuda-cccl\", version = \"13.2.86\"", "!lock: { package = \"nvidia-cuda-nvcc\""],
    ),
    // A framework that leaves its libraries open, and RAPIDS, which takes some through the metapackage.
    case(
        "tensorflow = \"2.21.0\"\ncudf-cu12 = \"25.12\"",
        "gpu = \"A100\"\ndriver = \"570\"",
        0,
        &[
            "lock: { package = \"cuda-toolkit\", version = \"12.8.2\"",
            "lock: nvidia-cuda-cccl-cu12\", version = \"12.8.90\"",
        ],
    ),
];

#[test]
fn libraries_that_are_brought_along_are_locked() {
    hold("brought-libraries", CASES);
}
