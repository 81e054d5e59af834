//! Many tasks at one object, over and over, until the time is over: what they share but the object itself.
//!
//! A task passes through the object, and counts a *turn* if the time was not over then; else it ends. So what the object
//! has counted is all turns and one more pass a task, exactly.

use std::fs::read_to_string;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A read-write lock is written to in one of so many passes of a task, and read in the others.
const WRITE_EVERY: u64 = 8;
/// A semaphore has so many permits.
pub const PERMITS: u32 = 4;
/// The processor time of `/proc/self/stat` is in hundredths of a second, on every Linux.
const TICK_NS: u64 = 10_000_000;

/// What was asked for, and how far it is.
#[derive(Debug)]
pub struct Crowd {
    /// How many tasks.
    pub tasks: u64,
    time: Duration,
    arrived: AtomicU64,
    is_over: AtomicBool,
}

/// What a semaphore guards: how many tasks have a permit, in the lowest byte, and above it how many have had one.
#[derive(Debug, Default)]
pub struct Inside(AtomicU64);

impl Inside {
    /// Counts a task that has a permit.
    ///
    /// # Panics
    /// Too many have one.
    pub fn pass(&self) {
        let before = self.0.fetch_add(1 << 8 | 1, Ordering::Relaxed) & 0xff;
        assert!(before < u64::from(PERMITS), "{before} tasks had a permit");
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// How often.
    pub fn passes(&self) -> u64 {
        self.0.load(Ordering::Relaxed) >> 8
    }
}

/// What the clocks said of the time that counts.
#[derive(Debug)]
pub struct Measured {
    wall_ns: u64,
    cpu_ns: u64,
}

impl Crowd {
    /// For as long as the process lives.
    pub fn of(tasks: u64, ms: u64) -> &'static Crowd {
        Box::leak(Box::new(Crowd {
            tasks,
            time: Duration::from_millis(ms),
            arrived: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        }))
    }

    /// A task's life: it arrives, and passes through the object until the time is over. `pass` is given the number of
    /// the pass; the passes of task k begin with k, so that not all tasks do the same at the same time.
    ///
    /// # Returns
    /// Its turns.
    pub async fn turns<F: Future<Output = ()>>(
        &self,
        task: u64,
        mut pass: impl FnMut(u64) -> F,
    ) -> u64 {
        self.arrived.fetch_add(1, Ordering::AcqRel);
        let mut turns = 0;
        loop {
            pass(task + turns).await;
            if self.is_over.load(Ordering::Relaxed) {
                return turns;
            }
            turns += 1;
        }
    }

    /// Whether a read-write lock is written to in this pass.
    pub fn writes(pass: u64) -> bool {
        pass.is_multiple_of(WRITE_EVERY)
    }

    /// How often a task of these turns has written.
    fn written(task: u64, turns: u64) -> u64 {
        (task + turns + 1).div_ceil(WRITE_EVERY) - task.div_ceil(WRITE_EVERY)
    }

    /// Blocks the thread until all tasks have arrived at the object, which `open` opens then, and until the time is over.
    ///
    /// # Errors
    /// The system does not say how much processor time the process has had.
    pub fn measure(&self, open: impl FnOnce()) -> Result<Measured, String> {
        while self.arrived.load(Ordering::Acquire) < self.tasks {
            std::thread::sleep(Duration::from_millis(1));
        }
        let (began, cpu_before) = (Instant::now(), cpu_ns()?);
        open();
        std::thread::sleep(self.time);
        self.is_over.store(true, Ordering::Relaxed);
        Ok(Measured {
            wall_ns: began.elapsed().as_nanos() as u64,
            cpu_ns: cpu_ns()? - cpu_before,
        })
    }

    /// Says the figures; the answer for the lab: how many tasks there were. `counted` is what the object has counted: all
    /// passes, or with `written` those that wrote.
    ///
    /// # Errors
    /// The object has counted something else than the tasks did.
    pub fn answer(
        &self,
        measured: &Measured,
        mut turns: Vec<u64>,
        counted: u64,
        written: bool,
    ) -> Result<u64, String> {
        let of_task = |(task, turns): (u64, &u64)| match written {
            true => Self::written(task, *turns),
            false => turns + 1,
        };
        let passes: u64 = (0..).zip(&turns).map(of_task).sum();
        if passes != counted {
            return Err(format!(
                "the object counted {counted} passes, its tasks {passes}"
            ));
        }
        let all: u64 = turns.iter().sum();
        turns.sort_unstable();
        let each = |ns: u64| ns as f64 / all.max(1) as f64;
        eprintln!(
            "figures: ns_per_turn={:.2} cpu_ns_per_turn={:.2} mturns_per_s={:.4} turns_min={} turns_median={} turns_max={}",
            each(measured.wall_ns),
            each(measured.cpu_ns),
            all as f64 * 1e3 / measured.wall_ns as f64,
            turns.first().copied().unwrap_or(0),
            turns.get(turns.len() / 2).copied().unwrap_or(0),
            turns.last().copied().unwrap_or(0),
        );
        Ok(turns.len() as u64)
    }
}

/// The processor time of all threads of this process.
fn cpu_ns() -> Result<u64, String> {
    let file = "/proc/self/stat";
    let text = read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    // Behind the name of the program, which is in parentheses: the state, and eleven fields later user and system time.
    let behind = text.rsplit(')').next().unwrap_or_default();
    let times = behind.split_whitespace().skip(11).take(2);
    let times: Vec<u64> = times.filter_map(|time| time.parse().ok()).collect();
    match times[..] {
        [user, system] => Ok((user + system) * TICK_NS),
        _ => Err(format!("{file}: no processor times in '{text}'")),
    }
}
