//! What is known of one host, in the words of a target: an error message tells little of it, a recorded host more.

/// What is known of a host. What is none or empty is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observed {
    /// Its driver, `525.116.03`.
    pub driver: Option<String>,
    /// The CUDA version that its driver offers, `11.4`, for where the driver itself is not known.
    pub driver_cuda: Option<String>,
    /// Its GPUs.
    pub gpus: Vec<ObservedGpu>,
    /// Its operating system, `ubuntu22.04`.
    pub os: Option<String>,
    /// Its C library, `2.31`.
    pub glibc: Option<String>,
    /// The Python that is to be kept, `3.11`.
    pub python: Option<String>,
}

/// A GPU as it was seen: by its name, its compute capability, or both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObservedGpu {
    /// `NVIDIA A100-PCIE-40GB`
    pub name: Option<String>,
    /// `8.0`
    pub compute_capability: Option<String>,
}

impl Observed {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Observed::default()
    }
}
