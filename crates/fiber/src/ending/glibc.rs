//! To be called first of all when a thread ends, by glibc.
//!
//! glibc has a list of what it calls when the thread ends, the newest first. The standard library adds an entry with
//! each thread-local that has a destructor; so our entry has to be newer than those. An entry stays until the thread
//! ends, and fibers stand still often: one is added only if the newest is not ours.
//!
//! Which is the newest, glibc does not say. But it keeps that entry's address in a word among its own thread-locals,
//! and there it is found: it is the word that changes each time an entry is added, and not in between. (If there is no
//! such word, an entry is added each time: that costs memory, and nothing else.)

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::OnceLock;

// loom's knows no `const`, and no model has a fiber.
#[cfg(not(loom))]
use gossamer_core::platform::thread_local;

/// No entry's address.
const NONE: usize = 0;
/// What is newest where that is not known.
static UNKNOWN: usize = usize::MAX;

thread_local! {
    /// Our newest entry.
    static OURS: Cell<usize> = const { Cell::new(NONE) };
    /// Where the newest entry of all is, once that has been looked for here.
    static WORD: Cell<*const usize> = const { Cell::new(&raw const UNKNOWN) };
}

/// Has `call` be called when this thread ends, before any thread-local goes that is there now.
#[inline]
pub(crate) fn call_first(call: fn()) {
    let ours = OURS.with(Cell::get);
    if newest() != ours && (ours == NONE || !gossamer_core::mutant!("end_is_watched_once")) {
        add_as_newest(call);
    }
}

#[cold]
fn add_as_newest(call: fn()) {
    /// Where the word is, as seen from another thread-local of glibc's: in all threads alike.
    static FROM_ERRNO: OnceLock<Option<isize>> = OnceLock::new();
    if let Some(from_errno) = *FROM_ERRNO.get_or_init(find) {
        WORD.with(|word| word.set(errno().wrapping_byte_offset(from_errno).cast()));
    }
    add(call);
    let newest = newest();
    let ours = if newest == UNKNOWN { NONE } else { newest };
    OURS.with(|here| here.set(ours));
}

/// Adds an entry.
fn add(call: fn()) {
    // SAFETY: the declarations are those of glibc, and of the file that every program and library is linked with.
    unsafe extern "C" {
        /// Calls `destructor` with `object` when the current thread ends (glibc 2.18, for C++).
        fn __cxa_thread_atexit_impl(
            destructor: extern "C" fn(*mut c_void),
            object: *mut c_void,
            library: *mut c_void,
        ) -> c_int;
        /// Identifies the program or library that this is part of.
        static __dso_handle: u8;
    }
    extern "C" fn end(call: *mut c_void) {
        // SAFETY: this very pointer was made of a function below.
        let call = unsafe { std::mem::transmute::<*mut c_void, fn()>(call) };
        call();
    }
    // SAFETY: the object is a function, which stays; the handle keeps the library that it is in loaded.
    unsafe {
        let library = (&raw const __dso_handle).cast_mut().cast();
        __cxa_thread_atexit_impl(end, call as *mut c_void, library);
    }
}

/// The address of the newest entry, or [`UNKNOWN`].
#[inline]
fn newest() -> usize {
    let word = WORD.with(Cell::get);
    // SAFETY: ours, or in this thread's part of glibc's thread-locals, where `find` has read it.
    unsafe { word.read() }
}

fn errno() -> *const c_int {
    // SAFETY: `__errno_location` has no preconditions.
    unsafe { libc::__errno_location() }
}

/// Looks for the word that changes each time an entry is added, and not in between.
fn find() -> Option<isize> {
    let words = own_words()?;
    let read = || -> Vec<usize> {
        // SAFETY: this thread's part of glibc's thread-locals, whole words. Others may not write there meanwhile.
        let word = |at: usize| unsafe { (at as *const usize).read_volatile() };
        words
            .clone()
            .step_by(size_of::<usize>())
            .map(word)
            .collect()
    };
    let mut candidates = vec![true; read().len()];
    for _ in 0..4 {
        let (before, again) = (read(), read());
        add(|| ());
        let after = read();
        for (at, candidate) in candidates.iter_mut().enumerate() {
            *candidate &= before[at] == again[at] && before[at] != after[at];
        }
    }
    let mut found = (0..candidates.len()).filter(|at| candidates[*at]);
    let (Some(at), None) = (found.next(), found.next()) else {
        return None;
    };
    let word = words.start + at * size_of::<usize>();
    Some(word.wrapping_sub(errno().addr()).cast_signed())
}

/// Where this thread's part of glibc's thread-locals is, in whole words.
fn own_words() -> Option<Range<usize>> {
    extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: the linker's description of a file that is loaded.
        let info = unsafe { &*info };
        let (block, count) = (info.dlpi_tls_data.addr(), usize::from(info.dlpi_phnum));
        // SAFETY: the file's headers, which are so many.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, count) };
        let Some(header) = headers.iter().find(|header| header.p_type == libc::PT_TLS) else {
            return 0;
        };
        let length = usize::try_from(header.p_memsz).unwrap_or(0);
        if block == 0 || !(block..block + length).contains(&errno().addr()) {
            return 0;
        }
        let word = size_of::<usize>();
        // SAFETY: `found` points at the variable `found` below, which has this type and outlives the call.
        unsafe {
            *found.cast() = Some(block.next_multiple_of(word)..(block + length) / word * word)
        };
        1
    }
    let mut found: Option<Range<usize>> = None;
    // SAFETY: `look` gets what it is given here, as long as this call lasts.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
    found
}

#[cfg(test)]
mod tests;
