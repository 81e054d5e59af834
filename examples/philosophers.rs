//! Dining philosophers: a program that hangs now and then, the simulation that finds out why, and the mended program.
//!
//! ```sh
//! cargo run -p gossamer-rt --example philosophers
//! cargo test -p gossamer-rt philosophers
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use gossamer::sync::Mutex;
use gossamer::time::timeout;
use gossamer::{Handle, JoinSet, sim};

const NAMES: [&str; 3] = ["Hypatia", "Diotima", "Aspasia"];

/// The two forks beside a seat, in the order in which its philosopher takes them.
type Manners = fn(seat: usize) -> [usize; 2];

/// Each takes the fork on the left first: a circle, in which all may have one fork and wait for the other.
fn left_first(seat: usize) -> [usize; 2] {
    [seat, (seat + 1) % NAMES.len()]
}

/// Each takes the fork with the lower number first: who has the highest one waits for nobody.
fn lower_first(seat: usize) -> [usize; 2] {
    let mut forks = left_first(seat);
    forks.sort_unstable();
    forks
}

/// One dinner; how many have eaten. It knows nothing of simulations.
async fn dine(manners: Manners) -> u32 {
    let forks = Arc::new(NAMES.map(|_| Mutex::new(())));
    let meals = Arc::new(AtomicU32::new(0));
    let mut table = JoinSet::new();
    for (seat, name) in NAMES.into_iter().enumerate() {
        let (forks, meals) = (forks.clone(), meals.clone());
        let philosopher = async move {
            let [first, second] = manners(seat);
            let _first = forks[first].lock().await;
            let _second = forks[second].lock().await;
            meals.fetch_add(1, Ordering::Relaxed);
        };
        table.push(Handle::current().task().name(name).spawn(philosopher));
    }
    while let Some(left) = table.join_next().await {
        left.expect("no philosopher panics");
    }
    meals.load(Ordering::Relaxed)
}

/// In production: dinners on all processors, until one hangs. It may take long, or never happen while one looks.
async fn in_production(manners: Manners) -> Option<u32> {
    for dinner in 0..1_000 {
        if timeout(Duration::from_secs(1), dine(manners))
            .await
            .is_err()
        {
            return Some(dinner);
        }
    }
    None
}

#[gossamer::main(model = "pool")]
async fn main() {
    match in_production(left_first).await {
        Some(dinner) => eprintln!("dinner {dinner} hangs, and nobody knows why"),
        None => eprintln!("1000 dinners, and all is well; so far"),
    }
    // A simulation blocks, as a runtime's `block_on` does.
    gossamer::blocking(simulate).await;
}

fn simulate() {
    let failed = (0..100).find_map(|seed| sim::run(seed, || dine(left_first)).err());
    let failure = failed.expect("one order in a hundred hangs");
    println!("{failure}");
    let again = sim::replay(&failure.choices, || dine(left_first)).unwrap_err();
    println!("again: {}", again.cause == failure.cause);
    sim::explore(0..1_000, async || assert_eq!(dine(lower_first).await, 3));
    println!("mended: 1000 orders, and all have eaten in each");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test to begin with. It says to run it again with the one seed that fails, which it does in a moment.
    #[gossamer::test(sim)]
    #[should_panic(expected = "deadlock")]
    async fn they_may_starve() {
        dine(left_first).await;
    }

    /// With that seed a debugger, or a few prints, show the rest.
    #[gossamer::test(sim, seeds = 0..1000)]
    async fn nobody_starves() {
        assert_eq!(dine(lower_first).await, 3);
    }
}
