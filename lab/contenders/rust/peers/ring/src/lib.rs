//! What the programs share that have nothing but the ring: the command line and the creation order.
//!
//! `PROGRAM ring --threads N --hops H --order forward|reverse|shuffled [--kind KIND]`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

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

/// The order in which members are created: splitmix64 with the seed that all contenders use.
///
/// # Errors
/// There is no order of this name.
pub fn creation_order(threads: usize, name: &str) -> Result<Vec<usize>, String> {
    let mut order: Vec<usize> = (0..threads).collect();
    match name {
        "forward" => {}
        "reverse" => order.reverse(),
        "shuffled" => {
            let mut state = 503_u64;
            for k in (1..order.len()).rev() {
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                order.swap(k, ((z ^ (z >> 31)) % (k as u64 + 1)) as usize);
            }
        }
        _ => {
            return Err(format!(
                "--order {name}: expected forward, reverse, shuffled"
            ));
        }
    }
    Ok(order)
}
