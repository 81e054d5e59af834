//! The results: the frozen JSON schema, and a file that is whole at every moment.
//!
//! Schema 1 never loses a key or changes what one means; every key is in every row, `null` where
//! there is nothing to say. Keys may be added.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::machine::Machine;

/// The version of the schema.
pub const SCHEMA: u32 = 1;

/// Everything one run of the lab found out.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Results {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Where it was measured.
    pub machine: Machine,
    /// One row a contender, in the catalogue's order.
    pub results: Vec<Row>,
}

/// What became of a contender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Every run gave the right answer.
    Ok,
    /// It did not run; the reason says why.
    Skipped,
    /// It crashed or gave a wrong answer.
    Failed,
    /// It was stopped.
    Timeout,
}

/// The least, the middle and the most of some runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The least.
    pub min: f64,
    /// The middle; of an even number of runs the mean of the middle two.
    pub median: f64,
    /// The most.
    pub max: f64,
}

/// One contender on one workload.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    /// The workload's name.
    pub workload: String,
    /// The contender's name.
    pub contender: String,
    /// What its threads are: lightweight, POSIX, … (beyond the frozen part).
    #[serde(default)]
    pub category: String,
    /// What became of it.
    pub status: Status,
    /// Why, unless it is `ok`.
    pub reason: Option<String>,
    /// The workload's options as this contender got them.
    pub params: Map<String, Value>,
    /// How many operations one run does; a hop of the ring is one.
    pub ops: u64,
    /// How many runs were measured.
    pub runs: usize,
    /// Wall time of the whole process, seconds.
    pub wall_s: Option<Spread>,
    /// The median wall time over the operations, nanoseconds.
    pub ns_per_op: Option<f64>,
    /// Processor time in user mode, seconds, median.
    pub user_s: Option<f64>,
    /// Processor time in the kernel, seconds, median.
    pub sys_s: Option<f64>,
    /// Peak resident memory, bytes, the most of all runs.
    pub peak_rss_bytes: Option<u64>,
    /// Every run's wall time in the order measured (beyond the frozen part).
    pub raw_wall_s: Vec<f64>,
    /// The exact command (beyond the frozen part).
    pub command: String,
    /// What a reader should know about this row (beyond the frozen part).
    pub note: Option<String>,
    /// Why it has fewer runs than it should (beyond the frozen part).
    #[serde(default)]
    pub cut: Option<String>,
    /// How often the kernel took a processor away or got one back, of all threads together, median
    /// (beyond the frozen part).
    #[serde(default)]
    pub switches: Option<u64>,
    /// The last line of its last run's error output, which is for people (beyond the frozen part).
    #[serde(default)]
    pub said: Option<String>,
    /// The most processes that any of its runs left behind, which were ended; `None` if none did
    /// (beyond the frozen part).
    #[serde(default)]
    pub left_behind: Option<usize>,
    /// What its garbage collector did in its last run, under its own names (beyond the frozen part).
    #[serde(default)]
    pub gc: Option<Map<String, Value>>,
    /// What its workload looks at beside time, of all runs together (beyond the frozen part).
    #[serde(default)]
    pub figures: Option<Map<String, Value>>,
    /// What each run said of itself, in the order of `raw_wall_s`, if its workload looks at such figures (beyond the
    /// frozen part).
    #[serde(default)]
    pub raw_figures: Vec<Map<String, Value>>,
    /// Instructions an operation, if they were counted (beyond the frozen part).
    #[serde(default)]
    pub instructions_per_op: Option<f64>,
    /// Why they could not be counted, if that was tried (beyond the frozen part).
    #[serde(default)]
    pub not_counted: Option<String>,
    /// Nanoseconds an operation without the start of the process, if two sizes were measured (beyond the frozen part).
    #[serde(default)]
    pub slope_ns_per_op: Option<f64>,
    /// Why there is no slope, if that was tried (beyond the frozen part).
    #[serde(default)]
    pub no_slope: Option<String>,
}

impl Row {
    /// Says that it has fewer runs than it should; the first reason is kept.
    pub fn cut(&mut self, runs: u32, why: &str) {
        let text = || format!("cut to fewer than {runs} runs: {why}");
        self.cut.get_or_insert_with(text);
    }

