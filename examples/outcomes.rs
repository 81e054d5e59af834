//! What a concurrent program can come to, and how often: all its schedules, with exact probabilities.
//!
//! ```sh
//! cargo run -p gossamer-rt --features experiment,sim --example outcomes
//! ```

use std::sync::Arc;

use gossamer::channel::{PortSet, bounded, unbounded};
use gossamer::experiment::{Distribution, Error, Outcome};
use gossamer::sim::{self, Sim};
use gossamer::sync::MVar;

/// Each philosopher takes the left fork and then the right one, eats, and puts them back.
async fn dine(philosophers: usize) {
    let forks: Arc<Vec<_>> = Arc::new((0..philosophers).map(|_| MVar::new("fork")).collect());
    let philosopher = |seat: usize| {
        let forks = forks.clone();
        gossamer::spawn(async move {
            let (left, right) = (&forks[seat], &forks[(seat + 1) % philosophers]);
            let (one, other) = (left.take().await, right.take().await);
            left.put(one).await;
            right.put(other).await;
        })
    };
    let table: Vec<_> = (0..philosophers).map(philosopher).collect();
    for philosopher in table {
        philosopher.await.expect("nobody panics");
    }
}

/// Two tasks add one to a number each; but between reading and writing it another one may come.
async fn count() -> u32 {
    let number = Arc::new(MVar::new(0));
    let add = || {
        let number = number.clone();
        gossamer::spawn(async move {
            let read = number.read().await;
            number.replace(read + 1).await;
        })
    };
    for task in [add(), add()] {
        task.await.expect("nobody panics");
    }
    number.take().await
}

/// The first one sends two messages to the last, and then tells the second, which sends one as well. Sent because of the
/// others, does it come after them? In a shared channel; a set of ports takes a message of each in turn.
async fn tell(by_ports: bool) -> String {
    let (first, from_first) = unbounded();
    let (second, from_second) = match by_ports {
        true => unbounded(),
        false => (first.clone(), from_first.clone()),
    };
    let (tells, told) = bounded(1);
    let tasks = [
        gossamer::spawn(async move {
            for message in ["one ", "two "] {
                first.send(message).await.expect("somebody receives");
            }
            tells.send(()).await.expect("it waits to be told");
        }),
        gossamer::spawn(async move {
            told.recv().await.expect("it is told");
            second.send("because ").await.expect("somebody receives");
        }),
    ];
    let mut seen = String::new();
    if by_ports {
        let ports = PortSet::new();
        let added = ports.add(from_first).and(ports.add(from_second));
        added.expect("no other set has them");
        while let Some((_port, message)) = ports.recv().await {
            seen.push_str(message.unwrap_or_default());
        }
    } else {
        drop(from_second);
        while let Ok(message) = from_first.recv().await {
            seen.push_str(message);
        }
    }
    for task in tasks {
        task.await.expect("nobody panics");
    }
    seen
}

fn main() -> Result<(), Error> {
    for philosophers in [2, 3] {
        let dinners = Distribution::of_schedules(|| dine(philosophers))?;
        println!("{philosophers} philosophers:\n{dinners}\n");
    }

    let counted = Distribution::of_schedules(count)?;
    println!("two tasks that count:\n{counted}");
    let lost = counted.schedule(&Outcome::Returned(1)).expect("it happens");
    // What a test would have printed, or somebody has sent: the same once more.
    let choices = sim::choices(&lost.to_string());
    let again = Sim::new().only_operations().replay(&choices, count);
    println!(
        "that schedule again counts to {}\n",
        again.expect("it returns")
    );

    for (by_ports, name) in [(false, "one shared channel"), (true, "two ports of a set")] {
        let told = Distribution::of_schedules(|| tell(by_ports))?;
        println!("{name}:\n{told}\n");
    }
    Ok(())
}
