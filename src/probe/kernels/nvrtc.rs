//! NVRTC, the compiler that is a library.

use std::ffi::{CString, c_char, c_int};
use std::path::Path;

use cudarc::nvrtc::sys::{self, nvrtcProgram, nvrtcResult};

use crate::host::ApiError;
use crate::types::{Arch, Cc};

use crate::probe::calls::{self, calls};

calls!(Calls: nvrtcResult {
    nvrtcVersion(*mut c_int, *mut c_int);
    nvrtcCreateProgram(*mut nvrtcProgram, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char);
    nvrtcCompileProgram(nvrtcProgram, c_int, *const *const c_char);
    nvrtcGetProgramLogSize(nvrtcProgram, *mut usize);
    nvrtcGetProgramLog(nvrtcProgram, *mut c_char);
    nvrtcGetPTXSize(nvrtcProgram, *mut usize);
    nvrtcGetPTX(nvrtcProgram, *mut c_char);
    nvrtcDestroyProgram(*mut nvrtcProgram);
} later {
    nvrtcGetNumSupportedArchs(*mut c_int);
    nvrtcGetSupportedArchs(*mut c_int);
    nvrtcGetCUBINSize(nvrtcProgram, *mut usize);
    nvrtcGetCUBIN(nvrtcProgram, *mut c_char);
});

/// More than this is no program of ours, in bytes.
const MOST: usize = 16 << 20;
/// The beginning of the file's name of NVRTC's other half.
const BUILTINS: &str = "libnvrtc-builtins.so";
/// The name the source goes by: it stands in what the compiler writes, so no path is in it.
const NAME: &str = "kernels.cu";

/// What to compile to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Machine code.
    Cubin,
    /// PTX.
    Ptx,
}

/// A loaded NVRTC.
pub struct Nvrtc {
    calls: Calls,
}

impl Nvrtc {
    /// Loads the library at this path. The half it looks for by name at the first compilation is loaded before it from
    /// the same folder: whoever uses NVRTC out of a wheel has to do so too, as not every release knows where it lies.
    pub fn open(path: &Path) -> Result<Nvrtc, ApiError> {
        let beside = path.parent().and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten();
        for file in beside.filter(|file| file.file_name().to_string_lossy().starts_with(BUILTINS)) {
            // Where it cannot be loaded the first compilation says so.
            let _ = calls::open(&file.path());
        }
        let by_name = |fault: ApiError| match fault.at.starts_with("nvrtc") {
            true => fault,
            // Whose library it was that the loader refused.
            false => ApiError { at: format!("nvrtc: {}", fault.at), ..fault },
        };
        Ok(Nvrtc { calls: calls::open(path).and_then(Calls::of).map_err(by_name)? })
    }

