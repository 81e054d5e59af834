//! Waiting for another thread that is at work for a short time, such as a visit of a shard, or under a lock.

use super::thread;

/// Times that the processor is given up before the first sleep.
const YIELDS_MAX: u32 = 64;
/// How long a sleep is.
#[cfg(not(any(loom, shuttle)))]
const SLEEP: std::time::Duration = std::time::Duration::from_micros(50);

/// Gives the processor up, again and again; then sleeps, as the other thread may have a lower priority. In models it
/// only yields.
#[derive(Debug, Default)]
pub struct Backoff(u32);

impl Backoff {
    /// Nobody has been waited for so far.
    #[must_use]
    pub fn new() -> Self {
        Self(0)
    }

    /// Waits a little.
    #[cold]
    pub fn wait(&mut self) {
        if self.0 < YIELDS_MAX {
            self.0 += 1;
            return thread::yield_now();
        }
        #[cfg(not(any(loom, shuttle)))]
        thread::sleep(SLEEP);
        #[cfg(any(loom, shuttle))]
        thread::yield_now();
    }
}
