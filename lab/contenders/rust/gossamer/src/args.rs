//! The command line that every contender understands: `WORKLOAD --option value …`.

use gossamer::{Model, Runtime};

use crate::Failure;

/// What to run.
#[derive(Debug)]
pub struct Args {
    /// Which workload.
    pub workload: String,
    options: Vec<(String, String)>,
}

/// Reads `WORKLOAD --option value …`.
pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
    let workload = words.next().unwrap_or_default();
    let mut options = Vec::new();
    while let Some(option) = words.next() {
        let value = words
            .next()
            .ok_or_else(|| format!("{option} needs a value"))?;
        options.push((option, value));
    }
    Ok(Args { workload, options })
}

impl Args {
    /// Refuses options that are not among these.
    pub fn only(&self, known: &[&str]) -> Result<&Self, String> {
        match self
            .options
            .iter()
            .find(|(option, _)| !known.contains(&&**option))
        {
            Some((option, _)) => Err(format!("{option} is none of {}", known.join(", "))),
            None => Ok(self),
        }
    }

    /// The text of an option.
    pub fn text<'a>(&'a self, option: &str, usual: &'a str) -> &'a str {
        let given = self.options.iter().find(|(own, _)| own == option);
        given.map_or(usual, |(_, value)| value)
    }

    /// The number of an option, at least 1.
    pub fn number(&self, option: &str, usual: u64) -> Result<u64, String> {
        match self.options.iter().find(|(own, _)| own == option) {
            None => Ok(usual),
            Some((_, value)) => match number(option, value)? {
                0 => Err(format!("{option} 0: expected at least 1")),
                number => Ok(number),
            },
        }
    }

    /// The number of an option that counts things in memory.
    pub fn count(&self, option: &str, usual: usize) -> Result<usize, String> {
        let number = self.number(option, usual as u64)?;
        usize::try_from(number).map_err(|error| format!("{option} {number}: {error}"))
    }

    /// Which of ours.
    pub fn kind(&self) -> &str {
        self.text("--kind", "single-local")
    }

    /// The runtime of the kind `single`, `pool-N` or `threads`, for as long as the process lives.
    pub fn runtime(&self) -> Result<&'static Runtime, Failure> {
        self.runtime_of(self.kind())
    }

    /// The same of another kind than the one asked for.
    pub fn runtime_of(&self, kind: &str) -> Result<&'static Runtime, Failure> {
        runtime(self.model_of(kind)?)
    }

    /// The model of such a kind.
    pub fn model_of(&self, kind: &str) -> Result<Model, Failure> {
        Ok(match kind.split_once('-') {
            None if kind == "single" => Model::Single,
            None if kind == "threads" => Model::Threads,
            Some(("pool", workers)) => Model::Pool {
                workers: number("--kind pool-", workers)?,
            },
            _ => return Err(format!("--kind {kind}: {} has none", self.workload).into()),
        })
    }
}

/// A runtime for as long as the process lives, which tasks can refer to without counting.
pub fn runtime(model: Model) -> Result<&'static Runtime, Failure> {
    let built = Runtime::builder().model(model).build();
    Ok(Box::leak(Box::new(built.map_err(said)?)))
}

/// An error at run time as a message.
pub fn said(error: impl std::fmt::Display) -> Failure {
    Failure::Ran(error.to_string())
}

/// A number, or a message that names the option.
pub fn number<N: std::str::FromStr>(option: &str, value: &str) -> Result<N, String> {
    value
        .parse()
        .map_err(|_| format!("{option} {value}: expected a number"))
}