    /// Its major and minor version.
    pub fn version(&self) -> Result<(i32, i32), ApiError> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both point to integers.
        check("nvrtcVersion", unsafe { (self.calls.nvrtcVersion)(&mut major, &mut minor) })?;
        Ok((major, minor))
    }

    /// The architectures it compiles for, their variants with a suffix left out. None: it is too old to tell.
    pub fn archs(&self) -> Result<Option<Vec<Cc>>, ApiError> {
        let calls = (self.calls.nvrtcGetNumSupportedArchs, self.calls.nvrtcGetSupportedArchs);
        let (Some(count_them), Some(list_them)) = calls else { return Ok(None) };
        let mut count = 0;
        // SAFETY: it points to an integer.
        check("nvrtcGetNumSupportedArchs", unsafe { count_them(&mut count) })?;
        let mut numbers: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0).min(1_000)];
        // SAFETY: it has room for as many as were counted; a thousand are more than there will be.
        check("nvrtcGetSupportedArchs", unsafe { list_them(numbers.as_mut_ptr()) })?;
        Ok(Some(numbers.into_iter().filter_map(|number| Cc::parse(&format!("sm_{number}")).ok()).collect()))
    }

    /// Whether it writes machine code itself; older ones write PTX alone.
    pub fn has_cubins(&self) -> bool {
        self.calls.nvrtcGetCUBIN.is_some() && self.calls.nvrtcGetCUBINSize.is_some()
    }

    /// Compiles a source.
    pub fn compile(&self, source: &str, arch: Arch, form: Form) -> Result<Vec<u8>, ApiError> {
        let no_nul = |_| calls::said("nvrtcCreateProgram", "the source holds a NUL");
        let (source, name) = (CString::new(source).map_err(no_nul)?, CString::new(NAME).map_err(no_nul)?);
        let mut program: nvrtcProgram = std::ptr::null_mut();
        // SAFETY: the strings end in NUL and live longer than the program, which has no headers.
        check("nvrtcCreateProgram", unsafe {
            let none = std::ptr::null();
            (self.calls.nvrtcCreateProgram)(&mut program, source.as_ptr(), name.as_ptr(), 0, none, none)
        })?;
        let compiled = self.compiled(program, arch, form);
        // SAFETY: it was made above and is not used any more.
        unsafe { (self.calls.nvrtcDestroyProgram)(&mut program) };
        compiled
    }

    fn compiled(&self, program: nvrtcProgram, arch: Arch, form: Form) -> Result<Vec<u8>, ApiError> {
        let calls = &self.calls;
        let prefix = if form == Form::Cubin { "sm_" } else { "compute_" };
        let option = CString::new(format!("--gpu-architecture={prefix}{}", arch.code())).unwrap_or_default();
        let options = [option.as_ptr()];
        // SAFETY: one option that ends in NUL.
        let code = unsafe { (calls.nvrtcCompileProgram)(program, 1, options.as_ptr()) };
        check("nvrtcCompileProgram", code).map_err(|fault| {
            let log = self.taken(program, "nvrtcGetProgramLog", calls.nvrtcGetProgramLogSize, calls.nvrtcGetProgramLog);
            let message = log.ok().map(|log| String::from_utf8_lossy(&log).trim_end_matches('\0').trim().to_string());
            ApiError { message: message.filter(|text| !text.is_empty()), ..fault }
        })?;
        match form {
            Form::Cubin => match (calls.nvrtcGetCUBINSize, calls.nvrtcGetCUBIN) {
                (Some(size), Some(take)) => self.taken(program, "nvrtcGetCUBIN", size, take),
                _ => Err(calls::said("nvrtcGetCUBIN", "this NVRTC writes PTX alone")),
            },
            Form::Ptx => {
                let mut ptx = self.taken(program, "nvrtcGetPTX", calls.nvrtcGetPTXSize, calls.nvrtcGetPTX)?;
                // The end of the string is counted.
                ptx.truncate(ptx.iter().position(|byte| *byte == 0).unwrap_or(ptx.len()));
                Ok(ptx)
            }
        }
    }

    fn taken(
        &self,
        program: nvrtcProgram,
        at: &str,
        size: unsafe extern "C" fn(nvrtcProgram, *mut usize) -> i32,
        take: unsafe extern "C" fn(nvrtcProgram, *mut c_char) -> i32,
    ) -> Result<Vec<u8>, ApiError> {
        let mut bytes = 0;
        // SAFETY: it points to a size.
        check(at, unsafe { size(program, &mut bytes) })?;
        if bytes > MOST {
            return Err(calls::said(at, &format!("it wants to write {bytes} bytes")));
        }
        let mut buffer = vec![0u8; bytes];
        // SAFETY: there is room for as much as it said.
        check(at, unsafe { take(program, buffer.as_mut_ptr().cast()) })?;
        Ok(buffer)
    }
}

/// What NVRTC's codes are called, by number, from its header in pkg:pypi/nvidia-cuda-nvrtc@13.5.37.
const NAMES: &[&str] = &[
    "NVRTC_SUCCESS",
    "NVRTC_ERROR_OUT_OF_MEMORY",
    "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
    "NVRTC_ERROR_INVALID_INPUT",
    "NVRTC_ERROR_INVALID_PROGRAM",
    "NVRTC_ERROR_INVALID_OPTION",
    "NVRTC_ERROR_COMPILATION",
    "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
    "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
    "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
    "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
    "NVRTC_ERROR_INTERNAL_ERROR",
    "NVRTC_ERROR_TIME_FILE_WRITE_FAILED",
    "NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED",
    "NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED",
    "NVRTC_ERROR_PCH_CREATE",
    "NVRTC_ERROR_CANCELLED",
    "NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED",
    "NVRTC_ERROR_BUSY",
];

fn check(at: &str, code: i32) -> Result<(), ApiError> {
    if code == 0 {
        return Ok(());
    }
    let name = usize::try_from(code).ok().and_then(|code| NAMES.get(code)).map(|name| (*name).to_string());
    Err(ApiError { at: at.to_string(), code: Some(code.into()), name, message: None })
}
