//! Calls into a library that somebody else wrote: each function looked up when it is needed, each answer taken with
//! care. Only children load one.

use std::error::Error;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW, Symbol};

use crate::host::ApiError;

/// Why a call gave nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Miss {
    /// The library has no such function: it is older than what is asked.
    NoSymbol,
    /// The code it returned.
    Code(i64),
}

/// A loaded library, never unloaded: what its destructors do is of no interest.
#[derive(Debug)]
pub struct Foreign {
    library: std::mem::ManuallyDrop<Library>,
}

/// The signatures that are called here. An `int` or an enum that is returned is the library's code, 0 is success.
type WithNothing = unsafe extern "C" fn() -> c_int;
type OfNothing<T> = unsafe extern "C" fn(*mut T) -> c_int;
type OfHandle<T> = unsafe extern "C" fn(*mut c_void, *mut T) -> c_int;
type TextOfNothing = unsafe extern "C" fn(*mut c_char, c_uint) -> c_int;
type TextOfHandle = unsafe extern "C" fn(*mut c_void, *mut c_char, c_uint) -> c_int;

/// Longer than any buffer that a library asks for.
const ROOM: usize = 256;

impl Foreign {
    /// Loads a file. Its constructors run.
    pub fn open(path: &Path) -> Result<Self, ApiError> {
        // SAFETY: what its constructors do cannot be known; this is why it happens in a child.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        library.map(|library| Foreign { library: std::mem::ManuallyDrop::new(library) }).map_err(|error| ApiError {
            at: "dlopen".to_string(),
            code: None,
            name: None,
            message: Some(loader_words(&error)),
        })
    }

    /// Whether it has this function.
    pub fn has(&self, name: &str) -> bool {
        // SAFETY: only looked up, never called.
        unsafe { self.library.get::<WithNothing>(name.as_bytes()) }.is_ok()
    }

    /// A function of this signature.
    ///
    /// # Safety
    /// `F` must be the signature that the library's maker documents for the function.
    pub unsafe fn function<F>(&self, name: &str) -> Result<Symbol<F>, Miss> {
        // SAFETY: the caller's word.
        unsafe { self.library.get(name.as_bytes()) }.map_err(|_| Miss::NoSymbol)
    }

    /// `code f(T *out)`
    ///
    /// # Safety
    /// As for every function here: it must have this signature.
    pub unsafe fn value<T: Copy>(&self, name: &str, mut out: T) -> Result<T, Miss> {
        // SAFETY: the caller's word.
        done(unsafe { self.function::<OfNothing<T>>(name)?(&mut out) })?;
        Ok(out)
    }

    /// `code f(handle, T *out)`
    ///
    /// # Safety
    /// As above.
    pub unsafe fn value_of<T: Copy>(&self, name: &str, handle: *mut c_void, mut out: T) -> Result<T, Miss> {
        // SAFETY: the caller's word.
        done(unsafe { self.function::<OfHandle<T>>(name)?(handle, &mut out) })?;
        Ok(out)
    }

    /// `code f(char *text, unsigned room)`
    ///
    /// # Safety
    /// As above; `room` is what the function is told.
    pub unsafe fn text(&self, name: &str, room: c_uint) -> Result<String, Miss> {
        let mut buffer = [0; ROOM];
        // SAFETY: the caller's word.
        done(unsafe { self.function::<TextOfNothing>(name)?(buffer.as_mut_ptr(), room) })?;
        Ok(readable(&buffer, room))
    }

    /// `code f(handle, char *text, unsigned room)`
    ///
    /// # Safety
    /// As above; `room` is what the function is told.
    pub unsafe fn text_of(&self, name: &str, handle: *mut c_void, room: c_uint) -> Result<String, Miss> {
        let mut buffer = [0; ROOM];
        // SAFETY: the caller's word.
        done(unsafe { self.function::<TextOfHandle>(name)?(handle, buffer.as_mut_ptr(), room) })?;
        Ok(readable(&buffer, room))
    }
}

/// What the loader said: the error itself says only which of its functions failed.
pub fn loader_words(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// A code as a result.
pub fn done(code: c_int) -> Result<(), Miss> {
    if code == 0 { Ok(()) } else { Err(Miss::Code(i64::from(code))) }
}

/// The text in a buffer, which may lack its end and be in any encoding.
pub fn readable(buffer: &[c_char], room: c_uint) -> String {
    let bytes: Vec<u8> = buffer.iter().take(room as usize).map(|c| c.cast_unsigned()).collect();
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_with_and_without_their_end() {
        let buffer = |text: &[u8]| text.iter().map(|byte| byte.cast_signed()).collect::<Vec<c_char>>();
        assert_eq!(readable(&buffer(b"NVIDIA H100\0\xff\xff"), 13), "NVIDIA H100");
        assert_eq!(readable(&buffer(b"NVIDIA"), 6), "NVIDIA");
        assert_eq!(readable(&buffer(b"\xff\xfeA"), 3), "\u{fffd}\u{fffd}A");
        assert_eq!(readable(&buffer(b"too long"), 3), "too");
    }
}
