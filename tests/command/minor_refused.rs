//! Packages that compare the CUDA which compiled them with that of torch when they are imported, minor release and all.
//! <https://github.com/pyg-team/pytorch_geometric/issues/958>, and `__init__.py` of each release.

use crate::common::cases::{Case, case, hold};

const OLD: &str = "torch = \"1.4.0+cu101\"\npython = \"3.7\"\ntorch-scatter = \"2.0.3\"";
const OTHERS: &str = "torch = \"1.7.1+cu110\"\npython = \"3.8\"\ntorch-scatter = \"2.0.5\"\ntorch-sparse = \"0.6.8\"\ntorch-cluster = \"1.5.8\"";

const CASES: &[Case] = &[
    case(
        OLD,
        "gpu = \"RTX 2080 Ti\"\ntoolkit = [\"10.2\"]",
        3,
        &[
            "whether a finished wheel of torch-scatter 2.0.3 for torch 1.4.0+cu101 and Python 3.7 lies at https://data.pyg.org/whl",
        ],
    ),
    case(OLD, "gpu = \"RTX 2080 Ti\"\ntoolkit = [\"10.1\", \"10.2\"]", 0, &["!minor-refused"]),
    case(OLD, "gpu = \"RTX 2080 Ti\"", 0, &["!minor-refused"]),
    case(OLD, "gpu = \"RTX 2080 Ti\"\ntoolkit = [\"10.2\"]\n[build]", 3, &["a finished wheel of torch-scatter 2.0.3"]),
    case(OLD, "gpu = \"RTX 2080 Ti\"\ntoolkit = [\"10.1\", \"10.2\"]\n[build]", 0, &["!minor-refused", "toolkit 10.1"]),
    case(
        OTHERS,
        "gpu = \"RTX 3090\"\ntoolkit = [\"11.2\"]",
        3,
        &["wheel of torch-cluster 1.5.8", "wheel of torch-scatter 2.0.5", "wheel of torch-sparse 0.6.8"],
    ),
    // Where the major alone is compared.
    case(
        "torch = \"1.8.1+cu111\"\npython = \"3.8\"\ntorch-scatter = \"2.0.6\"",
        "gpu = \"RTX 3090\"\ntoolkit = [\"11.2\"]",
        0,
        &["!minor-refused", "toolkit-minor"],
    ),
    // Of another major it is not compiled at all.
    case(OLD, "gpu = \"RTX 2080 Ti\"\ntoolkit = [\"11.0\"]", 3, &["no toolkit of target `t` compiles it"]),
];

#[test]
fn another_minor_is_refused_at_import() {
    hold("minor-refused", CASES);
}
