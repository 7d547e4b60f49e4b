//! Packages that compare the CUDA which compiled them with that of torch when they are imported, minor release and all.
//! <https://github.com/pyg-team/pytorch_geometric/issues/958>, and `__init__.py` of each release.

use crate::common::cases::{Case, case, hold};

const OLD: &str = "torch = \"1.4.0+cu101\"\npython = \"3.7\"\ntorch-scatter = \"2.0.3\"";
const OTHERS: &str = "torch = \"1.7.1+cu110\"\npython = \"3.8\"\ntorch-scatter = \"2.0.5\"\ntorch-sparse = \"0.6.8\"\ntorch-cluster = \"1.5.8\"";

const CASES: &[Case] = &[
    case(
        OLD,
        "gpu = \"RTX 2080 Ti\"\ntoolkit = [\"10.2\"]",
        0,
        &["[minor-refused]: torch-scatter 2.0.3 refuses to be imported where CUDA 10.2 compiled it", "!toolkit-minor"],
    ),
    case(OLD, "gpu = \"RTX 2080 Ti\"\ntoolkit = [\"10.1\", \"10.2\"]", 0, &["!minor-refused"]),
    case(OLD, "gpu = \"RTX 2080 Ti\"", 0, &["!minor-refused"]),
    case(OLD, "gpu = \"RTX 2080 Ti\"\ntoolkit = [\"10.2\"]\n[build]", 0, &["[minor-refused]", "!toolkit-minor"]),
    case(OLD, "gpu = \"RTX 2080 Ti\"\ntoolkit = [\"10.1\", \"10.2\"]\n[build]", 0, &["!minor-refused", "toolkit 10.1"]),
    case(
        OTHERS,
        "gpu = \"RTX 3090\"\ntoolkit = [\"11.2\"]",
        0,
        &["torch-cluster 1.5.8 refuses", "torch-scatter 2.0.5 refuses", "torch-sparse 0.6.8 refuses"],
    ),
    // Where the major alone is compared.
    case(
        "torch = \"1.8.1+cu111\"\npython = \"3.8\"\ntorch-scatter = \"2.0.6\"",
        "gpu = \"RTX 3090\"\ntoolkit = [\"11.2\"]",
        0,
        &["!minor-refused", "toolkit-minor"],
    ),
    // Of another major it is not compiled at all.
    case(OLD, "gpu = \"RTX 2080 Ti\"\ntoolkit = [\"11.0\"]", 0, &["!minor-refused", "with which it is not compiled"]),
];

#[test]
fn another_minor_is_refused_at_import() {
    hold("minor-refused", CASES);
}
