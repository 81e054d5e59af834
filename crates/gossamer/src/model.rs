//! The threading model, as a value.

use std::fmt;
use std::str::FromStr;

use gossamer_core::platform::thread;
use gossamer_sched::WORKERS_MAX;

/// The threading model: which threads run the tasks.
///
/// The default, of [`Runtime::builder`](crate::Runtime::builder), [`main`](macro@crate::main) and
/// [`test`](macro@crate::test), is [`Model::pool`]: one worker for each processor.
///
/// A program gets it from its arguments: `"single"`, `"pool"`, `"pool:4"` and `"threads"` parse.
///
/// ```
/// use gossamer::Model;
///
/// assert_eq!("pool:4".parse(), Ok(Model::Pool { workers: 4 }));
/// assert_eq!("pool".parse(), Ok(Model::default()));
/// let error = "pool:none".parse::<Model>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     r#""pool:none" is no threading model: expected single, pool, pool:N (N from 1 to 1024), or threads"#
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Model {
    /// M:1: all tasks run on the thread that waits for them; no thread is started.
    Single,
    /// M:N: tasks run on `workers` worker threads.
    Pool {
        /// 1 to 1,024.
        workers: usize,
    },
    /// 1:1: each task is an OS thread of its own.
    Threads,
}

impl Model {
    /// A pool with as many workers as the machine grants this process: its processors, less what the
    /// affinity mask and the quotas of its control groups (also the outer ones) withhold; 1 if the system does
    /// not say.
    pub fn pool() -> Self {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        Self::Pool {
            workers: workers.min(WORKERS_MAX),
        }
    }
}

impl Default for Model {
    fn default() -> Self {
        Self::pool()
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single => f.write_str("single"),
            Self::Pool { workers } => write!(f, "pool:{workers}"),
            Self::Threads => f.write_str("threads"),
        }
    }
}

/// A text that names no model.
#[derive(Clone, PartialEq, Eq)]
pub struct ParseModelError(String);

impl fmt::Display for ParseModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is no threading model: expected single, pool, pool:N (N from 1 to {WORKERS_MAX}), or threads",
            self.0
        )
    }
}

gossamer_core::impl_debug_as_display!([] ParseModelError[]);

impl std::error::Error for ParseModelError {}

impl FromStr for Model {
    type Err = ParseModelError;

    fn from_str(text: &str) -> Result<Self, ParseModelError> {
        match text {
            "single" => Ok(Self::Single),
            "pool" => Ok(Self::pool()),
            "threads" => Ok(Self::Threads),
            _ => text
                .strip_prefix("pool:")
                .and_then(|workers| workers.parse().ok())
                .filter(|workers| (1..=WORKERS_MAX).contains(workers))
                .map(|workers| Self::Pool { workers })
                .ok_or_else(|| ParseModelError(text.to_owned())),
        }
    }
}
