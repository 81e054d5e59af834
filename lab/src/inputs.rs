//! Results files as input: single ones, or all of a folder.
//!
//! What was named must be right: the first bad file is the error, and nothing was written then. A
//! folder that was not named (the lab's own) may hold a bad file: it is said and passed over.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::commands::BadInput;
use crate::esayln;
use crate::results::Results;

/// One results file.
#[derive(Debug, Clone)]
pub struct Source {
    /// How it is called in what is written, each otherwise: its name, with its folder where names
    /// repeat, and a number where that repeats, too.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    /// What is in it.
    pub results: Results,
}

/// Reads all of these: files, or folders with results files.
///
/// # Errors
/// [`BadInput`] that names the first file that is not right, or the folder without any.
pub fn named(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for path in paths {
        let files = if path.is_dir() {
            json_files(path)?
        } else {
            vec![path.clone()]
        };
        if files.is_empty() {
            let shown = path.display();
            let message = format!("no results in {shown}; give a folder with .json files");
            return Err(BadInput(message).into());
        }
        for file in files {
            if sources
                .iter()
                .any(|source: &Source| same_file(&source.path, &file))
            {
                continue;
            }
            let results = Results::load(&file).map_err(|error| BadInput(format!("{error:#}")))?;
            sources.push(source(file, results));
        }
    }
    name_apart(&mut sources);
    Ok(sources)
}

/// Reads all results files of a folder; what is no such file is said on stderr and left alone.
///
/// # Errors
/// The folder cannot be read.
pub fn found(folder: &Path) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for file in json_files(folder)? {
        match Results::load(&file) {
            Ok(results) => sources.push(source(file, results)),
            Err(error) => esayln!("warning: not in the report: {error:#}"),
        }
    }
    Ok(sources)
}

/// The `.json` files of a folder, by name, with numbers in the order of numbers.
///
/// # Errors
/// The folder cannot be read.
pub fn json_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)
        .map_err(|error| BadInput(format!("cannot read {}: {error}", folder.display())))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.context("a folder that changes")?.path();
        if path.is_file() && path.extension().is_some_and(|kind| kind == "json") {
            files.push(path);
        }
    }
    files.sort_by_key(|file| (file.as_os_str().len(), file.clone()));
    files.sort_by_key(|file| {
        stem(file)
            .trim_end_matches(|c: char| c.is_ascii_digit())
            .to_owned()
    });
    Ok(files)
}

fn stem(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

fn source(path: PathBuf, results: Results) -> Source {
    Source {
        name: last(&path),
        path,
        results,
    }
}

fn last(path: &Path) -> String {
    path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Whether two paths lead to one file, by whatever way.
#[must_use]
pub fn same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

/// Puts the folder before names that repeat, and a number behind what repeats all the same.
fn name_apart(sources: &mut [Source]) {
    let names: Vec<String> = sources.iter().map(|source| source.name.clone()).collect();
    for source in &mut *sources {
        let same = names.iter().filter(|name| **name == source.name).count();
        let real = source.path.canonicalize();
        let path = real.as_ref().unwrap_or(&source.path);
        let folder = path.parent().and_then(Path::file_name);
        if let (true, Some(folder)) = (same > 1, folder) {
            source.name = format!("{}/{}", folder.to_string_lossy(), source.name);
        }
    }
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for source in sources {
        let plain = source.name.clone();
        for number in 2.. {
            if taken.insert(source.name.clone()) {
                break;
            }
            source.name = format!("{plain} ({number})");
        }
    }
}
