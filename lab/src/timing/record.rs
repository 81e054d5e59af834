//! Figures for programs: a line of CSV for each run, and one JSON object.

use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::once::Figures;
use super::show::geometric_mean;
use crate::results::{check_writable, spread};

/// The first line of a file of records.
const HEADER: &str = "name,lang,bytes,seconds,joules";

/// Where records go, and under which name and language.
#[derive(Debug)]
pub(super) struct Records {
    name: String,
    language: String,
    file: PathBuf,
}

impl Records {
    /// From the three words after `-o`; nothing is written yet.
    ///
    /// # Errors
    /// The file cannot be written, or holds something else.
    pub(super) fn open(words: &[String]) -> Result<Records> {
        let [name, language, file] = words else {
            unreachable!("-o takes three");
        };
        let file = check_writable(Path::new(file))?;
        let mut start = String::new();
        if let Ok(opened) = OpenOptions::new().read(true).open(&file) {
            let most = HEADER.len() as u64 + 1;
            let read = opened.take(most).read_to_string(&mut start);
            read.with_context(|| format!("cannot read {}", file.display()))?;
        }
        ensure!(
            start.is_empty() || matches!(start.strip_prefix(HEADER), Some("" | "\n")),
            "{} does not begin with a line {HEADER}; give a file of records, or a new one",
            file.display()
        );
        Ok(Records {
            name: name.clone(),
            language: language.clone(),
            file,
        })
    }

    /// Adds one run.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub(super) fn add(&self, figures: &Figures) -> Result<()> {
        let joules = figures.joules.as_ref();
        let joules = joules.map_or_else(|_| String::new(), |joules| format!("{joules:.6}"));
        let line = format!(
            "{},{},{},{:.9},{joules}\n",
            field(&self.name),
            field(&self.language),
            figures.peak_bytes,
            figures.wall_s
        );
        append(&self.file, &line).with_context(|| format!("cannot write {}", self.file.display()))
    }
}

/// Adds a line, below the header if the file is new. Two labs may do this at once, and an editor may
/// have left the last line without its end.
fn append(path: &Path, line: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(path)?;
    // Some file systems know no locks: there the header may come twice.
    let _ = file.lock();
    let length = file.metadata()?.len();
    let before = if length == 0 {
        format!("{HEADER}\n")
    } else {
        let mut last = [0];
        file.seek(SeekFrom::Start(length - 1))?;
        file.read_exact(&mut last)?;
        if last == *b"\n" { "" } else { "\n" }.into()
    };
    // In one piece, for readers and for writers that take no lock.
    file.write_all((before + line).as_bytes())
}

/// A field of CSV, in quotes where it must be.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// All runs as one object; what is not known is `null`.
pub(super) fn object(command: &[String], runs: &[Figures], failure: Option<&str>) -> Value {
    let unknown = runs.iter().find_map(|run| run.joules.as_ref().err());
    let each: Vec<Value> = runs
        .iter()
        .map(|run| {
            json!({
                "wall_s": run.wall_s,
                "user_s": run.user_s,
                "sys_s": run.sys_s,
                "peak_bytes": run.peak_bytes,
                "joules": run.joules.as_ref().ok(),
                "outlived": run.outlived.ended + run.outlived.alive,
            })
        })
        .collect();
    let (bytes, wall_s, joules) = columns(runs);
    let joules = joules.and_then(|joules| statistics(&joules));
    json!({
        "command": command,
        "failure": failure,
        "runs": each,
        "wall_s": statistics(&wall_s),
        "peak_bytes": statistics(&bytes),
        "joules": joules,
        "joules_unknown": unknown,
    })
}

/// Bytes, seconds and, if all are known, joules of all runs.
pub(super) fn columns(runs: &[Figures]) -> (Vec<f64>, Vec<f64>, Option<Vec<f64>>) {
    (
        runs.iter().map(|run| run.peak_bytes as f64).collect(),
        runs.iter().map(|run| run.wall_s).collect(),
        runs.iter().map(|run| run.joules.clone().ok()).collect(),
    )
}

fn statistics(values: &[f64]) -> Option<Value> {
    let all = spread(values)?;
    Some(json!({
        "min": all.min,
        "median": all.median,
        "max": all.max,
        "geometric_mean": geometric_mean(values),
    }))
}

#[cfg(test)]
mod tests;