    /// Whether it was cut, in words: to fewer operations, or to fewer runs.
    #[must_use]
    pub fn cut_text(&self) -> Option<String> {
        let note = self.note.as_deref().filter(|note| note.starts_with("cut"));
        let texts: Vec<&str> = note.into_iter().chain(self.cut.as_deref()).collect();
        (!texts.is_empty()).then(|| format!("was {}", texts.join("; ")))
    }

    /// What it left behind, in words.
    #[must_use]
    pub fn left_text(&self) -> Option<String> {
        self.left_behind.map(|left| match left {
            1 => "left 1 process behind, which was ended".into(),
            _ => format!("left {left} processes behind, which were ended"),
        })
    }
}

/// The spread of some values; `None` of none.
#[must_use]
pub fn spread(values: &[f64]) -> Option<Spread> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (min, max) = (*sorted.first()?, *sorted.last()?);
    let middle = sorted.len() / 2;
    let odd = sorted.len() % 2 == 1;
    let median = if odd {
        sorted[middle]
    } else {
        (sorted[middle - 1] + sorted[middle]) / 2.0
    };
    Some(Spread { min, median, max })
}

/// Checks that `path` can be written, before anything is measured, and leaves no trace. Returns
/// the file to write, which is another if `path` is a link.
///
/// # Errors
/// It exists and is no plain file (replacing a folder or a device would be a disaster), or its
/// folder does not exist or is not writable.
pub fn check_writable(path: &Path) -> Result<PathBuf> {
    let advice = "give a file in a folder that exists and can be written";
    let shown = path.display();
    let named = path.file_name().is_some() && !path.as_os_str().as_encoded_bytes().ends_with(b"/");
    ensure!(named, "'{shown}' does not name a file; {advice}");
    let exists = path.exists();
    ensure!(
        !exists || path.is_file(),
        "{shown} is not a plain file; {advice}"
    );
    let file = if exists {
        path.canonicalize()?
    } else {
        std::path::absolute(path)?
    };
    let trial = temporary(&file);
    std::fs::write(&trial, b"").with_context(|| format!("cannot write {shown}; {advice}"))?;
    std::fs::remove_file(&trial)?;
    Ok(file)
}

