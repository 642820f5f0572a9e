//! What a C caller hands in, and what it gets back.
#![expect(unsafe_code, reason = "the place where pointers of the caller are read and written")]

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;

use crate::failure::Failure;
use crate::guard::quietly;

/// Text from the library: `len` bytes, then a NUL that is not counted. Free it with plangate_buf_free and nothing else.
#[repr(C)]
#[derive(Debug)]
pub struct plangate_buf {
    /// The bytes, or NULL where nothing was filled in.
    pub data: *mut c_char,
    /// How many there are, without the NUL.
    pub len: usize,
}

impl plangate_buf {
    /// Nothing.
    pub const EMPTY: plangate_buf = plangate_buf { data: std::ptr::null_mut(), len: 0 };

    fn of(text: String) -> plangate_buf {
        let mut bytes = text.into_bytes();
        let len = bytes.len();
        bytes.push(0);
        plangate_buf { data: Box::into_raw(bytes.into_boxed_slice()).cast(), len }
    }
}

#[cfg(test)]
impl plangate_buf {
    /// What it holds.
    pub(crate) fn text(&self) -> &str {
        if self.data.is_null() {
            return "";
        }
        // SAFETY: tests ask this of what the library filled in.
        let bytes = unsafe { std::slice::from_raw_parts(self.data.cast::<u8>(), self.len) };
        std::str::from_utf8(bytes).unwrap_or("not UTF-8")
    }
}

/// Empties a buffer that the library filled. NULL, and one that is empty, are fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_buf_free(buf: *mut plangate_buf) {
    quietly((), || {
        if buf.is_null() {
            return;
        }
        // SAFETY: not null, and the caller lends it for this call.
        let full = unsafe { buf.replace(plangate_buf::EMPTY) };
        if !full.data.is_null() {
            let bytes = std::ptr::slice_from_raw_parts_mut(full.data.cast::<u8>(), full.len + 1);
            // SAFETY: made by `plangate_buf::of`, with the NUL after `len`, and taken out of the buffer above.
            drop(unsafe { Box::from_raw(bytes) });
        }
    });
}

/// The caller of one exported function, for as long as the call. Having one means that the caller keeps the rules of
/// the header: what it points to may be read, or written where it is an out, until the function returns.
pub(crate) struct Caller(PhantomData<*mut ()>);

#[expect(clippy::unused_self, reason = "to have it is to vouch for the pointers; there is nothing in it")]
impl Caller {
    /// # Safety
    ///
    /// Every pointer that is handed to its methods is as the header asks: null, or valid for the length given with it
    /// (to its NUL, where there is none), and used by nobody else while the call lasts where it is an out.
    pub(crate) unsafe fn that_keeps_the_rules() -> Caller {
        Caller(PhantomData)
    }

