//! A foreign library with the calls made of it, all of them looked up before the first is made.
//!
//! cudarc's own loader is passed by, for three reasons. It panics where a library or a symbol is missing. It asks for
//! `libcuda.so` before `libcuda.so.1`, so that a folder of stubs in LD_LIBRARY_PATH wins over the driver. And its
//! functions return an enum of the codes of one CUDA release, where any other code is undefined behaviour: newer
//! drivers return others, and CUDA_ERROR_DEVICE_UNAVAILABLE, the everyday answer of a GPU in exclusive mode, is not
//! among those of the oldest release it binds. So a library is loaded from the one path that was asked for and its
//! codes are plain numbers, while the types of all arguments are cudarc's: `calls` compares each signature with
//! cudarc's function of that name, and what differs does not compile.

use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::host::ApiError;
use crate::probe::foreign::loader_words;

/// Loads the library at this path, for as long as this process lives: its threads may run to the end of it.
pub fn open(path: &Path) -> Result<&'static Library, ApiError> {
    // SAFETY: its constructors are foreign code, which is why this process is a child.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|error| said("dlopen", &loader_words(&error)))?;
    Ok(Box::leak(Box::new(library)))
}

/// A function of the library.
///
/// # Safety
/// `F` must be the function's type.
pub unsafe fn symbol<F: Copy>(library: &Library, name: &str) -> Result<F, ApiError> {
    // SAFETY: the caller's.
    let found = unsafe { library.get::<F>(name) };
    found.map(|symbol| *symbol).map_err(|error| said(name, &loader_words(&error)))
}

/// A fault that comes with words and no code.
pub fn said(at: &str, message: &str) -> ApiError {
    ApiError { at: at.to_string(), code: None, name: None, message: Some(message.to_string()) }
}

/// A table of calls: `cuInit(c_uint);` is a field of that name, looked up by it, that returns its code as a number.
/// Those behind `later` came with later releases: a library may lack them.
macro_rules! calls {
    ($table:ident: $code:ty { $($call:ident($($argument:ty),*);)* } later { $($other:ident($($of_other:ty),*);)* }) => {
        #[allow(non_snake_case)]
        struct $table {
            $($call: unsafe extern "C" fn($($argument),*) -> i32,)*
            $($other: Option<unsafe extern "C" fn($($of_other),*) -> i32>,)*
        }

        $(const _: unsafe fn($($argument),*) -> $code = sys::$call;)*
        $(const _: unsafe fn($($of_other),*) -> $code = sys::$other;)*

        impl $table {
            fn of(library: &libloading::os::unix::Library) -> Result<$table, crate::host::ApiError> {
                // SAFETY: the types are those of the bindings, but for the code, which is as wide.
                unsafe {
                    Ok($table {
                        $($call: calls::symbol(library, stringify!($call))?,)*
                        $($other: calls::symbol(library, stringify!($other)).ok(),)*
                    })
                }
            }
        }
    };
}

pub(in crate::probe) use calls;
