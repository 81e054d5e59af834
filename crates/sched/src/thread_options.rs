//! How the threads of a runtime are made.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use gossamer_core::panics;
use gossamer_core::platform::start_thread;

/// The smallest stack of a thread, in bytes.
const STACK_MIN: usize = 64 << 10;
/// The largest one: what an object in memory can have.
const STACK_MAX: usize = isize::MAX as usize;

/// The names and the stacks of the threads of a runtime; as they come, unless told otherwise.
#[derive(Clone, Default)]
pub struct ThreadOptions {
    name: Option<Arc<dyn Fn() -> String + Send + Sync>>,
    stack_size: Option<usize>,
}

impl ThreadOptions {
    /// Has `name` give each thread its name.
    pub fn set_name(&mut self, name: impl Fn() -> String + Send + Sync + 'static) {
        self.name = Some(Arc::new(name));
    }

    /// Gives each thread a stack of so many bytes.
    pub fn set_stack_size(&mut self, bytes: usize) {
        self.stack_size = Some(bytes);
    }

    /// # Errors
    /// No stack is so small or so large.
    pub fn check(&self) -> io::Result<()> {
        match self.stack_size {
            Some(bytes) if !(STACK_MIN..=STACK_MAX).contains(&bytes) => {
                let text =
                    format!("a stack of {bytes} bytes: a thread has {STACK_MIN} to {STACK_MAX}");
                Err(io::Error::new(io::ErrorKind::InvalidInput, text))
            }
            _ => Ok(()),
        }
    }

    /// Starts a thread, with this name unless it has been told another.
    ///
    /// # Errors
    /// The system grants no thread; or there is no name to be had.
    pub(crate) fn start(
        &self,
        usual: &str,
        body: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        let Some(name) = &self.name else {
            return start_thread(usual, self.stack_size, body);
        };
        let name = catch_unwind(AssertUnwindSafe(|| name())).map_err(|payload| {
            panics::swallow(payload);
            io::Error::other("the function that names the threads has panicked")
        })?;
        if name.contains('\0') {
            let text = format!("a thread's name has a zero byte: {name:?}; take it out");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        start_thread(&name, self.stack_size, body)
    }
}

gossamer_core::impl_debug!([] ThreadOptions[], this => stack_size: this.stack_size);
