//! Gossamer's own contender: `gossamer-contender ring --kind KIND --threads N --hops H --order O`, and
//! `gossamer-contender count OPERATION N` for `cargo xtask counts`.

#![forbid(unsafe_code)]

mod args;
mod count;
mod fixed;
mod ring;

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = match words.as_slice() {
        [count, operation, times] if count == "count" => args::number("count", times)
            .and_then(|times| count::run(operation, times))
            .map(u64::from),
        _ => args::parse(words.into_iter())
            .and_then(ring::run)
            .map(|number| number as u64),
    };
    match result {
        Ok(number) => {
            println!("{number}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("gossamer-contender: {message}");
            ExitCode::from(2)
        }
    }
}
