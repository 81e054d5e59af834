//! How long a test waits for what should come: in time that the machine had for it, so that a loaded one is no failure.
//!
//! While all threads sleep, of this process and of those that it has started, time passes as it does on the wall: then
//! nothing will come. While they run, or would like to, only so much of it passes as they ran of what they wanted to.
//! (Where the system does not say that, all of it passes.)
//!
//! Used by the tests of several crates, each of which has it as a module.

use std::collections::HashMap;
use std::fs;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Between two looks.
const TICK: Duration = Duration::from_millis(250);

/// Of the time between two looks, the part in which threads ran or wanted to: with less they count as asleep.
const ASLEEP: u32 = 10;

/// What is left of a limit.
pub(crate) struct Patience {
    left: Duration,
    looked: Instant,
    /// `None`: there was no need to look, as most waits are short.
    seen: Option<Threads>,
}

impl Patience {
    /// As much as this.
    pub(crate) fn new(limit: Duration) -> Self {
        Self {
            left: limit,
            looked: Instant::now(),
            seen: None,
        }
    }

    /// Whether nothing is left.
    pub(crate) fn is_over(&mut self) -> bool {
        let passed = self.looked.elapsed();
        if passed >= TICK {
            let now = Threads::look();
            let counts = self.seen.as_ref().map_or(passed, |seen| {
                let (ran, waited) = now.since(seen);
                counted(passed, ran, waited)
            });
            self.left = self.left.saturating_sub(counts);
            (self.looked, self.seen) = (Instant::now(), Some(now));
        }
        self.left.is_zero()
    }

    /// Receives, unless that takes too long.
    #[allow(dead_code, reason = "not everybody who waits has a channel")]
    pub(crate) fn recv<T>(mut self, from: &Receiver<T>) -> Result<T, RecvTimeoutError> {
        loop {
            match from.recv_timeout(TICK) {
                Err(RecvTimeoutError::Timeout) if !self.is_over() => {}
                received => return received,
            }
        }
    }
}

/// Waits until all threads have slept for so long on end.
#[allow(dead_code, reason = "one in each process is enough")]
pub(crate) fn until_asleep_for(limit: Duration) {
    let (_stays, never) = std::sync::mpsc::channel::<()>();
    let (mut slept, mut seen) = (Duration::ZERO, Threads::look());
    while slept < limit {
        let began = Instant::now();
        let _timeout = never.recv_timeout(TICK);
        let now = Threads::look();
        let (ran, waited) = now.since(&seen);
        let passed = began.elapsed();
        slept = match ran + waited < passed / ASLEEP {
            true => slept + passed,
            false => Duration::ZERO,
        };
        seen = now;
    }
}

/// How much counts of a time in which all threads together ran, and waited for a processor, so long.
pub(crate) fn counted(passed: Duration, ran: Duration, waited: Duration) -> Duration {
    let wanted = ran + waited;
    if wanted < passed / ASLEEP {
        return passed;
    }
    passed.mul_f64(ran.as_secs_f64() / wanted.as_secs_f64())
}

/// For each thread, how long it has run and waited for a processor.
struct Threads(HashMap<String, (Duration, Duration)>);

impl Threads {
    fn look() -> Self {
        let mut threads = HashMap::new();
        let mut processes = vec!["self".to_owned()];
        while let Some(process) = processes.pop() {
            let tasks = fs::read_dir(format!("/proc/{process}/task"));
            for task in tasks.into_iter().flatten().flatten() {
                let read = |name| fs::read_to_string(task.path().join(name)).unwrap_or_default();
                processes.extend(read("children").split_whitespace().map(str::to_owned));
                let said = read("schedstat");
                let mut times = said.split(' ').map_while(|number| number.parse().ok());
                if let (Some(ran), Some(waited)) = (times.next(), times.next()) {
                    let times = (Duration::from_nanos(ran), Duration::from_nanos(waited));
                    threads.insert(task.file_name().to_string_lossy().into_owned(), times);
                }
            }
        }
        Self(threads)
    }

    /// How long all have run and waited since an earlier look.
    fn since(&self, before: &Self) -> (Duration, Duration) {
        let mut all = (Duration::ZERO, Duration::ZERO);
        for (thread, (ran, waited)) in &self.0 {
            let (ran_before, waited_before) = before.0.get(thread).copied().unwrap_or_default();
            all.0 += ran.saturating_sub(ran_before);
            all.1 += waited.saturating_sub(waited_before);
        }
        all
    }
}
