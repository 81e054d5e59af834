//! A million timers that are far away: what they cost while nothing is due.
//!
//! `cargo run --release -p gossamer-rt --example million_timers`

use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use gossamer::{Model, Runtime, time};

const TIMERS: u64 = 1_000_000;
const WHILE: Duration = Duration::from_millis(200);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rt = Runtime::builder().model(Model::Single).build()?;
    rt.block_on(async {
        let began = Instant::now();
        let hour = Duration::from_secs(3600);
        let mut timers: Vec<_> = (0..TIMERS)
            .map(|number| time::sleep(hour + Duration::from_micros(number)))
            .map(Box::pin)
            .collect();
        // A timer registers when it is polled first.
        let mut nobody = Context::from_waker(Waker::noop());
        let pending = timers
            .iter_mut()
            .filter_map(|timer| Pin::new(timer).poll(&mut nobody).is_pending().then_some(()));
        println!("{} timers are pending", pending.count());
        eprintln!("made in {:?}", began.elapsed());

        // The driver dates them when it looks first.
        time::sleep(Duration::from_millis(1)).await;
        let before = cpu_time();
        time::sleep(WHILE).await;
        let used = cpu_time() - before;
        println!("idle: {}", used < WHILE / 10);
        eprintln!("{used:?} of processor time in {WHILE:?}");

        let began = Instant::now();
        drop(timers);
        eprintln!("cancelled in {:?}", began.elapsed());
    });
    Ok(())
}

/// The processor time that this process has used.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}
