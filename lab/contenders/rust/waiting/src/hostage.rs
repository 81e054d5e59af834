//! Tasks that are held up and hold up who runs them, and a ticker beside them.

use std::io::Read;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::Lateness;
use crate::fault;

/// So many ticks are made before anybody is held up.
const BEFORE: usize = 50;
/// For so long the ticker goes on.
const AFTER: Duration = Duration::from_millis(450);

#[derive(Debug, Clone, Copy)]
enum By {
    Read,
    Spin,
    Fault,
}

/// What was asked for, and who is back.
#[derive(Debug)]
pub struct Hostages {
    by: By,
    /// How many.
    pub count: u64,
    stuck: Duration,
    /// How often each is held up.
    pub times: u64,
    back: AtomicU64,
    problem: Mutex<Option<String>>,
}

impl Hostages {
    /// For as long as the process lives.
    ///
    /// # Errors
    /// There is no such way to hold somebody up.
    pub fn of(
        by: &str,
        count: u64,
        stuck_ms: u64,
        times: u64,
    ) -> Result<&'static Hostages, String> {
        let by = match by {
            "read" => By::Read,
            "spin" => By::Spin,
            "fault" => By::Fault,
            other => return Err(format!("--by {other}: expected read, spin, fault")),
        };
        Ok(Box::leak(Box::new(Hostages {
            by,
            count,
            stuck: Duration::from_millis(stuck_ms),
            times,
            back: AtomicU64::new(0),
            problem: Mutex::new(None),
        })))
    }

    /// Holds up the calling thread once.
    pub fn hold(&self) {
        let held = match self.by {
            By::Read => read(self.stuck),
            By::Spin => {
                spin(self.stuck);
                Ok(())
            }
            By::Fault => fault::hold(self.stuck),
        };
        if let Err(error) = held
            && let Ok(mut problem) = self.problem.lock()
        {
            *problem = Some(error.to_string());
        }
    }

    /// A task has been held up for the last time.
    pub fn is_back(&self) {
        self.back.fetch_add(1, Ordering::AcqRel);
    }

    /// Ticks, lets `begin` start the tasks after a while, and goes on until all are back and a while longer.
    pub async fn tick<S: Future>(
        &self,
        sleep: impl Fn(Duration) -> S,
        begin: impl FnOnce(),
    ) -> Lateness {
        let mut lateness = Lateness::new();
        while lateness.ticks() < BEFORE {
            lateness.tick(&sleep).await;
        }
        begin();
        let until = Instant::now() + self.stuck * u32::try_from(self.times).unwrap_or(1) + AFTER;
        while Instant::now() < until || self.back.load(Ordering::Acquire) < self.count {
            lateness.tick(&sleep).await;
        }
        lateness
    }

    /// Says how late the ticker was; the answer for the lab.
    ///
    /// # Errors
    /// Somebody could not be held up.
    pub fn answer(&self, lateness: Lateness) -> Result<u64, String> {
        if let Some(problem) = self.problem.lock().map_err(|e| e.to_string())?.take() {
            return Err(problem);
        }
        eprintln!("{}", lateness.line());
        Ok(self.back.load(Ordering::Acquire))
    }
}

/// Reads from a pipe to which a thread writes when the time is over.
fn read(time: Duration) -> std::io::Result<()> {
    let (mut reader, writer) = std::io::pipe()?;
    std::thread::Builder::new()
        .stack_size(64 << 10)
        .spawn(move || {
            std::thread::sleep(time);
            let _ = std::io::Write::write_all(&mut { writer }, b"x");
        })?;
    reader.read_exact(&mut [0])
}

/// Looks at the clock.
fn spin(time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}
