//! The driver's CUDA library, as far as running a kernel goes.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::ptr::{from_ref, null_mut};

use cudarc::driver::sys::{
    self, CUcontext, CUdevice, CUdeviceptr, CUfunction, CUjit_option, CUmodule, CUresult, CUstream,
};

use crate::host::ApiError;
use crate::probe::curesult::check;

use super::programs::Program;
use crate::probe::calls::{self, calls};

calls!(Calls: CUresult {
    cuInit(c_uint);
    cuDeviceGet(*mut CUdevice, c_int);
    cuDevicePrimaryCtxRetain(*mut CUcontext, CUdevice);
    cuCtxSetCurrent(CUcontext);
    cuModuleLoadDataEx(*mut CUmodule, *const c_void, c_uint, *mut CUjit_option, *mut *mut c_void);
    cuModuleGetFunction(*mut CUfunction, CUmodule, *const c_char);
    cuModuleUnload(CUmodule);
    cuMemAlloc_v2(*mut CUdeviceptr, usize);
    cuMemFree_v2(CUdeviceptr);
    cuMemcpyHtoD_v2(CUdeviceptr, *const c_void, usize);
    cuMemcpyDtoH_v2(*mut c_void, CUdeviceptr, usize);
    cuLaunchKernel(CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void, *mut *mut c_void);
    cuCtxSynchronize();
} later {
});

/// The bytes of the JIT compiler's log that are kept.
const LOG: usize = 4_096;

/// Hears of each call before it is made.
pub type Before<'a> = &'a mut dyn FnMut(&str);

/// A GPU with a context of this process on it.
pub struct Cuda {
    calls: Calls,
}

/// Loaded code.
#[derive(Debug, Clone, Copy)]
pub struct Module(CUmodule);

impl Cuda {
    /// Loads the library at this path and makes the device of this ordinal the current one.
    pub fn open(path: &Path, ordinal: u64, before: Before<'_>) -> Result<Cuda, ApiError> {
        before("dlopen");
        let cuda = Cuda { calls: Calls::of(calls::open(path)?)? };
        let ordinal = c_int::try_from(ordinal).map_err(|_| calls::said("cuDeviceGet", "no such ordinal"))?;
        let (mut device, mut context) = (0, null_mut());
        before("cuInit");
        // SAFETY: no flags are defined.
        check("cuInit", unsafe { (cuda.calls.cuInit)(0) })?;
        before("cuDeviceGet");
        // SAFETY: it points to a device.
        check("cuDeviceGet", unsafe { (cuda.calls.cuDeviceGet)(&mut device, ordinal) })?;
        before("cuDevicePrimaryCtxRetain");
        // SAFETY: it points to a context. It is never released: the driver does that when the process ends.
        check("cuDevicePrimaryCtxRetain", unsafe { (cuda.calls.cuDevicePrimaryCtxRetain)(&mut context, device) })?;
        before("cuCtxSetCurrent");
        // SAFETY: the context was made above.
        check("cuCtxSetCurrent", unsafe { (cuda.calls.cuCtxSetCurrent)(context) })?;
        Ok(cuda)
    }

    /// Loads a cubin, or PTX, which the driver compiles. Where that fails, the fault has the compiler's log.
    pub fn load(&self, image: &[u8], before: Before<'_>) -> Result<Module, ApiError> {
        // PTX has to end in NUL, and no cubin minds one.
        let image: Vec<u8> = image.iter().copied().chain([0]).collect();
        let mut log = vec![0u8; LOG];
        let mut options = [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(LOG)];
        let mut module = null_mut();
        before("cuModuleLoadDataEx");
        let count = options.len() as c_uint;
        // SAFETY: there are as many options as values, and the log is as large as is said.
        let code = unsafe {
            let image = image.as_ptr().cast();
            (self.calls.cuModuleLoadDataEx)(&mut module, image, count, options.as_mut_ptr(), values.as_mut_ptr())
        };
        check("cuModuleLoadDataEx", code).map_err(|fault| {
            let end = log.iter().position(|byte| *byte == 0).unwrap_or(LOG);
            let words = String::from_utf8_lossy(&log[..end]).trim().to_string();
            ApiError { message: Some(words).filter(|words| !words.is_empty()), ..fault }
        })?;
        Ok(Module(module))
    }

