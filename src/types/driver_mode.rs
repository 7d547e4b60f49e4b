//! How the driver of a target serves its stack, in the words of locks and messages.

/// The weakest mechanism by which a driver serves a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriverMode {
    /// It offers the CUDA of the stack, or a newer one.
    Native,
    /// It offers an older CUDA of the same major.
    MinorVersion,
    /// A cuda-compat package brings a newer libcuda.
    ForwardCompat,
}

impl DriverMode {
    /// Every word.
    pub const WORDS: [&'static str; 3] =
        [DriverMode::Native.as_str(), DriverMode::MinorVersion.as_str(), DriverMode::ForwardCompat.as_str()];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            DriverMode::Native => "native",
            DriverMode::MinorVersion => "minor-version",
            DriverMode::ForwardCompat => "forward-compat",
        }
    }
}
