//! How late a ticker was, each time.

use std::time::{Duration, Instant};

/// Between a wake-up and the next deadline.
const TICK: Duration = Duration::from_millis(1);

/// All ticks so far.
#[derive(Debug, Default)]
pub struct Lateness {
    late: Vec<Duration>,
    os_threads_max: u64,
}

impl Lateness {
    /// Room for many ticks, so that none has to make it.
    pub(crate) fn new() -> Lateness {
        Lateness {
            late: Vec::with_capacity(100_000),
            os_threads_max: os_threads().unwrap_or(0),
        }
    }

    /// Sleeps once; the deadline counts from now on, so that one long hole is one late tick.
    pub(crate) async fn tick<S: Future>(&mut self, sleep: impl Fn(Duration) -> S) {
        let deadline = Instant::now() + TICK;
        sleep(TICK).await;
        self.late.push(deadline.elapsed());
        if self.late.len().is_multiple_of(16) {
            self.os_threads_max = self.os_threads_max.max(os_threads().unwrap_or(0));
        }
    }

    pub(crate) fn ticks(&self) -> usize {
        self.late.len()
    }

    /// The line for the lab.
    pub(crate) fn line(mut self) -> String {
        self.late.sort_unstable();
        let at = |share: f64| {
            let place = (self.late.len() as f64 * share).ceil() as usize;
            let late = self.late.get(place.max(1) - 1).copied();
            late.unwrap_or_default().as_secs_f64() * 1e3
        };
        let mut line = format!(
            "figures: ticks={} late_ms_p50={:.4} late_ms_p99={:.4} late_ms_max={:.4}",
            self.late.len(),
            at(0.5),
            at(0.99),
            at(1.0)
        );
        if self.os_threads_max > 0 {
            line += &format!(" os_threads_max={}", self.os_threads_max);
        }
        line
    }
}

/// How many threads the kernel sees in this process.
fn os_threads() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Threads:"))?;
    line.trim().parse().ok()
}