/// Replaces `path` by `contents` in one step: a reader sees the old file or the new one whole.
///
/// # Errors
/// Whatever the file system says.
pub fn write_atomically(path: &Path, contents: &[u8]) -> Result<()> {
    let trial = temporary(path);
    let written = std::fs::File::create(&trial)
        .and_then(|mut file| file.write_all(contents).and_then(|()| file.sync_data()))
        .and_then(|()| std::fs::rename(&trial, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&trial);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

impl Results {
    /// Whether no run has ended, well or not; then nothing was saved.
    #[must_use]
    pub fn is_empty_handed(&self) -> bool {
        let waits = |row: &Row| row.runs == 0 && row.status == Status::Skipped;
        self.results.iter().all(waits)
    }

    /// Reads a file that [`Results::save`] wrote, now or in an earlier version of the lab.
    ///
    /// # Errors
    /// It cannot be read, is not whole, is something else, has another schema, or figures that
    /// nothing can have; the message names the file, and the line and column where there are any.
    pub fn load(path: &Path) -> Result<Results> {
        /// Read first: in a file of another schema no other key need be there.
        #[derive(Deserialize)]
        struct Head {
            schema: u64,
        }
        let shown = path.display();
        let text = std::fs::read(path).with_context(|| {
            format!("cannot read {shown}; give a file that `lab run … --json FILE` wrote")
        })?;
        let head: Head =
            serde_json::from_slice(&text).map_err(|error| no_results(path, &text, &error))?;
        let advice = match head.schema.cmp(&u64::from(SCHEMA)) {
            Ordering::Less => "the record is older than this lab; measure again",
            Ordering::Greater => "this lab is older than the record; update it",
            Ordering::Equal => {
                let results: Results = serde_json::from_slice(&text)
                    .map_err(|error| no_results(path, &text, &error))?;
                for (index, row) in results.results.iter().enumerate() {
                    let Err((key, what)) = possible(row) else {
                        continue;
                    };
                    let (line, column) = place_of_figure(&text, index, key);
                    bail!(
                        "{shown}, line {line}, column {column}: {}, {}: {what}; \
                         it is not as the lab wrote it",
                        row.workload,
                        row.contender
                    );
                }
                return Ok(results);
            }
        };
        let (line, column) = place_of_schema(&text, head.schema);
        bail!(
            "{shown}, line {line}, column {column}: schema {}, expected {SCHEMA}: {advice}",
            head.schema
        )
    }

    /// Writes the results to each of `files`.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn save(&self, files: &[PathBuf]) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        files
            .iter()
            .try_for_each(|file| write_atomically(file, &text))
    }
}

/// Refuses what no measuring gives, and what there is no ratio to: the key, and what was found.
fn possible(row: &Row) -> Result<(), (&'static str, String)> {
    if row.ops == 0 {
        return Err(("ops", "found ops 0, expected 1 or more".into()));
    }
    let wall = row.wall_s.iter().flat_map(|wall| {
        let ends = [wall.min, wall.median, wall.max];
        ends.map(|seconds| ("wall_s", seconds))
    });
    let runs = row
        .raw_wall_s
        .iter()
        .map(|seconds| ("raw_wall_s", *seconds));
    let each = row.ns_per_op.iter().map(|ns| ("ns_per_op", *ns));
    for (key, value) in wall.chain(runs).chain(each) {
        if !(value > 0.0 && value.is_finite()) {
            return Err((key, format!("found {key} {value}, expected more than 0")));
        }
    }
    Ok(())
}

/// Line and column, from 1 on, of the value of a key in a row; of the file's beginning if there is none.
fn place_of_figure(contents: &[u8], row: usize, key: &str) -> (usize, usize) {
    #[derive(Deserialize)]
    struct Raw<'a> {
        #[serde(borrow)]
        results: Vec<BTreeMap<String, &'a RawValue>>,
    }
    let raw: Option<Raw<'_>> = serde_json::from_slice(contents).ok();
    let value = raw.and_then(|raw| raw.results.get(row)?.get(key).copied());
    let at = value.map_or(0, |value| {
        value.get().as_ptr() as usize - contents.as_ptr() as usize
    });
    line_and_column(&String::from_utf8_lossy(&contents[..at]))
}

/// Line and column, from 1 on, of what stands behind this.
fn line_and_column(before: &str) -> (usize, usize) {
    let column = before.chars().rev().take_while(|c| *c != '\n').count();
    (before.matches('\n').count() + 1, column + 1)
}

/// Line and column, from 1 on, of the key `schema` with this value; the file's own stands first.
fn place_of_schema(contents: &[u8], schema: u64) -> (usize, usize) {
    const KEY: &str = "\"schema\"";
    let text = String::from_utf8_lossy(contents);
    let is_it = |at: &usize| {
        let rest = text[at + KEY.len()..].trim_start();
        let value = rest.strip_prefix(':').map(str::trim_start);
        value.is_some_and(|value| value.starts_with(&schema.to_string()))
    };
    let mut found = text.match_indices(KEY).map(|(at, _)| at);
    line_and_column(&text[..found.find(is_it).unwrap_or(0)])
}

/// What is wrong in a file that should hold results, and where.
fn no_results(path: &Path, contents: &[u8], error: &serde_json::Error) -> anyhow::Error {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let place = format!(" at line {line} column {column}");
    let what = text.strip_suffix(&place).unwrap_or(&text);
    // A number that is cut behind its point is bad syntax to the parser, not an early end.
    let lines = contents.split(|byte| *byte == b'\n');
    let end = lines.enumerate().last();
    let at_end = end.is_some_and(|(index, last)| (line, column) == (index + 1, last.len()));
    let advice = if error.is_eof() || error.is_syntax() && at_end {
        "it ends too early (half-written?)"
    } else {
        "it is not what `lab run … --json FILE` writes"
    };
    anyhow!(
        "{}, line {line}, column {column}: {what}; {advice}",
        path.display()
    )
}

/// A name beside `path`, on the same file system, so that renaming is one step.
fn temporary(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.new", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests;
