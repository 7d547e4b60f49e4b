//! What nvidia-smi says where it has nothing to list, with NVML's code for it.
//!
//! Seen in <https://github.com/microsoft/WSL/issues/9640>, <https://github.com/NVIDIA/nvidia-docker/issues/688>; the
//! codes stand in nvml.h.

use super::super::record::{ApiError, BY_SMI, OF_A_HANDLE};
use super::seen::{Seen, fill, version};

/// A sentence, and the code and name of what NVML answered.
const SENTENCES: &[(&str, i64, &str)] = &[
    ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver", 9, "NVML_ERROR_DRIVER_NOT_LOADED"),
    ("Failed to initialize NVML: Driver/library version mismatch", 18, "NVML_ERROR_LIB_RM_VERSION_MISMATCH"),
    ("Failed to initialize NVML: Driver Not Loaded", 9, "NVML_ERROR_DRIVER_NOT_LOADED"),
    ("Failed to initialize NVML: Insufficient Permissions", 4, "NVML_ERROR_NO_PERMISSION"),
    ("Failed to initialize NVML: GPU access blocked by the operating system", 17, "NVML_ERROR_OPERATING_SYSTEM"),
    ("Failed to initialize NVML: Unknown Error", 999, "NVML_ERROR_UNKNOWN"),
];

const NOT_FOUND: i64 = 6;
/// What nvidia-smi says where it cannot ask one of the GPUs, and how that sentence goes on.
const HANDLE: &str = "Unable to determine the device handle for ";
const HANDLES: &[(&str, i64, &str)] = &[
    ("GPU is lost", 15, "NVML_ERROR_GPU_IS_LOST"),
    ("GPU requires reset", 16, "NVML_ERROR_RESET_REQUIRED"),
    ("Not Found", NOT_FOUND, "NVML_ERROR_NOT_FOUND"),
    ("Unknown Error", 999, "NVML_ERROR_UNKNOWN"),
];

/// What nvidia-smi writes in the place of a value that it could not ask for, in brackets where it writes CSV.
pub(super) fn of_gpu(value: &str) -> Option<ApiError> {
    let words = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(value);
    if words == "ERR!" {
        return Some(fault(words, None));
    }
    // `Not Found` is a value that does not exist.
    let (sentence, code, name) = HANDLES.iter().find(|(sentence, code, _)| *sentence == words && *code != NOT_FOUND)?;
    Some(fault(sentence, Some((*code, name))))
}

/// Whether an error is the GPU's whatever could not be asked: it is lost or waits for its reset.
pub(super) fn is_of_gpu(fault: &ApiError) -> bool {
    matches!(fault.code, Some(15 | 16))
}

/// What is wrong with a GPU, by the rest of the sentence about its handle.
fn of_handle(rest: &str) -> Option<ApiError> {
    let (sentence, code, name) = HANDLES.iter().find(|(sentence, ..)| rest.contains(sentence))?;
    Some(fault(sentence, Some((*code, name))))
}

fn fault(message: &str, known: Option<(i64, &str)>) -> ApiError {
    ApiError {
        at: BY_SMI.to_string(),
        code: known.map(|(code, _)| code),
        name: known.map(|(_, name)| name.to_string()),
        message: Some(message.to_string()),
    }
}

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    let mut found = false;
    for line in lines {
        let line = line.trim();
        let of_driver = || {
            let (sentence, code, name) = SENTENCES.iter().find(|(sentence, ..)| line.contains(sentence))?;
            Some(fault(sentence, Some((*code, name))))
        };
        let told = match line.split_once(HANDLE) {
            Some((_, rest)) => {
                let told = of_handle(rest).or_else(|| Some(fault(rest.rsplit(": ").next()?, None)));
                told.map(|fault| ApiError { at: OF_A_HANDLE.to_string(), ..fault })
            }
            None => of_driver(),
        };
        if told.is_some() {
            fill(&mut seen.nvml().fault, told);
            found = true;
        } else if line.trim_end_matches('.') == "No devices were found" || line == "No devices found." {
            fill(&mut seen.nvml().count, Some(0));
            found = true;
        } else if let Some(library) = line.strip_prefix("NVML library version:") {
            fill(&mut seen.nvml().file_version, version(library.trim()));
        }
    }
    found
}
