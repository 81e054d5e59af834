//! A page fault that takes as long as one wishes: the page's faults are handled by a thread of ours, which takes its
//! time. That stands for a page that comes from a slow disk or another machine, and needs no privileges (Linux 5.11).

use std::io::{Error, Result};
use std::time::Duration;

#[cfg(not(target_os = "linux"))]
pub(crate) fn hold(_time: Duration) -> Result<()> {
    Err(Error::other(
        "a page fault cannot be made to wait: only Linux has userfaultfd",
    ))
}

#[cfg(target_os = "linux")]
pub(crate) use linux::hold;

#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

    use super::{Duration, Error, Result};

    /// `UFFD_USER_MODE_ONLY`: faults of the kernel are not ours, for which everybody may ask.
    const USER_MODE_ONLY: libc::c_int = 1;
    /// `UFFDIO_API`, `UFFDIO_REGISTER` and `UFFDIO_ZEROPAGE` of `linux/userfaultfd.h`.
    const API: libc::c_ulong = 0xc018_aa3f;
    const REGISTER: libc::c_ulong = 0xc020_aa00;
    const ZEROPAGE: libc::c_ulong = 0xc020_aa04;
    const VERSION: u64 = 0xaa;
    const MODE_MISSING: u64 = 1;

    /// Touches a page that a thread brings when the time is over.
    pub(crate) fn hold(time: Duration) -> Result<()> {
        let page = Page::new()?;
        let handler = handler()?;
        let mut range = [page.at as u64, page.size as u64, MODE_MISSING, 0];
        asked(&handler, REGISTER, &mut range)?;
        let answering = std::thread::Builder::new()
            .stack_size(64 << 10)
            .spawn(move || {
                std::thread::sleep(time);
                asked(&handler, ZEROPAGE, &mut [range[0], range[1], 0, 0])
            })?;
        page.touch();
        // What is registered goes with the handler, which the thread has.
        let answered = answering.join();
        answered.unwrap_or_else(|_| Err(Error::other("the thread that brings the page panicked")))
    }

    fn handler() -> Result<OwnedFd> {
        // SAFETY: the call takes flags only.
        let number =
            unsafe { libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | USER_MODE_ONLY) };
        let number = i32::try_from(number).map_err(Error::other)?;
        if number < 0 {
            let error = Error::last_os_error();
            return Err(Error::other(format!(
                "no page fault can be made to wait: userfaultfd: {error}"
            )));
        }
        // SAFETY: it is open and nobody else has it.
        let handler = unsafe { OwnedFd::from_raw_fd(number) };
        asked(&handler, API, &mut [VERSION, 0, 0])?;
        Ok(handler)
    }

    fn asked<const WORDS: usize>(
        handler: &OwnedFd,
        request: libc::c_ulong,
        words: &mut [u64; WORDS],
    ) -> Result<()> {
        // SAFETY: each of the three requests takes a structure of as many words as its callers give.
        let status = unsafe { libc::ioctl(handler.as_raw_fd(), request, words.as_mut_ptr()) };
        if status < 0 {
            return Err(Error::last_os_error());
        }
        Ok(())
    }

    /// A page that is not there yet.
    struct Page {
        at: *mut u8,
        size: usize,
    }

    impl Page {
        fn new() -> Result<Page> {
            // SAFETY: a question.
            let size = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) })
                .map_err(Error::other)?;
            let (protection, flags) = (
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            );
            // SAFETY: a new mapping, wherever the system likes.
            let at = unsafe { libc::mmap(std::ptr::null_mut(), size, protection, flags, -1, 0) };
            if at == libc::MAP_FAILED {
                return Err(Error::last_os_error());
            }
            Ok(Page {
                at: at.cast(),
                size,
            })
        }

        /// Waits, in this instruction, until the page is there.
        fn touch(&self) {
            // SAFETY: within the mapping.
            unsafe { self.at.read_volatile() };
        }
    }

    impl Drop for Page {
        fn drop(&mut self) {
            // SAFETY: ours, and nobody else refers to it.
            unsafe { libc::munmap(self.at.cast(), self.size) };
        }
    }
}