    /// Lets go of loaded code.
    pub fn unload(&self, module: Module, before: Before<'_>) -> Result<(), ApiError> {
        before("cuModuleUnload");
        // SAFETY: it was loaded by `load`, and nothing of it runs any more.
        check("cuModuleUnload", unsafe { (self.calls.cuModuleUnload)(module.0) })
    }

    /// Runs a program and brings its output back.
    pub fn run(&self, module: Module, program: &Program, before: Before<'_>) -> Result<Vec<f32>, ApiError> {
        let name = CString::new(program.name).unwrap_or_default();
        let mut function = null_mut();
        before("cuModuleGetFunction");
        // SAFETY: the name ends in NUL.
        check("cuModuleGetFunction", unsafe {
            (self.calls.cuModuleGetFunction)(&mut function, module.0, name.as_ptr())
        })?;
        let mut memory = Vec::new();
        for content in program.inputs.iter().chain([&program.before]) {
            memory.push(self.upload(content, before)?);
        }
        self.launch(function, program, &memory, before)?;
        let mut output = vec![0.0f32; program.after.len()];
        before("cuMemcpyDtoH_v2");
        // SAFETY: the output is as long on both sides.
        check("cuMemcpyDtoH_v2", unsafe {
            let from = *memory.last().unwrap_or(&0);
            (self.calls.cuMemcpyDtoH_v2)(output.as_mut_ptr().cast(), from, size_of_val(&*output))
        })?;
        for place in memory {
            before("cuMemFree_v2");
            // SAFETY: it was allocated above and is freed once.
            check("cuMemFree_v2", unsafe { (self.calls.cuMemFree_v2)(place) })?;
        }
        Ok(output)
    }

    fn upload(&self, content: &[f32], before: Before<'_>) -> Result<CUdeviceptr, ApiError> {
        let (mut place, bytes) = (0, size_of_val(content));
        before("cuMemAlloc_v2");
        // SAFETY: it points to a place.
        check("cuMemAlloc_v2", unsafe { (self.calls.cuMemAlloc_v2)(&mut place, bytes) })?;
        before("cuMemcpyHtoD_v2");
        // SAFETY: both sides are as long.
        check("cuMemcpyHtoD_v2", unsafe { (self.calls.cuMemcpyHtoD_v2)(place, content.as_ptr().cast(), bytes) })?;
        Ok(place)
    }

    fn launch(
        &self,
        function: CUfunction,
        program: &Program,
        memory: &[CUdeviceptr],
        before: Before<'_>,
    ) -> Result<(), ApiError> {
        let factor = program.factor.iter().map(|factor| from_ref(factor).cast());
        let pointers = memory.iter().map(|place| from_ref(place).cast());
        let arguments = std::iter::once(from_ref(&program.count).cast()).chain(factor).chain(pointers);
        let mut arguments: Vec<*mut c_void> = arguments.map(|argument: *const c_void| argument.cast_mut()).collect();
        let ((across, down), (wide, high)) = (program.grid, program.block);
        before("cuLaunchKernel");
        // SAFETY: the arguments are those of the function in the source, in its order; the default stream.
        check("cuLaunchKernel", unsafe {
            let arguments = arguments.as_mut_ptr();
            (self.calls.cuLaunchKernel)(function, across, down, 1, wide, high, 1, 0, null_mut(), arguments, null_mut())
        })?;
        before("cuCtxSynchronize");
        // SAFETY: it takes nothing.
        check("cuCtxSynchronize", unsafe { (self.calls.cuCtxSynchronize)() })
    }
}
