//! tokio's contender: `tokio-contender WORKLOAD --kind KIND …`.
//!
//! Kinds: `current` and `multi-N` for the scheduler and its worker count; `mvar-` before it for the
//! hand-made MVar instead of tokio's channel, `-no-slot` behind it to switch off the slot.

mod arithmetic;
mod messages;
mod mvar;
mod options;
mod ring;
mod tasks;

use options::{Failure, Options};

fn main() -> Result<(), Failure> {
    let options = Options::parse(std::env::args().skip(1))?;
    let answer = match options.workload.as_str() {
        "ring" => ring::run(&options)?,
        "spawn" => tasks::spawn(&options)?,
        "yield" | "resize" => tasks::yields(&options)?,
        "skynet" => tasks::skynet(&options)?,
        "pingpong" => messages::pingpong(&options)?,
        "slot" => messages::slot(&options)?,
        "cpu" => arithmetic::cpu(&options)?,
        "workers" => arithmetic::workers(&options)?,
        other => return Err(format!("unknown workload '{other}'").into()),
    };
    println!("{answer}");
    Ok(())
}
