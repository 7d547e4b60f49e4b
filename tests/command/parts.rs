//! Rules about a part of a package: they refuse nothing, and say what does not run there.

use crate::common::cases::{Case, case, hold};

const CASES: &[Case] = &[
    // https://github.com/vllm-project/vllm/issues/18967: _moe_C alone needs glibc 2.29.
    case(
        "vllm = \"0.10.0\"",
        "gpu = \"A100\"\nos = \"rocky8\"",
        0,
        &["[part-fails]", "glibc 2.28: Of vLLM", "lock: vllm-0.9-moe-glibc"],
    ),
    case("vllm = \"0.9.0\"", "gpu = \"A100\"\nglibc = \"2.28\"", 0, &["[part-fails]"]),
    case("vllm = \"0.11.2\"\ntorch = \"+cu129\"", "gpu = \"A100\"\nos = \"rhel8\"", 0, &["[part-fails]"]),
    case("vllm = \"0.11.0\"", "gpu = \"A100\"\nos = \"rocky9\"", 0, &["!part-fails", "!lock: vllm-0.9-moe-glibc"]),
    case("vllm = \"0.12.0\"", "gpu = \"A100\"\nos = \"rocky8\"", 1, &["needs glibc 2.31"]),
    case("vllm = \"0.8.5.post1\"", "gpu = \"A100\"\nos = \"rocky8\"", 0, &["!part-fails"]),
    // Below 2.28 torch does not load.
    case("vllm = \"0.10.0\"", "gpu = \"A100\"\nos = \"centos7\"", 1, &["glibc 2.17"]),
    // https://github.com/bitsandbytes-foundation/bitsandbytes/issues/538: 4-bit runs on Hopper, 8-bit does not.
    case(
        "torch = \"2.5.1\"\nbitsandbytes = \"0.44.1\"",
        "gpu = \"H100 80GB HBM3\"",
        0,
        &["[part-fails]", "LLM.int8", "on H100 80GB HBM3: 8-bit"],
    ),
    case("torch = \"2.0.1+cu118\"\nbitsandbytes = \"0.40.2\"", "gpu = \"H100 PCIe\"", 0, &["[part-fails]"]),
    case("torch = \"2.5.1\"\nbitsandbytes = \"0.45.0\"", "gpu = \"H100 80GB HBM3\"", 0, &["!part-fails"]),
    case("torch = \"2.5.1\"\nbitsandbytes = \"0.44.1\"", "gpu = \"L40S\"", 0, &["!part-fails", "!lock: int8"]),
    case(
        "torch = \"2.5.1\"\nbitsandbytes = \"0.44.1\"",
        "gpu = [\"A100\", \"H200\"]",
        0,
        &["[part-fails]", "on H200: 8-bit"],
    ),
    case("torch = \"2.5.1\"\nbitsandbytes = \">=0.43\"", "gpu = \"H100 80GB HBM3\"", 0, &["!part-fails"]),
];

#[test]
fn a_part_that_does_not_run_is_told_and_refuses_nothing() {
    hold("parts", CASES);
}
