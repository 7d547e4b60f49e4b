//! What can be written where nothing is known yet, as comments.

/// A key, an example of its value, and what it means.
type Hint = (&'static str, &'static str, &'static str);

/// For `[stack]`.
pub(super) const STACK: &[Hint] = &[
    ("torch", "\">=2.4,<2.8\"", "a range, a release, or a build: \"2.5.1+cu124\""),
    ("torchvision", "\"*\"", "whichever goes with it"),
    ("python", "\"3.11\"", "what the code runs on"),
];

/// For the target.
pub(super) const TARGET: &[Hint] = &[
    ("gpu", "[\"A100-PCIE-40GB\", \"RTX 3090\"]", "each alone must work; \"none\" for CPU only"),
    ("driver", "\"535\"", "what the hosts have; without it the lock says what they need"),
    ("image", "\"nvidia/cuda\"", "a container: gpuenv chooses the tag"),
    ("os", "\"ubuntu22.04\"", "of the machine, or of the image in a container"),
];
