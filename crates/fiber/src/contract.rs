//! The promise that a program makes to have fibers.

use std::io;

/// The promise that a program makes to have fibers: see [`Fibers::contract`]. Make it once, at the beginning of the
/// program, and give it to each builder that is to have fibers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fibers {
    stack_size: usize,
}

/// The smallest stack of a fiber, in bytes.
const STACK_MIN: usize = 16 << 10;
const STACK_USUAL: usize = 256 << 10;
/// The largest one: what an object in memory can have.
const STACK_MAX: usize = isize::MAX as usize;

impl Fibers {
    /// Promises that the program's code bears fibers.
    ///
    /// A call in a thread returns before the code around it goes on, and safe code with thread-locals can rely on that for
    /// its soundness. A fiber that stands still has not returned, and other fibers run on its thread meanwhile, which end
    /// in any order. Most code does not mind; no compiler or check finds the code that does. Only the author of the whole
    /// program can know that there is none, so this is made once, at its beginning. A runtime without fibers needs no
    /// promise.
    ///
    /// # Safety
    /// No code that a fiber of the program may run, dependencies included, has the fiber wait
    ///
    /// * while it uses a thread-local like a stack, if its soundness needs that. `scoped_tls` does: its `set` puts a pointer
    ///   into a thread-local, calls a closure, and puts the former pointer back; so that closure must not wait. (A span of
    ///   a log may be told wrong by a wait, but nothing unsound comes of it: that is allowed.)
    /// * in the initialiser of a `thread_local!`. Another fiber that uses the thread-local meanwhile initialises it too, and
    ///   has a reference to a value that the first one then replaces.
    ///
    /// A fiber waits by [`.wait()`](gossamer_core::wait::Wait::wait) and at the end of a scope.
    ///
    /// Where the C library is not glibc, or with `--cfg gossamer_portable`, the program promises too that a thread which the runtime has not started ends
    /// after the fibers that began on it. (Elsewhere the thread ends them, before its thread-locals go.)
    ///
    /// # Examples
    /// ```
    /// use gossamer::Fibers;
    ///
    /// // SAFETY: no code here, nor in the dependencies, waits while it uses a thread-local like a stack, or initialises one.
    /// const FIBERS: Fibers = unsafe { Fibers::contract() };
    /// ```
    pub const unsafe fn contract() -> Self {
        Self {
            stack_size: STACK_USUAL,
        }
    }

    /// Gives each fiber a stack of so many bytes, from 16 KiB; 256 KiB unless told otherwise. On Linux it is the next power
    /// of two. Only those bytes that are used cost memory.
    ///
    /// A stack that does not suffice ends the process: on Linux with a message that names the fiber, the line that spawned
    /// it, and the size of its stack, whichever code used it up, also C whose functions need up to 64 KiB each. (So it is
    /// unless the program takes `SIGSEGV` after its first fiber.)
    ///
    /// Stacks are used again. On Linux 1,024 unused ones of a size keep their memory, or 256 MiB of them if that is fewer;
    /// that of others goes back to the system, and their addresses stay reserved. Before Linux 6.13 each is two mappings,
    /// of which a process has 65,530 (`vm.max_map_count`).
    ///
    /// # Examples
    /// ```
    /// use gossamer::{Fibers, Runtime, Wait};
    ///
    /// // SAFETY: no code here, nor in the dependencies, waits while it uses a thread-local like a stack, or initialises one.
    /// const FIBERS: Fibers = unsafe { Fibers::contract() }.stack_size(1 << 20);
    ///
    /// let rt = Runtime::builder().fibers(FIBERS).build()?;
    /// assert_eq!(rt.spawn_fiber(|| 1).wait()?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn stack_size(self, bytes: usize) -> Self {
        Self { stack_size: bytes }
    }

    /// Gives the size of a stack.
    ///
    /// # Errors
    /// The promise was not made; or no stack is so small or so large.
    #[doc(hidden)]
    pub fn check(promised: Option<Self>) -> io::Result<usize> {
        let promised = match gossamer_core::mutant!("fibers_without_promise") {
            true => promised.or(Some(Self {
                stack_size: STACK_USUAL,
            })),
            false => promised,
        };
        if let Some(Self { stack_size }) = promised {
            if (STACK_MIN..=STACK_MAX).contains(&stack_size) {
                return Ok(stack_size);
            }
            let text =
                format!("a stack of {stack_size} bytes: a fiber has {STACK_MIN} to {STACK_MAX}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let text = "fibers need a promise about the program's use of thread-locals: read what `Fibers::contract` says, \
                    and give it to the builder, `.fibers(unsafe { Fibers::contract() })`";
        Err(io::Error::new(io::ErrorKind::Unsupported, text))
    }
}