    /// A document as (ptr, len). (NULL, 0) is the empty one.
    pub(crate) fn bytes<'a>(
        &'a self,
        what: &str,
        ptr: *const c_char,
        len: usize,
    ) -> Result<&'a [u8], Failure> {
        if ptr.is_null() {
            return if len == 0 { Ok(&[]) } else { Err(Failure::null(what)) };
        }
        if isize::try_from(len).is_err() {
            return Err(Failure::argument(format!("`{what}` cannot have {len} bytes")));
        }
        // SAFETY: the caller's promise, for as long as the call.
        Ok(unsafe { std::slice::from_raw_parts(ptr.cast::<u8>(), len) })
    }

    /// A document as (ptr, len), as text.
    pub(crate) fn document<'a>(
        &'a self,
        what: &str,
        ptr: *const c_char,
        len: usize,
    ) -> Result<&'a str, Failure> {
        utf8(what, self.bytes(what, ptr, len)?)
    }

    /// An id or a name: a C string.
    pub(crate) fn name<'a>(&'a self, what: &str, ptr: *const c_char) -> Result<&'a str, Failure> {
        self.name_or_null(what, ptr)?.ok_or_else(|| Failure::null(what))
    }

    /// A C string that may be null.
    pub(crate) fn name_or_null<'a>(
        &'a self,
        what: &str,
        ptr: *const c_char,
    ) -> Result<Option<&'a str>, Failure> {
        if ptr.is_null() {
            return Ok(None);
        }
        // SAFETY: not null, and the caller's promise that a NUL ends it.
        utf8(what, unsafe { CStr::from_ptr(ptr) }.to_bytes()).map(Some)
    }

    /// A struct of options that starts with its size in bytes.
    pub(crate) fn sized<T: Options>(&self, what: &str, ptr: *const T) -> Result<T, Failure> {
        if ptr.is_null() {
            return Err(Failure::null(what));
        }
        // SAFETY: every version of the struct starts with its size, a `uint32_t`.
        let size = unsafe { ptr.cast::<u32>().read() } as usize;
        let known = size_of::<T>();
        if !T::SIZES.contains(&size) && size < known {
            let sizes: Vec<String> = T::SIZES.iter().map(ToString::to_string).collect();
            let message =
                format!("`{what}.size` is {size}; it must be sizeof({what}): {}", sizes.join(" or "));
            return Err(Failure::argument(message));
        }
        // SAFETY: the caller says that so many bytes are there.
        let given = unsafe { std::slice::from_raw_parts(ptr.cast::<u8>(), size) };
        let (ours, beyond) = given.split_at(size.min(known));
        if beyond.iter().any(|byte| *byte != 0) {
            let message =
                format!("`{what}` is of a later version, and uses an option that this library does not know");
            return Err(Failure::argument(message).help("leave what is new at 0, or load the newer library"));
        }
        // SAFETY: `Options` says that all zeros are a value, and the bytes are a whole number of its first fields.
        unsafe {
            let mut options = std::mem::zeroed::<T>();
            std::ptr::copy_nonoverlapping(ours.as_ptr(), (&raw mut options).cast::<u8>(), ours.len());
            Ok(options)
        }
    }

    /// Where a result goes; null is refused.
    pub(crate) fn out<'a, T>(&'a self, what: &str, ptr: *mut *mut T) -> Result<Out<'a, T>, Failure> {
        if ptr.is_null() {
            return Err(Failure::null(what));
        }
        // SAFETY: not null, and the caller lends it for this call.
        unsafe { ptr.write(std::ptr::null_mut()) };
        Ok(Out { to: ptr, call: PhantomData })
    }

    /// Where text goes; null is refused. It is emptied at once.
    pub(crate) fn text<'a>(&'a self, what: &str, ptr: *mut plangate_buf) -> Result<Text<'a>, Failure> {
        if ptr.is_null() {
            return Err(Failure::null(what));
        }
        self.empty(ptr);
        Ok(Text { to: ptr, caller: self })
    }

    /// Empties a buffer that may be null. What was in it is the caller's business.
    pub(crate) fn empty(&self, buf: *mut plangate_buf) {
        if !buf.is_null() {
            // SAFETY: not null, and the caller lends it for this call. It may hold anything before.
            unsafe { buf.write(plangate_buf::EMPTY) };
        }
    }

    /// Fills a buffer that may be null.
    pub(crate) fn fill(&self, buf: *mut plangate_buf, text: String) {
        if !buf.is_null() {
            // SAFETY: as in `empty`.
            unsafe { buf.write(plangate_buf::of(text)) };
        }
    }
}

/// A struct of options in C: all zeros are a value of it.
///
/// # Safety
///
/// `repr(C)`, starts with its size as `u32`, all zeros are valid, and so is every value whose first `SIZES` bytes are a
/// caller's and the rest zeros.
pub(crate) unsafe trait Options: Copy {
    /// Its sizes in all versions, the newest last.
    const SIZES: &'static [usize];
}

/// Where a handle goes.
pub(crate) struct Out<'a, T> {
    to: *mut *mut T,
    call: PhantomData<&'a Caller>,
}

impl<T> Out<'_, T> {
    pub(crate) fn set(self, handle: *mut T) {
        // SAFETY: made from a pointer that the caller lends for as long as the call, which `'a` is.
        unsafe { self.to.write(handle) };
    }
}

/// Where text goes.
pub(crate) struct Text<'a> {
    to: *mut plangate_buf,
    caller: &'a Caller,
}

impl Text<'_> {
    pub(crate) fn set(self, text: String) {
        self.caller.fill(self.to, text);
    }
}

fn utf8<'a>(what: &str, bytes: &'a [u8]) -> Result<&'a str, Failure> {
    std::str::from_utf8(bytes).map_err(|e| {
        Failure::argument(format!("`{what}` is not UTF-8 from byte {} on", e.valid_up_to()))
            .help("pass it as UTF-8")
    })
}
