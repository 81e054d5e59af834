//! What the programs share that have nothing but the ring: the command line and the creation order. And what others
//! share as well: the exit codes, and the hand-made MVar.
//!
//! `PROGRAM ring --threads N --hops H --order forward|reverse|shuffled [--kind KIND]`.
#![forbid(unsafe_code)]

pub mod mvar;

use std::process::ExitCode;

pub use waiting::order as creation_order;

/// A ring that was asked for.
pub struct Ring {
    /// How many members.
    pub threads: usize,
    /// The first token.
    pub hops: u64,
    /// The indices of the members, in the order in which they are to be created.
    pub order: Vec<usize>,
    /// Which variant; empty if the program has one.
    pub kind: String,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Failure {
    /// The command line asks for something that is not there.
    Asked(String),
    /// Something went wrong at run time.
    Ran(String),
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Ran(error.to_string())
    }
}

/// Reads the command line, runs the ring, and prints the number that it returns, counted from 1.
pub fn main(run: impl FnOnce(Ring) -> Result<usize, Failure>) -> ExitCode {
    let asked = Ring::parse(std::env::args().skip(1)).map_err(Failure::Asked);
    end(asked.and_then(run).map(|number| number as u64))
}

/// Prints the answer, or says what was wrong: status 2 for a bad command line, 1 for trouble at run time.
pub fn end(answer: Result<u64, Failure>) -> ExitCode {
    match answer {
        Ok(number) => {
            println!("{number}");
            ExitCode::SUCCESS
        }
        Err(Failure::Asked(message)) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
        Err(Failure::Ran(message)) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

impl Ring {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Ring, String> {
        let workload = words.next().unwrap_or_default();
        if workload != "ring" {
            return Err(format!("unknown workload '{workload}'"));
        }
        let (mut threads, mut hops) = (503, 10_000_000);
        let (mut order, mut kind) = (String::from("forward"), String::new());
        while let Some(option) = words.next() {
            let value = words.next();
            let value = value.ok_or_else(|| format!("{option} needs a value"))?;
            match option.as_str() {
                "--threads" => threads = number(&option, &value, 1)? as usize,
                "--hops" => hops = number(&option, &value, 0)?,
                "--order" => order = value,
                "--kind" => kind = value,
                _ => return Err(format!("unknown option {option}")),
            }
        }
        Ok(Ring {
            threads,
            hops,
            order: creation_order(threads, &order)?,
            kind,
        })
    }
}

fn number(option: &str, value: &str, least: u64) -> Result<u64, String> {
    let number = value.parse().ok().filter(|number| *number >= least);
    number.ok_or_else(|| format!("{option} {value}: expected a whole number of at least {least}"))
}
