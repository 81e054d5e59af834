//! The end of a fiber whose stack overflows: a message that names it, and the end of the process.
//!
//! The guard below a stack makes the overflow a signal (`SIGSEGV`; `SIGBUS` on some machines). It is handled on the
//! alternative stack that the standard library gives each of its threads; other threads get one here. A signal that is
//! not about one of our guards goes to whoever handled it before; and who takes the signal after us gets it first.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::fmt::{self, Write};
use std::io;
use std::mem;
use std::ptr;
use std::sync::OnceLock;

use gossamer_core::platform::atomic::{AtomicUsize, Ordering};
use gossamer_core::platform::thread_local;

use super::label::Label;

/// The size of a guard: a function of C without stack probes that needs more for itself can jump it.
pub(super) const GUARD: usize = 64 << 10;

/// Each stack has so many bytes more than its size says, a page at least: for its label and its depth. On x86 edges are
/// an odd number of pages apart so, and not as far as the lines of a cache that share a set (Bonwick, The slab allocator,
/// 1994, "cache coloring").
const COLOUR: usize = match cfg!(any(target_arch = "x86_64", target_arch = "x86")) {
    true => 4 << 10,
    false => 64 << 10,
};

/// From the edge of a stack of so many bytes to that of the next one.
pub(super) const fn slot(size: usize) -> usize {
    size + GUARD + COLOUR
}

/// A reservation of stacks, all of one size.
struct Reservation {
    start: AtomicUsize,
    size: AtomicUsize,
    /// Where it ends; 0 until it is known.
    end: AtomicUsize,
}

/// So many there may be. Each is twice as large as the one before in its class, up to a limit.
const MOST: usize = 4_096;

static KNOWN: [Reservation; MOST] = [const {
    Reservation {
        start: AtomicUsize::new(0),
        size: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
    }
}; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// From now on it is known that there are stacks of so many bytes here, each above its guard.
pub(super) fn know(start: usize, bytes: usize, size: usize) -> io::Result<()> {
    // Relaxed: only a number that nobody else has.
    let at = COUNT.fetch_add(1, Ordering::Relaxed);
    let Some(reservation) = KNOWN.get(at) else {
        // Relaxed: as above.
        COUNT.fetch_sub(1, Ordering::Relaxed);
        return Err(io::ErrorKind::OutOfMemory.into());
    };
    // Relaxed: published by the store below.
    reservation.start.store(start, Ordering::Relaxed);
    reservation.size.store(size, Ordering::Relaxed);
    // Release: pairs with the load in `overflowed`.
    reservation.end.store(start + bytes, Ordering::Release);
    Ok(())
}

/// The stack below which this address is, in its guard: its edge and its bytes. Async-signal-safe.
fn overflowed(address: usize) -> Option<(usize, usize)> {
    KNOWN.iter().find_map(|reservation| {
        // Acquire: pairs with the store in `know`.
        let end = reservation.end.load(Ordering::Acquire);
        // Relaxed: read after `end`, and they do not change.
        let start = reservation.start.load(Ordering::Relaxed);
        let size = reservation.size.load(Ordering::Relaxed);
        if !(start..end).contains(&address) {
            return None;
        }
        let slot = slot(size);
        let in_slot = (address - start) % slot;
        (in_slot < GUARD).then(|| (address - in_slot + slot, size))
    })
}

const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];
/// Who handled them before.
static BEFORE: [OnceLock<libc::sigaction>; 2] = [const { OnceLock::new() }; 2];

/// Has this process handle faults here. May be called again.
pub(super) fn handle() {
    for (signal, kept) in SIGNALS.into_iter().zip(&BEFORE) {
        // SAFETY: all zeros are an action.
        let mut before: libc::sigaction = unsafe { mem::zeroed() };
        // SAFETY: asks for the action that is there.
        unsafe { libc::sigaction(signal, ptr::null(), &raw mut before) };
        kept.get_or_init(|| before);
        let mut own = before;
        own.sa_sigaction = on_fault as *const () as usize;
        own.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | before.sa_flags & libc::SA_NODEFER;
        // SAFETY: the handler is async-signal-safe.
        unsafe { libc::sigaction(signal, &raw const own, ptr::null_mut()) };
    }
}

/// Sent by the kernel, for what has no address: that it could not call a handler, say.
const SI_KERNEL: c_int = 0x80;

/// The lowest address to which the system would save what it interrupted, to call a handler there; 0 on processors whose
/// registers are not known here. Async-signal-safe.
fn lowest_saved(context: *mut c_void) -> usize {
    // SAFETY: the system gives what it interrupted.
    let context = unsafe { &*context.cast::<libc::ucontext_t>() };
    #[cfg(target_arch = "x86_64")]
    let top = context.uc_mcontext.gregs[libc::REG_RSP as usize] as usize;
    #[cfg(target_arch = "aarch64")]
    let top = context.uc_mcontext.sp as usize;
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let top = {
        let _ = context;
        0_usize
    };
    // SAFETY: reads what the system has told the process at its start.
    let saved = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize;
    // Where the system does not tell, it is an old one; a function may use 128 bytes below its stack besides.
    top.saturating_sub(saved.max(2_048) + 128)
}

extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system gives the signal's information.
    let told = unsafe { &*info };
    let is_fault = told.si_code > 0;
    // SAFETY: a fault has an address, and what has none has another value there.
    let address = unsafe { told.si_addr() }.addr();
    // A handler of another signal had no room on the stack. (So a fault for another reason that has no address, a pointer
    // that is none, is taken for an overflow where less is left of the stack than such a handler needs.)
    let address = match told.si_code == SI_KERNEL && address == 0 {
        true => lowest_saved(context),
        false => address,
    };
    if is_fault && let Some((edge, size)) = overflowed(address) {
        // SAFETY: a stack that is used has a label, which stays as long as it does; in one that is not there may be
        // zeros, of which the label is one without a place.
        let label = unsafe { &*ptr::with_exposed_provenance::<Label>(edge - Label::PLACE) };
        end_process(label, size);
    }
    let at = SIGNALS.iter().position(|own| *own == signal);
    let Some(before) = at.and_then(|at| BEFORE[at].get()) else {
        return;
    };
    match before.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN => {
            // What faulted does so again, and the system does what it does of itself.
            // SAFETY: an action that the system has given.
            unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: the flag says that this is its type.
            let handler = unsafe {
                mem::transmute::<usize, extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void)>(
                    handler,
                )
            };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: without the flag this is its type.
            let handler = unsafe { mem::transmute::<usize, extern "C" fn(c_int)>(handler) };
            handler(signal);
        }
    }
}

/// Says which fiber it is, and ends the process. Async-signal-safe.
fn end_process(label: &Label, size: usize) -> ! {
    let mut text = Text {
        bytes: [0; 512],
        len: 0,
    };
    let name = label.name();
    let (open, close) = if name.is_empty() {
        ("", "")
    } else {
        ("`", "` ")
    };
    // What does not fit is left out.
    let _ = write!(
        text,
        "\ngossamer: the fiber {open}{name}{close}spawned at {} has overflowed its stack of {size} bytes: give it a larger \
         one (Fibers::stack_size, TaskBuilder::stack_size)\n",
        label
            .spawned
            .map_or(&"an unknown place" as &dyn fmt::Display, |spawned| spawned)
    );
    // SAFETY: the text is so long. If the write fails, there is nowhere left to say it.
    unsafe { libc::write(libc::STDERR_FILENO, text.bytes.as_ptr().cast(), text.len) };
    // SAFETY: ends the process.
    unsafe { libc::abort() }
}

/// A text that needs no memory.
struct Text {
    bytes: [u8; 512],
    len: usize,
}

impl Write for Text {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let place = &mut self.bytes[self.len..];
        let len = more.len().min(place.len());
        place[..len].copy_from_slice(&more.as_bytes()[..len]);
        self.len += len;
        Ok(())
    }
}

/// A thread's alternative stack, if it is ours: goes with the thread.
struct Alternative(Cell<*mut c_void>);

/// The size of such a stack, in bytes: the handler above needs less than one, and another one is called from it.
const ALTERNATIVE: usize = 64 << 10;

thread_local! {
    static ALTERNATIVE_HERE: Alternative = const { Alternative(Cell::new(ptr::null_mut())) };
}

impl Drop for Alternative {
    fn drop(&mut self) {
        if self.0.get().is_null() {
            return;
        }
        let none = libc::stack_t {
            ss_sp: ptr::null_mut(),
            ss_flags: libc::SS_DISABLE,
            ss_size: ALTERNATIVE,
        };
        // SAFETY: the thread ends here. If it does so in a handler, that runs on this stack, and the system refuses it.
        if unsafe { libc::sigaltstack(&raw const none, ptr::null_mut()) } == 0 {
            // SAFETY: mapped below, and used no more.
            unsafe { libc::munmap(self.0.get(), ALTERNATIVE) };
        }
    }
}

/// A fiber begins on this thread: it has an alternative stack from now on, if the system grants one.
pub(crate) fn watch_thread() {
    // SAFETY: all zeros are a description of a stack.
    let mut here: libc::stack_t = unsafe { mem::zeroed() };
    // SAFETY: asks for what is there.
    unsafe { libc::sigaltstack(ptr::null(), &raw mut here) };
    if here.ss_flags & libc::SS_DISABLE == 0 {
        return;
    }
    let (access, flags) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK,
    );
    // SAFETY: a new mapping, wherever the system likes.
    let start = unsafe { libc::mmap(ptr::null_mut(), ALTERNATIVE, access, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return;
    }
    let own = libc::stack_t {
        ss_sp: start,
        ss_flags: 0,
        ss_size: ALTERNATIVE,
    };
    // SAFETY: memory of this thread's own, as long as it lives.
    unsafe { libc::sigaltstack(&raw const own, ptr::null_mut()) };
    let _kept = ALTERNATIVE_HERE.try_with(|alternative| alternative.0.set(start));
}

#[cfg(test)]
mod tests;
