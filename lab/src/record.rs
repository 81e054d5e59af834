//! Records: results files copied into a folder of `lab/records`, with the same as CSV and a README.
//!
//! A record is never changed: a folder that exists is an error. Everything is read and checked
//! before anything is written, into a folder beside the final one, which gets its name last; so a
//! record is whole or not there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use crate::commands::BadInput;
use crate::inputs::{Source, named};
use crate::paths::Paths;
use crate::report::warnings::machine;
use crate::sayln;

pub mod readme;
pub mod sheet;

/// What `lab record` was asked for.
#[derive(Debug, Args)]
pub struct Asked {
    /// What stands behind the date in the folder's name, instead of processor and cores.
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// The folder with the results files, instead of target/lab.
    #[arg(long, value_name = "DIR")]
    pub from: Option<PathBuf>,
    /// Where records lie instead of lab/records (for tests).
    #[arg(long, hide = true, value_name = "DIR")]
    pub records: Option<PathBuf>,
}

/// `lab record`.
///
/// # Errors
/// [`BadInput`] about the name, the results, or a record that exists; nothing was written then.
pub fn run(asked: &Asked, paths: &Paths) -> Result<u8> {
    let from = asked.from.as_ref().unwrap_or(&paths.out);
    let usual = paths.root.join("lab").join("records");
    let records = asked.records.as_ref().unwrap_or(&usual);
    if !from.is_dir() {
        let message = format!(
            "{} is no folder; run a workload first, or give --from DIR",
            from.display()
        );
        return Err(BadInput(message).into());
    }
    let sources = named(std::slice::from_ref(from))?;
    let name = folder_name(asked.name.as_deref(), &sources).map_err(BadInput)?;
    let record = records.join(&name);
    if record.exists() {
        let message = format!(
            "{} exists, and a record is never overwritten; give another NAME, or move it away",
            record.display()
        );
        return Err(BadInput(message).into());
    }
    let unfinished = records.join(format!(".{name}.{}.new", std::process::id()));
    let written = write(&sources, &name, &unfinished)
        .and_then(|()| Ok(std::fs::rename(&unfinished, &record)?));
    if written.is_err() {
        let _ = std::fs::remove_dir_all(&unfinished);
    }
    written.with_context(|| format!("cannot write {}", record.display()))?;
    sayln!("record: {}", record.display());
    sayln!(
        "Say in its README.md what was claimed, and add a line to {}.",
        records.join("README.md").display()
    );
    Ok(0)
}

fn write(sources: &[Source], name: &str, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    for source in sources {
        // As it is, byte for byte: keys of a later lab stay.
        std::fs::copy(&source.path, folder.join(&source.name))?;
        let table = Path::new(&source.name).with_extension("csv");
        std::fs::write(folder.join(table), sheet::csv(&source.results)?)?;
    }
    std::fs::write(folder.join("README.md"), readme::readme(name, sources))?;
    Ok(())
}

/// The date of the latest file, then the name given, or processor and cores.
fn folder_name(given: Option<&str>, sources: &[Source]) -> Result<String, String> {
    let machines: BTreeSet<String> = sources.iter().map(machine).collect();
    if machines.len() > 1 {
        let machines: Vec<String> = machines.into_iter().collect();
        return Err(format!(
            "the files are from {} machines ({}); a record is of one: put them into folders and give --from for each",
            machines.len(),
            machines.join("; ")
        ));
    }
    let dates = sources
        .iter()
        .map(|source| source.results.machine.date.as_str());
    let latest = dates.max().unwrap_or_default();
    let date = latest.get(..10).filter(|date| is_date(date));
    let date = date.ok_or_else(|| {
        format!("the date '{latest}' in the results is none; expected 2026-01-31T12:00:00Z")
    })?;
    let name = match given {
        Some(name) => name.to_owned(),
        None => sources.first().map_or_else(String::new, |source| {
            let machine = &source.results.machine;
            machine_name(&machine.cpu, machine.cores)
        }),
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(fits) {
        return Err(format!(
            "'{name}' cannot be part of a folder's name; give letters, digits, '-', '_' and '.'"
        ));
    }
    Ok(format!("{date}-{name}"))
}

fn is_date(text: &str) -> bool {
    let digit_or_dash = |(place, c): (usize, char)| match place {
        4 | 7 => c == '-',
        _ => c.is_ascii_digit(),
    };
    text.len() == 10 && text.chars().enumerate().all(digit_or_dash)
}

/// Words of a processor's name that do not tell one from another.
const EMPTY_WORDS: [&str; 12] = [
    "amd",
    "intel",
    "r",
    "tm",
    "cpu",
    "processor",
    "with",
    "radeon",
    "graphics",
    "core",
    "ghz",
    "unknown",
];

/// A processor and its cores as part of a folder's name: `epyc-2-cores`.
fn machine_name(cpu: &str, cores: usize) -> String {
    // What stands behind the @ is the clock.
    let model = cpu.split('@').next().unwrap_or(cpu).to_lowercase();
    let words = model.split(|c: char| !c.is_ascii_alphanumeric());
    let mut words: Vec<&str> = words
        .filter(|word| !word.is_empty() && !EMPTY_WORDS.contains(word))
        .collect();
    if words.is_empty() {
        words.push("machine");
    }
    format!("{}-{cores}-cores", words.join("-"))
}

#[cfg(test)]
mod tests;
